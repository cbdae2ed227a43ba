/// A training framework as data: which bytes stay where, what moves when, how it pads and counts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainplan/spec/framework_rules.hpp"

namespace trainplan {

enum class DType : std::uint8_t { Fp32, Bf16, Fp16 };
constexpr double bytes_of(DType d) { return d == DType::Fp32 ? 4 : 2; }
constexpr std::string_view name_of(DType d) {
  switch (d) {
    case DType::Fp32: return "fp32";
    case DType::Bf16: return "bf16";
    case DType::Fp16: return "fp16";
  }
  return "";
}

/// none: one copy a rank. zero1 is Megatron-LM's distributed optimizer; zero3 is FSDP; hsdp shards inside a
/// group and replicates between groups.
enum class Sharding : std::uint8_t { None, Zero1, Zero2, Zero3, Hsdp };
inline constexpr std::string_view kShardingNames[] = {"none", "zero1", "zero2", "zero3", "hsdp"};
constexpr std::string_view name_of(Sharding s) { return kShardingNames[static_cast<int>(s)]; }

/// Ranks that share a row: none, all data-parallel ranks (with context parallelism), the shard group of HSDP,
/// the replicas of a shard.
enum class Group : std::uint8_t { None, DataParallel, Shard, Replicate };

/// Moments of a step at which memory is looked at. A row of state lives in a set of them.
enum class Phase : std::uint8_t { Load, ForwardEnd, Loss, BackwardEnd, Optimizer, Evaluation, Save };
inline constexpr int kPhases = 7;
inline constexpr std::string_view kPhaseIds[] = {"load",      "forward_end", "loss", "backward_end",
                                                 "optimizer", "evaluation",  "save"};
inline constexpr std::string_view kPhaseTitles[] = {"load",
                                                    "forward end (activations)",
                                                    "first backward, loss on the last stage",
                                                    "backward end (gradients)",
                                                    "optimizer step",
                                                    "evaluation (no saved activations)",
                                                    "checkpoint staging"};

/// Bit set of phases.
using Phases = std::uint8_t;
constexpr Phases bit(Phase p) { return static_cast<Phases>(1u << static_cast<int>(p)); }
inline constexpr Phases kAlways = (1u << kPhases) - 1;
/// Gradients that exist from the first backward to the optimizer step.
inline constexpr Phases kGradientPhases =
    bit(Phase::ForwardEnd) | bit(Phase::Loss) | bit(Phase::BackwardEnd) | bit(Phase::Optimizer);

/// When a row applies.
enum class When : std::uint8_t {
  Always,
  Reshard,  // weights are resharded after the forward pass
  NoReshard,
  DeferredSync,  // gradients are reduced once a step
  SyncEachMicroBatch,
  Gradient16Bit,
  GatheredOnce,  // weights stay whole through the micro-batches of a pipeline
  GatheredEachMicroBatch,
};

enum class Width : std::uint8_t { Fixed, GradientDType, ReduceDType };

/// One row of resident training state.
struct StateRow {
  std::string id, symbol, title, source;
  Width width = Width::Fixed;
  double bytes_per_param = 0;  // with Width::Fixed
  Group sharded_over = Group::None;
  Phases alive = kAlways;
  When when = When::Always;

  /// Counted as model state, not as a buffer of some phase.
  bool is_resident() const { return (alive & bit(Phase::BackwardEnd)) != 0; }
};

enum class Collective : std::uint8_t { AllReduce, ReduceScatter, AllGather };
enum class Times : std::uint8_t { PerStep, PerMicroBatch };
enum class HidesBehind : std::uint8_t { Nothing, LastBackward, NextForward, Compute };

/// One data-parallel collective over the parameters of a rank.
struct CommRow {
  std::string id, symbol, title, source;
  Collective collective = Collective::AllReduce;
  Width width = Width::Fixed;
  double bytes_per_param = 0;
  Group group = Group::DataParallel;
  Times times = Times::PerStep;
  HidesBehind hides = HidesBehind::Nothing;
  When when = When::Always;
};

/// State and traffic of one sharding mode.
struct ShardingRows {
  Sharding mode = Sharding::None;
  std::string title, flags;
  bool pipeline_keeps_whole = false;  // with pp > 1 weights are gathered and gradients reduced once a step
  bool with_pipeline = true;          // runs together with pp > 1
  bool with_experts = true;           // runs with routed experts
  bool gradient_as_weights = false;   // gradients are kept in the type of the weights
  double gathered_units = 0;          // whole layers gathered at a time, in the compute type
  double gradient_units = 0;          // whole layers of unsharded gradient, in the reduce type
  std::vector<StateRow> state;
  std::vector<CommRow> traffic;
};

/// Stages that do not all hold layers / pp. Counted: embedding and loss count as a layer each, or the first
/// and the last stage are given. ByOne: embedding and head weigh a layer each, and what is left over goes to
/// the first stages.
enum class UnevenStages : std::uint8_t { None, Counted, ByOne };

/// How a field of the plan is told to the framework: a flag (or key) that the value follows, or the whole
/// setting for each value; a value without one is not told.
struct LaunchFlag {
  std::string field, flag;
  std::vector<std::pair<std::string, std::string>> settings;  // value -> setting
};
/// Fields that a plan has a value for, in the order of printing.
inline constexpr std::string_view kLaunchFields[] = {"precision",
                                                     "tp",
                                                     "sequence_parallel",
                                                     "tp_overlap",
                                                     "pp",
                                                     "vpp",
                                                     "schedule",
                                                     "uneven_stages",
                                                     "first_layers",
                                                     "last_layers",
                                                     "ep",
                                                     "etp",
                                                     "cp",
                                                     "cp_mode",
                                                     "shard_size",
                                                     "shard_degree",
                                                     "replicate_degree",
                                                     "dp",
                                                     "dp_overlap",
                                                     "reshard_after_forward",
                                                     "gradient_dtype",
                                                     "reduce_dtype",
                                                     "micro_batch",
                                                     "local_batch",
                                                     "global_batch",
                                                     "sequence",
                                                     "attention",
                                                     "pipeline_micro_batch",
                                                     "recompute",
                                                     "recompute_modules",
                                                     "recompute_layers"};

struct FrameworkProfile {
  std::string id, name, version, origin;
  Sharding default_sharding = Sharding::Zero1;
  DType default_gradient = DType::Fp32;
  bool vocabulary_times_tp = false;
  std::int64_t vocabulary_multiple = 1;
  UnevenStages uneven_stages = UnevenStages::None;
  bool expert_parallel = true;         // routed experts over ep ranks
  bool expert_tensor_parallel = true;  // etp may differ from 1
  bool replicates_key_value = true;    // tp may be a multiple of the key-value heads
  bool interleaving = true;
  bool causal_flops = true;  // what its own log counts
  double logit_bytes = 6;    // bytes per token and vocabulary entry at the loss
  std::string logit_source;
  double checkpoint_bytes_per_param = 14;
  std::string checkpoint_source, rank_order = "tp-cp-ep-dp-pp";
  std::vector<ShardingRows> shardings;
  std::vector<LaunchFlag> flags;
  FrameworkRules rules;

  /// "Megatron-LM core 0.20.0", without the commit that a version may name in brackets.
  std::string release() const { return name + " " + version.substr(0, version.find(" (")); }
  const ShardingRows* rows(Sharding s) const {
    for (const ShardingRows& r : shardings)
      if (r.mode == s) return &r;
    return nullptr;
  }
};

}  // namespace trainplan
