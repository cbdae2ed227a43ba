/// Items of memory with the phases that they live in, and the blocks that stand idle in the other phases.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <concepts>
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
  // Blocks that stand idle in some phase, the first size_ of them.
  std::array<N, K> bytes_;
  std::array<Phases, K> in_use_;
  std::size_t size_ = 0;
  std::array<Bytes<N>, kPhases> sums_{};
  Phases begun_ = 0;  // phases whose sum has a first part

 public:
  /// State, or what other phases have no use for: never counted as idle.
  void add(Bytes<N> bytes, Phases alive) { add(bytes, alive, kAlways); }
  /// A tensor of some phases; the allocator keeps its block in the others.
  void add_transient(Bytes<N> bytes, Phases alive) { add(bytes, alive, alive); }
  void add(Bytes<N> bytes, Phases alive, Phases in_use) {
    if (in_use != kAlways) {
      assert(size_ < K);
      bytes_[size_] = bytes.num();
      in_use_[size_++] = in_use;
    }
    for (Phases rest = alive; rest != 0; rest &= static_cast<Phases>(rest - 1)) {
      const int phase = std::countr_zero(rest);
      Bytes<N>& sum = sums_[static_cast<std::size_t>(phase)];
      if constexpr (std::same_as<N, double>)
        sum = sum + bytes;
      else  // so that the recorded formula has no leading zero
        sum = (begun_ >> phase & 1) != 0 ? sum + bytes : bytes;
    }
    begun_ |= alive;
  }

  Bytes<N> phase_sum(Phase phase) const { return sums_[static_cast<std::size_t>(phase)]; }
  /// Blocks without use in a phase.
  Sum<Bytes<N>> idle_sum(Phase phase) const {
    Sum<Bytes<N>> out;
    for (std::size_t i = 0; i < size_; ++i)
      if ((in_use_[i] & bit(phase)) == 0) out.add(Bytes<N>{bytes_[i]});
    return out;
  }
};

}  // namespace trainplan
