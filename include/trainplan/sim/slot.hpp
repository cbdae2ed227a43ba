/// What the stages of a pipeline do, and in which order.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace trainplan::sim {

/// Time as a whole number of ticks; how long a tick is, is the caller's affair.
using Ticks = std::int64_t;

/// Backward is InputGradient and WeightGradient in one.
enum class Work : std::uint8_t { Forward, Backward, InputGradient, WeightGradient };

/// Work on one micro-batch for one chunk of the stage's layers; with two directions the chunk is the
/// direction.
struct Pass {
  Work work = Work::Forward;
  int micro_batch = 0;
  int chunk = 0;

  friend bool operator==(const Pass&, const Pass&) = default;
};

/// One pass, or two that cannot be told apart: they start when the inputs of both are there, and both outputs
/// leave at the end.
struct Slot {
  Pass first;
  std::optional<Pass> second;

  friend bool operator==(const Slot&, const Slot&) = default;
};

/// Slots that run one after the other.
using Sequence = std::vector<Slot>;

/// The sequences of every stage: one, or several whose heads compete for the stage.
using Orders = std::vector<std::vector<Sequence>>;

/// How the layers of the model lie on the stages.
enum class Placement : std::uint8_t {
  Linear,  ///< stage g holds chunk g of the model
  Loop,    ///< virtual stage q lies on stage q mod p as its chunk q div p
  Vee,     ///< virtual stage q < p lies on stage q as chunk 0, the others on stage 2p - 1 - q as chunk 1
  TwoDirections  ///< two copies: direction 0 enters at stage 0, direction 1 at stage p - 1
};

/// Ticks of a full stage (all its chunks, or one of its two copies), for each stage; of a message between
/// neighbours.
struct Durations {
  std::vector<Ticks> forward{}, input_gradient{}, weight_gradient{};
  Ticks transfer = 0;
};

/// All that an order may depend on.
struct Shape {
  int stages = 1, micro_batches = 1;
  int chunks = 1;      ///< of a stage; 2 in a V and with two directions
  int group = 1;       ///< consecutive micro-batches that visit a chunk before the next chunk (interleaved)
  int lead = 0;        ///< further forwards of the warm-up (1 where experts' exchanges overlap; interleaved)
  double memory = 0;   ///< activation sets of a stage that may be alive (memory-limited orders)
  double after_x = 1;  ///< share of a set that stays alive between X and W
  Durations durations{};
};

}  // namespace trainplan::sim
