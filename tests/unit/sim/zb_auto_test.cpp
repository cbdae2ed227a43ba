#include "trainplan/sim/orders/zb_auto.hpp"

#include <algorithm>
#include <random>

#include "catch.hpp"
#include "order_checks.hpp"

using namespace trainplan::sim;

namespace {

Shape limited(Shape shape, double memory, double after_x = 1) {
  shape.memory = memory;
  shape.after_x = after_x;
  return shape;
}

std::vector<Ticks> random_times(std::mt19937& random, int stages, Ticks most) {
  std::uniform_int_distribution<Ticks> time(1, most);
  std::vector<Ticks> out(static_cast<std::size_t>(stages));
  std::ranges::generate(out, [&] { return time(random); });
  return out;
}

Shape random_shape(std::mt19937& random) {
  const auto pick = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
  Shape shape{.stages = pick(1, 12), .micro_batches = pick(1, 40)};
  shape.durations = {random_times(random, shape.stages, 50), random_times(random, shape.stages, 50),
                     random_times(random, shape.stages, 50), pick(0, 20)};
  return limited(shape, 1 + pick(0, 4 * shape.stages) / 2.0, pick(0, 4) / 4.0);
}

}  // namespace

TEST_CASE("zb_auto on 4 stages with 8 micro-batches and p sets") {
  const Texts want{"F0 F1 F2 F3 X0 W0 F4 X1 W1 F5 X2 W2 F6 X3 W3 F7 X4 W4 X5 W5 X6 W6 X7 W7",
                   "F0 F1 F2 X0 F3 X1 W0 F4 X2 W1 F5 X3 W2 F6 X4 W3 F7 X5 W4 X6 W5 X7 W6 W7",
                   "F0 F1 X0 F2 X1 F3 X2 W0 F4 X3 W1 F5 X4 W2 F6 X5 W3 F7 X6 W4 X7 W5 W6 W7",
                   "F0 X0 F1 X1 F2 X2 F3 X3 W0 F4 X4 W1 F5 X5 W2 F6 X6 W3 F7 X7 W4 W5 W6 W7"};
  CHECK(without_chunk(texts(zb_auto(limited(equal_shape(4, 8), 4)))) == want);
}

TEST_CASE("zb_auto on 4 stages with 8 micro-batches and 2p sets") {
  const Texts want{"F0 F1 F2 F3 F4 F5 F6 X0 F7 W0 X1 W1 X2 W2 X3 W3 X4 W4 X5 W5 X6 W6 X7 W7",
                   "F0 F1 F2 F3 F4 X0 F5 X1 F6 X2 F7 X3 W0 X4 W1 X5 W2 X6 W3 X7 W4 W5 W6 W7",
                   "F0 F1 F2 X0 F3 X1 F4 X2 F5 X3 F6 X4 F7 X5 W0 X6 W1 X7 W2 W3 W4 W5 W6 W7",
                   "F0 X0 F1 X1 F2 X2 F3 X3 F4 X4 F5 X5 F6 X6 F7 X7 W0 W1 W2 W3 W4 W5 W6 W7"};
  CHECK(without_chunk(texts(zb_auto(limited(equal_shape(4, 8), 8)))) == want);
}

TEST_CASE("zb_auto runs and keeps its limit, whatever the durations of the stages") {
  std::mt19937 random(7);
  for (int trial = 0; trial < 2000; ++trial) {
    const Shape shape = random_shape(random);
    const Orders orders = zb_auto(shape);
    INFO(shape.stages << " stages, " << shape.micro_batches << " micro-batches, limit " << shape.memory);
    CHECK(why_not(orders, Placement::Linear, shape) == "");
    CHECK(peak_sets(orders, shape.after_x) <= shape.memory + 1e-9);
  }
}

TEST_CASE("the clocks of zb_auto are those of the simulation") {
  std::mt19937 random(8);
  for (int trial = 0; trial < 500; ++trial) {
    const Shape shape = random_shape(random);
    detail::ZbAutoRun run(shape,
                          {.early = trial % 2 == 0, .keep_lead = trial % 3 == 0, .greedy = trial % 5 == 0});
    run.run();
    const auto timeline = std::get<Timeline>(simulate(run.orders(), Placement::Linear, shape));
    CHECK(timeline.longest_span() == run.longest_span());
  }
}

TEST_CASE("zb_auto with few micro-batches waits for nothing but the first pass through the stages") {
  for (const int p : {4, 8, 16})
    for (const int m : {p / 2, p}) {
      Shape shape = limited(equal_shape(p, m), p);
      shape.durations.input_gradient.assign(static_cast<std::size_t>(p), 12);
      shape.durations.weight_gradient.assign(static_cast<std::size_t>(p), 7);
      const auto timeline = std::get<Timeline>(simulate(zb_auto(shape), Placement::Linear, shape));
      CHECK(timeline.makespan == (m + p - 1) * 22 + 7);
    }
}
