#include "reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <system_error>
#include <tuple>
#include <utility>

#include "text.hpp"
#include "trainplan/io/units.hpp"
#include "trainplan/spec/validator.hpp"

namespace trainplan {
namespace {

using nlohmann::json;
constexpr int kMaxMistakes = 50;  // of one file; finding a place takes time

std::string shown(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  if (value.is_number_float()) return trainplan::shown(value.get<double>());
  return clipped(value.dump());
}

void record(const Document& doc, Issues& issues, Issue issue, bool at_key) {
  if (++doc.mistakes > kMaxMistakes) return;
  if (doc.mistakes == kMaxMistakes) {
    issues.add({.rule = "too-many",
                .file = doc.file,
                .got = "more mistakes",
                .must = "be corrected in the lines above first",
                .hint = "run again after that"});
    return;
  }
  const Location found = locate(doc.text, issue.pointer);
  const Place place = place_of(doc.text, at_key ? found.key : found.value);
  issue.file = doc.file;
  issue.line = place.line;
  issue.column = place.column;
  issues.add(std::move(issue));
}

/// A whole number in any JSON spelling that names one, else nothing.
std::optional<std::int64_t> whole(const json& value, Spelling spelling) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (value.is_number_unsigned()) {
    const auto n = value.get<std::uint64_t>();
    return static_cast<std::int64_t>(std::min<std::uint64_t>(n, INT64_MAX));
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (spelling == Spelling::Strict) return std::nullopt;
  if (value.is_number_float()) {
    const double d = value.get<double>();
    if (std::fabs(d) <= kExact && d == std::trunc(d)) return static_cast<std::int64_t>(d);
  }
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    std::int64_t n = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (status == std::errc{} && end == text.data() + text.size()) return n;
  }
  const bool same = value.is_array() && !value.empty() &&
                    std::all_of(value.begin(), value.end(), [&](const json& e) { return e == value[0]; });
  return same && !value[0].is_array() ? whole(value[0], spelling) : std::nullopt;
}

/// The entries of a list of whole numbers that are not all the same.
bool unequal(const json& value, Spelling spelling) {
  if (!value.is_array() || value.size() < 2) return false;
  return std::all_of(value.begin(), value.end(),
                     [&](const json& e) { return e.is_null() || whole(e, spelling).has_value(); });
}

std::string try_integer(const json& value, std::int64_t lo, std::int64_t hi) {
  std::optional<double> near;
  if (value.is_number() && !std::isnan(value.get<double>())) near = value.get<double>();
  if (value.is_string()) {
    const Measure m = parse_quantity(value.get_ref<const std::string&>(), kCount);
    if (m && m.word == UnitWord::None) near = m.value;
  }
  if (!near) return "try " + std::to_string(lo);
  const double inside = std::clamp(std::round(*near), static_cast<double>(lo), static_cast<double>(hi));
  return "try " + std::to_string(static_cast<std::int64_t>(inside));
}

}  // namespace

std::optional<Document> open_document(std::string text, std::string file, std::string origin, Issues& issues,
                                      Opening opening) {
  text.erase(0, text.size() - without_bom(text).size());
  std::optional<json> root =
      parse_json(text, file, issues, opening.spelling == Spelling::Lenient, opening.repeated);
  if (!root) return std::nullopt;
  const bool array = opening.array;
  if (array ? !root->is_array() : !root->is_object()) {
    const Place place = place_of(text, locate(text, "").value);
    issues.add({.rule = "json-root",
                .file = file,
                .got = shown(*root),
                .must = array ? "be an array" : "be an object",
                .hint = array ? "write [ ... ]" : "write { ... }",
                .line = place.line,
                .column = place.column});
    return std::nullopt;
  }
  return Document{std::move(file), std::move(origin), std::move(text), std::move(*root)};
}

bool Reader::full() const { return doc_->mistakes >= kMaxMistakes; }

const json* Reader::value(std::string_view key) const {
  if (!node_->is_object()) return nullptr;
  const auto found = node_->find(std::string(key));
  return found == node_->end() || found->is_null() ? nullptr : &*found;
}

void Reader::refuse(std::string_view key, std::string rule, std::string must, std::string hint) const {
  const json* v = value(key);
  record(*doc_, *issues_,
         {.rule = std::move(rule),
          .pointer = pointer(key),
          .got = v == nullptr ? "nothing" : shown(*v),
          .must = std::move(must),
          .hint = std::move(hint)},
         false);
}

void Reader::refuse_key(std::string_view key, std::string rule, std::string must, std::string hint) const {
  record(*doc_, *issues_,
         {.rule = std::move(rule),
          .pointer = pointer(key),
          .got = clipped(key),
          .must = std::move(must),
          .hint = std::move(hint)},
         true);
}

void Reader::warn(std::string_view key, std::string rule, std::string must, std::string hint) const {
  const json* v = value(key);
  record(*doc_, *issues_,
         {.level = Severity::Warning,
          .rule = std::move(rule),
          .pointer = pointer(key),
          .got = v == nullptr ? "nothing" : shown(*v),
          .must = std::move(must),
          .hint = std::move(hint)},
         false);
}

bool Reader::require(std::string_view key, std::string_view example) const {
  if (has(key)) return true;
  refuse(key, "missing-key", "be given", "add \"" + std::string(key) + "\": " + std::string(example));
  return false;
}

void Reader::allow(std::span<const std::string_view> keys) const {
  if (!node_->is_object()) return;
  for (const auto& [key, v] : node_->items()) {
    if (key.starts_with('_') || std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    if (full()) return;
    refuse_key(key, "unknown-key", "be a known key", suggestion(key, keys));
  }
}

std::optional<std::int64_t> Reader::integer(std::string_view key, std::int64_t lo, std::int64_t hi) const {
  const json* v = value(key);
  if (v == nullptr) return std::nullopt;
  const auto n = whole(*v, spelling_);
  if (n && *n >= lo && *n <= hi) return n;
  if (!n && spelling_ == Spelling::Lenient && unequal(*v, spelling_)) {
    refuse(key, "per-layer", "be the same in every layer", "a model with unequal layers cannot be counted");
    return std::nullopt;
  }
  refuse(key, n ? "range" : "integer",
         "be an integer from " + std::to_string(lo) + " to " + std::to_string(hi), try_integer(*v, lo, hi));
  return std::nullopt;
}

std::optional<double> Reader::real(std::string_view key, double lo, double hi) const {
  const json* v = value(key);
  if (v == nullptr) return std::nullopt;
  if (v->is_number() && v->get<double>() >= lo && v->get<double>() <= hi) return v->get<double>();
  const double near = v->is_number() && v->get<double>() > hi ? hi : lo;
  refuse(key, v->is_number() ? "range" : "number",
         "be a number from " + trainplan::shown(lo) + " to " + trainplan::shown(hi),
         "try " + trainplan::shown(near));
  return std::nullopt;
}

std::optional<bool> Reader::boolean(std::string_view key) const {
  const json* v = value(key);
  if (v == nullptr) return std::nullopt;
  if (v->is_boolean()) return v->get<bool>();
  if (spelling_ == Spelling::Lenient && v->is_string()) {
    const std::string text = lower(v->get_ref<const std::string&>());
    if (text == "true" || text == "false") return text == "true";
  }
  refuse(key, "boolean", "be true or false", "try true");
  return std::nullopt;
}

std::optional<std::string> Reader::string(std::string_view key) const {
  const json* v = value(key);
  if (v == nullptr) return std::nullopt;
  if (v->is_string()) return v->get<std::string>();
  refuse(key, "string", "be a text in quotes", "try \"" + shown(*v) + "\"");
  return std::nullopt;
}

std::vector<std::string> Reader::strings(std::string_view key) const {
  std::vector<std::string> out;
  const json* v = value(key);
  if (v == nullptr) return out;
  const bool texts =
      v->is_array() && std::all_of(v->begin(), v->end(), [](const json& e) { return e.is_string(); });
  if (!texts) {
    refuse(key, "strings", "be an array of texts", "write [\"...\"]");
    return out;
  }
  for (const json& e : *v) out.push_back(e.get<std::string>());
  return out;
}

std::vector<std::int64_t> Reader::integers(std::string_view key, std::int64_t lo, std::int64_t hi) const {
  std::vector<std::int64_t> out;
  const json* v = value(key);
  if (v == nullptr) return out;
  const auto legal = [&](const json& e) {
    const auto n = e.is_array() ? std::nullopt : whole(e, spelling_);
    return n && *n >= lo && *n <= hi;
  };
  if (!v->is_array() || !std::all_of(v->begin(), v->end(), legal)) {
    refuse(key, "integers",
           "be an array of integers from " + std::to_string(lo) + " to " + std::to_string(hi),
           "write [" + std::to_string(lo) + ", ...]");
    return out;
  }
  for (const json& e : *v) out.push_back(*whole(e, spelling_));
  return out;
}

std::optional<std::string_view> Reader::choice_text(std::string_view key,
                                                    std::span<const std::string_view> names,
                                                    std::span<const std::string_view> usual) const {
  const json* v = value(key);
  if (v == nullptr) return std::nullopt;
  const std::string text = v->is_string() ? lower(v->get_ref<const std::string&>()) : "";
  for (const std::string_view name : names)
    if (name == text) return name;
  refuse(key, "choice", "be " + one_of(usual), hint_for(text, names));
  return std::nullopt;
}

void Reader::read_figure(std::string_view key, Figure& figure, bool power, Dim dim, Dim* found) const {
  const bool present = node_->is_object() && node_->contains(std::string(key));
  if (!present && !figure.origin.empty()) return;  // keeps what a base file said
  figure = Figure{};
  figure.origin = origin(key);
  const json* v = value(key);
  if (v == nullptr) return;
  Reader at = *this;
  std::string_view leaf = key;
  if (v->is_object()) {
    static constexpr std::string_view kKeys[] = {"value", "source", "assumed", "title", "id", "notes"};
    at = Reader(*doc_, *v, pointer(key), *issues_, spelling_);
    at.allow(kKeys);
    figure.source = at.string("source").value_or("");
    figure.assumed = at.boolean("assumed").value_or(false);
    leaf = "value";
    if (!v->contains("value")) at.require(leaf, "\"...\", or null when it is not known");
    v = at.value(leaf);
    if (v == nullptr) return;
  }
  const std::string text = v->is_string() ? v->get<std::string>() : v->is_number() ? v->dump() : "";
  if (text == "unknown") return;
  const Measure m = power              ? parse_power(text)
                    : found != nullptr ? parse_quantity(text)
                                       : parse_quantity(text, dim);
  if (!m) {
    const std::string what = power ? "a power" : found != nullptr ? "a quantity" : noun_of(dim);
    at.refuse(leaf, "quantity", "be " + what + (text.empty() ? "" : "; it " + m.error), m.hint);
    return;
  }
  if (found != nullptr) *found = m.dim;
  figure.value = m.value;
  figure.known = true;
}

std::optional<Reader> Reader::object(std::string_view key) const {
  const json* v = value(key);
  if (v == nullptr) return std::nullopt;
  if (v->is_object()) return Reader(*doc_, *v, pointer(key), *issues_, spelling_);
  refuse(key, "object", "be an object", "write { ... }");
  return std::nullopt;
}

std::vector<Reader> Reader::objects(std::string_view key) const {
  std::vector<Reader> out;
  const json* v = value(key);
  if (v == nullptr) return out;
  if (!v->is_array() || !std::all_of(v->begin(), v->end(), [](const json& e) { return e.is_object(); })) {
    refuse(key, "objects", "be an array of objects", "write [{ ... }]");
    return out;
  }
  for (std::size_t i = 0; i < v->size(); ++i)
    out.emplace_back(*doc_, (*v)[i], pointer(key) + "/" + std::to_string(i), *issues_, spelling_);
  return out;
}

namespace {

/// The value as its file spells it, "-40 GB/s", where an issue has it as a bare number of base units.
void quote(const Document& doc, Issue& issue) {
  double number = 0;
  const auto [end, status] = std::from_chars(issue.got.data(), issue.got.data() + issue.got.size(), number);
  if (issue.got.empty() || !issue.pointer.starts_with('/') || status != std::errc{} ||
      end != issue.got.data() + issue.got.size())
    return;
  const json::json_pointer at(issue.pointer);
  if (!doc.root.contains(at)) return;
  const json* v = &doc.root.at(at);
  if (v->is_object() && v->contains("value")) v = &v->at("value");
  if (!v->is_string()) return;
  const Measure m = parse_quantity(v->get_ref<const std::string&>());
  if (m && m.value == number) issue.got = clipped(v->get_ref<const std::string&>());
}

}  // namespace

void place_issues(std::span<const Document* const> documents, Issues& issues, std::size_t first) {
  std::vector<Issue> found(std::make_move_iterator(issues.all().begin() + static_cast<std::ptrdiff_t>(first)),
                           std::make_move_iterator(issues.all().end()));
  issues.all().resize(first);
  const auto document_of = [&](const Issue& issue) {
    return std::find_if(documents.begin(), documents.end(),
                        [&](const Document* d) { return d->file == issue.file || d->origin == issue.file; });
  };
  std::vector<Issue> kept;
  for (Issue& issue : found) {
    const auto doc = document_of(issue);
    if (issue.line == 0 && !issue.pointer.empty() && doc != documents.end()) {
      const auto repeats = [&](const Issue& e) {
        return e.file == (*doc)->file && (e.level == Severity::Error || e.rule == issue.rule) &&
               (e.pointer == issue.pointer || e.pointer == issue.pointer + "/value");
      };
      if (std::any_of(kept.begin(), kept.end(), repeats)) continue;
      const Place place = place_of((*doc)->text, locate((*doc)->text, issue.pointer).value);
      quote(**doc, issue);
      issue.file = (*doc)->file;
      issue.line = place.line;
      issue.column = place.column;
    }
    kept.push_back(std::move(issue));
  }
  const auto rank = [&](const Issue& i) { return std::tuple(document_of(i), i.line, i.column); };
  std::stable_sort(kept.begin(), kept.end(),
                   [&](const Issue& a, const Issue& b) { return rank(a) < rank(b); });
  for (Issue& issue : kept) issues.add(std::move(issue));
}

}  // namespace trainplan
