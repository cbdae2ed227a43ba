#include "trainplan/cost/low_precision.hpp"

#include "catch.hpp"
#include "problems.hpp"
#include "trainplan/cost/plan_cost.hpp"

using namespace trainplan;
using problems::completed;
using problems::Draft;

namespace {

// llama8b: h 4096, f 14336, kv 1024, 8192 tokens; 32 layers
constexpr double kT = 8192, kH = 4096, kF = 14336;
constexpr double kWeights = 32 * (2 * kH * kH + 2 * kH * 1024 + 3 * kH * kF);

Draft one_stage(const char* framework = "megatron-lm", const char* cluster = "h100x64") {
  return Draft({.model = "llama8b", .cluster = cluster, .framework = framework, .batch = 576});
}
MemoryCost<double> memory_of(Draft& d, Sharding sharding = Sharding::Zero1) {
  const Problem problem = d.problem();
  Plan plan = completed({.dp = static_cast<std::uint32_t>(d.cluster.gpus())});
  plan.sharding = sharding;
  Eval rec;
  return memory_cost(rec, bind(rec, problem, plan), problem, plan, 0);
}
double copies(const MemoryCost<double>& low, const MemoryCost<double>& wide) {
  const auto at = static_cast<std::size_t>(Phase::Optimizer);
  return (low.phases[at] - wide.phases[at]).num();
}

}  // namespace

TEST_CASE("inputs of fp8 products are kept in a byte, beside the attention output in 16 bits") {
  Draft d = one_stage();
  const auto wide = memory_of(d);
  d.recipe.matmul = Matmul::Fp8;
  const auto low = memory_of(d);
  // both norms' outputs and the activation lose a byte, the attention output gains a copy of one
  CHECK((wide.activations.layer - low.activations.layer).num() == Approx(kT * (2 * kH + kF - kH)));
  d.recipe.matmul = Matmul::Mxfp8;
  const double scale = 1.0 / 32, entries = kT * (3 * kH + kF);
  CHECK((memory_of(d).activations.layer - low.activations.layer).num() == Approx(entries * scale));
}

TEST_CASE(
    "weights of products: two copies on Hopper, one where fp8 takes any layout, two with scales by row") {
  struct Row {
    const char* cluster;
    Matmul format;
    double bytes;
  };
  for (const Row& row : {Row{"h100x64", Matmul::Fp8, 2}, Row{"gb200x576", Matmul::Fp8, 1},
                         Row{"gb200x576", Matmul::Mxfp8, 2 * (1 + 1.0 / 32)},
                         Row{"h100x64", Matmul::Fp8Blockwise, 2 * (1 + 4.0 / 128)}}) {
    Draft d = one_stage("megatron-lm", row.cluster);
    const auto wide = memory_of(d);
    d.recipe.matmul = row.format;
    CAPTURE(row.cluster, name_of(row.format));
    CHECK(copies(memory_of(d), wide) == Approx(kWeights * row.bytes));
  }
}

TEST_CASE("weights kept in fp8 alone take the place of those in 16 bits") {
  Draft d = one_stage();
  const auto wide = memory_of(d);
  d.recipe.matmul = Matmul::Fp8;
  d.recipe.low_weights = true;
  const auto low = memory_of(d);
  CHECK(copies(low, wide) == Approx(0).margin(1));  // two bytes less, two copies more
  CHECK((wide.state - low.state).num() == Approx(2 * kWeights));
}

TEST_CASE("a framework that casts again in the backward pass keeps 16 bits") {
  for (const char* framework : {"torchtitan", "deepspeed"}) {
    Draft d = one_stage(framework);
    const auto wide = memory_of(d, Sharding::Zero3);
    d.recipe.matmul = Matmul::Fp8;
    CHECK(memory_of(d, Sharding::Zero3).device.num() == wide.device.num());
  }
}
