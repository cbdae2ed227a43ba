/// Deadline and budget: whether they hold, and what would make them hold.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "trainplan/cost/scaling.hpp"
#include "trainplan/report/forecast_nodes.hpp"

namespace trainplan {

/// Nothing where no number does it. worst: calendar time at the worse end of the step, with a confidence;
/// it is what must hold then.
struct DeadlineAnswer {
  double limit = 0, budget_step = 0, cap = 0, margin = 0, left = 0;
  std::optional<double> efficiency, worst;
  NodesAnswer nodes;
  bool holds = false;
};

/// worst: money at the worse end of the step, with a confidence.
struct BudgetAnswer {
  double limit = 0, left = 0, tokens = 0;
  std::optional<double> params, worst;  // params: of a dense model, with a token budget
  bool holds = false;
};

namespace detail {

/// The end of what holds from `low` on, where `high` is beyond it.
template <class F>
double last_that_holds(double low, double high, const F& holds) {
  constexpr double kClose = 1e-14;
  while (high - low > kClose * high) {
    const double middle = (low + high) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}
/// The same where nothing says how far it may go.
template <class F>
double last_that_holds(double low, const F& holds) {
  double high = 2 * low;
  for (; holds(high); high *= 2) low = high;
  return last_that_holds(low, high, holds);
}

/// Calendar time with a step of that length, whatever it is made of.
inline double calendar_at_step(PlannedRun p, RunFigures f, double step) {
  p.step = step;
  f.efficiency = f.straggler_wait = {};
  f.input_wait.value = 0;
  return calendar_of(p, f);
}

/// The least efficiency that keeps the deadline; nothing where not even 1 does. What spikes cost goes with
/// the step, so that no formula gives it.
inline std::optional<double> efficiency_for(const PlannedRun& p, const RunFigures& f, double deadline) {
  const auto holds = [&](double times) {  // one over the efficiency
    PlannedRun plan = p;
    RunFigures figures = f;
    set_efficiency(plan, figures, 1 / times);
    return calendar_of(plan, figures) <= deadline;
  };
  if (!holds(1)) return std::nullopt;
  return 1 / last_that_holds(1, holds);
}

/// The most frequent failures of the job that keep the deadline at that interval, as the time between them;
/// nothing where it does not hold without failures. Spikes, spares and all else count.
inline std::optional<double> mtbf_for_deadline(const PlannedRun& p, RunFigures f, double interval,
                                               double deadline) {
  constexpr double kSeldom = 1e-18;  // failures a second
  f.interval = Figure{.value = interval, .origin = "trial", .known = true};
  const auto holds = [&](double rate) {
    f.gpu_mtbf = Figure{.value = p.gpus() / rate, .origin = "trial", .known = true};
    return calendar_of(p, f) <= deadline;
  };
  if (!holds(kSeldom)) return std::nullopt;
  return 1 / last_that_holds(kSeldom, holds);
}

}  // namespace detail

/// Of a run that finishes, with a token budget. `replan`: of the run on other numbers of nodes.
inline DeadlineAnswer deadline_answer(const PlannedRun& p, const ScenarioRun& s, double deadline,
                                      const Replan& replan = {}) {
  const LongRun<double>& run = *s.run;
  const Seconds<> time{deadline - s.figures.planned_stop.value};
  DeadlineAnswer out;
  out.limit = deadline;
  out.budget_step = step_cap(time, run.steps, Count<>{0}).num();
  out.cap = detail::last_that_holds(0, out.budget_step, [&](double step) {
    return detail::calendar_at_step(p, s.figures, step) <= deadline;
  });
  out.margin = time_saved(Seconds<>{out.cap}, run.step).num();
  out.left = time_saved(Seconds<>{deadline}, run.calendar).num();
  out.holds = out.left >= 0;
  out.efficiency = detail::efficiency_for(p, s.figures, deadline);
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
  if (!p.tokens) return out;
  // Of 6 N D alone: attention, which the MFU of the plan counts, holds no parameters.
  const Flops<> of_step = dense_flops(Params<>{p.params}, Tokens<>{p.tokens_per_step});
  const Flops<> flops = of_step * (time / (run.step * (run.overhead + 1.0)));
  out.params = params_for_flops(flops, Tokens<>{*p.tokens}).num();
  return out;
}

/// Intervals of a run whose failure rate is not known: each loses least from one time between failures to
/// another.
struct BreakEvenRow {
  double interval = 0, from = 0, to = 0;  // of the job; to 0: without end
  std::optional<double> deadline_from;    // of the job; nothing where it never holds
};

/// Sorted intervals, those that win at some rate. `work` and `f` must know the time of a save.
inline std::vector<BreakEvenRow> break_even_rows(const PlannedRun& p, const RunFigures& f,
                                                 const RunWork<double>& work, std::vector<double> intervals,
                                                 std::optional<double> deadline) {
  std::sort(intervals.begin(), intervals.end());
  intervals.erase(std::unique(intervals.begin(), intervals.end()), intervals.end());
  std::vector<BreakEvenRow> out;
  // Spikes roll back too: beside them failures must be rarer, and a tie may lie beyond their rate.
  const auto tie = [&](double a, double b) {
    const Seconds<> joint = break_even_mtbf(work.stop, Seconds<>{a}, Seconds<>{b});
    if (!f.spike_every.known) return joint.num();
    const Seconds<> spikes{f.spike_every.value};
    return joint < spikes ? other_mtbf(joint, spikes).num() : std::numeric_limits<double>::infinity();
  };
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    BreakEvenRow row{.interval = intervals[i],
                     .from = i == 0 ? 0 : tie(intervals[i - 1], intervals[i]),
                     .to = i + 1 == intervals.size() ? 0 : tie(intervals[i], intervals[i + 1]),
                     .deadline_from = {}};
    if (!std::isfinite(row.from)) break;
    if (!std::isfinite(row.to)) row.to = 0;
    if (deadline && p.tokens && f.can_recover())
      row.deadline_from = detail::mtbf_for_deadline(p, f, row.interval, *deadline);
    out.push_back(row);
  }
  return out;
}

}  // namespace trainplan
