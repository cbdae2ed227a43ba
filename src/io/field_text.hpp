/// What the fields of runs, pipelines and gaps share: a scalar as the command line would give it, the place
/// of a value in its file, and what is wrong with it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "reader.hpp"
#include "trainplan/spec/issue.hpp"

namespace trainplan {

/// Fills in what is wrong; false, so that a setter can return it.
inline bool refuse(Issue& out, std::string rule, std::string must, std::string hint) {
  out.rule = std::move(rule);
  out.must = std::move(must);
  out.hint = std::move(hint);
  return false;
}

/// Where a value stands.
inline Issue at(const Reader& in, std::string_view key) {
  const Document& doc = in.document();
  const Place place = place_of(doc.text, locate(doc.text, in.pointer(key)).value);
  return {.file = doc.file, .pointer = in.pointer(key), .line = place.line, .column = place.column};
}

}  // namespace trainplan
