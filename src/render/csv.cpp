#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "row_parts.hpp"
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

}  // namespace

std::string csv_line(const std::vector<Cell>& cells) {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) out.append(i == 0 ? "" : ",").append(cell(cells[i]));
  return out + "\n";
}

std::string render_csv(const Table& table) {
  std::vector<Cell> keys;
  for (const Column& c : table.columns) keys.emplace_back(c.key);
  std::string out = csv_line(keys);
  for (const auto& row : table.rows) out += csv_line(row);
  return out;
}

}  // namespace trainplan
