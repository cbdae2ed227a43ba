/// Two flows through the same stages in opposite directions, each in its own order.
#pragma once

#include <optional>

#include "trainplan/sim/orders/one_f1b.hpp"
#include "trainplan/sim/orders/pairs.hpp"
#include "trainplan/sim/schedule.hpp"

namespace trainplan::sim {

inline Sequence of_chunk(Sequence sequence, int chunk) {
  for (Slot& slot : sequence) slot.first.chunk = chunk;
  return sequence;
}

/// Each direction runs 1F1B with gradients of weights put off; the stage takes whichever head is ready.
/// Nothing pairs the passes of the two, and so it stays above the bound of `dualpipe`.
inline Orders two_flows(const Shape& s) {
  const auto order = [&](int position) {
    const int left = s.stages - 1 - position;
    return split(pairs(s.micro_batches / 2, left), left);
  };
  Orders out;
  for (int g = 0; g < s.stages; ++g)
    out.push_back({of_chunk(order(g), 0), of_chunk(order(s.stages - 1 - g), 1)});
  return out;
}

inline std::optional<Refusal> even_micro_batches(const Shape& s) {
  if (s.micro_batches % 2 == 0 && s.micro_batches > 0) return {};
  return Refusal{"micro_batches", s.micro_batches, "be even, half of them for each direction",
                 s.micro_batches + 1};
}

}  // namespace trainplan::sim
