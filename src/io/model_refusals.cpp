#include "model_refusals.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "text.hpp"

namespace trainplan {
namespace {

using nlohmann::json;

constexpr std::string_view kRule = "unsupported-model";

struct OtherKind {
  std::string_view what;
  std::initializer_list<std::string_view> types;
};

constexpr std::string_view kHybrid = "a hybrid of attention and state-space or linear-attention layers";
constexpr std::string_view kEncoderDecoder = "an encoder-decoder model";

// clang-format off
const OtherKind kOtherKinds[] = {
    {"a state-space or recurrent model",
     {"mamba", "mamba2", "falcon_mamba", "codestral_mamba", "rwkv", "rwkv5", "rwkv6", "rwkv7", "xlstm", "retnet",
      "hyena"}},
    {kHybrid,
     {"jamba", "bamba", "zamba", "zamba2", "nemotron_h", "falcon_h1", "qwen3_next", "qwen3_5", "qwen3_5_text",
      "qwen3_5_moe", "qwen3_5_moe_text", "lfm2", "lfm2_moe", "lfm2_vl", "minimax", "minimax_text_01", "minimax_m1",
      "MiniMaxText01", "MiniMaxM1", "kimi_linear", "recurrent_gemma", "griffin", "plamo2", "hymba", "samba",
      "phi4flash", "olmo_hybrid", "bailing_moe_linear"}},
    {"a model with cross-attention layers",
     {"mllama", "mllama_text_model", "idefics", "flamingo", "otter", "moonshine"}},
    {"a model with unequal layers",
     {"nemotron-nas", "nemotron_nas", "deci", "deci_lm", "openelm", "gemma3n", "gemma3n_text"}},
    {kEncoderDecoder,
     {"t5", "mt5", "umt5", "longt5", "byt5", "t5gemma", "bart", "mbart", "whisper", "pegasus", "pegasus_x",
      "marian", "m2m_100", "nllb-moe", "switch_transformers", "blenderbot", "blenderbot-small", "led", "prophetnet",
      "bigbird_pegasus", "encoder-decoder", "vision-encoder-decoder", "speech-encoder-decoder", "fsmt", "plbart",
      "pix2struct", "florence2", "seamless_m4t"}},
    {"an encoder",
     {"bert", "roberta", "xlm-roberta", "xlm-roberta-xl", "distilbert", "electra", "deberta", "deberta-v2", "albert",
      "modernbert", "mpnet", "camembert", "nomic_bert", "ernie", "layoutlm", "layoutlmv3", "clip", "siglip", "vit",
      "wav2vec2", "hubert"}},
};

/// Keys that mark another kind of model, whatever its model_type.
struct Mark {
  std::string_view key, what;
  enum class Test : unsigned char { Present, True, NonEmpty, AboveOne } test;
};
constexpr Mark kMarks[] = {
    {"is_encoder_decoder",         kEncoderDecoder,                        Mark::Test::True},
    {"add_cross_attention",        "a model with cross-attention layers",  Mark::Test::True},
    {"cross_attention_layers",     "a model with cross-attention layers",  Mark::Test::NonEmpty},
    {"cross_attention_freq",       "a model with cross-attention layers",  Mark::Test::Present},
    {"block_configs",              "a model with unequal layers",          Mark::Test::NonEmpty},
    {"num_key_value_heads_per_layer", "a model with unequal layers",       Mark::Test::NonEmpty},
    {"hybrid_override_pattern",    kHybrid,                                Mark::Test::Present},
    {"hybrid_layer_ids",           kHybrid,                                Mark::Test::NonEmpty},
    {"full_attention_interval",    kHybrid,                                Mark::Test::AboveOne},
    {"linear_attn_config",         kHybrid,                                Mark::Test::NonEmpty},
    {"attn_type_list",             kHybrid,                                Mark::Test::NonEmpty},
    {"attn_layer_period",          kHybrid,                                Mark::Test::AboveOne},
    {"linear_num_value_heads",     kHybrid,                                Mark::Test::Present},
};
// clang-format on

bool is_true(const json& value) {
  if (value.is_string()) return lower(value.get_ref<const std::string&>()) == "true";
  return value.is_boolean() && value.get<bool>();
}

bool marks(const json& value, Mark::Test test) {
  switch (test) {
    case Mark::Test::Present: return true;
    case Mark::Test::True: return is_true(value);
    case Mark::Test::NonEmpty: return value.is_structured() && !value.empty();
    case Mark::Test::AboveOne: return !value.is_number() || value.get<double>() > 1;
  }
  return true;
}

const json* value_of(const Reader& in, std::string_view key) {
  const auto found = in.node().find(std::string(key));
  return found == in.node().end() || found->is_null() ? nullptr : &*found;
}

std::string text_of(const Reader& in, std::string_view key) {
  const json* v = value_of(in, key);
  return v != nullptr && v->is_string() ? v->get<std::string>() : std::string{};
}

bool refuse_as(const Reader& in, std::string_view key, std::string_view what) {
  in.refuse(key, std::string(kRule),
            "be a decoder in which every layer attends: this is " + std::string(what),
            "it cannot be counted; the families that can: trainplan list families");
  return true;
}

/// A layer of another kind than attention over all positions, a window or a chunk of them.
bool other_layers(const json& types) {
  const auto known = [](const json& t) {
    return t == "full_attention" || t == "sliding_attention" || t == "chunked_attention" ||
           t == "attention" || t == "global" || t == "local";
  };
  return types.is_array() && !std::all_of(types.begin(), types.end(), known);
}

bool begins_alike(std::string_view a, std::string_view b, std::size_t n) {
  return a.size() >= n && b.size() >= n && lower(a.substr(0, n)) == lower(b.substr(0, n));
}

/// The known types with the longest common beginning, at most four.
std::string relatives(std::string_view type) {
  for (std::size_t n = type.size(); n >= 3; --n) {
    std::vector<std::string_view> near;
    for (const std::string_view known : family_types())
      if (begins_alike(known, type, n) && near.size() < 4) near.push_back(known);
    if (!near.empty()) return "known ones near it: " + one_of(near);
  }
  return {};
}

}  // namespace

bool refuse_other_kinds(const Reader& in) {
  const std::string type = text_of(in, "model_type");
  for (const OtherKind& kind : kOtherKinds)
    if (std::find(kind.types.begin(), kind.types.end(), type) != kind.types.end())
      return refuse_as(in, "model_type", kind.what);
  bool refused = false;
  for (const Mark& m : kMarks) {
    const json* v = value_of(in, m.key);
    if (v != nullptr && marks(*v, m.test)) refused = refuse_as(in, m.key, m.what);
  }
  for (const std::string_view key : {"layer_types", "layers_block_type", "attention_layers"})
    if (const json* types = value_of(in, key); types != nullptr && other_layers(*types))
      refused = refuse_as(in, key, kHybrid);
  if (type == "granitemoehybrid") return refused;  // its files hold these keys even when every layer attends
  for (const auto& [key, value] : in.node().items())
    if ((key.starts_with("mamba_") || key.starts_with("ssm_")) && !value.is_null())
      return refuse_as(in, key, kHybrid);
  return refused;
}

void refuse_foreign_parts(const Reader& in, const Family& family) {
  const std::string name(family.name());
  const auto refuse = [&](std::string_view key, const std::string& what) {
    in.refuse(key, std::string(kRule),
              "not ask for " + what + ", which models of type " + name + " do not have",
              "correct model_type; the families: trainplan list families");
  };
  const auto above_one = [&](std::string_view key) {
    const json* v = value_of(in, key);
    return v != nullptr && (v->is_array() || (v->is_number() && v->get<double>() > 1));
  };
  const auto asks = [&](std::string_view key) {
    const json* v = value_of(in, key);
    return v != nullptr && is_true(*v);
  };
  const auto must_be_false = [&](std::string_view key, const std::string& why) {
    if (asks(key)) in.refuse(key, std::string(kRule), "be false: " + why, "no published model has them");
  };
  if (family.sparsity == Sparsity::None)
    for (const std::string_view key :
         {"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"})
      if (above_one(key)) refuse(key, "a mixture of experts");
  if (family.attention != Heads::Latent && value_of(in, "kv_lora_rank") != nullptr)
    refuse("kv_lora_rank", "multi-head latent attention");
  if (family.name() == "ernie4_5_moe") must_be_false("use_bias", "biases of experts are not counted");
  if (family.name() == "phi") must_be_false("qk_layernorm", "norms of queries and keys are not counted");
  if (family.attention != Heads::MultiQueryKey && family.attention != Heads::Falcon && asks("multi_query"))
    refuse("multi_query", "multi-query attention by this switch");
}

void refuse_unknown_type(const Reader& in, std::string_view model_type) {
  const auto names = family_types();
  const std::string_view near = nearest(model_type, names);
  std::string hint = near.empty() ? relatives(model_type) : "did you mean \"" + std::string(near) + "\"?";
  if (hint.empty()) hint = "see the families: trainplan list families";
  in.refuse("model_type", std::string(kRule), "be a known family: the layers of this one are not known",
            std::move(hint));
}

}  // namespace trainplan
