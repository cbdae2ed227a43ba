#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "words.hpp"

namespace trainplan {
namespace {

/// In quotes where a comma, a quote or a line end stands in it.
std::string quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? "\"\"" : std::string(1, c));
  return out + "\"";
}

std::string cell(const Cell& c) {
  return std::visit(
      Overloaded{[](std::monostate) { return std::string(); }, [](const std::string& s) { return quoted(s); },
                 [](Value v) { return fmt::format("{}", v.number); },
                 [](bool yes) { return std::string(yes ? "true" : "false"); },
                 [](const Code& code) { return quoted(code.text); },
                 [](const Estimate& e) { return fmt::format("{}", e.value.number); },
                 [](const Ends& e) { return fmt::format("{} {}", e.low, e.high); }},
      c);
}

std::string line(const std::vector<std::string>& cells) {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) out.append(i == 0 ? "" : ",").append(cells[i]);
  return out + "\n";
}

}  // namespace

std::string render_csv(const Table& table) {
  std::vector<std::string> cells;
  for (const Column& c : table.columns) cells.push_back(quoted(c.key));
  std::string out = line(cells);
  for (const auto& row : table.rows) {
    cells.clear();
    for (const Cell& c : row) cells.push_back(cell(c));
    out += line(cells);
  }
  return out;
}

}  // namespace trainplan
