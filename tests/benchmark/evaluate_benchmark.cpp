// Full evaluations (memory, traffic, time, goodput, money) of one plan, on one core.
#include <benchmark/benchmark.h>

#include <string>

#include "../support/problems.hpp"
#include "trainplan/cost/plan_cost.hpp"

using namespace trainplan;

namespace {

/// A legal plan of a shipped model on a shipped cluster.
struct Job {
  problems::Names names;
  Plan plan;
};

Job llama70b() {
  Plan plan;
  plan.tp = 8;
  plan.pp = 4;
  plan.vpp = 4;
  plan.dp = plan.shard = 32;
  plan.schedule = Schedule::Interleaved;
  plan.sequence_parallel = true;
  return {{}, plan};
}
Job llama405b() {
  Plan plan;
  plan.tp = 8;
  plan.pp = 16;
  plan.dp = plan.shard = 128;
  plan.layout = Layout::EmbeddingAndLoss;
  plan.sequence_parallel = true;
  return {{.model = "llama405b", .cluster = "h100x16384", .batch = 2048}, plan};
}
Job llama8b() {
  Plan plan;
  plan.dp = plan.shard = 64;
  plan.sharding = Sharding::Zero3;
  return {{.model = "llama8b", .cluster = "h100x64", .framework = "torchtitan", .batch = 256}, plan};
}
Job deepseek_v3() {
  Plan plan;
  plan.pp = 16;
  plan.ep = 64;
  plan.dp = plan.shard = 128;
  plan.layout = Layout::FirstAndLast;
  plan.first_layers = 4;
  plan.last_layers = 1;
  return {{.model = "deepseek-v3", .cluster = "h800x2048", .sequence = 4096, .batch = 15360}, plan};
}

void evaluations(benchmark::State& state, const Job& job) {
  problems::Draft draft(job.names);
  const Problem problem = draft.problem();
  for (auto _ : state) benchmark::DoNotOptimize(evaluate(problem, job.plan));
  state.SetItemsProcessed(state.iterations());
}

}  // namespace

BENCHMARK_CAPTURE(evaluations, llama70b_h100x1024, llama70b());
BENCHMARK_CAPTURE(evaluations, llama405b_h100x16384, llama405b());
BENCHMARK_CAPTURE(evaluations, llama8b_h100x64_fsdp, llama8b());
BENCHMARK_CAPTURE(evaluations, deepseek_v3_h800x2048, deepseek_v3());

BENCHMARK_MAIN();
