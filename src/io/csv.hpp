/// Comma-separated values as RFC 4180 has them: quoted cells, doubled quotes, line ends of any system.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json.hpp"
#include "trainplan/spec/issue.hpp"

namespace trainplan {

/// The cells of one row, and where the row and each cell begin.
struct CsvRecord {
  int line = 0;
  std::vector<std::string> cells;
  std::vector<Place> places;
};

/// All rows but empty ones, the header among them; nothing when an error was recorded.
std::optional<std::vector<CsvRecord>> parse_csv(std::string_view text, std::string_view file, Issues& issues);

}  // namespace trainplan
