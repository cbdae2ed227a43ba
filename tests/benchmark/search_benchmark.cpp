// The whole plan space: numbering it, and finding the best plans with bounds.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "parallel.hpp"
#include "problems.hpp"
#include "trainplan/search/search.hpp"

using namespace trainplan;

using benchmark::DoNotOptimize, benchmark::State;

namespace {

void run(State& state, const problems::Names& names, std::int64_t gpus, std::int64_t threads) {
  problems::Draft draft(names);
  if (gpus > 0) draft.cluster.nodes = gpus / draft.cluster.gpus_per_node;
  draft.recipe.tp_overlap = draft.framework.rules.tp_overlap;
  const Problem problem = draft.problem();
  const RunSpec none;
  const Planner planner(problem, none, 0);
  Found found{SearchOptions{}};
  for (auto _ : state) {
    const PlanSpace space = plan_space(planner, names.batch);
    found = search_plans(space, {}, on_threads(static_cast<unsigned>(threads)));
    DoNotOptimize(found);
  }
  state.counters["legal"] = static_cast<double>(found.counts.legal);
  state.counters["evaluated"] = static_cast<double>(found.counts.evaluated);
  state.counters["legal/s"] = benchmark::Counter(static_cast<double>(found.counts.legal),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

void threads(State& state) { run(state, {}, 0, state.range(0)); }
void large(State& state) {
  run(state, {.model = "llama405b", .cluster = "h100x16384", .batch = 2048}, 0, state.range(0));
}
void experts(State& state) {
  run(state, {.model = "deepseek-v3", .cluster = "h800x2048", .sequence = 4096, .batch = 15360}, 0,
      state.range(0));
}
/// The same model and batch on more and more GPUs.
void growth(State& state) { run(state, {.batch = 16384}, state.range(0), 2); }

}  // namespace

BENCHMARK(threads)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(large)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(experts)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(growth)->RangeMultiplier(8)->Range(64, 131072)->UseRealTime()->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
