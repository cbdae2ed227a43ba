/// A whole question made of texts: answered with finite numbers, or refused with a reason.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../property/fields.hpp"
#include "claims.hpp"
#include "trainplan/derive/derive.hpp"
#include "trainplan/derive/legality.hpp"
#include "trainplan/derive/pinned.hpp"
#include "trainplan/derive/resolve.hpp"

namespace fuzz {

/// The specs of a question, each checked.
struct Specs {
  Checked<ModelSpec> model;
  Checked<ClusterSpec> cluster;
  Checked<FrameworkProfile> profile, sharded;
  Checked<Calibration> calibration;
};

/// The name of the first number of a cost that is none, or is below zero; empty when all are fine. A job that
/// fails faster than it recovers makes no progress: its goodput is below zero.
inline std::string odd_number(const Problem& problem, const PlanCost<double>& cost) {
  for (const auto& [name, value] : property::fields_of(cost)) {
    const bool may_be_below = name == "goodput.goodput" || property::may_be_negative(name, problem);
    if (name.empty() || !std::isfinite(value) || (value < 0 && !may_be_below))
      return std::string(name) + " = " + std::to_string(value);
  }
  return "";
}

inline std::string odd_number(const Derivation& d) {
  std::string odd = odd_number(d.chosen.problem, d.chosen.cost);
  for (const Alternative& a : d.alternatives)
    if (odd.empty() && !(odd = odd_number(a.trial.problem, a.trial.cost)).empty()) odd = a.key + ": " + odd;
  return odd;
}

/// Asks as the program does; counts what came of it. The claim that does not hold, or nothing.
inline std::string ask(const RunSpec& run, const Specs& specs, Issues& issues,
                       std::map<std::string, int>& seen) {
  const Resolved resolved = resolve(run, *specs.model, *specs.profile, *specs.calibration, issues);
  const Problem problem(specs.model, specs.cluster, specs.profile, specs.calibration, resolved.recipe);
  const Planner planner(problem, run, resolved.batch_target),
      fsdp = planner.with(problem.with(specs.sharded));
  std::optional<Derivation> derivation;
  if (!issues.has_errors()) derivation = derive(planner, &fsdp);
  if (derivation) {
    ++seen["derived"];
    return odd_number(*derivation);
  }
  const auto [x, plan] = planner.complete(pinned_choice(run));
  report_broken_rules(x, plan, run.origin, {}, issues);
  for (const Issue& issue : issues.all())
    if (issue.rule.empty() || issue.must.empty() || issue.hint.empty())
      return "says too little: " + described(issue);
  ++seen[issues.has_errors() ? "refused" : "no legal plan"];
  return "";
}

}  // namespace fuzz
