#include "trainplan/plan/rules/precision.hpp"

#include "rule_rows.hpp"

using namespace trainplan;
using namespace rule_rows;

namespace {

const Row kRows[] = {
    {"recompute-layers-per-chunk",
     [](Asked& a) {
       a.plan.recompute = Recompute::Layers;
       a.plan.recompute_layers = 8;
     },
     [](Asked& a) {
       a.plan.recompute = Recompute::Layers;
       a.plan.recompute_layers = 6;
     }},
    {"recompute-layers-fit",
     [](Asked& a) {
       a.plan.recompute = Recompute::Layers;
       a.plan.recompute_layers = 20;
     },
     [](Asked& a) {
       a.plan.recompute = Recompute::Layers;
       a.plan.recompute_layers = 24;
     }},
    {"recompute-layers-fit",
     [](Asked& a) {
       a.plan.recompute = Recompute::Layers;
       a.plan.recompute_layers = 4;
     },
     [](Asked& a) {
       a.plan.recompute = Recompute::Layers;
       a.plan.recompute_layers = 0;
     }},
    {"recompute-is-offered",
     [](Asked& a) {
       in_framework(a, "torchtitan");
       a.plan.recompute = Recompute::Full;
     },
     [](Asked& a) {
       in_framework(a, "torchtitan");
       a.plan.recompute = Recompute::Layers;
       a.plan.recompute_layers = 4;
     }},
    {"selective-is-offered", [](Asked& a) { in_framework(a, "deepspeed"); },
     [](Asked& a) {
       in_framework(a, "deepspeed");
       a.plan.recompute = Recompute::Selective;
     }},
    {"precision-is-offered", [](Asked& a) { in_framework(a, "torchtitan"); },
     [](Asked& a) {
       in_framework(a, "torchtitan");
       a.recipe.precision = DType::Fp16;
     }},
    {"matmul-precision-is-offered", [](Asked& a) { a.recipe.matmul = Matmul::Mxfp8; },
     [](Asked& a) { a.recipe.matmul = Matmul::Nvfp4; }},  // an H100 has fp8
    {"matmul-precision-is-offered",
     [](Asked& a) {
       a.recipe.matmul = Matmul::Nvfp4;
       a.cluster.accelerator.fp4_dense = a.cluster.accelerator.fp8_dense;
     },
     [](Asked& a) {
       a.recipe.matmul = Matmul::Fp8;
       a.cluster.accelerator.fp8_dense = {};
     }},
    {"matmul-precision-is-offered", [](Asked&) {},
     [](Asked& a) {
       a.recipe.matmul = Matmul::Fp8;
       for (AcceleratorConstants& c : a.calibration.accelerators)
         if (c.id == a.cluster.accelerator.id) c.low_gemm = {};
     }},
    {"gradient-follows-precision",
     [](Asked& a) {
       in_framework(a, "deepspeed");
       a.plan.sharding = Sharding::None;
     },
     [](Asked& a) {
       in_framework(a, "deepspeed");
       a.plan.sharding = Sharding::None;
       a.recipe.gradient = DType::Fp32;
     }},
    {"fp8-param-gather-is-offered", [](Asked& a) { a.recipe.matmul = Matmul::Fp8; },
     [](Asked& a) {
       in_framework(a, "torchtitan");
       a.recipe.matmul = Matmul::Fp8;
       a.recipe.low_weights = true;
     }},
    {"fp8-param-gather-needs-fp8",
     [](Asked& a) {
       a.recipe.matmul = Matmul::Fp8;
       a.recipe.low_weights = true;
     },
     [](Asked& a) { a.recipe.low_weights = true; }},
    {"fp8-param-gather-needs-sharding",
     [](Asked& a) {
       a.recipe.matmul = Matmul::Mxfp8;
       a.recipe.low_weights = true;
     },
     [](Asked& a) {
       a.recipe.matmul = Matmul::Fp8;
       a.recipe.low_weights = true;
       a.plan.sharding = Sharding::None;
     }},
    {"fp8-param-gather-on-the-gpu",
     [](Asked& a) {
       in_framework(a, "megatron-lm-precision-aware");
       a.recipe.matmul = Matmul::Fp8;
       a.recipe.low_weights = true;
       a.recipe.offload.optimizer = 1;
     },
     [](Asked& a) {
       in_framework(a, "megatron-lm-precision-aware");
       a.recipe.matmul = Matmul::Mxfp8;
       a.recipe.low_weights = true;
       a.recipe.offload.optimizer = 1;
     }},
};

}  // namespace

TEST_CASE("each rule of precision passes a plan and fails its neighbour") {
  check_rows(kRows, detail::kPrecisionRules);
}
