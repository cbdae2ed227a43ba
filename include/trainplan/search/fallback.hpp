/// A derivation goes one way and may miss what fits; then every legal plan is tried.
#pragma once

#include <optional>
#include <utility>

#include "trainplan/derive/derive.hpp"
#include "trainplan/search/answer.hpp"

namespace trainplan {

namespace detail {

inline Decision search_decision(const Trial& derived, const PlanSpace& space, const Trial& found, bool fits) {
  Decision d{"search", fits ? "another plan" : "none fits", {}};
  d.reasons.push_back(
      {"the derived plan needs ", memory(derived.device()), ", above the gate of ", memory(derived.gate()),
       "; so all " + num(static_cast<std::int64_t>(space.size())) + " legal plans were tried"});
  if (fits)
    d.reasons.push_back({"of those that fit the fastest is taken: ", memory(found.device()), ", ",
                         Value{found.cost.step.step.num(), Unit::StepTime}});
  else
    d.reasons.push_back({"none fits; the one that misses by least needs ", memory(found.device())});
  return d;
}

}  // namespace detail

/// The derivation. Where its plan does not fit, the fastest of all legal ones that do stands in its place;
/// where none does, the one that needs least memory.
inline std::optional<Derivation> derive_or_search(const Planner& planner, const Planner* fsdp,
                                                  const ForAll& for_all) {
  auto derivation = derive(planner, fsdp);
  if (!derivation || derivation->chosen.verdict() != Verdict::DoesNotFit) return derivation;
  const Trial derived = derivation->chosen;
  const PlanSpace space = plan_space(planner, derived.problem.recipe.global_batch);
  const Found found = search_plans(space, {}, for_all);
  const bool fits = found.room != Room::None && !found.best.kept().empty();
  const auto& plans = fits ? found.best.kept() : found.smallest.kept();
  if (plans.empty() || (!fits && plans.front().device >= derived.device())) return derivation;
  derivation->chosen = detail::trial_of(space, plans.front().index);
  derivation->schedules.reset();
  derivation->decisions.push_back(detail::search_decision(derived, space, derivation->chosen, fits));
  detail::Alternatives(planner, fsdp, *derivation).judge_again();
  return derivation;
}

}  // namespace trainplan
