/// One forward, one backward, and the two orders that put off the gradients of the weights.
#pragma once

#include <optional>
#include <string>

#include "trainplan/sim/orders/pairs.hpp"
#include "trainplan/sim/schedule.hpp"

namespace trainplan::sim {

inline Sequence pairs(int micro_batches, int warm_up) {
  return pairs(passes(Work::Forward, micro_batches), passes(Work::Backward, micro_batches), warm_up);
}

inline Orders one_f1b(const Shape& s) {
  return one_sequence_each(s, [&](int g) { return pairs(s.micro_batches, s.stages - 1 - g); });
}

/// As many micro-batches in flight as 1F1B has on its first stage, on every stage.
inline Orders zb_h1(const Shape& s) {
  return one_sequence_each(s, [&](int g) { return split(pairs(s.micro_batches, s.stages - 1 - g), g); });
}

/// Twice the warm-up, so that the stages end as they began, one after the other.
inline Orders zb_h2(const Shape& s) {
  return one_sequence_each(
      s, [&](int g) { return split(pairs(s.micro_batches, 2 * (s.stages - 1 - g)), 2 * g); });
}

/// Below this number the warm-up is cut short.
inline std::optional<Refusal> fills_two_ways(const Shape& s) {
  const int least = 2 * s.stages - 1;
  if (s.micro_batches >= least) return {};
  return Refusal{"micro_batches", s.micro_batches, "be at least 2 x stages - 1 = " + std::to_string(least),
                 least};
}

}  // namespace trainplan::sim
