/// All micro-batches of a chunk before the next chunk.
#pragma once

#include <algorithm>
#include <vector>

#include "trainplan/sim/orders/pairs.hpp"
#include "trainplan/sim/schedule.hpp"

namespace trainplan::sim {

/// The backwards undo the forwards, last to first.
inline Orders looped_bfs(const Shape& s) {
  std::vector<Pass> forwards;
  for (int c = 0; c < s.chunks; ++c)
    for (const Pass& p : passes(Work::Forward, s.micro_batches, c)) forwards.push_back(p);
  std::vector<Pass> backwards(forwards.rbegin(), forwards.rend());
  for (Pass& p : backwards) p.work = Work::Backward;
  return one_sequence_each(s, [&](int) { return pairs(forwards, backwards, s.chunks * s.micro_batches); });
}

}  // namespace trainplan::sim
