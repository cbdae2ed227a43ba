/// What to fix first: each lever alone and all of them one after the other, the most time first.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/report/forecast_answer.hpp"

namespace trainplan {

namespace detail {

/// A change of what a run starts from.
struct Lever {
  std::string id, title;
  Value from, to;
  std::function<void(PlannedRun&, RunFigures&)> pull;
};

/// The same time of a run after a change: more goodput and a shorter step give time back.
struct Pulled {
  double goodput = 0, time = 0, money = 0;
};

inline Pulled pulled(const LongRun<double>& base, const RunFigures& f0, const PlannedRun& p,
                     const RunFigures& f) {
  const LongRun<double> run = evaluate_run(p, f);
  Pulled out{run.goodput.num(), 0, 0};
  if (!base.finishes || !run.finishes) return out;
  // Progress of a second is the goodput over the step.
  out.time = time_regained(base.run, base.goodput, run.goodput * (base.step / run.step)).num();
  if (!f.price.known) return out;
  const UsdPerSec<> price{f.price.value};
  const Seconds<> stops{f0.planned_stop.value};
  out.money = (base.money - cost_of_time(stops + base.run - Seconds<>{out.time}, run.held, price)).num();
  return out;
}

/// A point more of what the plan's compute reaches.
inline void pull_point(PlannedRun& p, RunFigures& f) {
  constexpr double kPoint = 0.01;
  set_efficiency(p, f, std::min(1.0, (f.efficiency.known ? f.efficiency.value : p.mfu) + kPoint));
}

inline void add_time_lever(std::vector<Lever>& out, std::string id, std::string title,
                           Figure RunFigures::*member, const Figure& now, const ForecastSpec::Said& target) {
  if (!target || !target->known || target->value >= now.value) return;
  out.push_back({std::move(id), std::move(title), Value{now.value, Unit::Time},
                 Value{target->value, Unit::Time},
                 [member, to = *target](PlannedRun&, RunFigures& f) { f.*member = to; }});
}

inline std::vector<Lever> levers_of(const ScenarioRun& s, const Scenario& target) {
  std::vector<Lever> out;
  const RunFigures& f = s.figures;
  const LongRun<double>& run = *s.run;
  const Figure stop{.value = run.stop.num(), .known = true};
  Figure RunFigures::*save = f.saving == Saving::Async ? &RunFigures::copy_time : &RunFigures::save_time;
  add_time_lever(out, "delta", "time that one save stops training", save, stop, target.save_time);
  if (f.one_recovery) {
    if (target.detect && target.restart && target.load) {
      const Figure all{.value = target.detect->value + target.restart->value + target.load->value,
                       .known = true};
      add_time_lever(out, "recovery", "whole recovery", &RunFigures::restart, f.restart, all);
    }
  } else {
    add_time_lever(out, "T_d", "time to notice a failure", &RunFigures::detect, f.detect, target.detect);
    add_time_lever(out, "T_r", "time to restart", &RunFigures::restart, f.restart, target.restart);
    add_time_lever(out, "T_l", "time to load a checkpoint", &RunFigures::load, f.load, target.load);
  }
  const double reached = run.efficiency.num();
  if (reached < 1)
    out.push_back({"mfu_point", "one MFU point more", Value{reached, Unit::Share},
                   Value{std::min(1.0, reached + 0.01), Unit::Share}, pull_point});
  if (f.repair.known)
    out.push_back({"spare", "spare nodes", Value{f.spares.value, Unit::Count},
                   Value{f.spares.value + 1, Unit::Count},
                   [](PlannedRun&, RunFigures& x) { x.spares.value += 1; }});
  return out;
}

}  // namespace detail

/// Sorted by the time that each gives back alone; of a run that never finishes by its goodput. A spare node
/// that costs more than it gives back goes to `costly` in place of a row.
inline std::vector<LeverRow> lever_rows(const PlannedRun& p, const ScenarioRun& s, const Scenario& target,
                                        std::optional<LeverRow>& costly) {
  const LongRun<double>& base = *s.run;
  std::vector<std::pair<LeverRow, detail::Lever>> rows;
  for (detail::Lever& lever : detail::levers_of(s, target)) {
    PlannedRun plan = p;
    RunFigures f = s.figures;
    lever.pull(plan, f);
    const detail::Pulled alone = detail::pulled(base, s.figures, plan, f);
    LeverRow row{lever.id,   lever.title, lever.from, lever.to, alone.goodput - base.goodput.num(),
                 alone.time, alone.money};
    if (alone.money < 0)
      costly = std::move(row);
    else
      rows.emplace_back(std::move(row), std::move(lever));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.time, a.first.points) > std::pair(b.first.time, b.first.points);
  });
  PlannedRun plan = p;
  RunFigures f = s.figures;
  std::vector<LeverRow> out;
  for (auto& [row, lever] : rows) {
    lever.pull(plan, f);
    const detail::Pulled all = detail::pulled(base, s.figures, plan, f);
    row.all_goodput = all.goodput;
    row.all_time = all.time;
    row.all_money = all.money;
    out.push_back(std::move(row));
  }
  return out;
}

/// `target`: what levers are moved to where they are behind it. The figures must have passed the rules.
inline ForecastAnswer answer_forecast(const PlannedRun& plan, const ForecastSpec& spec,
                                      const std::vector<Scenario>& scenarios, const Scenario& target,
                                      const ClusterSpec& cluster) {
  ForecastAnswer out;
  out.plan = plan;
  for (const Scenario& s : scenarios) out.scenarios.push_back(detail::scenario_run(plan, spec, &s, cluster));
  if (scenarios.empty()) out.scenarios.push_back(detail::scenario_run(plan, spec, nullptr, cluster));
  const ScenarioRun& first = out.first();
  out.alarms = detail::alarm_rows(plan, first, spec.detect);
  if (!first.run) return out;
  out.intervals = detail::interval_rows(plan, first);
  out.flat = detail::flat_bands(first);
  out.savings = detail::saving_rows(plan, first.figures);
  out.levers = lever_rows(plan, first, target, out.costly_spare);
  out.lever_target = target.name;
  out.changes = detail::interval_changes(plan, first, spec.interval);
  return out;
}

}  // namespace trainplan
