/// Lines and members that whole reports and single rows share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json_writer.hpp"
#include "trainplan/base/value.hpp"

namespace trainplan {

/// "bytes_per_second"; empty for a count.
std::string base_unit(Unit unit);

/// "step" and seconds give "step_seconds"; a key that says its unit already is left alone.
std::string with_unit(std::string_view key, std::string_view unit);

/// A member under the key; without a value null under the key of `unit`.
void json_member(JsonWriter& json, std::string_view key, const Cell& cell, std::string_view unit = {});

/// A line of comma-separated values; numbers in full.
std::string csv_line(const std::vector<Cell>& cells);

/// A line of a Markdown table of finished cells.
std::string markdown_line(const std::vector<std::string>& cells);
/// The line below the labels; true: aligned to the right.
std::string markdown_rule(const std::vector<bool>& right);
std::string markdown_cell(const Cell& cell);

}  // namespace trainplan
