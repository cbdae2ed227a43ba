/// A run that says how it is laid out: its plan is completed and judged as it stands, never derived.
#pragma once

#include <string_view>
#include <utility>

#include "trainplan/derive/trial.hpp"

namespace trainplan {

/// The degrees that the run gives; those left out are 1, and nothing is recomputed.
inline Choice pinned_choice(const RunSpec& run) {
  Choice c;
  c.tp = run.tp.value_or(1);
  c.pp = run.pp.value_or(1);
  c.cp = run.cp.value_or(1);
  c.ep = run.ep.value_or(1);
  c.etp = run.etp.value_or(1);
  c.vpp = run.vpp.value_or(1);
  c.recompute = run.recompute.value_or(Recompute::None);
  c.recompute_layers = run.recompute_layers.value_or(0);
  return c;
}

/// Owns its specs, since the problem refers to them; stays where it is.
class PinnedRun {
  RunSpec run_;
  Checked<ModelSpec> model_;
  Checked<ClusterSpec> cluster_;
  Checked<FrameworkProfile> profile_;
  Checked<Calibration> calibration_;
  Issues issues_;
  std::pair<Problem, Plan> completed_;

  std::pair<Problem, Plan> complete() {
    const Resolved resolved = resolve(run_, *model_, *profile_, *calibration_, issues_);
    const Problem problem(model_, cluster_, profile_, calibration_, resolved.recipe);
    return Planner(problem, run_, resolved.batch_target).complete(pinned_choice(run_));
  }

 public:
  PinnedRun(RunSpec run, Checked<ModelSpec> model, Checked<ClusterSpec> cluster,
            Checked<FrameworkProfile> profile, Checked<Calibration> calibration)
      : run_(std::move(run)),
        model_(std::move(model)),
        cluster_(std::move(cluster)),
        profile_(std::move(profile)),
        calibration_(std::move(calibration)),
        completed_(complete()) {}
  PinnedRun(const PinnedRun&) = delete;
  PinnedRun& operator=(const PinnedRun&) = delete;

  const Problem& problem() const { return completed_.first; }
  const Plan& plan() const { return completed_.second; }
  /// Mistakes that only show beside the model and the framework.
  const Issues& issues() const { return issues_; }
  bool is_legal() const { return !issues_.has_errors() && legal(problem(), plan()); }
};

}  // namespace trainplan
