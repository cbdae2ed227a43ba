/// Fields that the user gave and that change nothing in this plan.
#pragma once

#include <algorithm>

#include "trainplan/plan/rules/rule.hpp"
#include "trainplan/plan/sharding_modes.hpp"
#include "trainplan/plan/warnings/warning.hpp"

namespace trainplan::detail {

inline std::string tp_text(const Problem&, const Plan& p) { return "tp " + text(p.tp); }
inline std::string pp_text(const Problem&, const Plan& p) { return "pp " + text(p.pp); }
inline std::string cp_text(const Problem&, const Plan& p) { return "cp " + text(p.cp); }
inline std::string recompute_text(const Problem&, const Plan& p) {
  return "recompute " + std::string(name_of(p.recompute));
}
inline std::string sharding_text(const Problem& x, const Plan& p) {
  return x.profile().id + ", sharding " + std::string(name_of(p.sharding));
}
inline std::string dense_text(const Problem& x, const Plan&) { return x.model().name + " is dense"; }
inline std::string ranks_text(const Problem&, const Plan& p) {
  return "dp " + text(p.dp) + " x cp " + text(p.cp) + " = " + text(std::int64_t{p.dp} * p.cp);
}

inline bool one_rank(const Plan& p) { return std::int64_t{p.dp} * p.cp == 1; }

/// The framework's selective recompute takes modules by name; others keep a fixed list of operations.
inline bool by_module(const Problem& x) { return x.profile().selective == SelectivePolicy::Modules; }

/// Modules that the model has nothing of, or whose output nothing keeps: norms are fused with the product
/// that follows unless latent projections or a router do.
inline Modules absent_modules(const ModelSpec& m) {
  Modules absent = 0;
  const auto add = [&](Module module) { absent = static_cast<Modules>(absent | bit(module)); };
  if (!m.is_latent()) add(Module::MlaUpProj);
  if (!m.is_sparse()) add(Module::MoeAct);
  if (!m.is_sparse()) add(Module::Moe);
  if (!m.is_latent() && !m.is_sparse()) add(Module::LayerNorm);
  if (m.experts.shared_width == 0) add(Module::SharedExperts);
  if (m.is_sparse() && m.sparse_layers() == m.layers) add(Module::Mlp);
  return absent;
}

inline constexpr std::array kEffectless{
    Warning{"sharding-without-ranks", "sharding",
            "have more than one rank to share with, or it saves nothing",
            "lower tp or pp, or add GPUs: dp x cp is 1",
            [](const Problem&, const Plan& p, const RunSpec& r) {
              return degrees_given(r) && p.sharding != Sharding::None && one_rank(p);
            },
            ranks_text},
    Warning{"dp-overlap-without-ranks", "dp_overlap", "have data-parallel traffic to overlap", "leave it out",
            [](const Problem&, const Plan& p, const RunSpec& r) {
              return r.dp_overlap.value_or(false) && one_rank(p);
            },
            ranks_text},
    Warning{"gather-overlap-without-gather", "gather_overlap",
            "have gathers of updated weights and dp_overlap", "leave it out",
            [](const Problem& x, const Plan& p, const RunSpec& r) {
              const bool gathers = p.sharding == Sharding::Zero1 || p.sharding == Sharding::Zero2;
              return r.gather_overlap.value_or(false) && (one_rank(p) || !gathers || !x.recipe.dp_overlap);
            },
            ranks_text},
    Warning{"sequence-parallel-without-tp", "sequence_parallel", "come with tp above 1, or it has no effect",
            "leave it out",
            [](const Problem&, const Plan& p, const RunSpec& r) {
              return r.sequence_parallel.value_or(false) && p.tp == 1;
            },
            tp_text},
    Warning{"tp-overlap-without-sequence-parallel", "tp_overlap",
            "come with tp above 1 and sequence_parallel, or nothing overlaps", "leave it out",
            [](const Problem&, const Plan& p, const RunSpec& r) {
              return r.tp_overlap.value_or(false) && (p.tp == 1 || !p.sequence_parallel);
            },
            [](const Problem&, const Plan& p) {
              return "tp " + text(p.tp) + ", sequence_parallel " + (p.sequence_parallel ? "true" : "false");
            }},
    Warning{"shard-size-without-hsdp", "shard_size",
            "come with a sharding that has groups, as hsdp does, or it has no effect",
            "set sharding to hsdp or leave shard_size out",
            [](const Problem& x, const Plan& p, const RunSpec& r) {
              const ShardingRows* rows = x.profile().rows(p.sharding);
              return r.shard_size.has_value() && p.sharding != Sharding::Hsdp &&
                     (rows == nullptr || !rows->shard_groups);
            },
            sharding_text},
    Warning{"reshard-without-gathering", "reshard_after_forward",
            "come with a sharding that gathers weights, or it has no effect", "leave it out",
            [](const Problem& x, const Plan& p, const RunSpec& r) {
              return r.reshard_after_forward.has_value() && !may_keep_gathered(x, p);
            },
            sharding_text},
    Warning{"gradient-sync-without-choice", "gradient_sync",
            "come with a sharding that lets gradients wait, or it has no effect", "leave it out",
            [](const Problem& x, const Plan& p, const RunSpec& r) {
              return r.sync_each_micro_batch.has_value() && !may_put_off_reduction(x, p);
            },
            sharding_text},
    Warning{"recompute-layers-without-mode", "recompute_layers",
            "stand with recompute = layers, or it has no effect",
            "set recompute to layers or leave recompute_layers out",
            [](const Problem&, const Plan& p, const RunSpec& r) {
              return r.recompute_layers.has_value() && p.recompute != Recompute::Layers;
            },
            recompute_text},
    Warning{"modules-without-selective", "recompute_modules",
            "stand with recompute = selective, or they have no effect",
            "set recompute to selective or leave recompute_modules out",
            [](const Problem&, const Plan& p, const RunSpec& r) {
              return r.recompute_modules.has_value() && p.recompute != Recompute::Selective;
            },
            recompute_text},
    Warning{
        "modules-of-fixed-list", "recompute_modules",
        "come with a framework that recomputes parts of a layer by name, or they have no effect: this one "
        "keeps a fixed list of operations",
        "leave recompute_modules out",
        [](const Problem& x, const Plan& p, const RunSpec& r) {
          return r.recompute_modules.has_value() && p.recompute == Recompute::Selective && !by_module(x);
        },
        [](const Problem& x, const Plan&) {
          return "selective recompute of " + x.profile().name + " keeps every second product";
        }},
    Warning{"modules-not-in-model", "recompute_modules", "name modules that keep something in this model",
            "leave the others out",
            [](const Problem& x, const Plan& p, const RunSpec& r) {
              return r.recompute_modules.has_value() && p.recompute == Recompute::Selective && by_module(x) &&
                     (*r.recompute_modules & absent_modules(x.model())) != 0;
            },
            [](const Problem& x, const Plan& p) {
              return "no " + names_of_modules(static_cast<Modules>(p.modules & absent_modules(x.model()))) +
                     " to rebuild in " + x.model().name;
            }},
    Warning{"core-attention-with-flash", "recompute",
            "name other modules than core_attn with flash attention: it keeps no scores, so that only the "
            "log-sum-exp is freed",
            "name other recompute_modules, such as mlp, or moe_act of routed experts",
            [](const Problem& x, const Plan& p, const RunSpec&) {
              return p.recompute == Recompute::Selective && by_module(x) &&
                     x.recipe.attention == Attention::Flash && (p.modules & bit(Module::CoreAttention)) != 0;
            },
            [](const Problem& x, const Plan& p) {
              return "modules " + names_of_modules(p.modules) + ", attention " +
                     std::string(name_of(x.recipe.attention));
            }},
    Warning{"capacity-without-experts", "capacity_factor", "come with routed experts, or it has no effect",
            "leave it out",
            [](const Problem& x, const Plan&, const RunSpec& r) {
              return r.capacity_factor.has_value() && !x.model().is_sparse();
            },
            dense_text},
    Warning{"imbalance-without-experts", "expert_imbalance", "come with routed experts, or it has no effect",
            "leave it out",
            [](const Problem& x, const Plan&, const RunSpec& r) {
              return r.expert_imbalance.has_value() && !x.model().is_sparse();
            },
            dense_text},
    Warning{
        "imbalance-with-capacity", "expert_imbalance",
        "stand alone: with a capacity factor that factor decides how many tokens an expert takes",
        "leave one of the two out",
        [](const Problem& x, const Plan&, const RunSpec& r) {
          return r.expert_imbalance.has_value() && r.capacity_factor.has_value() && x.model().is_sparse();
        },
        [](const Problem& x, const Plan&) { return "capacity_factor " + shown(x.recipe.capacity_factor); }},
    Warning{"ep-overlap-without-experts", "ep_overlap", "come with routed experts, or it has no effect",
            "leave it out",
            [](const Problem& x, const Plan&, const RunSpec& r) {
              return r.ep_overlap.value_or(false) && !x.model().is_sparse();
            },
            dense_text},
    Warning{"ep-overlap-without-ep", "ep_overlap", "come with ep above 1, or there is no traffic to overlap",
            "leave it out",
            [](const Problem& x, const Plan& p, const RunSpec& r) {
              return r.ep_overlap.value_or(false) && x.model().is_sparse() && p.ep == 1;
            },
            [](const Problem&, const Plan& p) { return "ep " + text(p.ep); }},
    Warning{"dispatcher-without-experts", "moe_dispatcher", "come with routed experts, or it has no effect",
            "leave it out",
            [](const Problem& x, const Plan&, const RunSpec& r) {
              return r.moe_dispatcher.has_value() && !x.model().is_sparse();
            },
            dense_text},
    Warning{"ep-without-experts", "ep", "come with routed experts, or it has no effect", "leave it out",
            [](const Problem& x, const Plan&, const RunSpec& r) {
              return r.ep.has_value() && !x.model().is_sparse();
            },
            dense_text},
    Warning{"etp-without-experts", "etp", "come with routed experts, or it has no effect", "leave it out",
            [](const Problem& x, const Plan&, const RunSpec& r) {
              return r.etp.has_value() && !x.model().is_sparse();
            },
            dense_text},
    Warning{
        "cp-mode-without-cp", "cp_mode", "come with cp above 1, or it has no effect", "leave it out",
        [](const Problem&, const Plan& p, const RunSpec& r) { return r.cp_mode.has_value() && p.cp == 1; },
        cp_text},
    Warning{
        "schedule-without-pipeline", "schedule", "come with pp above 1, or it has no effect", "leave it out",
        [](const Problem&, const Plan& p, const RunSpec& r) { return r.schedule.has_value() && p.pp == 1; },
        pp_text},
    Warning{"first-layers-without-pipeline", "first_layers", "come with pp above 1, or it has no effect",
            "leave it out",
            [](const Problem&, const Plan& p, const RunSpec& r) {
              return r.first_layers.has_value() && p.pp == 1;
            },
            pp_text},
    Warning{"uneven-stages-without-pipeline", "uneven_stages", "come with pp above 1, or it has no effect",
            "leave it out",
            [](const Problem&, const Plan& p, const RunSpec& r) {
              return r.uneven_stages.has_value() && p.pp == 1;
            },
            pp_text},
    Warning{"last-layers-without-pipeline", "last_layers", "come with pp above 1, or it has no effect",
            "leave it out",
            [](const Problem&, const Plan& p, const RunSpec& r) {
              return r.last_layers.has_value() && p.pp == 1;
            },
            pp_text},
    Warning{"mtp-without-blocks", "mtp", "come with a model that announces blocks for further tokens",
            "leave it out",
            [](const Problem& x, const Plan&, const RunSpec& r) {
              return r.mtp.has_value() && x.model().mtp_layers == 0;
            },
            [](const Problem& x, const Plan&) { return x.model().name + " announces none"; }},
};

}  // namespace trainplan::detail
