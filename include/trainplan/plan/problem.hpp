/// What a plan is judged against: validated specs and the resolved recipe.
#pragma once

#include <cstdint>
#include <optional>

#include "trainplan/plan/plan.hpp"
#include "trainplan/plan/stages.hpp"
#include "trainplan/spec/calibration.hpp"
#include "trainplan/spec/checked.hpp"
#include "trainplan/spec/cluster.hpp"
#include "trainplan/spec/framework.hpp"
#include "trainplan/spec/model.hpp"
#include "trainplan/spec/run.hpp"

namespace trainplan {

/// The recipe with every default filled in.
struct Recipe {
  std::int64_t sequence = 0, global_batch = 0;  // tokens of a sequence, sequences of a step
  DType precision = DType::Bf16, gradient = DType::Fp32, reduce = DType::Fp32, moments = DType::Fp32;
  std::optional<LossKind> loss;  // absent: as the framework does by default
  Attention attention = Attention::Flash;
  FlopConvention convention = FlopConvention::Causal;
  CpMode cp_mode = CpMode::Ring;
  Matmul matmul = Matmul::Wide;
  Dispatcher dispatcher = Dispatcher::AllToAll;
  Graphs graphs = Graphs::None;
  Stack stack = Stack::Unknown;  // whose time constants apply
  bool fused_mlp = true, compile = false, accumulation_fusion = true, expandable_segments = false;
  bool hidden_dropout = false, attention_dropout = false;  // a probability above 0
  bool tp_overlap = true, dp_overlap = true, ep_overlap = false;
  bool gather_overlap = true;     // of updated weights, with dp_overlap
  bool low_weights = false;       // kept and gathered in the format of the products
  Offload offload;                // to the memory of the host
  std::int64_t mtp_layers = 0;    // blocks for further tokens that are trained
  double capacity_factor = 0;     // tokens that an expert takes over the mean; 0: dropless
  double imbalance = 1;           // tokens of the hottest expert parallel rank over the mean
  std::int64_t batch_target = 0;  // sequences that a default batch aims at, 0 when the batch is given
  double margin = 0;              // share of the gate that a derived plan leaves free
  std::optional<double> tokens;   // token budget of the whole run

  /// Share of runs that ranges hold, against whose ends limits are then held; else that of the data.
  std::optional<double> confidence{};
};

/// References to specs that outlive it. Only checked specs get in.
class Problem {
  const ModelSpec* model_;
  const ClusterSpec* cluster_;
  const FrameworkProfile* profile_;
  const Calibration* calibration_;
  const AcceleratorConstants* accelerator_;

 public:
  Recipe recipe;

  Problem(const Checked<ModelSpec>& model, const Checked<ClusterSpec>& cluster,
          const Checked<FrameworkProfile>& profile, const Checked<Calibration>& calibration, Recipe r)
      : model_(&*model), cluster_(&*cluster), profile_(&*profile), calibration_(&*calibration), recipe(r) {
    accelerator_ = &calibration_->of(cluster_->accelerator.id);
  }

  const ModelSpec& model() const { return *model_; }
  const ClusterSpec& cluster() const { return *cluster_; }
  const FrameworkProfile& profile() const { return *profile_; }
  const Calibration& calibration() const { return *calibration_; }
  /// Constants of the accelerator, and of the stack that the run names.
  const AcceleratorConstants& accelerator() const { return *accelerator_; }
  const StackConstants& stack() const { return calibration_->of(recipe.stack); }

  /// The kernel of the loss; another framework than the one that a run was written for has its own.
  const LossRow& loss() const {
    const LossRow* wanted = recipe.loss ? profile_->loss(*recipe.loss) : nullptr;
    return wanted != nullptr ? *wanted : *profile_->loss(profile_->default_loss);
  }

  /// The same question with other constants.
  Problem with(const Checked<Calibration>& calibration) const {
    Problem other = *this;
    other.calibration_ = &*calibration;
    other.accelerator_ = &calibration->of(cluster_->accelerator.id);
    return other;
  }

  /// The same question on another cluster.
  Problem with(const Checked<ClusterSpec>& cluster) const {
    Problem other = *this;
    other.cluster_ = &*cluster;
    other.accelerator_ = &calibration_->of(cluster->accelerator.id);
    return other;
  }

  /// The same question put to another framework.
  Problem with(const Checked<FrameworkProfile>& profile) const {
    Problem other = *this;
    other.profile_ = &*profile;
    return other;
  }
};

/// The dense peak of matrix products in fp8 or fp4, as the run wants them.
inline const Figure& low_peak(const Problem& problem) {
  const Accelerator& a = problem.cluster().accelerator;
  return problem.recipe.matmul == Matmul::Nvfp4 ? a.fp4_dense : a.fp8_dense;
}

/// Micro-batches of a step on one pipeline; exact when the plan is legal.
inline std::int64_t micro_batches(const Problem& problem, const Plan& plan) {
  const std::int64_t per_round = std::int64_t{plan.dp} * plan.micro_batch;
  return per_round > 0 ? problem.recipe.global_batch / per_round : 0;
}

/// Micro-batches that visit a virtual stage of a rank before the next one does: as many as there are stages,
/// or equal rounds of at least as many.
inline std::int64_t group_size(const Problem& problem, const Plan& plan) {
  const std::int64_t m = micro_batches(problem, plan);
  if (!problem.profile().rules.interleaves_in_rounds || m < plan.pp) return plan.pp;
  return m / (m / plan.pp);
}

}  // namespace trainplan
