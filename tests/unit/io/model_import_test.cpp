// What real files do: nested parts, per-layer lists, keys of many spellings, absent and unused keys.
#include <string>
#include <vector>

#include "catch.hpp"
#include "found.hpp"
#include "trainplan/cost/inputs.hpp"
#include "trainplan/io/load.hpp"

using namespace trainplan;

namespace {

/// A file with these members.
struct Loaded {
  std::optional<Checked<ModelSpec>> model;
  Issues issues;

  const ModelSpec& operator*() const {
    CAPTURE(listed(issues));
    REQUIRE(model);
    return **model;
  }
  bool warned(std::string_view rule, std::string_view pointer) const {
    const Issue* i = find_issue(issues, rule, pointer);
    return i != nullptr && i->level == Severity::Warning && complete(issues);
  }
  bool refused(std::string_view rule, std::string_view pointer) const {
    const Issue* i = find_issue(issues, rule, pointer);
    return !model && i != nullptr && i->level == Severity::Error && i->line > 0 && complete(issues);
  }
};

Loaded load(const std::string& members) {
  Loaded out;
  out.model = load_model_text("{\n" + members + "\n}", "config.json", out.issues);
  return out;
}

const std::string kShape = R"("hidden_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 8,
 "num_key_value_heads": 2, "intermediate_size": 4096, "vocab_size": 32000, "max_position_embeddings": 4096)";
const std::string kQwen3Moe = R"("model_type": "qwen3_moe", "num_experts": 64, "num_experts_per_tok": 4,
 "moe_intermediate_size": 512, )" +
                              kShape;
const std::string kDeepseek =
    R"("model_type": "deepseek_v3", "n_routed_experts": 64, "num_experts_per_tok": 6,
 "moe_intermediate_size": 512, "n_shared_experts": 2, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
 "qk_rope_head_dim": 64, "v_head_dim": 128, "head_dim": 0, )" +
    kShape;

Loaded of_type(const std::string& type, const std::string& more = "") {
  return load("\"model_type\": \"" + type + "\", " + kShape + (more.empty() ? "" : ", " + more));
}

/// "d" dense, "s" sparse for each layer.
std::string sparse_of(const ModelSpec& m) {
  std::string out;
  for (std::int64_t l = 0; l < m.layers; ++l) out += m.kind(l).sparse ? 's' : 'd';
  return out;
}
/// "." all positions, "w" a window, "c" a chunk.
std::string spans_of(const ModelSpec& m) {
  std::string out;
  for (std::int64_t l = 0; l < m.layers; ++l)
    out += m.kind(l).span == Span::All ? '.' : m.kind(l).span == Span::Window ? 'w' : 'c';
  return out;
}

/// The place that an explanation names for the input with this symbol.
std::string place_of(const Loaded& loaded, std::string_view symbol) {
  Explain rec;
  ModelInputs<Sym> in;
  bind_model(rec, *loaded, in);
  const Tape& tape = rec.ledger().tape();
  for (std::uint32_t i = 0; i < tape.size(); ++i) {
    const Node& n = tape.node(i);
    if (n.op == Op::Input && tape.label(n).symbol == symbol) return tape.label(n).origin;
  }
  return "";
}

}  // namespace

TEST_CASE("an input names the key that is in the file") {
  const std::string gpt = R"("model_type": "gpt2", "n_embd": 1280, "n_layer": 36, "n_head": 20,
    "n_positions": 1024, "vocab_size": 50257)";
  CHECK(place_of(load(gpt), "h") == "config.json /n_embd");
  CHECK(place_of(load(gpt), "L") == "config.json /n_layer");
  CHECK(place_of(load(gpt), "n_pos") == "config.json /n_positions");
  CHECK(place_of(load(gpt), "hd") == "config.json /n_embd over /n_head");
  CHECK(place_of(load(gpt), "a_kv") == "config.json /n_head");
  CHECK(place_of(load(gpt), "f") == "config.json /n_embd x 4");
  CHECK(place_of(load(gpt + R"(, "n_inner": 4096)"), "f") == "config.json /n_inner");
  CHECK(place_of(load(kDeepseek), "E") == "config.json /n_routed_experts");
  CHECK(place_of(load(kDeepseek), "f_sh") == "config.json /n_shared_experts x /moe_intermediate_size");
  CHECK(place_of(load(kDeepseek), "hd") == "config.json /qk_nope_head_dim + /qk_rope_head_dim");
  const auto mixtral = of_type("mixtral", R"("num_local_experts": 8, "num_experts_per_tok": 2)");
  CHECK(place_of(mixtral, "E") == "config.json /num_local_experts");
  CHECK(place_of(mixtral, "f_e") == "config.json /intermediate_size");
  const auto nested =
      load(R"("model_type": "gemma3", "text_config": {"model_type": "gemma3_text", )" + kShape + "}");
  CHECK(place_of(nested, "h") == "config.json /text_config/hidden_size");
  CHECK(place_of(nested, "a_kv") == "config.json /text_config/num_key_value_heads");
  const auto qwen = of_type("qwen2_moe", R"("num_experts": 8, "num_experts_per_tok": 2,
    "moe_intermediate_size": 512, "shared_expert_intermediate_size": 2048)");
  CHECK(place_of(qwen, "f_sh") == "config.json /shared_expert_intermediate_size");
}

TEST_CASE("experts: which layers, how wide, how many a token visits") {
  const auto moe = load(kQwen3Moe);
  CHECK(sparse_of(*moe) == "ssss");
  CHECK((*moe).experts.count == 64);
  CHECK((*moe).experts.per_token == 4);
  CHECK((*moe).experts.width == 512);
  CHECK((*moe).experts.shared_width == 0);
  CHECK((*moe).ffn == 0);  // no layer has a dense MLP
  CHECK(sparse_of(*load(kQwen3Moe + R"(, "mlp_only_layers": [0, 3])")) == "dssd");
  CHECK(sparse_of(*load(kQwen3Moe + R"(, "decoder_sparse_step": 2)")) == "dsds");
  CHECK((*load(kQwen3Moe + R"(, "decoder_sparse_step": 2)")).ffn == 4096);
  CHECK(sparse_of(*load(kQwen3Moe + R"(, "mlp_layer_types": ["dense", "sparse", "sparse", "dense"])")) ==
        "dssd");
  const auto dense = of_type("qwen3_moe", R"("num_experts": 0)");
  CHECK_FALSE((*dense).is_sparse());
  CHECK((*dense).pattern.empty());
  CHECK((*dense).ffn == 4096);
}

TEST_CASE("DeepSeek: dense first layers, shared experts, latent attention") {
  const auto m = load(kDeepseek + R"(, "q_lora_rank": null, "num_nextn_predict_layers": 1)");
  CHECK(sparse_of(*m) == "ddds");
  CHECK((*m).experts.shared_width == 1024);
  CHECK((*m).latent.q_rank == 0);
  CHECK((*m).latent.kv_rank == 512);
  CHECK((*m).latent.v_dim == 128);
  CHECK((*m).head_dim == 192);
  CHECK((*m).kv_heads == 8);
  CHECK((*m).mtp_layers == 1);
  CHECK(sparse_of(*load(kDeepseek + R"(, "first_k_dense_replace": 1, "moe_layer_freq": 2)")) == "ddsd");
  CHECK(sparse_of(*load(kDeepseek + R"(, "moe_layer_freq": [0, 1, 1, 0])")) == "dssd");
  CHECK(load(kDeepseek + R"(, "moe_layer_freq": [0, 1, 1])").refused("layer-list", "/moe_layer_freq"));
  CHECK((*load(kDeepseek + R"(, "attention_bias": true)")).output_bias);
  CHECK((*load(kDeepseek + R"(, "q_lora_rank": 768, "index_n_heads": 64, "index_head_dim": 128)"))
            .latent.index_heads == 64);
  CHECK(of_type("deepseek_v3").refused("missing-key", "/kv_lora_rank"));
  // None or one by class: neither is guessed.
  CHECK(of_type("glm4_moe", R"("n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 64,
    "first_k_dense_replace": 1)")
            .refused("missing-key", "/n_shared_experts"));
}

TEST_CASE("experts of other families: the width that intermediate_size is, shared ones, gates and biases") {
  const std::string experts = R"("num_local_experts": 8, "num_experts_per_tok": 2)";
  CHECK((*of_type("mixtral", experts)).experts.width == 4096);
  CHECK((*of_type("gpt_oss", experts)).experts.bias);
  CHECK((*of_type("gpt_oss", experts)).experts.router_bias);
  CHECK((*of_type("gpt_oss", experts)).sinks);
  CHECK((*of_type("gpt_oss", experts)).qkv_bias);
  const auto qwen = of_type("qwen2_moe", R"("num_experts": 8, "num_experts_per_tok": 2,
    "moe_intermediate_size": 512, "shared_expert_intermediate_size": 2048)");
  CHECK((*qwen).experts.shared_gate);
  CHECK((*qwen).experts.shared_width == 2048);
  const auto llama4 = of_type("llama4_text", experts + R"(, "intermediate_size_mlp": 8192,
    "interleave_moe_layer_step": 2, "attention_chunk_size": 512)");
  CHECK(sparse_of(*llama4) == "dsds");
  CHECK((*llama4).ffn == 8192);
  CHECK((*llama4).experts.width == 4096);
  CHECK((*llama4).experts.shared_width == 4096);
  CHECK(spans_of(*llama4) == "ccc.");
  CHECK((*llama4).kind(0).positions == 512);
  CHECK(spans_of(*of_type("llama4_text", experts + R"(, "no_rope_layers": [1, 0, 1, 0])")) == "c.c.");
  CHECK(spans_of(*of_type("llama4_text", experts + R"(, "attention_chunk_size": null)")) == "....");
}

TEST_CASE("experts asked for where there are none, or half described") {
  CHECK(of_type("llama", R"("num_local_experts": 8)").refused("unsupported-model", "/num_local_experts"));
  CHECK(of_type("mixtral").refused("missing-key", "/num_experts"));
  CHECK(of_type("mixtral", R"("num_local_experts": 8)").refused("missing-key", "/num_experts_per_tok"));
  CHECK(load(kQwen3Moe + R"(, "experts_per_token": 8)").refused("two-spellings", "/experts_per_token"));
  const auto over = of_type("mixtral", R"("num_local_experts": 8, "num_experts_per_tok": 9)");
  CHECK(over.refused("range", "/num_experts_per_tok"));
  CHECK(find_issue(over.issues, "range", "/num_experts_per_tok")->hint == "try 8");
}

TEST_CASE("windows of every family, and none where they are switched off") {
  CHECK(spans_of(*of_type("mistral", R"("sliding_window": 512)")) == "wwww");
  CHECK((*of_type("mistral", R"("sliding_window": 512)")).kind(3).positions == 512);
  CHECK((*of_type("mistral", R"("sliding_window": null)")).pattern.empty());
  CHECK((*of_type("mistral")).pattern.empty());
  CHECK((*of_type("qwen2", R"("sliding_window": 512, "use_sliding_window": false)")).pattern.empty());
  CHECK(spans_of(*of_type("qwen2", R"("sliding_window": 512, "use_sliding_window": true,
                                       "max_window_layers": 3)")) == "...w");
  CHECK(spans_of(*of_type("qwen2", R"("sliding_window": 512, "use_sliding_window": true,
                                       "max_window_layers": 70)")) == "....");
  CHECK(spans_of(*of_type("gemma2")) == "w.w.");
  CHECK(spans_of(*of_type("gemma3_text", R"("sliding_window_pattern": 3)")) == "ww.w");
  CHECK(spans_of(*of_type("gemma3_text", R"("sliding_window": null)")) == "....");
  CHECK(spans_of(*of_type("cohere2")) == "www.");
  CHECK(spans_of(*of_type("exaone4", R"("sliding_window": 512, "sliding_window_pattern": "LLG")")) == "ww.w");
  CHECK((*of_type("exaone4")).pattern.empty());
  const std::string listed = R"("layer_types": ["full_attention", "sliding_attention", "full_attention",
                                                 "sliding_attention"])";
  CHECK(spans_of(*of_type("olmo3", listed)) == ".w.w");
  CHECK(spans_of(*of_type("llama", listed + R"(, "sliding_window": 512)")) == ".w.w");
  CHECK(of_type("llama", listed).refused("missing-key", "/sliding_window"));
  CHECK(of_type("llama", R"("layer_types": ["full_attention"])").refused("layer-list", "/layer_types"));
  CHECK(spans_of(*of_type("gpt_neo", R"("attention_types": [[["global", "local"], 2]])")) == ".w.w");
  CHECK(of_type("gpt_neo", R"("attention_types": [[["global"], 3]])")
            .refused("layer-list", "/attention_types"));
}

TEST_CASE("nested text parts: widths from there alone, what is left out is told") {
  const auto m = load(R"("model_type": "llava_of_tomorrow", "tie_word_embeddings": true,
    "vision_config": {"hidden_size": 64, "num_hidden_layers": 2, "tie_word_embeddings": false},
    "text_config": {"model_type": "qwen3", )" +
                      kShape + "}");
  CHECK((*m).hidden == 1024);
  CHECK((*m).family == "qwen3");
  CHECK((*m).tied);  // only the whole file says so
  CHECK((*m).left_out == std::vector<std::string>{"vision_config"});
  CHECK(m.warned("left-out", "/vision_config"));
  CHECK((*load(R"("model_type": "internvl_chat", "llm_config": {"model_type": "llama", )" + kShape + "}"))
            .layers == 4);
  CHECK((*load(R"("model_type": "qwen2_5_vl", "vision_config": {"hidden_size": 64}, )" + kShape)).qkv_bias);
  CHECK(load(R"("model_type": "mllama", "text_config": {"model_type": "llama", )" + kShape + "}")
            .refused("unsupported-model", "/model_type"));
  CHECK(load(R"("model_type": "a", "text_config": {"model_type": "unheard", )" + kShape + "}")
            .refused("unsupported-model", "/text_config/model_type"));
  CHECK(load(R"("text_config": {"model_type": "llama", "linear_attn_config": {"a": 1}, )" + kShape + "}")
            .refused("unsupported-model", "/text_config/linear_attn_config"));
  const auto apart = load(R"("tie_word_embeddings": false, "text_config": {"model_type": "llama",
    "tie_word_embeddings": true, )" +
                          kShape + "}");
  CHECK(apart.refused("two-spellings", "/tie_word_embeddings"));
  CHECK(load("\"text_config\": 7").refused("object", "/text_config"));
}

TEST_CASE("a nested part without sizes names every one") {
  const auto m =
      load(R"("model_type": "llava", "text_config": {"model_type": "llama", "vocab_size": 32000})");
  for (const char* key : {"hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
                          "max_position_embeddings"})
    CHECK(m.refused("missing-key", "/text_config/" + std::string(key)));
  CHECK(m.issues.all().size() == 5);
  // Where the class fills in another number of key-value heads than there are heads, it is not guessed.
  const std::string gemma = R"("model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34,
    "intermediate_size": 10240, "num_attention_heads": 8, "vocab_size": 262208, "max_position_embeddings": 131072)";
  CHECK(load(gemma).refused("missing-key", "/num_key_value_heads"));
  CHECK((*load(gemma + R"(, "num_key_value_heads": 4)")).head_dim == 256);
}

TEST_CASE("mistakes in a nested part are told at their place") {
  const auto m = load(R"("text_config": {"model_type": "llama",
"hidden_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 8,
"num_kv_heads": 3, "intermediate_size": 4096, "vocab_size": 32000, "max_position_embeddings": 4096})");
  REQUIRE(m.refused("kv-heads-divide-heads", "/text_config/num_kv_heads"));
  CHECK(m.issues.all()[0].line == 4);
}

TEST_CASE("lists with one value for each layer") {
  CHECK((*of_type("llama", R"("head_dim": [64, 64, 64, 64])")).head_dim == 64);
  CHECK(of_type("llama", R"("head_dim": [64, 64, 32, 64])").refused("per-layer", "/head_dim"));
  CHECK(of_type("llama", R"("head_dim": [])").refused("integer", "/head_dim"));
  CHECK(of_type("llama", R"("head_dim": [[64]])").refused("integer", "/head_dim"));
  const auto hunyuan = of_type("hunyuan_v1_moe", R"("num_experts": 8, "moe_topk": [2, 2, 2, 2],
    "num_shared_expert": [1, 1, 1, 1], "moe_intermediate_size": [4096, 4096, 4096, 4096])");
  CHECK((*hunyuan).experts.per_token == 2);
  CHECK((*hunyuan).experts.shared_width == 4096);
}

TEST_CASE("NaN, Infinity and very large integers are harmless where nobody reads them") {
  CHECK((*of_type("llama", R"("time_step_limit": [0.0, Infinity], "eps": NaN, "low": -Infinity,
    "text": "NaN Infinity", "many": 1000000000000000019884624838656)"))
            .layers == 4);
  const auto m = load(R"("model_type": "llama", "vocab_size": NaN, "hidden_size":
Infinity, "max_position_embeddings": 1000000000000000019884624838656, "tie_word_embeddings": NaN)");
  CHECK(m.refused("integer", "/vocab_size"));
  CHECK(m.refused("integer", "/hidden_size"));
  CHECK(m.refused("integer", "/max_position_embeddings"));
  CHECK(m.refused("boolean", "/tie_word_embeddings"));
  CHECK(find_issue(m.issues, "integer", "/hidden_size")->line == 3);
  for (const char* broken : {"-NaN", "NaNa", "1NaN", "Infinity1", "+Infinity"}) {
    CAPTURE(broken);
    CHECK_FALSE(of_type("llama", "\"eps\": " + std::string(broken)).model);
  }
}

TEST_CASE("keys that the family ignores") {
  const auto old =
      of_type("falcon", R"("num_kv_heads": 7, "multi_query": true, "new_decoder_architecture": false)");
  CHECK((*old).kv_heads == 1);
  CHECK((*old).block_norms == 1);
  CHECK((*old).parallel_block);
  const auto rw = load(R"("model_type": "falcon", "hidden_size": 1024, "num_hidden_layers": 2,
    "num_attention_heads": 8, "vocab_size": 65024, "multi_query": false, "parallel_attn": false, "bias": true)");
  CHECK((*rw).kv_heads == 8);
  CHECK((*rw).block_norms == 2);
  CHECK((*rw).qkv_bias);
  CHECK((*rw).ffn == 4096);
  CHECK((*load(R"("model_type": "RefinedWeb", "hidden_size": 1024, "n_layer": 2, "n_head": 8, "n_head_kv": 2,
    "vocab_size": 65024)"))
            .kv_heads == 2);
  CHECK_FALSE((*of_type("mistral", R"("attention_bias": true)")).qkv_bias);
}

TEST_CASE("switches of single families") {
  const auto opt = of_type("opt", R"("word_embed_proj_dim": 512, "do_layer_norm_before": false)");
  CHECK((*opt).table_width == 512);
  CHECK_FALSE((*opt).final_norm);
  CHECK((*opt).learned_positions == 4098);
  const auto qwen = of_type("qwen", R"("no_bias": true)");
  CHECK((*qwen).ffn == 2048);
  CHECK((*qwen).qkv_bias);
  CHECK_FALSE((*qwen).output_bias);
  CHECK((*of_type("cohere", R"("use_qk_norm": true)")).qk_norm == QkNorm::AllHeads);
  CHECK((*of_type("cohere")).qk_norm == QkNorm::None);
  CHECK((*of_type("olmo")).norm_vectors == 0);
  CHECK((*of_type("glm4_moe", R"("n_routed_experts": 8, "num_experts_per_tok": 2, "n_shared_experts": 1,
    "moe_intermediate_size": 512, "use_qk_norm": true)"))
            .qk_norm == QkNorm::PerHead);
  CHECK((*of_type("stablelm", R"("use_parallel_residual": true)")).block_norms == 1);
  const std::string mpt =
      R"("model_type": "mpt", "d_model": 1024, "n_layers": 2, "n_heads": 8, "vocab_size": 50432,
    "max_seq_len": 2048)";
  CHECK((*load(mpt + R"(, "attn_config": {"alibi": true})")).learned_positions == 0);
  CHECK((*load(mpt)).learned_positions == 2048);
  CHECK((*load(mpt + R"(, "expansion_ratio": 3)")).ffn == 3072);
  CHECK((*load(mpt + R"(, "attn_config": {"attn_type": "multiquery_attention"})")).kv_heads == 1);
  CHECK((*load(R"("model_type": "gpt_bigcode", "n_embd": 1024, "n_layer": 2, "n_head": 8, "vocab_size": 49152,
    "n_positions": 8192)"))
            .kv_heads == 1);
  CHECK((*of_type("minicpm3", R"("kv_lora_rank": 256, "q_lora_rank": 768, "qk_nope_head_dim": 64,
    "qk_rope_head_dim": 32)"))
            .latent.v_dim == 128);
}

TEST_CASE("a Granite hybrid is a decoder when every layer attends") {
  const std::string attends = R"("layer_types": ["attention", "attention", "attention", "attention"],
    "mamba_d_state": 128, "num_local_experts": 0, "shared_intermediate_size": 2048)";
  const auto m = of_type("granitemoehybrid", attends);
  CHECK((*m).ffn == 2048);
  CHECK((*m).pattern.empty());
  CHECK(of_type("granitemoehybrid", R"("layer_types": ["attention", "mamba", "mamba", "attention"])")
            .refused("unsupported-model", "/layer_types"));
  CHECK(of_type("granitemoehybrid", R"("shared_intermediate_size": 2048)")
            .refused("missing-key", "/layer_types"));
}

TEST_CASE("what a reader of the numbers should know is a warning") {
  CHECK(of_type("llama", R"("architectures": ["Qwen2ForCausalLM"])")
            .warned("architecture-differs", "/architectures"));
  CHECK(of_type("llama", R"("architectures": ["LlamaForSequenceClassification"])")
            .warned("architecture-differs", "/architectures"));
  CHECK(of_type("llama", R"("quantization_config": {"quant_method": "awq"})")
            .warned("quantized", "/quantization_config"));
  CHECK(of_type("llama", R"("quantization_config": null)").issues.all().empty());
  const auto mtp = of_type("llama", R"("num_nextn_predict_layers": 2)");
  CHECK(mtp.warned("left-out", "/num_nextn_predict_layers"));
  CHECK((*mtp).left_out == std::vector<std::string>{"num_nextn_predict_layers = 2"});
  CHECK((*mtp).mtp_layers == 0);
  CHECK((*load(R"("model_type": "kimi_k2", "architectures": ["DeepseekV3ForCausalLM"], )" +
               kDeepseek.substr(kDeepseek.find("\"n_routed"))))
            .family == "deepseek_v3");
}
