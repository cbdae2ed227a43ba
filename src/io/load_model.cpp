#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "families.hpp"
#include "find_config.hpp"
#include "outcome.hpp"
#include "reader.hpp"
#include "text.hpp"
#include "trainplan/io/load.hpp"

namespace trainplan {
namespace {

using nlohmann::json;

bool marks(const json& value, Unsupported::Test test) {
  switch (test) {
    case Unsupported::Test::Present: return true;
    case Unsupported::Test::AboveOne:
      return value.is_array() || (value.is_number() && value.get<double>() > 1);
    case Unsupported::Test::AboveZero:
      return value.is_array() || (value.is_number() && value.get<double>() > 0);
    case Unsupported::Test::True: return value.is_boolean() && value.get<bool>();
    case Unsupported::Test::NonEmpty: return value.is_structured() && !value.empty();
  }
  return true;
}

std::vector<std::string_view> family_names() {
  std::vector<std::string_view> names;
  for (const Family& f : kFamilies) names.push_back(f.model_type);
  return names;
}

/// Layers of another kind than attention over all or a window of the positions.
bool other_layers(const json& types) {
  const auto known = [](const json& t) {
    return t == "full_attention" || t == "sliding_attention" || t == "chunked_attention";
  };
  return types.is_array() && !std::all_of(types.begin(), types.end(), known);
}

/// A plausible count of the wrong model would be the worst answer, so these are refused by name.
bool refuse_unsupported(const Reader& in) {
  bool refused = false;
  const auto refuse = [&](std::string_view key, const std::string& what) {
    in.refuse(key, "unsupported-model", "not ask for " + what + ", which cannot be counted yet",
              "use a dense model of type " + one_of(family_names()));
    refused = true;
  };
  for (const Unsupported& u : kUnsupported) {
    const auto found = in.node().find(std::string(u.key));
    if (found != in.node().end() && !found->is_null() && marks(*found, u.test))
      refuse(u.key, std::string(u.what));
  }
  const auto types = in.node().find("layer_types");
  if (types != in.node().end() && other_layers(*types))
    refuse("layer_types", "layers without softmax attention");
  for (const auto& [key, value] : in.node().items())
    if ((key.starts_with("mamba_") || key.starts_with("ssm_")) && !value.is_null())
      return refuse(key, "state-space layers"), true;
  return refused;
}

/// The row of the model_type. Its absence or an unknown one is an error that lists the known ones.
const Family* find_family(const Reader& in) {
  const auto names = family_names();
  if (!in.has("model_type")) {
    std::string likely(names.front());
    for (const std::string& architecture : in.strings("architectures"))
      for (const Family& f : kFamilies)
        if (f.architecture == architecture) likely = f.model_type;
    in.require("model_type", "\"" + likely + "\"");
    return nullptr;
  }
  const std::optional<std::string> type = in.string("model_type");
  if (!type) return nullptr;
  for (const Family& f : kFamilies)
    if (f.model_type == *type) return &f;
  const std::string_view near = nearest(*type, names);
  in.refuse("model_type", "unsupported-model", "be " + one_of(names) + "; others cannot be counted yet",
            near.empty() ? "use a model of these families" : "did you mean \"" + std::string(near) + "\"?");
  return nullptr;
}

/// Reads the shape. A wrong value stays 0: the rule that it breaks names the same key, so it is told once.
/// What follows from it becomes 1, so that nothing is told that is not the user's mistake.
class ModelReader {
  const Reader& in_;
  const Family& family_;
  ModelSpec model_;
  std::vector<std::pair<std::string, std::string>> spelled_;  // canonical pointer -> the one in the file

  /// Both spellings of one value may be present when they agree. Nothing when none is.
  std::optional<std::int64_t> integer(std::span<const std::string_view> keys, std::int64_t hi) {
    std::optional<std::int64_t> value;
    std::string_view from;
    for (const std::string_view key : keys) {
      if (!in_.has(key)) continue;
      const std::optional<std::int64_t> n = in_.integer(key, 1, hi);
      if (!value) {
        value = n.value_or(0);
        from = key;
        spelled_.emplace_back("/" + std::string(keys.front()), in_.pointer(key));
      } else if (n && *value != 0 && *n != *value) {
        in_.refuse(key, "two-spellings", "be equal to " + std::string(from) + " = " + std::to_string(*value),
                   "remove one of the two");
      }
    }
    return value;
  }
  std::int64_t required(std::span<const std::string_view> keys, std::int64_t hi, std::string_view example) {
    const std::optional<std::int64_t> value = integer(keys, hi);
    if (!value) in_.require(keys.front(), example);
    return value.value_or(0);
  }
  bool bias(Bias rule) const {
    switch (rule) {
      case Bias::None: return false;
      case Bias::Always: return true;
      case Bias::AttentionKey: return in_.boolean("attention_bias").value_or(false);
      case Bias::MlpKey: return in_.boolean("mlp_bias").value_or(false);
    }
    return false;
  }

  void read_attention() {
    model_.heads = required(kHeadKeys, kMaxHeads, "32");
    model_.kv_heads = integer(kGroupKeys, kMaxHeads).value_or(std::max<std::int64_t>(model_.heads, 1));
    const std::optional<std::int64_t> head_dim = integer(kHeadDimKeys, kMaxHeads);
    if (head_dim || model_.heads == 0 || model_.hidden == 0) {
      model_.head_dim = head_dim.value_or(1);
      return;
    }
    model_.head_dim = std::max<std::int64_t>(model_.hidden / model_.heads, 1);
    if (model_.hidden % model_.heads == 0) return;
    std::int64_t near = model_.heads;
    while (model_.hidden % near != 0) --near;
    in_.refuse(spelling("num_attention_heads"), "heads-divide-hidden",
               "divide hidden_size = " + std::to_string(model_.hidden) + " when head_dim is left out",
               "try " + std::to_string(near) + ", or give head_dim");
  }
  void read_mlp() {
    const std::optional<std::int64_t> ffn = integer(kFfnKeys, kMaxWidth);
    if (!ffn && family_.default_ffn == 0) in_.require(kFfnKeys[0], "14336");
    const std::int64_t by_hidden = family_.default_ffn * model_.hidden;
    model_.ffn = ffn.value_or(family_.default_ffn == 0 ? 0 : std::max<std::int64_t>(by_hidden, 1));
    for (const std::string_view key : {"hidden_act", "activation_function"}) {
      const std::string act = lower(in_.string(key).value_or(""));
      if (family_.mlp_matrices == 2 && act.find("glu") != std::string::npos)
        in_.refuse(key, "unsupported-model",
                   "be an activation without a gate: the MLP of this model_type has two matrices",
                   "try \"gelu_new\"");
    }
  }
  void read_switches() {
    const bool attention = bias(Bias::AttentionKey) && family_.qkv_bias == Bias::AttentionKey;
    model_.qkv_bias = family_.qkv_bias == Bias::AttentionKey ? attention : bias(family_.qkv_bias);
    model_.output_bias = family_.output_bias == Bias::AttentionKey ? attention : bias(family_.output_bias);
    model_.mlp_bias = bias(family_.mlp_bias);
    model_.qk_norm = family_.qk_norm ? QkNorm::PerHead : QkNorm::None;
    model_.mlp_matrices = family_.mlp_matrices;
    model_.norm_vectors = family_.norm_vectors;
    model_.tied = in_.boolean("tie_word_embeddings").value_or(family_.tied);
    model_.learned_positions = family_.learned_positions ? model_.max_positions : 0;
    const bool window = in_.has("sliding_window") &&
                        in_.boolean("use_sliding_window").value_or(family_.model_type == "mistral");
    if (window)
      in_.warn("sliding_window", "sliding-window",
               "not be relied on: attention is counted over all earlier positions",
               "for sequences longer than it the attention FLOPs are an upper bound");
  }

 public:
  ModelReader(const Reader& in, const Family& family) : in_(in), family_(family) {}

  /// The key of the file that stands for a canonical one.
  std::string spelling(std::string_view canonical) const {
    for (const auto& [name, actual] : spelled_)
      if (name.substr(1) == canonical) return actual.substr(1);
    return std::string(canonical);
  }

  ModelSpec read() {
    model_.origin = in_.document().origin;
    model_.name = config_name(model_.origin);
    model_.family = family_.model_type;
    model_.hidden = required(kHiddenKeys, kMaxWidth, "4096");
    model_.layers = required(kLayerKeys, kMaxLayers, "32");
    read_attention();
    read_mlp();
    model_.vocab = required(kVocabKeys, kMaxVocab, "128256");
    model_.max_positions = required(kPositionKeys, kMaxVocab, "8192");
    read_switches();
    return model_;
  }
};

std::optional<Checked<ModelSpec>> read_model(const Document& doc, Issues& issues) {
  const std::size_t first = issues.all().size();
  const Reader in(doc, issues, Spelling::Lenient);
  if (refuse_unsupported(in)) return std::nullopt;
  const Family* family = find_family(in);
  if (family == nullptr) return std::nullopt;
  ModelReader reader(in, *family);
  ModelSpec model = reader.read();
  const std::size_t checked_from = issues.all().size();
  auto checked = Checked<ModelSpec>::make(std::move(model), issues);
  for (std::size_t i = checked_from; i < issues.all().size(); ++i) {
    Issue& issue = issues.all()[i];
    if (!issue.pointer.empty()) issue.pointer = "/" + reader.spelling(issue.pointer.substr(1));
  }
  const Document* const documents[] = {&doc};
  place_issues(documents, issues, first);
  return errors_since(issues, first) ? std::nullopt : checked;
}

}  // namespace

std::optional<Checked<ModelSpec>> load_model(std::string_view name_or_path, Issues& issues) {
  const auto doc = find_config("models", name_or_path, issues);
  return doc ? read_model(*doc, issues) : std::nullopt;
}

std::optional<Checked<ModelSpec>> load_model_text(std::string_view text, std::string_view file,
                                                  Issues& issues) {
  const auto doc = open_document(std::string(text), std::string(file), std::string(file), issues);
  return doc ? read_model(*doc, issues) : std::nullopt;
}

}  // namespace trainplan
