#include "trainplan/io/load_pipeline.hpp"

#include <optional>
#include <string>
#include <vector>

#include "field_text.hpp"
#include "find_config.hpp"
#include "reader.hpp"
#include "text.hpp"
#include "trainplan/io/pipeline_fields.hpp"

namespace trainplan {
namespace {

constexpr std::string_view kTitle = "title", kSource = "source";

void read_key(const Reader& in, const std::string& key, const nlohmann::json& value, PipelineSpec& spec,
              Issues& issues) {
  if (key == kTitle || key == kSource) {
    if (const auto text = in.string(key)) (key == kTitle ? spec.title : spec.source) = *text;
    return;
  }
  const PipelineField* field = find_pipeline_field(key);
  if (field == nullptr) {
    std::vector<std::string_view> keys{kTitle, kSource};
    for (const PipelineField& f : pipeline_fields()) keys.push_back(f.key);
    in.refuse_key(key, "unknown-key", "be a field of a pipeline", suggestion(key, keys));
    return;
  }
  if (const auto text = value_text(value))
    set_pipeline_field(spec, *field, *text, issues, at(in, key));
  else
    in.refuse(key, "scalar", "be a number or a text, a list of them for times, or {\"value\", \"source\"}",
              "try " + std::string(field->example));
}

PipelineSpec read_pipeline(const Document& doc, Issues& issues) {
  const std::size_t first = issues.all().size();
  const Reader in(doc, issues);
  PipelineSpec spec;
  spec.origin = doc.origin;
  for (const auto& [key, value] : doc.root.items()) {
    if (key.starts_with('_') || value.is_null()) continue;
    if (in.full()) break;
    read_key(in, key, value, spec, issues);
  }
  const Document* const documents[] = {&doc};
  place_issues(documents, issues, first);
  return spec;
}

}  // namespace

std::optional<PipelineSpec> load_pipeline(std::string_view name_or_path, Issues& issues) {
  const auto doc = find_config("schedules", name_or_path, issues, {}, {}, {.repeated = Repeated::ReadOn});
  return doc ? std::optional(read_pipeline(*doc, issues)) : std::nullopt;
}

std::optional<PipelineSpec> load_pipeline_text(std::string_view text, std::string_view file, Issues& issues) {
  const auto doc = open_document(std::string(text), std::string(file), std::string(file), issues,
                                 {.repeated = Repeated::ReadOn});
  return doc ? std::optional(read_pipeline(*doc, issues)) : std::nullopt;
}

void place_in_pipeline_file(const PipelineSpec& spec, Issues& issues) {
  place_in_config("schedules", spec.origin, issues);
}

bool names_a_pipeline(std::string_view name_or_path) {
  Issues ignored;
  const auto doc = find_config("schedules", name_or_path, ignored);
  if (!doc || doc->root.contains("model") || doc->root.contains("cluster")) return false;
  for (const PipelineField& field : pipeline_fields())
    if (field.key != "schedule" && doc->root.contains(std::string(field.key))) return true;
  return false;
}

bool refuse_unknown_pipeline(std::string_view name_or_path, Issues& issues) {
  constexpr std::string_view kKinds[] = {"schedules", "runs"};
  if (names_anything(name_or_path)) return false;
  refuse_unknown(kKinds, name_or_path, issues, {.pointer = "PIPELINE or RUN"});
  return true;
}

}  // namespace trainplan
