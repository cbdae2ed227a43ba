/// A run that says how it is laid out: its plan is completed and judged as it stands, never derived.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

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

/// Whether a plan is one to be judged, or a fact: a run that took place.
enum class Pinned : std::uint8_t { Judged, Ran };

/// Stages of a run that took place in a layout that the framework does not make by itself: layers as even as
/// they go, with the embedding and the loss counted where they are not a multiple of pp.
inline void spread_layers(const Problem& problem, Plan& plan) {
  if (detail::layout_divides(problem, plan) && detail::vpp_divides(problem, plan)) return;
  plan.layout = problem.model().layers % plan.pp == 0 ? Layout::Equal : Layout::EmbeddingAndLoss;
  plan.first_layers = plan.last_layers = 0;
}

/// Rules that a plan breaks, in the order of judging.
inline std::vector<const Rule*> broken_rules(const Problem& problem, const Plan& plan) {
  std::vector<const Rule*> out;
  for (const Rule& rule : rules())
    if (!rule.holds(problem, plan)) out.push_back(&rule);
  return out;
}

/// Rules without which the formulas have no meaning: ranks that add up, whole micro-batches, rows of the
/// sharding. A run that took place may break all others, whose sizes were then padded or cut unevenly.
inline constexpr std::string_view kNeededRules[] = {
    "tp-divides-gpus",  "pp-divides-gpus",    "cp-divides-gpus",   "dp-is-the-rest",
    "batch-divides",    "ep-divides-experts", "sharding-is-known", "expert-grid-divides-gpus",
    "ep-needs-experts", "shard-group-divides"};
inline bool is_needed(std::string_view rule) {
  return std::find(std::begin(kNeededRules), std::end(kNeededRules), rule) != std::end(kNeededRules);
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

  std::pair<Problem, Plan> complete(Pinned kind) {
    const Resolved resolved = resolve(run_, *model_, *profile_, *calibration_, issues_);
    const Problem problem(model_, cluster_, profile_, calibration_, resolved.recipe);
    auto completed = Planner(problem, run_, resolved.batch_target).complete(pinned_choice(run_));
    if (kind == Pinned::Ran) spread_layers(completed.first, completed.second);
    return completed;
  }

 public:
  PinnedRun(RunSpec run, Checked<ModelSpec> model, Checked<ClusterSpec> cluster,
            Checked<FrameworkProfile> profile, Checked<Calibration> calibration, Pinned kind = Pinned::Judged)
      : run_(std::move(run)),
        model_(std::move(model)),
        cluster_(std::move(cluster)),
        profile_(std::move(profile)),
        calibration_(std::move(calibration)),
        completed_(complete(kind)) {}
  PinnedRun(const PinnedRun&) = delete;
  PinnedRun& operator=(const PinnedRun&) = delete;

  const Problem& problem() const { return completed_.first; }
  const Plan& plan() const { return completed_.second; }
  /// Mistakes that only show beside the model and the framework.
  const Issues& issues() const { return issues_; }
  bool is_legal() const { return !issues_.has_errors() && legal(problem(), plan()); }
};

}  // namespace trainplan
