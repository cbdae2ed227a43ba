#include "families.hpp"

#include <algorithm>

namespace trainplan {
namespace {

constexpr Switch kAlways{.otherwise = true};
constexpr Switch key(std::string_view name, bool otherwise = false) {
  return {.otherwise = otherwise, .key = name};
}
constexpr Switch unless(std::string_view name, bool otherwise) {
  return {.otherwise = otherwise, .key = name, .inverted = true};
}
constexpr Switch kAttentionKey = key("attention_bias"), kMlpKey = key("mlp_bias");

// Checked against the layer definitions of transformers and of the models' own repositories.
// clang-format off
constexpr Family kFamilies[] = {
    // ---- gated MLP, RMSNorm, rotary positions
    {.types = {"llama", "Yi"}, .architectures = {"LlamaForCausalLM", "YiForCausalLM"},
     .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .mlp_bias = kMlpKey},
    {.types = {"mistral", "ministral3"}, .architectures = {"MistralForCausalLM", "Ministral3ForCausalLM"},
     .attention = Heads::GroupedGiven, .windows = Windows::All},
    {.types = {"mixtral"}, .architectures = {"MixtralForCausalLM"},
     .attention = Heads::GroupedGiven, .sparsity = Sparsity::Every, .own_expert_width = false, .windows = Windows::All},
    {.types = {"baichuan"}, .architectures = {"BaichuanForCausalLM", "BaiChuanForCausalLM"}},
    {.types = {"qwen"}, .architectures = {"QWenLMHeadModel"},
     .qkv_bias = kAlways, .output_bias = unless("no_bias", false), .mlp_bias = unless("no_bias", false),
     .ffn_divisor = 2},
    {.types = {"qwen2", "qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text"},
     .architectures = {"Qwen2ForCausalLM", "Qwen2VLForConditionalGeneration",
                       "Qwen2_5_VLForConditionalGeneration"},
     .qkv_bias = kAlways, .windows = Windows::BySwitch},
    {.types = {"qwen2_moe"}, .architectures = {"Qwen2MoeForCausalLM"},
     .qkv_bias = key("qkv_bias", true), .sparsity = Sparsity::ByStep, .shared = Shared::GatedWidth,
     .windows = Windows::BySwitch},
    {.types = {"qwen3", "qwen3_vl", "qwen3_vl_text"},
     .architectures = {"Qwen3ForCausalLM", "Qwen3VLForConditionalGeneration"},
     .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .qk_norm = QkNorm::PerHead, .head_dim = 128,
     .windows = Windows::BySwitch},
    {.types = {"qwen3_moe", "qwen3_vl_moe", "qwen3_vl_moe_text"},
     .architectures = {"Qwen3MoeForCausalLM", "Qwen3VLMoeForConditionalGeneration"},
     .attention = Heads::GroupedGiven, .qkv_bias = kAttentionKey, .output_bias = kAttentionKey,
     .qk_norm = QkNorm::PerHead, .sparsity = Sparsity::ByStep, .windows = Windows::BySwitch},
    {.types = {"mimo"}, .architectures = {"MiMoForCausalLM"},
     .qkv_bias = key("attention_bias", true), .windows = Windows::BySwitch, .mtp = true},
    {.types = {"deepseek"}, .architectures = {"DeepseekForCausalLM"},
     .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .sparsity = Sparsity::AfterFirst,
     .shared = Shared::Count, .experts_optional = true},
    {.types = {"deepseek_v2"}, .architectures = {"DeepseekV2ForCausalLM"},
     .attention = Heads::Latent, .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .sparsity = Sparsity::AfterFirst, .shared = Shared::Count,
     .experts_optional = true},
    {.types = {"deepseek_v3", "deepseek_v32", "kimi_k2"},
     .architectures = {"DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM", "KimiK2ForCausalLM"},
     .attention = Heads::Latent, .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .sparsity = Sparsity::AfterFirst, .shared = Shared::Count,
     .dense_first = 3, .mtp = true},
    {.types = {"dots1"}, .architectures = {"Dots1ForCausalLM"},
     .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .qk_norm = QkNorm::PerHead,
     .sparsity = Sparsity::AfterFirst, .shared = Shared::Count, .windows = Windows::BySwitch},
    {.types = {"minicpm"}, .architectures = {"MiniCPMForCausalLM"},
     .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .tied = true,
     .sparsity = Sparsity::Every, .experts_optional = true, .own_expert_width = false},
    {.types = {"minicpm3"}, .architectures = {"MiniCPM3ForCausalLM"},
     .attention = Heads::Latent, .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .tied = true},
    {.types = {"chatglm"}, .architectures = {"ChatGLMModel", "ChatGLMForConditionalGeneration"},
     .attention = Heads::MultiQueryFlag, .qkv_bias = key("add_qkv_bias"), .output_bias = key("add_bias_linear"),
     .mlp_bias = key("add_bias_linear"), .norm_bias = unless("rmsnorm", false)},
    {.types = {"glm"}, .architectures = {"GlmForCausalLM"},
     .attention = Heads::GroupedGiven, .qkv_bias = kAttentionKey, .head_dim = 128},
    {.types = {"glm4"}, .architectures = {"Glm4ForCausalLM"},
     .attention = Heads::GroupedGiven, .qkv_bias = kAttentionKey, .block_norms = 4, .head_dim = 128},
    {.types = {"glm4_moe"}, .architectures = {"Glm4MoeForCausalLM"},
     .attention = Heads::GroupedGiven, .qkv_bias = kAttentionKey, .qk_norm = QkNorm::PerHead,
     .qk_norm_on = key("use_qk_norm"), .sparsity = Sparsity::AfterFirst, .shared = Shared::Count,
     .dense_first = 1, .mtp = true},
    {.types = {"gemma"}, .architectures = {"GemmaForCausalLM"},
     .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .head_dim = 256, .tied = true},
    {.types = {"gemma2"}, .architectures = {"Gemma2ForCausalLM"},
     .attention = Heads::GroupedGiven, .qkv_bias = kAttentionKey, .output_bias = kAttentionKey,
     .block_norms = 4, .head_dim = 256, .tied = true, .windows = Windows::Periodic, .window = 4096,
     .window_period = 2},
    {.types = {"gemma3_text", "gemma3"}, .architectures = {"Gemma3ForCausalLM", "Gemma3ForConditionalGeneration"},
     .attention = Heads::GroupedGiven, .qkv_bias = kAttentionKey, .output_bias = kAttentionKey,
     .qk_norm = QkNorm::PerHead, .block_norms = 4, .head_dim = 256, .tied = true,
     .windows = Windows::Periodic, .window = 4096, .window_period = 6},
    {.types = {"phi3"}, .architectures = {"Phi3ForCausalLM"}, .windows = Windows::All},
    {.types = {"phimoe"}, .architectures = {"PhimoeForCausalLM", "PhiMoEForCausalLM"},
     .attention = Heads::GroupedGiven, .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .head_bias = key("lm_head_bias"),
     .norm_vectors = 2, .sparsity = Sparsity::Every, .own_expert_width = false, .windows = Windows::All},
    {.types = {"granite"}, .architectures = {"GraniteForCausalLM"},
     .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .mlp_bias = kMlpKey},
    {.types = {"granitemoe"}, .architectures = {"GraniteMoeForCausalLM"},
     .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .sparsity = Sparsity::Every,
     .own_expert_width = false},
    {.types = {"granitemoeshared"}, .architectures = {"GraniteMoeSharedForCausalLM"},
     .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .sparsity = Sparsity::Every,
     .shared = Shared::Width, .own_expert_width = false},
    {.types = {"granitemoehybrid"}, .architectures = {"GraniteMoeHybridForCausalLM"},
     .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .sparsity = Sparsity::Every,
     .shared = Shared::MlpInstead, .experts_optional = true, .own_expert_width = false},
    {.types = {"olmo"}, .architectures = {"OlmoForCausalLM", "OLMoForCausalLM"},
     .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .norm_vectors = 0},
    {.types = {"olmo2"}, .architectures = {"Olmo2ForCausalLM"},
     .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .qk_norm = QkNorm::AllHeads},
    {.types = {"olmo3"}, .architectures = {"Olmo3ForCausalLM"},
     .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .qk_norm = QkNorm::AllHeads,
     .windows = Windows::Periodic, .window = 4096, .window_period = 4},
    {.types = {"olmoe"}, .architectures = {"OlmoeForCausalLM"},
     .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .qk_norm = QkNorm::AllHeads,
     .sparsity = Sparsity::Every, .own_expert_width = false},
    {.types = {"internlm"}, .architectures = {"InternLMForCausalLM"},
     .qkv_bias = key("bias", true), .output_bias = key("bias", true)},
    {.types = {"internlm2"}, .architectures = {"InternLM2ForCausalLM"},
     .qkv_bias = key("bias"), .output_bias = key("bias")},
    {.types = {"internlm3"}, .architectures = {"InternLM3ForCausalLM"},
     .qkv_bias = key("qkv_bias"), .output_bias = key("bias"), .mlp_bias = key("bias")},
    {.types = {"stablelm", "stablelm_epoch"}, .architectures = {"StableLmForCausalLM", "StableLMEpochForCausalLM"},
     .qkv_bias = key("use_qkv_bias"), .qk_norm = QkNorm::AllHeads, .qk_norm_on = key("qk_layernorm"),
     .block = Block::ResidualOneNorm, .norm_vectors = 2},
    {.types = {"cohere"}, .architectures = {"CohereForCausalLM"},
     .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .qk_norm = QkNorm::AllHeads,
     .qk_norm_on = key("use_qk_norm"), .block = Block::Parallel, .block_norms = 1, .tied = true},
    {.types = {"cohere2"}, .architectures = {"Cohere2ForCausalLM"},
     .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .block = Block::Parallel, .block_norms = 1,
     .tied = true, .windows = Windows::Periodic, .window = 4096, .window_period = 4},
    {.types = {"smollm3"}, .architectures = {"SmolLM3ForCausalLM"},
     .attention = Heads::GroupedGiven, .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .mlp_bias = kMlpKey, .tied = true},
    {.types = {"exaone"}, .architectures = {"ExaoneForCausalLM"}, .tied = true},
    {.types = {"exaone4"}, .architectures = {"Exaone4ForCausalLM"},
     .qk_norm = QkNorm::PerHead, .windows = Windows::Periodic, .window_period = 4},
    {.types = {"seed_oss"}, .architectures = {"SeedOssForCausalLM"},
     .attention = Heads::GroupedGiven, .qkv_bias = key("attention_bias", true), .output_bias = key("attention_out_bias"), .mlp_bias = kMlpKey,
     .head_dim = 128},
    {.types = {"hunyuan_v1_dense"}, .architectures = {"HunYuanDenseV1ForCausalLM"},
     .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .qk_norm = QkNorm::PerHead,
     .qk_norm_on = key("use_qk_norm", true)},
    {.types = {"hunyuan_v1_moe"}, .architectures = {"HunYuanMoEV1ForCausalLM"},
     .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .qk_norm = QkNorm::PerHead,
     .qk_norm_on = key("use_qk_norm", true), .sparsity = Sparsity::Every, .shared = Shared::One,
     .own_expert_width = false},
    {.types = {"ernie4_5"}, .architectures = {"Ernie4_5ForCausalLM", "Ernie4_5_ForCausalLM"},
     .qkv_bias = key("use_bias"), .output_bias = key("use_bias"), .mlp_bias = key("use_bias"), .head_dim = 128,
     .tied = true},
    {.types = {"ernie4_5_moe"}, .architectures = {"Ernie4_5_MoeForCausalLM"},
     .qkv_bias = key("use_bias"), .output_bias = key("use_bias"), .tied = true,
     .sparsity = Sparsity::Range, .shared = Shared::Count},
    {.types = {"gpt_oss"}, .architectures = {"GptOssForCausalLM"},
     .attention = Heads::GroupedGiven, .qkv_bias = key("attention_bias", true),
     .output_bias = key("attention_bias", true), .head_dim = 64, .sparsity = Sparsity::Every,
     .router_bias = true, .expert_bias = true, .sinks = true, .own_expert_width = false,
     .windows = Windows::Periodic, .window = 128, .window_period = 2},
    {.types = {"llama4_text", "llama4"}, .architectures = {"Llama4ForCausalLM", "Llama4ForConditionalGeneration"},
     .attention = Heads::GroupedGiven, .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .head_dim = 128,
     .sparsity = Sparsity::Interleaved, .shared = Shared::One, .own_expert_width = false,
     .windows = Windows::Chunks, .window = 8192, .window_period = 4},
    {.types = {"minimax_m2"}, .architectures = {"MiniMaxM2ForCausalLM"},
     .attention = Heads::GroupedGiven, .qk_norm = QkNorm::AllHeads, .qk_norm_on = key("use_qk_norm", true),
     .sparsity = Sparsity::Every, .own_expert_width = false},
    // ---- norms of more than a weight, plain MLP, learned or linear-bias positions
    {.types = {"dbrx"}, .architectures = {"DbrxForCausalLM"},
     .attention = Heads::GroupedGiven, .positions = 2048, .sparsity = Sparsity::Every,
     .own_expert_width = false},
    {.types = {"nemotron"}, .architectures = {"NemotronForCausalLM"},
     .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .mlp_bias = kMlpKey, .mlp_matrices = 2,
     .norm_vectors = 2},
    {.types = {"arcee"}, .architectures = {"ArceeForCausalLM"},
     .qkv_bias = kAttentionKey, .output_bias = kAttentionKey, .mlp_bias = kMlpKey, .mlp_matrices = 2},
    {.types = {"starcoder2"}, .architectures = {"Starcoder2ForCausalLM"},
     .attention = Heads::GroupedGiven, .qkv_bias = key("use_bias", true), .output_bias = key("use_bias", true), .mlp_bias = key("use_bias", true),
     .mlp_matrices = 2, .norm_vectors = 2, .tied = true, .windows = Windows::All},
    {.types = {"phi", "phi-msft"}, .architectures = {"PhiForCausalLM"},
     .qkv_bias = kAlways, .output_bias = kAlways, .mlp_bias = kAlways, .head_bias = kAlways,
     .block = Block::Parallel, .mlp_matrices = 2, .norm_vectors = 2, .block_norms = 1, .ffn_of_hidden = 4},
    {.types = {"gpt2"}, .architectures = {"GPT2LMHeadModel"},
     .qkv_bias = kAlways, .output_bias = kAlways, .mlp_bias = kAlways, .mlp_matrices = 2, .norm_vectors = 2,
     .ffn_of_hidden = 4, .tied = true, .position_table = Positions::Table},
    {.types = {"gpt_bigcode"}, .architectures = {"GPTBigCodeForCausalLM"},
     .attention = Heads::MultiQueryKey, .qkv_bias = kAlways, .output_bias = kAlways, .mlp_bias = kAlways,
     .mlp_matrices = 2, .norm_vectors = 2, .ffn_of_hidden = 4, .tied = true,
     .position_table = Positions::Table},
    {.types = {"gptj"}, .architectures = {"GPTJForCausalLM"},
     .mlp_bias = kAlways, .head_bias = kAlways, .block = Block::Parallel, .mlp_matrices = 2, .norm_vectors = 2,
     .block_norms = 1, .ffn_of_hidden = 4},
    {.types = {"codegen"}, .architectures = {"CodeGenForCausalLM"},
     .mlp_bias = kAlways, .head_bias = kAlways, .block = Block::Parallel, .mlp_matrices = 2, .norm_vectors = 2,
     .block_norms = 1, .ffn_of_hidden = 4},
    {.types = {"gpt_neo"}, .architectures = {"GPTNeoForCausalLM"},
     .output_bias = kAlways, .mlp_bias = kAlways, .mlp_matrices = 2, .norm_vectors = 2, .ffn_of_hidden = 4,
     .tied = true, .position_table = Positions::Table, .windows = Windows::Listed, .window = 256},
    {.types = {"gpt_neox"}, .architectures = {"GPTNeoXForCausalLM"},
     .qkv_bias = key("attention_bias", true), .output_bias = key("attention_bias", true), .mlp_bias = kAlways,
     .block = Block::ResidualKey, .mlp_matrices = 2, .norm_vectors = 2},
    {.types = {"opt"}, .architectures = {"OPTForCausalLM"},
     .qkv_bias = key("enable_bias", true), .output_bias = key("enable_bias", true),
     .mlp_bias = key("enable_bias", true), .mlp_matrices = 2, .norm_vectors = 2, .tied = true,
     .position_table = Positions::TablePlusTwo, .projected_tables = true},
    {.types = {"bloom"}, .architectures = {"BloomForCausalLM"},
     .qkv_bias = kAlways, .output_bias = kAlways, .mlp_bias = kAlways, .mlp_matrices = 2, .norm_vectors = 2,
     .ffn_of_hidden = 4, .tied = true, .embedding_norm = true, .positions = 2048},
    {.types = {"falcon", "RefinedWeb", "RefinedWebModel"}, .architectures = {"FalconForCausalLM", "RWForCausalLM"},
     .attention = Heads::Falcon, .qkv_bias = key("bias"), .output_bias = key("bias"), .mlp_bias = key("bias"),
     .block = Block::Falcon, .mlp_matrices = 2, .norm_vectors = 2, .ffn_of_hidden = 4, .tied = true,
     .positions = 2048},
    {.types = {"mpt"}, .architectures = {"MPTForCausalLM", "MptForCausalLM"},
     .attention = Heads::AttentionType, .qkv_bias = unless("no_bias", false),
     .output_bias = unless("no_bias", false), .mlp_bias = unless("no_bias", false), .mlp_matrices = 2,
     .norm_bias = unless("no_bias", false), .ffn_of_hidden = 4, .tied = true,
     .position_table = Positions::TableUnlessAlibi, .positions = 2048},
};
// clang-format on

template <std::size_t N>
bool holds(const std::array<std::string_view, N>& names, std::string_view name) {
  return !name.empty() && std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::span<const Family> families() { return kFamilies; }

const Family* family_of_type(std::string_view model_type) {
  for (const Family& f : kFamilies)
    if (holds(f.types, model_type)) return &f;
  return nullptr;
}

const Family* family_of_architecture(std::string_view architecture) {
  for (const Family& f : kFamilies)
    if (holds(f.architectures, architecture)) return &f;
  return nullptr;
}

std::vector<std::string_view> family_types() {
  std::vector<std::string_view> names;
  for (const Family& f : kFamilies)
    for (const std::string_view type : f.types)
      if (!type.empty()) names.push_back(type);
  return names;
}

}  // namespace trainplan
