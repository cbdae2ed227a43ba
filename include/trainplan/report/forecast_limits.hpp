/// Deadline and budget: whether they hold, and what would make them hold.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "trainplan/report/forecast_nodes.hpp"

namespace trainplan {

/// Nothing where no number does it.
struct DeadlineAnswer {
  double limit = 0, budget_step = 0, cap = 0, margin = 0, left = 0;
  std::optional<double> efficiency;
  NodesAnswer nodes;
  double efficiency_now = 0;
  bool holds = false;
};

struct BudgetAnswer {
  double limit = 0, left = 0, tokens = 0;
  std::optional<double> params;  // of a dense model, with a token budget
  bool holds = false;
};

/// Of a run that finishes, with a token budget. `replan`: of the run on other numbers of nodes.
inline DeadlineAnswer deadline_answer(const PlannedRun& p, const ScenarioRun& s, double deadline,
                                      const Replan& replan = {}) {
  const LongRun<double>& run = *s.run;
  const Seconds<> time{deadline - s.figures.planned_stop.value};
  DeadlineAnswer out;
  out.limit = deadline;
  out.budget_step = step_cap(time, run.steps, Count<>{0}).num();
  const Seconds<> cap = step_cap(time, run.steps, run.overhead);
  out.cap = cap.num();
  out.margin = time_saved(cap, run.step).num();
  out.left = time_saved(Seconds<>{deadline}, run.calendar).num();
  out.holds = out.left >= 0;
  out.efficiency_now = run.efficiency.num();
  if (cap > run.rest) {
    const double needed = efficiency_needed(run.efficiency, run.compute, cap - run.rest).num();
    if (needed <= 1) out.efficiency = needed;
  }
  out.nodes = nodes_for(p, s.figures, deadline, replan);
  return out;
}

/// Of a run that finishes, with a price.
inline BudgetAnswer budget_answer(const PlannedRun& p, const ScenarioRun& s, double budget) {
  const LongRun<double>& run = *s.run;
  const UsdPerSec<> price{s.figures.price.value};
  BudgetAnswer out;
  out.limit = budget;
  out.left = budget - run.money.num();
  out.holds = out.left >= 0;
  const Seconds<> time =
      positive(time_of_money(Usd<>{budget}, run.held, price) - Seconds<>{s.figures.planned_stop.value});
  out.tokens = tokens_in_time(time, run.step, run.overhead, Tokens<>{p.tokens_per_step}).num();
  if (!p.tokens || !p.peak.known) return out;
  const Flops<> flops = time * (run.mfu / (run.overhead + 1.0)) * (run.gpus * FlopsPerSec<>{p.peak.value});
  out.params = params_for_flops(flops, Tokens<>{*p.tokens}).num();
  return out;
}

/// Intervals of a run whose failure rate is not known: each loses least from one time between failures to
/// another.
struct BreakEvenRow {
  double interval = 0, from = 0, to = 0;  // of the job; to 0: without end
  std::optional<double> deadline_from;    // of the job; nothing where it never holds
};

/// Sorted intervals. `work` and `f` must know the time of a save.
inline std::vector<BreakEvenRow> break_even_rows(const PlannedRun& p, const RunFigures& f,
                                                 const RunWork<double>& work, std::vector<double> intervals,
                                                 std::optional<double> deadline) {
  std::sort(intervals.begin(), intervals.end());
  intervals.erase(std::unique(intervals.begin(), intervals.end()), intervals.end());
  std::vector<BreakEvenRow> out;
  const auto tie = [&](double a, double b) {
    return break_even_mtbf(work.stop, Seconds<>{a}, Seconds<>{b}).num();
  };
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    BreakEvenRow row{.interval = intervals[i],
                     .from = i == 0 ? 0 : tie(intervals[i - 1], intervals[i]),
                     .to = i + 1 == intervals.size() ? 0 : tie(intervals[i], intervals[i + 1]),
                     .deadline_from = {}};
    if (deadline && p.tokens && f.can_recover()) {
      const Count<> g = work.steps * work.step / Seconds<>{*deadline - f.planned_stop.value};
      const Seconds<> tau{row.interval};
      if ((g * (work.stop / tau + 1.0)).num() < 1)
        row.deadline_from =
            mtbf_for_goodput(work.stop, tau,
                             Seconds<>{f.detect.value + f.restart.value + f.load.value} + work.lag, g)
                .num();
    }
    out.push_back(row);
  }
  return out;
}

}  // namespace trainplan
