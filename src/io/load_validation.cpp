#include "trainplan/io/load_validation.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "find_config.hpp"
#include "outcome.hpp"
#include "text.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/shipped.hpp"
#include "trainplan/io/units.hpp"
#include "validation_reader.hpp"

namespace trainplan {
namespace {

using nlohmann::json;

constexpr std::string_view kFileKeys[] = {"kind",      "title",  "source",   "year",
                                          "in_sample", "bounds", "defaults", "rows"};
constexpr std::string_view kDefaultKeys[] = {"model",   "gpu", "gpus",  "gpus_per_node",
                                             "cluster", "run", "stage", "reading"};
constexpr std::string_view kBoundKeys[] = {"of", "mean", "median", "worst", "low", "scored"};
constexpr std::string_view kMeasuredKeys[] = {
    "id",        "source",  "year",  "model",   "gpu",  "gpus",      "gpus_per_node",
    "cluster",   "run",     "stage", "reading", "peak", "step_time", "tokens_per_s_per_gpu",
    "in_sample", "missing", "note"};
constexpr std::string_view kCaseKeys[] = {"id", "source", "checks", "missing", "note"};
constexpr std::string_view kSourceKeys[] = {"repo", "ref", "date"};

constexpr Named<Reading> kReadings[] = {
    {"allocated", Reading::Allocated}, {"reserved", Reading::Reserved}, {"device", Reading::Device}};
constexpr Named<RowGroup> kGroups[] = {
    {"all", RowGroup::All}, {"dense", RowGroup::Dense}, {"moe", RowGroup::Sparse}};
constexpr Named<bool> kKinds[] = {{"measured", true}, {"cases", false}};
constexpr Named<BoundKind> kBounds[] = {{"mean", BoundKind::Mean},
                                        {"median", BoundKind::Median},
                                        {"worst", BoundKind::Worst},
                                        {"low", BoundKind::Low},
                                        {"scored", BoundKind::Scored}};

std::vector<Bound> read_bounds(ValidationReader& in, const Reader& file) {
  std::vector<Bound> bounds;
  for (const Reader& at : file.objects("bounds")) {
    at.allow(kBoundKeys);
    const RowGroup group = at.choice("of", kGroups).value_or(RowGroup::All);
    for (const Named<BoundKind>& b : kBounds)
      if (const auto limit = in.quantity(at, b.name, &kCount)) bounds.push_back({group, b.value, *limit});
  }
  return bounds;
}

/// The id of a row, which no other row has.
std::string read_id(const Reader& at, std::vector<std::string>& ids) {
  at.require("id", "\"source/configuration\"");
  std::string id = at.string("id").value_or("");
  if (std::find(ids.begin(), ids.end(), id) != ids.end())
    at.refuse("id", "twice", "be the id of one row", "remove one of the two rows");
  ids.push_back(id);
  return id;
}

MeasuredRow read_measured(ValidationReader& in, const Reader& at, bool in_sample,
                          std::vector<std::string>& ids) {
  at.allow(kMeasuredKeys);
  MeasuredRow row;
  row.id = read_id(at, ids);
  row.missing = at.string("missing").value_or("");
  row.note = at.string("note").value_or("");
  row.in_sample = at.boolean("in_sample").value_or(in_sample);
  const Reader defaults(in.document(), in.defaults(), "/defaults", in.issues());
  row.reading = at.choice("reading", kReadings)
                    .value_or(defaults.choice("reading", kReadings).value_or(Reading::Allocated));
  row.stage = in.stage_of(at);
  at.require("peak", "\"50 GiB\"");
  row.peak = in.quantity(at, "peak", &kBytes).value_or(0);
  row.step_time = in.quantity(at, "step_time", &kSeconds);
  row.token_rate = at.real("tokens_per_s_per_gpu", 0, 1e12);
  if (!row.missing.empty()) return row;
  row.run = in.legal_run_of(at);
  return row;
}

std::string read_source(const Reader& at) {
  const auto source = at.object("source");
  if (!source) return at.require("source", "{\"repo\": ..., \"ref\": ..., \"date\": ...}"), std::string{};
  source->allow(kSourceKeys);
  std::string text;
  for (const std::string_view key : kSourceKeys) {
    const std::string part = source->string(key).value_or("");
    if (!part.empty()) text.append(text.empty() ? "" : ", ").append(part);
  }
  return text;
}

CaseRow read_case(ValidationReader& in, const Reader& at, std::vector<std::string>& ids) {
  at.allow(kCaseKeys);
  CaseRow row;
  row.id = read_id(at, ids);
  row.source = read_source(at);
  row.missing = at.string("missing").value_or("");
  for (const Reader& check : at.objects("checks"))
    if (auto read = read_check(in, check)) row.checks.push_back(std::move(*read));
  return row;
}

std::optional<ValidationSet> read_validation(const Document& doc, Issues& issues) {
  const std::size_t first = issues.all().size();
  const Reader file(doc, issues);
  file.allow(kFileKeys);
  ValidationReader in(doc, issues);
  if (const auto defaults = file.object("defaults")) defaults->allow(kDefaultKeys);
  ValidationSet set;
  set.name = config_name(doc.origin);
  file.require("title", "\"...\"");
  set.title = file.string("title").value_or("");
  set.source = file.string("source").value_or("");
  set.bounds = read_bounds(in, file);
  file.require("kind", "\"measured\"");
  const bool measured = file.choice("kind", kKinds).value_or(true);
  const bool in_sample = file.boolean("in_sample").value_or(false);
  file.require("rows", "[ ... ]");
  std::vector<std::string> ids;
  for (const Reader& row : file.objects("rows")) {
    if (file.full()) break;
    if (measured)
      set.measured.push_back(read_measured(in, row, in_sample, ids));
    else
      set.cases.push_back(read_case(in, row, ids));
  }
  const Document* const documents[] = {&doc};
  place_issues(documents, issues, first);
  return errors_since(issues, first) ? std::nullopt : std::optional(std::move(set));
}

}  // namespace

std::optional<ValidationSet> load_validation(std::string_view name_or_path, Issues& issues) {
  const auto doc = find_config("validation", name_or_path, issues);
  return doc ? read_validation(*doc, issues) : std::nullopt;
}

std::optional<ValidationSet> load_validation_text(std::string_view text, std::string_view file,
                                                  Issues& issues) {
  const auto doc = open_document(std::string(text), std::string(file), std::string(file), issues);
  return doc ? read_validation(*doc, issues) : std::nullopt;
}

std::vector<std::string> shipped_validation() {
  std::vector<std::string> names;
  for (const Shipped& s : shipped())
    if (s.kind == "validation" && !s.name.ends_with(".csv")) names.emplace_back(s.name);
  return names;
}

}  // namespace trainplan
