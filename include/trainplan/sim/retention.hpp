/// What a pipeline keeps in memory over time: sets that were saved for the backward pass, and message
/// buffers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainplan/sim/placement.hpp"
#include "trainplan/sim/timeline.hpp"

namespace trainplan::sim {

/// Bytes, or whatever the sizes are counted in.
using Size = std::int64_t;

enum class Kept : std::uint8_t {
  Saved,         ///< from the start of the forward to the end of the backward pass or of its first half
  ForWeights,    ///< what is left of it until the gradients of the weights are done
  SendBuffer,    ///< from the end of the pass that made it to the end of its transfer
  ReceiveBuffer  ///< from the start of the transfer to the start of the pass that needs it
};
inline constexpr std::size_t kKeptClasses = 4;
using ByClass = std::array<Size, kKeptClasses>;

/// For each stage and chunk.
struct SavedSet {
  Size whole = 0, for_weights = 0;
};

struct Sizes {
  std::vector<std::vector<SavedSet>> saved{};
  Size activation_message = 0, gradient_message = 0;
};

/// From its moment on, until the next step of the stage.
struct Step {
  Ticks at = 0;
  ByClass alive{};
  int sets = 0;  ///< saved sets, whole or what is left of them

  Size total() const { return alive[0] + alive[1] + alive[2] + alive[3]; }
};

/// Peak: the first step at which the stage holds most.
struct Residency {
  std::vector<Step> steps{};
  Step peak{};
  int peak_sets = 0;
};

namespace detail {

struct Change {
  Ticks at = 0;
  Size size = 0;  ///< negative: released
  Kept kept = Kept::Saved;
  int sets = 0;
};

/// The intervals of one stage.
class Holdings {
  std::vector<Change> changes_;

 public:
  /// What is held for no time is not held. Sets: what the interval adds to the count of sets.
  void hold(Kept kept, Size size, Ticks from, Ticks to, int sets = 0) {
    if (from == to || (size == 0 && sets == 0)) return;
    changes_.push_back({from, size, kept, sets});
    changes_.push_back({to, -size, kept, -sets});
  }

  /// Releases of a moment come before what is acquired at it.
  Residency residency() {
    std::ranges::stable_sort(changes_, {}, &Change::at);
    Residency out;
    Step now;
    for (std::size_t i = 0; i < changes_.size();) {
      now.at = changes_[i].at;
      for (; i < changes_.size() && changes_[i].at == now.at; ++i) {
        now.alive[static_cast<std::size_t>(changes_[i].kept)] += changes_[i].size;
        now.sets += changes_[i].sets;
      }
      out.steps.push_back(now);
      if (now.total() > out.peak.total()) out.peak = now;
      out.peak_sets = std::max(out.peak_sets, now.sets);
    }
    return out;
  }
};

/// When a set was made and when its halves were used.
struct Life {
  Ticks made = 0, input_gradient = 0, weight_gradient = 0;
};

inline std::vector<Life> lives(const Timeline& timeline, const Map& map) {
  std::vector<Life> out(map.size());
  const auto note = [&](int stage, const Pass& p, const Ran& ran) {
    Life& life = out[map.index(map.virtual_stage(stage, p.chunk), p.micro_batch)];
    switch (p.work) {
      case Work::Forward: life.made = ran.start; break;
      case Work::Backward: life.input_gradient = life.weight_gradient = ran.end; break;
      case Work::InputGradient: life.input_gradient = ran.end; break;
      case Work::WeightGradient: life.weight_gradient = ran.end; break;
    }
  };
  for (std::size_t g = 0; g < timeline.stages.size(); ++g)
    for (const Ran& ran : timeline.stages[g]) {
      note(static_cast<int>(g), ran.slot.first, ran);
      if (ran.slot.second) note(static_cast<int>(g), *ran.slot.second, ran);
    }
  return out;
}

}  // namespace detail

/// For each stage. A set of which nothing is left for the weights counts until the end of the first half.
inline std::vector<Residency> residency(const Timeline& timeline, const Map& map, const Sizes& sizes) {
  std::vector<detail::Holdings> holdings(timeline.stages.size());
  const auto lives = detail::lives(timeline, map);
  for (int q = 0; q < map.virtual_stages(); ++q) {
    const Seat seat = map.seat(q);
    const auto stage = static_cast<std::size_t>(seat.stage);
    const SavedSet& set = sizes.saved[stage][static_cast<std::size_t>(seat.chunk)];
    for (int i = 0; i < map.micro_batches(); ++i) {
      const detail::Life& life = lives[map.index(q, i)];
      holdings[stage].hold(Kept::Saved, set.whole, life.made, life.input_gradient, 1);
      holdings[stage].hold(Kept::ForWeights, set.for_weights, life.input_gradient, life.weight_gradient,
                           set.for_weights > 0 ? 1 : 0);
    }
  }
  for (const Message& m : timeline.messages) {
    const Size size = m.carried == Carried::Activation ? sizes.activation_message : sizes.gradient_message;
    holdings[static_cast<std::size_t>(m.from)].hold(Kept::SendBuffer, size, m.sent, m.end);
    holdings[static_cast<std::size_t>(m.to)].hold(Kept::ReceiveBuffer, size, m.start, m.taken);
  }
  std::vector<Residency> out;
  for (detail::Holdings& of_stage : holdings) out.push_back(of_stage.residency());
  return out;
}

/// Each chunk saves one set, of which a share is left for the weights.
inline Sizes one_for_each(const Map& map, SavedSet set) {
  const std::vector<SavedSet> of_stage(static_cast<std::size_t>(map.chunks()), set);
  return {.saved = std::vector<std::vector<SavedSet>>(static_cast<std::size_t>(map.stages()), of_stage)};
}

}  // namespace trainplan::sim
