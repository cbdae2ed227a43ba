/// What a derivation gives: the plan, the reasons axis by axis, and the plans beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainplan/cost/simulated.hpp"
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

/// One schedule with its virtual stages. trial: nothing when it breaks a rule, which refusal tells. least:
/// step if no order were in the way. run: nothing where the bound said enough. step: simulated, else in
/// closed form.
struct ScheduleTrial {
  Schedule schedule = Schedule::OneFOneB;
  std::int64_t vpp = 1;
  std::optional<Trial> trial{};
  std::string refusal{};
  double least = 0, step = 0;
  std::optional<PipelineRun> run{};
};

/// best: index of the row with the shortest step among those with the best verdict; rows when none is legal.
struct ScheduleTrials {
  std::vector<ScheduleTrial> rows{};
  std::size_t best = 0, simulated = 0;
};

/// schedules: those that were tried, where the run leaves the choice open.
struct Derivation {
  Trial chosen;
  std::vector<Decision> decisions;
  std::vector<Alternative> alternatives;
  std::optional<ScheduleTrials> schedules{};
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
