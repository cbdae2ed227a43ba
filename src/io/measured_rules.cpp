#include "measured_rules.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "find_config.hpp"
#include "model_keys.hpp"
#include "trainplan/io/units.hpp"

namespace trainplan {

using nlohmann::json;

namespace {

char small(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

/// A condition is a pattern or a list of patterns.
bool meets(const json& condition, const std::string& cell) {
  if (condition.is_string()) return matches(condition.get_ref<const std::string&>(), cell);
  return std::any_of(condition.begin(), condition.end(),
                     [&](const json& one) { return matches(one.get_ref<const std::string&>(), cell); });
}

bool holds(const json& rule, const MeasuredLine& line) {
  const json& when = rule.at("when");
  return std::all_of(when.items().begin(), when.items().end(),
                     [&](const auto& item) { return meets(item.value(), line.text(item.key())); });
}

/// What a rule says, without its conditions and comments.
json said_by(const json& rule) {
  json out = json::object();
  for (const auto& [key, value] : rule.items())
    if (key != "when" && !key.starts_with('_')) out[key] = value;
  return out;
}

/// One value in place of all spellings of its key.
void put(json& config, Spellings spellings, const std::string& key, std::int64_t value) {
  for (const std::string_view spelling : spellings) config.erase(std::string(spelling));
  config[key] = value;
}

struct ShapeColumn {
  std::string_view column;
  Spellings spellings;
};
constexpr ShapeColumn kShapeColumns[] = {{"layers", kLayerKeys},
                                         {"hidden", kHiddenKeys},
                                         {"heads", kHeadKeys},
                                         {"ffn", kFfnKeys},
                                         {"vocab", kVocabKeys},
                                         {"moe_experts", kExpertKeys},
                                         {"moe_topk", kExpertsPerTokenKeys},
                                         {"moe_ffn", kExpertWidthKeys}};

bool has_any(const json& config, Spellings spellings) {
  return std::any_of(spellings.begin(), spellings.end(),
                     [&](std::string_view key) { return config.contains(std::string(key)); });
}

/// The columns over a shape; `keys` names those that the family spells in its own way.
void lay_columns(const MeasuredLine& line, const json& keys, json& config) {
  for (const ShapeColumn& c : kShapeColumns) {
    const auto value = line.whole(c.column);
    if (!value) continue;
    const auto own = keys.find(std::string(c.column));
    if (own != keys.end())
      config[own->get<std::string>()] = *value;
    else
      put(config, c.spellings, std::string(c.spellings.front()), *value);
  }
  // Families without grouped attention know no such key.
  const auto kv = line.whole("kv_heads");
  if (kv && (kv != line.whole("heads") || has_any(config, kGroupKeys)))
    put(config, kGroupKeys, std::string(kGroupKeys[0]), *kv);
  // A list of another length is that of the whole model.
  const auto list = config.find("layer_types");
  if (list != config.end() && line.whole("layers") &&
      static_cast<std::int64_t>(list->size()) != *line.whole("layers"))
    config.erase("layer_types");
  if (const auto sequence = line.whole("seq"))
    put(config, kPositionKeys, std::string(kPositionKeys[0]), *sequence);
}

/// Columns whose words are all known: each has a rule of its own.
constexpr std::string_view kClosedColumns[] = {"precision", "recompute",       "zero_or_fsdp",
                                               "sp",        "flash_attention", "compile"};
constexpr std::string_view kSizes[] = {"layers", "hidden", "heads"};

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
  const std::size_t star = pattern.find('*');
  const auto same = [](char a, char b) { return small(a) == small(b); };
  if (star == std::string_view::npos)
    return std::equal(pattern.begin(), pattern.end(), text.begin(), text.end(), same);
  const std::string_view head = pattern.substr(0, star), rest = pattern.substr(star + 1);
  if (text.size() < head.size() || !std::equal(head.begin(), head.end(), text.begin(), same)) return false;
  for (std::size_t from = head.size(); from <= text.size(); ++from)
    if (matches(rest, text.substr(from))) return true;
  return false;
}

MeasuredRules::MeasuredRules(Issues& issues) {
  if (auto doc = shipped_config("measured", "sources", issues)) sources_ = std::move(doc->root);
  if (auto doc = shipped_config("measured", "shapes", issues)) shapes_ = std::move(doc->root);
}

json MeasuredRules::setup_of(const MeasuredLine& line) const {
  json setup = {{"framework", "megatron-lm"}, {"run", json::object()},     {"model", json::object()},
                {"columns", json::object()},  {"read_as", json::object()}, {"cluster", json::object()},
                {"assumed", json::object()},  {"remarks", json::object()}};
  std::set<std::string> understood;
  for (const json& rule : sources_.at("rules")) {
    if (!holds(rule, line)) continue;
    setup.merge_patch(said_by(rule));
    if (rule.at("when").size() == 1) understood.insert(rule.at("when").begin().key());
  }
  for (const std::string_view column : kClosedColumns)
    if (!line.text(column).empty() && !understood.contains(std::string(column)))
      setup["assumed"][std::string(column)] = "left out: \"" + line.text(column) + "\" is not understood";
  return setup;
}

const json* MeasuredRules::shape_of(const std::string& model) const {
  for (const json& shape : shapes_.at("shapes"))
    if (matches(shape.at("model").get_ref<const std::string&>(), model)) return &shape;
  return nullptr;
}

/// The shape of a shipped model without names and comments.
const json& MeasuredRules::shipped_shape(const std::string& name) const {
  const auto found = shipped_.find(name);
  if (found != shipped_.end()) return found->second;
  Issues ignored;
  const auto doc = shipped_config("models", name, ignored);
  json config = doc ? doc->root : json();
  for (const char* comment : {"_source", "_aliases"})
    if (config.is_object()) config.erase(comment);
  return shipped_.emplace(name, std::move(config)).first->second;
}

json MeasuredRules::config_of(const MeasuredLine& line, json& setup) const {
  const bool sized = std::all_of(std::begin(kSizes), std::end(kSizes),
                                 [&](std::string_view column) { return line.whole(column).has_value(); });
  const json* shape = shape_of(line.text("model"));
  json config = json::object(), keys = json::object();
  if (shape == nullptr) {
    config = shipped_shape(line.text("model"));
    if (!config.is_object()) {
      if (!sized) return json();
      shape = &shapes_.at(line.whole("moe_experts") ? "sparse" : "dense");
    }
  }
  if (shape != nullptr) {
    const bool based = shape->contains("base");
    if (!based && !sized) return json();
    config = based ? shipped_shape(shape->at("base").get<std::string>()) : json::object();
    if (shape->contains("config")) config.update(shape->at("config"));
    if (shape->contains("keys")) keys = shape->at("keys");
    if (shape->contains("remarks")) setup["remarks"].update(shape->at("remarks"));
  }
  lay_columns(line, keys, config);
  config.update(setup.at("model"));
  return config;
}

std::string MeasuredRules::accelerator_like(const std::string& gpu) const {
  for (const json& row : sources_.at("gpus"))
    if (matches(row.at("gpu").get_ref<const std::string&>(), gpu)) return row.at("accelerator");
  return {};
}

std::vector<RunBound> MeasuredRules::bounds() const {
  std::vector<RunBound> out;
  for (const json& b : sources_.at("bounds")) {
    RunBound bound;
    bound.source = b.value("source", "");
    bound.target = b.at("target") == kTargetNames[0] ? Target::Time : Target::Memory;
    for (std::size_t group = 0; group < std::size(kRowGroupNames); ++group)
      if (b.value("of", "all") == kRowGroupNames[group]) bound.bound.group = static_cast<RowGroup>(group);
    for (std::size_t kind = 0; kind < std::size(kBoundNames); ++kind) {
      const auto limit = b.find(std::string(kBoundNames[kind]));
      if (limit == b.end()) continue;
      bound.bound.kind = static_cast<BoundKind>(kind);
      bound.bound.limit =
          limit->is_string() ? parse_quantity(limit->get<std::string>(), kCount).value : limit->get<double>();
      out.push_back(bound);
    }
  }
  return out;
}

}  // namespace trainplan
