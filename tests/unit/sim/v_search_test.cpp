#include "trainplan/sim/orders/v_search.hpp"

#include <array>
#include <random>

#include "catch.hpp"
#include "order_checks.hpp"

using namespace trainplan::sim;

namespace {

Shape shape_of(int stages, int micro_batches, std::array<Ticks, 3> pass, Ticks transfer) {
  const auto all = [&](Ticks ticks) { return std::vector<Ticks>(static_cast<std::size_t>(stages), ticks); };
  Shape shape{.stages = stages, .micro_batches = micro_batches};
  shape.durations = {all(pass[0]), all(pass[1]), all(pass[2]), transfer};
  return shape;
}

Ticks span(const Orders& orders, const Shape& shape) {
  return std::get<Timeline>(simulate(orders, Placement::Vee, shape)).longest_span();
}

}  // namespace

TEST_CASE("more memory never makes the order of v_search longer") {
  for (const int p : {3, 6})
    for (const int m : {2 * p, 6 * p})
      for (const auto& pass :
           {std::array<Ticks, 3>{100, 100, 100}, {100, 120, 70}, {100, 160, 40}, {200, 100, 30}}) {
        Shape shape = shape_of(p, m, pass, 5);
        Ticks before = span(v_min(shape), shape);
        for (int chunk_sets = 2 * ((p + 4) / 3); chunk_sets <= 2 * p + 3; ++chunk_sets) {
          shape.memory = chunk_sets / 2.0;
          const Orders orders = v_search(shape);
          INFO(p << " stages, " << m << " micro-batches, " << shape.memory << " sets");
          CHECK(peak_sets(orders) <= chunk_sets);
          CHECK(span(orders, shape) <= before);
          before = span(orders, shape);
        }
      }
}

TEST_CASE("v_search is as good as the named orders of a V, and fills the steps between them") {
  Shape shape = shape_of(8, 24, {100, 100, 100}, 0);
  const auto found = [&](double memory) {
    shape.memory = memory;
    return span(v_search(shape), shape);
  };
  CHECK(found(4) <= span(v_min(shape), shape));
  CHECK(found(5) <= span(v_half(shape), shape));
  Ticks before = found(5);
  for (const double memory : {5.5, 6.0, 6.5, 7.0, 7.5, 8.0}) {
    const Ticks now = found(memory);
    CHECK(now < before);
    before = now;
  }
  CHECK(before == 300 * 24);
}

TEST_CASE("v_search counts what is left of a set after X") {
  Shape shape = shape_of(6, 18, {100, 120, 70}, 5);
  shape.memory = 6.75;
  const Ticks whole = span(v_search(shape), shape);
  shape.after_x = 0.25;
  const Orders lighter = v_search(shape);
  CHECK(peak_sets(lighter, 0.25) <= 2 * shape.memory);
  CHECK(span(lighter, shape) < whole);
}

TEST_CASE("v_search runs on stages of different durations") {
  std::mt19937 random(11);
  const auto pick = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
  for (int trial = 0; trial < 25; ++trial) {
    Shape shape = shape_of(pick(1, 6), pick(1, 24), {60, 60, 60}, pick(0, 20));
    for (auto* times : {&shape.durations.forward, &shape.durations.input_gradient})
      for (Ticks& ticks : *times) ticks = 2 * pick(5, 60);
    shape.memory = (shape.stages + 4) / 3 + pick(0, 2 * shape.stages) / 2.0;
    const Orders orders = v_search(shape);
    CHECK(why_not(orders, Placement::Vee, shape) == "");
    CHECK(peak_sets(orders) <= 2 * shape.memory);
  }
}

TEST_CASE("v_search refuses a limit below v_min, and names it") {
  Shape shape = shape_of(8, 24, {100, 100, 100}, 0);
  shape.memory = 3.5;
  CHECK(holds_a_v(shape)->nearest == 4);
  CHECK(peak_sets(v_search(shape)) == 8);
  shape.memory = 4;
  CHECK_FALSE(holds_a_v(shape));
}
