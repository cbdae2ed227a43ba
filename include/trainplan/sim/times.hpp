/// How long the passes and messages of a pipeline take.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "trainplan/sim/placement.hpp"
#include "trainplan/sim/slot.hpp"

namespace trainplan::sim {

/// Recomputation is part of the backward pass that needs its result.
struct PassTicks {
  Ticks forward = 0, input_gradient = 0, weight_gradient = 0;

  Ticks of(Work work) const {
    switch (work) {
      case Work::Forward: return forward;
      case Work::Backward: return input_gradient + weight_gradient;
      case Work::InputGradient: return input_gradient;
      case Work::WeightGradient: return weight_gradient;
    }
    return 0;
  }
};

/// Ticks of a timeline. A head or an embedding lengthens the passes of its chunk.
struct Times {
  std::vector<std::vector<PassTicks>> chunk{};  ///< for each stage and chunk
  std::vector<Ticks> activation,
      gradient;                  ///< of a message, for each boundary between stages (Map::boundary)
  std::vector<Ticks> overlap{};  ///< what a pair saves, for each stage
  Ticks update = 0;              ///< of the optimizer, once all gradients of all stages are there

  /// A pair is never shorter than its longer part.
  Ticks of(int stage, const Slot& slot) const {
    const auto g = static_cast<std::size_t>(stage);
    const auto alone = [&](const Pass& p) { return chunk[g][static_cast<std::size_t>(p.chunk)].of(p.work); };
    const Ticks first = alone(slot.first);
    if (!slot.second) return first;
    const Ticks second = alone(*slot.second);
    return std::max({first, second, first + second - overlap[g]});
  }
};

/// Layers of each chunk of a stage: as even as they can be, the first chunks hold one more.
inline std::vector<int> chunk_layers(int layers, int chunks) {
  std::vector<int> out(static_cast<std::size_t>(chunks), layers / chunks);
  for (int c = 0; c < layers % chunks; ++c) ++out[static_cast<std::size_t>(c)];
  return out;
}

namespace detail {

/// Ticks of each chunk, in proportion to its layers; what does not divide moves on to a later chunk, so that
/// the sum is exact.
inline std::vector<Ticks> in_proportion(Ticks whole, std::span<const int> layers) {
  Ticks all = 0, before = 0, given = 0;
  for (const int n : layers) all += n;
  std::vector<Ticks> out;
  for (const int n : layers) {
    before += n;
    const Ticks upto = whole * before / all;
    out.push_back(upto - given);
    given = upto;
  }
  return out;
}

}  // namespace detail

/// The durations of full stages, cut over chunks of so many layers; each of two directions holds a full
/// stage.
inline Times times_of(const Shape& shape, Placement placement, std::span<const int> layers) {
  const Map map(placement, shape);
  const Durations& d = shape.durations;
  const auto stages = static_cast<std::size_t>(shape.stages);
  Times out{.activation = std::vector<Ticks>(stages, d.transfer),
            .gradient = std::vector<Ticks>(stages, d.transfer),
            .overlap = std::vector<Ticks>(stages, 0)};
  for (std::size_t g = 0; g < stages; ++g) {
    std::vector<PassTicks> chunks(static_cast<std::size_t>(map.chunks()),
                                  {d.forward[g], d.input_gradient[g], d.weight_gradient[g]});
    if (map.flows() == 1) {
      const auto f = detail::in_proportion(d.forward[g], layers),
                 x = detail::in_proportion(d.input_gradient[g], layers),
                 w = detail::in_proportion(d.weight_gradient[g], layers);
      for (std::size_t c = 0; c < chunks.size(); ++c) chunks[c] = {f[c], x[c], w[c]};
    }
    out.chunk.push_back(std::move(chunks));
  }
  return out;
}

/// Chunks of equal size.
inline Times times_of(const Shape& shape, Placement placement) {
  const std::vector<int> even(static_cast<std::size_t>(Map(placement, shape).chunks()), 1);
  return times_of(shape, placement, even);
}

/// The same passes with messages that take no time: what is left of the idle time is the schedule's own.
inline Times without_transfers(Times times) {
  std::ranges::fill(times.activation, 0);
  std::ranges::fill(times.gradient, 0);
  return times;
}

}  // namespace trainplan::sim
