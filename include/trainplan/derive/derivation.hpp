/// What a derivation gives: the plan, the reasons axis by axis, and the plans beside it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainplan/derive/trial.hpp"

namespace trainplan {

/// Why an axis has its value.
struct Decision {
  std::string axis, value;
  std::vector<Sentence> reasons;
};

/// A plan beside the derived one. why: the number that decided.
struct Alternative {
  std::string key, name;
  Trial trial;
  Sentence why;
};

struct Derivation {
  Trial chosen;
  std::vector<Decision> decisions;
  std::vector<Alternative> alternatives;
};

namespace detail {

inline Value memory(double bytes) { return {bytes, Unit::MemoryBoth}; }
inline std::string num(std::int64_t n) { return std::to_string(n); }

/// Few recomputed layers where the derivation chose how many, else just the choice.
inline std::optional<Trial> attempt(const Planner& planner, const Choice& c, double activation_budget) {
  if (c.recompute == Recompute::Layers && !planner.run().recompute_layers)
    return planner.attempt_recomputing(
        c, [=](const Trial& t) { return t.cost.memory.activations.saved.num() <= activation_budget; });
  return planner.attempt(c);
}

/// Whole layers become all layers where no number of layers is chosen.
constexpr Recompute without_layers(Recompute r) { return r == Recompute::Layers ? Recompute::Full : r; }

}  // namespace detail

}  // namespace trainplan
