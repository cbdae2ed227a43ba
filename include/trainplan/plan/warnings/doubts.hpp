/// Plans that run, but hardly as they are meant to.
#pragma once

#include "trainplan/plan/groups.hpp"
#include "trainplan/plan/rules/batch.hpp"
#include "trainplan/plan/warnings/effectless.hpp"

namespace trainplan::detail {

inline constexpr std::int64_t kMicroBatchesOfStage =
    4;  // fewer leave more than a fifth of a step to the bubble

inline bool over_nodes(const Problem& x, const Plan& p) {
  return link_of(x.cluster(), group_of(p, Axis::Tp)) == Link::Nic;
}

/// "tp 16 over 2 nodes: NIC 50 GB/s, NVLink 4 450 GB/s, 9 times as fast".
inline std::string slower_link(const Problem& x, const Plan& p) {
  const ClusterSpec& c = x.cluster();
  std::string out = "tp " + text(p.tp) + " over " +
                    text(nodes_spanned(group_of(p, Axis::Tp), c.gpus_per_node)) + " nodes: NIC ";
  const auto rate = [](const Figure& f) { return shown(std::round(f.value / 1e8) / 10) + " GB/s"; };
  out += rate(c.nic_per_gpu);
  if (!c.accelerator.scale_up_bandwidth.known || c.scale_up_domain <= 1) return out;
  return out + ", " + c.accelerator.link + " " + rate(c.accelerator.scale_up_bandwidth) + ", " +
         shown(std::round(c.accelerator.scale_up_bandwidth.value / c.nic_per_gpu.value * 10) / 10) +
         " times as fast";
}

inline double tokens_of_step(const Problem& x) {
  return static_cast<double>(x.recipe.global_batch) * static_cast<double>(x.recipe.sequence);
}

inline constexpr std::array kDoubts{
    Warning{"host-memory-unknown", "cluster",
            "say how much memory a node has, or nothing tells whether what is offloaded fits",
            "add host/memory to the cluster file",
            [](const Problem& x, const Plan&, const RunSpec&) {
              return x.recipe.offload.any() && !x.cluster().host_memory.known;
            },
            [](const Problem& x, const Plan&) { return x.cluster().name + " has no host/memory"; }},
    Warning{"tp-over-nodes", "tp", "stay inside a node: its collectives are on the critical path",
            "lower tp and raise pp or cp",
            [](const Problem& x, const Plan& p, const RunSpec&) { return over_nodes(x, p); }, slower_link},
    Warning{"few-micro-batches", "global_batch",
            "give a pipeline at least 4 x pp micro-batches of a step, counted vpp times",
            "raise global_batch, or lower pp, dp or micro_batch",
            [](const Problem& x, const Plan& p, const RunSpec& r) {
              return (degrees_given(r) || r.global_batch) && p.pp > 1 && !splits_backward(p.schedule) &&
                     micro_batches(x, p) * p.vpp < kMicroBatchesOfStage * p.pp;
            },
            [](const Problem& x, const Plan& p) {
              const double m = static_cast<double>(micro_batches(x, p)),
                           idle = static_cast<double>(p.pp - 1) / p.vpp;
              return micro_batch_text(x, p) + ", pp " + text(p.pp) + ": bubble " +
                     percent(idle / (m + idle)) + " of the step";
            }},
    Warning{"expert-state-not-sharded", "ep",
            "leave more than one data-parallel rank to each expert, or its optimizer state is whole on every "
            "rank",
            "lower ep or etp, or add GPUs",
            [](const Problem& x, const Plan& p, const RunSpec& r) {
              return degrees_given(r) && x.model().is_sparse() && p.sharding != Sharding::None &&
                     !one_rank(p) && expert_dp(p) == 1;
            },
            [](const Problem&, const Plan& p) {
              return "expert dp = tp " + text(p.tp) + " x cp " + text(p.cp) + " x dp " + text(p.dp) +
                     " / (ep " + text(p.ep) + " x etp " + text(p.etp) + ") = " + text(expert_dp(p));
            }},
    Warning{"tokens-below-step", "tokens",
            "be at least those of one step, or the time and the cost of a run are those of a part of a step",
            "try --tokens 15T, or 100B",
            [](const Problem& x, const Plan&, const RunSpec&) {
              return x.recipe.tokens && *x.recipe.tokens < tokens_of_step(x);
            },
            [](const Problem& x, const Plan&) {
              return shown(*x.recipe.tokens) + ", " + shown(tokens_of_step(x)) + " tokens a step";
            }},
};

}  // namespace trainplan::detail
