/// The list of rules that a legal plan keeps. Each subject has a header of its own in plan/rules/.
#pragma once

#include <span>

#include "trainplan/plan/rules/batch.hpp"
#include "trainplan/plan/rules/experts.hpp"
#include "trainplan/plan/rules/grid.hpp"
#include "trainplan/plan/rules/offload.hpp"
#include "trainplan/plan/rules/pipeline.hpp"
#include "trainplan/plan/rules/precision.hpp"
#include "trainplan/plan/rules/rule.hpp"
#include "trainplan/plan/rules/sequence.hpp"
#include "trainplan/plan/rules/sharding.hpp"
#include "trainplan/plan/rules/tensor.hpp"

namespace trainplan {

namespace detail {

/// In the order of judging: a rule comes after those about the fields that it depends on.
inline constexpr auto kRules =
    concatenated(kGridRules, kTensorRules, kPipelineRules, kExpertRules, kBatchRules, kSequenceRules,
                 kShardingRules, kPrecisionRules, kOffloadRules);

}  // namespace detail

inline std::span<const Rule> rules() { return detail::kRules; }

/// The first rule that the plan breaks, or nullptr.
inline const Rule* first_broken(const Problem& problem, const Plan& plan) {
  for (const Rule& rule : rules())
    if (!rule.holds(problem, plan)) return &rule;
  return nullptr;
}
inline bool legal(const Problem& problem, const Plan& plan) { return first_broken(problem, plan) == nullptr; }

}  // namespace trainplan
