/// Reading a config.json by meaning: every spelling of a key, nested groups, which spelling a mistake names.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "families.hpp"
#include "reader.hpp"
#include "trainplan/spec/model.hpp"

namespace trainplan {

/// Spellings of one value; the first is the name that messages use. "attn_config.kv_n_heads" is a key of a
/// group.
using Spellings = std::span<const std::string_view>;

inline constexpr std::string_view kHiddenKeys[] = {"hidden_size", "n_embd", "n_embed", "d_model", "dim"};
inline constexpr std::string_view kLayerKeys[] = {"num_hidden_layers", "n_layer", "n_layers", "num_layers"};
inline constexpr std::string_view kHeadKeys[] = {"num_attention_heads", "n_head", "n_heads", "num_heads"};
inline constexpr std::string_view kGroupKeys[] = {"num_key_value_heads", "num_kv_heads", "n_head_kv",
                                                  "multi_query_group_num", "attn_config.kv_n_heads"};
inline constexpr std::string_view kHeadDimKeys[] = {"head_dim", "kv_channels", "attention_head_dim"};
inline constexpr std::string_view kFfnKeys[] = {"intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size",
                                                "ffn_config.ffn_hidden_size"};
inline constexpr std::string_view kVocabKeys[] = {"vocab_size", "padded_vocab_size"};
inline constexpr std::string_view kPositionKeys[] = {
    "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "n_ctx", "model_max_length"};
inline constexpr std::string_view kExpertKeys[] = {"num_experts", "num_local_experts", "n_routed_experts",
                                                   "moe_num_experts", "ffn_config.moe_num_experts"};
inline constexpr std::string_view kExpertsPerTokenKeys[] = {
    "num_experts_per_tok", "experts_per_token", "num_experts_per_token", "moe_top_k", "moe_k", "moe_topk",
    "ffn_config.moe_top_k"};
inline constexpr std::string_view kExpertWidthKeys[] = {"moe_intermediate_size"};
inline constexpr std::string_view kSharedCountKeys[] = {"n_shared_experts", "num_shared_experts",
                                                        "moe_num_shared_experts", "num_shared_expert"};
inline constexpr std::string_view kSharedWidthKeys[] = {"shared_expert_intermediate_size",
                                                        "shared_intermediate_size"};
inline constexpr std::string_view kTieKeys[] = {"tie_word_embeddings", "tie_embedding"};
inline constexpr std::string_view kMtpKeys[] = {"num_nextn_predict_layers", "mtp_num_hidden_layers",
                                                "num_mtp_modules"};
inline constexpr std::string_view kNestedKeys[] = {"text_config", "llm_config", "language_config"};

/// A wrong value reads as 0: the rule that it breaks names the same key, so that it is told once.
class ModelKeys {
  Reader in_;
  std::vector<std::pair<std::string_view, Reader>> groups_;
  std::vector<std::pair<std::string, std::string>> spelled_;  // canonical key -> pointer in the file
  bool failed_ = false;

  struct At {
    const Reader* reader;  // nullptr: there is no such group
    std::string_view key;
  };
  At at(std::string_view key) const;

 public:
  explicit ModelKeys(Reader in);

  const Reader& reader() const { return in_; }
  bool has(std::string_view key) const;
  /// The key stands in the file, be it null.
  bool contains(std::string_view key) const;

  /// The last integer that was read was wrong.
  bool failed() const { return failed_; }

  /// Both spellings of one value may be present when they agree. Nothing when none is.
  std::optional<std::int64_t> integer(Spellings keys, std::int64_t lo, std::int64_t hi);
  std::int64_t required(Spellings keys, std::int64_t lo, std::int64_t hi, std::string_view example);
  /// The first spelling that is present; what others say may differ.
  std::optional<std::int64_t> first(Spellings keys, std::int64_t lo, std::int64_t hi);
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string> string(std::string_view key) const;
  bool on(const Switch& s) const { return s.key.empty() ? s.otherwise : named(s); }

  void refuse(std::string_view key, std::string rule, std::string must, std::string hint) const;

  /// The pointer in the file of "/canonical_key".
  std::string pointer_of(std::string_view canonical) const;
  /// Where the values stand that were read.
  KeyPlaces places() const { return {in_.pointer(), spelled_}; }

 private:
  bool named(const Switch& s) const {
    const std::optional<bool> said = boolean(s.key);
    return said ? *said != s.inverted : s.otherwise;
  }
};

}  // namespace trainplan
