/// A derived plan as its report has it: settings, and the ledger of the fullest stage.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "trainplan/report/plan_report.hpp"
#include "trainplan/report/reported_plan.hpp"

namespace trainplan {

namespace detail {

/// notes: what stands behind a degree belongs to it ("interleaved"); behind an input it is the origin.
inline void add_settings(ReportedPlan& plan, const Section& section, bool notes) {
  for (const Block& block : section.blocks) {
    const Facts* facts = std::get_if<Facts>(&block);
    if (facts == nullptr) continue;
    for (const Fact& f : facts->facts) {
      plan.settings.push_back({f.key, f.cell});
      if (notes && !f.note.empty()) plan.settings.push_back({f.key + "_note", f.note});
    }
  }
}

}  // namespace detail

/// The ledger is that of the plan's fullest stage.
inline ReportedPlan reported_plan(const Trial& t, const Ledger& ledger, const std::vector<Setting>& settings,
                                  std::string source) {
  ReportedPlan out{
      std::move(source), t.problem.model().name + " on " + t.problem.cluster().name, t.cost.stage, {}, {}};
  detail::add_settings(out, input_section(t.problem, settings), false);
  detail::add_settings(out, choice_section(t), true);
  for (const LineItem& item : ledger.items())
    out.items.push_back({item.id, item.title, {item.value, unit_of(item)}});
  return out;
}

}  // namespace trainplan
