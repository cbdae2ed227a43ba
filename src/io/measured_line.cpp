#include "measured_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "text.hpp"
#include "trainplan/io/units.hpp"
#include "trainplan/spec/validator.hpp"

namespace trainplan {
namespace {

constexpr std::size_t kColumns = std::size(kMeasuredColumns);

std::size_t place_of_column(std::string_view name) {
  const auto found = std::find_if(std::begin(kMeasuredColumns), std::end(kMeasuredColumns),
                                  [&](const MeasuredColumn& c) { return c.name == name; });
  return static_cast<std::size_t>(found - std::begin(kMeasuredColumns));
}

std::string stripped(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return std::string(text.substr(from, text.find_last_not_of(" \t") - from + 1));
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_legal(const MeasuredColumn& column, std::string_view cell) {
  if (cell.empty() || column.kind == CellKind::Text) return true;
  if (column.kind == CellKind::Whole) {
    const auto n = number<std::int64_t>(cell);
    return n && *n >= 1 && *n <= column.most;
  }
  const auto x = number<double>(cell);
  return x && std::isfinite(*x) && *x > 0 && *x < 1e12;
}

class TableReader {
  std::string_view file_;
  Issues& issues_;
  std::array<std::size_t, kColumns> places_{};  // of each column in the file; npos: not there
  std::set<std::string> ids_;

  void refuse(Place at, std::string rule, std::string column, std::string_view got, std::string must,
              std::string hint) {
    issues_.add({.rule = std::move(rule),
                 .file = std::string(file_),
                 .pointer = std::move(column),
                 .got = clipped(got),
                 .must = std::move(must),
                 .hint = std::move(hint),
                 .line = at.line,
                 .column = at.column});
  }

  /// One cell with another separator in it; the columns are then not looked for.
  bool refuse_separator(const CsvRecord& header) {
    const std::string& cell = header.cells.front();
    const std::size_t at = cell.find_first_of(";\t");
    if (header.cells.size() > 1 || at == std::string::npos) return false;
    refuse(header.places.front(), "separator", "", cell[at] == ';' ? "semicolons" : "tabs",
           "have commas between its cells, and points in its numbers", "export it as comma-separated values");
    return true;
  }

  void read_header(const CsvRecord& header) {
    places_.fill(std::string::npos);
    std::vector<std::string_view> names;
    for (const MeasuredColumn& c : kMeasuredColumns) names.push_back(c.name);
    for (std::size_t at = 0; at < header.cells.size(); ++at) {
      const std::string name = stripped(header.cells[at]);
      const std::size_t place = place_of_column(name);
      if (place == kColumns) {
        issues_.add({.level = Severity::Warning,
                     .rule = "unknown-column",
                     .file = std::string(file_),
                     .pointer = clipped(name),
                     .must = "be a column of the table, or it is not read",
                     .hint = suggestion(name, names),
                     .line = header.places[at].line,
                     .column = header.places[at].column});
      } else if (places_[place] != std::string::npos) {
        refuse(header.places[at], "twice", name, name, "be the name of one column", "remove one of the two");
      } else {
        places_[place] = at;
      }
    }
    for (std::size_t c = 0; c < kColumns; ++c)
      if (kMeasuredColumns[c].required && places_[c] == std::string::npos)
        refuse(header.places.front(), "missing-column", std::string(kMeasuredColumns[c].name), "nothing",
               "be a column of the table", "add it to the first line; cells may be empty");
  }

  /// What the cell may have meant: 8000 of "8k", 21.8 of "-21.8".
  static std::string near(const MeasuredColumn& column, const std::string& cell) {
    const bool whole = column.kind == CellKind::Whole;
    const Measure m = parse_quantity(cell, kCount);
    const double meant = m ? std::abs(whole ? std::round(m.value) : m.value) : 0;
    const std::string text = shown(whole ? std::clamp(meant, 0.0, static_cast<double>(column.most)) : meant);
    return is_legal(column, text) ? text : whole ? "1" : "1.5";
  }

  void check(const MeasuredColumn& column, Place at, const std::string& cell) {
    if (is_legal(column, cell)) return;
    const bool whole = column.kind == CellKind::Whole;
    refuse(at, whole ? "integer" : "number", std::string(column.name), cell,
           whole ? "be a whole number from 1 to " + std::to_string(column.most) + ", or empty"
                 : "be a number above zero, or empty",
           "try " + near(column, cell));
  }

  MeasuredLine read_row(const CsvRecord& record) {
    std::vector<std::string> cells(kColumns);
    for (std::size_t c = 0; c < kColumns; ++c) {
      if (places_[c] == std::string::npos || places_[c] >= record.cells.size()) continue;
      cells[c] = stripped(record.cells[places_[c]]);
      check(kMeasuredColumns[c], record.places[places_[c]], cells[c]);
    }
    MeasuredLine line(record.line, std::move(cells));
    if (places_[0] == std::string::npos) return line;
    const std::string& id = line.text("id");
    const Place id_at = record.places[places_[0]];
    if (id.empty()) refuse(id_at, "missing-id", "id", "nothing", "name the row", "try source/configuration");
    if (!id.empty() && !ids_.insert(id).second)
      refuse(id_at, "twice", "id", id, "be the id of one row", "remove one of the two rows");
    return line;
  }

 public:
  TableReader(std::string_view file, Issues& issues) : file_(file), issues_(issues) {}

  std::vector<MeasuredLine> read(const std::vector<CsvRecord>& records) {
    std::vector<MeasuredLine> lines;
    if (records.empty()) {
      refuse({1, 1}, "empty", "", "no line", "have a line of column names and one line for each run",
             "begin with id,model,gpu,gpus,seq,gbs_sequences,step_time_s");
      return lines;
    }
    if (refuse_separator(records.front())) return lines;
    read_header(records.front());
    for (std::size_t r = 1; r < records.size(); ++r) {
      if (records[r].cells.size() != records.front().cells.size())
        refuse(records[r].places.front(), "cells", "", std::to_string(records[r].cells.size()) + " cells",
               "have as many cells as the first line, " + std::to_string(records.front().cells.size()),
               "put a cell with commas into quotes");
      else
        lines.push_back(read_row(records[r]));
    }
    return lines;
  }
};

}  // namespace

const std::string& MeasuredLine::text(std::string_view column) const {
  static const std::string kEmpty;
  const std::size_t place = place_of_column(column);
  return place < cells_.size() ? cells_[place] : kEmpty;
}
std::optional<std::int64_t> MeasuredLine::whole(std::string_view column) const {
  return number<std::int64_t>(text(column));
}
std::optional<double> MeasuredLine::real(std::string_view column) const {
  return number<double>(text(column));
}
void MeasuredLine::fill(std::string_view column, std::string value) {
  const std::size_t place = place_of_column(column);
  if (place < cells_.size() && cells_[place].empty()) cells_[place] = std::move(value);
}

void MeasuredLine::set(std::string_view column, std::string value) {
  const std::size_t place = place_of_column(column);
  if (place < cells_.size()) cells_[place] = std::move(value);
}

std::vector<MeasuredLine> measured_lines(const std::vector<CsvRecord>& records, std::string_view file,
                                         Issues& issues) {
  return TableReader(file, issues).read(records);
}

}  // namespace trainplan
