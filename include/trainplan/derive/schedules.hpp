/// The schedules of a framework at the degrees of a plan: ranked by what no order can beat, then put on the
/// clock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/derive/derivation.hpp"
#include "trainplan/derive/trial.hpp"

namespace trainplan {

namespace detail {

class ScheduleFinder {
  const Trial& at_;
  ScheduleTrials out_{};

  /// The plan with another schedule, all else as it is; false when that breaks a rule.
  bool add(Schedule s, std::int64_t v, bool keep_refused) {
    Plan plan = at_.plan;
    plan.schedule = s;
    plan.vpp = static_cast<std::uint16_t>(v);
    ScheduleTrial row{.schedule = s, .vpp = v};
    if (const Rule* rule = first_broken(at_.problem, plan)) {
      if (!keep_refused) return false;
      row.refusal = std::string(rule->field) + " must " + std::string(rule->sentence(at_.problem.profile())) +
                    " (" + rule->numbers(at_.problem, plan) + ")";
      out_.rows.push_back(std::move(row));
      return false;
    }
    row.trial = Trial{at_.problem, plan, evaluate(at_.problem, plan)};
    row.least = least_step(*row.trial);
    row.step = row.trial->cost.step.step.num();
    out_.rows.push_back(std::move(row));
    return true;
  }

  static double least_step(const Trial& t) {
    PipelineRun run;
    run.time = least_pipeline_time(pipeline_passes(t.problem, t.plan), t.plan.schedule,
                                   micro_batches(t.problem, t.plan));
    return simulated_step(t.problem, t.cost, run);
  }

  void add_all() {
    const std::int64_t slots = layer_slots(at_.problem.model().layers, at_.plan.layout) / at_.plan.pp;
    for (std::size_t i = 0; i < kScheduleCount; ++i) {
      const auto s = static_cast<Schedule>(i);
      if (!at_.problem.profile().offers(s)) continue;
      if (!is_loop(s)) {
        add(s, is_vee(s) ? 2 : 1, true);
        continue;
      }
      bool any = false;
      for (std::int64_t v = 2; v <= slots; ++v) any = add(s, v, false) || any;
      if (!any) add(s, 2, true);
    }
  }

  static std::pair<Verdict, double> rank(const ScheduleTrial& row) {
    return {row.trial->verdict(), row.step};
  }

 public:
  explicit ScheduleFinder(const Trial& at) : at_(at) {}

  /// A row whose bound is no better than the best step so far needs no timeline: the answer is that of
  /// simulating all.
  ScheduleTrials find() {
    add_all();
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < out_.rows.size(); ++i)
      if (out_.rows[i].trial) order.push_back(i);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
      return std::pair(out_.rows[i].trial->verdict(), out_.rows[i].least);
    });
    out_.best = out_.rows.size();
    for (const std::size_t i : order) {
      ScheduleTrial& row = out_.rows[i];
      const bool none = out_.best == out_.rows.size();
      if (!none && std::pair(row.trial->verdict(), row.least) >= rank(out_.rows[out_.best])) continue;
      row.run = simulate_plan(row.trial->problem, row.trial->plan);
      if (row.run) {
        ++out_.simulated;
        row.step = simulated_step(row.trial->problem, row.trial->cost, *row.run);
      }
      if (none || rank(row) < rank(out_.rows[out_.best])) out_.best = i;
    }
    return std::move(out_);
  }
};

/// "interleaved, v 4".
inline std::string schedule_text(Schedule s, std::int64_t vpp) {
  return std::string(name_of(s)) + (is_loop(s) ? ", v " + num(vpp) : "");
}

}  // namespace detail

inline ScheduleTrials schedule_trials(const Trial& at) { return detail::ScheduleFinder(at).find(); }

/// Puts the fastest schedule in place of the derived one, and says why.
inline void choose_any_schedule(Derivation& d) {
  using detail::num;
  if (d.chosen.plan.pp == 1) return;
  d.schedules = schedule_trials(d.chosen);
  const ScheduleTrials& all = *d.schedules;
  if (all.best == all.rows.size()) return;
  const ScheduleTrial& best = all.rows[all.best];
  const Plan before = d.chosen.plan;
  Decision schedule{"schedule", detail::schedule_text(best.schedule, best.vpp), {}};
  const auto legal =
      std::ranges::count_if(all.rows, [](const ScheduleTrial& r) { return r.trial.has_value(); });
  schedule.reasons.push_back({"any: " + num(legal) +
                                  " legal at these degrees, ranked by what no order can "
                                  "beat, " +
                                  num(static_cast<std::int64_t>(all.simulated)) +
                                  " put on the clock; of those that fit best the fastest, ",
                              Value{best.step, Unit::StepTime}});
  for (const ScheduleTrial& row : all.rows)
    if (row.trial && row.trial->plan == before && &row != &best)
      schedule.reasons.push_back({"otherwise " + detail::schedule_text(row.schedule, row.vpp) + ": ",
                                  Value{row.step, Unit::StepTime}, row.run ? "" : " in closed form"});
  for (const ScheduleTrial& row : all.rows)
    if (!row.trial) schedule.reasons.push_back({std::string(name_of(row.schedule)) + ": " + row.refusal});
  d.chosen = *best.trial;
  d.decisions.push_back(std::move(schedule));
}

}  // namespace trainplan
