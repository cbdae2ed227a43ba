#include "formulas.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "trainplan/catalog/catalog.hpp"
#include "trainplan/io/units.hpp"
#include "trainplan/render/render.hpp"

namespace trainplan {
namespace {

constexpr std::pair<Dim, std::string_view> kSamples[] = {
    {kBytes, "80GB"},
    {kFlops, "1e18FLOP"},
    {kSeconds, "300s"},
    {kTokens, "8192"},
    {kParams, "70B"},
    {kUsd, "5000USD"},
    {kBytes - kSeconds, "50GB/s"},
    {kFlops - kSeconds, "989TFLOP/s"},
    {kTokens - kSeconds, "1e6token/s"},
    {kBytes - kParams, "4B/param"},
    {kBytes - kTokens, "34kB/token"},
    {kFlops - kTokens, "450GFLOP/token"},
    {kUsd - kSeconds, "2.5USD/h"},
    {Dim{} - kSeconds, "0.001/s"},
    {kCount, "8"},
};

std::string typed(double value, Dim dim) {
  std::string text = number_text(value, dim);
  std::erase(text, ' ');
  return text;
}

/// A value within the range of the parameter.
double sample(const Arg& arg, Dim dim) {
  double value = 1;
  for (const auto& [known, text] : kSamples)
    if (known == dim) value = parse_quantity(text, dim).value;
  if (value > arg.hi) value = arg.hi <= 1 ? (arg.lo + arg.hi) / 2 : arg.hi;
  return std::max(value, arg.lo);
}

}  // namespace

std::string sample_text(const Arg& arg, Dim dim) {
  const double value = sample(arg, dim);
  for (const auto& [known, text] : kSamples)
    if (known == dim && parse_quantity(text, dim).value == value) return std::string(text);
  return typed(value, dim);
}

FormulaCard formula_card(const CatalogEntry& entry) {
  FormulaCard card{&entry, {}, {}, unit_text(entry.result), "trainplan calc " + std::string(entry.id)};
  std::vector<double> values;
  for (std::size_t i = 0; i < entry.args.size(); ++i) {
    values.push_back(sample(entry.args[i], entry.dims[i]));
    card.units.push_back(unit_text(entry.dims[i]));
    card.example.append(" ")
        .append(entry.args[i].name)
        .append("=")
        .append(sample_text(entry.args[i], entry.dims[i]));
  }
  Explain rec;
  entry.explain(rec, values);
  const LineItem* item = rec.ledger().find(entry.id);
  card.formula = formula_text(rec.ledger().tape(), item->expr, Notation::Symbols);
  return card;
}

std::vector<FormulaChapter> formula_chapters() {
  std::vector<FormulaChapter> out;
  for (const CatalogChapter& chapter : catalog_chapters()) {
    out.push_back({chapter.id, chapter.title, {}});
    for (const CatalogEntry& entry : chapter.entries) out.back().cards.push_back(formula_card(entry));
  }
  return out;
}

}  // namespace trainplan
