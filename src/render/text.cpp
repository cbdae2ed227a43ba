#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "layout.hpp"
#include "units.hpp"
#include "words.hpp"

namespace trainplan {
namespace {

constexpr std::size_t kIndent = 2, kFormulaIndent = 4;

bool starts_sign(std::string_view text) {
  static constexpr std::string_view kSigns[] = {"× ", "/ ", "+ ", "- "};
  return std::any_of(std::begin(kSigns), std::end(kSigns),
                     [text](std::string_view s) { return text.starts_with(s); });
}

/// A formula may be broken before an operator and after the comma between arguments, nowhere else.
std::string breakable_formula(const std::string& formula) {
  std::string out;
  for (std::size_t i = 0; i < formula.size(); ++i) {
    if (formula[i] != ' ') {
      out += formula[i];
      continue;
    }
    const bool argument = i > 0 && formula[i - 1] == ',';
    out += argument || starts_sign(std::string_view(formula).substr(i + 1)) ? " " : unbroken(" ");
  }
  return out;
}

/// A command, unlike a formula, may be broken at every space.
std::string breakable_code(const std::string& code) {
  for (std::size_t i = 0; i < code.size(); ++i)
    if (code[i] == ' ' && starts_sign(std::string_view(code).substr(i + 1))) return breakable_formula(code);
  return code;
}

class TextReport {
  const Style& style_;
  std::size_t columns_;
  std::string out_;

  GridCell grid_cell(const Cell& cell, std::string_view empty) const {
    const std::string text = cell_text(cell, empty);
    if (std::holds_alternative<Code>(cell)) return {breakable_code(text), Kind::Id};
    return {text, is_number(cell) ? Kind::Number : Kind::Words};
  }
  /// Facts are of many kinds, so their numbers are not aligned; they stay whole all the same.
  GridCell fact_cell(const Cell& cell) const {
    if (const Estimate* e = std::get_if<Estimate>(&cell))
      return {unbroken(value_text(e->value)) + " " + unbroken(range_text(*e)), Kind::Estimate};
    return is_number(cell) ? GridCell{unbroken(cell_text(cell, "-")), Kind::Id} : grid_cell(cell, "-");
  }
  void print(const Grid& grid, std::size_t indent) { out_ += grid.text(columns_, indent, style_.colour); }

  void heading(const std::string& title, char rule) {
    for (const std::string& line : wrap(printable(title), columns_))
      out_ += inked(line, Ink::Bold, style_.colour) + "\n";
    const std::size_t width = std::min(display_width(printable(title)), columns_);
    if (!style_.colour) out_ += std::string(width, rule) + "\n";
  }

  void headline(const Report& report) {
    static constexpr Ink kInks[] = {Ink::Plain, Ink::Green, Ink::Yellow, Ink::Red, Ink::Green, Ink::Red};
    const Headline h = headline_text(report, unbroken);
    if (h.word.empty() && h.rest.empty()) return;
    const std::string lines = paragraph(unbroken(h.word) + h.rest, columns_, "");
    out_ += inked(h.word, kInks[static_cast<std::size_t>(report.verdict)], style_.colour) +
            lines.substr(h.word.size());
  }

 public:
  explicit TextReport(const Style& style)
      : style_(style), columns_(static_cast<std::size_t>(std::max(style.columns, 20))) {}

  void operator()(const Facts& facts) {
    Grid grid;
    for (const Fact& f : facts.facts)
      grid.row({{printable(f.label)},
                fact_cell(f.cell),
                {printable(f.note)},
                {printable(f.id), Kind::Id, Ink::Dim}});
    print(grid, kIndent);
  }

  void operator()(const Table& table) {
    if (!table.title.empty()) out_ += paragraph(printable(table.title), columns_, "  ");
    std::vector<GridCell> labels;
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      labels.push_back(
          {printable(table.columns[c].label), has_numbers(table, c) ? Kind::Number : Kind::Words, Ink::Bold});
    Grid grid;
    for (const auto& row : table.rows) {
      std::vector<GridCell> cells;
      for (std::size_t c = 0; c < row.size(); ++c) {
        cells.push_back(grid_cell(row[c], "-"));
        if (c >= labels.size()) continue;
        if (std::holds_alternative<std::monostate>(row[c])) cells.back().kind = labels[c].kind;
        if (table.columns[c].key == "id") cells.back().kind = Kind::Id;
      }
      grid.row(std::move(cells));
    }
    grid.header(std::move(labels));
    print(grid, kIndent);
  }

  void operator()(const Notes& notes) {
    for (const Sentence& s : notes.sentences) out_ += paragraph(sentence_text(s, unbroken), columns_, "- ");
  }

  void operator()(const Lines& lines) {
    Grid grid;
    for (const Line& l : lines.lines) {
      const std::string title = printable(l.note.empty() ? l.title : l.title + ", " + l.note);
      const auto indent = kIndent * static_cast<std::size_t>(std::max(l.depth, 0));
      grid.row({{title, Kind::Words, Ink::Plain, indent},
                grid_cell(l.value, ""),
                {printable(l.id), Kind::Id, Ink::Dim}});
    }
    print(grid, kIndent);
  }

  void operator()(const Explanation& e) {
    Grid head;
    head.row({{printable(e.id), Kind::Id, Ink::Bold}, {printable(e.title)}, {result_text(e), Kind::Number}});
    print(head, 0);
    if (e.ledger != nullptr) {
      for (const Notation notation : {Notation::Symbols, Notation::Numbers})
        out_ += paragraph(breakable_formula(formula_text(e.ledger->tape(), e.expr, notation)), columns_,
                          "    = ");
      out_ += paragraph(unbroken(number_text(e.number, e.dim)), columns_, "    = ");
    }
    if (const std::string source = source_text(e); !source.empty())
      out_ += paragraph(source, columns_, "    source: ");
    Grid operands;
    for (const Operand& o : e.operands)
      operands.row({{printable(o.symbol), Kind::Id},
                    {printable(o.meaning)},
                    {unbroken(number_text(o.number, o.dim)), Kind::Id},
                    {printable(o.origin), Kind::Words, Ink::Dim}});
    print(operands, kFormulaIndent);
  }

  std::string operator()(const Report& report) {
    heading(report.title, '=');
    headline(report);
    for (const Section& section : report.sections) {
      if (!out_.empty()) out_ += "\n";
      if (!section.title.empty()) heading(section.title, '-');
      for (std::size_t i = 0; i < section.blocks.size(); ++i) {
        if (i > 0) out_ += "\n";
        std::visit(*this, section.blocks[i]);
      }
    }
    return std::move(out_);
  }
};

}  // namespace

std::string text_report(const Report& report, const Style& style) { return TextReport(style)(report); }

}  // namespace trainplan
