/// Rules about recompute and number types.
#pragma once

#include "trainplan/plan/rules/sharding.hpp"

namespace trainplan::detail {

/// "nvfp4 needs a dense fp4 peak: a100-sxm-80 has bf16". Without a share of that peak there is no rate
/// either.
inline std::string low_peak_text(const Problem& x) {
  const Accelerator& a = x.cluster().accelerator;
  const std::string format(x.recipe.matmul == Matmul::Nvfp4 ? "fp4" : "fp8"), name(name_of(x.recipe.matmul));
  if (low_peak(x).known) return name + ": the constants of " + a.id + " have no low_gemm";
  return name + " needs a dense " + format + " peak; " + a.id + " has bf16" +
         (a.fp8_dense.known ? ", fp8" : "") + (a.fp4_dense.known ? ", fp4" : "");
}

inline constexpr std::array kPrecisionRules{
    Rule{
        .id = "recompute-is-offered",
        .field = "recompute",
        .must = "be none, selective or full: the framework does not recompute a number of layers",
        .keeps = [](const Problem&, const Plan& p) { return p.recompute != Recompute::Layers; },
        .numbers = [](const Problem& x, const Plan&) { return "recompute layers, " + x.profile().release(); },
        .applies = [](const FrameworkProfile& f) { return !f.rules.recompute_layers; }},
    Rule{.id = "selective-is-offered",
         .field = "recompute",
         .must = "be none, layers or full: the framework has no selective recompute of its own",
         .keeps = [](const Problem&, const Plan& p) { return p.recompute != Recompute::Selective; },
         .numbers = [](const Problem& x,
                       const Plan&) { return "recompute selective, " + x.profile().release(); },
         .applies = [](const FrameworkProfile& f) { return f.selective == SelectivePolicy::None; }},
    Rule{.id = "recompute-layers-fit",
         .field = "recompute_layers",
         .also = "pp",
         .must = "be from 1 to the layers of a stage",
         .keeps =
             [](const Problem& x, const Plan& p) {
               return p.recompute != Recompute::Layers ||
                      (p.recompute_layers >= 1 && p.recompute_layers <= stage_layers(x.model(), p, p.pp / 2));
             },
         .numbers =
             [](const Problem& x, const Plan& p) {
               return text(p.recompute_layers) + " of " + text(stage_layers(x.model(), p, p.pp / 2)) +
                      " layers";
             },
         .applies = [](const FrameworkProfile& f) { return f.rules.recompute_layers; }},
    Rule{.id = "recompute-layers-per-chunk",
         .field = "recompute_layers",
         .also = "pp",
         .must = "be a multiple of vpp, since it counts for each virtual stage",
         .keeps =
             [](const Problem&, const Plan& p) {
               return p.recompute != Recompute::Layers || divides(p.vpp, p.recompute_layers);
             },
         .numbers = [](const Problem&,
                       const Plan& p) { return text(p.recompute_layers) + " layers, vpp " + text(p.vpp); },
         .applies = [](const FrameworkProfile& f) { return f.rules.recompute_layers && f.interleaves(); }},
    Rule{.id = "precision-is-offered",
         .field = "precision",
         .must = "be bf16: the framework does not train in fp16",
         .keeps = [](const Problem& x, const Plan&) { return x.recipe.precision != DType::Fp16; },
         .numbers = [](const Problem& x, const Plan&) { return "fp16, " + x.profile().release(); },
         .applies = [](const FrameworkProfile& f) { return !f.rules.fp16; }},
    Rule{.id = "matmul-precision-is-offered",
         .field = "matmul_precision",
         .must = "be a format that the accelerator multiplies in",
         .keeps =
             [](const Problem& x, const Plan&) {
               return x.recipe.matmul == Matmul::Wide ||
                      (low_peak(x).known && x.accelerator().low_gemm.known);
             },
         .numbers = [](const Problem& x, const Plan&) { return low_peak_text(x); },
         .repair =
             [](const Problem& x, const Plan&) {
               return std::string("run on an accelerator with ") +
                      (x.recipe.matmul == Matmul::Nvfp4 ? "fp4" : "fp8");
             }},
    Rule{.id = "fp8-param-gather-is-offered",
         .field = "fp8_param_gather",
         .must = "be false: the framework keeps weights in 16 or 32 bits",
         .keeps = [](const Problem& x, const Plan&) { return !x.recipe.low_weights; },
         .numbers = [](const Problem& x, const Plan&) { return x.profile().release(); },
         .applies = [](const FrameworkProfile& f) { return !f.low_weights; }},
    Rule{.id = "fp8-param-gather-needs-fp8",
         .field = "fp8_param_gather",
         .also = "matmul_precision",
         .must = "stand with products in 8 or 4 bits",
         .keeps = [](const Problem& x,
                     const Plan&) { return !x.recipe.low_weights || x.recipe.matmul != Matmul::Wide; },
         .numbers = [](const Problem& x,
                       const Plan&) { return "matmul_precision " + std::string(name_of(x.recipe.matmul)); },
         .repair = [](const Problem&, const Plan&) { return std::string("set matmul_precision to fp8"); },
         .applies = [](const FrameworkProfile& f) { return f.low_weights; }},
    Rule{.id = "fp8-param-gather-needs-sharding",
         .field = "fp8_param_gather",
         .also = "sharding",
         .must = "stand with a sharded optimizer",
         .keeps = [](const Problem& x,
                     const Plan& p) { return !x.recipe.low_weights || p.sharding != Sharding::None; },
         .numbers = [](const Problem&,
                       const Plan& p) { return "sharding " + std::string(name_of(p.sharding)); },
         .applies = [](const FrameworkProfile& f) { return f.low_weights; }},
    Rule{.id = "fp8-param-gather-on-the-gpu",
         .field = "fp8_param_gather",
         .also = "offload_optimizer",
         .must = "stand with scales by tensor when the optimizer is on the host",
         .keeps =
             [](const Problem& x, const Plan&) {
               return !x.recipe.low_weights || x.recipe.offload.optimizer == 0 ||
                      x.recipe.matmul == Matmul::Fp8;
             },
         .numbers =
             [](const Problem& x, const Plan&) {
               return "matmul_precision " + std::string(name_of(x.recipe.matmul)) + ", offload_optimizer " +
                      percent(x.recipe.offload.optimizer);
             },
         .applies = [](const FrameworkProfile& f) { return f.low_weights; }},
    Rule{.id = "gradient-follows-precision",
         .field = "gradient_dtype",
         .also = "sharding",
         .must = "be the type of the weights with this sharding",
         .keeps =
             [](const Problem& x, const Plan& p) {
               const ShardingRows* rows = x.profile().rows(p.sharding);
               return rows == nullptr || !rows->gradient_as_weights ||
                      x.recipe.gradient == x.recipe.precision;
             },
         .numbers =
             [](const Problem& x, const Plan& p) {
               return "gradients " + std::string(name_of(x.recipe.gradient)) + ", weights " +
                      std::string(name_of(x.recipe.precision)) + ", sharding " +
                      std::string(name_of(p.sharding));
             },
         .applies =
             [](const FrameworkProfile& f) {
               return any_mode(f, [](const ShardingRows& r) { return r.gradient_as_weights; });
             }},
};

}  // namespace trainplan::detail
