// What evaluate() says of a schedule in closed form, against its orders on the clock.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "catch.hpp"
#include "plans.hpp"
#include "trainplan/cost/simulated.hpp"

using namespace property;

namespace {

struct Grid {
  Schedule schedule;
  int stages, chunks, micro_batches, group;

  Count<> p() const { return Count<>{static_cast<double>(stages)}; }
  Count<> v() const { return Count<>{static_cast<double>(chunks)}; }
  Count<> m() const { return Count<>{static_cast<double>(micro_batches)}; }
  Count<> n() const { return Count<>{static_cast<double>(group)}; }
};

/// Every shape up to 8 stages, 4 chunks and 24 micro-batches that a schedule has an order for.
template <class F>
void for_each_shape(F visit) {
  for (std::size_t s = 0; s < kScheduleCount; ++s)
    for (int p = 2; p <= 8; ++p)
      for (int v = 1; v <= 4; ++v)
        for (int m = 1; m <= 24; ++m) {
          const auto schedule = static_cast<Schedule>(s);
          const Grid grid{schedule, p, v, m, m < p ? p : m / (m / p)};
          const sim::Shape shape{.stages = p, .micro_batches = m, .chunks = v, .group = grid.group};
          const bool rounds = !in_groups(schedule) || m % grid.group == 0;
          if (detail::chunks_fit(schedule, v) && rounds && !orders_of(schedule).refusal(shape))
            visit(grid, shape);
        }
}

double closed_sets(const Grid& x, int stage) {
  const Count<> i{static_cast<double>(stage)};
  switch (x.schedule) {
    case Schedule::GPipe:
    case Schedule::LoopedBfs: return in_flight_gpipe(x.m()).num();
    case Schedule::OneFOneB: return in_flight_1f1b(x.p(), i, x.m()).num();
    case Schedule::Interleaved: return in_flight_rounds(x.p(), x.v(), i, x.m(), x.n()).num();
    case Schedule::InterleavedZb: return in_flight_interleaved_zb(x.p(), x.v(), x.m(), x.n()).num();
    case Schedule::ZbV: return in_flight_zbv(x.p(), x.m()).num();
    case Schedule::DualPipeV: return in_flight_dualpipev(x.p(), x.m()).num();
  }
  return 0;
}

/// Equal passes: a third of the stage each.
double closed_time(const Grid& x, double pass) {
  const Seconds<> stage{3 * pass}, others{(x.stages - 1) * 3 * pass}, third{(x.stages - 1) * pass};
  if (!splits_backward(x.schedule)) return pipeline_time(x.m(), stage, others + stage, x.v()).num();
  const Seconds<> bubble = x.schedule == Schedule::ZbV         ? bubble_vee(third)
                           : x.schedule == Schedule::DualPipeV ? bubble_dualpipev(others, third, third)
                                                               : bubble_split(others, third, third, x.v());
  return (x.m() * stage + bubble).num();
}

std::vector<sim::Ticks> each(int stages, sim::Ticks length) {
  return std::vector<sim::Ticks>(static_cast<std::size_t>(stages), length);
}

}  // namespace

TEST_CASE("sets in flight and equal passes in closed form are those of the orders, for every shape") {
  constexpr sim::Ticks kPass = 120;
  int shapes = 0;
  for_each_shape([&](const Grid& x, sim::Shape shape) {
    shape.durations = {each(x.stages, kPass), each(x.stages, kPass), each(x.stages, kPass), 0};
    const sim::Schedule& row = orders_of(x.schedule);
    const sim::Outcome out = sim::simulate(row.orders(shape), row.placement, shape);
    INFO(name_of(x.schedule) << ", p " << x.stages << ", v " << x.chunks << ", m " << x.micro_batches);
    REQUIRE(std::holds_alternative<sim::Timeline>(out));
    const auto& timeline = std::get<sim::Timeline>(out);
    const sim::Map map(row.placement, shape);
    const auto kept = sim::residency(timeline, map, sim::one_for_each(map, {1, 1}));
    for (int g = 0; g < x.stages; ++g)
      CHECK(kept[static_cast<std::size_t>(g)].peak_sets == Approx(closed_sets(x, g) * x.chunks));
    if (x.micro_batches >= x.stages || !has_chunks(x.schedule))
      CHECK(static_cast<double>(timeline.gradient_ready) ==
            Approx(closed_time(x, static_cast<double>(kPass))));
    ++shapes;
  });
  CHECK(shapes > 1000);
}

TEST_CASE("no timeline of a plan is shorter than the least time, and sets are those of evaluate()") {
  Plans plans(31);
  std::map<Schedule, int> seen;
  for (int i = 0; i < 10'000 / kShare; ++i) {
    const Sample s = plans.next();
    if (micro_batches(s.problem, s.plan) > 32) continue;
    const auto run = simulate_plan(s.problem, s.plan);
    if (!run) continue;
    ++seen[s.plan.schedule];
    CAPTURE(described(s));
    const double exact = 1e-6;  // ticks are rounded
    CHECK(run->time >= run->alone * (1 - exact));
    CHECK(run->time >= run->least * (1 - exact));
    for (int g = 0; g < s.plan.pp; ++g) {
      const auto cost = evaluate_stage(s.problem, s.plan, g);
      CHECK(run->stages[static_cast<std::size_t>(g)].sets == Approx(cost.memory.activations.in_flight.num()));
    }
  }
  CHECK(seen.size() == kScheduleCount);
}
