/// What one MFU point is worth in a run, in time and dollars.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "trainplan/plan/problem.hpp"
#include "trainplan/report/build.hpp"

namespace trainplan {

/// The ledger holds the items of money_cost; `run` says what the time of the run counts. Without a price
/// there are no dollars, and it says so.
inline Section worth_section(const Problem& problem, const Ledger& ledger, const std::string& at,
                             const std::string& run) {
  Section s{"worth", "What an MFU point is worth", {}};
  const Figure& price = problem.cluster().price;
  Facts f{"point", {}};
  f.facts.push_back({"at", "at", at, "first order: the time of the run / (100 MFU)", ""});
  add_fact(f, ledger, "cost.run_time", "run_time", Unit::Days, run);
  add_fact(f, ledger, "cost.mfu_point_share", "throughput", Unit::Share);
  add_fact(f, ledger, "cost.mfu_point_time", "time", Unit::Days,
           problem.recipe.tokens ? "of that run" : "of a run of 30 days (no --tokens given)");
  add_fact(f, ledger, "cost.mfu_point", "money", Unit::Usd);
  if (price.known)
    f.facts.push_back({"price", "price of a GPU", Value{price.value, Unit::UsdPerHour},
                       price.assumed ? "assumed" : price.source, ""});
  add_fact(f, ledger, "cost.day", "day", Unit::Usd);
  for (Fact& fact : f.facts) fact.id.clear();  // `explain` knows the plan's figures only
  s.blocks.push_back(std::move(f));
  if (!price.known)
    s.blocks.push_back(Notes{"worth_note", {{"no dollars: the cluster file does not give price"}}});
  return s;
}

/// Every named result of a ledger whose id begins so, with its formula; for --detail.
inline Section formula_section(const Ledger& ledger, std::initializer_list<std::string_view> prefixes) {
  Section s{"detail", "Formulas", {}};
  for (const LineItem& item : ledger.items()) {
    if (std::none_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view p) { return item.id.starts_with(p); }))
      continue;
    Explanation part = explanation_of(ledger, item);
    part.key = item.id;
    s.blocks.push_back(std::move(part));
  }
  return s;
}

}  // namespace trainplan
