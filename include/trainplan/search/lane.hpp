/// One part of a search: plans are visited as long as one of them may be in an answer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "trainplan/search/bounds.hpp"
#include "trainplan/search/found.hpp"
#include "trainplan/search/space.hpp"

namespace trainplan::detail {

/// Visits arrangements, and inside them plans, as long as one of theirs may be in an answer.
class Lane {
  enum class Cut : std::uint8_t { No, Slow, Beaten, Large };

  const PlanSpace& space_;
  const SearchOptions& options_;
  Room room_;
  Found& out_;
  std::vector<const Found*> known_;
  double gate_, planned_, limit_;
  bool probing_ = false;

  void classify(const MemoryCost<double>& memory) {
    if (memory.device.num() <= gate_) return;
    SearchCounts& n = out_.counts;
    const double state = memory.state.num();
    ++n.above;
    ++(state > gate_                                    ? n.by_state
       : state + memory.activations.saved.num() > gate_ ? n.by_activations
                                                        : n.by_working);
  }
  void count(double device) {
    SearchCounts& n = out_.counts;
    ++n.evaluated;
    ++(device > gate_ ? n.not_fit : device > planned_ ? n.tight : n.fit);
  }
  void offer(const Candidate& c) {
    if (room_ == Room::None) return out_.smallest.offer(c);
    if (c.device <= limit_) out_.best.offer(c);
    if (c.device <= gate_)
      out_.front.offer(c);
    else if (c.device <= gate_ * (1 + options_.over))
      out_.near.offer(c);
  }

  /// Memory first: nothing more is worked out when that is enough to know that the plan is in no answer.
  /// step: what its step is not below. Returns the memory of the fullest stage, or of the first where that is
  /// enough, and the step, or 0.
  Candidate evaluated(std::uint64_t index, const Problem& problem, const Plan& plan, double step,
                      FirstStage& first) {
    Evaluation e(problem, plan);
    first = {problem, plan, e.memory()};
    const auto device = [&] { return e.memory().device.num(); };
    const auto seen_enough = [&] {
      if (!cuts(step, device(), 1)) return false;
      classify(e.memory());
      return true;
    };
    if (seen_enough()) return {index, 0, device()};
    if (plan.pp > 1) {
      e.look_at_all();
      if (seen_enough()) return {index, 0, device()};
    }
    classify(e.memory());
    count(device());
    const PlanCost<double> cost = e.cost();
    const Candidate c{index, cost.step.step.num(), device()};
    if (!host_is_full(problem, cost.host.node.num())) offer(c);
    return c;
  }

  /// Of what this lane and those before it found.
  double fastest() const {
    double step = std::numeric_limits<double>::infinity();
    for (const Found* f : known_)
      if (!f->best.kept().empty()) step = std::min(step, f->best.kept().front().step);
    return step;
  }
  /// Of all plans within the gate.
  double fastest_within_gate() const {
    double step = fastest();
    for (const Found* f : known_)
      if (!f->front.kept().empty()) step = std::min(step, f->front.kept().front().step);
    return step;
  }
  bool enters_best(double step, double device) const {
    if (device > limit_) return false;
    return std::ranges::none_of(
        known_, [&](const Found* f) { return f->best.is_full() && step > f->best.kept().back().step; });
  }
  bool enters_front(double step, double device, double longest) const {
    if (device > gate_ || step > longest) return false;
    return std::ranges::none_of(known_, [&](const Found* f) { return f->front.beats(step, device); });
  }

  /// Why no plan with at least this step and this memory is in the answer.
  Cut cut(double step, double device) const {
    if (!options_.bounds) return Cut::No;
    if (room_ == Room::None) {
      const bool any_smaller = std::ranges::any_of(known_, [&](const Found* f) {
        return f->smallest.is_full() && device > f->smallest.kept().back().device;
      });
      return any_smaller ? Cut::Large : Cut::No;
    }
    if (probing_) return device > limit_ ? Cut::Large : Cut::No;
    if (device > gate_ * (1 + options_.over)) return Cut::Large;
    const double longest = fastest() * (1 + options_.slower);
    if (step <= fastest_within_gate() || enters_best(step, device) || enters_front(step, device, longest))
      return Cut::No;
    return step > longest ? Cut::Slow : Cut::Beaten;
  }

  /// True when it was cut.
  bool cuts(double step, double device, std::uint64_t plans) {
    switch (cut(step, device)) {
      case Cut::No: return false;
      case Cut::Slow: out_.counts.slow += plans; break;
      case Cut::Beaten: out_.counts.beaten += plans; break;
      case Cut::Large: out_.counts.large += plans; break;
    }
    return true;
  }

  /// step, device: what no plan of the shape is below. Whatever is rebuilt makes a step longer, and each
  /// further layer does; but modules of experts may even out stages or hide traffic.
  void visit_shape(const Arrangement& a, const Shape& s, double step, double device) {
    const Problem& problem = space_.problem(a);
    const Interior& inside = space_.interior(a);
    Plan plan = a.plan;
    take(s, plan);
    double with_layers = step;
    FirstStage first;
    for (std::uint32_t r = s.first; r < s.last; ++r) {
      const Rebuilt& rebuilt = inside.rebuilt[r];
      const bool layers = rebuilt.recompute == Recompute::Layers;
      const bool modules = rebuilt.recompute == Recompute::Selective && problem.model().is_sparse();
      if (r > s.first && cuts(modules ? step : with_layers, device, layers ? s.last - r : 1)) {
        if (layers) return;
        continue;
      }
      if (layers && cuts(with_layers, first.with(rebuilt.layers), 1)) continue;
      take(rebuilt, plan);
      FirstStage seen;
      const Candidate c = evaluated(a.first + r, problem, plan, modules ? step : with_layers, seen);
      if (rebuilt.recompute == Recompute::Full) device = std::max(device, c.device * (1 - kBoundSlack));
      if (rebuilt.recompute != Recompute::None && !layers) continue;
      first = seen;
      with_layers = std::max(with_layers, c.step * (1 - kBoundSlack));
    }
  }

 public:
  /// known: what was found before.
  Lane(const PlanSpace& space, const SearchOptions& options, Room room, Found& out,
       const std::vector<const Found*>& known = {})
      : space_(space), options_(options), room_(room), out_(out), known_(known) {
    known_.push_back(&out_);
    const Problem& problem = space.problem(space.arrangements().front());
    gate_ = problem.cluster().accelerator.usable_memory.value * problem.calibration().capacity_gate.value;
    planned_ = gate_ * (1 - problem.recipe.margin);
    limit_ = room == Room::Gate ? gate_ : planned_;
  }

  /// True when one of its plans fits. Nothing else is asked.
  bool probe(const Bounded& b) {
    probing_ = true;
    visit(b);
    return !out_.best.kept().empty();
  }

  void visit(const Bounded& b) {
    const Arrangement& a = space_.arrangements()[b.arrangement];
    const Interior& inside = space_.interior(a);
    out_.counts.legal += inside.rebuilt.size();
    if (cuts(b.step, 0, inside.rebuilt.size())) return;
    const ShapeBounds bounds(space_, a);
    for (const Shape& s : inside.shapes) {
      const double step = bounds.step(s);
      if (cuts(step, 0, s.last - s.first)) continue;
      const double device = bounds.device(s);
      if (!cuts(step, device, s.last - s.first)) visit_shape(a, s, step, device);
    }
  }
};

}  // namespace trainplan::detail
