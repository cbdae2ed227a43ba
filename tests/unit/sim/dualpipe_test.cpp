#include "trainplan/sim/orders/dualpipe.hpp"

#include "catch.hpp"
#include "order_checks.hpp"

using namespace trainplan::sim;

TEST_CASE("dualpipe on 4 stages with 8 micro-batches") {
  const Texts want{
      "F0.0 F1.0 F2.0 F0.1 X0.1 W0.1 F1.1 (F3.0+B1.1) (F2.1+B0.0) B2.1 (F3.1+B1.0) "
      "B3.1 X2.0 W2.0 X3.0 W3.0",
      "F0.0 F0.1 F1.0 F1.1 F2.0 B0.1 (F2.1+B0.0) (F3.0+B1.1) (F3.1+B1.0) B2.1 B2.0 "
      "X3.1 X3.0 W3.1 W3.0",
      "F0.1 F0.0 F1.1 F1.0 F2.1 B0.0 (F2.0+B0.1) (F3.1+B1.0) (F3.0+B1.1) B2.0 B2.1 "
      "X3.0 X3.1 W3.0 W3.1",
      "F0.1 F1.1 F2.1 F0.0 X0.0 W0.0 F1.0 (F3.1+B1.0) (F2.0+B0.1) B2.0 (F3.0+B1.1) "
      "B3.0 X2.1 W2.1 X3.1 W3.1"};
  CHECK(texts(dualpipe(equal_shape(4, 8))) == want);
}

TEST_CASE("dualpipev on 4 stages with 8 micro-batches") {
  const Texts want{
      "F0.0 F1.0 F2.0 F3.0 F4.0 F5.0 F6.0 F0.1 X0.1 W0.1 F1.1 X1.1 W1.1 F2.1 X2.1 W2.1 F3.1 "
      "(F7.0+B3.1) (F4.1+B0.0) B4.1 (F5.1+B1.0) B5.1 (F6.1+B2.0) B6.1 (F7.1+B3.0) B7.1 X4.0 W4.0 X5.0 "
      "W5.0 X6.0 W6.0 X7.0 W7.0",
      "F0.0 F1.0 F2.0 F3.0 F4.0 F0.1 F5.0 F1.1 X0.1 W0.1 F2.1 X1.1 W1.1 F3.1 (F6.0+B2.1) (F4.1+B0.0) "
      "(F7.0+B3.1) (F5.1+B1.0) B4.1 (F6.1+B2.0) B5.1 (F7.1+B3.0) B6.1 B4.0 X7.1 X5.0 W7.1 X6.0 W5.0 "
      "X7.0 W6.0 W7.0",
      "F0.0 F1.0 F2.0 F0.1 F3.0 F1.1 F4.0 F2.1 X0.1 W0.1 F3.1 (F5.0+B1.1) (F4.1+B0.0) (F6.0+B2.1) "
      "(F5.1+B1.0) (F7.0+B3.1) (F6.1+B2.0) B4.1 (F7.1+B3.0) B5.1 B4.0 B6.1 X5.0 X7.1 X6.0 W5.0 X7.0 "
      "W7.1 W6.0 W7.0",
      "F0.0 F0.1 F1.0 F1.1 F2.0 F2.1 F3.0 F3.1 F4.0 B0.1 (F4.1+B0.0) (F5.0+B1.1) (F5.1+B1.0) "
      "(F6.0+B2.1) (F6.1+B2.0) (F7.0+B3.1) (F7.1+B3.0) B4.1 B4.0 B5.1 B5.0 X6.1 X6.0 X7.1 X7.0 W6.1 "
      "W6.0 W7.1 W7.0"};
  CHECK(texts(dualpipev(equal_shape(4, 8))) == want);
}

TEST_CASE("dualpipe holds p + 1 sets on every stage and idles as published") {
  for (int p = 2; p <= 16; p += 2)
    for (const int m : {2 * p, 2 * p + 6, 5 * p}) {
      const Shape shape = equal_shape(p, m);
      const Orders orders = dualpipe(shape);
      for (const auto& of_stage : orders) CHECK(peak_sets(of_stage) == p + 1);
      const auto timeline = std::get<Timeline>(simulate(orders, Placement::TwoDirections, shape));
      CHECK(timeline.makespan == 30 * m + 20 * (p / 2 - 1));
    }
}

TEST_CASE("dualpipev holds 2p + 1 chunk sets on every stage and idles as published") {
  for (int p = 1; p <= 16; ++p)
    for (const int m : {2 * p, 2 * p + 3, 5 * p}) {
      const Shape shape = equal_shape(p, m);
      const Orders orders = dualpipev(shape);
      for (const auto& of_stage : orders) CHECK(peak_sets(of_stage) == 2 * p + 1);
      const auto timeline = std::get<Timeline>(simulate(orders, Placement::Vee, shape));
      CHECK(timeline.makespan == 30 * m + 10 * (p - 1));
    }
}

TEST_CASE("dualpipe and dualpipev refuse what does not fill their steps, with the nearest that does") {
  CHECK(halves_meet(equal_shape(5, 20))->nearest == 6);
  CHECK(halves_meet(equal_shape(4, 6))->nearest == 8);
  CHECK(halves_meet(equal_shape(4, 9))->nearest == 10);
  CHECK_FALSE(halves_meet(equal_shape(4, 10)));
  CHECK(fills_the_pairs(equal_shape(4, 7))->nearest == 8);
  CHECK_FALSE(fills_the_pairs(equal_shape(4, 9)));
}
