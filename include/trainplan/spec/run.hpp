/// What the user asked for: batch, recipe, pinned axes and limits. Everything left out is derived or
/// defaulted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>

#include "trainplan/spec/forecast.hpp"
#include "trainplan/spec/framework.hpp"
#include "trainplan/spec/gap.hpp"

namespace trainplan {

enum class Recompute : std::uint8_t { None, Selective, Layers, Full };
inline constexpr std::string_view kRecomputeNames[] = {"none", "selective", "layers", "full"};
constexpr std::string_view name_of(Recompute r) { return kRecomputeNames[static_cast<int>(r)]; }

/// Parts of a layer that selective recompute may rebuild, as Megatron-LM's --recompute-modules names them.
enum class Module : std::uint8_t { CoreAttention, MlaUpProj, LayerNorm, Mlp, MoeAct, Moe, SharedExperts };
inline constexpr std::string_view kModuleNames[] = {"core_attn", "mla_up_proj", "layernorm",     "mlp",
                                                    "moe_act",   "moe",         "shared_experts"};
/// Bit set of modules.
using Modules = std::uint8_t;
constexpr Modules bit(Module m) { return static_cast<Modules>(1u << static_cast<int>(m)); }
/// "moe_act, layernorm".
inline std::string names_of_modules(Modules modules) {
  std::string out;
  for (std::size_t i = 0; i < std::size(kModuleNames); ++i)
    if ((modules & (1u << i)) != 0) out.append(out.empty() ? "" : ", ").append(kModuleNames[i]);
  return out;
}

enum class Attention : std::uint8_t { Flash, Unfused };
inline constexpr std::string_view kAttentionNames[] = {"flash", "unfused"};
constexpr std::string_view name_of(Attention a) { return kAttentionNames[static_cast<int>(a)]; }

enum class FlopConvention : std::uint8_t { Causal, Full };
inline constexpr std::string_view kConventionNames[] = {"causal", "full"};
constexpr std::string_view name_of(FlopConvention c) { return kConventionNames[static_cast<int>(c)]; }

enum class CpMode : std::uint8_t { Ring, AllToAll, AllGather };
inline constexpr std::string_view kCpModeNames[] = {"ring", "all-to-all", "all-gather"};
constexpr std::string_view name_of(CpMode c) { return kCpModeNames[static_cast<int>(c)]; }

/// The global batch as the user gave it.
struct GlobalBatch {
  std::int64_t amount = 0;
  bool in_tokens = false;
};

/// What waits in the memory of the host. optimizer: share of the parameters whose optimizer state lives and
/// is updated there. layers: of a stage, whose saved activations do.
struct Offload {
  double optimizer = 0;
  bool weights = false;
  std::int64_t layers = 0;

  bool any() const { return optimizer > 0 || weights || layers > 0; }
};

struct Limits {
  std::optional<double> min_mfu, max_step_time, max_memory;  // fraction, seconds, bytes
};

/// A run file, with the command line laid over it.
struct RunSpec {
  std::string origin;  // file, empty when all comes from the command line
  std::string model, cluster;
  std::optional<std::string> framework, calibration;
  std::optional<std::int64_t> sequence, micro_batch;
  std::optional<GlobalBatch> global_batch;
  std::optional<std::int64_t> tp, pp, vpp, cp, dp, ep, etp, shard_size;
  std::optional<std::int64_t> first_layers, last_layers;    // layers of the first and the last stage
  std::optional<bool> uneven_stages;                        // embedding and loss count as a layer each
  std::optional<double> capacity_factor, expert_imbalance;  // absent: dropless; 1 is balanced
  std::optional<bool> mtp;                                  // train the announced MTP blocks
  std::optional<Modules> recompute_modules;
  std::optional<Sharding> sharding;
  std::optional<bool> sequence_parallel, reshard_after_forward, tp_overlap, dp_overlap, gather_overlap,
      ep_overlap, fused_mlp;
  std::optional<bool> sync_each_micro_batch;
  std::optional<Recompute> recompute;
  std::optional<std::int64_t> recompute_layers;
  std::optional<Schedule> schedule;
  bool any_schedule = false;  // of those that the framework offers, whichever is fastest
  std::optional<DType> precision, gradient_dtype, reduce_dtype, moment_dtype;
  std::optional<LossKind> loss;
  std::optional<bool> compile, hidden_dropout, attention_dropout, accumulation_fusion, expandable_segments;
  std::optional<Attention> attention;
  std::optional<FlopConvention> flop_convention;
  std::optional<CpMode> cp_mode;
  std::optional<Matmul> matmul_precision;
  std::optional<bool> fp8_param_gather;
  std::optional<Dispatcher> moe_dispatcher;
  std::optional<Graphs> cuda_graphs;
  std::optional<Stack> stack;
  std::optional<double> offload_optimizer;  // share of the parameters
  std::optional<bool> offload_weights;
  std::optional<std::int64_t> offload_layers;
  std::optional<double> memory_margin, tokens;  // fraction of the gate; token budget of the whole run
  std::optional<double> confidence;  // share of runs that ranges hold, against whose ends limits stand
  Limits limits;
  GapSpec gap;            // a measured step of this run; read by `gap` alone
  ForecastSpec forecast;  // what a forecast is asked with; read by `forecast` alone
};

}  // namespace trainplan
