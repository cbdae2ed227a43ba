#include "trainplan/io/load_report.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "find_config.hpp"
#include "outcome.hpp"
#include "reader.hpp"
#include "trainplan/spec/validator.hpp"

namespace trainplan {
namespace {

constexpr std::string_view kPlan = "trainplan.plan/1", kSearch = "trainplan.search/1";
constexpr const char* kWrite = "write one: trainplan plan MODEL CLUSTER --format json -o a.json";

constexpr std::size_t kMostItems = 4096;  // of a ledger: some 200

/// How keys of JSON end, and how such a number is shown; of two that fit the longer stands first.
constexpr std::pair<std::string_view, Unit> kEndings[] = {{"_flops_per_second", Unit::FlopRate},
                                                          {"_bytes_per_second", Unit::ByteRate},
                                                          {"_tokens_per_second", Unit::TokenRate},
                                                          {"_usd_per_second", Unit::UsdPerHour},
                                                          {"_flops_per_token", Unit::FlopsPerToken},
                                                          {"_bytes_per_param", Unit::BytesPerParam},
                                                          {"_gpu_seconds", Unit::GpuTime},
                                                          {"_seconds", Unit::Time},
                                                          {"_bytes", Unit::Memory},
                                                          {"_ratio", Unit::Share},
                                                          {"_flops", Unit::Flops},
                                                          {"_params", Unit::Params},
                                                          {"_tokens", Unit::Tokens},
                                                          {"_joules", Unit::Energy},
                                                          {"_usd", Unit::Usd}};

/// "sequence" and tokens of "sequence_tokens".
std::pair<std::string, Unit> without_unit(std::string_view key) {
  for (const auto& [ending, unit] : kEndings)
    if (key.size() > ending.size() && key.ends_with(ending))
      return {std::string(key.substr(0, key.size() - ending.size())), unit};
  return {std::string(key), Unit::Count};
}

/// What is sent or written is decimal; JSON has bytes for both.
Unit shown_unit(std::string_view id, Unit unit) {
  const bool moved = id.starts_with("comm.") || id.starts_with("checkpoint.");
  return unit == Unit::Memory && moved ? Unit::Traffic : unit;
}

/// The key of an item's number: "value" with its unit.
std::string value_key(const nlohmann::json& item) {
  for (const auto& [key, value] : item.items())
    if (without_unit(key).first == "value") return key;
  return "value";
}

/// Any finite number.
std::optional<double> read_number(const Reader& in, const std::string& key) {
  if (!in.require(key, "4.45")) return std::nullopt;
  const nlohmann::json& value = in.node().at(key);
  if (value.is_number()) return value.get<double>();
  in.refuse(key, "number", "be a number", "try 4.45");
  return std::nullopt;
}

void read_item(const Reader& in, ReportedPlan& plan) {
  in.require("id", "\"step.time\"");
  const auto id = in.string("id");
  const std::string key = value_key(in.node());
  const auto number = read_number(in, key);
  if (!id || !number) return;
  if (plan.find(*id) != nullptr)
    in.refuse("id", "item-twice", "appear once", kWrite);
  else
    plan.items.push_back(
        {*id, in.string("title").value_or(*id), {*number, shown_unit(*id, without_unit(key).second)}});
}

/// Facts of a report: numbers, texts and switches. The notes of inputs are their origins.
void read_settings(const Reader& in, bool notes, ReportedPlan& plan) {
  for (const auto& [name, value] : in.node().items()) {
    if (!notes && name.ends_with("_note")) continue;
    if (value.is_string()) plan.settings.push_back({name, value.get<std::string>()});
    if (value.is_boolean()) plan.settings.push_back({name, value.get<bool>()});
    if (!value.is_number()) continue;
    auto [key, unit] = without_unit(name);
    plan.settings.push_back({std::move(key), Value{value.get<double>(), unit}});
  }
}

void read_ledger(const Reader& root, ReportedPlan& plan) {
  if (!root.has("ledger"))
    return root.refuse("ledger", "report-ledger",
                       "have a ledger, which this version writes and older ones do not", kWrite);
  const auto ledger = root.object("ledger");
  if (!ledger) return;
  plan.stage = static_cast<int>(ledger->integer("stage", 0, kMaxDegree).value_or(0));
  ledger->require("items", "[{\"id\": \"step.time\", \"value_seconds\": 4.45}]");
  const std::vector<Reader> items = ledger->objects("items");
  if (items.size() > kMostItems)
    return ledger->refuse("items", "range", "be at most " + std::to_string(kMostItems) + " items", kWrite);
  for (const Reader& item : items) {
    if (item.full()) return;
    read_item(item, plan);
  }
}

void read_plan(const Reader& in, ReportedPlan& plan) {
  if (const auto schema = in.string("schema"); schema != kPlan && schema != kSearch)
    return in.refuse("schema", "report-schema",
                     "be " + std::string(kPlan) + " or " + std::string(kSearch) + ": the report of a plan",
                     kWrite);
  plan.title = in.string("title").value_or("");
  if (const auto inputs = in.object("inputs"))
    if (const auto files = inputs->object("files")) read_settings(*files, false, plan);
  if (const auto choice = in.object("plan"))
    if (const auto degrees = choice->object("degrees")) read_settings(*degrees, true, plan);
  read_ledger(in, plan);
}

std::optional<ReportedPlan> read_report(const Document& doc, Issues& issues) {
  const std::size_t first = issues.all().size();
  const Reader in(doc, issues);
  ReportedPlan plan;
  plan.source = doc.origin;
  if (in.require("schema", "\"trainplan.plan/1\"")) read_plan(in, plan);
  const Document* const documents[] = {&doc};
  place_issues(documents, issues, first);
  return errors_since(issues, first) ? std::nullopt : std::optional(std::move(plan));
}

}  // namespace

bool names_a_report(std::string_view path) {
  Issues ignored;
  const auto doc = find_config("runs", path, ignored);
  return doc && doc->root.contains("schema");
}

std::optional<ReportedPlan> load_report(std::string_view path, Issues& issues) {
  const auto doc = find_config("runs", path, issues);
  return doc ? read_report(*doc, issues) : std::nullopt;
}

std::optional<ReportedPlan> load_report_text(std::string_view text, std::string_view file, Issues& issues) {
  const auto doc = open_document(std::string(text), std::string(file), std::string(file), issues);
  return doc ? read_report(*doc, issues) : std::nullopt;
}

}  // namespace trainplan
