// Timelines small enough to be worked out on paper.
#include "trainplan/sim/pipeline.hpp"

#include <string>
#include <variant>
#include <vector>

#include "catch.hpp"
#include "trainplan/sim/schedules.hpp"

using namespace trainplan::sim;

namespace {

constexpr Work kF = Work::Forward, kB = Work::Backward, kX = Work::InputGradient, kW = Work::WeightGradient;

Slot slot(Work work, int micro_batch, int chunk = 0) { return {{work, micro_batch, chunk}, {}}; }

/// Stages of 10, 10 and 10 ticks.
Shape shape(int stages, int micro_batches, Ticks transfer) {
  const std::vector<Ticks> tens(static_cast<std::size_t>(stages), 10);
  Shape s{.stages = stages, .micro_batches = micro_batches};
  s.durations = {tens, tens, tens, transfer};
  return s;
}

Timeline ran(const Outcome& out) {
  REQUIRE(std::holds_alternative<Timeline>(out));
  return std::get<Timeline>(out);
}

std::string fault(const Orders& orders, const Shape& s) {
  const Outcome out = simulate(orders, Placement::Linear, s);
  REQUIRE(std::holds_alternative<Fault>(out));
  return text(std::get<Fault>(out));
}

std::vector<Ticks> starts(const Timeline& t, std::size_t stage) {
  std::vector<Ticks> out;
  for (const Ran& r : t.stages[stage]) out.push_back(r.start);
  return out;
}

const Orders kTwoByTwo{{{slot(kF, 0), slot(kF, 1), slot(kB, 0), slot(kB, 1)}},
                       {{slot(kF, 0), slot(kB, 0), slot(kF, 1), slot(kB, 1)}}};

}  // namespace

TEST_CASE("two stages, two micro-batches, 1F1B") {
  const Timeline t = ran(simulate(kTwoByTwo, Placement::Linear, shape(2, 2, 3)));
  CHECK(starts(t, 0) == std::vector<Ticks>{0, 10, 46, 76});
  CHECK(starts(t, 1) == std::vector<Ticks>{13, 23, 43, 53});
  CHECK(t.gradient_ready == 96);
  CHECK(t.busy == std::vector<Ticks>{60, 60});
  CHECK(t.idle(0) == 36);
  CHECK(t.span_idle(0) == 36);
  CHECK(t.idle(1) == 36);
  CHECK(t.span_idle(1) == 0);
  CHECK(t.longest_span() == 96);
}

TEST_CASE("boundaries have times of their own, in each direction, and the update waits for all stages") {
  const Shape s = shape(2, 2, 0);
  Times times = times_of(s, Placement::Linear);
  times.activation[0] = 5;
  times.gradient[0] = 1;
  times.update = 4;
  const Timeline t = ran(simulate(kTwoByTwo, Placement::Linear, s, times));
  CHECK(starts(t, 1) == std::vector<Ticks>{15, 25, 45, 55});
  CHECK(starts(t, 0) == std::vector<Ticks>{0, 10, 46, 76});
  CHECK(t.gradient_ready == 96);
  CHECK(t.makespan == 100);
}

TEST_CASE("a head lengthens the passes of its chunk alone") {
  const Shape s = shape(2, 2, 0);
  Times times = times_of(s, Placement::Linear);
  times.chunk[1][0].forward += 7;
  const Timeline t = ran(simulate(kTwoByTwo, Placement::Linear, s, times));
  CHECK(starts(t, 1) == std::vector<Ticks>{10, 27, 47, 64});
  CHECK(t.busy == std::vector<Ticks>{60, 74});
}

TEST_CASE("a message waits for the one before it, first come, first served") {
  const Shape s = shape(2, 2, 25);
  const Timeline t = ran(simulate(kTwoByTwo, Placement::Linear, s));
  std::vector<Ticks> sent, start, end;
  for (const Message& m : t.messages)
    if (m.carried == Carried::Activation) {
      sent.push_back(m.sent);
      start.push_back(m.start);
      end.push_back(m.end);
    }
  CHECK(sent == std::vector<Ticks>{10, 20});
  CHECK(start == std::vector<Ticks>{10, 35});
  CHECK(end == std::vector<Ticks>{35, 60});
}

TEST_CASE("a split backward pass sends its gradient before the gradients of weights") {
  const Orders orders{{{slot(kF, 0), slot(kX, 0), slot(kW, 0)}}, {{slot(kF, 0), slot(kX, 0), slot(kW, 0)}}};
  const Timeline t = ran(simulate(orders, Placement::Linear, shape(2, 1, 2)));
  CHECK(starts(t, 1) == std::vector<Ticks>{12, 22, 32});
  CHECK(starts(t, 0) == std::vector<Ticks>{0, 34, 44});
}

TEST_CASE("a pair starts with the later of its inputs and sends both results at its end") {
  // Two copies of the model on two stages: each stage is the first of one and the last of the other.
  const auto pair = [](Pass a, Pass b) { return Slot{a, b}; };
  const Orders orders{{{slot(kF, 0, 0), slot(kF, 0, 1), pair({kF, 1, 0}, {kB, 0, 1}), slot(kF, 1, 1),
                        slot(kB, 1, 1), slot(kB, 0, 0), slot(kB, 1, 0)}},
                      {{slot(kF, 0, 1), slot(kF, 0, 0), pair({kF, 1, 1}, {kB, 0, 0}), slot(kF, 1, 0),
                        slot(kB, 1, 0), slot(kB, 0, 1), slot(kB, 1, 1)}}};
  Shape s = shape(2, 4, 1);
  s.chunks = 2;
  Times times = times_of(s, Placement::TwoDirections);
  times.overlap = {8, 8};
  const Timeline t = ran(simulate(orders, Placement::TwoDirections, s, times));
  CHECK(starts(t, 0) == std::vector<Ticks>{0, 11, 21, 44, 54, 74, 94});
  CHECK(starts(t, 1) == starts(t, 0));
  CHECK(t.stages[0][2].end == 43);
  // The activation is on the link first, although the two leave at the same moment.
  std::vector<Ticks> arrivals;
  for (const Message& m : t.messages)
    if (m.from == 0 && m.sent == 43) arrivals.push_back(m.end);
  CHECK(arrivals == std::vector<Ticks>{44, 45});
}

TEST_CASE("a pair is never shorter than its longer part") {
  const Shape s = shape(2, 2, 0);
  Times times = times_of(s, Placement::Linear);
  const Slot pair{{kF, 1, 0}, Pass{kB, 0, 0}};
  CHECK(times.of(0, pair) == 30);
  times.overlap[0] = 5;
  CHECK(times.of(0, pair) == 25);
  times.overlap[0] = 100;
  CHECK(times.of(0, pair) == 20);
}

TEST_CASE("the turn of a V needs no message, and a loop of two stages has one link in each direction") {
  const Orders vee{{{slot(kF, 0), slot(kF, 0, 1), slot(kB, 0, 1), slot(kB, 0)}},
                   {{slot(kF, 0), slot(kF, 0, 1), slot(kB, 0, 1), slot(kB, 0)}}};
  Shape s = shape(2, 1, 4);
  s.chunks = 2;
  const Timeline v = ran(simulate(vee, Placement::Vee, s));
  CHECK(starts(v, 1) == std::vector<Ticks>{9, 14, 42, 52});
  CHECK(v.count(Carried::Activation) == 2);
  const Timeline loop = ran(simulate(vee, Placement::Loop, s));
  CHECK(loop.count(Carried::Activation) == 3);
  CHECK(starts(loop, 0) == std::vector<Ticks>{0, 18, 46, 74});
}

TEST_CASE("of two heads that are ready at once the gradient of inputs comes first, then the forward") {
  const Orders heads{
      {{slot(kF, 0, 0), slot(kX, 0, 0), slot(kW, 0, 0)}, {slot(kF, 0, 1), slot(kX, 0, 1), slot(kW, 0, 1)}}};
  Shape s = shape(1, 2, 0);
  s.chunks = 2;
  const Timeline t = ran(simulate(heads, Placement::TwoDirections, s));
  std::string order;
  for (const Ran& r : t.stages[0]) order += text(r.slot.first) + " ";
  CHECK(order == "F0.0 X0.0 F0.1 X0.1 W0.0 W0.1 ");
}

TEST_CASE("an order that cannot run says why") {
  const Shape s = shape(2, 2, 0);
  Orders orders = kTwoByTwo;
  std::swap(orders[1][0][0], orders[1][0][1]);
  CHECK(fault(orders, s) == "B0.0 on stage 0 waits for what comes after it");
  orders = kTwoByTwo;
  orders[0][0].pop_back();
  CHECK(fault(orders, s) == "X1.0 is missing on stage 0");
  orders = kTwoByTwo;
  orders[1][0].push_back(slot(kW, 1));
  CHECK(fault(orders, s) == "W1.0 stands twice on stage 1");
  orders = kTwoByTwo;
  orders[1][0].push_back(slot(kF, 2));
  CHECK(fault(orders, s) == "no pass F2.0 on stage 1");
  orders.pop_back();
  CHECK(fault(orders, s) == "orders, durations and stages differ in number");
}
