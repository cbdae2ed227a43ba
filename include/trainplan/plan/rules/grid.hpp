/// Rules between the degrees and the number of GPUs.
#pragma once

#include "trainplan/plan/rules/rule.hpp"

namespace trainplan::detail {

inline constexpr std::array kGridRules{
    Rule{
        "tp-divides-gpus", "tp", "", "divide the number of GPUs",
        [](const Problem& x, const Plan& p) { return divides(p.tp, x.cluster().gpus()); },
        [](const Problem& x, const Plan& p) { return text(x.cluster().gpus()) + " GPUs / tp " + text(p.tp); },
        [](const Problem& x, const Plan& p) { return fitting_clusters(x.cluster(), p.tp); }},
    Rule{"pp-divides-gpus", "pp", "tp", "divide the GPUs that tp leaves",
         [](const Problem& x, const Plan& p) {
           return !divides(p.tp, x.cluster().gpus()) ||
                  divides(std::int64_t{p.tp} * p.pp, x.cluster().gpus());
         },
         [](const Problem& x, const Plan& p) {
           return text(x.cluster().gpus()) + " GPUs / (tp " + text(p.tp) + " x pp " + text(p.pp) + ")";
         },
         [](const Problem& x, const Plan& p) {
           return fitting_clusters(x.cluster(), std::int64_t{p.tp} * p.pp);
         }},
    Rule{"cp-divides-gpus", "cp", "pp", "divide the GPUs that tp and pp leave",
         [](const Problem& x, const Plan& p) {
           const std::int64_t inner = std::int64_t{p.tp} * p.pp;
           return !divides(inner, x.cluster().gpus()) || divides(inner * p.cp, x.cluster().gpus());
         },
         [](const Problem& x, const Plan& p) {
           return text(x.cluster().gpus()) + " GPUs / (tp " + text(p.tp) + " x pp " + text(p.pp) + " x cp " +
                  text(p.cp) + ")";
         },
         [](const Problem& x, const Plan& p) { return fitting_clusters(x.cluster(), model_grid(p)); }},
    Rule{"dp-is-the-rest", "dp", "pp", "be the GPUs / (tp x pp x cp)",
         [](const Problem& x, const Plan& p) {
           return !divides(model_grid(p), x.cluster().gpus()) || model_grid(p) * p.dp == x.cluster().gpus();
         },
         [](const Problem& x, const Plan& p) {
           return text(p.tp) + " x " + text(p.pp) + " x " + text(p.cp) + " x " + text(p.dp) + " = " +
                  text(model_grid(p) * p.dp) + ", GPUs = " + text(x.cluster().gpus());
         },
         [](const Problem&, const Plan& p) { return "run on " + text(model_grid(p) * p.dp) + " GPUs"; }},
};

}  // namespace trainplan::detail
