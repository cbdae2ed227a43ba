/// Catalogue entries described for people: formula, units and an example that works.
#pragma once

#include <string>
#include <vector>

#include "trainplan/report/calc.hpp"

namespace trainplan {

FormulaCard formula_card(const CatalogEntry& entry);

/// The whole catalogue.
std::vector<FormulaChapter> formula_chapters();

/// A legal value of a parameter as one would type it: "300s".
std::string sample_text(const Arg& arg, Dim dim);

}  // namespace trainplan
