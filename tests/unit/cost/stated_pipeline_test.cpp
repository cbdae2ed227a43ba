// Stated numbers become ticks and bytes without rounding.
#include "trainplan/cost/stated_pipeline.hpp"

#include "catch.hpp"
#include "trainplan/sim/schedules.hpp"

using namespace trainplan;
using sim::Placement;

namespace {

PipelineSpec example() {
  PipelineSpec s;
  s.stages = 4;
  s.micro_batches = 8;
  s.layers = 36;
  s.forward = {0.010};
  s.backward = {0.020};
  s.transfer = s.update = 0.001;
  s.saved_per_layer = 26768384;
  s.saved_head = 79888896;
  return s;
}

}  // namespace

TEST_CASE("nine layers of a stage in two chunks: five and four ninths, exactly") {
  const sim::Pipeline p = stated_pipeline(example());
  const auto& chunks = p.cut(Placement::Loop).times.chunk.front();
  CHECK(chunks[0].forward == 50);
  CHECK(chunks[1].forward == 40);
  CHECK(p.cut(Placement::Linear).times.chunk.front()[0].forward == 90);
  CHECK(p.cut(Placement::TwoDirections).times.chunk.front()[1].forward == 90);
  CHECK(p.cut(Placement::Linear).times.update == 9);
}

TEST_CASE(
    "the head lies with the last layer: on the last stage, in a V on the first, for two copies on both") {
  const sim::Pipeline p = stated_pipeline(example());
  constexpr sim::Size kLayer = 26768384, kHead = 79888896;
  CHECK(p.cut(Placement::Linear).sizes.saved[3][0].whole == 9 * kLayer + kHead);
  CHECK(p.cut(Placement::Loop).sizes.saved[3][1].whole == 4 * kLayer + kHead);
  CHECK(p.cut(Placement::Vee).sizes.saved[0][1].whole == 4 * kLayer + kHead);
  CHECK(p.cut(Placement::TwoDirections).sizes.saved[3][0].whole == 9 * kLayer + kHead);
  CHECK(p.cut(Placement::TwoDirections).sizes.saved[0][1].whole == 9 * kLayer + kHead);
  CHECK(p.cut(Placement::Linear).sizes.saved[0][0].whole == 9 * kLayer);
}

TEST_CASE("a backward pass is cut by its share, and the sum stays") {
  PipelineSpec s = example();
  s.backward = {0.019999999999};
  s.weight_gradient_share = 1.0 / 3;
  const sim::Pipeline p = stated_pipeline(s);
  const auto& d = p.cut(Placement::Linear).shape.durations;
  const double sum = p.clock.seconds(d.input_gradient[0] + d.weight_gradient[0]);
  CHECK(sum == Approx(0.019999999999).epsilon(1e-15));
  CHECK(p.clock.seconds(d.weight_gradient[0]) == Approx(0.019999999999 / 3).epsilon(1e-9));
}

TEST_CASE("times of single stages, and a pair that saves time") {
  PipelineSpec s = example();
  s.forward = {0.010, 0.010, 0.010, 0.013};
  s.pair = 0.025;
  const sim::Pipeline p = stated_pipeline(s);
  const sim::Cut& two = p.cut(Placement::TwoDirections);
  CHECK(p.clock.seconds(two.times.overlap[0]) == Approx(0.005));
  CHECK(p.clock.seconds(two.times.overlap[3]) == Approx(0.008));
  CHECK(p.clock.seconds(p.cut(Placement::Vee).times.overlap[0]) == Approx(0.0025));
}

TEST_CASE("a cut that the layers do not allow says the nearest number") {
  PipelineSpec s = example();
  s.chunks = 10;
  const auto loop = stated_pipeline(s).cut(Placement::Loop).refusal;
  REQUIRE(loop);
  CHECK(loop->field == "chunks");
  CHECK(loop->nearest == 9);
  s = example();
  s.layers = 4;
  const auto vee = stated_pipeline(s).cut(Placement::Vee).refusal;
  REQUIRE(vee);
  CHECK(vee->field == "layers");
  CHECK(vee->nearest == 8);
}

TEST_CASE("the limit of orders with one: as stated, as the budget allows, else as 1F1B") {
  PipelineSpec s = example();
  const auto limit = [&] { return stated_pipeline(s).cut(Placement::Linear).shape.memory; };
  CHECK(limit() == 4);
  s.memory_budget = 1e9;
  CHECK(limit() == Approx(1e9 / (9 * 26768384 + 79888896)));
  s.memory_sets = 6.5;
  CHECK(limit() == 6.5);
}

TEST_CASE("times with so many digits that a step has too many ticks are told from others") {
  PipelineSpec s = example();
  CHECK(countable(s));
  s.forward = {999.999999999989};
  s.backward = {999.999999999967};
  s.micro_batches = 1024;
  CHECK_FALSE(countable(s));
}
