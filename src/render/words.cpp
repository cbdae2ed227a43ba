#include "words.hpp"

#include <algorithm>
#include <cstddef>
#include <variant>

#include "trainplan/report/build.hpp"
#include "units.hpp"

namespace trainplan {

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    const bool c1 = c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (c == '\n' || c == '\t')
      out += ' ';
    else if (c < 0x20 || c == 0x7f)
      out += '?';
    else if (c1)
      out += '?', ++i;
    else
      out += text[i];
  }
  return out;
}

std::string cell_text(const Cell& cell, std::string_view empty) {
  return std::visit(
      Overloaded{[&](std::monostate) { return std::string(empty); },
                 [](const std::string& s) { return printable(s); }, [](Value v) { return value_text(v); },
                 [](bool yes) { return std::string(yes ? "yes" : "no"); },
                 [](const Code& code) { return printable(code.text); },
                 [](const Estimate& e) { return estimate_text(e); },
                 [](const Ends& e) { return ends_text(e); }},
      cell);
}

std::string sentence_text(const Sentence& sentence, std::string (*glue)(std::string_view)) {
  std::string out;
  for (const auto& part : sentence) {
    std::visit(Overloaded{[&](const std::string& s) { out += printable(s); },
                          [&](Value v) { out += glue(value_text(v)); },
                          [&](const Estimate& e) { out += glue(value_text(e.value)) + " " + range_text(e); }},
               part);
  }
  return out;
}
std::string sentence_text(const Sentence& sentence) {
  return sentence_text(sentence, [](std::string_view text) { return std::string(text); });
}

Headline headline_text(const Report& report, std::string (*glue)(std::string_view)) {
  Headline out{verdict_text(report.verdict), sentence_text(report.headline, glue)};
  if (out.rest.starts_with(out.word))
    out.rest.erase(0, out.word.size());
  else if (!out.word.empty() && !out.rest.empty())
    out.rest.insert(0, ": ");
  return out;
}

bool is_number(const Cell& cell) {
  return std::holds_alternative<Value>(cell) || std::holds_alternative<Estimate>(cell);
}

bool has_numbers(const Table& table, std::size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [column](const auto& row) { return column < row.size() && is_number(row[column]); });
}

std::string result_text(const Explanation& e) {
  const bool nameless = !e.unit || (*e.unit == Unit::Count && e.dim != kCount);
  return nameless ? number_text(e.number, e.dim) : value_text({e.number, *e.unit});
}

std::string source_text(const Explanation& e) {
  return printable(e.formula.empty() || e.source.empty() ? e.formula + e.source
                                                         : e.formula + ", " + e.source);
}

std::string render(const Report& report, Format format, const Style& style) {
  switch (format) {
    case Format::Text: return text_report(report, style);
    case Format::Markdown: return markdown_report(report);
    case Format::Json: return json_report(report);
  }
  return {};
}

}  // namespace trainplan
