#include "trainplan/sim/orders/vee.hpp"

#include <random>

#include "catch.hpp"
#include "order_checks.hpp"

using namespace trainplan::sim;

TEST_CASE("v_min on 4 stages with 8 micro-batches") {
  const Texts want{
      "F0.0 F1.0 F2.0 F0.1 X0.1 W0.1 F1.1 X1.1 W1.1 X0.0 W0.0 F3.0 F2.1 X2.1 X1.0 W2.1 W1.0 F4.0 F3.1 "
      "X3.1 X2.0 W3.1 W2.0 F5.0 F4.1 X4.1 X3.0 W4.1 W3.0 F6.0 F5.1 X5.1 X4.0 W5.1 W4.0 F7.0 F6.1 X6.1 "
      "X5.0 W6.1 W5.0 F7.1 X7.1 X6.0 W7.1 W6.0 X7.0 W7.0",
      "F0.0 F1.0 F0.1 F1.1 X0.1 W0.1 F2.0 X0.0 X1.1 W1.1 W0.0 F2.1 F3.0 X1.0 X2.1 W2.1 W1.0 F3.1 F4.0 "
      "X2.0 X3.1 W3.1 W2.0 F4.1 F5.0 X3.0 X4.1 W4.1 W3.0 F5.1 F6.0 X4.0 X5.1 W5.1 W4.0 F6.1 F7.0 X5.0 "
      "X6.1 W6.1 W5.0 F7.1 X6.0 X7.1 W7.1 W6.0 X7.0 W7.0",
      "F0.0 F1.0 F0.1 F1.1 X0.1 W0.1 F2.0 X0.0 W0.0 X1.1 F2.1 W1.1 X1.0 F3.0 W1.0 X2.1 F3.1 W2.1 X2.0 "
      "F4.0 W2.0 X3.1 F4.1 W3.1 X3.0 F5.0 W3.0 X4.1 F5.1 W4.1 X4.0 F6.0 W4.0 X5.1 F6.1 W5.1 X5.0 F7.0 "
      "W5.0 X6.1 F7.1 W6.1 X6.0 W6.0 X7.1 W7.1 X7.0 W7.0",
      "F0.0 F0.1 F1.0 F1.1 X0.1 X0.0 W0.1 W0.0 F2.0 F2.1 X1.1 X1.0 W1.1 W1.0 F3.0 F3.1 X2.1 X2.0 W2.1 "
      "W2.0 F4.0 F4.1 X3.1 X3.0 W3.1 W3.0 F5.0 F5.1 X4.1 X4.0 W4.1 W4.0 F6.0 F6.1 X5.1 X5.0 W5.1 W5.0 "
      "F7.0 F7.1 X6.1 X6.0 W6.1 W6.0 X7.1 X7.0 W7.1 W7.0"};
  CHECK(texts(v_min(equal_shape(4, 8))) == want);
}

TEST_CASE("v_half on 4 stages with 8 micro-batches") {
  const Texts want{
      "F0.0 F1.0 F2.0 F3.0 F4.0 F0.1 X0.1 W0.1 F1.1 X1.1 W1.1 F2.1 X0.0 X2.1 W2.1 F3.1 W0.0 F5.0 X1.0 "
      "X3.1 W3.1 F4.1 W1.0 F6.0 X2.0 X4.1 W4.1 F5.1 W2.0 F7.0 X3.0 X5.1 W5.1 F6.1 X6.1 W6.1 X4.0 W3.0 "
      "W4.0 F7.1 X7.1 X5.0 W7.1 X6.0 W5.0 W6.0 X7.0 W7.0",
      "F0.0 F1.0 F2.0 F3.0 F0.1 F1.1 X0.1 W0.1 F2.1 X1.1 W1.1 X0.0 W0.0 F4.0 F3.1 X2.1 W2.1 X1.0 W1.0 "
      "F5.0 F4.1 X3.1 W3.1 X2.0 W2.0 F6.0 F5.1 X4.1 W4.1 X3.0 F7.0 W3.0 F6.1 X5.1 W5.1 X4.0 X6.1 W6.1 "
      "F7.1 W4.0 X5.0 X7.1 X6.0 W7.1 W5.0 W6.0 X7.0 W7.0",
      "F0.0 F1.0 F2.0 F0.1 F1.1 F2.1 X0.1 W0.1 F3.0 X1.1 X0.0 W1.1 W0.0 F3.1 F4.0 X1.0 X2.1 W2.1 F4.1 "
      "W1.0 F5.0 X2.0 X3.1 W3.1 F5.1 W2.0 F6.0 X3.0 X4.1 W4.1 F6.1 W3.0 F7.0 X4.0 X5.1 W5.1 F7.1 X6.1 "
      "X5.0 W6.1 X6.0 X7.1 W7.1 W4.0 X7.0 W5.0 W6.0 W7.0",
      "F0.0 F0.1 F1.0 F1.1 F2.0 F2.1 X0.1 W0.1 X0.0 W0.0 F3.0 F3.1 X1.1 W1.1 X1.0 W1.0 F4.0 F4.1 X2.1 "
      "W2.1 X2.0 W2.0 F5.0 F5.1 X3.1 W3.1 X3.0 F6.0 W3.0 F6.1 X4.1 X4.0 W4.1 F7.0 W4.0 F7.1 X5.1 X5.0 "
      "X6.1 X6.0 W5.1 W6.1 X7.1 X7.0 W7.1 W5.0 W6.0 W7.0"};
  CHECK(texts(v_half(equal_shape(4, 8))) == want);
}

TEST_CASE("v_zb on 4 stages with 8 micro-batches") {
  const Texts want{
      "F0.0 F1.0 F2.0 F3.0 F4.0 F5.0 F6.0 F0.1 X0.1 W0.1 F1.1 X1.1 W1.1 F2.1 X2.1 W2.1 F3.1 X3.1 X0.0 "
      "W3.1 W0.0 F7.0 F4.1 X4.1 X1.0 W4.1 W1.0 F5.1 X5.1 X2.0 W5.1 W2.0 F6.1 X6.1 X3.0 W6.1 W3.0 F7.1 "
      "X7.1 X4.0 W7.1 X5.0 W4.0 X6.0 W5.0 X7.0 W6.0 W7.0",
      "F0.0 F1.0 F2.0 F3.0 F4.0 F0.1 F5.0 F1.1 X0.1 W0.1 F2.1 X1.1 W1.1 F3.1 X2.1 X0.0 W2.1 X3.1 W3.1 "
      "F6.0 F4.1 X1.0 W0.0 F7.0 W1.0 F5.1 X4.1 X2.0 X5.1 W4.1 F6.1 W5.1 X3.0 X6.1 W6.1 F7.1 W2.0 X4.0 "
      "X7.1 X5.0 W7.1 X6.0 W3.0 X7.0 W4.0 W5.0 W6.0 W7.0",
      "F0.0 F1.0 F2.0 F0.1 F3.0 F1.1 F4.0 F2.1 X0.1 W0.1 F3.1 X1.1 X0.0 W1.1 W0.0 F5.0 F4.1 X2.1 X1.0 "
      "W2.1 F6.0 W1.0 F5.1 X3.1 X2.0 W3.1 F7.0 W2.0 F6.1 X4.1 X3.0 X5.1 W4.1 F7.1 X6.1 X4.0 W5.1 X5.0 "
      "X7.1 X6.0 W6.1 X7.0 W7.1 W3.0 W4.0 W5.0 W6.0 W7.0",
      "F0.0 F0.1 F1.0 F1.1 F2.0 F2.1 F3.0 F3.1 X0.1 X0.0 W0.1 W0.0 F4.0 F4.1 X1.1 X1.0 W1.1 F5.0 W1.0 "
      "F5.1 X2.1 X2.0 W2.1 F6.0 W2.0 F6.1 X3.1 X3.0 W3.1 F7.0 W3.0 F7.1 X4.1 X4.0 X5.1 X5.0 X6.1 X6.0 "
      "X7.1 X7.0 W4.1 W5.1 W6.1 W7.1 W4.0 W5.0 W6.0 W7.0"};
  CHECK(texts(v_zb(equal_shape(4, 8))) == want);
}

TEST_CASE("peak sets of the V orders are the closed forms") {
  for (int p = 2; p <= 16; ++p) {
    const Shape shape = equal_shape(p, 4 * p);
    CHECK(peak_sets(v_min(shape)) == 2 * ((p + 4) / 3));
    CHECK(peak_sets(v_half(shape)) == 2 * ((p + 2) / 2));
    CHECK(peak_sets(v_zb(shape)) == 2 * p);
  }
}

TEST_CASE("v_zb leaves no bubble inside a span when all passes take the same time") {
  for (int p = 2; p <= 16; ++p) {
    const Shape shape = equal_shape(p, 3 * p);
    const auto timeline = std::get<Timeline>(simulate(v_zb(shape), Placement::Vee, shape));
    CHECK(timeline.longest_span() == 30 * shape.micro_batches);
  }
}

TEST_CASE("the V orders run with any number of stages and micro-batches") {
  for (int p = 1; p <= 12; ++p)
    for (int m = 1; m <= 4 * p; ++m) {
      const Shape shape = equal_shape(p, m);
      INFO(p << " stages, " << m << " micro-batches");
      for (const auto order : {v_min, v_half, v_zb})
        CHECK(why_not(order(shape), Placement::Vee, shape) == "");
    }
}
