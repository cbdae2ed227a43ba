/// Rules about what may wait in the memory of the host.
#pragma once

#include "trainplan/plan/rules/sharding.hpp"

namespace trainplan::detail {

inline const HostRows* host_rows(const Problem& x, const Plan& p) {
  const ShardingRows* rows = x.profile().rows(p.sharding);
  return rows == nullptr ? nullptr : &rows->host;
}
inline std::string framework_and_sharding(const Problem& x, const Plan& p) {
  return x.profile().id + ", sharding " + std::string(name_of(p.sharding));
}
inline std::string offloaded_text(const Problem& x, const Plan&) {
  return percent(x.recipe.offload.optimizer) + " of the parameters, weights " +
         (x.recipe.offload.weights ? "on the host" : "on the GPU");
}

/// "set sharding to zero2 or zero3": the modes that offer it.
inline std::string modes_that(const FrameworkProfile& f, bool (*offers)(const HostRows&)) {
  std::string out;
  for (const ShardingRows& rows : f.shardings)
    if (offers(rows.host)) out.append(out.empty() ? "set sharding to " : " or ").append(name_of(rows.mode));
  return out;
}

/// Layers of a stage between the first and the last; none where the stages cannot be.
inline std::int64_t middle_stage(const Problem& x, const Plan& p) {
  const std::int64_t layers = x.model().layers, given = std::int64_t{p.first_layers} + p.last_layers;
  return std::int64_t{p.pp} * p.vpp > layers || given > layers ? 0 : stage_layers(x.model(), p, p.pp / 2);
}
/// Layers that a stage between the first and the last recomputes.
inline std::int64_t recomputed_of_stage(const Problem& x, const Plan& p) {
  const std::int64_t all = middle_stage(x, p);
  return p.recompute == Recompute::Full     ? all
         : p.recompute == Recompute::Layers ? std::int64_t{p.recompute_layers}
                                            : 0;
}
inline std::string offload_layers_text(const Problem& x, const Plan& p) {
  return text(x.recipe.offload.layers) + " of " + text(middle_stage(x, p)) + " layers, pp " + text(p.pp) +
         ", recompute " + std::string(name_of(p.recompute));
}
inline std::string host_text(const Problem& x, const Plan&) {
  const ClusterSpec& c = x.cluster();
  return c.name + (c.host_link.known ? "" : " has no rate of a link to the host") +
         (!c.host_link.known && !c.host_bandwidth.known ? "," : "") +
         (c.host_bandwidth.known ? "" : " has no host/memory_bandwidth");
}

inline constexpr std::array kOffloadRules{
    Rule{.id = "offload-optimizer-is-offered",
         .field = "offload_optimizer",
         .also = "sharding",
         .must = "be 0%: the framework keeps the optimizer on the GPU with this sharding",
         .keeps =
             [](const Problem& x, const Plan& p) {
               const HostRows* host = host_rows(x, p);
               return x.recipe.offload.optimizer == 0 || host == nullptr || !host->optimizer.empty();
             },
         .numbers = framework_and_sharding,
         .repair =
             [](const Problem& x, const Plan&) {
               return modes_that(x.profile(), [](const HostRows& h) { return !h.optimizer.empty(); });
             }},
    Rule{.id = "offload-optimizer-is-whole",
         .field = "offload_optimizer",
         .also = "sharding",
         .must = "be 0% or 100%: the framework does not split the parameters with this sharding",
         .keeps =
             [](const Problem& x, const Plan& p) {
               const double share = x.recipe.offload.optimizer;
               const HostRows* host = host_rows(x, p);
               return share == 0 || share == 1 || host == nullptr || host->partial || host->optimizer.empty();
             },
         .numbers = offloaded_text},
    Rule{.id = "offload-weights-is-offered",
         .field = "offload_weights",
         .also = "sharding",
         .must = "be false: the framework keeps the weights on the GPU with this sharding",
         .keeps =
             [](const Problem& x, const Plan& p) {
               const HostRows* host = host_rows(x, p);
               return !x.recipe.offload.weights || host == nullptr || !host->weights.empty();
             },
         .numbers = framework_and_sharding,
         .repair =
             [](const Problem& x, const Plan&) {
               return modes_that(x.profile(), [](const HostRows& h) { return !h.weights.empty(); });
             }},
    Rule{
        .id = "offload-goes-together",
        .field = "offload_optimizer",
        .also = "offload_weights",
        .must = "be 100% with offload_weights and 0% without: both move, or none",
        .keeps = [](const Problem& x,
                    const Plan&) { return x.recipe.offload.optimizer == (x.recipe.offload.weights ? 1 : 0); },
        .numbers = offloaded_text,
        .repair = [](const Problem&, const Plan&) { return std::string("set offload_weights to true"); },
        .applies = [](const FrameworkProfile& f) { return f.host.together; }},
    Rule{.id = "offload-layers-is-offered",
         .field = "offload_layers",
         .must = "be left out: the framework keeps activations on the GPU",
         .keeps = [](const Problem& x, const Plan&) { return x.recipe.offload.layers == 0; },
         .numbers = [](const Problem& x, const Plan&) { return x.profile().release(); },
         .applies = [](const FrameworkProfile& f) { return f.host.layers == LayerOffload::None; }},
    Rule{.id = "offload-layers-without-pipeline",
         .field = "offload_layers",
         .also = "pp",
         .must = "stand with pp 1",
         .keeps = [](const Problem& x, const Plan& p) { return x.recipe.offload.layers == 0 || p.pp == 1; },
         .numbers = offload_layers_text,
         .applies = [](const FrameworkProfile& f) { return f.host.layers == LayerOffload::Saved; }},
    Rule{
        .id = "offload-layers-without-recompute",
        .field = "offload_layers",
        .also = "recompute",
        .must = "stand with recompute none",
        .keeps = [](const Problem& x,
                    const Plan& p) { return x.recipe.offload.layers == 0 || p.recompute == Recompute::None; },
        .numbers = offload_layers_text,
        .applies = [](const FrameworkProfile& f) { return f.host.layers == LayerOffload::Saved; }},
    Rule{.id = "offload-layers-leave-one",
         .field = "offload_layers",
         .also = "pp",
         .must = "be below the layers of a stage: the last one runs backward at once",
         .keeps =
             [](const Problem& x, const Plan& p) {
               return x.recipe.offload.layers == 0 || x.recipe.offload.layers < middle_stage(x, p);
             },
         .numbers = offload_layers_text,
         .applies = [](const FrameworkProfile& f) { return f.host.layers == LayerOffload::Saved; }},
    Rule{.id = "offload-layers-are-recomputed",
         .field = "offload_layers",
         .also = "recompute",
         .must = "be the recomputed layers of a stage: what these keep goes to the host, and nothing else",
         .keeps =
             [](const Problem& x, const Plan& p) {
               return x.recipe.offload.layers == 0 || x.recipe.offload.layers == recomputed_of_stage(x, p);
             },
         .numbers = offload_layers_text,
         .repair = [](const Problem&, const Plan&) { return std::string("set recompute to full"); },
         .applies = [](const FrameworkProfile& f) { return f.host.layers == LayerOffload::Kept; }},
    Rule{.id = "offload-optimizer-needs-host",
         .field = "offload_optimizer",
         .must = "stand with a cluster that says how fast the host's memory and the link to it are",
         .keeps =
             [](const Problem& x, const Plan&) {
               return x.recipe.offload.optimizer == 0 ||
                      (x.cluster().host_link.known && x.cluster().host_bandwidth.known);
             },
         .numbers = host_text,
         .repair =
             [](const Problem&, const Plan&) {
               return std::string("add host/link and host/memory_bandwidth to the cluster file");
             }},
    Rule{.id = "offload-weights-needs-host",
         .field = "offload_weights",
         .must = "stand with a cluster that says how fast the link to the host is",
         .keeps = [](const Problem& x,
                     const Plan&) { return !x.recipe.offload.weights || x.cluster().host_link.known; },
         .numbers = host_text,
         .repair = [](const Problem&,
                      const Plan&) { return std::string("add host/link to the cluster file"); }},
    Rule{.id = "offload-layers-needs-host",
         .field = "offload_layers",
         .must = "stand with a cluster that says how fast the link to the host is",
         .keeps = [](const Problem& x,
                     const Plan&) { return x.recipe.offload.layers == 0 || x.cluster().host_link.known; },
         .numbers = host_text,
         .repair = [](const Problem&,
                      const Plan&) { return std::string("add host/link to the cluster file"); }},
};

}  // namespace trainplan::detail
