/// Items of memory with the phases that they live in, and the blocks that stand idle in the other phases.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>

#include "trainplan/base/quantity.hpp"
#include "trainplan/spec/framework.hpp"

namespace trainplan {

/// Every phase in which kernels of the forward and backward pass run.
inline constexpr Phases kComputePhases = bit(Phase::ForwardEnd) | bit(Phase::Loss) |
                                         bit(Phase::HeadBackward) | bit(Phase::LayerBackward) |
                                         bit(Phase::EmbeddingBackward);
/// From the first backward pass on.
inline constexpr Phases kAfterLoad = static_cast<Phases>(kAlways & ~bit(Phase::Load));

template <class N, std::size_t K = 64>
class Lifetimes {
  struct Entry {
    Bytes<N> bytes{};
    Phases alive = 0, in_use = 0;
  };
  std::array<Entry, K> entries_{};
  std::size_t size_ = 0;

  template <class Counts>
  Sum<Bytes<N>> sum(Counts counts) const {
    Sum<Bytes<N>> out;
    for (std::size_t i = 0; i < size_; ++i)
      if (counts(entries_[i])) out.add(entries_[i].bytes);
    return out;
  }

 public:
  /// State, or what other phases have no use for: never counted as idle.
  void add(Bytes<N> bytes, Phases alive) { add(bytes, alive, kAlways); }
  /// A tensor of some phases; the allocator keeps its block in the others.
  void add_transient(Bytes<N> bytes, Phases alive) { add(bytes, alive, alive); }
  void add(Bytes<N> bytes, Phases alive, Phases in_use) {
    assert(size_ < K);
    entries_[size_++] = {bytes, alive, in_use};
  }

  Bytes<N> phase_sum(Phase phase) const {
    return sum([&](const Entry& e) { return (e.alive & bit(phase)) != 0; }).total();
  }
  /// Blocks without use in a phase.
  Sum<Bytes<N>> idle_sum(Phase phase) const {
    return sum([&](const Entry& e) { return (e.in_use & bit(phase)) == 0; });
  }
};

}  // namespace trainplan
