/// What a simulated pipeline did, and when.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainplan/sim/slot.hpp"

namespace trainplan::sim {

struct Ran {
  Slot slot;
  Ticks start = 0, end = 0;
  int sequence = 0;
};

enum class Carried : std::uint8_t { Activation, Gradient };

/// Sent at the end of the pass that made it, carried from start to end, taken at the start of the pass that
/// needs it. Chunk is the receiver's.
struct Message {
  Carried carried = Carried::Activation;
  int from = 0, to = 0, chunk = 0, micro_batch = 0;
  Ticks sent = 0, start = 0, end = 0, taken = 0;
};

struct Timeline {
  std::vector<std::vector<Ran>> stages;  ///< for each stage, in the order in which they ran
  std::vector<Message> messages;
  std::vector<Ticks> busy;   ///< for each stage
  Ticks gradient_ready = 0;  ///< all gradients of all stages
  Ticks makespan = 0;        ///< and the update after it

  Ticks span(std::size_t stage) const {
    const std::vector<Ran>& ran = stages[stage];
    return ran.empty() ? 0 : ran.back().end - ran.front().start;
  }
  /// With an update that waits for all stages.
  Ticks idle(std::size_t stage) const { return gradient_ready - busy[stage]; }
  /// With an update that waits for nobody.
  Ticks span_idle(std::size_t stage) const { return span(stage) - busy[stage]; }

  Ticks longest_span() const { return largest(&Timeline::span); }
  Ticks max_idle() const { return largest(&Timeline::idle); }
  Ticks max_span_idle() const { return largest(&Timeline::span_idle); }

  std::size_t count(Carried carried) const {
    return static_cast<std::size_t>(std::ranges::count(messages, carried, &Message::carried));
  }

 private:
  Ticks largest(Ticks (Timeline::*of)(std::size_t) const) const {
    Ticks out = 0;
    for (std::size_t g = 0; g < stages.size(); ++g) out = std::max(out, (this->*of)(g));
    return out;
  }
};

}  // namespace trainplan::sim
