#include <filesystem>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "found.hpp"
#include "trainplan/io/load.hpp"

using namespace trainplan;

namespace {

const std::string kLlama = R"("model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
 "num_attention_heads": 32, "intermediate_size": 11008, "vocab_size": 32000, "max_position_embeddings": 4096)";

/// A llama with these keys after the usual ones.
ModelSpec llama(const std::string& more) {
  Issues issues;
  const auto model =
      load_model_text("{" + kLlama + (more.empty() ? "" : ", " + more) + "}", "config.json", issues);
  CAPTURE(listed(issues));
  REQUIRE(model);
  return **model;
}

Issues mistakes(const std::string& text) {
  Issues issues;
  CHECK_FALSE(load_model_text(text, "config.json", issues));
  CHECK(issues.has_errors());
  CHECK(complete(issues));
  return issues;
}

ModelSpec shipped_model(std::string_view name) {
  Issues issues;
  const auto model = load_model(name, issues);
  CAPTURE(name, listed(issues));
  REQUIRE(model);
  return **model;
}

}  // namespace

TEST_CASE("Llama-3-70B as published") {
  const ModelSpec m = shipped_model("llama70b");
  CHECK(m.name == "llama70b");
  CHECK(m.origin == "shipped:models/llama70b.json");
  CHECK(m.family == "llama");
  CHECK(m.hidden == 8192);
  CHECK(m.layers == 80);
  CHECK(m.heads == 64);
  CHECK(m.kv_heads == 8);
  CHECK(m.head_dim == 128);
  CHECK(m.ffn == 28672);
  CHECK(m.vocab == 128256);
  CHECK(m.max_positions == 8192);
  CHECK(m.learned_positions == 0);
  CHECK(m.mlp_matrices == 3);
  CHECK(m.norm_vectors == 1);
  CHECK_FALSE(m.tied);
  CHECK_FALSE(m.qkv_bias);
  CHECK_FALSE(m.output_bias);
  CHECK_FALSE(m.mlp_bias);
  CHECK(m.qk_norm == QkNorm::None);
}

TEST_CASE("GPT-3 175B has the GPT-2 shape") {
  const ModelSpec m = shipped_model("gpt3-175b");
  CHECK(m.hidden == 12288);
  CHECK(m.layers == 96);
  CHECK(m.kv_heads == 96);
  CHECK(m.head_dim == 128);
  CHECK(m.ffn == 4 * 12288);
  CHECK(m.mlp_matrices == 2);
  CHECK(m.norm_vectors == 2);
  CHECK(m.learned_positions == 2048);
  CHECK(m.tied);
  CHECK(m.qkv_bias);
  CHECK(m.output_bias);
  CHECK(m.mlp_bias);
}

TEST_CASE("what the family says and the file does not") {
  const ModelSpec qwen2 = shipped_model("qwen2.5-7b");
  CHECK(qwen2.qkv_bias);
  CHECK_FALSE(qwen2.output_bias);
  CHECK(qwen2.kv_heads == 4);
  const ModelSpec qwen3 = shipped_model("qwen3-8b");
  CHECK(qwen3.qk_norm == QkNorm::PerHead);
  CHECK_FALSE(qwen3.qkv_bias);
  CHECK(qwen3.head_dim == 128);
}

TEST_CASE("a missing key means its default, and null means missing") {
  const ModelSpec m = llama(R"("num_key_value_heads": null, "head_dim": null, "tie_word_embeddings": null)");
  CHECK(m.kv_heads == 32);
  CHECK(m.head_dim == 128);
  CHECK_FALSE(m.tied);
}

TEST_CASE("switches and widths of the file win") {
  const ModelSpec m = llama(R"("num_key_value_heads": 4, "head_dim": 160, "tie_word_embeddings": true,
                               "attention_bias": true, "mlp_bias": "true", "unheard_of": [1])");
  CHECK(m.kv_heads == 4);
  CHECK(m.query_width() == 32 * 160);
  CHECK(m.tied);
  CHECK(m.qkv_bias);
  CHECK(m.output_bias);
  CHECK(m.mlp_bias);
}

TEST_CASE("numbers written by other tools: texts and whole floats") {
  Issues issues;
  const auto m = load_model_text(
      R"({"model_type": "gpt2", "n_embd": "768", "n_layer": 12.0, "n_head": 12, "n_inner": null,
                                     "n_positions": 1024, "n_ctx": 1024, "vocab_size": 50257})",
      "config.json", issues);
  CAPTURE(listed(issues));
  REQUIRE(m);
  CHECK((*m)->hidden == 768);
  CHECK((*m)->layers == 12);
  CHECK((*m)->ffn == 3072);
}

TEST_CASE("every mistake is reported, at its place, with a way out") {
  const Issues issues = mistakes(R"({
  "model_type": "llama",
  "hidden_size": 7.9,
  "num_hidden_layers": true,
  "num_attention_heads": -1,
  "num_key_value_heads": "x",
  "vocab_size": 3000000000,
  "tie_word_embeddings": 1
})");
  CAPTURE(listed(issues));
  const auto at = [&](const char* rule, const char* pointer, int line, int column) {
    const Issue* i = find_issue(issues, rule, pointer);
    CAPTURE(rule, pointer);
    REQUIRE(i != nullptr);
    CHECK(i->line == line);
    CHECK(i->column == column);
    CHECK(i->file == "config.json");
  };
  at("integer", "/hidden_size", 3, 18);
  at("integer", "/num_hidden_layers", 4, 24);
  at("range", "/num_attention_heads", 5, 26);
  at("integer", "/num_key_value_heads", 6, 26);
  at("range", "/vocab_size", 7, 17);
  at("boolean", "/tie_word_embeddings", 8, 26);
  at("missing-key", "/intermediate_size", 1, 1);
  at("missing-key", "/max_position_embeddings", 1, 1);
  CHECK(issues.all().size() == 8);  // nothing that follows from another mistake
  CHECK(find_issue(issues, "integer", "/hidden_size")->hint == "try 8");
  CHECK(find_issue(issues, "range", "/vocab_size")->hint == "try 2147483648");
}

TEST_CASE("heads must divide what they share") {
  Issues issues = mistakes(R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 1,
"num_attention_heads": 30, "intermediate_size": 1, "vocab_size": 1, "max_position_embeddings": 1})");
  const Issue* heads = find_issue(issues, "heads-divide-hidden", "/num_attention_heads");
  REQUIRE(heads != nullptr);
  CHECK(heads->line == 2);
  CHECK(heads->hint == "try 32, or give head_dim");

  issues = mistakes("{" + kLlama + ", \"num_key_value_heads\": 7}");
  const Issue* groups = find_issue(issues, "kv-heads-divide-heads", "/num_key_value_heads");
  REQUIRE(groups != nullptr);
  CHECK(groups->line == 2);
  CHECK(groups->hint == "try 8");

  // The number of heads that is proposed keeps the rule of the groups, which then says nothing of its own.
  issues = mistakes(R"({"model_type": "llama", "hidden_size": 5120, "num_hidden_layers": 1,
"num_attention_heads": 39, "num_key_value_heads": 8, "intermediate_size": 1, "vocab_size": 1,
"max_position_embeddings": 1})");
  REQUIRE(issues.all().size() == 1);
  CHECK(issues.all()[0].hint == "try 40, or give head_dim");
}

TEST_CASE("an unknown family hides no value that no family takes") {
  const Issues issues = mistakes(R"({"model_type": "lama", "hidden_size": -5120, "num_hidden_layers": 40.5,
"num_attention_heads": 39, "vocab_size": 0})");
  CAPTURE(listed(issues));
  CHECK(issues.all().size() == 4);
  CHECK(find_issue(issues, "unsupported-model", "/model_type") != nullptr);
  CHECK(find_issue(issues, "range", "/hidden_size") != nullptr);
  CHECK(find_issue(issues, "integer", "/num_hidden_layers") != nullptr);
  CHECK(find_issue(issues, "range", "/vocab_size") != nullptr);
}

TEST_CASE("two spellings of one value must agree") {
  CHECK(llama(R"("n_layer": 32)").layers == 32);
  const Issues issues = mistakes("{" + kLlama + ", \"n_layer\": 31}");
  REQUIRE(find_issue(issues, "two-spellings", "/n_layer") != nullptr);
  CHECK(find_issue(issues, "two-spellings", "/n_layer")->must == "be equal to num_hidden_layers = 32");
}

TEST_CASE("models that cannot be counted are refused by name, never mis-counted") {
  const std::pair<const char*, const char*> refused[] = {
      {R"("num_local_experts": 8)", "/num_local_experts"},
      {R"("num_experts": 2)", "/num_experts"},
      {R"("n_routed_experts": 64)", "/n_routed_experts"},
      {R"("kv_lora_rank": 512)", "/kv_lora_rank"},
      {R"("is_encoder_decoder": true)", "/is_encoder_decoder"},
      {R"("mamba_d_state": 16)", "/mamba_d_state"},
      {R"("layer_types": ["full_attention", "linear_attention"])", "/layer_types"},
      {R"("block_configs": [{}])", "/block_configs"},
      {R"("hybrid_override_pattern": "M-M*")", "/hybrid_override_pattern"},
      {R"("cross_attention_layers": [3, 8])", "/cross_attention_layers"},
      {R"("full_attention_interval": 4)", "/full_attention_interval"},
      {R"("multi_query": true)", "/multi_query"},
  };
  for (const auto& [key, pointer] : refused) {
    const Issues issues = mistakes("{" + kLlama + ", " + key + "}");
    CAPTURE(key, listed(issues));
    REQUIRE(issues.all().size() == 1);
    CHECK(find_issue(issues, "unsupported-model", pointer) != nullptr);
    CHECK(issues.all()[0].line == 2);
  }
  for (const char* harmless : {R"("num_experts": 0)", R"("num_local_experts": 1)", R"("kv_lora_rank": null)",
                               R"("text_config": null)", R"("text_config": {})",
                               R"("num_nextn_predict_layers": 0)", R"("is_encoder_decoder": false)"})
    CHECK(llama(harmless).layers == 32);
}

TEST_CASE("an unknown family names the ones near it; a missing one is inferred for the hint") {
  const auto hint = [](const std::string& type) {
    const Issues issues = mistakes("{\"model_type\": \"" + type + "\", \"hidden_size\": 4096}");
    REQUIRE(issues.all().size() == 1);
    CHECK(issues.all()[0].rule == "unsupported-model");
    CHECK(issues.all()[0].pointer == "/model_type");
    return issues.all()[0].hint;
  };
  CHECK(hint("lama") == "did you mean \"llama\"?");
  CHECK(hint("gemma9_unheard") == "known ones near it: gemma, gemma2, gemma3_text or gemma3");
  CHECK(hint("zzz") == "see the families: trainplan list families");
  const Issues issues = mistakes(R"({"architectures": ["Qwen3ForCausalLM"]})");
  CHECK(issues.all()[0].rule == "missing-key");
  CHECK(issues.all()[0].hint == "add \"model_type\": \"qwen3\"");
}

TEST_CASE("aliases, letter case and the suffix do not matter for shipped names") {
  for (const char* name :
       {"llama70b", "llama70b.json", "llama-3-70b", "LLAMA-3-70B", "meta-llama/Meta-Llama-3-70B"})
    CHECK(shipped_model(name).origin == "shipped:models/llama70b.json");
}

TEST_CASE("an unknown name gets the nearest shipped one") {
  Issues issues;
  CHECK_FALSE(load_model("lama70b", issues));
  REQUIRE(issues.all().size() == 1);
  CHECK(issues.all()[0].rule == "not-found");
  CHECK(issues.all()[0].hint == "did you mean \"llama70b\"?");
}

TEST_CASE("a local file of that name wins, a folder does not") {
  namespace fs = std::filesystem;
  const fs::path before = fs::current_path(), here = fs::temp_directory_path() / "trainplan_model_test";
  fs::create_directories(here / "llama8b");
  fs::current_path(here);
  std::ofstream("llama70b.json") << "{" << kLlama << "}";
  const ModelSpec with = shipped_model("llama70b.json"), without = shipped_model("llama70b");
  const ModelSpec folder = shipped_model("llama8b");
  fs::create_directories("Some-Model");
  fs::copy("llama70b.json", "Some-Model/config.json");
  const ModelSpec named = shipped_model("Some-Model/config.json");
  fs::current_path(before);
  fs::remove_all(here);
  CHECK(with.origin == "llama70b.json");
  CHECK(with.hidden == 4096);
  CHECK(without.origin == "llama70b.json");
  CHECK(folder.origin == "shipped:models/llama8b.json");
  CHECK(named.name == "Some-Model");
}
