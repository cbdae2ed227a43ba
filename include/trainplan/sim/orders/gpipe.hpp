/// All forwards, then all backwards.
#pragma once

#include <algorithm>
#include <vector>

#include "trainplan/sim/orders/pairs.hpp"
#include "trainplan/sim/schedule.hpp"

namespace trainplan::sim {

/// Drains in the order of the forwards, as torch does.
inline Orders gpipe(const Shape& s) {
  const auto forwards = passes(Work::Forward, s.micro_batches),
             backwards = passes(Work::Backward, s.micro_batches);
  return one_sequence_each(s, [&](int) { return pairs(forwards, backwards, s.micro_batches); });
}

/// Drains in reverse, as the first paper on pipelines does.
inline Orders fill_drain(const Shape& s) {
  const auto forwards = passes(Work::Forward, s.micro_batches);
  auto backwards = passes(Work::Backward, s.micro_batches);
  std::ranges::reverse(backwards);
  return one_sequence_each(s, [&](int) { return pairs(forwards, backwards, s.micro_batches); });
}

}  // namespace trainplan::sim
