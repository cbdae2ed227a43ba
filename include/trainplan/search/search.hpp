/// The best plans of a space: every legal plan is evaluated, or a proven bound says that it is in no answer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "trainplan/search/best.hpp"
#include "trainplan/search/bounds.hpp"
#include "trainplan/search/space.hpp"

namespace trainplan {

/// What the best plan has most, or least, of. With one cluster and one batch MFU, GPU-hours and dollars are
/// best where the step is shortest.
enum class Objective : std::uint8_t { Step, Mfu, GpuHours, Dollars, Headroom, FewestGpus };
inline constexpr std::string_view kObjectiveNames[] = {"step",    "mfu",      "gpu-hours",
                                                       "dollars", "headroom", "fewest-gpus"};
constexpr std::string_view name_of(Objective o) { return kObjectiveNames[static_cast<int>(o)]; }

/// top: plans to keep. slower: share that a plan of the front may be slower than the fastest by. over: share
/// of the gate that a near miss may lie above it. bounds: whether plans are cut by them; the answer is the
/// same.
struct SearchOptions {
  std::size_t top = 20;
  double slower = 0.25, over = 0.1;
  bool bounds = true;
  Objective objective = Objective::Step;
};

/// legal = evaluated + slow + beaten + large: the last three were cut by a bound, of the step, of step and
/// memory together, of the memory. fit, tight, not_fit: of those evaluated. by_state: of not_fit, those whose
/// model state alone is above the gate; by_activations: those that the activations in flight bring above it.
struct SearchCounts {
  std::uint64_t legal = 0, evaluated = 0, slow = 0, beaten = 0, large = 0;
  std::uint64_t fit = 0, tight = 0, not_fit = 0, by_state = 0, by_activations = 0;

  SearchCounts& operator+=(const SearchCounts& o) {
    for (const auto m :
         {&SearchCounts::legal, &SearchCounts::evaluated, &SearchCounts::slow, &SearchCounts::beaten,
          &SearchCounts::large, &SearchCounts::fit, &SearchCounts::tight, &SearchCounts::not_fit,
          &SearchCounts::by_state, &SearchCounts::by_activations})
      this->*m += o.*m;
    return *this;
  }
};

/// Memory that the best plans may use.
enum class Room : std::uint8_t { Planned, Gate, None };

/// best: fastest first, within the room. front: within the gate, none both slower and larger than another.
/// near: above the gate by little and faster than the best. smallest: least memory first, where nothing fits
/// or headroom is asked for.
struct Found {
  Room room = Room::Planned;
  Best best, near, smallest;
  Front front{512};
  SearchCounts counts;

  explicit Found(const SearchOptions& o)
      : best(o.top, faster), near(o.top, faster), smallest(o.top, leaner) {}
  void merge(const Found& o) {
    for (const Candidate& c : o.best.kept()) best.offer(c);
    for (const Candidate& c : o.near.kept()) near.offer(c);
    for (const Candidate& c : o.smallest.kept()) smallest.offer(c);
    for (const Candidate& c : o.front.kept()) front.offer(c);
    counts += o.counts;
  }
};

namespace detail {

/// Parts of a search, each with bounds of its own, so that neither the answer nor the counts depend on how
/// many threads share them.
inline constexpr std::size_t kLanes = 8;
/// Arrangements with the lowest bounds, which are searched first, so that all parts begin with a plan that
/// fits.
inline constexpr std::size_t kScouted = 48;

/// Visits arrangements, and inside them plans, as long as one of theirs may be in an answer.
class Lane {
  enum class Cut : std::uint8_t { No, Slow, Beaten, Large };

  const PlanSpace& space_;
  const SearchOptions& options_;
  Room room_;
  Found& out_;
  std::vector<const Found*> known_;
  double gate_, limit_;
  bool probing_ = false;

  void classify(const PlanCost<double>& cost) {
    SearchCounts& n = out_.counts;
    ++n.evaluated;
    const double device = cost.memory.device.num(), gate = cost.gate.num();
    const double state = cost.memory.state.num();
    if (device <= gate) {
      ++(device <= cost.limit.num() ? n.fit : n.tight);
      return;
    }
    ++n.not_fit;
    if (state > gate)
      ++n.by_state;
    else if (state + cost.memory.activations.saved.num() > gate)
      ++n.by_activations;
  }

  Candidate evaluated(std::uint64_t index, const Problem& problem, const Plan& plan) {
    const PlanCost<double> cost = evaluate(problem, plan);
    classify(cost);
    const Candidate c{index, cost.step.step.num(), cost.memory.device.num()};
    if (host_is_full(problem, cost.host.node.num())) return c;
    if (room_ == Room::None) {
      out_.smallest.offer(c);
      return c;
    }
    const double gate = cost.gate.num(), limit = room_ == Room::Gate ? gate : cost.limit.num();
    if (c.device <= limit) out_.best.offer(c);
    if (c.device <= gate)
      out_.front.offer(c);
    else if (c.device <= gate * (1 + options_.over))
      out_.near.offer(c);
    return c;
  }

  /// Of what this lane and those before it found.
  double fastest() const {
    double step = std::numeric_limits<double>::infinity();
    for (const Found* f : known_)
      if (!f->best.kept().empty()) step = std::min(step, f->best.kept().front().step);
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
    const double first = fastest(), longest = first * (1 + options_.slower);
    if (step <= first || enters_best(step, device) || enters_front(step, device, longest)) return Cut::No;
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
    for (std::uint32_t r = s.first; r < s.last; ++r) {
      const Rebuilt& rebuilt = inside.rebuilt[r];
      const bool layers = rebuilt.recompute == Recompute::Layers;
      const bool modules = rebuilt.recompute == Recompute::Selective && problem.model().is_sparse();
      if (r > s.first && cuts(modules ? step : with_layers, device, layers ? s.last - r : 1)) {
        if (layers) return;
        continue;
      }
      take(rebuilt, plan);
      const Candidate c = evaluated(a.first + r, problem, plan);
      if (rebuilt.recompute == Recompute::Full) device = std::max(device, c.device * (1 - kBoundSlack));
      if (rebuilt.recompute == Recompute::None || layers)
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
    limit_ = room == Room::Gate ? gate_ : gate_ * (1 - problem.recipe.margin);
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

}  // namespace detail

/// Runs body(0) to body(n - 1) in any order, on as many threads as the caller likes.
using ForAll = std::function<void(std::size_t n, const std::function<void(std::size_t)>& body)>;
inline void one_after_the_other(std::size_t n, const std::function<void(std::size_t)>& body) {
  for (std::size_t i = 0; i < n; ++i) body(i);
}

namespace detail {

inline std::vector<Bounded> bounded_arrangements(const PlanSpace& space, const ForAll& for_all) {
  const std::size_t n = space.arrangements().size();
  std::vector<Bounded> order(n);
  constexpr std::size_t kPiece = 64;
  for_all((n + kPiece - 1) / kPiece, [&](std::size_t piece) {
    for (std::size_t i = piece * kPiece; i < std::min(n, (piece + 1) * kPiece); ++i)
      order[i] = bounded(space, static_cast<std::uint32_t>(i));
  });
  return order;
}

/// A first plan that fits the room, if there is any, so that bounds have something to be held against.
inline Found first_that_fits(const PlanSpace& space, const std::vector<Bounded>& order,
                             const SearchOptions& options, Room room) {
  Found found(options);
  Lane lane(space, options, room, found);
  for (const Bounded& b : order)
    if (lane.probe(b)) break;
  return found;
}

/// known: of the same room.
inline Found search_within(const PlanSpace& space, const std::vector<Bounded>& order,
                           const SearchOptions& options, Room room, const Found& known,
                           const ForAll& for_all) {
  const std::size_t n = order.size(), scouted = std::min(n, kScouted);
  Found all(options);
  all.room = room;
  Lane scout(space, options, room, all, {&known});
  for (std::size_t i = 0; i < scouted; ++i) scout.visit(order[i]);
  std::vector<Found> found(kLanes, Found(options));
  for_all(kLanes, [&](std::size_t lane) {
    Lane worker(space, options, room, found[lane], {&known, &all});
    for (std::size_t i = scouted + lane; i < n; i += kLanes) worker.visit(order[i]);
  });
  for (const Found& f : found) all.merge(f);
  return all;
}

}  // namespace detail

/// The plans with the planning margin free; where there is none those within the gate; where there is none
/// either the smallest. The answer does not depend on for_all.
inline Found search_plans(const PlanSpace& space, const SearchOptions& options, const ForAll& for_all) {
  Found found(options);
  if (space.size() == 0) return found;
  std::vector<detail::Bounded> order = detail::bounded_arrangements(space, for_all);
  std::ranges::sort(order, {}, [](const detail::Bounded& b) { return std::pair(b.step, b.arrangement); });
  for (const Room room : {Room::Planned, Room::Gate}) {
    if (options.objective == Objective::Headroom) break;
    const Found known = detail::first_that_fits(space, order, options, room);
    if (known.best.kept().empty()) continue;
    found = detail::search_within(space, order, options, room, known, for_all);
    const double first = found.best.kept().front().step;
    found.front.drop([&](const Candidate& c) { return c.step > first * (1 + options.slower); });
    found.near.drop([&](const Candidate& c) { return c.step > first; });
    return found;
  }
  std::ranges::sort(order, {}, &detail::Bounded::arrangement);
  return detail::search_within(space, order, options, Room::None, Found(options), for_all);
}

}  // namespace trainplan
