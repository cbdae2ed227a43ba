/// The shortest of many orders of a V that keep a memory limit.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "trainplan/sim/orders/vee.hpp"
#include "trainplan/sim/orders/zbv.hpp"
#include "trainplan/sim/pipeline.hpp"

namespace trainplan::sim {

namespace vee {

/// Slots between the starts of neighbouring stages on the way down the V; the way up always takes one.
struct Descent {
  int step = 1;
  int later_step = 1;  ///< from stage `change` on
  int change = 0;

  int start(int stage) const {
    return step * std::min(stage, change) + later_step * std::max(0, stage - change);
  }
};

/// Slots that F1, X1 and X0 start after the pass before them at the turn, a whole period at most.
using Delays = std::array<int, 3>;

inline Block block(int stages, const Descent& descent, const Delays& delays) {
  const int last = stages - 1;
  const int f1 = descent.start(last) + delays[0];       // on the last stage
  const int x1 = f1 + last + delays[1];                 // on the first
  const int x0 = x1 + descent.start(last) + delays[2];  // on the last
  return block(
      stages, [&](int g) { return descent.start(g); }, [&](int g) { return f1 + last - g; },
      [&](int g) { return x1 + descent.start(g); }, [&](int g) { return x0 + last - g; });
}

/// Whether no two passes ever want the same slot, so that the block can be repeated every period.
inline bool repeats(const Block& block) {
  for (std::size_t g = 0; g < block.front().size(); ++g) {
    unsigned taken = 0;
    for (const auto& start : block) {
      const unsigned residue = 1U << (start[g] % kPeriod);
      if ((taken & residue) != 0) return false;
      taken |= residue;
    }
  }
  return true;
}

/// Sets of a chunk that a stage holds on average from F to X: no order of the block has a lower peak.
inline double least_sets(const Block& block) {
  int most = 0;
  for (std::size_t g = 0; g < block.front().size(); ++g)
    most = std::max(most, block[kX1][g] - block[kF1][g] + block[kX0][g] - block[kF0][g]);
  return static_cast<double>(most) / kPeriod;
}

/// With many stages the change is tried at some of them only, so that the search stays short.
inline std::vector<Descent> descents(int stages) {
  const int apart = (stages + 7) / 8;
  std::vector<Descent> out;
  for (int step = 1; step < kPeriod; ++step) {
    out.push_back({step, step, 0});
    for (int later = 1; later < step; ++later)
      for (int change = 1; change < stages - 1; change += apart) out.push_back({step, later, change});
  }
  return out;
}

/// Blocks of a descent that can be repeated and may keep to a limit of so many chunk sets.
inline std::vector<Block> blocks(int stages, const Descent& descent, double limit) {
  std::vector<Block> out;
  for (int f1 = 1; f1 <= kPeriod; ++f1)
    for (int x1 = 1; x1 <= kPeriod; ++x1)
      for (int x0 = 1; x0 <= kPeriod; ++x0) {
        Block candidate = block(stages, descent, {f1, x1, x0});
        if (repeats(candidate) && least_sets(candidate) <= limit) out.push_back(std::move(candidate));
      }
  return out;
}

/// Most stage sets that any stage holds; of a set whose X has run, `after_x` is left.
inline double peak_stage_sets(const Orders& orders, double after_x) {
  double peak = 0;
  for (const auto& of_stage : orders) {
    int whole = 0, rests = 0;
    for (const Slot& slot : of_stage.front()) {
      const Work work = slot.first.work;
      whole += work == Work::Forward ? 1 : work == Work::InputGradient ? -1 : 0;
      rests += work == Work::InputGradient ? 1 : work == Work::WeightGradient ? -1 : 0;
      peak = std::max(peak, whole + after_x * rests);
    }
  }
  return peak / 2;
}

/// Compares orders on a shape with few micro-batches, where the steady part has just begun to repeat.
class Search {
 public:
  using Rule = std::function<Orders(const Shape&)>;

  explicit Search(const Shape& shape) : shape_(shape), trial_(shape) {
    trial_.micro_batches = std::min(shape.micro_batches, 3 * shape.stages);
  }

  void consider(const Rule& rule) {
    const Orders orders = rule(trial_);
    if (peak_stage_sets(orders, shape_.after_x) > shape_.memory + 1e-9) return;
    const Outcome outcome = simulate(orders, Placement::Vee, trial_);
    const Ticks span = expected_span(std::get<Timeline>(outcome));
    if (best_ && span >= shortest_) return;
    best_ = rule;
    shortest_ = span;
  }

  const Rule& best() const { return best_; }

 private:
  /// Further micro-batches follow each other as the last ones do.
  Ticks expected_span(const Timeline& timeline) const {
    const int last = trial_.micro_batches - 1, before = last - std::max(1, trial_.stages / 2);
    const Ticks span = timeline.longest_span();
    if (trial_.micro_batches == shape_.micro_batches) return span;
    const Ticks apart = first_forward(timeline, last) - first_forward(timeline, before);
    return span + apart * (shape_.micro_batches - trial_.micro_batches) / (last - before);
  }

  static Ticks first_forward(const Timeline& timeline, int micro_batch) {
    const Slot wanted{{Work::Forward, micro_batch, 0}, {}};
    return std::ranges::find(timeline.stages.front(), wanted, &Ran::slot)->start;
  }

  const Shape& shape_;
  Shape trial_;
  Rule best_;
  Ticks shortest_ = 0;
};

}  // namespace vee

/// Blocks whose ways down take 1 to 5 slots a stage, and the named orders of a V. Shape::memory is the limit.
inline Orders v_search(const Shape& shape) {
  vee::Search search(shape);
  for (const auto named : {v_min, v_half, v_zb, zbv}) search.consider(named);
  for (const vee::Descent& descent : vee::descents(shape.stages))
    for (const vee::Block& block : vee::blocks(shape.stages, descent, 2 * shape.memory))
      search.consider([block](const Shape& s) { return vee::orders(block, s.micro_batches); });
  return search.best() ? search.best()(shape) : v_min(shape);
}

/// No V holds less than v_min.
inline std::optional<Refusal> holds_a_v(const Shape& s) {
  const int least = std::min(s.micro_batches, (s.stages + 4) / 3);
  if (s.memory >= least) return {};
  return Refusal{"memory", static_cast<int>(s.memory),
                 "hold at least the activation sets of v_min, " + std::to_string(least), least};
}

}  // namespace trainplan::sim
