/// Run fields of a plan by name: what stands there, and what else could.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "trainplan/plan/problem.hpp"
#include "trainplan/plan/rules/pipeline.hpp"
#include "trainplan/spec/validator.hpp"

namespace trainplan::detail {

/// The value of a run field in a plan, or -1 when the field is not a number.
inline std::int64_t field_value(const Problem& x, const Plan& p, std::string_view field) {
  if (field == "tp") return p.tp;
  if (field == "pp") return p.pp;
  if (field == "vpp") return p.vpp;
  if (field == "cp") return p.cp;
  if (field == "ep") return p.ep;
  if (field == "etp") return p.etp;
  if (field == "dp") return p.dp;
  if (field == "micro_batch") return p.micro_batch;
  if (field == "first_layers") return p.first_layers;
  if (field == "last_layers") return p.last_layers;
  if (field == "shard_size") return p.shard;
  if (field == "recompute_layers") return p.recompute_layers;
  if (field == "offload_layers") return x.recipe.offload.layers;
  if (field == "global_batch") return x.recipe.global_batch;
  if (field == "sequence") return x.recipe.sequence;
  return -1;
}

inline void set_field_value(Problem& x, Plan& p, std::string_view field, std::int64_t v) {
  const auto degree = static_cast<std::uint16_t>(v);
  if (field == "tp") p.tp = degree;
  if (field == "pp") p.pp = degree;
  if (field == "pp") choose_layout(x.model().layers, x.profile().uneven_stages, p);
  if (field == "vpp") p.vpp = degree;
  if (field == "vpp" && !detail::chunks_fit(p.schedule, v))
    p.schedule = v > 1 ? Schedule::Interleaved : Schedule::OneFOneB;
  if (field == "cp") p.cp = degree;
  if (field == "ep") p.ep = degree;
  if (field == "etp") p.etp = degree;
  if (field == "dp") p.dp = static_cast<std::uint32_t>(v);
  if (field == "first_layers") p.first_layers = degree;
  if (field == "shard_size") p.shard = static_cast<std::uint32_t>(v);
  if (field == "recompute_layers") p.recompute_layers = degree;
  if (field == "offload_layers") x.recipe.offload.layers = v;
  if (field == "global_batch") x.recipe.global_batch = v;
  if (field == "sequence") x.recipe.sequence = v;
}

/// Tensor parallelism is offered inside a node or a larger scale-up domain.
inline std::int64_t largest(const Problem& x, std::string_view field) {
  if (field == "sequence" || field == "global_batch") return kMaxSequence;
  if (field == "tp") return std::max(x.cluster().gpus_per_node, x.cluster().scale_up_domain);
  return field == "dp" || field == "shard_size" ? kMaxRanks : kMaxDegree;
}

inline constexpr std::string_view kSwitchWords[] = {"false", "true"};
inline constexpr std::string_view kShareWords[] = {"0%", "100%"};
inline constexpr std::string_view kDTypeWords[] = {"fp32", "bf16", "fp16"};

/// The values of a field that is not a number; those of an enum stand in its order.
inline std::span<const std::string_view> field_words(std::string_view field) {
  if (field == "sharding") return kShardingNames;
  if (field == "schedule") return kScheduleNames;
  if (field == "recompute") return kRecomputeNames;
  if (field == "cp_mode") return kCpModeNames;
  if (field == "precision") return std::span(kDTypeWords).subspan(1);
  if (field == "gradient_dtype") return kDTypeWords;
  if (field == "matmul_precision") return kMatmulNames;
  if (field == "offload_optimizer") return kShareWords;
  if (field == "sequence_parallel" || field == "tp_overlap" || field == "ep_overlap" ||
      field == "offload_weights" || field == "fp8_param_gather")
    return kSwitchWords;
  return {};
}

inline std::string_view field_word(const Problem& x, const Plan& p, std::string_view field) {
  if (field == "sharding") return name_of(p.sharding);
  if (field == "schedule") return name_of(p.schedule);
  if (field == "recompute") return name_of(p.recompute);
  if (field == "cp_mode") return name_of(x.recipe.cp_mode);
  if (field == "precision") return name_of(x.recipe.precision);
  if (field == "gradient_dtype") return name_of(x.recipe.gradient);
  if (field == "matmul_precision") return name_of(x.recipe.matmul);
  if (field == "sequence_parallel") return kSwitchWords[p.sequence_parallel ? 1 : 0];
  if (field == "tp_overlap") return kSwitchWords[x.recipe.tp_overlap ? 1 : 0];
  if (field == "ep_overlap") return kSwitchWords[x.recipe.ep_overlap ? 1 : 0];
  if (field == "fp8_param_gather") return kSwitchWords[x.recipe.low_weights ? 1 : 0];
  if (field == "cluster") return x.cluster().name;
  if (field == "offload_weights") return kSwitchWords[x.recipe.offload.weights ? 1 : 0];
  if (field == "offload_optimizer")
    return x.recipe.offload.optimizer > 0 && x.recipe.offload.optimizer < 1
               ? "a part"
               : kShareWords[x.recipe.offload.optimizer > 0 ? 1 : 0];
  return {};
}

inline DType dtype_of(std::string_view word) {
  for (const DType d : {DType::Bf16, DType::Fp16})
    if (name_of(d) == word) return d;
  return DType::Fp32;
}

inline void set_field_word(Problem& x, Plan& p, std::string_view field, std::string_view word) {
  const auto words = field_words(field);
  const auto at = static_cast<std::uint8_t>(std::find(words.begin(), words.end(), word) - words.begin());
  if (field == "sharding") p.sharding = static_cast<Sharding>(at);
  if (field == "schedule") p.schedule = static_cast<Schedule>(at);
  if (field == "recompute") p.recompute = static_cast<Recompute>(at);
  if (field == "cp_mode") x.recipe.cp_mode = static_cast<CpMode>(at);
  if (field == "precision") x.recipe.precision = dtype_of(word);
  if (field == "gradient_dtype") x.recipe.gradient = dtype_of(word);
  if (field == "matmul_precision") x.recipe.matmul = static_cast<Matmul>(at);
  if (field == "sequence_parallel") p.sequence_parallel = at == 1;
  if (field == "tp_overlap") x.recipe.tp_overlap = at == 1;
  if (field == "ep_overlap") x.recipe.ep_overlap = at == 1;
  if (field == "fp8_param_gather") x.recipe.low_weights = at == 1;
  if (field == "offload_weights") x.recipe.offload.weights = at == 1;
  if (field == "offload_optimizer") x.recipe.offload.optimizer = at == 1 ? 1 : 0;
}

}  // namespace trainplan::detail
