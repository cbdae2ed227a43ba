/// The answer of `gap`: a measured step item by item against its budget, and what to repair first.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/report/gap_answer.hpp"
#include "trainplan/report/plan_report.hpp"
#include "trainplan/report/utilisation.hpp"
#include "trainplan/report/worth_section.hpp"

namespace trainplan {

namespace detail {

inline Value points_value(double points) { return {points / 100, Unit::Points}; }
template <class N>
Value step_value(const Seconds<N>& s) {
  return {value_of(s), Unit::StepTime};
}
template <class N>
Cell step_cell(const std::optional<Seconds<N>>& s) {
  return s ? Cell(step_value(*s)) : Cell{};
}
template <class N>
Cell points_cell(const std::optional<Count<N>>& n) {
  return n ? Cell(points_value(value_of(*n))) : Cell{};
}

template <class N>
Sentence gap_headline(const GapCost<N>& c, std::string_view convention) {
  Sentence s{"measured ", step_value(c.measured), " where ", step_value(c.target), " were planned: "};
  if (value_of(c.exact) <= 0) {
    s.push_back("no gap");
  } else {
    s.push_back(step_value(c.excess));
    s.push_back(" above budget, ");
    s.push_back(points_value(value_of(c.points)));
  }
  s.push_back("; MFU ");
  s.push_back(Value{value_of(c.mfu), Unit::Share});
  s.push_back(" instead of ");
  s.push_back(Value{value_of(c.target_mfu), Unit::Share});
  s.push_back(" (" + std::string(convention) + ")");
  return s;
}

template <class N>
Section gap_step_section(const Trial& t, const GapSpec& gap, const GapCost<N>& c,
                         const UtilisationBand& band) {
  Section s{"step", "Step", {}};
  Facts f{"", {}};
  const bool own_budget = std::ranges::any_of(gap.budget, [](const auto& b) { return b.has_value(); });
  const std::string target = gap.target_mfu    ? "at the MFU that was planned"
                             : gap.target_step ? "as given"
                             : own_budget      ? "predicted by the plan, with the budgets given"
                                               : "predicted by the plan";
  f.add("plan", "plan", degrees_text(t.plan));
  if (const Calibration& constants = t.problem.calibration(); !constants.overlay.empty())
    f.facts.push_back(constants_fact(constants));
  f.add("flop_convention", "attention FLOPs", std::string(name_of(t.problem.recipe.convention)),
        "causal counts half of the matrix, full all of it");
  f.add("ideal", "ideal step", step_value(c.ideal), "at the dense bf16 peak");
  f.add("target", "planned step", step_value(c.target), target);
  f.add("measured", "measured step", step_value(c.measured));
  f.add("target_mfu", "MFU planned", Value{value_of(c.target_mfu), Unit::Share});
  f.add("mfu", "MFU measured", Value{value_of(c.mfu), Unit::Share});
  f.add("exact_points", "between them", points_value(value_of(c.exact)));
  f.add("points", "points to explain", points_value(value_of(c.points)),
        c.quoted                 ? "as quoted; rounds what lies between"
        : value_of(c.exact) >= 0 ? "what lies between"
                                 : "none: the step is faster than planned");
  f.add("excess", "above budget", step_value(c.excess), "items, and what was not measured");
  f.add("residual", "residual, measured", step_value(c.residual), "measured step less its measured items");
  f.add("target_residual", "residual, planned", step_value(c.target_residual),
        "planned step less its budget");
  s.blocks.push_back(std::move(f));
  Sentence where{"MFU of the measured step: "};
  for (auto& part : band_of(band, value_of(c.mfu))) where.push_back(part);
  s.blocks.push_back(Notes{"band", {std::move(where)}});
  return s;
}

template <class N>
Section gap_item_section(const GapCost<N>& c) {
  Section s{"items", "Items", {}};
  Table table{"ledger",
              "kernels: their whole time, the ideal included; -: not measured",
              {{"item", "item"},
               {"repair", "to repair"},
               {"budget", "budget"},
               {"measured", "measured"},
               {"excess", "above"},
               {"points", "of the gap"},
               {"first_order", "first order"}},
              {}};
  for (const LossItem i : kAllLossItems) {
    const GapRow<N>& r = c.rows[index_of(i)];
    table.rows.push_back({Code{std::string(name_of(i))}, std::string(name_of(repair_of(i))),
                          step_value(r.budget), step_cell(r.measured), step_cell(r.excess),
                          points_cell(r.points), points_cell(r.first_order)});
  }
  const bool all = c.all_measured();
  table.rows.push_back({std::string(all ? "residual" : "not measured"),
                        std::string(all ? "not explained" : "with the residual"),
                        step_value(c.residual_budget), step_value(c.residual), step_value(c.unknown),
                        points_value(value_of(c.unknown_points)), Cell{}});
  s.blocks.push_back(std::move(table));
  s.blocks.push_back(
      Notes{"points_note",
            {{"of the gap: in proportion to the time above budget; first order: what the item alone "
              "takes from the MFU of this step"}}});
  return s;
}

/// What a range rests on.
inline std::string norm_text(LossItem item, const Plan& p) {
  switch (item) {
    case LossItem::Bubble: return p.pp == 1 ? "no pipeline" : "bubble share of the kernel time, equal stages";
    case LossItem::ExposedComm:
      return "another job, 70B on 1,024 H100 at 4M tokens: TP 0.2 to 0.4 s, tail of DP 0.05 to 0.1 s";
    case LossItem::Recompute:
      return p.recompute == Recompute::None
                 ? "no recompute"
                 : "recompute " + std::string(name_of(p.recompute)) + ", share of the kernel time";
    case LossItem::DataWait: return "loading is hidden";
    case LossItem::Kernel: return "GEMMs at 70 to 75 % of peak, 15 to 20 % of the time in other kernels";
    case LossItem::Launch: return "another job, 16 micro-batches of one sequence x 20 layers";
    case LossItem::Straggler: return "up to 2 % of the step";
  }
  return "";
}

/// Rounded figures at an end are inside.
inline std::string place_in(double value, double low, double high) {
  constexpr double kRounding = 1e-9;
  if (value > high + kRounding) return "above";
  return value < low - kRounding ? "below" : "inside";
}

template <class N>
Section gap_range_section(const GapAnswer<N>& a, const Plan& plan) {
  Section s{"ranges", "What is normal", {}};
  Table table{"normal",
              "",
              {{"item", "item"}, {"low", "from"}, {"high", "to"}, {"place", "measured"}, {"of", "rests on"}},
              {}};
  for (const LossItem i : kAllLossItems) {
    const NormalRange<N>& r = a.normal[index_of(i)];
    const auto& measured = a.cost.rows[index_of(i)].measured;
    table.rows.push_back(
        {Code{std::string(name_of(i))}, step_value(r.low), step_value(r.high),
         measured ? Cell(place_in(value_of(*measured), value_of(r.low), value_of(r.high))) : Cell{},
         norm_text(i, plan)});
  }
  s.blocks.push_back(std::move(table));
  s.blocks.push_back(
      Notes{"normal_note",
            {{"a range reaches to what the plan predicts for the item; to a budget as given it does not"}}});
  return s;
}

inline std::string look_at(Repair r) {
  switch (r) {
    case Repair::Configuration:
      return "the start script: overlap off, buckets too large, extra synchronisation, SMs contended for, "
             "late launches";
    case Repair::Hardware: return "throttled clocks, bad GPUs and links; isolate the slow rank";
    case Repair::Data: return "loader workers, prefetch, storage";
    case Repair::Structure: return "pipeline layout: balance of stages, then v, then micro-batches, then p";
  }
  return "";
}

/// "exposed_comm; not measured: kernel, launch".
template <class N>
std::string items_text(Repair r, const GapCost<N>& c) {
  std::string known, open;
  for (const LossItem i : kAllLossItems) {
    if (repair_of(i) != r) continue;
    std::string& text = c.rows[index_of(i)].measured ? known : open;
    text.append(text.empty() ? "" : ", ").append(name_of(i));
  }
  if (open.empty()) return known;
  return known + (known.empty() ? "not measured: " : "; not measured: ") + open;
}

/// How the days of an item come about.
template <class N>
Sentence run_note(const PointWorth<N>& worth) {
  if (worth.steps) return {"of the run: every step of the token budget takes the time above budget longer"};
  return {
      "of the run: points x what one is worth in a run of 30 days; with --tokens steps x time above budget"};
}

template <class N>
Section gap_repair_section(const GapAnswer<N>& a) {
  Section s{"repair", "Order of repair", {}};
  Table table{"order",
              "",
              {{"order", ""},
               {"repair", "what"},
               {"excess", "above"},
               {"points", "of the gap"},
               {"time", "of the run"},
               {"money", "worth"},
               {"items", "items"}},
              {}};
  Notes look{"look_at", {}};
  const auto row = [&](Cell order, std::string name, const RepairCost<N>& c, std::string items) {
    const bool timed = c.known && a.worth.timed;
    table.rows.push_back({std::move(order), std::move(name), c.known ? Cell(step_value(c.excess)) : Cell{},
                          c.known ? Cell(points_value(value_of(c.points))) : Cell{},
                          timed ? Cell(Value{value_of(c.time), Unit::Days}) : Cell{},
                          timed && a.worth.priced() ? Cell(Value{value_of(c.money), Unit::Usd}) : Cell{},
                          std::move(items)});
  };
  for (std::size_t k = 0; k < kRepairs.size(); ++k) {
    const std::string name(name_of(kRepairs[k]));
    row(Value{static_cast<double>(k + 1), Unit::Count}, name, a.repair[k], items_text(kRepairs[k], a.cost));
    look.sentences.push_back({name + ": " + look_at(kRepairs[k])});
  }
  if (!a.cost.all_measured())
    row(Cell{}, "not measured", a.repair.back(), "the other items and the residual: trace one step");
  else if (value_of(a.cost.unknown) > 0)
    row(Cell{}, "not explained", a.repair.back(), "the residual: no item explains it");
  s.blocks.push_back(std::move(table));
  if (a.worth.timed) s.blocks.push_back(Notes{"run_note", {run_note(a.worth)}});
  s.blocks.push_back(std::move(look));
  return s;
}

}  // namespace detail

/// `ledger`: of the answer, must outlive the report. detailed: every figure with its formula.
template <class N>
Report gap_report(const Trial& t, const GapSpec& gap, const GapAnswer<N>& a, const Ledger& ledger,
                  const std::vector<Anchor>& anchors, const std::vector<Issue>& issues, bool detailed) {
  const std::string_view convention = name_of(t.problem.recipe.convention);
  Report r{"gap",
           "Gap of " + t.problem.model().name + " on " + t.problem.cluster().name,
           Verdict::None,
           detail::gap_headline(a.cost, convention),
           {}};
  r.sections.push_back(detail::gap_step_section(t, gap, a.cost, utilisation_band(anchors)));
  Table warnings = warning_table(false);
  add_warnings(warnings, issues);
  add_warning_section(r, std::move(warnings));
  r.sections.push_back(detail::gap_item_section(a.cost));
  r.sections.push_back(detail::gap_repair_section(a));
  r.sections.push_back(detail::gap_range_section(a, t.plan));
  r.sections.push_back(worth_section(t.problem, ledger, "the planned step", "token budget / goodput"));
  if (detailed) r.sections.push_back(formula_section(ledger, {"gap.", "cost."}));
  return r;
}

}  // namespace trainplan
