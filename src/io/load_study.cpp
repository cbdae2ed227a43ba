#include "trainplan/io/load_study.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "field_text.hpp"
#include "find_config.hpp"
#include "reader.hpp"
#include "text.hpp"
#include "trainplan/base/comma_parts.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/load_failures.hpp"
#include "trainplan/io/units.hpp"

namespace trainplan {
namespace {

using study::Field;
using study::Giver;
using study::Kind;
using study::Said;
using study::Topic;

constexpr std::string_view kTopic = "topic", kTitle = "title", kSource = "source";
constexpr std::size_t kMostValues = 4096;

std::optional<double> number(const Field& field, std::string_view text, Issue& out) {
  const std::string hint = "try " + value_to_try(text, field.dim, field.says.example);
  const Measure m = parse_quantity(text, field.dim);
  if (!m) {
    const char* device = field.says.device != nullptr ? ", or the name of an accelerator" : "";
    refuse(out, "quantity", "be " + example_of(field.dim) + device + "; this " + m.error, hint);
    return std::nullopt;
  }
  if (m.value >= field.arg.lo && m.value <= field.arg.hi) return m.value;
  const bool low = m.value < field.arg.lo;
  refuse(out, "range",
         (low ? "be at least " : "be at most ") + shown(low ? field.arg.lo : field.arg.hi) +
             (field.dim == kCount ? "" : " " + base_unit_of(field.dim)),
         hint);
  return std::nullopt;
}

/// The accelerator that a value names, where the field takes one and the figure is known.
std::optional<Accelerator> device_of(const Field& field, std::string_view text) {
  const bool name = !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0;
  if (field.says.device == nullptr || !name) return std::nullopt;
  Issues ignored;
  auto found = load_accelerator(text, ignored);
  return found && ((*found).*field.says.device).known ? found : std::nullopt;
}

/// Nothing after a mistake.
std::vector<double> numbers(const Field& field, std::string_view text, Said& said, Issue& out) {
  std::vector<double> values;
  for (const std::string_view part :
       field.kind == Kind::List ? comma_parts(text) : std::vector<std::string_view>{text}) {
    const auto device = device_of(field, part);
    const auto value =
        device ? std::optional(((*device).*field.says.device).value) : number(field, part, out);
    said.names.push_back(device ? device->id : std::string());
    if (!value) return {};
    values.push_back(*value);
  }
  if (values.size() <= kMostValues) return values;
  refuse(out, "range", "be at most " + std::to_string(kMostValues) + " values", "leave some out");
  return {};
}

std::string word(const Field& field, std::string_view text, Issue& out) {
  const std::span<const std::string_view> words = field.says.words;
  if (words.empty() && !text.empty()) return std::string(text);
  const std::string wanted = lower(text);
  if (std::ranges::find(words, std::string_view(wanted)) != words.end()) return wanted;
  refuse(out, "choice", words.empty() ? "not be empty" : "be " + one_of(words),
         words.empty() ? "try " + std::string(field.says.example) : hint_for(wanted, words));
  return {};
}

void check_topic(const Reader& in, const Topic& topic) {
  const auto text = in.string(kTopic);
  if (text && *text != topic.id)
    in.refuse(kTopic, "topic", "be " + std::string(topic.id) + ", the topic that was asked for",
              "try trainplan study " + *text);
}

void read_key(const Reader& in, const std::string& key, const nlohmann::json& value, const Topic& topic,
              study::Given& given, Issues& issues) {
  if (key == kTopic) return check_topic(in, topic);
  if (key == kTitle || key == kSource) {
    if (const auto text = in.string(key); text && key == kTitle) given.title = *text;
    return;
  }
  const Field* field = find_field(topic, key);
  if (field == nullptr) {
    std::vector<std::string_view> keys{kTopic, kTitle, kSource};
    for (const Field* f : topic.fields) keys.push_back(f->arg.name);
    in.refuse_key(key, "unknown-key", "be an input of study " + std::string(topic.id), suggestion(key, keys));
    return;
  }
  if (const auto text = value_text(value))
    say_input(given, *field, *text, Giver::File, issues, at(in, key));
  else
    in.refuse(key, "scalar", "be a number or a text, a list of them, or {\"value\", \"source\"}",
              "try " + std::string(field->says.example));
}

void read_study(const Document& doc, const Topic& topic, study::Given& given, Issues& issues) {
  const std::size_t first = issues.all().size();
  const Reader in(doc, issues);
  given.file = doc.origin;
  for (const auto& [key, value] : doc.root.items()) {
    if (key.starts_with('_') || value.is_null()) continue;
    if (in.full()) break;
    read_key(in, key, value, topic, given, issues);
  }
  const Document* const documents[] = {&doc};
  place_issues(documents, issues, first);
}

}  // namespace

void say_input(study::Given& given, const Field& field, std::string_view text, Giver giver, Issues& issues,
               Issue where) {
  where.got = clipped(text);
  Said said{.field = &field,
            .giver = giver,
            .origin = (giver == Giver::File ? where.file + " " : std::string()) + where.pointer,
            .text = where.got};
  if (field.says.required || lower(text) != "unknown") {
    if (field.kind == Kind::Word)
      said.word = word(field, text, where);
    else
      said.values = numbers(field, text, said, where);
  }
  said.refused = !where.rule.empty();
  if (said.refused) issues.add(std::move(where));
  given.say(std::move(said));
}

void load_study(std::string_view name_or_path, const Topic& topic, study::Given& given, Issues& issues) {
  if (const auto doc = find_config("studies", name_or_path, issues)) read_study(*doc, topic, given, issues);
}

void load_study_text(std::string_view text, std::string_view file, const Topic& topic, study::Given& given,
                     Issues& issues) {
  const auto doc = open_document(std::string(text), std::string(file), std::string(file), issues);
  if (doc) read_study(*doc, topic, given, issues);
}

study::Shelf load_shelf(Issues& issues) {
  study::Shelf out;
  for (const Listed& f : list_shipped("frameworks"))
    if (const auto profile = load_framework(f.name, issues)) out.frameworks.push_back(**profile);
  out.failures = failure_records(issues);
  return out;
}

void place_in_study_file(const study::Given& given, Issues& issues) {
  place_in_config("studies", given.file, issues);
}

bool names_a_study(std::string_view name_or_path) {
  Issues ignored;
  const auto doc = find_config("studies", name_or_path, ignored);
  return doc && !doc->root.contains("model") && !doc->root.contains("cluster");
}

}  // namespace trainplan
