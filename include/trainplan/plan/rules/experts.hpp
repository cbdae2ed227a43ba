/// Rules about the ranks of routed experts.
#pragma once

#include "trainplan/plan/rules/rule.hpp"

namespace trainplan::detail {

/// Both grids of ranks side by side.
inline std::string both_grids(const Problem& x, const Plan& p) {
  return text(x.cluster().gpus()) + " GPUs; dense tp " + text(p.tp) + " x cp " + text(p.cp) + " x dp " +
         text(p.dp) + " x pp " + text(p.pp) + " = " + text(model_grid(p) * p.dp) + "; experts etp " +
         text(p.etp) + " x ep " + text(p.ep) + " x pp " + text(p.pp) + " = " + text(expert_grid(p));
}

constexpr bool shares_weights(Sharding s) { return s == Sharding::Zero3 || s == Sharding::Hsdp; }
/// The optimizer state of experts lies in the shard groups too.
constexpr bool has_shard_groups(const Plan& p) {
  return shares_weights(p.sharding) || p.shard < std::int64_t{p.dp} * p.cp;
}
/// Ranks of a shard group with tp; without one the replicas do not count.
constexpr std::int64_t expert_ranks(const Plan& p) {
  return (has_shard_groups(p) ? std::int64_t{p.shard} : std::int64_t{p.cp}) * p.tp;
}

inline constexpr std::array kExpertRules{
    Rule{"ep-needs-experts", "ep", "",
         "be 1 unless the model has routed experts and the framework places them",
         [](const Problem& x, const Plan& p) {
           return p.ep == 1 || (x.model().is_sparse() && x.profile().expert_parallel);
         },
         [](const Problem& x, const Plan& p) {
           return "ep " + text(p.ep) + ", " + text(x.model().experts.count) + " experts";
         }},
    Rule{"ep-divides-experts", "ep", "", "divide the routed experts of a layer",
         [](const Problem& x, const Plan& p) {
           return !x.model().is_sparse() || divides(p.ep, x.model().experts.count);
         },
         [](const Problem& x, const Plan& p) {
           return text(x.model().experts.count) + " experts / ep " + text(p.ep);
         }},
    Rule{.id = "expert-grid-divides-gpus",
         .field = "ep",
         .also = "pp",
         .must = "make etp x ep x pp divide the GPUs",
         .keeps =
             [](const Problem& x, const Plan& p) {
               return !x.model().is_sparse() || divides(expert_grid(p), x.cluster().gpus());
             },
         .numbers = both_grids,
         .repair =
             [](const Problem& x, const Plan& p) {
               const std::string clusters = fitting_clusters(x.cluster(), expert_grid(p));
               return p.etp > 1 && divides(expert_grid(p) / p.etp, x.cluster().gpus())
                          ? "take etp 1, or " + clusters
                          : clusters;
             },
         .applies = [](const FrameworkProfile& f) { return f.rules.expert_mesh == ExpertMesh::Gpus; }},
    Rule{
        .id = "ep-divides-dp",
        .field = "ep",
        .also = "dp",
        .must = "divide dp: experts are spread over data-parallel ranks",
        .keeps = [](const Problem& x,
                    const Plan& p) { return !x.model().is_sparse() || divides(p.ep, p.dp); },
        .numbers = [](const Problem&, const Plan& p) { return "dp " + text(p.dp) + " / ep " + text(p.ep); },
        .applies = [](const FrameworkProfile& f) { return f.rules.expert_mesh == ExpertMesh::DataParallel; }},
    Rule{.id = "expert-shards-are-whole",
         .field = "ep",
         .also = "shard_size",
         .must = "make ep x etp divide the ranks of a shard group, with tp",
         .keeps =
             [](const Problem& x, const Plan& p) {
               const bool by_shard = x.profile().rules.expert_mesh == ExpertMesh::ShardRanks;
               return !x.model().is_sparse() || !(by_shard || has_shard_groups(p)) ||
                      divides(std::int64_t{p.ep} * p.etp, expert_ranks(p));
             },
         .numbers =
             [](const Problem&, const Plan& p) {
               return "shard " + text(expert_ranks(p) / p.tp) + " x tp " + text(p.tp) + " / (ep " +
                      text(p.ep) + " x etp " + text(p.etp) + ")";
             },
         .applies = [](const FrameworkProfile& f) { return f.rules.expert_mesh != ExpertMesh::DataParallel; },
         .wording = [](const FrameworkProfile& f) -> std::string_view {
           return f.rules.expert_mesh == ExpertMesh::ShardRanks
                      ? "divide dp x cp of a shard group x tp; it may exceed dp"
                      : "make ep x etp divide the ranks of a shard group, with tp";
         }},
    Rule{.id = "etp-needs-framework",
         .field = "etp",
         .must = "be 1 unless the framework divides experts over tensor parallel ranks",
         .keeps = [](const Problem&, const Plan& p) { return p.etp == 1; },
         .numbers = [](const Problem& x,
                       const Plan& p) { return "etp " + text(p.etp) + ", " + x.profile().release(); },
         .applies = [](const FrameworkProfile& f) { return !f.expert_tensor_parallel; },
         .wording = [](const FrameworkProfile&) -> std::string_view {
           return "be 1: the framework does not cut experts over tensor-parallel ranks";
         }},
    Rule{.id = "etp-divides-expert-width",
         .field = "etp",
         .must = "divide the MLP width of an expert",
         .keeps =
             [](const Problem& x, const Plan& p) {
               return p.etp == 1 || !x.model().is_sparse() || divides(p.etp, x.model().experts.width);
             },
         .numbers = [](const Problem& x,
                       const Plan& p) { return text(x.model().experts.width) + " / etp " + text(p.etp); },
         .applies = [](const FrameworkProfile& f) { return f.expert_tensor_parallel; }},
    Rule{
        .id = "experts-need-sequence-parallel",
        .field = "sequence_parallel",
        .also = "tp",
        .must = "be true when a model with routed experts runs with tp above 1",
        .keeps = [](const Problem& x,
                    const Plan& p) { return !x.model().is_sparse() || p.tp == 1 || p.sequence_parallel; },
        .numbers = [](const Problem& x,
                      const Plan& p) { return text(x.model().experts.count) + " experts, tp " + text(p.tp); },
        .applies = [](const FrameworkProfile& f) { return f.rules.experts_need_sequence_parallel; }},
    Rule{.id = "ep-overlap-needs-stages",
         .field = "ep_overlap",
         .also = "pp",
         .must = "be false unless pp is 1 or vpp is above 1, and layers are not recomputed as a whole",
         .keeps =
             [](const Problem& x, const Plan& p) {
               return !x.recipe.ep_overlap || !x.model().is_sparse() ||
                      ((p.pp == 1 || p.vpp > 1) && !recomputes_layers(p));
             },
         .numbers =
             [](const Problem&, const Plan& p) {
               return "pp " + text(p.pp) + ", vpp " + text(p.vpp) + ", recompute " +
                      std::string(name_of(p.recompute));
             },
         .applies = [](const FrameworkProfile& f) { return f.rules.ep_overlap; }},
    Rule{.id = "ep-overlap-is-offered",
         .field = "ep_overlap",
         .must = "be false: the framework does not overlap expert-parallel traffic",
         .keeps =
             [](const Problem& x, const Plan& p) {
               return !x.recipe.ep_overlap || (p.schedule == Schedule::DualPipeV && p.pp > 1);
             },
         .numbers = [](const Problem& x, const Plan&) { return x.profile().release(); },
         .applies = [](const FrameworkProfile& f) { return !f.rules.ep_overlap; },
         .wording = [](const FrameworkProfile& f) -> std::string_view {
           return f.offers(Schedule::DualPipeV)
                      ? "be false but with dualpipev, whose pairs hide expert-parallel traffic"
                      : "be false: the framework does not overlap expert-parallel traffic";
         }},
};

}  // namespace trainplan::detail
