// Full evaluations (memory, traffic, time, goodput, money) of one plan, on one core.
#include <benchmark/benchmark.h>

#include <string>

#include "problems.hpp"
#include "trainplan/cost/plan_cost.hpp"

using namespace trainplan;

using benchmark::DoNotOptimize, benchmark::State;

namespace {

/// A legal plan of a shipped model on a shipped cluster.
struct Job {
  problems::Names names;
  Plan plan;
};

Job llama70b() { return {{}, problems::main_plan()}; }
Job llama405b() {
  const Plan plan = {.tp = 8, .pp = 16, .dp = 128, .layout = Layout::EmbeddingAndLoss};
  return {{.model = "llama405b", .cluster = "h100x16384", .batch = 2048}, problems::completed(plan)};
}
Job llama8b() {
  const Plan plan = {.dp = 64, .sharding = Sharding::Zero3};
  return {{.model = "llama8b", .cluster = "h100x64", .framework = "torchtitan", .batch = 256},
          problems::completed(plan)};
}
Job deepseek_v3() {
  const Plan plan = {
      .pp = 16, .ep = 64, .first_layers = 4, .last_layers = 1, .dp = 128, .layout = Layout::FirstAndLast};
  return {{.model = "deepseek-v3", .cluster = "h800x2048", .sequence = 4096, .batch = 15360},
          problems::completed(plan)};
}

void evaluations(State& state, const Job& job) {
  problems::Draft draft(job.names);
  const Problem problem = draft.problem();
  for (auto _ : state) DoNotOptimize(evaluate(problem, job.plan));
  state.SetItemsProcessed(state.iterations());
}

}  // namespace

BENCHMARK_CAPTURE(evaluations, llama70b_h100x1024, llama70b());
BENCHMARK_CAPTURE(evaluations, llama405b_h100x16384, llama405b());
BENCHMARK_CAPTURE(evaluations, llama8b_h100x64_fsdp, llama8b());
BENCHMARK_CAPTURE(evaluations, deepseek_v3_h800x2048, deepseek_v3());

BENCHMARK_MAIN();
