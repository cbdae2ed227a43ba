/// A decoder-only transformer as its config.json describes it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainplan/spec/layer_pattern.hpp"

namespace trainplan {

/// Norms on queries and keys: none (or without weights), one of head_dim for all heads, one over all heads.
enum class QkNorm : std::uint8_t { None, PerHead, AllHeads };

/// Multi-head latent attention; kv_rank 0: the model has none. Names in the comments are config.json keys.
struct LatentAttention {
  std::int64_t q_rank = 0;    // q_lora_rank; 0: queries are projected straight from the hidden state
  std::int64_t kv_rank = 0;   // kv_lora_rank
  std::int64_t nope_dim = 0;  // qk_nope_head_dim
  std::int64_t rope_dim = 0;  // qk_rope_head_dim, one for all heads on the key side
  std::int64_t v_dim = 0;     // v_head_dim
  std::int64_t index_heads = 0, index_dim = 0;  // index_n_heads, index_head_dim of sparse attention
};

/// A mixture of experts; count 0: the model has none.
struct Experts {
  std::int64_t count = 0;         // routed experts of a sparse layer
  std::int64_t per_token = 0;     // experts that a token visits
  std::int64_t width = 0;         // MLP width of one expert
  std::int64_t shared_width = 0;  // MLP width of all shared experts together
  bool shared_gate = false;       // a gate of hidden_size on the shared expert
  bool router_bias = false, bias = false;
};

/// Where each value stands in the file. Formulas ask by the key that most models have; a file may spell it
/// otherwise, nest it, or leave it out so that it follows from other keys.
struct KeyPlaces {
  std::string part;  // pointer of the object that holds the decoder; empty: the root
  std::vector<std::pair<std::string, std::string>> places;  // key -> what to read instead

  /// "/key" -> the place to show.
  std::string of(std::string_view pointer) const {
    for (const auto& [key, place] : places)
      if (!pointer.empty() && pointer.substr(1) == key) return place;
    return pointer.starts_with('/') ? part + std::string(pointer) : std::string(pointer);
  }
  bool has(std::string_view key) const {
    return std::any_of(places.begin(), places.end(), [&](const auto& p) { return p.first == key; });
  }
  void set(std::string key, std::string place) {
    places.emplace(places.begin(), std::move(key), std::move(place));
  }
};

/// Widths count elements. The text decoder alone; left_out names what else the file holds.
struct ModelSpec {
  std::string name, origin, family;
  std::int64_t hidden = 0;             // hidden_size
  std::int64_t layers = 0;             // num_hidden_layers
  std::int64_t heads = 0;              // num_attention_heads
  std::int64_t kv_heads = 0;           // num_key_value_heads
  std::int64_t head_dim = 0;           // head_dim, else hidden / heads
  std::int64_t ffn = 0;                // intermediate_size of the dense MLP
  std::int64_t vocab = 0;              // vocab_size
  std::int64_t max_positions = 0;      // max_position_embeddings
  std::int64_t learned_positions = 0;  // rows of a learned position table, 0 with rotary positions
  std::int64_t table_width = 0;  // width of the tables where it is not hidden (word_embed_proj_dim), else 0
  int mlp_matrices = 3;          // 3 gated (SwiGLU), 2 plain (GELU)
  int norm_vectors = 1;          // 1 a weight, 2 weight and bias, 0 no weights
  int block_norms = 2;           // norms of hidden_size in a layer
  bool tied = false;             // tie_word_embeddings
  bool qkv_bias = false, output_bias = false, mlp_bias = false, head_bias = false;
  QkNorm qk_norm = QkNorm::None;
  bool sinks = false;           // one attention sink for each query head
  bool parallel_block = false;  // attention and MLP read the same input
  bool embedding_norm = false, final_norm = true;
  LatentAttention latent;
  Experts experts;
  LayerPattern pattern;               // a kind for each layer; empty: all dense over all positions
  std::int64_t mtp_layers = 0;        // num_nextn_predict_layers: blocks for further tokens, counted apart
  std::vector<std::string> left_out;  // parts of the file that are not counted
  KeyPlaces keys;

  std::int64_t query_width() const { return heads * head_dim; }
  std::int64_t kv_width() const { return kv_heads * head_dim; }
  bool is_latent() const { return latent.kv_rank > 0; }
  bool is_sparse() const { return experts.count > 0; }

  LayerKind kind(std::int64_t layer) const {
    return pattern.empty() ? LayerKind{} : pattern[static_cast<std::size_t>(layer)];
  }
  /// Layers with routed experts among [first, last).
  std::int64_t sparse_layers(std::int64_t first, std::int64_t last) const {
    return pattern.empty() ? 0 : pattern.sparse(first, last);
  }
  std::int64_t sparse_layers() const { return pattern.sparse(); }
  /// Layers by what they attend to; groups beyond the last are empty.
  std::array<SpanGroup, kMaxSpans> spans() const {
    std::array<SpanGroup, kMaxSpans> all{};
    all[0].layers = layers;
    return pattern.empty() ? all : pattern.spans();
  }
};

}  // namespace trainplan
