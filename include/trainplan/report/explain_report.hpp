/// The answer of `explain`: one item taken apart, or the list of items.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "trainplan/report/build.hpp"

namespace trainplan {

/// Every item of a ledger with its value.
inline Report item_list_report(const Ledger& ledger, std::string title) {
  Report r{"items", std::move(title), Verdict::None, {}, {}};
  Lines lines{"items", {}};
  for (const LineItem& item : ledger.items())
    lines.lines.push_back({item.id, item.title, Value{item.value, unit_of(item)}, 0, ""});
  r.sections.push_back(Section{"ledger", "Items that can be explained", {std::move(lines)}});
  return r;
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
