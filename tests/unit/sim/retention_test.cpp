// What small pipelines keep in memory.
#include "trainplan/sim/retention.hpp"

#include <variant>
#include <vector>

#include "catch.hpp"
#include "trainplan/sim/pipeline.hpp"
#include "trainplan/sim/schedules.hpp"

using namespace trainplan::sim;

namespace {

Shape shape(int stages, int micro_batches, Ticks transfer) {
  const std::vector<Ticks> tens(static_cast<std::size_t>(stages), 10);
  Shape s{.stages = stages, .micro_batches = micro_batches};
  s.durations = {tens, tens, tens, transfer};
  return s;
}

std::vector<Residency> kept(const char* schedule, const Shape& s, const Sizes& sizes) {
  const Schedule* found = find_schedule(schedule);
  const Outcome out = simulate(found->orders(s), found->placement, s);
  REQUIRE(std::holds_alternative<Timeline>(out));
  return residency(std::get<Timeline>(out), Map(found->placement, s), sizes);
}

Sizes sizes(const Shape& s, SavedSet set, Size activation, Size gradient) {
  Sizes out = one_for_each(Map(Placement::Linear, s), set);
  out.activation_message = activation;
  out.gradient_message = gradient;
  return out;
}

Size alive(const Step& step, Kept kept) { return step.alive[static_cast<std::size_t>(kept)]; }

}  // namespace

TEST_CASE("sets and buffers of two stages over time") {
  const Shape s = shape(2, 1, 3);
  const auto stages = kept("one_f1b", s, sizes(s, {100, 100}, 7, 11));
  // Stage 0: forward 0-10, its result on the way 10-13; gradient on the way 43-46, backward 46-66.
  std::vector<Ticks> at;
  std::vector<Size> total;
  for (const Step& step : stages[0].steps) {
    at.push_back(step.at);
    total.push_back(step.total());
  }
  CHECK(at == std::vector<Ticks>{0, 10, 13, 43, 46, 66});
  CHECK(total == std::vector<Size>{100, 107, 100, 111, 100, 0});
  CHECK(stages[0].peak.at == 43);
  CHECK(alive(stages[0].peak, Kept::Saved) == 100);
  CHECK(alive(stages[0].peak, Kept::ReceiveBuffer) == 11);
  CHECK(alive(stages[0].peak, Kept::SendBuffer) == 0);
  // Stage 1: result on the way 10-13, forward 13-23, backward 23-43, gradient on the way 43-46: the set is
  // gone when the gradient is sent.
  CHECK(stages[1].peak.total() == 100);
  CHECK(stages[1].peak.at == 13);
}

TEST_CASE("the first of equal peaks counts") {
  const Shape s = shape(1, 3, 0);
  const auto stages = kept("one_f1b", s, sizes(s, {5, 5}, 0, 0));
  CHECK(stages[0].peak.total() == 5);
  CHECK(stages[0].peak.at == 0);
  CHECK(stages[0].peak_sets == 1);
}

TEST_CASE("a set shrinks after the gradients of inputs") {
  const Shape s = shape(3, 8, 0);
  const auto whole = kept("zb_h1", s, sizes(s, {100, 100}, 0, 0));
  const auto part = kept("zb_h1", s, sizes(s, {100, 36}, 0, 0));
  const auto none = kept("zb_h1", s, sizes(s, {100, 0}, 0, 0));
  for (std::size_t g = 0; g < 3; ++g) {
    const auto stage = static_cast<Size>(g);
    CHECK(whole[g].peak.total() == 300);
    CHECK(part[g].peak.total() == (3 - stage) * 100 + stage * 36);
    CHECK(none[g].peak.total() == (3 - stage) * 100);
    CHECK(whole[g].peak_sets == 3);
    CHECK(part[g].peak_sets == 3);
    CHECK(none[g].peak_sets == 3 - static_cast<int>(g));
  }
  CHECK(alive(part[2].peak, Kept::ForWeights) == 72);
}

TEST_CASE("what is held for no time is not held") {
  const Shape s = shape(2, 1, 0);
  const auto stages = kept("one_f1b", s, sizes(s, {1, 1}, 1000, 1000));
  CHECK(stages[0].peak.total() == 1);
  CHECK(stages[1].peak.total() == 1);
}

TEST_CASE("a message that waits for the link is a buffer of its sender alone") {
  const Shape s = shape(2, 2, 25);
  const auto stages = kept("gpipe", s, sizes(s, {0, 0}, 7, 0));
  CHECK(stages[0].peak.total() == 14);  // sent at 10 and at 20, carried 10-35 and 35-60
  CHECK(stages[0].peak.at == 20);
  CHECK(stages[1].peak.total() == 7);
}
