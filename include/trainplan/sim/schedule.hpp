/// A pipeline schedule as a row: what it is called, where its layers lie, when it is allowed, and its orders.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trainplan/sim/slot.hpp"

namespace trainplan::sim {

/// A number of a shape that a schedule does not allow, what it must be, and the nearest one that is allowed.
struct Refusal {
  std::string_view field;
  int got = 0;
  std::string must;
  int nearest = 0;
};

struct Schedule {
  std::string_view id, title;
  Placement placement = Placement::Linear;
  bool split = false;  ///< gradients of inputs and of weights are slots of their own
  std::optional<Refusal> (*refusal)(const Shape&) = nullptr;
  Orders (*orders)(const Shape&) = nullptr;
};

/// Every stage in one sequence, from a function of the stage.
template <class F>
Orders one_sequence_each(const Shape& shape, F sequence_of) {
  Orders out;
  for (int g = 0; g < shape.stages; ++g) out.push_back({sequence_of(g)});
  return out;
}

inline std::optional<Refusal> any_shape(const Shape&) { return {}; }

inline std::optional<Refusal> at_least_stages(const Shape& s) {
  if (s.micro_batches >= s.stages) return {};
  return Refusal{"micro_batches", s.micro_batches, "be at least the stages, " + std::to_string(s.stages),
                 s.stages};
}

}  // namespace trainplan::sim
