/// The pipeline of a plan on the clock, beside its closed form; other schedules, and when they pay.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/derive/schedule_advice.hpp"
#include "trainplan/derive/schedules.hpp"
#include "trainplan/report/build.hpp"

namespace trainplan {

namespace detail {

/// Sums in another order differ by less.
inline constexpr double kSumRounding = 1e-9;

inline Fact timed(std::string key, std::string label, double seconds, std::string note = {},
                  std::string id = {}) {
  return {std::move(key), std::move(label), Value{seconds, Unit::Time}, std::move(note), std::move(id)};
}

inline Facts timeline_facts(const Trial& t, const PipelineRun& run) {
  const auto& c = t.cost;
  const double closed = (c.pipeline.step + c.step.exposed_pipeline).num(),
               step = simulated_step(t.problem, c, run);
  const auto share = [](double part, double whole) { return Value{part / whole, Unit::Share}; };
  Facts f{"timeline", {}};
  f.facts.push_back(
      {"schedule", "schedule", std::string(name_of(t.plan.schedule)), "v " + std::to_string(t.plan.vpp), ""});
  f.facts.push_back(timed("closed_form", "closed form", closed, "pipeline.step with messages that show"));
  f.facts.push_back(timed("simulated", "simulated", run.time, std::to_string(run.messages) + " messages"));
  f.facts.push_back({"simulated_difference", "difference", share(run.time - closed, closed), "", ""});
  f.facts.push_back(timed("without_messages", "without messages", run.alone));
  f.facts.push_back(timed("least", "least time", run.least,
                          run.least > closed * (1 + kSumRounding)
                              ? "no order can beat it; chunks are uneven, so the closed form is below"
                              : "no order can beat it"));
  f.facts.push_back(timed("step_simulated", "step, simulated", step, "beside step.time"));
  f.facts.push_back({"idle", "idle, with a barrier", share(run.most_idle(), run.time),
                     "most idle stage; the update waits for all", ""});
  f.facts.push_back({"span_idle", "idle in spans", share(run.most_span_idle(), run.time),
                     "the update waits for nobody", ""});
  f.facts.push_back(
      {"sets_closed_form", "sets, closed form",
       Value{evaluate_stage(t.problem, t.plan, 0).memory.activations.in_flight.num(), Unit::Count},
       "micro-batches in flight", "activations.in_flight"});
  f.facts.push_back(
      {"sets_simulated", "sets, simulated", Value{run.most_sets(), Unit::Count}, "kept until W is done", ""});
  return f;
}

/// Stages of the same layers between the ends differ in nothing but their place, so that a deep pipeline
/// shows some.
inline Table run_table(const Trial& t, const PipelineRun& run) {
  Table table{"timeline_stages",
              "Each stage in a step, simulated",
              {{"stage", "stage"},
               {"busy", "busy"},
               {"idle", "idle"},
               {"span_idle", "idle in its span"},
               {"sets", "sets in flight"},
               {"sets_closed_form", "closed form"}},
              {}};
  for (std::size_t g = 0; g < run.stages.size(); ++g) {
    const StageRun& s = run.stages[g];
    const auto cost = evaluate_stage(t.problem, t.plan, static_cast<int>(g));
    table.rows.push_back({Value{static_cast<double>(g), Unit::Count}, Value{s.busy, Unit::Time},
                          Value{s.idle, Unit::Time}, Value{s.span_idle, Unit::Time},
                          Value{s.sets, Unit::Count},
                          Value{cost.memory.activations.in_flight.num(), Unit::Count}});
  }
  return table;
}

inline Table schedule_table(const ScheduleTrials& all) {
  Table table{"schedules",
              "Schedules at the degrees of the plan; not simulated: bound above the best step",
              {{"schedule", "schedule"},
               {"vpp", "v"},
               {"bound", "step, bound"},
               {"closed_form", "closed form"},
               {"simulated", "simulated"},
               {"idle", "idle"},
               {"span_idle", "idle in span"},
               {"sets", "sets in flight"},
               {"device", "device total"},
               {"verdict", "verdict"}},
              {}};
  for (const ScheduleTrial& r : all.rows) {
    if (!r.trial) {
      table.rows.push_back(
          {std::string(name_of(r.schedule)), {}, {}, {}, {}, {}, {}, {}, {}, std::string("illegal")});
      continue;
    }
    const auto of_run = [&](auto part) -> Cell {
      if (!r.run) return {};
      return part(*r.run);
    };
    table.rows.push_back(
        {std::string(name_of(r.schedule)), Value{static_cast<double>(r.vpp), Unit::Count},
         Value{r.least, Unit::StepTime}, Value{r.trial->cost.step.step.num(), Unit::StepTime},
         of_run([&](const PipelineRun&) {
           return Cell{Value{r.step, Unit::StepTime}};
         }),
         of_run([](const PipelineRun& x) {
           return Cell{Value{x.most_idle() / x.time, Unit::Share}};
         }),
         of_run([](const PipelineRun& x) {
           return Cell{Value{x.most_span_idle() / x.time, Unit::Share}};
         }),
         Value{evaluate_stage(r.trial->problem, r.trial->plan, 0).memory.activations.in_flight.num(),
               Unit::Count},
         Value{r.trial->device(), Unit::Memory}, verdict_text(r.trial->verdict())});
  }
  return table;
}

/// Of the chosen plan; where schedules were tried it has been made.
inline std::optional<PipelineRun> chosen_run(const Derivation& d) {
  if (d.schedules && d.schedules->best < d.schedules->rows.size())
    return d.schedules->rows[d.schedules->best].run;
  return simulate_plan(d.chosen.problem, d.chosen.plan);
}

}  // namespace detail

/// Empty without a pipeline. detail: every stage.
inline Section schedule_section(const Derivation& d, bool detail) {
  Section s{"pipeline", "Pipeline on the clock", {}};
  const Trial& t = d.chosen;
  if (t.plan.pp == 1) return s;
  if (const auto run = detail::chosen_run(d)) {
    s.blocks.push_back(detail::timeline_facts(t, *run));
    if (detail) s.blocks.push_back(detail::run_table(t, *run));
  }
  if (d.schedules) s.blocks.push_back(detail::schedule_table(*d.schedules));
  Notes notes{"schedule_notes", schedule_advice(t)};
  if (!notes.sentences.empty()) s.blocks.push_back(std::move(notes));
  return s;
}

}  // namespace trainplan
