/// How few nodes keep a deadline: at the same MFU, or planned anew on each number of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "trainplan/derive/derive.hpp"
#include "trainplan/report/forecast_answer.hpp"
#include "trainplan/spec/resize.hpp"

namespace trainplan {

/// The run on so many nodes; nothing where no plan there divides the batch and fits the memory.
using Replan = std::function<std::optional<PlannedRun>(double nodes)>;

/// Plans the run anew on clusters of the same kind. The planner must outlive it.
inline Replan replan_with(const Planner& planner) {
  return [&planner](double nodes) -> std::optional<PlannedRun> {
    Issues ignored;  // those of the cluster itself are told already
    const auto cluster = with_nodes(planner.problem().cluster(), static_cast<std::int64_t>(nodes), ignored);
    if (!cluster) return std::nullopt;
    const auto derivation = derive(planner.with(planner.problem().with(*cluster)), nullptr);
    if (!derivation || derivation->chosen.verdict() == Verdict::DoesNotFit) return std::nullopt;
    const Trial& t = derivation->chosen;
    return planned_run(t, explain(t.problem, t.plan, t.cost.stage));
  };
}

/// nodes: nothing where none was found. planned: every `stride`-th number from low to high was planned until
/// one kept the deadline; else the MFU is taken as the same everywhere, and neither batch nor memory is
/// looked at.
struct NodesAnswer {
  std::optional<double> nodes{};
  bool planned = false;
  double low = 1, high = 1, stride = 1;
};

namespace detail {

/// Calendar time by the five terms; infinite where the run never finishes.
inline double calendar_of(const PlannedRun& p, const RunFigures& f) {
  const LongRun<double> run = evaluate_run(p, f);
  return run.finishes ? run.calendar.num() : std::numeric_limits<double>::infinity();
}

/// Of a time that falls and then rises with the number of nodes, since more of them fail more often: where it
/// is least, and the fewest that keep the deadline.
struct NodesAtMfu {
  double quickest = 1;
  std::optional<double> nodes{};
};
inline NodesAtMfu nodes_at_mfu(const PlannedRun& p, const RunFigures& f, double deadline) {
  constexpr double kMostNodes = 1 << 20;
  const auto time = [&](double nodes) { return calendar_of(p.on_nodes(nodes), f); };
  double low = 1, high = kMostNodes;
  while (high - low > 2) {
    const double third = std::floor((high - low) / 3);
    if (time(low + third) <= time(high - third))
      high -= third;
    else
      low += third;
  }
  NodesAtMfu out;
  for (double n = out.quickest = low; n <= high; ++n)
    if (time(n) < time(out.quickest)) out.quickest = n;
  if (time(out.quickest) > deadline) return out;
  low = 0;  // does not hold
  high = out.quickest;
  while (high - low > 1) {
    const double middle = std::floor((low + high) / 2);
    (time(middle) <= deadline ? high : low) = middle;
  }
  out.nodes = high;
  return out;
}

/// Plans about a first guess, from half of it to twice as many, the run's own number among them.
inline NodesAnswer planned_nodes(const RunFigures& f, double deadline, double own, double guess,
                                 const Replan& replan) {
  constexpr double kMostPlans = 48;
  NodesAnswer out{.planned = true, .low = std::max(1.0, std::floor(guess / 2)), .high = 2 * guess};
  while ((out.high - out.low) / out.stride > kMostPlans) out.stride *= 2;
  out.low = own + std::ceil((out.low - own) / out.stride) * out.stride;
  for (double n = out.low, most = out.high; n <= most && !out.nodes; n += out.stride) {
    out.high = n;
    const auto plan = replan(n);
    if (plan && calendar_of(*plan, f) <= deadline) out.nodes = n;
  }
  return out;
}

}  // namespace detail

/// Without `replan` at the same MFU alone.
inline NodesAnswer nodes_for(const PlannedRun& p, const RunFigures& f, double deadline,
                             const Replan& replan) {
  const detail::NodesAtMfu same = detail::nodes_at_mfu(p, f, deadline);
  if (!replan) return {.nodes = same.nodes};
  return detail::planned_nodes(f, deadline, p.nodes, same.nodes.value_or(same.quickest), replan);
}

}  // namespace trainplan
