/// A plan's pipeline put on the clock, beside the closed forms of evaluate().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "trainplan/cost/passes.hpp"
#include "trainplan/sim/pipeline.hpp"
#include "trainplan/sim/retention.hpp"

namespace trainplan {

/// Seconds of one stage in a step. idle: with an update that waits for all stages; span_idle: between its own
/// first and last pass. sets: micro-batches of the whole stage that it keeps at most.
struct StageRun {
  double busy = 0, idle = 0, span_idle = 0, sets = 0;
};

/// time: until all gradients are there. least: what no order can beat. alone: without transfers.
struct PipelineRun {
  std::vector<StageRun> stages{};
  double time = 0, least = 0, alone = 0;
  std::size_t messages = 0;

  double most_idle() const { return std::ranges::max(stages, {}, &StageRun::idle).idle; }
  double most_span_idle() const { return std::ranges::max(stages, {}, &StageRun::span_idle).span_idle; }
  double most_sets() const { return std::ranges::max(stages, {}, &StageRun::sets).sets; }
};

/// Passes of a step beyond which no timeline is made.
inline constexpr std::int64_t kMostPasses = 400'000;

namespace detail {

inline double seconds(sim::Ticks ticks) { return static_cast<double>(ticks) * kTick; }

inline PipelineRun run_of(const sim::Timeline& timeline, const sim::Map& map) {
  PipelineRun out{.time = seconds(timeline.gradient_ready), .messages = timeline.messages.size()};
  const auto kept = sim::residency(timeline, map, sim::one_for_each(map, {1, 1}));
  for (std::size_t g = 0; g < timeline.stages.size(); ++g)
    out.stages.push_back({seconds(timeline.busy[g]), seconds(timeline.idle(g)),
                          seconds(timeline.span_idle(g)),
                          static_cast<double>(kept[g].peak_sets) / map.chunks()});
  return out;
}

}  // namespace detail

/// Nothing where there is no pipeline, the schedule has no order for this shape, or the step is too long.
inline std::optional<PipelineRun> simulate_plan(const Problem& problem, const Plan& plan) {
  const sim::Schedule& schedule = orders_of(plan.schedule);
  const std::int64_t m = micro_batches(problem, plan);
  if (plan.pp == 1 || m < 1 || 2 * m * plan.pp * plan.vpp > kMostPasses) return std::nullopt;
  const sim::Shape shape = shape_of(problem, plan);
  if (schedule.refusal(shape)) return std::nullopt;
  const PipelinePasses passes = pipeline_passes(problem, plan);
  const sim::Orders orders = schedule.orders(shape);
  const sim::Times times = ticks_of(passes);
  const sim::Outcome with = sim::simulate(orders, schedule.placement, shape, times),
                     without =
                         sim::simulate(orders, schedule.placement, shape, sim::without_transfers(times));
  const auto *timeline = std::get_if<sim::Timeline>(&with), *alone = std::get_if<sim::Timeline>(&without);
  if (timeline == nullptr || alone == nullptr) return std::nullopt;
  PipelineRun out = detail::run_of(*timeline, sim::Map(schedule.placement, shape));
  out.least = least_pipeline_time(passes, plan.schedule, m);
  out.alone = detail::seconds(alone->gradient_ready);
  return out;
}

/// The step of evaluate() with the simulated pipeline in place of the closed form. What the stack and
/// stragglers add grows with the rest.
inline double simulated_step(const Problem& problem, const PlanCost<double>& cost, const PipelineRun& run) {
  const double closed = cost.pipeline.step.num() + cost.step.exposed_pipeline.num(),
               rest = (cost.step.step - cost.step.straggler).num(),
               slower = problem.stack().slowdown.value * (rest > 0 ? cost.step.step.num() / rest : 1);
  return cost.step.step.num() + (run.time - closed) * slower;
}

}  // namespace trainplan
