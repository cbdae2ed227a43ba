#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "find_config.hpp"
#include "model_refusals.hpp"
#include "model_shape.hpp"
#include "outcome.hpp"
#include "reader.hpp"
#include "text.hpp"
#include "trainplan/io/load.hpp"

namespace trainplan {
namespace {

using nlohmann::json;

/// The row of the model_type, of the text part or else of the whole file. Its absence or an unknown one is
/// an error.
const Family* find_family(const Reader& text, const Reader& root, std::string& type) {
  if (!text.has("model_type") && &text.node() != &root.node()) {
    const json& root_type = root.node().value("model_type", json());
    if (root_type.is_string()) type = root_type.get<std::string>();
    if (const Family* f = family_of_type(type)) return f;
  }
  if (!text.has("model_type")) {
    std::string_view likely = families().front().name();
    for (const std::string& architecture : text.strings("architectures"))
      if (const Family* f = family_of_architecture(architecture)) likely = f->name();
    text.require("model_type", "\"" + std::string(likely) + "\"");
    return nullptr;
  }
  const std::optional<std::string> said = text.string("model_type");
  if (!said) return nullptr;
  type = *said;
  const Family* family = family_of_type(type);
  if (family == nullptr) refuse_unknown_type(text, type);
  return family;
}

/// The object that holds the decoder: the root, or what multimodal files nest.
std::optional<Reader> text_part(const Reader& root) {
  for (const std::string_view key : kNestedKeys) {
    const auto found = root.node().find(std::string(key));
    if (found == root.node().end() || found->is_null()) continue;
    if (found->is_object() && found->empty()) continue;
    return root.object(key);
  }
  return root;
}

/// Where the family is not known, what no family takes is told all the same: values that are no whole number,
/// or out of range.
void judge_values(const Document& doc, const std::string& type, Issues& issues) {
  Issues found;
  const Reader root(doc, found, Spelling::Lenient);
  const std::optional<Reader> text = text_part(root);
  const std::vector<std::string_view> known = family_types();
  const std::string_view near = nearest(type, known);
  const Family& family = near.empty() ? families().front() : *family_of_type(near);
  if (text) ModelShape(*text, root, family, type).read();
  for (Issue& issue : found.all())
    if (issue.rule == "integer" || issue.rule == "range") issues.add(std::move(issue));
}

/// What the file says beside the shape that a reader of the numbers should know.
void warn_of_architecture(const Reader& in, const Family& family) {
  for (const std::string& architecture : in.strings("architectures")) {
    const Family* other = family_of_architecture(architecture);
    if (other != nullptr && other != &family)
      in.warn("architectures", "architecture-differs",
              "agree with model_type: this is the architecture of " + std::string(other->name()),
              "counted by model_type \"" + std::string(family.name()) + "\"");
    if (architecture.ends_with("Classification"))
      in.warn("architectures", "architecture-differs",
              "be a language model: its head is counted, not the classifier",
              "add vocab_size x hidden_size to neither");
  }
}

/// Towers and adapters that stand in the file beside the decoder.
void leave_out(const Reader& root, bool nested, ModelSpec& model) {
  for (const auto& [key, value] : root.node().items()) {
    const bool part = key.ends_with("_config") &&
                      (key.starts_with("vision") || key.starts_with("audio") || key.starts_with("vit") ||
                       key.starts_with("speech") || key.starts_with("projector") || key.starts_with("mm_"));
    if (!part || !value.is_object() || value.empty()) continue;
    model.left_out.push_back(key);
    root.warn(key, "left-out", "not be expected in the count: only the text decoder is counted",
              "add its parameters by hand where a published total includes them");
  }
  if (nested && model.left_out.empty())
    model.left_out.emplace_back("what the model adds around its text decoder");
}

constexpr Opening kModelOpening{.spelling = Spelling::Lenient, .repeated = Repeated::ReadOn};

/// Issues from `first` on are about this file, those of its text among them.
std::optional<Checked<ModelSpec>> read_model(const Document& doc, std::size_t first, Issues& issues) {
  const std::size_t opened = issues.all().size();
  const Reader root(doc, issues, Spelling::Lenient);
  const std::optional<Reader> text = text_part(root);
  if (!text) return std::nullopt;
  const bool nested = &text->node() != &root.node();
  bool refused = refuse_other_kinds(root);
  if (nested && !refused) refused = refuse_other_kinds(*text);
  if (refused) return std::nullopt;
  std::string type;
  const Family* family = find_family(*text, root, type);
  if (family == nullptr) {
    judge_values(doc, type, issues);
    return std::nullopt;
  }
  refuse_foreign_parts(*text, *family);
  if (errors_since(issues, opened)) return std::nullopt;
  warn_of_architecture(*text, *family);
  ModelShape shape(*text, root, *family, type);
  ModelSpec model = shape.read();
  leave_out(root, nested, model);
  const std::size_t checked_from = issues.all().size();
  auto checked = Checked<ModelSpec>::make(std::move(model), issues);
  for (std::size_t i = checked_from; i < issues.all().size(); ++i) {
    Issue& issue = issues.all()[i];
    if (!issue.pointer.empty()) issue.pointer = shape.keys().pointer_of(issue.pointer);
  }
  const Document* const documents[] = {&doc};
  place_issues(documents, issues, first);
  return errors_since(issues, first) ? std::nullopt : checked;
}

}  // namespace

std::optional<Checked<ModelSpec>> load_model(std::string_view name_or_path, Issues& issues) {
  const std::size_t first = issues.all().size();
  const auto doc = find_config("models", name_or_path, issues, {}, {}, kModelOpening);
  return doc ? read_model(*doc, first, issues) : std::nullopt;
}

std::optional<Checked<ModelSpec>> load_model_text(std::string_view text, std::string_view file,
                                                  Issues& issues) {
  const std::size_t first = issues.all().size();
  const auto doc =
      open_document(std::string(text), std::string(file), std::string(file), issues, kModelOpening);
  return doc ? read_model(*doc, first, issues) : std::nullopt;
}

}  // namespace trainplan
