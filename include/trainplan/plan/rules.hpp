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

/// Every stage gets layers under a layout that the framework offers.
inline bool layout_divides(const Problem& x, const Plan& p) {
  const std::int64_t layers = x.model().layers;
  const UnevenStages offers = x.profile().uneven_stages;
  if (p.pp > layers) return false;
  switch (p.layout) {
    case Layout::Equal: return layers % p.pp == 0;
    case Layout::EmbeddingAndLoss:
      // A stage with the embedding or the head alone would train no layer.
      return (offers == UnevenStages::ByOne && layer_slots(layers, p.layout) / p.pp > 1) ||
             (offers == UnevenStages::Counted && (layers + 2) % p.pp == 0);
    case Layout::FirstAndLast: break;
  }
  const std::int64_t rest = layers - p.first_layers - p.last_layers;
  return offers == UnevenStages::Counted && p.pp > 1 && p.first_layers > 0 && p.last_layers > 0 &&
         (p.pp == 2 ? rest == 0 : rest > 0 && rest % (p.pp - 2) == 0);
}

/// Every virtual stage gets the same number of layers of its stage; left-over ones where the framework takes
/// them.
inline bool vpp_divides(const Problem& x, const Plan& p) {
  const std::int64_t layers = x.model().layers, slots = layer_slots(layers, p.layout);
  if (p.layout == Layout::FirstAndLast)
    return divides(p.vpp, p.first_layers) && divides(p.vpp, p.last_layers) &&
           divides(p.vpp, middle_layers(layers, p));
  if (x.profile().uneven_stages == UnevenStages::ByOne) return std::int64_t{p.pp} * p.vpp <= slots;
  return divides(std::int64_t{p.pp} * p.vpp, slots);
}

/// GPUs that one copy of the routed experts takes.
constexpr std::int64_t expert_grid(const Plan& p) { return std::int64_t{p.etp} * p.ep * p.pp; }

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
    Rule{"tp-fits-kv-heads", "tp", "",
         "divide num_key_value_heads, or be a multiple of it where the framework replicates them",
         [](const Problem& x, const Plan& p) {
           return x.model().is_latent() || divides(p.tp, x.model().kv_heads) ||
                  (x.profile().replicates_key_value && divides(x.model().kv_heads, p.tp));
         },
         [](const Problem& x, const Plan& p) {
           return text(x.model().kv_heads) + " KV heads, tp " + text(p.tp);
         }},
    Rule{"tp-divides-ffn", "tp", "", "divide intermediate_size",
         [](const Problem& x, const Plan& p) {
           return divides(p.tp, x.model().ffn) || x.model().sparse_layers() == x.model().layers;
         },
         [](const Problem& x, const Plan& p) { return text(x.model().ffn) + " / tp " + text(p.tp); }},
    Rule{"tp-divides-hidden", "tp", "", "divide hidden_size",
         [](const Problem& x, const Plan& p) { return divides(p.tp, x.model().hidden); },
         [](const Problem& x, const Plan& p) { return text(x.model().hidden) + " / tp " + text(p.tp); }},
    Rule{"tp-divides-vocabulary", "tp", "", "divide the vocabulary (after the framework's padding)",
         [](const Problem& x, const Plan& p) {
           return x.profile().vocabulary_times_tp || divides(p.tp, x.model().vocab);
         },
         [](const Problem& x, const Plan& p) { return text(x.model().vocab) + " / tp " + text(p.tp); }},
    Rule{"pp-divides-layers", "pp", "",
         "divide num_hidden_layers, or what the framework offers for uneven stages must work out",
         layout_divides,
         [](const Problem& x, const Plan& p) {
           return p.layout == Layout::FirstAndLast
                      ? text(x.model().layers) + " layers, first " + text(p.first_layers) + ", last " +
                            text(p.last_layers) + ", pp " + text(p.pp)
                      : text(x.model().layers) + " layers, pp " + text(p.pp);
         }},
    Rule{"vpp-divides-stage", "vpp", "pp", "divide the layers of a stage",
         [](const Problem& x, const Plan& p) {
           return p.vpp == 1 || !layout_divides(x, p) || vpp_divides(x, p);
         },
         [](const Problem& x, const Plan& p) {
           return text(layer_slots(x.model().layers, p.layout) / p.pp) + " layers of a stage, vpp " +
                  text(p.vpp);
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
    Rule{"ep-needs-experts", "ep", "",
         "be 1 unless the model has routed experts and the framework places them",
         [](const Problem& x, const Plan& p) {
           return (p.ep == 1 && p.etp == 1) || (x.model().is_sparse() && x.profile().expert_parallel);
         },
         [](const Problem& x, const Plan& p) {
           return "ep " + text(p.ep) + ", etp " + text(p.etp) + ", " + text(x.model().experts.count) +
                  " experts, " + x.profile().id;
         }},
    Rule{"ep-divides-experts", "ep", "", "divide the routed experts of a layer",
         [](const Problem& x, const Plan& p) {
           return !x.model().is_sparse() || divides(p.ep, x.model().experts.count);
         },
         [](const Problem& x, const Plan& p) {
           return text(x.model().experts.count) + " experts / ep " + text(p.ep);
         }},
    Rule{"expert-grid-divides-gpus", "ep", "pp", "make etp x ep x pp divide the GPUs",
         [](const Problem& x, const Plan& p) {
           return !x.model().is_sparse() || divides(expert_grid(p), x.cluster().gpus());
         },
         [](const Problem& x, const Plan& p) {
           return text(x.cluster().gpus()) + " GPUs / (etp " + text(p.etp) + " x ep " + text(p.ep) +
                  " x pp " + text(p.pp) + ")";
         }},
    Rule{"expert-shards-are-whole", "ep", "shard_size",
         "make ep x etp divide the ranks of a shard group, with tp",
         [](const Problem& x, const Plan& p) {
           const bool sharded = p.sharding == Sharding::Zero3 || p.sharding == Sharding::Hsdp;
           return !x.model().is_sparse() || !sharded ||
                  divides(std::int64_t{p.ep} * p.etp, std::int64_t{p.shard} * p.tp);
         },
         [](const Problem&, const Plan& p) {
           return "shard " + text(p.shard) + " x tp " + text(p.tp) + " / (ep " + text(p.ep) + " x etp " +
                  text(p.etp) + ")";
         }},
    Rule{"etp-needs-framework", "etp", "",
         "be 1 unless the framework divides experts over tensor parallel ranks",
         [](const Problem& x, const Plan& p) { return p.etp == 1 || x.profile().expert_tensor_parallel; },
         [](const Problem& x, const Plan& p) { return "etp " + text(p.etp) + ", " + x.profile().id; }},
    Rule{
        "etp-divides-expert-width", "etp", "", "divide the MLP width of an expert",
        [](const Problem& x, const Plan& p) { return p.etp == 1 || divides(p.etp, x.model().experts.width); },
        [](const Problem& x, const Plan& p) {
          return text(x.model().experts.width) + " / etp " + text(p.etp);
        }},
    Rule{"tp-divides-shared-experts", "tp", "", "divide the MLP width of the shared experts",
         [](const Problem& x, const Plan& p) { return divides(p.tp, x.model().experts.shared_width); },
         [](const Problem& x, const Plan& p) {
           return text(x.model().experts.shared_width) + " / tp " + text(p.tp);
         }},
    Rule{"experts-need-sequence-parallel", "sequence_parallel", "tp",
         "be true when a model with routed experts runs with tp above 1",
         [](const Problem& x, const Plan& p) {
           return !x.model().is_sparse() || p.tp == 1 || p.sequence_parallel;
         },
         [](const Problem& x, const Plan& p) {
           return text(x.model().experts.count) + " experts, tp " + text(p.tp);
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
