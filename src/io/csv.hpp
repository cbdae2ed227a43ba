/// Comma-separated values as RFC 4180 has them: quoted cells, doubled quotes, line ends of any system.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainplan/spec/issue.hpp"

namespace trainplan {

/// The cells of one row and the line that it begins on, from 1.
struct CsvRecord {
  int line = 0;
  std::vector<std::string> cells;
};

/// All rows but empty ones, the header among them; nothing when an error was recorded.
std::optional<std::vector<CsvRecord>> parse_csv(std::string_view text, std::string_view file, Issues& issues);

/// A cell as it stands in a file: in quotes where it must be.
std::string csv_cell(std::string_view text);

}  // namespace trainplan
