#include "trainplan/sim/orders/zbv.hpp"

#include "catch.hpp"
#include "order_checks.hpp"

using namespace trainplan::sim;

TEST_CASE("zbv on 4 stages with 8 micro-batches") {
  const Texts want{
      "F0.0 F1.0 F2.0 F3.0 F4.0 F5.0 F6.0 F0.1 X0.1 W0.1 F1.1 X1.1 W1.1 F2.1 X2.1 W2.1 F3.1 X3.1 W3.1 "
      "F7.0 X0.0 W0.0 F4.1 X4.1 W4.1 X1.0 W1.0 F5.1 X5.1 W5.1 X2.0 W2.0 F6.1 X6.1 W6.1 X3.0 W3.0 F7.1 "
      "X7.1 W7.1 X4.0 W4.0 X5.0 W5.0 X6.0 W6.0 X7.0 W7.0",
      "F0.0 F1.0 F2.0 F3.0 F4.0 F0.1 F5.0 F1.1 X0.1 W0.1 F2.1 X1.1 W1.1 F3.1 X2.1 W2.1 F6.0 X0.0 W0.0 "
      "F4.1 X3.1 W3.1 F7.0 X1.0 W1.0 F5.1 X4.1 W4.1 X2.0 W2.0 F6.1 X5.1 W5.1 X3.0 W3.0 F7.1 X6.1 W6.1 "
      "X4.0 X7.1 X5.0 W4.0 X6.0 W5.0 X7.0 W6.0 W7.1 W7.0",
      "F0.0 F1.0 F2.0 F0.1 F3.0 F1.1 F4.0 F2.1 X0.1 W0.1 F3.1 X1.1 W1.1 F5.0 X0.0 W0.0 F4.1 X2.1 W2.1 "
      "F6.0 X1.0 W1.0 F5.1 X3.1 W3.1 F7.0 X2.0 W2.0 F6.1 X4.1 W4.1 X3.0 W3.0 F7.1 X5.1 W5.1 X4.0 X6.1 "
      "X5.0 X7.1 X6.0 W4.0 X7.0 W5.0 W6.1 W7.1 W6.0 W7.0",
      "F0.0 F0.1 F1.0 F1.1 F2.0 F2.1 F3.0 F3.1 X0.1 W0.1 F4.0 X0.0 W0.0 F4.1 X1.1 W1.1 F5.0 X1.0 W1.0 "
      "F5.1 X2.1 W2.1 F6.0 X2.0 W2.0 F6.1 X3.1 W3.1 F7.0 X3.0 W3.0 F7.1 X4.1 W4.1 X4.0 X5.1 X5.0 X6.1 "
      "X6.0 X7.1 X7.0 W4.0 W5.1 W6.1 W7.1 W5.0 W6.0 W7.0"};
  CHECK(texts(zbv(equal_shape(4, 8))) == want);
}

TEST_CASE("zbv holds p sets on every stage and leaves no bubble inside a span") {
  for (int p = 2; p <= 16; ++p) {
    const Shape shape = equal_shape(p, 2 * p + 3);
    const Orders orders = zbv(shape);
    for (const auto& of_stage : orders) CHECK(peak_sets(of_stage) == 2 * p);
    const auto timeline = std::get<Timeline>(simulate(orders, Placement::Vee, shape));
    CHECK(timeline.longest_span() == 30 * shape.micro_batches);
  }
}

TEST_CASE("zbv runs with any number of micro-batches") {
  for (int p = 1; p <= 12; ++p)
    for (int m = 1; m <= 3 * p; ++m) {
      const Shape shape = equal_shape(p, m);
      CHECK(why_not(zbv(shape), Placement::Vee, shape) == "");
    }
}
