/// The answer of `explain`: one item taken apart, or the list of items.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "trainplan/report/build.hpp"

namespace trainplan {

/// Numbers of the whole plan: there is one step time, whichever GPU is looked at. They are those of the
/// ledger of the fullest stage, whose data-parallel traffic counts.
inline bool belongs_to_plan(std::string_view item) {
  return item == "goodput" || item.starts_with("goodput.") || item.starts_with("step.") ||
         item.starts_with("pipeline.") || item.starts_with("cost.");
}

/// Every item of a ledger with its value; of another stage than the fullest, those of its GPU only.
inline Lines item_lines(const Ledger& ledger, bool fullest) {
  Lines lines{"items", {}};
  for (const LineItem& item : ledger.items()) {
    if (!fullest && belongs_to_plan(item.id)) continue;
    lines.lines.push_back({item.id, item.title, Value{item.value, unit_of(item)}, 0, ""});
  }
  return lines;
}

inline Report item_list_report(const Ledger& ledger, std::string title, bool fullest) {
  Report r{"items", std::move(title), Verdict::None, {}, {}};
  r.sections.push_back(Section{"ledger", "Items that can be explained", {item_lines(ledger, fullest)}});
  return r;
}

/// The same of the fullest stage, with its number: what `diff` reads from the report of a plan.
inline Section ledger_section(const Ledger& ledger, int stage) {
  Facts of{"", {}};
  of.add("stage", "stage of the GPU", Value{static_cast<double>(stage)});
  return {"ledger", "Items that can be explained", {std::move(of), item_lines(ledger, true)}};
}

/// The formula of an item, its operands and, where it is a sum, its parts. The ledger must outlive the
/// report.
inline Report explain_report(const Ledger& ledger, const LineItem& item, std::string title) {
  Report r{"explain", std::move(title), Verdict::None, {}, {}};
  Section s{"item", "", {}};
  s.blocks.push_back(explanation_of(ledger, item));
  if (!ledger.parts(item).empty()) s.blocks.push_back(lines_of(ledger, "parts", item.id, unit_of(item), 1));
  r.sections.push_back(std::move(s));
  return r;
}

}  // namespace trainplan
