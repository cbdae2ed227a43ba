#include "forecasting.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/cost/forecast_rules.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/report/forecast_levers.hpp"

namespace trainplan {
namespace {

std::vector<Scenario> named_scenarios(const ForecastSpec& spec, Issues& issues) {
  std::vector<Scenario> out;
  for (const std::string& name : spec.scenarios)
    if (auto s = load_scenario(name, issues, {.pointer = "--scenario"})) out.push_back(std::move(*s));
  return out;
}

/// Levers are moved to the last of several scenarios, else to the shipped one with the fastest recovery.
std::optional<Scenario> lever_target(const std::vector<Scenario>& scenarios, Issues& issues) {
  if (scenarios.size() > 1) return scenarios.back();
  return load_scenario("C", issues);
}

/// Every mistake that the figures of a scenario show once the step is known.
void judge_scenarios(const PlannedRun& plan, const ForecastSpec& spec, const std::vector<Scenario>& scenarios,
                     const ClusterSpec& cluster, Issues& issues) {
  const std::size_t runs = std::max<std::size_t>(1, scenarios.size());
  for (std::size_t i = 0; i < runs; ++i) {
    const RunFigures f = run_figures(spec, scenarios.empty() ? nullptr : &scenarios[i], cluster);
    const std::size_t before = issues.all().size();
    judge_saving(plan, f, issues);
    if (issues.all().size() > before) return;
    Eval rec;
    RunWork<double> work;
    run_work(rec, plan, f, work);
    judge_run(plan, f, spec.interval, work, issues);
    if (issues.all().size() > before) return;  // the other scenarios would repeat it
  }
}

/// A limit needs what it is held against.
void judge_limits(const ForecastSpec& spec, const PlannedRun& plan, const ClusterSpec& cluster,
                  Issues& issues) {
  detail::ForecastJudge judge(issues);
  if (spec.deadline && !plan.tokens)
    judge.add(*spec.deadline, "deadline", detail::duration_text(spec.deadline->value), "missing",
              "come with tokens, which say how long the run is", "try --tokens 15T");
  const Figure price = spec.price.value_or(cluster.price);
  if (spec.budget && !(price.known && price.value > 0))
    judge.add(*spec.budget, "budget",
              detail::rounded(spec.budget->value, std::chars_format::fixed, 0) + " USD", "missing",
              "come with a price of a GPU that is known and above zero", "try --price 2.5USD/h");
}

}  // namespace

std::optional<ForecastAnswer> answer_of(const Question& question, const Trial& trial,
                                        const ForecastSpec& spec, Issues& issues) {
  const ClusterSpec& cluster = trial.problem.cluster();
  const PlannedRun plan = planned_run(trial, explain(trial.problem, trial.plan, trial.cost.stage));
  const std::vector<Scenario> scenarios = named_scenarios(spec, issues);
  const auto target = lever_target(scenarios, issues);
  judge_forecast(spec, issues);
  judge_limits(spec, plan, cluster, issues);
  if (!issues.has_errors()) judge_scenarios(plan, spec, scenarios, cluster, issues);
  std::optional<ForecastAnswer> out;
  if (!issues.has_errors()) {
    out = answer_forecast(plan, spec, scenarios, *target, cluster);
    for (const ScenarioRun& s : out->scenarios)
      if (s.run) judge_crowding(s.figures, *s.run, scenarios.empty() ? "" : s.name, issues);
  }
  place_in_run_file(question.run, issues);
  return out;
}

}  // namespace trainplan
