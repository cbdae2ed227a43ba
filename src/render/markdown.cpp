#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "row_parts.hpp"
#include "words.hpp"

namespace trainplan {
namespace {

bool word_character(std::string_view text, std::size_t i) {
  return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || (text[i] & 0x80) != 0);
}

/// So that text is text: an underscore within a word is left alone, it means nothing there.
std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool inner = c == '_' && i > 0 && word_character(text, i - 1) && word_character(text, i + 1);
    if (std::string_view("\\`*_|<~[").find(c) != std::string_view::npos && !inner) out += '\\';
    out += c;
  }
  return out;
}

/// A code span; a pipe would end the table cell even here.
std::string code(std::string_view text) {
  if (text.empty()) return {};
  std::string body;
  for (const char c : text) body.append(c == '|' ? "\\" : "").append(1, c);
  const bool ticks = body.find('`') != std::string::npos;
  return ticks ? "`` " + body + " ``" : "`" + body + "`";
}

}  // namespace

std::string markdown_cell(const Cell& cell) {
  if (const Code* typed = std::get_if<Code>(&cell)) return code(printable(typed->text));
  return escaped(cell_text(cell, ""));
}

std::string markdown_line(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const std::string& c : cells) out.append(" ").append(c).append(c.empty() ? "|" : " |");
  return out + "\n";
}

std::string markdown_rule(const std::vector<bool>& right) {
  std::string out = "|";
  for (const bool number : right) out += number ? "---:|" : "---|";
  return out + "\n";
}

namespace {

/// A table as rows of finished cells.
class Sheet {
  std::string out_;

 public:
  Sheet(const std::vector<std::string>& labels, const std::vector<bool>& numbers)
      : out_(markdown_line(labels) + markdown_rule(numbers)) {}
  Sheet& row(const std::vector<std::string>& cells) {
    out_ += markdown_line(cells);
    return *this;
  }
  const std::string& text() const { return out_; }
};

/// Columns of words that no row fills are left out.
struct Words {
  std::vector<std::string> labels;
  std::vector<bool> numbers;
  std::vector<std::vector<std::string>> rows;

  std::string text() const {
    std::vector<bool> used(labels.size());
    for (const auto& row : rows)
      for (std::size_t c = 0; c < row.size(); ++c) used[c] = used[c] || !row[c].empty();
    const auto kept = [&](const auto& all) {
      auto out = all;
      out.clear();
      for (std::size_t c = 0; c < all.size(); ++c)
        if (used[c]) out.push_back(all[c]);
      return out;
    };
    Sheet sheet(kept(labels), kept(numbers));
    for (const auto& row : rows) sheet.row(kept(row));
    return sheet.text();
  }
};

std::string block(const Facts& facts) {
  Words words{{"item", "value", "note", "id"}, {false, false, false, false}, {}};
  for (const Fact& f : facts.facts)
    words.rows.push_back({escaped(printable(f.label)), markdown_cell(f.cell), escaped(printable(f.note)),
                          code(printable(f.id))});
  return words.text();
}

std::string block(const Table& table) {
  std::vector<std::string> labels;
  std::vector<bool> numbers;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    labels.push_back(escaped(printable(table.columns[c].label)));
    numbers.push_back(has_numbers(table, c));
  }
  Sheet sheet(labels, numbers);
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (const Cell& c : row) cells.push_back(markdown_cell(c));
    sheet.row(cells);
  }
  return (table.title.empty() ? "" : "**" + escaped(printable(table.title)) + "**\n\n") + sheet.text();
}

std::string block(const Notes& notes) {
  std::string out;
  for (const Sentence& s : notes.sentences) out += "- " + escaped(sentence_text(s)) + "\n";
  return out;
}

std::string block(const Lines& lines) {
  Words words{{"item", "value", "note", "id"}, {false, true, false, false}, {}};
  for (const Line& l : lines.lines) {
    std::string indent;
    for (int d = 0; d < l.depth; ++d) indent += "&emsp;";
    words.rows.push_back({indent + escaped(printable(l.title)), markdown_cell(l.value),
                          escaped(printable(l.note)), code(printable(l.id))});
  }
  return words.text();
}

std::string block(const Explanation& e) {
  const std::string title = e.title.empty() ? "" : " " + escaped(printable(e.title));
  std::string out = "**" + code(printable(e.id)) + "**" + title + ": " + escaped(result_text(e)) + "\n";
  if (e.ledger != nullptr) {
    out += "\n";
    for (const Notation notation : {Notation::Symbols, Notation::Numbers})
      out += "- = " + code(formula_text(e.ledger->tape(), e.expr, notation)) + "\n";
    out += "- = " + code(number_text(e.number, e.dim)) + "\n";
  }
  if (const std::string source = source_text(e); !source.empty())
    out += "\nSource: " + escaped(source) + "\n";
  if (e.operands.empty()) return out;
  Words words{{"symbol", "meaning", "value", "from"}, {false, false, true, false}, {}};
  for (const Operand& o : e.operands)
    words.rows.push_back({code(printable(o.symbol)), escaped(printable(o.meaning)),
                          escaped(number_text(o.number, o.dim)), escaped(printable(o.origin))});
  return out + "\n" + words.text();
}

}  // namespace

std::string markdown_report(const Report& report) {
  std::string out = "# " + escaped(printable(report.title)) + "\n";
  const Headline h = headline_text(report, [](std::string_view text) { return std::string(text); });
  if (!h.word.empty() || !h.rest.empty())
    out += "\n" + (h.word.empty() ? "" : "**" + h.word + "**") + escaped(h.rest) + "\n";
  for (const Section& section : report.sections) {
    if (!section.title.empty()) out += "\n## " + escaped(printable(section.title)) + "\n";
    for (const Block& b : section.blocks) out += "\n" + std::visit([](const auto& x) { return block(x); }, b);
  }
  return out;
}

}  // namespace trainplan
