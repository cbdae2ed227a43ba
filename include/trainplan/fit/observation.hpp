/// A measured step, ready to be predicted under any constants.
#pragma once

#include <cmath>
#include <string>

#include "trainplan/cost/plan_cost.hpp"

namespace trainplan {

/// group: observations of one group weigh together, however many there are. The specs that `problem` refers
/// to outlive it.
struct Observation {
  Problem problem;
  Plan plan;
  double measured = 0;  // seconds of a step
  std::string group;
  int stage = 0;  // the fullest one, whose traffic counts

  Observation(const Problem& p, const Plan& l, double seconds, std::string g)
      : problem(p), plan(l), measured(seconds), group(std::move(g)), stage(fullest_stage(p, l)) {}

  /// The same step, judged from other constants; they outlive it.
  Observation with(const Checked<Calibration>& calibration) const {
    Observation other = *this;
    other.problem = problem.with(calibration);
    return other;
  }

  bool is_low() const { return problem.recipe.matmul != Matmul::Wide; }
  /// The accelerator whose constants apply.
  const std::string& accelerator() const {
    const AcceleratorConstants& a = problem.accelerator();
    return a.same_as.empty() ? a.id : a.same_as;
  }
  Stack stack() const { return problem.recipe.stack; }

  double predicted(const Checked<Calibration>& calibration) const {
    return evaluate_stage(problem.with(calibration), plan, stage).step.step.num();
  }
  /// log(predicted / measured): above 0 where the prediction is too slow.
  double error(const Checked<Calibration>& calibration) const {
    return std::log(predicted(calibration) / measured);
  }
};

}  // namespace trainplan
