/// Legality of a plan: one entry per rule with its id, sentence, predicate and the field that repairs it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "trainplan/plan/groups.hpp"
#include "trainplan/plan/problem.hpp"
#include "trainplan/spec/issue.hpp"

namespace trainplan {

/// "<field> must <must>": field is the run field whose value breaks the rule, numbers() what it is judged on.
/// also: another field that the rule depends on; while that one is wrong, the rule says nothing.
struct Rule {
  std::string_view id, field, also, must;
  bool (*holds)(const Problem&, const Plan&);
  std::string (*numbers)(const Problem&, const Plan&);
};

namespace detail {

inline std::string text(std::int64_t n) { return std::to_string(n); }
constexpr bool divides(std::int64_t divisor, std::int64_t n) { return divisor > 0 && n % divisor == 0; }

/// Layer slots of a stage: layers, plus the embedding and the loss where they count as one.
inline std::int64_t layer_slots(const ModelSpec& m, const Plan& p) {
  return m.layers + (p.layout == Layout::Equal ? 0 : 2);
}

inline constexpr std::array kRules{
    Rule{"tp-divides-gpus", "tp", "", "divide the number of GPUs",
         [](const Problem& x, const Plan& p) { return divides(p.tp, x.cluster().gpus()); },
         [](const Problem& x, const Plan& p) {
           return text(x.cluster().gpus()) + " GPUs / tp " + text(p.tp);
         }},
    Rule{"pp-divides-gpus", "pp", "tp", "divide the GPUs that tp leaves",
         [](const Problem& x, const Plan& p) {
           return !divides(p.tp, x.cluster().gpus()) ||
                  divides(std::int64_t{p.tp} * p.pp, x.cluster().gpus());
         },
         [](const Problem& x, const Plan& p) {
           return text(x.cluster().gpus()) + " GPUs / (tp " + text(p.tp) + " x pp " + text(p.pp) + ")";
         }},
    Rule{"cp-divides-gpus", "cp", "pp", "divide the GPUs that tp and pp leave",
         [](const Problem& x, const Plan& p) {
           const std::int64_t inner = std::int64_t{p.tp} * p.pp;
           return !divides(inner, x.cluster().gpus()) || divides(inner * p.cp, x.cluster().gpus());
         },
         [](const Problem& x, const Plan& p) {
           return text(x.cluster().gpus()) + " GPUs / (tp " + text(p.tp) + " x pp " + text(p.pp) + " x cp " +
                  text(p.cp) + ")";
         }},
    Rule{"dp-is-the-rest", "dp", "pp", "be the GPUs / (tp x pp x cp)",
         [](const Problem& x, const Plan& p) {
           const std::int64_t inner = std::int64_t{p.tp} * p.pp * p.cp;
           return !divides(inner, x.cluster().gpus()) || inner * p.dp == x.cluster().gpus();
         },
         [](const Problem& x, const Plan& p) {
           return text(p.tp) + " x " + text(p.pp) + " x " + text(p.cp) + " x " + text(p.dp) + " = " +
                  text(std::int64_t{p.tp} * p.pp * p.cp * p.dp) + ", GPUs = " + text(x.cluster().gpus());
         }},
    Rule{"tp-divides-heads", "tp", "", "divide num_attention_heads",
         [](const Problem& x, const Plan& p) { return divides(p.tp, x.model().heads); },
         [](const Problem& x, const Plan& p) { return text(x.model().heads) + " heads / tp " + text(p.tp); }},
    Rule{"tp-fits-kv-heads", "tp", "", "divide num_key_value_heads or be a multiple of it",
         [](const Problem& x, const Plan& p) {
           return divides(p.tp, x.model().kv_heads) || divides(x.model().kv_heads, p.tp);
         },
         [](const Problem& x, const Plan& p) {
           return text(x.model().kv_heads) + " KV heads, tp " + text(p.tp);
         }},
    Rule{"tp-divides-ffn", "tp", "", "divide intermediate_size",
         [](const Problem& x, const Plan& p) { return divides(p.tp, x.model().ffn); },
         [](const Problem& x, const Plan& p) { return text(x.model().ffn) + " / tp " + text(p.tp); }},
    Rule{"tp-divides-hidden", "tp", "", "divide hidden_size",
         [](const Problem& x, const Plan& p) { return divides(p.tp, x.model().hidden); },
         [](const Problem& x, const Plan& p) { return text(x.model().hidden) + " / tp " + text(p.tp); }},
    Rule{"tp-divides-vocabulary", "tp", "", "divide the vocabulary (after the framework's padding)",
         [](const Problem& x, const Plan& p) {
           return x.profile().vocabulary_times_tp || divides(p.tp, x.model().vocab);
         },
         [](const Problem& x, const Plan& p) { return text(x.model().vocab) + " / tp " + text(p.tp); }},
    Rule{
        "pp-divides-layers", "pp", "",
        "divide num_hidden_layers, or layers + 2 where the framework counts embedding and loss",
        [](const Problem& x, const Plan& p) {
          return (p.layout == Layout::Equal || x.profile().uneven_stages) &&
                 divides(p.pp, layer_slots(x.model(), p)) && p.pp <= x.model().layers;
        },
        [](const Problem& x, const Plan& p) { return text(x.model().layers) + " layers, pp " + text(p.pp); }},
    Rule{"vpp-divides-stage", "vpp", "pp", "divide the layers of a stage",
         [](const Problem& x, const Plan& p) {
           return p.vpp == 1 || (divides(p.pp, layer_slots(x.model(), p)) &&
                                 divides(p.vpp, layer_slots(x.model(), p) / p.pp));
         },
         [](const Problem& x, const Plan& p) {
           return text(layer_slots(x.model(), p) / p.pp) + " layers of a stage, vpp " + text(p.vpp);
         }},
    Rule{"vpp-needs-interleaving", "vpp", "pp", "be 1 unless pp is above 1 and the framework interleaves",
         [](const Problem& x, const Plan& p) { return p.vpp == 1 || (p.pp > 1 && x.profile().interleaving); },
         [](const Problem& x, const Plan& p) {
           return "vpp " + text(p.vpp) + ", pp " + text(p.pp) + ", " + x.profile().id;
         }},
    Rule{"schedule-matches-vpp", "schedule", "vpp", "be interleaved exactly when vpp is above 1",
         [](const Problem&, const Plan& p) { return (p.schedule == Schedule::Interleaved) == (p.vpp > 1); },
         [](const Problem&, const Plan& p) {
           return std::string(name_of(p.schedule)) + ", vpp " + text(p.vpp);
         }},
    Rule{"batch-divides", "global_batch", "dp", "be a multiple of dp x micro_batch",
         [](const Problem& x, const Plan& p) {
           return divides(std::int64_t{p.dp} * p.micro_batch, x.recipe.global_batch);
         },
         [](const Problem& x, const Plan& p) {
           return text(x.recipe.global_batch) + " sequences / (dp " + text(p.dp) + " x " +
                  text(p.micro_batch) + ")";
         }},
    Rule{"interleaving-groups", "vpp", "pp",
         "be 1 unless the micro-batches of a step come in whole groups of pp",
         [](const Problem& x, const Plan& p) {
           const std::int64_t m = micro_batches(x, p);
           return p.schedule != Schedule::Interleaved || (m >= p.pp && divides(p.pp, m));
         },
         [](const Problem& x, const Plan& p) {
           return text(micro_batches(x, p)) + " micro-batches, pp " + text(p.pp);
         }},
    Rule{"cp-divides-sequence", "sequence", "cp", "be a multiple of 2 x cp when cp is above 1",
         [](const Problem& x, const Plan& p) {
           return p.cp == 1 || divides(2 * std::int64_t{p.cp}, x.recipe.sequence);
         },
         [](const Problem& x, const Plan& p) {
           return text(x.recipe.sequence) + " / (2 x " + text(p.cp) + ")";
         }},
    Rule{"tp-divides-sequence", "sequence", "tp", "be a multiple of cp x tp with sequence parallelism",
         [](const Problem& x, const Plan& p) {
           return !p.sequence_parallel || divides(std::int64_t{p.cp} * p.tp, x.recipe.sequence);
         },
         [](const Problem& x, const Plan& p) {
           return text(x.recipe.sequence) + " / cp " + text(p.cp) + " / tp " + text(p.tp);
         }},
    Rule{"all-to-all-divides-heads", "cp", "tp",
         "divide the KV heads of a tp rank with all-to-all context parallelism",
         [](const Problem& x, const Plan& p) {
           return p.cp == 1 || x.recipe.cp_mode == CpMode::Ring ||
                  divides(std::int64_t{p.tp} * p.cp, x.model().kv_heads);
         },
         [](const Problem& x, const Plan& p) {
           return text(x.model().kv_heads) + " KV heads / (tp " + text(p.tp) + " x cp " + text(p.cp) + ")";
         }},
    Rule{"sharding-is-known", "sharding", "", "be one that the framework profile describes",
         [](const Problem& x, const Plan& p) { return x.profile().rows(p.sharding) != nullptr; },
         [](const Problem& x, const Plan& p) {
           return x.profile().id + ", sharding " + std::string(name_of(p.sharding));
         }},
    Rule{"sharding-allows-pipeline", "sharding", "pp",
         "be one that runs with a pipeline in this framework when pp is above 1",
         [](const Problem& x, const Plan& p) {
           const ShardingRows* rows = x.profile().rows(p.sharding);
           return p.pp == 1 || rows == nullptr || rows->with_pipeline;
         },
         [](const Problem& x, const Plan& p) {
           return x.profile().id + ", sharding " + std::string(name_of(p.sharding)) + ", pp " + text(p.pp);
         }},
    Rule{"shard-group-divides", "shard_size", "dp", "divide dp x cp",
         [](const Problem&, const Plan& p) { return divides(p.shard, std::int64_t{p.dp} * p.cp); },
         [](const Problem&, const Plan& p) {
           return "dp x cp = " + text(std::int64_t{p.dp} * p.cp) + ", shard group " + text(p.shard);
         }},
    Rule{"recompute-layers-fit", "recompute_layers", "pp", "be from 1 to the layers of a stage",
         [](const Problem& x, const Plan& p) {
           return p.recompute != Recompute::Layers ||
                  (p.recompute_layers >= 1 && p.recompute_layers <= stage_layers(x.model(), p, p.pp / 2));
         },
         [](const Problem& x, const Plan& p) {
           return text(p.recompute_layers) + " of " + text(stage_layers(x.model(), p, p.pp / 2)) + " layers";
         }},
    Rule{"recompute-layers-per-chunk", "recompute_layers", "pp",
         "be a multiple of vpp, since it counts for each virtual stage",
         [](const Problem&, const Plan& p) {
           return p.recompute != Recompute::Layers || divides(p.vpp, p.recompute_layers);
         },
         [](const Problem&, const Plan& p) {
           return text(p.recompute_layers) + " layers, vpp " + text(p.vpp);
         }},
};

}  // namespace detail

inline std::span<const Rule> rules() { return detail::kRules; }

/// The first rule that the plan breaks, or nullptr.
inline const Rule* first_broken(const Problem& problem, const Plan& plan) {
  for (const Rule& rule : rules())
    if (!rule.holds(problem, plan)) return &rule;
  return nullptr;
}
inline bool legal(const Problem& problem, const Plan& plan) { return first_broken(problem, plan) == nullptr; }

}  // namespace trainplan
