#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "field_text.hpp"
#include "find_config.hpp"
#include "outcome.hpp"
#include "reader.hpp"
#include "text.hpp"
#include "trainplan/io/forecast_fields.hpp"
#include "trainplan/io/gap_fields.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/run_fields.hpp"

namespace trainplan {
namespace {

/// Calls set(text) where the value is a scalar.
void with_scalar(const Reader& in, const std::string& key, const nlohmann::json& value,
                 const std::string& example, auto set) {
  const auto text = value.is_boolean() ? std::optional(value.dump()) : scalar_text(value);
  if (text)
    set(*text);
  else
    in.refuse(key, "scalar", "be a number, a text or true or false", "try " + example);
}

bool is_comment(const std::string& key, const nlohmann::json& value) {
  return key.starts_with('_') || value.is_null();
}

void read_gap_column(const Reader& in, GapColumn column, GapSpec& gap, Issues& issues) {
  for (const auto& [key, value] : in.node().items()) {
    if (is_comment(key, value)) continue;
    if (in.full()) return;
    with_scalar(in, key, value, "\"0.2 s\"", [&, name = key](const std::string& text) {
      set_gap_item(gap, column, name, text, false, issues, at(in, name));
    });
  }
}

/// The object "gap": a measured step, its target, and one figure for each item and column.
void read_gap(const Reader& in, GapSpec& gap, Issues& issues) {
  std::vector<std::string_view> keys{"items", "budget"};
  for (const GapField& field : gap_fields()) {
    keys.push_back(field.key);
    const auto found = in.node().find(std::string(field.key));
    if (found == in.node().end() || found->is_null()) continue;
    with_scalar(in, std::string(field.key), *found, std::string(field.example), [&](const std::string& text) {
      set_gap_field(gap, field, text, false, issues, at(in, field.key));
    });
  }
  in.allow(keys);
  if (const auto items = in.object("items")) read_gap_column(*items, GapColumn::Measured, gap, issues);
  if (const auto budget = in.object("budget")) read_gap_column(*budget, GapColumn::Budget, gap, issues);
}

/// The object "forecast": what `forecast` is asked with.
void read_forecast(const Reader& in, ForecastSpec& forecast, Issues& issues) {
  std::vector<std::string_view> keys;
  for (const ForecastField& field : forecast_fields()) {
    keys.push_back(field.key);
    const std::string key(field.key);
    const auto found = in.node().find(key);
    if (found == in.node().end() || found->is_null()) continue;
    with_scalar(in, key, *found, "\"" + std::string(field.example) + "\"", [&](const std::string& text) {
      set_forecast_field(forecast, field, text, in.origin(key), issues, at(in, key));
    });
  }
  in.allow(keys);
}

void read_field(const Reader& in, const std::string& key, const nlohmann::json& value, RunSpec& run,
                Issues& issues) {
  if (find_run_field(key) == nullptr || key.find('-') != std::string::npos) {
    std::vector<std::string_view> keys;
    for (const RunField& f : run_fields()) keys.push_back(f.key);
    keys.insert(keys.end(), {"gap", "forecast"});
    in.refuse_key(key, "unknown-key", "be a field of a run", suggestion(key, keys));
    return;
  }
  with_scalar(in, key, value, std::string(find_run_field(key)->example),
              [&](const std::string& text) { set_field(run, key, text, issues, at(in, key)); });
}

/// A run file names files as they lie beside it, whatever directory the program runs in.
void resolve_beside(const std::string& directory, std::string& name) {
  if (directory.empty() || name.empty()) return;
  for (const std::string& candidate : {name, name + ".json"}) {
    const std::filesystem::path path = std::filesystem::path(directory) / candidate;
    std::error_code failed;
    if (!std::filesystem::is_regular_file(path, failed)) continue;
    name = path.string();
    return;
  }
}

RunSpec read_run(const Document& doc, Issues& issues) {
  const std::size_t first = issues.all().size();
  const Reader in(doc, issues);
  RunSpec run;
  run.origin = doc.origin;
  for (const auto& [key, value] : doc.root.items()) {
    if (is_comment(key, value)) continue;
    if (in.full()) break;
    if (key == "gap") {
      if (const auto gap = in.object(key)) read_gap(*gap, run.gap, issues);
      continue;
    }
    if (key == "forecast") {
      if (const auto forecast = in.object(key)) read_forecast(*forecast, run.forecast, issues);
      continue;
    }
    read_field(in, key, value, run, issues);
  }
  const std::string directory = directory_of(doc.origin);
  resolve_beside(directory, run.model);
  resolve_beside(directory, run.cluster);
  if (run.framework) resolve_beside(directory, *run.framework);
  if (run.calibration) resolve_beside(directory, *run.calibration);
  validate(run, issues);
  const Document* const documents[] = {&doc};
  place_issues(documents, issues, first);
  return run;
}

}  // namespace

std::optional<RunSpec> load_run(std::string_view name_or_path, Issues& issues) {
  const auto doc = find_config("runs", name_or_path, issues, {}, {}, {.repeated = Repeated::ReadOn});
  return doc ? std::optional(read_run(*doc, issues)) : std::nullopt;
}

std::optional<RunSpec> load_run_text(std::string_view text, std::string_view file, Issues& issues) {
  const auto doc = open_document(std::string(text), std::string(file), std::string(file), issues,
                                 {.repeated = Repeated::ReadOn});
  return doc ? std::optional(read_run(*doc, issues)) : std::nullopt;
}

void place_in_run_file(const RunSpec& run, Issues& issues) { place_in_config("runs", run.origin, issues); }

}  // namespace trainplan
