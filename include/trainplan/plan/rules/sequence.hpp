/// Rules about what cuts a sequence.
#pragma once

#include "trainplan/plan/rules/rule.hpp"

namespace trainplan::detail {

/// Pieces that context parallelism cuts a sequence into.
inline std::int64_t cp_chunks(const Problem& x, const Plan& p) {
  return p.cp == 1 ? 1 : x.profile().rules.chunks_per_cp_rank * p.cp;
}
/// What sequence parallelism makes it a multiple of.
inline std::int64_t tp_cuts(const Problem& x, const Plan& p) {
  if (!p.sequence_parallel || !x.profile().rules.sequence_parallel) return 1;
  return p.tp * (x.profile().rules.tp_divides_chunk ? cp_chunks(x, p) : std::int64_t{p.cp});
}

/// "8190 / 32, the least multiple of 2 x cp 2 and of cp 2 x tp 8".
inline std::string sequence_text(const Problem& x, const Plan& p) {
  const std::int64_t chunks = x.profile().rules.chunks_per_cp_rank,
                     divisor = std::lcm(cp_chunks(x, p), tp_cuts(x, p));
  const std::string ring = (chunks > 1 ? text(chunks) + " x cp " : "cp ") + text(p.cp);
  const std::string tp = "tp " + text(p.tp), head = text(x.recipe.sequence) + " / ";
  if (tp_cuts(x, p) == 1) return head + "(" + ring + ")";
  if (p.cp == 1) return head + tp;
  if (x.profile().rules.tp_divides_chunk) return head + text(divisor) + ", " + ring + " x " + tp;
  return head + text(divisor) + ", the least multiple of " + ring + " and of cp " + text(p.cp) + " x " + tp;
}

/// Ranks that each need heads of their own in an all-to-all.
inline bool all_to_all_fits(const Problem& x, const Plan& p) {
  const std::int64_t ranks = std::int64_t{p.tp} * p.cp, kv = x.model().kv_heads;
  const bool kv_fits =
      divides(ranks, kv) || (x.profile().rules.replicates_key_value_over_cp && divides(kv, ranks));
  return divides(ranks, x.model().heads) && (x.model().is_latent() || kv_fits);
}

constexpr bool offers(const FrameworkRules& r, CpMode mode) {
  switch (mode) {
    case CpMode::Ring: return r.ring;
    case CpMode::AllToAll: return r.all_to_all;
    case CpMode::AllGather: return r.all_gather;
  }
  return false;
}

/// Every set of offered modes, ring being 1, all-to-all 2 and all-gather 4.
constexpr std::string_view cp_modes_sentence(const FrameworkRules& r) {
  constexpr std::string_view kSentences[] = {
      "be without effect: cp must be 1 in this framework",
      "be ring when cp is above 1: the framework has nothing else",
      "be all-to-all when cp is above 1: the framework has nothing else",
      "be ring or all-to-all when cp is above 1: the framework has no all-gather",
      "be all-gather when cp is above 1: the framework has nothing else",
      "be ring or all-gather when cp is above 1: the framework has no all-to-all",
      "be all-to-all or all-gather when cp is above 1: the framework has no ring",
      "be ring, all-to-all or all-gather"};
  return kSentences[(r.ring ? 1 : 0) + (r.all_to_all ? 2 : 0) + (r.all_gather ? 4 : 0)];
}

inline constexpr std::array kSequenceRules{
    Rule{.id = "cp-divides-sequence",
         .field = "sequence",
         .also = "cp",
         .must = "be a multiple of the pieces that cp cuts it into",
         .keeps = [](const Problem& x, const Plan& p) { return divides(cp_chunks(x, p), x.recipe.sequence); },
         .numbers = sequence_text,
         .wording = [](const FrameworkProfile& f) -> std::string_view {
           return f.rules.chunks_per_cp_rank == 1 ? "be a multiple of cp"
                                                  : "be a multiple of 2 x cp when cp is above 1";
         }},
    Rule{.id = "tp-divides-sequence",
         .field = "sequence",
         .also = "tp",
         .must = "be a multiple of cp x tp with sequence parallelism",
         .keeps = [](const Problem& x, const Plan& p) { return divides(tp_cuts(x, p), x.recipe.sequence); },
         .numbers = sequence_text,
         .applies = [](const FrameworkProfile& f) { return f.rules.sequence_parallel; },
         .wording = [](const FrameworkProfile& f) -> std::string_view {
           return f.rules.tp_divides_chunk
                      ? "be a multiple of tp with sequence parallelism, of 2 x cp x tp when cp is above 1"
                      : "be a multiple of cp x tp with sequence parallelism";
         }},
    Rule{
        .id = "all-to-all-divides-heads",
        .field = "cp",
        .also = "tp",
        .must = "divide the heads and the KV heads of a tp rank with all-to-all context parallelism",
        .keeps =
            [](const Problem& x, const Plan& p) {
              return p.cp == 1 || x.recipe.cp_mode != CpMode::AllToAll || all_to_all_fits(x, p);
            },
        .numbers =
            [](const Problem& x, const Plan& p) {
              return text(x.model().heads) + " heads and " + text(x.model().kv_heads) + " KV heads / (tp " +
                     text(p.tp) + " x cp " + text(p.cp) + ")";
            },
        .repair =
            [](const Problem& x, const Plan&) {
              return std::string(x.profile().rules.ring ? "take cp_mode ring, which cuts no heads" : "");
            },
        .applies = [](const FrameworkProfile& f) { return f.rules.all_to_all; },
        .wording = [](const FrameworkProfile& f) -> std::string_view {
          return f.rules.replicates_key_value_over_cp
                     ? "divide the heads of a tp rank with all-to-all context parallelism, and divide its KV "
                       "heads or be a multiple of them"
                     : "divide the heads and the KV heads of a tp rank with all-to-all context parallelism";
        }},
    Rule{.id = "cp-mode-is-offered",
         .field = "cp_mode",
         .also = "cp",
         .must = "be a mode of the framework when cp is above 1",
         .keeps = [](const Problem& x,
                     const Plan& p) { return p.cp == 1 || offers(x.profile().rules, x.recipe.cp_mode); },
         .numbers =
             [](const Problem& x, const Plan& p) {
               return std::string(name_of(x.recipe.cp_mode)) + ", cp " + text(p.cp);
             },
         .applies =
             [](const FrameworkProfile& f) {
               return !f.rules.ring || !f.rules.all_to_all || !f.rules.all_gather;
             },
         .wording = [](const FrameworkProfile& f) { return cp_modes_sentence(f.rules); }},
};

}  // namespace trainplan::detail
