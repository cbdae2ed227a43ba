/// Orders that feed a pipeline from both ends, or both chunks of a V, and pair forwards with backwards.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>

#include "trainplan/sim/schedule.hpp"

namespace trainplan::sim {

namespace detail {

/// Where a stage stands in the eight steps.
struct DualPipePlace {
  int depth = 1;          ///< stages from the first to the turn, or to the middle
  int distance = 0;       ///< of this stage from where its near flow enters
  int micro_batches = 1;  ///< of each flow
  int near = 0;           ///< flow (direction, or chunk of the V) that this stage meets first
};

/// The sequence of one stage. `near` flow comes first on this stage, `far` flow has gone round before it
/// arrives.
class DualPipeStage {
 public:
  explicit DualPipeStage(const DualPipePlace& place)
      : near_(place.near),
        far_(1 - place.near),
        beyond_(place.depth - place.distance - 1),
        within_(place.distance + 1),
        pairs_(place.micro_batches - 2 * place.depth + place.distance + 1) {}

  Sequence write() {
    forwards_of_near();
    forwards_of_both();
    split_backwards_of_far();
    paired();
    backwards_before_last_forwards();
    backwards_of_both();
    input_gradients_of_near();
    last_weight_gradients();
    return sequence_;
  }

 private:
  void forwards_of_near() {
    for (int i = 0; i < 2 * beyond_; ++i) add(forward(near_));
  }

  void forwards_of_both() {
    for (int i = 0; i < within_; ++i) {
      add(forward(near_));
      add(forward(far_));
    }
  }

  void split_backwards_of_far() {
    for (int i = 0; i < beyond_; ++i) {
      add(input_gradient(far_));
      add_weight_gradient();
      add(forward(far_));
    }
  }

  /// Next to the turn the first forward is what the first backward waits for elsewhere, so it must not wait.
  void paired() {
    for (int i = 0; i < pairs_; ++i) {
      if (i == 0 && beyond_ == 0) {
        add(forward(near_));
        add(backward(far_));
      } else {
        add_pair(near_, far_);
      }
      add_pair(far_, near_);
    }
  }

  void backwards_before_last_forwards() {
    for (int i = 0; i < beyond_; ++i) {
      add(backward(far_));
      add_pair(far_, near_);
    }
  }

  /// The second half leaves its weight gradients for the time in which the stage waits.
  void backwards_of_both() {
    for (int i = 0; i < 2 * within_; ++i) {
      const int flow = i % 2 == 0 ? far_ : near_;
      add(i < within_ ? backward(flow) : input_gradient(flow));
    }
  }

  void input_gradients_of_near() {
    for (int i = 0; i < beyond_; ++i) {
      add_weight_gradient();
      add(input_gradient(near_));
    }
  }

  void last_weight_gradients() {
    for (int i = 0; i < within_; ++i) add_weight_gradient();
  }

  Pass forward(int flow) { return {Work::Forward, forwards_[static_cast<std::size_t>(flow)]++, flow}; }
  Pass backward(int flow) { return {Work::Backward, backwards_[static_cast<std::size_t>(flow)]++, flow}; }
  Pass input_gradient(int flow) {
    const int micro_batch = backwards_[static_cast<std::size_t>(flow)]++;
    owed_.push_back({Work::WeightGradient, micro_batch, flow});
    return {Work::InputGradient, micro_batch, flow};
  }

  void add(Pass pass) { sequence_.push_back({pass, {}}); }
  void add_pair(int forward_of, int backward_of) {
    const Pass first = forward(forward_of);
    sequence_.push_back({first, backward(backward_of)});
  }
  void add_weight_gradient() {
    add(owed_.front());
    owed_.pop_front();
  }

  int near_, far_, beyond_, within_, pairs_;
  std::array<int, 2> forwards_{}, backwards_{};
  std::deque<Pass> owed_;
  Sequence sequence_;
};

}  // namespace detail

/// 2412.19437 and the steps of its repository. Each half of the stages is the near one of its own direction.
inline Orders dualpipe(const Shape& shape) {
  return one_sequence_each(shape, [&](int g) {
    const int half = shape.stages / 2;
    return detail::DualPipeStage({.depth = half,
                                  .distance = std::min(g, shape.stages - 1 - g),
                                  .micro_batches = shape.micro_batches / 2,
                                  .near = g < half ? 0 : 1})
        .write();
  });
}

/// One half of DualPipe folded into a V: one copy of the parameters.
inline Orders dualpipev(const Shape& shape) {
  return one_sequence_each(shape, [&](int g) {
    return detail::DualPipeStage(
               {.depth = shape.stages, .distance = g, .micro_batches = shape.micro_batches, .near = 0})
        .write();
  });
}

/// The steps before the pairs take two micro-batches for each stage.
inline std::optional<Refusal> fills_the_pairs(const Shape& s) {
  const int least = 2 * s.stages;
  if (s.micro_batches >= least) return {};
  return Refusal{"micro_batches", s.micro_batches, "be at least 2 x stages = " + std::to_string(least),
                 least};
}

inline std::optional<Refusal> halves_meet(const Shape& s) {
  if (s.stages % 2 != 0)
    return Refusal{"stages", s.stages, "be even, half of them before the middle", s.stages + 1};
  if (auto refusal = fills_the_pairs(s)) return refusal;
  if (s.micro_batches % 2 == 0) return {};
  return Refusal{"micro_batches", s.micro_batches, "be even, half of them for each direction",
                 s.micro_batches + 1};
}

}  // namespace trainplan::sim
