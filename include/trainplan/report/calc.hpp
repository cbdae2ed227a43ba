/// The answers of `calc`: the catalogue, what a formula takes, and a formula worked out.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainplan/report/build.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

/// An entry with what only a renderer can write: its formula in symbols, the unit of each parameter and of
/// the result (empty for a count), and a command that works.
struct FormulaCard {
  const CatalogEntry* entry = nullptr;
  std::string formula;
  std::vector<std::string> units;
  std::string result_unit, example;
};

/// A chapter of the catalogue.
struct FormulaChapter {
  std::string_view id, title;
  std::vector<FormulaCard> cards;
};

namespace detail {

/// "delta (s), mtbf (s)".
inline std::string parameters_text(const FormulaCard& card) {
  std::string out;
  for (std::size_t i = 0; i < card.entry->args.size(); ++i) {
    out.append(out.empty() ? "" : ", ").append(card.entry->args[i].name);
    if (!card.units[i].empty()) out.append(" (").append(card.units[i]).append(")");
  }
  return out;
}

inline std::string source_text(const Source& source) {
  std::string out(source.key);
  return source.where.empty() ? out : out.append(", ").append(source.where);
}

/// Keys of JSON are words joined by '_'.
inline std::string member_key(std::string_view id) {
  std::string out(id);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

inline Value bound(double v, Dim dim) { return {v, unit_for(dim)}; }
inline constexpr double kUnbounded = std::numeric_limits<double>::max();

}  // namespace detail

/// Every formula, a section for each chapter: id, title and parameters; with `whole` formula and source too.
inline Report formula_list_report(std::span<const FormulaChapter> chapters, bool whole) {
  Report r{"formulas", "Formulas", Verdict::None, {}, {}};
  for (const FormulaChapter& chapter : chapters) {
    Table table{"formulas", "", {{"id", "id"}, {"title", "what it gives"}}, {}};
    if (whole) table.columns.push_back({"formula", "formula"});
    table.columns.push_back({"parameters", "parameters (unit)"});
    if (whole) table.columns.push_back({"source", "source"});
    for (const FormulaCard& card : chapter.cards) {
      std::vector<Cell> row{Code{std::string(card.entry->id)}, std::string(card.entry->title)};
      if (whole) row.push_back(Code{card.formula});
      row.push_back(detail::parameters_text(card));
      if (whole) row.push_back(detail::source_text(card.entry->source));
      table.rows.push_back(std::move(row));
    }
    r.sections.push_back({detail::member_key(chapter.id), std::string(chapter.title), {std::move(table)}});
  }
  return r;
}

/// What one formula takes and gives, and a command that works.
inline Report signature_report(const FormulaCard& card) {
  const CatalogEntry& e = *card.entry;
  Report r{"formula", std::string(e.id) + ": " + std::string(e.title), Verdict::None, {}, {}};
  Facts facts{"", {}};
  facts.facts.push_back({"formula", "formula", Code{card.formula}, "", ""});
  facts.facts.push_back(
      {"unit", "result in", card.result_unit.empty() ? "a number" : card.result_unit, "", ""});
  facts.facts.push_back({"source", "source", detail::source_text(e.source), "", ""});
  facts.facts.push_back({"example", "example", Code{card.example}, "", ""});
  Table table{"parameters",
              "",
              {{"name", "name"},
               {"symbol", "symbol"},
               {"meaning", "meaning"},
               {"unit", "unit"},
               {"least", "from"},
               {"most", "to"}},
              {}};
  for (std::size_t i = 0; i < e.args.size(); ++i) {
    const Arg& a = e.args[i];
    const Cell most = a.hi < detail::kUnbounded ? Cell(detail::bound(a.hi, e.dims[i])) : Cell{};
    table.rows.push_back({Code{std::string(a.name)}, Code{std::string(a.symbol)}, std::string(a.meaning),
                          card.units[i], detail::bound(a.lo, e.dims[i]), most});
  }
  r.sections.push_back({"formula", "", {std::move(facts), std::move(table)}});
  return r;
}

/// The formula worked out: item is what the entry filed in the ledger, which must outlive the report.
inline Report calc_report(const CatalogEntry& entry, const Ledger& ledger, const LineItem& item) {
  Report r{"calc", std::string(entry.id) + ": " + std::string(entry.title), Verdict::None, {}, {}};
  Explanation e = explanation_of(ledger, item);
  e.key.clear();
  e.title.clear();    // the report's title has it
  e.formula.clear();  // its id is the item's id
  r.sections.push_back({"result", "", {std::move(e)}});
  return r;
}

}  // namespace trainplan
