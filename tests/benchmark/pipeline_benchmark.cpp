// A large pipeline: 16 stages, 512 micro-batches and 4 chunks of each stage, from the shape to the peaks of
// memory.
#include <benchmark/benchmark.h>

#include <variant>
#include <vector>

#include "trainplan/sim/pipeline.hpp"
#include "trainplan/sim/retention.hpp"
#include "trainplan/sim/schedules.hpp"

using namespace trainplan::sim;

using benchmark::DoNotOptimize, benchmark::State;

namespace {

Shape large() {
  const std::vector<Ticks> same(16, 40);
  Shape s{.stages = 16, .micro_batches = 512, .chunks = 4, .group = 16};
  s.durations = {same, same, same, 1};
  return s;
}

void orders(State& state, const char* schedule) {
  const Shape s = large();
  for (auto _ : state) DoNotOptimize(find_schedule(schedule)->orders(s));
}

void timeline(State& state, const char* schedule) {
  const Shape s = large();
  const Orders made = find_schedule(schedule)->orders(s);
  for (auto _ : state) DoNotOptimize(simulate(made, Placement::Loop, s));
}

void memory(State& state, const char* schedule) {
  const Shape s = large();
  const Map map(Placement::Loop, s);
  const Outcome out = simulate(find_schedule(schedule)->orders(s), Placement::Loop, s);
  Sizes sizes = one_for_each(map, {100, 30});
  sizes.activation_message = sizes.gradient_message = 1;
  for (auto _ : state) DoNotOptimize(residency(std::get<Timeline>(out), map, sizes));
}

}  // namespace

BENCHMARK_CAPTURE(orders, interleaved_16x512x4, "interleaved")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(timeline, interleaved_16x512x4, "interleaved")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(timeline, interleaved_zb_16x512x4, "interleaved_zb")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(memory, interleaved_zb_16x512x4, "interleaved_zb")->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
