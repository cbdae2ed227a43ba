#include "trainplan/plan/rules/offload.hpp"

#include "rule_rows.hpp"

using namespace trainplan;
using namespace rule_rows;

namespace {

/// Without a pipeline, with activations of four layers on the host.
void offloaded_layers(Asked& a) {
  degrees(a, 8, 1, 1, 128);
  no_interleaving(a);
  a.recipe.offload.layers = 4;
}
/// ZeRO-3 with everything on the host.
void fully_offloaded(Asked& a) {
  in_framework(a, "deepspeed");
  degrees(a, 8, 1, 1, 128);
  a.plan.sharding = Sharding::Zero3;
  a.recipe.offload.optimizer = 1;
  a.recipe.offload.weights = true;
}

const Row kRows[] = {
    {"offload-optimizer-is-offered", [](Asked&) {}, [](Asked& a) { a.recipe.offload.optimizer = 1; }},
    {"offload-optimizer-is-offered",
     [](Asked& a) {
       in_framework(a, "megatron-lm-precision-aware");
       a.recipe.offload.optimizer = 0.5;
     },
     [](Asked& a) {
       in_framework(a, "deepspeed");
       a.plan.sharding = Sharding::None;
       a.recipe.offload.optimizer = 1;
     }},
    {"offload-optimizer-is-whole",
     [](Asked& a) {
       in_framework(a, "deepspeed");
       a.recipe.offload.optimizer = 1;
     },
     [](Asked& a) {
       in_framework(a, "deepspeed");
       a.recipe.offload.optimizer = 0.5;
     }},
    {"offload-weights-is-offered", fully_offloaded,
     [](Asked& a) {
       in_framework(a, "deepspeed");
       a.recipe.offload.weights = true;
     }},
    {"offload-goes-together",
     [](Asked& a) {
       in_framework(a, "torchtitan");
       a.recipe.offload.weights = true;
       a.recipe.offload.optimizer = 1;
     },
     [](Asked& a) {
       in_framework(a, "torchtitan");
       a.recipe.offload.optimizer = 1;
     }},
    {"offload-layers-is-offered", [](Asked& a) { in_framework(a, "torchtitan"); },
     [](Asked& a) {
       in_framework(a, "torchtitan");
       a.recipe.offload.layers = 4;
     }},
    {"offload-layers-without-pipeline", offloaded_layers, [](Asked& a) { a.recipe.offload.layers = 4; }},
    {"offload-layers-without-recompute", offloaded_layers,
     [](Asked& a) {
       offloaded_layers(a);
       a.plan.recompute = Recompute::Full;
     }},
    {"offload-layers-leave-one", offloaded_layers,
     [](Asked& a) {
       offloaded_layers(a);
       a.recipe.offload.layers = 80;
     }},
    {"offload-layers-are-recomputed",
     [](Asked& a) {
       in_framework(a, "deepspeed");
       a.plan.recompute = Recompute::Full;
       a.recipe.offload.layers = 20;
     },
     [](Asked& a) {
       in_framework(a, "deepspeed");
       a.recipe.offload.layers = 20;
     }},
    {"offload-optimizer-needs-host", [](Asked&) {},
     [](Asked& a) {
       in_framework(a, "megatron-lm-precision-aware");
       a.recipe.offload.optimizer = 1;
       a.cluster.host_bandwidth = {};
     }},
    {"offload-weights-needs-host", fully_offloaded,
     [](Asked& a) {
       fully_offloaded(a);
       a.recipe.offload.optimizer = 0;
       a.cluster.host_link = {};
     }},
    {"offload-layers-needs-host", offloaded_layers,
     [](Asked& a) {
       offloaded_layers(a);
       a.cluster.host_link = {};
     }},
};

}  // namespace

TEST_CASE("each rule of offloading passes a plan and fails its neighbour") {
  check_rows(kRows, detail::kOffloadRules);
}
