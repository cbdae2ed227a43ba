/// The model families as rows: what a config.json does not say because its model_type says it.
#pragma once

#include <span>
#include <string_view>

namespace trainplan {

enum class Bias : unsigned char { None, Always, AttentionKey, MlpKey };

/// attention_bias and mlp_bias keys decide where a row says so. default_ffn: intermediate_size when it is
/// missing, as a multiple of hidden_size; 0: it must be given.
struct Family {
  std::string_view model_type, architecture;
  int mlp_matrices = 3, norm_vectors = 1;
  Bias qkv_bias = Bias::None, output_bias = Bias::None, mlp_bias = Bias::None;
  bool qk_norm = false, tied = false, learned_positions = false;
  int default_ffn = 0;
};

// clang-format off
inline constexpr Family kFamilies[] = {
    {.model_type = "llama",    .architecture = "LlamaForCausalLM",
     .qkv_bias = Bias::AttentionKey, .output_bias = Bias::AttentionKey, .mlp_bias = Bias::MlpKey},
    {.model_type = "mistral",  .architecture = "MistralForCausalLM"},
    {.model_type = "qwen2",    .architecture = "Qwen2ForCausalLM", .qkv_bias = Bias::Always},
    {.model_type = "qwen3",    .architecture = "Qwen3ForCausalLM",
     .qkv_bias = Bias::AttentionKey, .output_bias = Bias::AttentionKey, .qk_norm = true},
    {.model_type = "baichuan", .architecture = "BaichuanForCausalLM"},
    {.model_type = "gpt2",     .architecture = "GPT2LMHeadModel", .mlp_matrices = 2, .norm_vectors = 2,
     .qkv_bias = Bias::Always, .output_bias = Bias::Always, .mlp_bias = Bias::Always,
     .tied = true, .learned_positions = true, .default_ffn = 4},
};
// clang-format on

/// One value under several keys; the first is the name that messages use.
struct KeyAliases {
  std::span<const std::string_view> keys;
  std::string_view name() const { return keys.front(); }
};
inline constexpr std::string_view kHiddenKeys[] = {"hidden_size", "n_embd", "d_model"};
inline constexpr std::string_view kLayerKeys[] = {"num_hidden_layers", "n_layer", "num_layers"};
inline constexpr std::string_view kHeadKeys[] = {"num_attention_heads", "n_head", "num_heads"};
inline constexpr std::string_view kGroupKeys[] = {"num_key_value_heads", "num_kv_heads"};
inline constexpr std::string_view kHeadDimKeys[] = {"head_dim"};
inline constexpr std::string_view kFfnKeys[] = {"intermediate_size", "n_inner"};
inline constexpr std::string_view kVocabKeys[] = {"vocab_size"};
inline constexpr std::string_view kPositionKeys[] = {"max_position_embeddings", "n_positions", "n_ctx",
                                                     "model_max_length"};

/// What marks a model that cannot be counted yet, whatever its model_type.
struct Unsupported {
  std::string_view key, what;
  enum class Test : unsigned char { Present, AboveOne, AboveZero, True, NonEmpty } test;
};
// clang-format off
inline constexpr Unsupported kUnsupported[] = {
    {"num_experts",             "a mixture of experts",              Unsupported::Test::AboveOne},
    {"num_local_experts",       "a mixture of experts",              Unsupported::Test::AboveOne},
    {"n_routed_experts",        "a mixture of experts",              Unsupported::Test::AboveOne},
    {"moe_num_experts",         "a mixture of experts",              Unsupported::Test::AboveOne},
    {"kv_lora_rank",            "multi-head latent attention",       Unsupported::Test::Present},
    {"num_nextn_predict_layers","multi-token prediction",            Unsupported::Test::AboveZero},
    {"text_config",             "a model with a nested text_config", Unsupported::Test::NonEmpty},
    {"llm_config",              "a model with a nested llm_config",  Unsupported::Test::NonEmpty},
    {"vision_config",           "a vision model",                    Unsupported::Test::NonEmpty},
    {"is_encoder_decoder",      "an encoder-decoder model",          Unsupported::Test::True},
    {"add_cross_attention",     "cross-attention",                   Unsupported::Test::True},
    {"cross_attention_layers",  "cross-attention",                   Unsupported::Test::NonEmpty},
    {"block_configs",           "a model with unequal layers",       Unsupported::Test::NonEmpty},
    {"hybrid_override_pattern", "a hybrid of attention and other layers", Unsupported::Test::Present},
    {"layers_block_type",       "a hybrid of attention and other layers", Unsupported::Test::NonEmpty},
    {"full_attention_interval", "a hybrid of attention and other layers", Unsupported::Test::Present},
    {"multi_query",             "the multi_query switch",            Unsupported::Test::True},
};
// clang-format on

}  // namespace trainplan
