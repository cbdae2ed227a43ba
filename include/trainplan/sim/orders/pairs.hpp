/// What the orders of a pipeline are put together from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "trainplan/sim/slot.hpp"

namespace trainplan::sim {

/// The passes of one kind over the micro-batches of one chunk, first to last.
inline std::vector<Pass> passes(Work work, int micro_batches, int chunk = 0) {
  std::vector<Pass> out;
  for (int i = 0; i < micro_batches; ++i) out.push_back({work, i, chunk});
  return out;
}

/// So many forwards, then forward and backward in turn, then the backwards that are left.
inline Sequence pairs(std::span<const Pass> forwards, std::span<const Pass> backwards, int warm_up) {
  const std::size_t lead = std::min(static_cast<std::size_t>(warm_up), forwards.size());
  Sequence out;
  out.reserve(forwards.size() + backwards.size());
  for (std::size_t i = 0; i < lead; ++i) out.push_back({forwards[i], {}});
  for (std::size_t i = 0; i < backwards.size(); ++i) {
    if (lead + i < forwards.size()) out.push_back({forwards[lead + i], {}});
    out.push_back({backwards[i], {}});
  }
  return out;
}

/// Each backward pass in its halves, the gradient of the weights so many backward passes later.
inline Sequence split(const Sequence& whole, int delay) {
  std::vector<Pass> owed;
  std::size_t paid = 0;
  Sequence out;
  const auto pay = [&] {
    Pass p = owed[paid++];
    p.work = Work::WeightGradient;
    out.push_back({p, {}});
  };
  for (Slot slot : whole) {
    const bool backward = slot.first.work == Work::Backward;
    if (backward) {
      owed.push_back(slot.first);
      slot.first.work = Work::InputGradient;
    }
    out.push_back(slot);
    if (backward && owed.size() > static_cast<std::size_t>(delay)) pay();
  }
  while (paid < owed.size()) pay();
  return out;
}

}  // namespace trainplan::sim
