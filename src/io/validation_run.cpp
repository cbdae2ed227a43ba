#include <algorithm>
#include <cstddef>
#include <utility>

#include "find_config.hpp"
#include "outcome.hpp"
#include "text.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/units.hpp"
#include "trainplan/plan/rules.hpp"
#include "validation_reader.hpp"

namespace trainplan {

using nlohmann::json;

namespace {

/// A value that the row or the defaults give; null without one.
const json& at(const json& setup, const char* key) {
  static const json kNull;
  const auto found = setup.find(key);
  return found == setup.end() ? kNull : *found;
}

/// "llama70b, num_hidden_layers 12".
std::string model_name(const json& model) {
  if (!model.contains("base")) return "model of the row";
  std::string name = model.at("base").is_string() ? model.at("base").get<std::string>() : "";
  for (const auto& [key, value] : model.items())
    if (key != "base" && !key.starts_with('_')) name += ", " + key + " " + value.dump();
  return name;
}

}  // namespace

ValidationReader::ValidationReader(const Document& doc, Issues& issues) : doc_(doc), issues_(issues) {
  if (const auto given = doc.root.find("defaults"); given != doc.root.end() && given->is_object())
    defaults_ = *given;
}

/// Issues of a text that was put together here are about a place of the row. Warnings are not for this file.
void ValidationReader::blame(std::size_t first, const std::string& pointer, bool keep_pointer) {
  auto& all = issues_.all();
  const auto from = all.begin() + static_cast<std::ptrdiff_t>(first);
  all.erase(std::remove_if(from, all.end(), [](const Issue& i) { return i.level == Severity::Warning; }),
            all.end());
  for (std::size_t i = first; i < all.size(); ++i) {
    all[i].file = doc_.file;
    all[i].pointer = keep_pointer ? pointer + all[i].pointer : pointer;
    all[i].line = all[i].column = 0;
  }
}

/// The row laid over the defaults, its run key by key.
json ValidationReader::setup_of(const Reader& row) const {
  json setup = defaults_;
  json run = setup.contains("run") && setup.at("run").is_object() ? setup.at("run") : json::object();
  for (const std::string_view key : kSetupKeys)
    if (row.has(key)) setup[std::string(key)] = row.node().at(std::string(key));
  if (const auto own = row.object("run")) run.update(own->node());
  setup["run"] = std::move(run);
  return setup;
}

std::optional<Checked<ModelSpec>> ValidationReader::model_of(const Reader& row, const json& setup) {
  const json& model = at(setup, "model");
  const std::size_t first = issues_.all().size();
  const std::string pointer = row.pointer("model");
  std::optional<Checked<ModelSpec>> loaded;
  if (model.is_string()) {
    loaded = load_model(model.get<std::string>(), issues_);
    blame(first, pointer, false);
  } else if (model.is_object()) {
    json config = json::object();
    if (const json& base = at(model, "base"); base.is_string())
      if (const auto doc = find_config("models", base.get<std::string>(), issues_)) config = doc->root;
    config.update(model);
    config.erase("base");
    if (!errors_since(issues_, first)) loaded = load_model_text(config.dump(), model_name(model), issues_);
    blame(first, pointer, true);
  } else {
    row.refuse("model", "missing-key", "be a name, or an object with \"base\" and what differs",
               "add \"model\": \"llama8b\"");
  }
  return loaded;
}

std::optional<Checked<ClusterSpec>> ValidationReader::cluster_of(const Reader& row, const json& setup) {
  const std::size_t first = issues_.all().size();
  if (const json& cluster = at(setup, "cluster"); cluster.is_string()) {
    auto loaded = load_cluster(cluster.get<std::string>(), issues_);
    blame(first, row.pointer("cluster"), false);
    return loaded;
  }
  const Reader whole(doc_, setup, row.pointer("").substr(0, row.pointer("").size() - 1), issues_);
  whole.require("gpu", "\"h100-sxm\"");
  whole.require("gpus", "8");
  const std::int64_t gpus = whole.integer("gpus", 1, kMaxRanks).value_or(1);
  const std::int64_t per_node = std::min(gpus, whole.integer("gpus_per_node", 1, kMaxNodeWidth).value_or(8));
  if (errors_since(issues_, first)) return std::nullopt;
  if (gpus % per_node != 0) {
    whole.refuse("gpus", "whole-nodes", "be a multiple of gpus_per_node = " + std::to_string(per_node),
                 "give gpus_per_node");
    return std::nullopt;
  }
  const json cluster = {
      {"accelerator", at(setup, "gpu")}, {"nodes", gpus / per_node}, {"gpus_per_node", per_node}};
  auto loaded = load_cluster_text(cluster.dump(), std::to_string(gpus) + " GPUs", issues_);
  blame(first, row.pointer("gpu"), false);
  return loaded;
}

std::shared_ptr<const PinnedRun> ValidationReader::run_of(const Reader& row) {
  const std::size_t start = issues_.all().size();
  const json setup = setup_of(row);
  auto model = model_of(row, setup);
  auto cluster = cluster_of(row, setup);
  std::size_t first = issues_.all().size();
  auto run = load_run_text(setup.at("run").dump(), "", issues_);
  blame(first, row.pointer("run"), true);
  first = issues_.all().size();
  auto profile = load_framework(run && run->framework ? *run->framework : "megatron-lm", issues_);
  auto calibration = load_calibration(issues_, run && run->calibration ? *run->calibration : "");
  blame(first, row.pointer("run") + "/framework", false);
  if (!model || !cluster || !run || !profile || !calibration || errors_since(issues_, start)) return nullptr;
  auto pinned = std::make_shared<const PinnedRun>(std::move(*run), std::move(*model), std::move(*cluster),
                                                  std::move(*profile), std::move(*calibration));
  first = issues_.all().size();
  for (const Issue& issue : pinned->issues().all()) issues_.add(issue);
  blame(first, row.pointer("run"), true);
  return pinned;
}

std::shared_ptr<const PinnedRun> ValidationReader::legal_run_of(const Reader& row) {
  auto run = run_of(row);
  if (run == nullptr || run->issues().has_errors()) return nullptr;
  if (const Rule* rule = first_broken(run->problem(), run->plan())) {
    row.refuse("run", "legal",
               "be a legal plan; it breaks " + std::string(rule->id) + ": " +
                   rule->numbers(run->problem(), run->plan()),
               "change the degrees");
    return nullptr;
  }
  if (stage_of(row) < run->plan().pp) return run;
  row.refuse("stage", "stage-range",
             "be a stage of the plan, from 0 to " + std::to_string(run->plan().pp - 1), "try \"last\"");
  return nullptr;
}

int ValidationReader::stage_of(const Reader& row) const {
  const json setup = setup_of(row);
  const json& stage = at(setup, "stage");
  if (stage.is_null() || stage == "fullest") return kFullestStage;
  if (stage == "last") return kLastStage;
  if (stage == "first") return 0;
  if (stage.is_number_integer() && stage >= 0 && stage < kMaxDegree) return stage.get<int>();
  row.refuse("stage", "choice", "be fullest, first, last or a number from 0", "try \"fullest\"");
  return kFullestStage;
}

std::optional<double> ValidationReader::quantity(const Reader& row, std::string_view key, const Dim* dim,
                                                 Dim* found) const {
  if (!row.has(key)) return std::nullopt;
  const json& value = row.node().at(std::string(key));
  const std::string text = value.is_string()   ? value.get<std::string>()
                           : value.is_number() ? value.dump()
                                               : "";
  const Measure m = dim != nullptr ? parse_quantity(text, *dim) : parse_quantity(text);
  if (m) {
    if (found != nullptr) *found = m.dim;
    return m.value;
  }
  row.refuse(
      key, "quantity",
      "be " + (dim != nullptr ? noun_of(*dim) : "a quantity") + (text.empty() ? "" : "; it " + m.error),
      m.hint);
  return std::nullopt;
}

}  // namespace trainplan
