/// The answer of `forecast`: the run with its limits, how often to save, what to fix first, scenarios side by
/// side.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/report/forecast_alarms.hpp"
#include "trainplan/report/forecast_gates.hpp"
#include "trainplan/report/forecast_levers.hpp"
#include "trainplan/report/forecast_scenarios.hpp"
#include "trainplan/report/forecast_sections.hpp"
#include "trainplan/report/worth_section.hpp"

namespace trainplan {

/// What the run is held against; each only where it could be judged. gates: what it limits beside them.
struct ForecastLimits {
  std::optional<DeadlineAnswer> deadline;
  std::optional<BudgetAnswer> budget;
  std::vector<Gate> gates;
};

/// Deadline and budget hold at the worse end of the step too; `worst` is the answer there.
inline void hold_worse_end(const ForecastAnswer& worst, ForecastLimits& limits) {
  const LongRun<double>& run = *worst.first().run;
  if (limits.deadline) {
    limits.deadline->worst = run.calendar.num();
    limits.deadline->holds = run.finishes && run.calendar.num() <= limits.deadline->limit;
  }
  if (limits.budget) {
    limits.budget->worst = run.money.num();
    limits.budget->holds = run.finishes && run.money.num() <= limits.budget->limit;
  }
}

namespace detail {

inline Table method_table(const ForecastAnswer& a) {
  Table table{"methods",
              "",
              {{"method", "method"},
               {"interval", "interval"},
               {"steps", "steps"},
               {"goodput", "goodput"},
               {"complete", "complete"},
               {"rule", "rule"}},
              {}};
  for (const IntervalRow& r : a.intervals)
    table.rows.push_back({r.method, time_value(r.interval), Value{r.steps, Unit::Whole},
                          goodput_cell(r.goodput), goodput_cell(r.complete), r.note});
  return table;
}

inline Table saving_table(const ForecastAnswer& a) {
  Table table{"savings",
              "Synchronous against asynchronous, each at its best interval",
              {{"saving", "saving"},
               {"stop", "a save stops"},
               {"lag", "until on storage"},
               {"interval", "best interval"},
               {"goodput", "goodput"}},
              {}};
  for (const SavingRow& r : a.savings)
    table.rows.push_back({std::string(name_of(r.saving)), time_value(r.stop), time_value(r.lag),
                          time_value(r.interval), goodput_cell(r.goodput)});
  return table;
}

inline Section interval_section(const ForecastAnswer& a) {
  Section s{"intervals", "How often to save", {method_table(a)}};
  Notes flat{"flat", {}};
  for (const FlatBand& b : a.flat)
    flat.sentences.push_back({"within ", Value{b.points, Unit::Points}, " of the best from ",
                              time_value(b.low), " to ", time_value(b.high)});
  flat.sentences.push_back(
      {"goodput of the five terms; complete: of Daly's complete form, for Poisson "
       "failures that strike saves and recoveries too"});
  s.blocks.push_back(std::move(flat));
  const auto note = [&](std::string text) { s.blocks.push_back(Notes{"savings_note", {{std::move(text)}}}); };
  if (a.savings.size() < 2) {
    note(
        "asynchronous saves are not priced: no link to the host is known; --saving async --copy-time 2s "
        "prices them");
    return s;
  }
  s.blocks.push_back(saving_table(a));
  if (a.first().own_save)
    note(
        "the save time of the scenario counts as a stop in the first row, as a write in the background in "
        "the second");
  return s;
}

inline Section change_section(const ForecastAnswer& a) {
  const LongRun<double>& run = *a.first().run;
  Section s{"changes", "Another interval", {}};
  Table table{"intervals",
              "GPU time of a day: saves and rollbacks, first order; by goodput, with what they exclude",
              {{"to", "from it to"},
               {"interval", "interval"},
               {"gross", "gross"},
               {"taken", "taken back"},
               {"net", "net"},
               {"goodput", "goodput"},
               {"by_goodput", "by goodput"}},
              {}};
  const auto gpu = [](double v) { return Cell(Value{v, Unit::GpuTime}); };
  table.rows.push_back({std::string("in force"), time_value(run.interval.num()), Cell{}, Cell{}, Cell{},
                        goodput_cell(run.goodput.num()), Cell{}});
  for (const IntervalChange& c : a.changes)
    table.rows.push_back({c.name, time_value(c.interval), gpu(c.gross), gpu(c.taken), gpu(c.net),
                          goodput_cell(c.goodput),
                          run.finishes && c.goodput > 0 ? gpu(c.by_goodput) : Cell{}});
  s.blocks.push_back(std::move(table));
  return s;
}

inline Section lever_section(const ForecastAnswer& a) {
  const bool timed = a.finishes();
  const Figure& price = a.first().figures.price;
  Section s{"levers", "What to fix first", {}};
  Table table{"levers",
              "each alone, then together with those above it",
              {{"lever", "lever"},
               {"from", "from"},
               {"to", "to"},
               {"points", "goodput"},
               {"time", "saves"},
               {"money", "worth"},
               {"all_goodput", "together: goodput"},
               {"all_time", "all save"},
               {"all_money", "all are worth"}},
              {}};
  const auto days = [&](double v) { return timed ? Cell(days_value(v)) : Cell{}; };
  const auto usd = [&](double v) { return timed ? money_cell(price, v) : Cell{}; };
  for (const LeverRow& r : a.levers)
    table.rows.push_back({Code{r.id}, r.from, r.to, timed ? Cell(Value{r.points, Unit::Points}) : Cell{},
                          days(r.time), usd(r.money), goodput_cell(r.all_goodput), days(r.all_time),
                          usd(r.all_money)});
  s.blocks.push_back(std::move(table));
  std::string meanings;
  for (const LeverRow& r : a.levers)
    meanings.append(meanings.empty() ? "" : ", ").append(r.id + " " + r.title);
  Notes notes{"levers_note",
              {{meanings},
               {"times move to those of scenario " + a.lever_target +
                "; a lever that is there already has no row; intervals follow where none is given"}}};
  if (!a.first().figures.repair.known)
    notes.sentences.push_back(
        {"spares are not priced: --repair, the time until a failed node is back, is not given"});
  if (a.costly_spare)
    notes.sentences.push_back({"one more spare node does not pay: it saves ",
                               days_value(a.costly_spare->time), " of the run and costs ",
                               Value{-a.costly_spare->money, Unit::Usd}, " more than they are worth"});
  s.blocks.push_back(std::move(notes));
  return s;
}

/// The five terms leave nothing; what Daly's complete form leaves stands beside.
inline Sentence never_headline(const ForecastAnswer& a) {
  const LongRun<double>& run = *a.first().run;
  const bool complete = run.complete.num() > 0;
  Sentence s = prefixed(complete ? "never finishes by the five terms: " : "never finishes: ", blame(a));
  if (!complete) return s;
  s.push_back("; Daly's complete form leaves ");
  s.push_back(Value{run.complete.num(), Unit::Share});
  if (!a.plan.tokens) return s;
  s.push_back(", ");
  s.push_back(days_value(run.complete_calendar.num()));
  return s;
}

inline Sentence forecast_headline(const ForecastAnswer& a, const ForecastLimits& limits) {
  const LongRun<double>& run = *a.first().run;
  if (!run.finishes) return never_headline(a);
  Sentence s{days_value(run.calendar.num())};
  const auto push = [&](auto part) { s.push_back(std::move(part)); };
  const auto push_worst = [&](const auto& limit, auto show) {
    if (!limit.worst) return;
    push(" (");
    push(show(*limit.worst));
    push(" at the worse end of the step)");
  };
  if (limits.deadline) {
    push(" of ");
    push(days_value(limits.deadline->limit));
    push_worst(*limits.deadline, days_value);
  }
  push(a.plan.tokens ? ": step " : ", no token budget: step ");
  push(time_value(run.step.num()));
  push(", goodput ");
  push(Value{run.goodput.num(), Unit::Share});
  push(", overhead ");
  push(Value{run.overhead.num(), Unit::FineShare});
  push("; ");
  push(Value{run.gpu_time.num(), Unit::GpuTime});
  if (!a.first().figures.price.known) return s;
  push(", ");
  push(Value{run.money.num(), Unit::Usd});
  if (limits.budget && a.plan.tokens) {
    push(" of ");
    push(Value{limits.budget->limit, Unit::Usd});
    push_worst(*limits.budget, [](double usd) { return Value{usd, Unit::Usd}; });
  }
  return s;
}

inline Verdict forecast_verdict(const Trial& t, const ForecastAnswer& a, const ForecastLimits& limits) {
  if (t.verdict() == Verdict::DoesNotFit) return Verdict::DoesNotFit;
  if (!a.finishes()) return Verdict::Failed;
  const bool judged = a.plan.tokens && (limits.deadline || limits.budget);
  if (!judged && limits.gates.empty()) return Verdict::None;
  const bool broken =
      (limits.deadline && !limits.deadline->holds) || (limits.budget && judged && !limits.budget->holds);
  return broken || !all_hold(limits.gates) ? Verdict::Failed : Verdict::Passed;
}

}  // namespace detail

/// Of a run whose failure rate is known. `ledger`: of the first scenario, must outlive the report.
inline Report forecast_report(const Trial& t, const ForecastAnswer& a, const ForecastLimits& limits,
                              const Ledger& ledger, const std::vector<Issue>& issues, bool detailed) {
  Report r{"forecast",
           "Forecast of " + t.problem.model().name + " on " + t.problem.cluster().name +
               (a.scenarios.size() > 1 ? ", scenario " + a.first().name : ""),
           detail::forecast_verdict(t, a, limits),
           detail::forecast_headline(a, limits),
           {}};
  Section inputs{"inputs", "Inputs", {}};
  inputs.blocks.push_back(model_and_cluster(t.problem));
  r.sections.push_back(std::move(inputs));
  Table warnings = warning_table(false);
  add_warnings(warnings, issues);
  add_warning_section(r, std::move(warnings));
  r.sections.push_back(detail::forecast_step_section(t, a, *a.first().run));
  r.sections.push_back(detail::forecast_failure_section(a));
  if (a.finishes()) r.sections.push_back(detail::forecast_calendar_section(a));
  if (!limits.gates.empty()) r.sections.push_back(limit_section(limits.gates, t.cost.stage));
  if (limits.deadline) r.sections.push_back(detail::deadline_section(a, *limits.deadline));
  if (limits.budget) r.sections.push_back(detail::budget_section(a, *limits.budget));
  if (a.scenarios.size() > 1) r.sections.push_back(detail::scenario_section(a));
  if (a.first().best_goodput > 0) r.sections.push_back(detail::interval_section(a));
  if (!a.changes.empty()) r.sections.push_back(detail::change_section(a));
  if (!a.alarms.empty()) r.sections.push_back(detail::alarm_section(a));
  r.sections.push_back(detail::lever_section(a));
  if (detailed) r.sections.push_back(formula_section(ledger, {"forecast."}));
  return r;
}

}  // namespace trainplan
