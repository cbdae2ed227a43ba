/// From a report to text, Markdown or JSON.
#pragma once

#include <cstdint>
#include <string>

#include "trainplan/report/report.hpp"
#include "trainplan/spec/issue.hpp"

namespace trainplan {

enum class Format : std::uint8_t { Text, Markdown, Json };
enum class Notation : std::uint8_t { Symbols, Numbers };

struct Style {
  bool colour = false;
  int columns = 100;
};

/// The whole report, ending in a newline. All formats carry the same numbers.
std::string render(const Report& report, Format format, const Style& style);

/// A table as comma-separated values: keys of the columns, numbers in full, shares as ratios.
std::string render_csv(const Table& table);

/// Issues for a terminal, or as JSON.
std::string render(const Issues& issues, Format format, const Style& style);

/// A formula of a tape: "params x 4 B / dp", or with the numbers put in.
std::string formula_text(const Tape& tape, std::uint32_t node, Notation notation);

/// A number with a unit that suits its dimension: "2.27126e9 param", "450 GB/s", "300 s".
std::string number_text(double value, Dim dim);

/// The unit alone, without a prefix: "B/param"; empty for a count.
std::string unit_text(Dim dim);

}  // namespace trainplan
