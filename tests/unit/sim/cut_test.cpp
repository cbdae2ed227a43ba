// A clock on which nothing is rounded, names of schedules, and what is asked of one that was tried.
#include "trainplan/sim/cut.hpp"

#include <set>
#include <string>

#include "catch.hpp"
#include "trainplan/sim/schedule_names.hpp"

using namespace trainplan::sim;

TEST_CASE("a decimal text is a whole number of picoseconds") {
  CHECK(whole_picoseconds(0.01) == 10'000'000'000);
  CHECK(whole_picoseconds(0.0123456789) == 12'345'678'900);
  CHECK(whole_picoseconds(999.999999999999) == 999'999'999'999'999);
  CHECK(whole_picoseconds(0) == 0);
}

TEST_CASE("the longest tick that divides all times, nine parts of a stage among them") {
  ClockFinder finder(9);
  for (const double ms : {10, 20}) finder.add_shared(whole_picoseconds(ms / 1e3));
  for (const double ms : {1, 1}) finder.add(whole_picoseconds(ms / 1e3));
  CHECK(finder.clock().numerator == 1'000'000'000);  // 1/9 ms
  CHECK(finder.clock().denominator == 9);
  CHECK(finder.ticks(whole_picoseconds(0.01)) == 90);
  CHECK(finder.ticks(whole_picoseconds(0.001)) == 9);
  CHECK(finder.clock().seconds(893 * 3) == Approx(893e-3 / 3).epsilon(1e-15));
}

TEST_CASE("a pipeline whose times are all nothing has a tick all the same") {
  const ClockFinder finder(4);
  CHECK(finder.clock().numerator > 0);
  CHECK(finder.ticks(0) == 0);
}

TEST_CASE("every name leads to one schedule, however it is spelled") {
  std::set<std::string> seen;
  for (const ScheduleAlias& a : schedule_aliases()) {
    CAPTURE(a.name);
    REQUIRE(find_schedule(a.id) != nullptr);
    CHECK(schedule_named(a.name) == find_schedule(a.id));
    CHECK(seen.insert(detail::plain_name(a.name)).second);
  }
  for (const Schedule& s : schedules()) CHECK(schedule_named(s.id) == &s);
  for (const char* text : {"1f1b", "1F1B", "one-f1b", "ONE_F1B"})
    CHECK(schedule_named(text)->id == "one_f1b");
  CHECK(schedule_named("interleaved1f1b")->id == "interleaved");
  CHECK(schedule_named("ZBVZeroBubble")->id == "zbv");
  CHECK(schedule_named("dualPipeV")->id == "dualpipev");
  CHECK(schedule_named("AFAB")->id == "gpipe");
  CHECK(schedule_named("") == nullptr);
  CHECK(schedule_named("zb-h3") == nullptr);
}
