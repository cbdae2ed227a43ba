/// A pipeline that any schedule can be tried on: for each placement what passes take and what is kept.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "trainplan/sim/clock.hpp"
#include "trainplan/sim/pipeline.hpp"
#include "trainplan/sim/retention.hpp"
#include "trainplan/sim/schedule.hpp"

namespace trainplan::sim {

/// One way to lay the model on the stages. refusal: why it cannot be cut so.
struct Cut {
  Shape shape{};
  Times times{};
  Sizes sizes{};
  std::optional<Refusal> refusal{};
};

inline constexpr std::size_t kPlacements = kEveryPlacement.size();

/// sized: bytes are known, not only sets.
struct Pipeline {
  Clock clock{};
  std::array<Cut, kPlacements> cuts{};
  bool sized = false;

  Cut& cut(Placement p) { return cuts[static_cast<std::size_t>(p)]; }
  const Cut& cut(Placement p) const { return cuts[static_cast<std::size_t>(p)]; }
};

/// What became of one schedule: refused, or a timeline with and without transfers and what it keeps.
struct Attempt {
  const Schedule* schedule = nullptr;
  Shape shape{};
  std::optional<Refusal> refusal{};
  std::optional<Fault> fault{};
  Timeline timeline{}, bare{};
  std::vector<Residency> bytes{}, sets{};

  bool ran() const { return !refusal && !fault; }
  Map map() const { return Map(schedule->placement, shape); }

  /// Of the stage that keeps most.
  Size peak() const {
    Size out = 0;
    for (const Residency& r : bytes) out = std::max(out, r.peak.total());
    return out;
  }
  int peak_sets() const {
    int out = 0;
    for (const Residency& r : sets) out = std::max(out, r.peak_sets);
    return out;
  }
  /// Stages whose peak is above a budget.
  std::vector<int> above(double budget) const {
    std::vector<int> out;
    for (std::size_t g = 0; g < bytes.size(); ++g)
      if (static_cast<double>(bytes[g].peak.total()) > budget) out.push_back(static_cast<int>(g));
    return out;
  }
};

inline Attempt try_schedule(const Schedule& schedule, const Pipeline& pipeline) {
  const Cut& cut = pipeline.cut(schedule.placement);
  Attempt out{.schedule = &schedule, .shape = cut.shape};
  out.refusal = schedule.refusal(cut.shape);
  if (!out.refusal) out.refusal = cut.refusal;
  if (out.refusal) return out;
  const Orders orders = schedule.orders(cut.shape);
  Outcome run = simulate(orders, schedule.placement, cut.shape, cut.times);
  if (const auto* fault = std::get_if<Fault>(&run)) {
    out.fault = *fault;
    return out;
  }
  out.timeline = std::get<Timeline>(std::move(run));
  out.bare =
      std::get<Timeline>(simulate(orders, schedule.placement, cut.shape, without_transfers(cut.times)));
  const Map map = out.map();
  if (pipeline.sized) out.bytes = residency(out.timeline, map, cut.sizes);
  out.sets = residency(out.timeline, map, one_for_each(map, {1, 1}));
  return out;
}

}  // namespace trainplan::sim
