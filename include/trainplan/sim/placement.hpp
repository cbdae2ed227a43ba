/// Where the positions of a flow of micro-batches lie, and which stages are neighbours.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "trainplan/sim/slot.hpp"

namespace trainplan::sim {

inline constexpr std::array kEveryPlacement{Placement::Linear, Placement::Loop, Placement::Vee,
                                            Placement::TwoDirections};

/// Chunks of a stage; loops have as many as one likes, and a second direction counts as one.
constexpr int chunks_of(Placement placement, int in_loops) {
  return placement == Placement::Linear ? 1 : placement == Placement::Loop ? in_loops : 2;
}

/// A chunk of a stage.
struct Seat {
  int stage = 0, chunk = 0;
};

/// Numbers the chunks in the order of the flow: virtual stages 0, 1, ... of the first direction, then those
/// of the second.
class Map {
  Placement placement_;
  int stages_, chunks_, micro_batches_;

 public:
  Map(Placement placement, const Shape& shape)
      : placement_(placement),
        stages_(shape.stages),
        chunks_(chunks_of(placement, shape.chunks)),
        micro_batches_(shape.micro_batches / flows()) {}

  int stages() const { return stages_; }
  int chunks() const { return chunks_; }
  int flows() const { return placement_ == Placement::TwoDirections ? 2 : 1; }
  /// Chunks that one copy of a stage's layers is cut into.
  int chunks_of_copy() const { return chunks_ / flows(); }
  int positions() const { return stages_ * chunks_ / flows(); }
  int virtual_stages() const { return stages_ * chunks_; }
  /// Micro-batches of one direction.
  int micro_batches() const { return micro_batches_; }

  int virtual_stage(int stage, int chunk) const {
    const bool back = chunk == 1;
    switch (placement_) {
      case Placement::Linear: return stage;
      case Placement::Loop: return chunk * stages_ + stage;
      case Placement::Vee:
      case Placement::TwoDirections: break;
    }
    // The second leg of a V and the second direction both run down the stages.
    return back ? 2 * stages_ - 1 - stage : stage;
  }
  Seat seat(int virtual_stage) const {
    const int round = virtual_stage / stages_, at = virtual_stage % stages_;
    const bool mirrored = round == 1 && placement_ != Placement::Loop;
    return {mirrored ? stages_ - 1 - at : at, round};
  }

  bool first(int virtual_stage) const { return virtual_stage % positions() == 0; }
  bool last(int virtual_stage) const { return virtual_stage % positions() == positions() - 1; }
  /// The flow goes on on the same stage, so that nothing is sent.
  bool local(int from, int to) const { return seat(from).stage == seat(to).stage; }

  std::size_t index(int virtual_stage, int micro_batch) const {
    return static_cast<std::size_t>(virtual_stage) * static_cast<std::size_t>(micro_batches_) +
           static_cast<std::size_t>(micro_batch);
  }
  std::size_t size() const { return index(virtual_stages(), 0); }

  /// Boundary g lies between the stages g and g + 1, the last one between the last stage and the first.
  int boundary(int from, int to) const {
    const bool adjacent = from - to == 1 || to - from == 1;
    return adjacent ? std::min(from, to) : stages_ - 1;
  }
};

}  // namespace trainplan::sim
