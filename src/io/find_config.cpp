#include "find_config.hpp"

#include <filesystem>
#include <utility>
#include <vector>

#include "text.hpp"
#include "trainplan/io/shipped.hpp"

namespace trainplan {
namespace {

constexpr std::string_view kShipped = "shipped:";
constexpr std::string_view kSuffix = ".json";

std::string_view without_suffix(std::string_view name) {
  if (name.ends_with(kSuffix)) name.remove_suffix(kSuffix.size());
  return name;
}

/// The local file of that name. A folder does not count: one named like a model often lies beside.
std::string local_file(std::string_view name, const std::string& directory) {
  for (const std::string& candidate : {std::string(name), std::string(name).append(kSuffix)}) {
    const std::filesystem::path path = std::filesystem::path(directory) / candidate;
    std::error_code failed;
    const auto status = std::filesystem::status(path, failed);
    if (std::filesystem::exists(status) && !std::filesystem::is_directory(status)) return path.string();
  }
  return {};
}

std::vector<std::string> aliases_in(std::string_view text) {
  Issues ignored;
  const auto root = parse_json(text, "", ignored);
  return root ? aliases_of(*root) : std::vector<std::string>{};
}

const Shipped* find_shipped(std::string_view kind, std::string_view name) {
  const std::string wanted = lower(without_suffix(name));
  for (const Shipped& s : shipped())
    if (s.kind == kind && lower(s.name) == wanted) return &s;
  for (const Shipped& s : shipped()) {
    if (s.kind != kind || s.text.find("\"_aliases\"") == std::string_view::npos) continue;
    for (const std::string& alias : aliases_in(s.text))
      if (lower(alias) == wanted) return &s;
  }
  return nullptr;
}

std::optional<Document> open_shipped(const Shipped& s, Issues& issues, bool array) {
  const std::string file = std::string(s.name).append(kSuffix);
  const std::string origin = std::string(kShipped).append(s.kind).append("/").append(file);
  return open_document(std::string(s.text), file, origin, issues, array);
}

void report_unknown(std::string_view kind, std::string_view name, Issues& issues, const Issue& where) {
  std::vector<std::string> owned;
  for (const Shipped& s : shipped()) {
    if (s.kind != kind) continue;
    owned.emplace_back(s.name);
    for (std::string& alias : aliases_in(s.text)) owned.push_back(std::move(alias));
  }
  const std::vector<std::string_view> names(owned.begin(), owned.end());
  const std::string_view near = nearest(without_suffix(name), names);
  Issue issue = where;
  issue.rule = "not-found";
  issue.got = clipped(name);
  const bool ships = !owned.empty();
  issue.must = ships ? "be a file, or a shipped config of configs/" + std::string(kind) : "be a file";
  issue.hint = !near.empty()           ? "did you mean \"" + std::string(near) + "\"?"
               : kind == "calibration" ? "write one: trainplan calibrate ROWS.csv -o FILE"
               : ships                 ? "see: trainplan list " + std::string(kind)
                                       : "give the path of an existing file";
  issues.add(std::move(issue));
}

}  // namespace

std::vector<std::string> aliases_of(const nlohmann::json& root) {
  std::vector<std::string> out;
  const auto found = root.is_object() ? root.find("_aliases") : root.end();
  if (found == root.end() || !found->is_array()) return out;
  for (const nlohmann::json& alias : *found)
    if (alias.is_string()) out.push_back(alias.get<std::string>());
  return out;
}

void place_in_config(std::string_view kind, const std::string& origin, Issues& issues) {
  if (origin.empty() || issues.all().empty()) return;
  Issues seen_before;
  const auto doc = find_config(kind, origin, seen_before);
  if (!doc) return;
  const Document* const documents[] = {&*doc};
  place_issues(documents, issues, 0);
}

std::string config_name(std::string_view origin) {
  if (origin.starts_with(kShipped)) origin.remove_prefix(kShipped.size());
  const std::filesystem::path path(origin);
  const bool generic =
      path.filename() == "config.json" && path.has_parent_path() && path.parent_path().has_filename();
  return generic ? path.parent_path().filename().string()
                 : std::string(without_suffix(path.filename().string()));
}

std::string directory_of(std::string_view origin) {
  if (origin.starts_with(kShipped)) return {};
  return std::filesystem::path(origin).parent_path().string();
}

std::optional<Document> shipped_config(std::string_view kind, std::string_view name, Issues& issues,
                                       bool array) {
  if (const Shipped* s = find_shipped(kind, name)) return open_shipped(*s, issues, array);
  report_unknown(kind, name, issues, {});
  return std::nullopt;
}

std::optional<Document> find_config(std::string_view kind, std::string_view name, Issues& issues,
                                    const std::string& directory, const Issue& where, bool array,
                                    Spelling spelling) {
  const std::string path = name.empty() ? std::string{} : local_file(name, directory);
  if (!path.empty()) {
    std::optional<std::string> text = read_file(path, issues);
    if (!text) return std::nullopt;
    return open_document(std::move(*text), path, path, issues, array, spelling);
  }
  if (const Shipped* s = find_shipped(kind, name)) return open_shipped(*s, issues, array);
  std::error_code failed;
  if (!name.empty() && std::filesystem::is_directory(std::filesystem::path(directory) / name, failed))
    read_file((std::filesystem::path(directory) / name).string(), issues);  // says what a folder is good for
  else
    report_unknown(kind, name, issues, where);
  return std::nullopt;
}

}  // namespace trainplan
