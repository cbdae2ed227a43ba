/// A row of `sweep`: what one combination was asked with, and its plan in numbers or why there is none.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainplan/derive/trial.hpp"
#include "trainplan/report/gates.hpp"
#include "trainplan/report/rows.hpp"
#include "trainplan/report/search_report.hpp"
#include "trainplan/spec/issue.hpp"

namespace trainplan {

/// A column that is read off the plan of a row.
struct PlanColumn {
  std::string_view key, label;
  Unit unit;
  Cell (*of)(const Trial&);
};

namespace detail {

template <class Int>
Cell whole_cell(Int n) {
  return Value{static_cast<double>(n), Unit::Whole};
}

/// What is left out where the run never finishes.
inline Cell of_finished(const Trial& t, double number, Unit unit) {
  return finishes(t.cost) ? Cell{Value{number, unit}} : Cell{};
}

}  // namespace detail

inline constexpr PlanColumn kPlanColumns[] = {
    {"gpus", "GPUs", Unit::Whole,
     [](const Trial& t) { return detail::whole_cell(t.problem.cluster().gpus()); }},
    {"tp", "TP", Unit::Whole, [](const Trial& t) { return detail::whole_cell(t.plan.tp); }},
    {"pp", "PP", Unit::Whole, [](const Trial& t) { return detail::whole_cell(t.plan.pp); }},
    {"vpp", "v", Unit::Whole, [](const Trial& t) { return detail::whole_cell(t.plan.vpp); }},
    {"cp", "CP", Unit::Whole, [](const Trial& t) { return detail::whole_cell(t.plan.cp); }},
    {"dp", "DP", Unit::Whole, [](const Trial& t) { return detail::whole_cell(t.plan.dp); }},
    {"ep", "EP", Unit::Whole, [](const Trial& t) { return detail::whole_cell(t.plan.ep); }},
    {"etp", "ETP", Unit::Whole, [](const Trial& t) { return detail::whole_cell(t.plan.etp); }},
    {"micro_batch", "micro-batch", Unit::Whole,
     [](const Trial& t) { return detail::whole_cell(t.plan.micro_batch); }},
    {"sharding", "sharding", Unit::Count,
     [](const Trial& t) { return Cell{std::string(name_of(t.plan.sharding))}; }},
    {"pipeline", "pipeline", Unit::Count, [](const Trial& t) { return Cell{detail::pipeline_text(t)}; }},
    {"recompute", "recompute", Unit::Count,
     [](const Trial& t) { return Cell{std::string(name_of(t.plan.recompute))}; }},
    {"recompute_layers", "recomputed layers", Unit::Whole,
     [](const Trial& t) { return detail::whole_cell(layers_again(t)); }},
    {"step", "step", Unit::StepTime,
     [](const Trial& t) { return detail::cell(t.cost.step.step, Unit::StepTime); }},
    {"step_low", "low", Unit::StepTime,
     [](const Trial& t) { return detail::cell(t.cost.range.time_low, Unit::StepTime); }},
    {"step_high", "high", Unit::StepTime,
     [](const Trial& t) { return detail::cell(t.cost.range.time_high, Unit::StepTime); }},
    {"step_confidence", "of runs", Unit::Share,
     [](const Trial& t) {
       return Cell{Value{confidence_of(t.problem), Unit::Share}};
     }},
    {"mfu_causal", "MFU, causal", Unit::Share,
     [](const Trial& t) { return detail::cell(t.cost.step.mfu, Unit::Share); }},
    {"tokens_per_second", "rate, cluster", Unit::TokenRate,
     [](const Trial& t) { return detail::cell(t.cost.step.rate, Unit::TokenRate); }},
    {"device", "device, a GPU", Unit::Memory,
     [](const Trial& t) {
       return Cell{Value{t.device(), Unit::Memory}};
     }},
    {"gate", "gate, a GPU", Unit::Memory,
     [](const Trial& t) {
       return Cell{Value{t.gate(), Unit::Memory}};
     }},
};

/// Of runs with a token budget.
inline constexpr PlanColumn kRunColumns[] = {
    {"run", "days", Unit::Days,
     [](const Trial& t) { return detail::of_finished(t, t.cost.money.run_time.num(), Unit::Days); }},
    {"run_gpu_seconds", "GPU-hours", Unit::GpuTime,
     [](const Trial& t) { return detail::of_finished(t, t.cost.money.run_gpu_time.num(), Unit::GpuTime); }},
    {"run_usd", "cost", Unit::Usd,
     [](const Trial& t) {
       const bool priced = t.problem.cluster().price.known;
       return priced ? detail::of_finished(t, t.cost.money.run.num(), Unit::Usd) : Cell{};
     }},
};

/// The columns of all rows: what is asked, the verdict, the plan (but for what is asked), and what is wrong.
class SweepTable {
  std::vector<RowColumn> asked_;
  std::vector<const PlanColumn*> plan_;

  static std::string words(const std::vector<std::string>& all, const char* between) {
    std::string out;
    for (const std::string& word : all) out.append(out.empty() ? "" : between).append(word);
    return out;
  }

  static std::string sentence(const Issue& i) {
    const std::string place = i.file + (i.file.empty() || i.pointer.empty() ? "" : " ") + i.pointer;
    return place + (i.got.empty() ? "" : " = " + i.got) + " must " + i.must +
           (i.hint.empty() ? "" : " (" + i.hint + ")");
  }

  static std::vector<std::string> rules_of(const Issues& issues, Severity level) {
    std::vector<std::string> out;
    for (const Issue& i : issues.all())
      if (i.level == level) out.push_back(i.rule);
    return out;
  }

  /// The cells of a row; verdict, rules and reason by the caller.
  std::vector<Cell> row(std::vector<Cell> cells, std::string verdict, const Trial* t, const Issues& issues,
                        const std::string& rules, const std::string& reason) const {
    const auto optional = [](std::string text) { return text.empty() ? Cell{} : Cell{std::move(text)}; };
    cells.emplace_back(std::move(verdict));
    for (const PlanColumn* c : plan_) cells.push_back(t == nullptr ? Cell{} : c->of(*t));
    cells.push_back(optional(words(rules_of(issues, Severity::Warning), " ")));
    cells.push_back(optional(rules));
    cells.push_back(optional(reason));
    return cells;
  }

 public:
  /// budget: some run has a number of tokens to train on.
  SweepTable(std::vector<RowColumn> asked, bool budget) : asked_(std::move(asked)) {
    const auto take = [&](const PlanColumn& c) {
      if (std::ranges::none_of(asked_, [&](const RowColumn& a) { return a.key == c.key; }))
        plan_.push_back(&c);
    };
    for (const PlanColumn& c : kPlanColumns) take(c);
    if (!budget) return;
    for (const PlanColumn& c : kRunColumns) take(c);
  }

  std::vector<RowColumn> columns() const {
    std::vector<RowColumn> out = asked_;
    out.push_back({{"verdict", "verdict"}});
    for (const PlanColumn* c : plan_) out.push_back({{std::string(c->key), std::string(c->label)}, c->unit});
    out.push_back({{"warnings", "warnings"}});
    out.push_back({{"rules", "rules"}});
    out.push_back({{"reason", "reason"}});
    return out;
  }

  /// The verdict of a plan: one that fits and breaks a limit has failed.
  static Verdict verdict(const Trial& t, const std::vector<Gate>& gates) {
    if (t.verdict() == Verdict::DoesNotFit) return Verdict::DoesNotFit;
    return std::ranges::all_of(gates, &Gate::holds) ? t.verdict() : Verdict::Failed;
  }

  /// A row with a plan; of the issues the warnings are shown.
  std::vector<Cell> planned(std::vector<Cell> asked, const Trial& t, const std::vector<Gate>& gates,
                            const Issues& issues) const {
    std::vector<std::string> broken, reasons;
    for (const Gate& g : gates) {
      if (g.holds()) continue;
      broken.push_back(g.name);
      reasons.push_back(g.id + (g.floor ? " is below the limit" : " exceeds the limit"));
    }
    if (!finishes(t.cost)) {
      broken.emplace_back("never-finishes");
      reasons.emplace_back("it fails faster than it saves and recovers");
    }
    return row(std::move(asked), verdict_text(verdict(t, gates)), &t, issues, words(broken, " "),
               words(reasons, "; "));
  }

  /// A row without one: the rules that are broken, and how.
  std::vector<Cell> illegal(std::vector<Cell> asked, const Issues& issues) const {
    std::vector<std::string> reasons;
    for (const Issue& i : issues.all())
      if (i.level == Severity::Error) reasons.push_back(sentence(i));
    return row(std::move(asked), "illegal", nullptr, issues, words(rules_of(issues, Severity::Error), " "),
               words(reasons, "; "));
  }
};

}  // namespace trainplan
