#include "trainplan/cost/state.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "catch.hpp"
#include "problems.hpp"
#include "trainplan/cost/memory.hpp"

using namespace trainplan;
using problems::Draft;

namespace {

/// State per parameter: whole on every rank + shared / ways.
struct Row {
  const char* framework;
  Sharding sharding;
  DType gradient;
  double whole, shared;
  bool reshard = true, sync_each = true;
};

const Row kRows[] = {
    {"megatron-lm", Sharding::None, DType::Fp32, 18, 0},
    {"megatron-lm", Sharding::None, DType::Bf16, 16, 0},
    {"megatron-lm", Sharding::Zero1, DType::Fp32, 6, 12},
    {"megatron-lm", Sharding::Zero1, DType::Bf16, 4, 12},
    {"megatron-lm", Sharding::Zero3, DType::Fp32, 0, 18},
    {"megatron-lm-precision-aware", Sharding::Zero1, DType::Fp32, 6,
     10},  // two bytes of the master, two moments
    {"megatron-lm-precision-aware", Sharding::Zero1, DType::Bf16, 4, 10},
    {"deepspeed", Sharding::None, DType::Bf16, 16, 0},
    {"deepspeed", Sharding::None, DType::Fp32, 18, 0},
    {"deepspeed", Sharding::Zero1, DType::Bf16, 4, 12},
    {"deepspeed", Sharding::Zero1, DType::Fp32, 6, 12},
    {"deepspeed", Sharding::Zero2, DType::Bf16, 2, 14},
    {"deepspeed", Sharding::Zero2, DType::Fp32, 2, 16},
    {"deepspeed", Sharding::Zero3, DType::Bf16, 0, 16},
    {"deepspeed", Sharding::Zero3, DType::Fp32, 0, 18},
    {"torchtitan", Sharding::None, DType::Fp32, 16, 0},
    {"torchtitan", Sharding::Zero3, DType::Fp32, 0, 16},
    {"torchtitan", Sharding::Zero3, DType::Fp32, 2, 16, false},
    {"torchtitan", Sharding::Zero3, DType::Bf16, 2, 14, false},
    // unsharded gradient until the end of a step, then its shard beside it
    {"torchtitan", Sharding::Zero3, DType::Fp32, 4, 16, true, false},
    {"torchtitan", Sharding::Zero3, DType::Fp32, 6, 16, false, false},
};

MemoryCost<double> memory_of(const Problem& problem, const Plan& plan) {
  Eval rec;
  return memory_cost(rec, bind(rec, problem, plan), problem, plan, 0);
}

}  // namespace

TEST_CASE("state per parameter of every profile and sharding") {
  for (const Row& row : kRows) {
    Draft draft({.model = "llama8b", .cluster = "h100x64", .framework = row.framework});
    draft.recipe.gradient = row.gradient;
    const Problem problem = draft.problem();
    for (const std::uint32_t d : {1u, 2u, 8u, 64u, 1000u}) {
      Plan plan{.dp = d, .shard = d, .sharding = row.sharding};
      plan.reshard = row.reshard;
      plan.sync_each_micro_batch = row.sync_each;
      CAPTURE(row.framework, name_of(row.sharding), name_of(row.gradient), row.reshard, row.sync_each, d);
      const auto memory = memory_of(problem, plan);
      CHECK(memory.state_per_param.num() == Approx(row.whole + row.shared / d).epsilon(1e-14));
      CHECK(memory.state.num() ==
            Approx((row.whole + row.shared / d) * memory.params.stage.num()).epsilon(1e-14));
    }
  }
}

TEST_CASE("every sharding that the profiles describe is in the table") {
  for (const Listed& listed : list_shipped("frameworks"))
    for (const ShardingRows& rows : problems::framework(listed.name)->shardings) {
      if (rows.mode == Sharding::Hsdp) continue;  // has a test of its own
      const std::string& name = listed.name;
      bool found = false;
      for (const Row& row : kRows) found = found || (row.framework == name && row.sharding == rows.mode);
      CAPTURE(name, name_of(rows.mode));
      CHECK(found);
    }
}

TEST_CASE("context parallel ranks share the optimizer too") {
  Draft draft({.model = "llama8b", .cluster = "h100x64"});
  const Problem problem = draft.problem();
  CHECK(memory_of(problem, {.cp = 4, .dp = 16, .shard = 64}).state_per_param.num() == 6 + 12.0 / 64);
}

TEST_CASE("hybrid sharding shares its state in the shard group only") {
  Draft draft({.model = "llama8b", .cluster = "h100x64", .framework = "torchtitan"});
  const Problem problem = draft.problem();
  for (const std::uint32_t d : {8u, 64u, 512u}) {
    CAPTURE(d);
    CHECK(memory_of(problem, {.dp = d, .shard = 8, .sharding = Sharding::Hsdp}).state_per_param.num() ==
          16.0 / 8);
  }
}

TEST_CASE("a 16-bit gradient has an fp32 copy in the optimizer step, and only there") {
  const auto optimizer_over_save = [](DType gradient) {
    Draft draft({.model = "llama8b", .cluster = "h100x64"});
    draft.recipe.gradient = gradient;
    draft.framework.workspace = {};
    const auto m = memory_of(draft.problem(), {.dp = 64, .shard = 64});
    const auto at = [&](Phase p) { return m.phases[static_cast<std::size_t>(p)].num(); };
    return (at(Phase::Optimizer) - at(Phase::Save)) / m.params.stage.num();
  };
  CHECK(optimizer_over_save(DType::Fp32) == Approx(0).margin(1e-12));
  CHECK(optimizer_over_save(DType::Bf16) == Approx(4.0 / 64).epsilon(1e-9));
}

TEST_CASE("16-bit moments have fp32 copies of the larger parameter group in the optimizer step") {
  Draft draft({.model = "moonlight-16b", .cluster = "h100x64", .framework = "megatron-lm-precision-aware"});
  draft.recipe.gradient = DType::Bf16;
  draft.recipe.moments = DType::Bf16;
  const Problem problem = draft.problem();
  const Plan plan = problems::completed({.tp = 2, .ep = 8, .dp = 4});
  const auto m = memory_of(problem, plan);
  const auto at = [&](Phase p) { return m.phases[static_cast<std::size_t>(p)].num(); };
  CHECK(m.state_per_param.num() == 4 + 6.0 / 4);
  CHECK(m.state_per_expert_param.num() == 4 + 6.0 / 1);  // 2 x 4 ranks / ep 8
  const double dense = 8 * m.params.stage_dense.num() / 4, experts = 8 * m.params.stage_experts.num();
  const double step = at(Phase::Optimizer) - at(Phase::Save) - problem.profile().workspace.base.value -
                      problem.profile().workspace.last_stage.value -
                      problem.profile().workspace.grouped.value;
  CHECK(step == Approx(std::max(dense, experts)).epsilon(1e-9));
}

TEST_CASE("a row applies when its condition says so") {
  Recipe fp32, bf16;
  bf16.gradient = DType::Bf16;
  Plan on, off;
  off.reshard = false;
  off.sync_each_micro_batch = false;
  CHECK(applies(When::Always, fp32, on));
  CHECK(applies(When::Reshard, fp32, on));
  CHECK_FALSE(applies(When::Reshard, fp32, off));
  CHECK_FALSE(applies(When::NoReshard, fp32, on));
  CHECK(applies(When::NoReshard, fp32, off));
  CHECK(applies(When::SyncEachMicroBatch, fp32, on));
  CHECK_FALSE(applies(When::SyncEachMicroBatch, fp32, off));
  CHECK_FALSE(applies(When::DeferredSync, fp32, on));
  CHECK(applies(When::DeferredSync, fp32, off));
  CHECK_FALSE(applies(When::Gradient16Bit, fp32, on));
  CHECK(applies(When::Gradient16Bit, bf16, on));
  CHECK_FALSE(applies(When::Moments16Bit, bf16, on));
  bf16.moments = DType::Bf16;
  CHECK(applies(When::Moments16Bit, bf16, on));
}
