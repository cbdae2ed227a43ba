#include "trainplan/cost/host.hpp"

#include "catch.hpp"
#include "problems.hpp"
#include "trainplan/cost/plan_cost.hpp"
#include "trainplan/derive/trial.hpp"

using namespace trainplan;
using problems::completed;
using problems::Draft;

namespace {

constexpr double kLink = 64e9 * 0.78, kHostMemory = 614.4e9 * 0.5;

/// llama8b on 64 H100 without tensor and pipeline parallelism, one micro-batch of a sequence.
Draft data_parallel(const char* framework) {
  return Draft({.model = "llama8b", .cluster = "h100x64", .framework = framework, .batch = 64});
}
Plan plan_of(Sharding sharding) { return completed({.dp = 64, .sharding = sharding}); }

}  // namespace

TEST_CASE(
    "an optimizer on the host: 12 bytes of a parameter leave the GPU, 16 with buffers stand on the host") {
  Draft d = data_parallel("deepspeed");
  const Plan plan = plan_of(Sharding::Zero3);
  const auto before = evaluate(d.problem(), plan);
  d.recipe.offload.optimizer = 1;
  const auto after = evaluate(d.problem(), plan);
  const double n = after.memory.params.stage.num();
  CHECK(before.memory.state_per_param.num() == Approx(16.0 / 64));
  CHECK(after.memory.state_per_param.num() == Approx(2.0 / 64));
  CHECK(after.memory.state.num() == Approx(n * 2 / 64));
  CHECK(after.host.state.num() == Approx(n * 16 * 1.5 / 64));
  CHECK(after.host.node.num() == Approx(n * 16 * 1.5 / 8));
}

TEST_CASE("half of the parameters: half of the optimizer stays") {
  Draft d = data_parallel("megatron-lm-precision-aware");
  const Plan plan = plan_of(Sharding::Zero1);
  const auto before = evaluate(d.problem(), plan);
  d.recipe.offload.optimizer = 0.5;
  const auto after = evaluate(d.problem(), plan);
  // 2 bytes of the master and 8 of the moments are sharded, weights and gradients are whole
  CHECK(before.memory.state_per_param.num() == Approx(6 + 10.0 / 64));
  CHECK(after.memory.state_per_param.num() == Approx(6 + 5.0 / 64));
  CHECK(after.host.state.num() == Approx(after.memory.params.stage.num() * (5 + 2) / 64));
}

TEST_CASE("gradients go down and weights up between steps, and a node updates what its GPUs share") {
  Draft d = data_parallel("megatron-lm-precision-aware");
  const Plan plan = plan_of(Sharding::Zero1);
  const auto before = evaluate(d.problem(), plan);
  d.recipe.offload.optimizer = 1;
  const auto after = evaluate(d.problem(), plan);
  const double n = after.memory.params.average.num() / 64;
  CHECK(after.step.exposed_host.num() == Approx(n * (4 + 2) / kLink));
  CHECK(after.step.optimizer.num() == Approx(n * 8 * 28 / kHostMemory));
  const double copies = (after.step.exposed - before.step.exposed).num(),
               update = (after.step.optimizer - before.step.optimizer).num();
  CHECK(copies == Approx(n * (4 + 2) / kLink));
  // the stack slows all of it, and stragglers of eight nodes
  const double slow = d.problem().stack().slowdown.value,
               stragglers = 3 * d.calibration.time.straggler_growth.value;
  CHECK((after.step.step - before.step.step).num() == Approx((copies + update) * slow * (1 + stragglers)));
}

TEST_CASE("activations of layers: all but two of them leave the GPU, and what a pass does not hide shows") {
  Draft d = data_parallel("megatron-lm");
  const Plan plan = plan_of(Sharding::Zero1);
  const auto before = evaluate(d.problem(), plan);
  d.recipe.offload.layers = 16;
  const auto after = evaluate(d.problem(), plan);
  const double layer = before.memory.activations.layer.num(), slowest = before.pipeline.slowest.num();
  CHECK(before.memory.activations.saved.num() == Approx(32 * layer));
  CHECK(after.memory.activations.saved.num() == Approx(18 * layer));
  CHECK(after.host.per_gpu.num() == Approx(16 * layer));
  CHECK(after.host.node.num() == Approx(8 * 16 * layer));
  const double copy = 16 * layer / kLink;
  const auto wait = [&](double window) { return copy > window ? copy - window : 0; };
  CHECK(after.step.exposed_host.num() == Approx(wait(slowest / 3) + wait(slowest * 2 / 3)));
  // Over NVLink-C2C everything hides.
  d.cluster.host_link.value = 450e9;
  CHECK(evaluate(d.problem(), plan).step.exposed_host.num() == 0);
}

TEST_CASE("weights on the host come up before each pass, gradients go down behind the backward pass") {
  Draft d = data_parallel("torchtitan");
  const Plan plan = plan_of(Sharding::Zero3);
  d.recipe.offload.weights = true;
  d.recipe.offload.optimizer = 1;
  d.cluster.host_link.value = 1e9;  // slow enough to show
  const auto c = evaluate(d.problem(), plan);
  const double n = c.memory.params.average.num() / 64, slowest = c.pipeline.slowest.num(),
               copy = n * 4 / 0.78e9;
  CHECK(c.memory.state.num() == 0);
  CHECK(c.host.state.num() == Approx(c.memory.params.stage.num() * 16 / 64));
  CHECK(copy > slowest / 3);
  CHECK(c.step.exposed_host.num() ==
        Approx(copy - slowest / 3 + (copy > slowest * 2 / 3 ? copy - slowest * 2 / 3 : 0)));
}

TEST_CASE("the memory of a node is judged where the cluster says how much it has") {
  Draft d = data_parallel("deepspeed");
  d.recipe.offload.optimizer = 1;
  const Plan plan = plan_of(Sharding::Zero3);
  const auto trial = [&] {
    const Problem problem = d.problem();
    return Trial{problem, plan, evaluate(problem, plan)};
  };
  const Verdict plain = trial().verdict();
  CHECK_FALSE(trial().host_is_full());
  d.cluster.host_memory.value = 1e9;
  CHECK(trial().host_is_full());
  CHECK(trial().verdict() == Verdict::DoesNotFit);
  d.cluster.host_memory = {};
  CHECK_FALSE(trial().host_is_full());
  CHECK(trial().verdict() == plain);
}
