/// Rows that stand alone: CSV, one JSON object a line, or lines of a Markdown table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainplan/report/rows.hpp"

namespace trainplan {

enum class RowFormat : std::uint8_t { Csv, JsonLines, Markdown };

/// What stands before the first row; nothing in JSON lines.
std::string render_head(const std::vector<RowColumn>& columns, RowFormat format);

/// One row, ending in a newline. CSV and JSON lines have base units, which their keys name, and the same
/// keys; Markdown has the units of reports. Cells: as many as columns.
std::string render_row(const std::vector<RowColumn>& columns, const std::vector<Cell>& cells,
                       RowFormat format);

}  // namespace trainplan
