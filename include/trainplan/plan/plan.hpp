/// One parallel plan: the degrees and modes that a launch needs.
#pragma once

#include <compare>
#include <cstdint>

#include "trainplan/spec/run.hpp"

namespace trainplan {

/// Equal: layers / pp on every stage. EmbeddingAndLoss: both count as a layer, so that the first and the last
/// stage hold one transformer layer less. FirstAndLast: those two stages hold a given number each, the others
/// share the rest equally.
enum class Layout : std::uint8_t { Equal, EmbeddingAndLoss, FirstAndLast };

/// gpus = tp x cp x dp x pp, and for routed experts = etp x ep x expert_dp x pp. shard: ranks that share one
/// copy of a sharded row (dp x cp, or the HSDP group).
struct Plan {
  std::uint16_t tp = 1, pp = 1, vpp = 1, cp = 1, ep = 1, etp = 1;
  std::uint16_t first_layers = 0, last_layers = 0;  // with Layout::FirstAndLast
  std::uint32_t dp = 1, shard = 1;
  std::uint16_t micro_batch = 1, recompute_layers = 0;
  Sharding sharding = Sharding::Zero1;
  Recompute recompute = Recompute::None;
  Modules modules = bit(Module::CoreAttention);  // with Recompute::Selective
  Schedule schedule = Schedule::OneFOneB;
  Layout layout = Layout::Equal;
  bool sequence_parallel = false, reshard = true, sync_each_micro_batch = true;

  friend constexpr auto operator<=>(const Plan&, const Plan&) = default;
};

/// Data parallel ranks of routed experts; exact when the plan is legal.
constexpr std::int64_t expert_dp(const Plan& p) {
  return std::int64_t{p.tp} * p.cp * p.dp / (std::int64_t{p.ep} * p.etp);
}

/// The stage with the head: the last one, or in a V the first.
constexpr int head_stage(const Plan& p) { return is_vee(p.schedule) ? 0 : p.pp - 1; }

/// The embedding and the head lie on different stages.
constexpr bool tables_apart(const Plan& p) { return head_stage(p) != 0; }

/// Whole layers run forward a second time.
constexpr bool recomputes_layers(const Plan& p) {
  return p.recompute == Recompute::Layers || p.recompute == Recompute::Full;
}

}  // namespace trainplan
