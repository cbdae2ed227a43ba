/// A training framework as data: which bytes stay where, what moves when, how it pads and counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainplan/spec/checkpoint_use.hpp"
#include "trainplan/spec/execution.hpp"
#include "trainplan/spec/figure.hpp"
#include "trainplan/spec/framework_rules.hpp"
#include "trainplan/spec/schedule.hpp"

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
enum class Phase : std::uint8_t {
  Load,
  ForwardEnd,         // the last layer of the stage runs forward
  Loss,               // on the last stage
  HeadBackward,       // on the last stage
  LayerBackward,      // the first layer to run backward, all activations still saved
  EmbeddingBackward,  // on the first stage, the activations of one micro-batch are gone
  Optimizer,
  Evaluation,
  Save
};
inline constexpr int kPhases = 9;
inline constexpr std::string_view kPhaseIds[] = {"load",          "forward_end",    "loss",
                                                 "head_backward", "layer_backward", "embedding_backward",
                                                 "optimizer",     "evaluation",     "save"};
inline constexpr std::string_view kPhaseTitles[] = {"load",
                                                    "forward end (activations)",
                                                    "loss, on the last stage",
                                                    "head backward, on the last stage",
                                                    "backward of the first layer",
                                                    "embedding backward, on the first stage",
                                                    "optimizer step",
                                                    "evaluation (no saved activations)",
                                                    "checkpoint staging"};

/// Bit set of phases.
using Phases = std::uint16_t;
constexpr Phases bit(Phase p) { return static_cast<Phases>(1u << static_cast<int>(p)); }
inline constexpr Phases kAlways = (1u << kPhases) - 1;
/// Gradients that a layer makes in the backward pass of the only micro-batch.
inline constexpr Phases kBackwardPhases =
    bit(Phase::LayerBackward) | bit(Phase::EmbeddingBackward) | bit(Phase::Optimizer);
/// Gradients that exist from the first backward to the optimizer step.
inline constexpr Phases kGradientPhases =
    kBackwardPhases | bit(Phase::ForwardEnd) | bit(Phase::Loss) | bit(Phase::HeadBackward);

/// When a row applies.
enum class When : std::uint8_t {
  Always,
  Reshard,  // weights are resharded after the forward pass
  NoReshard,
  DeferredSync,  // gradients are reduced once a step
  SyncEachMicroBatch,
  Gradient16Bit,
  Moments16Bit,
  GatheredOnce,  // weights stay whole through the micro-batches of a pipeline
  GatheredEachMicroBatch,
};

enum class Width : std::uint8_t { Fixed, GradientDType, ReduceDType, MomentDType };

/// Of an id more than one row may stand in a profile, but no more than one of them applies to a plan.
inline constexpr std::array<std::string_view, 9> kStateIds{"weights",  "gradient",      "gradient_shard",
                                                           "master",   "moment1",       "moment2",
                                                           "gathered", "step_gradient", "step_moments"};

/// One row of resident training state.
struct StateRow {
  std::string id, symbol, title, source;
  Width width = Width::Fixed;
  double bytes_per_param = 0;  // with Width::Fixed
  Group sharded_over = Group::None;
  Phases alive = kAlways;
  When when = When::Always;
  bool largest_group = false;  // of the larger of dense parameters and routed experts only

  /// Counted as model state, not as a buffer of some phase.
  bool is_resident() const { return (alive & bit(Phase::LayerBackward)) != 0; }
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

/// Rows of state of a mode that can live in host memory, by id: with the optimizer, with the weights. None:
/// not offered.
struct HostRows {
  std::vector<std::string> optimizer, weights;
  bool partial = false;  // also of a part of the parameters
  std::string source;
};

/// How one weight of a mode lives, in words: what a rank keeps of it, when it is whole there and until when,
/// and which rank has its fp32 master. The bytes are those of the rows.
struct WeightLife {
  std::string kept, gathered, released, master, source;
};

/// State and traffic of one sharding mode.
struct ShardingRows {
  Sharding mode = Sharding::None;
  std::string title, flags;
  bool pipeline_keeps_whole = false;  // with pp > 1 weights are gathered and gradients reduced once a step
  bool with_pipeline = true;          // runs together with pp > 1
  bool with_experts = true;           // runs with routed experts
  bool shard_groups = false;          // may shard inside groups of ranks that repeat each other
  bool gradient_as_weights = false;   // gradients are kept in the type of the weights
  double gathered_units = 0;          // whole layers gathered at a time, in the compute type
  double gradient_units = 0;          // whole layers of unsharded gradient, before and in their reduction
  std::vector<StateRow> state;
  std::vector<CommRow> traffic;
  HostRows host;
  WeightLife weight;

  /// Layers are gathered before they run, and their gradients reduced layer by layer.
  bool is_fully_sharded() const { return gathered_units > 0; }
};

/// Kernels of the loss. te: the gradient is written into the logits. native: fp32 softmax in place. eager:
/// fp32 log-softmax and its gradients. compiled: fp32 in registers only. chunked: compiled, part by part.
enum class LossKind : std::uint8_t { Te, Native, Eager, Compiled, Chunked };
inline constexpr std::string_view kLossNames[] = {"te", "native", "eager", "compiled", "chunked"};
constexpr std::string_view name_of(LossKind k) { return kLossNames[static_cast<int>(k)]; }

/// What a kernel of the loss keeps beside the logits, in bytes for each token and vocabulary entry.
struct LossRow {
  LossKind kind = LossKind::Native;
  double beside = 4;                // of one rank that holds the whole vocabulary
  std::optional<double> beside_tp;  // where the vocabulary is split over tp ranks, if that is another figure
  bool frees_logits = false;        // the bf16 logits are gone by the time of the peak
  std::int64_t chunks = 1;          // parts that the tokens are cut into
  std::string source;
};

/// What selective recompute rebuilds; None: the framework has none. Modules: named parts of a layer.
/// EverySecondMatmul: what stands between attention kernels and every second matrix product.
enum class SelectivePolicy : std::uint8_t { Modules, EverySecondMatmul, None };

/// Buffers of pipeline messages. Torch: one receive buffer for each micro-batch, and all outputs until the
/// step ends.
enum class PipelineBuffers : std::uint8_t { None, Torch };

/// Saved activations that can wait in host memory. Saved: those of layers that are not recomputed, without a
/// pipeline. Kept: the inputs that recomputed layers keep, of all such layers.
enum class LayerOffload : std::uint8_t { None, Saved, Kept };

/// How a framework uses the memory of the host.
struct HostUse {
  LayerOffload layers = LayerOffload::None;
  bool together = false;      // weights, gradients and optimizer move together or not at all
  double gradient_bytes = 4;  // of a parameter, for the optimizer on the host
  double weight_bytes = 2;    // of a parameter, as weights are copied to the GPU
  double buffers = 1;         // host memory over what is counted, for pinned buffers
  std::string source;
};

/// Library workspaces of a process: always, of the last stage, of grouped matrix products.
struct Workspaces {
  Figure base, last_stage, grouped;
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
                                                     "experts",
                                                     "capacity_factor",
                                                     "ep_overlap",
                                                     "mtp_layers",
                                                     "cp",
                                                     "cp_mode",
                                                     "shard_size",
                                                     "shard_degree",
                                                     "replicate_degree",
                                                     "optimizer_instances",
                                                     "dp",
                                                     "dp_overlap",
                                                     "gather_overlap",
                                                     "reshard_after_forward",
                                                     "gradient_dtype",
                                                     "reduce_dtype",
                                                     "micro_batch",
                                                     "local_batch",
                                                     "local_batch_tokens",
                                                     "global_batch",
                                                     "global_batch_tokens",
                                                     "sequence",
                                                     "attention",
                                                     "pipeline_micro_batch",
                                                     "pipeline_micro_batches",
                                                     "compile",
                                                     "cuda_graphs",
                                                     "recompute",
                                                     "recompute_modules",
                                                     "recompute_layers",
                                                     "fp8_param_gather",
                                                     "offload_optimizer",
                                                     "offload_weights",
                                                     "offload_layers"};

struct FrameworkProfile {
  std::string id, name, version, origin;
  Sharding default_sharding = Sharding::Zero1;
  DType default_gradient = DType::Fp32;
  bool vocabulary_times_tp = false;
  std::int64_t vocabulary_multiple = 1;
  UnevenStages uneven_stages = UnevenStages::None;
  bool low_gathers = false;            // weights of fp8 products travel in 8 bits
  bool low_operands = false;           // products keep inputs and cast weights in their format
  bool low_weights = false;            // weights may be kept in that format alone
  bool trains_mtp = true;              // blocks for further tokens (multi-token prediction)
  bool expert_parallel = true;         // routed experts over ep ranks
  bool expert_tensor_parallel = true;  // etp may differ from 1
  bool replicates_key_value = true;    // tp may be a multiple of the key-value heads
  Schedules schedules = bit(Schedule::GPipe) | bit(Schedule::OneFOneB) | bit(Schedule::Interleaved);
  bool causal_flops = true;             // what its own log counts
  bool scratch_gradients = false;       // one weight-shaped gradient buffer for each shape, kept
  bool head_gather = false;             // the head keeps its gathered input (sequence parallelism)
  bool compiles = false;                // torch.compile unless a run says otherwise
  Stack stack = Stack::Unknown;         // whose time constants apply
  std::optional<Stack> compiled_stack;  // the same with torch.compile, where that differs
  bool fuses_mlp = true;                // has a fused activation of its own
  bool weights_expert_output = false;   // routing probabilities are applied after the experts
  SelectivePolicy selective = SelectivePolicy::Modules;
  PipelineBuffers pipeline_buffers = PipelineBuffers::None;
  Workspaces workspace;
  HostUse host;
  std::vector<LossRow> losses{LossRow{}};
  LossKind default_loss = LossKind::Native;
  double reduce_bucket = 0;  // elements of a gradient bucket by default; 0: no buckets of a fixed size
  double checkpoint_bytes_per_param = 14, checkpoint_weights_bytes = 2;
  CheckpointUse checkpoint;
  std::string checkpoint_source, rank_order = "tp-cp-ep-dp-pp";
  std::vector<ShardingRows> shardings;
  std::vector<LaunchFlag> flags;
  FrameworkRules rules;

  /// "Megatron-LM core 0.20.0", without the commit that a version may name in brackets.
  std::string release() const { return name + " " + version.substr(0, version.find(" (")); }
  bool offers(Schedule s) const { return (schedules & bit(s)) != 0; }
  /// Virtual stages are possible.
  bool interleaves() const { return (schedules & kChunkedSchedules) != 0; }
  const ShardingRows* rows(Sharding s) const {
    for (const ShardingRows& r : shardings)
      if (r.mode == s) return &r;
    return nullptr;
  }
  const LossRow* loss(LossKind kind) const {
    for (const LossRow& row : losses)
      if (row.kind == kind) return &row;
    return nullptr;
  }
  bool has_moment_type() const {
    for (const ShardingRows& r : shardings)
      for (const StateRow& row : r.state)
        if (row.width == Width::MomentDType) return true;
    return false;
  }
};

}  // namespace trainplan
