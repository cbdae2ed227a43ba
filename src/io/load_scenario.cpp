#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "find_config.hpp"
#include "outcome.hpp"
#include "reader.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/spec/validator.hpp"

namespace trainplan {
namespace {

constexpr std::string_view kScenarioKeys[] = {"save_time", "detect", "restart", "load"};

void read_time(const Reader& in, const char* key, ForecastSpec::Said& to, Validator& v) {
  if (!in.has(key)) return;
  Figure figure;
  in.figure(key, kSeconds, figure);
  v.not_negative(std::string("/") + key, figure);
  to = std::move(figure);
}

std::optional<Scenario> read_scenario(const Document& doc, Issues& issues) {
  const std::size_t first = issues.all().size();
  const Reader in(doc, issues);
  in.allow(kScenarioKeys);
  Scenario out;
  out.name = config_name(doc.origin);
  out.origin = doc.origin;
  if (doc.root.contains("_about") && doc.root.at("_about").is_string()) out.title = doc.root.at("_about");
  Validator v{issues, doc.file};
  read_time(in, "save_time", out.save_time, v);
  read_time(in, "detect", out.detect, v);
  read_time(in, "restart", out.restart, v);
  read_time(in, "load", out.load, v);
  const Document* const documents[] = {&doc};
  place_issues(documents, issues, first);
  return errors_since(issues, first) ? std::nullopt : std::optional(std::move(out));
}

}  // namespace

std::optional<Scenario> load_scenario(std::string_view name_or_path, Issues& issues, const Issue& where) {
  const auto doc = find_config("scenarios", name_or_path, issues, {}, where);
  return doc ? read_scenario(*doc, issues) : std::nullopt;
}

std::optional<Scenario> load_scenario_text(std::string_view text, std::string_view file, Issues& issues) {
  const auto doc = open_document(std::string(text), std::string(file), std::string(file), issues);
  return doc ? read_scenario(*doc, issues) : std::nullopt;
}

}  // namespace trainplan
