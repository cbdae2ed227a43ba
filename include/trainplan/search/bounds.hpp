/// What no plan of an arrangement, or of a shape inside it, can be below: steps and memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "trainplan/cost/passes.hpp"
#include "trainplan/search/space.hpp"

namespace trainplan::detail {

/// Rounding of sums may put a bound above what it bounds by this share.
inline constexpr double kBoundSlack = 1e-9;

/// An arrangement with the step below which none of its plans is.
struct Bounded {
  double step = 0;
  std::uint32_t arrangement = 0;
};

/// Device memory of the first stage of a plan, and what it falls by with each further layer that is rebuilt
/// as a whole: what that saves of all micro-batches in flight, with what the allocator holds of it. Where
/// another phase becomes the fullest it falls by less.
struct FirstStage {
  double device = 0, fall = 0;
  std::int64_t layers = 0;

  FirstStage() = default;
  FirstStage(const Problem& problem, const Plan& plan, const MemoryCost<double>& memory)
      : device(memory.device.num()), layers(plan.recompute_layers) {
    const auto& act = memory.activations;
    fall = (1 + problem.calibration().allocator_slack.value) * act.in_flight.num() *
           std::max(0.0, act.layer.num() - act.kept.num());
  }
  /// What the first stage is not below with so many layers rebuilt, at least as many as now.
  double with(std::int64_t rebuilt) const {
    return (device - static_cast<double>(rebuilt - layers) * fall) * (1 - kBoundSlack);
  }
};

/// The bounds of one arrangement.
class ShapeBounds {
  const Arrangement& arrangement_;
  const Problem& problem_;
  const Interior& inside_;
  double m_, factor_;
  BlockPasses single_, paired_;

  Plan first_of(const Shape& s) const {
    Plan plan = arrangement_.plan;
    take(s, plan);
    take(inside_.rebuilt[s.first], plan);
    return plan;
  }
  /// Passes that run beside passes of another micro-batch hide traffic, so they have times of their own.
  void time(bool pairs, BlockPasses& out) const {
    const auto is_wanted = [&](const Shape& s) { return (s.schedule == Schedule::DualPipeV) == pairs; };
    const auto s = std::ranges::find_if(inside_.shapes, is_wanted);
    if (s == inside_.shapes.end()) return;
    const Plan plan = first_of(*s);
    out = block_passes(problem_, plan, model_blocks(problem_, plan));
  }

 public:
  ShapeBounds(const PlanSpace& space, const Arrangement& a)
      : arrangement_(a), problem_(space.problem(a)), inside_(space.interior(a)) {
    m_ = static_cast<double>(micro_batches(problem_, a.plan));
    const double growth = problem_.calibration().time.straggler_growth.value;
    const Count<> nodes{static_cast<double>(problem_.cluster().nodes)};
    factor_ = (1 - kBoundSlack) * problem_.stack().slowdown.value *
              (1 + straggler_share(Count<>{growth}, nodes).num());
    time(false, single_);
    time(true, paired_);
  }

  /// All micro-batches through stages that are perfectly even, without a bubble.
  double step() const {
    const Plan plan = first_of(inside_.shapes.front());
    const StageBlocks model = model_blocks(problem_, plan);
    const double all = passes_of(model, single_).all(), paired = passes_of(model, paired_).all();
    return factor_ * m_ * (paired > 0 && (all == 0 || paired < all) ? paired : all) / plan.pp;
  }

  /// The micro-batches through the stages of a shape as the ledger times them, with what is fastest rebuilt,
  /// and with nothing that shows besides. What a stack adds and stragglers multiply that.
  double step(const Shape& s) const {
    const Plan plan = first_of(s);
    const BlockPasses& blocks = plan.schedule == Schedule::DualPipeV ? paired_ : single_;
    double slowest = 0;
    for (const StageKind& kind : StageKinds(problem_.model(), plan))
      slowest = std::max(slowest, passes_of(stage_blocks(problem_, plan, kind), blocks).all());
    if (plan.pp == 1 || splits_backward(plan.schedule)) return factor_ * m_ * slowest;
    const double all = passes_of(model_blocks(problem_, plan), blocks).all();
    return factor_ * pipeline_time(Count<>{m_}, Seconds<>{slowest}, Seconds<>{all},
                                   Count<>{static_cast<double>(plan.vpp)})
                         .num();
  }

  /// The first stage with all layers rebuilt, less the working set of the one that is being rebuilt: whatever
  /// else is rebuilt keeps at least the inputs of all layers. 0 where no plan rebuilds all, or that stage has
  /// no layer.
  double device(const Shape& s) const {
    const auto begin = inside_.rebuilt.begin() + s.first, end = inside_.rebuilt.begin() + s.last;
    const auto full = std::ranges::find(begin, end, Recompute::Full, &Rebuilt::recompute);
    if (full == end) return 0;
    Plan plan = arrangement_.plan;
    take(s, plan);
    take(*full, plan);
    if (stage_layers(problem_.model(), plan, 0) == 0) return 0;
    Eval rec;
    const auto memory = memory_cost(rec, bind(rec, problem_, plan), problem_, plan, 0);
    const auto& act = memory.activations;
    const double rebuilt = act.rebuilt.num() + act.running.num() + 2 * act.kept.num();
    return (memory.device.num() - (1 + problem_.calibration().allocator_slack.value) * rebuilt) *
           (1 - kBoundSlack);
  }
};

/// Of a whole arrangement.
inline Bounded bounded(const PlanSpace& space, std::uint32_t arrangement) {
  return {ShapeBounds(space, space.arrangements()[arrangement]).step(), arrangement};
}

}  // namespace trainplan::detail
