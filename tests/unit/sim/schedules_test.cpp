// The table of schedules, what they refuse, and how stages are cut.
#include "trainplan/sim/schedules.hpp"

#include <numeric>
#include <set>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "order_checks.hpp"
#include "trainplan/sim/times.hpp"

using namespace trainplan::sim;

namespace {

Shape loop(int stages, int micro_batches, int chunks, int group) {
  Shape s = equal_shape(stages, micro_batches);
  s.chunks = chunks;
  s.group = group;
  return s;
}

Texts orders_of(const char* schedule, const Shape& s) { return texts(find_schedule(schedule)->orders(s)); }

struct Refused {
  const char* schedule;
  Shape shape;
  std::string_view field;
  int nearest;
};

}  // namespace

TEST_CASE("ids of schedules are unique, and a row is complete") {
  std::set<std::string_view> ids;
  for (const Schedule& s : schedules()) {
    INFO(s.id);
    CHECK(ids.insert(s.id).second);
    CHECK_FALSE(s.title.empty());
    CHECK(s.refusal != nullptr);
    CHECK(s.orders != nullptr);
    CHECK(find_schedule(s.id) == &s);
  }
  CHECK(find_schedule("no_such_schedule") == nullptr);
}

TEST_CASE("a row says whether its backward passes are split") {
  for (const Schedule& s : schedules()) {
    Shape shape = loop(2, 6, s.placement == Placement::Linear ? 1 : 2, 2);
    shape.memory = 4;
    INFO(s.id);
    REQUIRE_FALSE(s.refusal(shape));
    bool split = false;
    for (const std::string& line : texts(s.orders(shape)))
      split = split || line.find('W') != std::string::npos;
    CHECK(split == s.split);
  }
}

TEST_CASE("slots of two stages") {
  const Shape s = equal_shape(2, 3);
  CHECK(orders_of("gpipe", s)[0] == "F0.0 F1.0 F2.0 B0.0 B1.0 B2.0");
  CHECK(orders_of("fill_drain", s)[1] == "F0.0 F1.0 F2.0 B2.0 B1.0 B0.0");
  CHECK(orders_of("one_f1b", s) == Texts{"F0.0 F1.0 B0.0 F2.0 B1.0 B2.0", "F0.0 B0.0 F1.0 B1.0 F2.0 B2.0"});
  CHECK(orders_of("zb_h1", s) == Texts{"F0.0 F1.0 X0.0 W0.0 F2.0 X1.0 W1.0 X2.0 W2.0",
                                       "F0.0 X0.0 F1.0 X1.0 W0.0 F2.0 X2.0 W1.0 W2.0"});
  CHECK(orders_of("zb_h2", s)[0] == "F0.0 F1.0 F2.0 X0.0 W0.0 X1.0 W1.0 X2.0 W2.0");
  CHECK(orders_of("zb_h2", s)[1] == "F0.0 X0.0 F1.0 X1.0 F2.0 X2.0 W0.0 W1.0 W2.0");
  CHECK(orders_of("looped_bfs", loop(1, 2, 2, 1))[0] == "F0.0 F1.0 F0.1 F1.1 B1.1 B0.1 B1.0 B0.0");
  // A last group that is shorter than the others.
  CHECK(orders_of("interleaved", loop(1, 3, 2, 2))[0] ==
        "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 F2.0 B0.0 F2.1 B1.0 B2.1 B2.0");
  Shape lead = loop(2, 2, 1, 2);
  lead.lead = 1;
  CHECK(orders_of("interleaved", lead)[1] == "F0.0 F1.0 B0.0 B1.0");
  CHECK(orders_of("interleaved_zb", loop(2, 3, 1, 3)) == orders_of("zb_h1", s));
}

TEST_CASE("a shape that is not allowed comes with the nearest that is") {
  const Refused kCases[] = {
      {"zb_h1", equal_shape(4, 3), "micro_batches", 4},
      {"zb_h2", equal_shape(4, 6), "micro_batches", 7},
      {"interleaved", loop(4, 3, 2, 4), "micro_batches", 4},
      {"interleaved", loop(4, 8, 2, 3), "group", 4},
      {"interleaved", loop(4, 8, 2, 9), "group", 8},
      {"interleaved", loop(4, 9, 2, 4), "micro_batches", 8},
      {"interleaved", loop(4, 11, 2, 4), "micro_batches", 12},
      {"interleaved_zb", loop(4, 9, 2, 4), "micro_batches", 8},
      {"dualpipe_book", equal_shape(4, 7), "micro_batches", 8},
  };
  for (const Refused& c : kCases) {
    const auto refusal = find_schedule(c.schedule)->refusal(c.shape);
    INFO(c.schedule << ", " << c.shape.micro_batches << " micro-batches, group " << c.shape.group);
    REQUIRE(refusal);
    CHECK(refusal->field == c.field);
    CHECK(refusal->nearest == c.nearest);
    CHECK_FALSE(refusal->must.empty());
  }
  CHECK_FALSE(find_schedule("interleaved")->refusal(loop(4, 11, 2, 7)));
  CHECK_FALSE(find_schedule("one_f1b")->refusal(equal_shape(4, 1)));
}

TEST_CASE("a group shorter than the pipeline, or a short last one, is refused because it blocks or idles") {
  // What the rule keeps out: on four stages a group of 1 with two chunks.
  CHECK_FALSE(why_not(interleaved(loop(4, 8, 2, 1)), Placement::Loop, loop(4, 8, 2, 1)).empty());
}

TEST_CASE("torch takes as many rounds as the micro-batches fill") {
  CHECK(group_of_rounds(4, 8) == 4);
  CHECK(group_of_rounds(4, 10) == 5);
  CHECK(group_of_rounds(4, 3) == 3);
}

TEST_CASE("layers go to chunks as evenly as they can, and ticks with them") {
  CHECK(chunk_layers(9, 2) == std::vector<int>{5, 4});
  CHECK(chunk_layers(9, 4) == std::vector<int>{3, 2, 2, 2});
  Shape s = loop(1, 1, 2, 1);
  s.durations = {{90}, {10}, {7}, 0};
  const Times times = times_of(s, Placement::Loop, chunk_layers(9, 2));
  CHECK(times.chunk[0][0].forward == 50);
  CHECK(times.chunk[0][1].forward == 40);
  CHECK(times.chunk[0][0].of(Work::Backward) + times.chunk[0][1].of(Work::Backward) == 17);
  s.chunks = 2;
  CHECK(times_of(s, Placement::TwoDirections).chunk[0][1].forward == 90);
}
