/// Rules about what tensor-parallel ranks cut.
#pragma once

#include "trainplan/plan/rules/rule.hpp"

namespace trainplan::detail {

/// The vocabulary after the framework's padding.
constexpr std::int64_t padded_to(const FrameworkProfile& f, std::int64_t vocab, std::int64_t tp) {
  const std::int64_t multiple = f.vocabulary_multiple * (f.vocabulary_times_tp ? tp : 1);
  return (vocab + multiple - 1) / multiple * multiple;
}

inline constexpr std::array kTensorRules{
    Rule{"tp-divides-heads", "tp", "", "divide num_attention_heads",
         [](const Problem& x, const Plan& p) { return divides(p.tp, x.model().heads); },
         [](const Problem& x, const Plan& p) { return text(x.model().heads) + " heads / tp " + text(p.tp); }},
    Rule{.id = "tp-fits-kv-heads",
         .field = "tp",
         .must = "divide num_key_value_heads, or be a multiple of it where the framework replicates them",
         .keeps =
             [](const Problem& x, const Plan& p) {
               return x.model().is_latent() || divides(p.tp, x.model().kv_heads) ||
                      (x.profile().replicates_key_value && divides(x.model().kv_heads, p.tp));
             },
         .numbers =
             [](const Problem& x, const Plan& p) {
               return text(x.model().kv_heads) + " KV heads / tp " + text(p.tp) + " = " +
                      quotient(x.model().kv_heads, p.tp) + " heads a rank";
             },
         .wording = [](const FrameworkProfile& f) -> std::string_view {
           return f.replicates_key_value ? "divide num_key_value_heads or be a multiple of it"
                                         : "divide num_key_value_heads";
         }},
    Rule{.id = "tp-divides-latent-ranks",
         .field = "tp",
         .must =
             "divide q_lora_rank and kv_lora_rank + qk_rope_head_dim where the down projections of latent "
             "attention are cut over tp",
         .keeps =
             [](const Problem& x, const Plan& p) {
               const LatentAttention& a = x.model().latent;
               return !x.model().is_latent() ||
                      (divides(p.tp, a.q_rank) && divides(p.tp, a.kv_rank + a.rope_dim));
             },
         .numbers =
             [](const Problem& x, const Plan& p) {
               const LatentAttention& a = x.model().latent;
               return text(a.q_rank) + " and " + text(a.kv_rank) + " + " + text(a.rope_dim) + ", tp " +
                      text(p.tp);
             },
         .applies = [](const FrameworkProfile& f) { return f.rules.latent_ranks_over_tp; }},
    Rule{"tp-divides-ffn", "tp", "", "divide intermediate_size",
         [](const Problem& x, const Plan& p) {
           return divides(p.tp, x.model().ffn) || x.model().sparse_layers() == x.model().layers;
         },
         [](const Problem& x, const Plan& p) { return text(x.model().ffn) + " / tp " + text(p.tp); }},
    Rule{"tp-divides-hidden", "tp", "", "divide hidden_size",
         [](const Problem& x, const Plan& p) { return divides(p.tp, x.model().hidden); },
         [](const Problem& x, const Plan& p) { return text(x.model().hidden) + " / tp " + text(p.tp); }},
    Rule{.id = "tp-divides-vocabulary",
         .field = "tp",
         .must = "divide the vocabulary (after the framework's padding)",
         .keeps = [](const Problem& x,
                     const Plan& p) { return divides(p.tp, padded_to(x.profile(), x.model().vocab, p.tp)); },
         .numbers =
             [](const Problem& x, const Plan& p) {
               const std::int64_t padded = padded_to(x.profile(), x.model().vocab, p.tp);
               const std::string own = text(x.model().vocab);
               return (padded == x.model().vocab ? own + ", not padded"
                                                 : own + " padded to " + text(padded)) +
                      ", / tp " + text(p.tp);
             },
         .repair =
             [](const Problem& x, const Plan& p) {
               const std::int64_t multiple = std::lcm(x.profile().vocabulary_multiple, std::int64_t{p.tp});
               return "pad vocab_size to " + text((x.model().vocab + multiple - 1) / multiple * multiple) +
                      ", a multiple of " + text(multiple);
             },
         .applies = [](const FrameworkProfile& f) { return !f.rules.uneven_vocabulary; }},
    Rule{"tp-divides-shared-experts", "tp", "", "divide the MLP width of the shared experts",
         [](const Problem& x, const Plan& p) { return divides(p.tp, x.model().experts.shared_width); },
         [](const Problem& x, const Plan& p) {
           return text(x.model().experts.shared_width) + " / tp " + text(p.tp);
         }},
    Rule{.id = "tp-overlap-is-offered",
         .field = "tp_overlap",
         .must = "be false: the framework does not overlap tensor-parallel traffic",
         .keeps = [](const Problem& x, const Plan&) { return !x.recipe.tp_overlap; },
         .numbers = [](const Problem& x, const Plan&) { return x.profile().release(); },
         .applies = [](const FrameworkProfile& f) { return !f.rules.tp_overlap; }},
};

}  // namespace trainplan::detail
