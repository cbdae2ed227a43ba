#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "find_config.hpp"
#include "outcome.hpp"
#include "reader.hpp"
#include "text.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/run_fields.hpp"

namespace trainplan {
namespace {

/// A scalar as the command line would give it. JSON keeps 7.9 and -1 apart from 7 and 1 here.
std::optional<std::string> scalar_text(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  return std::nullopt;
}

void read_field(const Reader& in, const std::string& key, const nlohmann::json& value, RunSpec& run,
                Issues& issues) {
  const Document& doc = in.document();
  if (find_run_field(key) == nullptr || key.find('-') != std::string::npos) {
    std::vector<std::string_view> keys;
    for (const RunField& f : run_fields()) keys.push_back(f.key);
    in.refuse_key(key, "unknown-key", "be a field of a run", suggestion(key, keys));
    return;
  }
  const std::optional<std::string> text = scalar_text(value);
  if (!text) {
    in.refuse(key, "scalar", "be a number, a text or true or false",
              "try " + std::string(find_run_field(key)->example));
    return;
  }
  const Place place = place_of(doc.text, locate(doc.text, in.pointer(key)).value);
  set_field(run, key, *text, issues,
            Issue{.file = doc.file, .pointer = in.pointer(key), .line = place.line, .column = place.column});
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
    if (key.starts_with('_') || value.is_null()) continue;
    if (in.full()) break;
    read_field(in, key, value, run, issues);
  }
  const std::string directory = directory_of(doc.origin);
  resolve_beside(directory, run.model);
  resolve_beside(directory, run.cluster);
  if (run.framework) resolve_beside(directory, *run.framework);
  validate(run, issues);
  const Document* const documents[] = {&doc};
  place_issues(documents, issues, first);
  return run;
}

}  // namespace

std::optional<RunSpec> load_run(std::string_view name_or_path, Issues& issues) {
  const auto doc = find_config("runs", name_or_path, issues);
  return doc ? std::optional(read_run(*doc, issues)) : std::nullopt;
}

std::optional<RunSpec> load_run_text(std::string_view text, std::string_view file, Issues& issues) {
  const auto doc = open_document(std::string(text), std::string(file), std::string(file), issues);
  return doc ? std::optional(read_run(*doc, issues)) : std::nullopt;
}

void place_in_run_file(const RunSpec& run, Issues& issues) {
  if (run.origin.empty()) return;
  Issues seen_before;
  const auto doc = find_config("runs", run.origin, seen_before);
  if (!doc) return;
  const Document* const documents[] = {&*doc};
  place_issues(documents, issues, 0);
}

}  // namespace trainplan
