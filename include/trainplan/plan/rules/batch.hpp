/// Rules about the batch and its micro-batches.
#pragma once

#include <algorithm>

#include "trainplan/plan/rules/rule.hpp"

namespace trainplan::detail {

/// "m = 48 / (dp 4 x 4) = 3".
inline std::string micro_batch_text(const Problem& x, const Plan& p) {
  const std::int64_t round = std::int64_t{p.dp} * p.micro_batch;
  return "m = " + text(x.recipe.global_batch) + " / (dp " + text(p.dp) + " x " + text(p.micro_batch) +
         ") = " + quotient(x.recipe.global_batch, round);
}

/// Micro-batches and data-parallel sizes next to the plan's that divide the batch.
inline std::string fitting_rounds(const Problem& x, const Plan& p) {
  const std::int64_t batch = x.recipe.global_batch, dp = p.dp, b = p.micro_batch;
  std::string out;
  const auto nearest = [&](std::int64_t from, std::int64_t step, std::int64_t other) -> std::int64_t {
    for (std::int64_t v = from + step; v >= 1 && v <= batch; v += step)
      if (divides(other * v, batch)) return v;
    return 0;
  };
  const auto either = [](std::int64_t below, std::int64_t above, auto show) {
    return (below > 0 ? show(below) : "") + (below > 0 && above > 0 ? " or " : "") +
           (above > 0 ? show(above) : "");
  };
  const std::string sizes = either(nearest(b, -1, dp), nearest(b, 1, dp), text);
  if (!sizes.empty()) out = "take micro_batch " + sizes;
  const std::string ranks = either(nearest(dp, -1, b), nearest(dp, 1, b), [&](std::int64_t d) {
    return text(d) + " (" + text(d * model_grid(p)) + " GPUs)";
  });
  if (!ranks.empty()) out += (out.empty() ? "take dp " : ", or dp ") + ranks;
  return out;
}

/// Rounds in which the micro-batches of a step pass an interleaved pipeline.
inline bool whole_rounds(const Problem& x, std::int64_t m, std::int64_t pp) {
  if (x.profile().rules.interleaves_in_rounds) return m >= 1 && divides(std::max<std::int64_t>(1, m / pp), m);
  return m >= pp && divides(pp, m);
}

inline constexpr std::array kBatchRules{
    Rule{.id = "batch-divides",
         .field = "global_batch",
         .also = "dp",
         .must = "be a multiple of dp x micro_batch",
         .keeps =
             [](const Problem& x, const Plan& p) {
               return x.recipe.global_batch >= 1 &&
                      divides(std::int64_t{p.dp} * p.micro_batch, x.recipe.global_batch);
             },
         .numbers = micro_batch_text,
         .repair = fitting_rounds},
    Rule{.id = "micro-batches-cover-stages",
         .field = "global_batch",
         .also = "pp",
         .must = "give each stage a micro-batch of its own (m >= pp) with one stage a rank",
         .keeps =
             [](const Problem& x, const Plan& p) {
               const bool judged = divides(std::int64_t{p.dp} * p.micro_batch, x.recipe.global_batch);
               return !judged || p.pp == 1 || in_groups(p.schedule) || micro_batches(x, p) >= p.pp;
             },
         .numbers =
             [](const Problem& x, const Plan& p) {
               const std::int64_t m = std::max<std::int64_t>(1, micro_batches(x, p)), pp = p.pp;
               return micro_batch_text(x, p) + " < pp " + text(pp) + ": (pp - 1) / (m + pp - 1) = " +
                      percent(static_cast<double>(pp - 1) / static_cast<double>(m + pp - 1)) +
                      " of the step would be bubble";
             },
         .repair =
             [](const Problem& x, const Plan& p) {
               return "take pp " + text(std::max<std::int64_t>(1, micro_batches(x, p))) +
                      " at most, and cp for sequences that do not fit";
             },
         .applies = [](const FrameworkProfile& f) { return f.rules.micro_batches_cover_stages; }},
    Rule{.id = "interleaving-groups",
         .field = "vpp",
         .also = "pp",
         .must = "be 1 unless the micro-batches of a step come in whole groups of pp",
         .keeps =
             [](const Problem& x, const Plan& p) {
               return !in_groups(p.schedule) || whole_rounds(x, micro_batches(x, p), p.pp);
             },
         .numbers =
             [](const Problem& x, const Plan& p) {
               const std::int64_t m = micro_batches(x, p);
               return micro_batch_text(x, p) +
                      (m < p.pp ? ", fewer than pp " : ", not in whole groups of pp ") + text(p.pp);
             },
         .repair =
             [](const Problem& x, const Plan& p) {
               std::int64_t m = std::max<std::int64_t>(p.pp, micro_batches(x, p));
               while (!whole_rounds(x, m, p.pp)) ++m;
               return "take global_batch " + text(m * p.dp * p.micro_batch) + ", the next with such an m (" +
                      text(m) + ")";
             },
         .applies = [](const FrameworkProfile& f) { return f.interleaves(); },
         .wording = [](const FrameworkProfile& f) -> std::string_view {
           return f.rules.interleaves_in_rounds
                      ? "be 1 unless the micro-batches m of a step fill max(1, m / pp) equal rounds"
                      : "be 1 unless the micro-batches m of a step come in whole groups of pp, at least one";
         }},
};

}  // namespace trainplan::detail
