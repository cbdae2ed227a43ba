#include "trainplan/render/rows.hpp"

#include <cstddef>

#include "row_parts.hpp"

namespace trainplan {
namespace {

/// Words are aligned to the left; a column without a unit may have either, and counts read well there too.
std::string markdown_head(const std::vector<RowColumn>& columns) {
  std::vector<std::string> labels;
  std::vector<bool> right;
  for (const RowColumn& c : columns) {
    labels.push_back(markdown_cell(c.label));
    right.push_back(c.unit != Unit::Count);
  }
  return markdown_line(labels) + markdown_rule(right);
}

std::string csv_head(const std::vector<RowColumn>& columns) {
  std::vector<Cell> keys;
  for (const RowColumn& c : columns) keys.emplace_back(with_unit(c.key, base_unit(c.unit)));
  return csv_line(keys);
}

std::string json_line(const std::vector<RowColumn>& columns, const std::vector<Cell>& cells) {
  JsonWriter json;
  json.object("", true);
  for (std::size_t i = 0; i < columns.size(); ++i)
    json_member(json, columns[i].key, cells[i], base_unit(columns[i].unit));
  json.end();
  return json.take();
}

}  // namespace

std::string render_head(const std::vector<RowColumn>& columns, RowFormat format) {
  switch (format) {
    case RowFormat::Csv: return csv_head(columns);
    case RowFormat::JsonLines: return {};
    case RowFormat::Markdown: return markdown_head(columns);
  }
  return {};
}

std::string render_row(const std::vector<RowColumn>& columns, const std::vector<Cell>& cells,
                       RowFormat format) {
  switch (format) {
    case RowFormat::Csv: return csv_line(cells);
    case RowFormat::JsonLines: return json_line(columns, cells);
    case RowFormat::Markdown: break;
  }
  std::vector<std::string> texts;
  for (const Cell& c : cells) texts.push_back(markdown_cell(c));
  return markdown_line(texts);
}

}  // namespace trainplan
