/// What the fields of runs, pipelines, gaps and studies share: a value as the command line would give it, its
/// place in its file, and what is wrong with it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "reader.hpp"
#include "trainplan/io/units.hpp"
#include "trainplan/spec/issue.hpp"

namespace trainplan {

/// Fills in what is wrong; false, so that a setter can return it.
inline bool refuse(Issue& out, std::string rule, std::string must, std::string hint) {
  out.rule = std::move(rule);
  out.must = std::move(must);
  out.hint = std::move(hint);
  return false;
}

/// "120d" for a bare 120 where the example is "30d": what was typed, in the unit of the example; else the
/// example.
inline std::string value_to_try(std::string_view text, Dim dim, std::string_view example) {
  const bool bare = !text.starts_with('-') && parse_quantity(text, kCount) && !parse_quantity(text, dim);
  const std::size_t unit = example.find_first_not_of("0123456789.");
  if (!bare || unit == std::string_view::npos ||
      !parse_quantity(std::string(text).append(example, unit), dim))
    return std::string(example);
  return std::string(text).append(example, unit);
}

/// Where a value stands.
inline Issue at(const Reader& in, std::string_view key) {
  const Document& doc = in.document();
  const Place place = place_of(doc.text, locate(doc.text, in.pointer(key)).value);
  return {.file = doc.file, .pointer = in.pointer(key), .line = place.line, .column = place.column};
}

/// A number or a text as the command line would give it.
inline std::optional<std::string> scalar_text(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  return std::nullopt;
}

/// A scalar, a list of them as "1,2,3", or a figure as {"value", "source"}.
inline std::optional<std::string> value_text(const nlohmann::json& value) {
  if (value.is_object()) {
    const auto found = value.find("value");
    return found == value.end() || found->is_object() ? std::nullopt : value_text(*found);
  }
  if (!value.is_array()) return scalar_text(value);
  std::string out;
  for (const nlohmann::json& each : value) {
    const auto text = scalar_text(each);
    if (!text || text->find(',') != std::string::npos) return std::nullopt;
    out.append(out.empty() ? "" : ",").append(*text);
  }
  return value.empty() ? std::nullopt : std::optional(out);
}

}  // namespace trainplan
