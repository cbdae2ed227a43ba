/// A forecast without a failure rate: what is certain, and at which rate each interval wins.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/report/forecast_alarms.hpp"
#include "trainplan/report/forecast_limits.hpp"
#include "trainplan/report/forecast_scenarios.hpp"
#include "trainplan/report/forecast_sections.hpp"
#include "trainplan/report/gates.hpp"
#include "trainplan/report/warning_section.hpp"
#include "trainplan/report/worth_section.hpp"

namespace trainplan {

/// Calendar time without a failure and without a save, with a token budget, and what it costs, where a price
/// is known.
struct LeastRun {
  std::optional<double> time, money;
};
inline LeastRun least_run(const ForecastAnswer& a) {
  const RunFigures& figures = a.first().figures;
  const RunWork<double>& work = a.first().work;
  LeastRun out;
  if (!a.plan.tokens) return out;
  const Seconds<> time =
      finish_time(Seconds<>{figures.planned_stop.value}, work.steps, work.step, Count<>{0});
  out.time = time.num();
  if (figures.price.known) out.money = cost_of_time(time, work.held, UsdPerSec<>{figures.price.value}).num();
  return out;
}

/// What is known without a failure rate.
struct UnknownRun {
  RunWork<double> work;
  std::vector<BreakEvenRow> rows;
  LeastRun least;
  std::optional<double> deadline, budget;
  std::string missing;  // what a goodput lacks
};

namespace detail {

/// Intervals that are usual, where none were named.
inline std::vector<double> usual_intervals(const RunWork<double>& work) {
  std::vector<double> out;
  for (const double minutes : {5., 15., 30., 60., 120., 240., 480.})
    if (60 * minutes >= least_interval(work).num()) out.push_back(60 * minutes);
  return out;
}

inline std::string missing_figures(const RunFigures& f) {
  std::string out;
  const auto need = [&](bool known, const char* name) {
    if (!known) out.append(out.empty() ? "" : ", ").append(name);
  };
  need(f.gpu_mtbf.known, "gpu_mtbf");
  need(f.detect.known, "detect");
  need(f.restart.known, "restart");
  need(f.load.known, "load");
  need(f.can_save(), "save_time or save_bandwidth");
  return out;
}

/// What is known of saving and recovering.
inline Section known_section(const ForecastAnswer& a) {
  const RunFigures& f = a.first().figures;
  Section s{"goodput", "Saving and failing", {}};
  Facts out{"", {}};
  add_saving(out, a.first());
  out.add("gpu_mtbf", "time between failures of a GPU",
          f.gpu_mtbf.known ? Cell(time_value(f.gpu_mtbf.value)) : Cell(std::string("unknown")),
          f.gpu_mtbf.origin);
  add_recovery(out, f);
  if (f.repair.known)
    out.add("repair", "time to repair a node", time_value(f.repair.value),
            "the wait for it goes with the failure rate: it is in what a deadline needs");
  if (f.spike_every.known)
    out.add("spike_every", "time between loss spikes", time_value(f.spike_every.value),
            "in the rates below, which are those of failures alone");
  s.blocks.push_back(std::move(out));
  return s;
}

inline Section break_even_section(const ForecastAnswer& a, const UnknownRun& u) {
  Section s{"break_even", "Which interval wins", {}};
  Table table{"intervals",
              "time between failures from which and up to which an interval loses least, first order",
              {{"interval", "interval"},
               {"steps", "steps"},
               {"from", "job, from"},
               {"to", "to"},
               {"gpu_from", "one GPU, from"},
               {"gpu_to", "to"},
               {"deadline_from", "deadline holds, job, from"}},
              {}};
  const double gpus = a.plan.gpus();
  const auto end = [](double v) { return v > 0 ? Cell(time_value(v)) : Cell(std::string("no end")); };
  for (const BreakEvenRow& r : u.rows)
    table.rows.push_back({time_value(r.interval),
                          Value{std::round(r.interval / u.work.step.num()), Unit::Whole}, time_value(r.from),
                          end(r.to), time_value(gpu_mtbf(Seconds<>{r.from}, u.work.gpus).num()),
                          end(r.to * gpus),
                          r.deadline_from ? Cell(time_value(*r.deadline_from))
                          : u.deadline    ? Cell(std::string("never"))
                                          : Cell{}});
  s.blocks.push_back(std::move(table));
  return s;
}

}  // namespace detail

inline UnknownRun unknown_run(const ForecastAnswer& a, const ForecastSpec& spec) {
  UnknownRun out;
  const RunFigures& f = a.first().figures;
  out.work = a.first().work;
  out.missing = detail::missing_figures(f);
  if (spec.deadline) out.deadline = spec.deadline->value;
  if (spec.budget) out.budget = spec.budget->value;
  out.least = least_run(a);
  if (!f.can_save() || out.work.stop.num() <= 0) return out;
  std::vector<double> intervals;
  for (const Figure& i : spec.interval) intervals.push_back(i.value);
  if (intervals.size() < 2) {
    const auto usual = detail::usual_intervals(out.work);
    intervals.insert(intervals.end(), usual.begin(), usual.end());
  }
  out.rows = break_even_rows(a.plan, f, out.work, std::move(intervals), out.deadline);
  return out;
}

/// Fails only when the deadline or the budget is broken without a single failure, with a confidence at the
/// worse end of the step, or one of the gates, which need no failure rate.
inline Report unknown_forecast_report(const Trial& t, const ForecastAnswer& a, const UnknownRun& u,
                                      const std::vector<Gate>& gates, const std::vector<Issue>& issues) {
  const LeastRun worst = least_run(at_worse_end(t, a));
  const bool late = worst.time && u.deadline && *worst.time > *u.deadline;
  const bool dear = worst.money && u.budget && *worst.money > *u.budget;
  Report r{"forecast",
           "Forecast of " + t.problem.model().name + " on " + t.problem.cluster().name,
           t.verdict() == Verdict::DoesNotFit ? Verdict::DoesNotFit
           : late || dear || !all_hold(gates) ? Verdict::Failed
                                              : Verdict::None,
           {"no goodput without " + u.missing},
           {}};
  if (u.least.time) {
    r.headline.push_back("; at least ");
    r.headline.push_back(detail::days_value(*u.least.time));
    if (u.least.money) {
      r.headline.push_back(" and ");
      r.headline.push_back(Value{*u.least.money, Unit::Usd});
    }
    r.headline.push_back(" without a failure or a save");
  }
  Section inputs{"inputs", "Inputs", {}};
  inputs.blocks.push_back(model_and_cluster(t.problem));
  r.sections.push_back(std::move(inputs));
  Table warnings = warning_table(false);
  add_warnings(warnings, issues);
  add_warning_section(r, std::move(warnings));
  r.sections.push_back(detail::forecast_step_section(t, a, u.work));
  if (!gates.empty()) r.sections.push_back(limit_section(gates, t.cost.stage));
  r.sections.push_back(detail::known_section(a));
  if (a.scenarios.size() > 1) r.sections.push_back(detail::scenario_section(a));
  if (!u.rows.empty()) r.sections.push_back(detail::break_even_section(a, u));
  if (!a.alarms.empty()) r.sections.push_back(detail::alarm_section(a));
  return r;
}

}  // namespace trainplan
