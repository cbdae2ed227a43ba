/// Gates of a whole run: the limits of its step, and deadline and budget for `check`.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "trainplan/report/forecast_unknown.hpp"
#include "trainplan/report/gates.hpp"

namespace trainplan {

/// What the run limits: memory as planned, step and MFU of the forecast where its step is not the plan's.
/// Empty without a limit.
inline std::vector<Gate> forecast_gates(const Trial& t, const Limits& limits, const ForecastAnswer& a) {
  if (!limits.min_mfu && !limits.max_step_time && !limits.max_memory) return {};
  std::vector<Gate> gates = gates_of(t, limits);
  if (a.first().work.step.num() == a.plan.step) return gates;
  const RunWork<double> worst = at_worse_end(t, a).first().work;
  const bool sure = t.problem.recipe.confidence.has_value();
  for (Gate& g : gates) {
    if (g.name == "max_step_time")
      g = {g.name,
           sure ? "forecast.step_high" : "forecast.step",
           {worst.step.num(), Unit::Time},
           {*limits.max_step_time, Unit::Time}};
    if (g.name == "min_mfu")
      g = {g.name,
           sure ? "forecast.mfu_low" : "forecast.mfu",
           {worst.mfu.num(), Unit::Share},
           {*limits.min_mfu, Unit::Share},
           true};
  }
  return gates;
}

/// Deadline and budget, by the five terms; without a failure rate, what the run takes without a failure and a
/// save. With a confidence, at the worse end of the step.
inline std::vector<Gate> promise_gates(const Trial& t, const ForecastAnswer& answer,
                                       const ForecastSpec& spec) {
  std::vector<Gate> gates;
  const ForecastAnswer a = at_worse_end(t, answer);
  const std::string end = t.problem.recipe.confidence ? "_high" : "";
  const LeastRun least = a.known() ? LeastRun{} : least_run(a);
  const auto value = [&](double known, const std::optional<double>& without) {
    if (!a.known()) return without.value_or(0);
    return a.finishes() ? known : std::numeric_limits<double>::infinity();
  };
  const LongRun<double> run = a.first().run.value_or(LongRun<double>{});
  if (spec.deadline)
    gates.push_back({"deadline",
                     (a.known() ? "forecast.calendar" : "forecast.least") + end,
                     {value(run.calendar.num(), least.time), Unit::Days},
                     {spec.deadline->value, Unit::Days}});
  if (spec.budget && a.plan.tokens)
    gates.push_back({"budget",
                     (a.known() ? "forecast.money" : "forecast.least_money") + end,
                     {value(run.money.num(), least.money), Unit::Usd},
                     {spec.budget->value, Unit::Usd}});
  return gates;
}

}  // namespace trainplan
