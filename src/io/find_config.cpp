#include "find_config.hpp"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

#include "text.hpp"
#include "trainplan/io/load.hpp"
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

std::optional<Document> open_shipped(const Shipped& s, Issues& issues, Opening opening) {
  const std::string file = std::string(s.name).append(kSuffix);
  const std::string origin = std::string(kShipped).append(s.kind).append("/").append(file);
  return open_document(std::string(s.text), file, origin, issues, opening);
}

/// What a file of a kind is called, where the word belongs, and keys that tell it from the others.
struct Kind {
  std::string_view kind, noun, place;
  std::initializer_list<std::string_view> keys;
};
const Kind kKinds[] = {
    {"runs", "a run file", "give it alone, without a model and a cluster", {"model", "cluster"}},
    {"models",
     "a model",
     "name it first, before a cluster",
     {"model_type", "architectures", "hidden_size", "num_hidden_layers", "num_attention_heads",
      "text_config"}},
    {"clusters", "a cluster", "name it second, after a model", {"accelerator", "nodes", "gpus_per_node"}},
    {"schedules", "a pipeline", "give it to trainplan schedule", {"micro_batches", "forward", "backward"}},
    {"frameworks", "a framework", "name it with --framework", {"shardings", "default_sharding"}},
    {"accelerators", "an accelerator", "name it in a cluster file as \"accelerator\"", {"bf16_dense"}},
};

const Kind* kind_named(std::string_view kind) {
  const auto* found = std::ranges::find(kKinds, kind, &Kind::kind);
  return found == std::end(kKinds) ? nullptr : found;
}

/// Has keys of that kind.
bool looks_like(const nlohmann::json& root, const Kind& kind) {
  return std::ranges::any_of(kind.keys,
                             [&](std::string_view key) { return root.contains(std::string(key)); });
}

const Kind* kind_of(const nlohmann::json& root) {
  const auto* found = std::ranges::find_if(kKinds, [&](const Kind& k) { return looks_like(root, k); });
  return found == std::end(kKinds) ? nullptr : found;
}

/// A file of another kind has one mistake, and not one for each of its keys. True when it was that.
bool refuse_other_kind(std::string_view wanted, const Document& doc, Issues& issues) {
  const Kind* expected = kind_named(wanted);
  if (expected == nullptr || looks_like(doc.root, *expected)) return false;
  const Kind* own = kind_of(doc.root);
  if (own == nullptr) return false;
  issues.add({.rule = "wrong-kind",
              .file = doc.file,
              .got = std::string(own->noun),
              .must = "be " + std::string(expected->noun),
              .hint = std::string(own->place)});
  return true;
}

/// Shipped names and aliases of the kinds.
std::vector<std::string> shipped_names(std::span<const std::string_view> kinds) {
  std::vector<std::string> out;
  for (const Shipped& s : shipped()) {
    if (std::ranges::find(kinds, s.kind) == kinds.end()) continue;
    out.emplace_back(s.name);
    for (std::string& alias : aliases_in(s.text)) out.push_back(std::move(alias));
  }
  return out;
}

/// The kind that has a shipped config of that name, nullptr without one.
const Kind* other_kind_of(std::string_view name) {
  const auto* found =
      std::ranges::find_if(kKinds, [&](const Kind& k) { return find_shipped(k.kind, name) != nullptr; });
  return found == std::end(kKinds) ? nullptr : found;
}

/// "models or configs/runs".
std::string joined(std::span<const std::string_view> kinds, const std::string& between) {
  std::string out;
  for (const std::string_view kind : kinds) out.append(out.empty() ? "" : between).append(kind);
  return out;
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

std::string_view kind_of_config(std::string_view name) {
  if (const std::string path = name.empty() ? std::string{} : local_file(name, {}); !path.empty()) {
    Issues ignored;
    const auto text = read_file(path, ignored);
    const auto root =
        text ? parse_json(without_bom(*text), path, ignored, true, Repeated::ReadOn) : std::nullopt;
    const Kind* kind = root && root->is_object() ? kind_of(*root) : nullptr;
    return kind == nullptr ? std::string_view{} : kind->kind;
  }
  const Kind* kind = other_kind_of(name);
  return kind == nullptr ? std::string_view{} : kind->kind;
}

bool names_anything(std::string_view name) {
  std::error_code failed;
  return std::filesystem::exists(std::filesystem::path(name), failed) || !local_file(name, {}).empty() ||
         other_kind_of(name) != nullptr;
}

void refuse_unknown(std::span<const std::string_view> kinds, std::string_view name, Issues& issues,
                    const Issue& where) {
  const std::vector<std::string> owned = shipped_names(kinds);
  const std::vector<std::string_view> names(owned.begin(), owned.end());
  const std::string_view near = nearest(without_suffix(name), names);
  const Kind *other = other_kind_of(name), *wanted = kind_named(kinds.front());
  Issue issue = where;
  issue.rule = "not-found";
  issue.got = clipped(name);
  const bool ships = !owned.empty();
  issue.must =
      ships ? "be a file, or a shipped config of configs/" + joined(kinds, " or configs/") : "be a file";
  if (other != nullptr && wanted != nullptr) {
    issue.must = "be " + std::string(wanted->noun) + "; this is " + std::string(other->noun);
    issue.hint = other->place;
  } else if (!near.empty()) {
    issue.hint = "did you mean \"" + std::string(near) + "\"?";
  } else if (kinds.front() == "calibration") {
    issue.hint = "write one: trainplan calibrate ROWS.csv -o FILE";
  } else {
    issue.hint = ships ? "see: trainplan list " + joined(kinds, ", or trainplan list ")
                       : "give the path of an existing file";
  }
  issues.add(std::move(issue));
}

void place_in_config(std::string_view kind, const std::string& origin, Issues& issues) {
  if (origin.empty() || issues.all().empty()) return;
  Issues seen_before;
  const auto doc = find_config(kind, origin, seen_before, {}, {}, {.repeated = Repeated::ReadOn});
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
                                       Opening opening) {
  if (const Shipped* s = find_shipped(kind, name)) return open_shipped(*s, issues, opening);
  refuse_unknown({&kind, 1}, name, issues);
  return std::nullopt;
}

std::optional<Document> find_config(std::string_view kind, std::string_view name, Issues& issues,
                                    const std::string& directory, const Issue& where, Opening opening) {
  const std::string path = name.empty() ? std::string{} : local_file(name, directory);
  if (!path.empty()) {
    std::optional<std::string> text = read_file(path, issues);
    if (!text) return std::nullopt;
    auto doc = open_document(std::move(*text), path, path, issues, opening);
    return doc && refuse_other_kind(kind, *doc, issues) ? std::nullopt : std::move(doc);
  }
  if (const Shipped* s = find_shipped(kind, name)) return open_shipped(*s, issues, opening);
  std::error_code failed;
  if (!name.empty() && std::filesystem::is_directory(std::filesystem::path(directory) / name, failed))
    read_file((std::filesystem::path(directory) / name).string(), issues);  // says what a folder is good for
  else
    refuse_unknown({&kind, 1}, name, issues, where);
  return std::nullopt;
}

}  // namespace trainplan
