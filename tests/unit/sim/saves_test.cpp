#include "trainplan/sim/saves.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "catch.hpp"

using namespace trainplan::sim;

namespace {

/// 112 GB every 20 s with 0.5 s to copy: 16 s at 7 GB/s, 5.6 s at 20 GB/s. In tenths of a second.
constexpr SaveTimes kSlow{.interval = 200, .copy = 5, .write = 160},
    kFast{.interval = 200, .copy = 5, .write = 56};

/// Snapshots that are captured and not committed at that moment.
std::ptrdiff_t waiting(const std::vector<Save>& saves, Ticks at) {
  return std::ranges::count_if(saves, [&](const Save& s) { return s.captured <= at && s.committed > at; });
}

}  // namespace

TEST_CASE("a snapshot counts only once it is committed") {
  const auto slow = asynchronous_saves(kSlow, 2), fast = asynchronous_saves(kFast, 2);
  CHECK(slow[0].committed == 365);
  CHECK(slow[1].committed == 565);
  CHECK(recovery_point(slow, 500) == 200);
  CHECK(recovery_point(slow, 565) == 400);
  CHECK(recovery_point(slow, 364) == 0);
  CHECK(fast[0].committed == 261);
  CHECK(fast[1].committed == 461);
  CHECK(recovery_point(fast, 500) == 400);
  CHECK(slow[0].pause() + slow[1].pause() == 10);
  CHECK(saves_until(kSlow, 500) == 2);
  CHECK(saves_until(kSlow, 199) == 0);
}

TEST_CASE("the writer takes one snapshot after the other, and too slow a writer falls behind without end") {
  const SaveTimes times{.interval = 100, .copy = 5, .write = 160};
  CHECK(piles_up(times));
  CHECK_FALSE(piles_up(kSlow));
  const auto saves = asynchronous_saves(times, 20);
  for (std::size_t k = 1; k < saves.size(); ++k) {
    CHECK(saves[k].started == saves[k - 1].committed);
    CHECK(saves[k].committed - saves[k].captured == saves[k - 1].committed - saves[k - 1].captured + 60);
    CHECK(saves[k].pause() == times.copy);
  }
  CHECK(waiting(saves, 2000) > waiting(saves, 1000));
  CHECK(waiting(asynchronous_saves(kSlow, 20), 3850) == 1);
}

TEST_CASE("a bounded number of buffers makes training wait in place of the queue") {
  SaveTimes times{.interval = 100, .copy = 5, .write = 160, .buffers = 1};
  auto saves = asynchronous_saves(times, 4);
  CHECK(saves[1].due == 200);
  CHECK(saves[1].captured == 265);  // when the first is committed
  CHECK(saves[1].pause() == 70);
  CHECK(saves[2].captured == saves[1].committed);

  times.buffers = 2;
  saves = asynchronous_saves(times, 5);
  CHECK(saves[1].pause() == 5);
  CHECK(saves[2].due == 300);
  CHECK(saves[2].captured == 300);
  CHECK(saves[3].captured == saves[1].committed);
  for (const Save& s : saves) CHECK(waiting(saves, s.captured) <= 2);
}

TEST_CASE("nothing is captured and nobody waits after the end") {
  SaveTimes times{.interval = 100, .copy = 5, .write = 160, .buffers = 2};
  const auto saves = asynchronous_saves(times, saves_until(times, 1000));
  CHECK(saves.size() == 10);
  CHECK(captured_before(saves, 1000).size() == 7);  // the eighth waits for a buffer until 1065
  CHECK(captured_before(saves, 1000).back().captured == 905);
  CHECK(paused_until(saves, 1000) == 535);  // seven copies, waits of 500: by hand
  times = {.interval = 200, .copy = 50, .write = 160, .buffers = 1};
  CHECK(paused_until(asynchronous_saves(times, saves_until(times, 1000)), 1000) == 260);
}

TEST_CASE("a buffer that is taken for longer than its turn makes every save wait") {
  SaveTimes times{.interval = 200, .copy = 50, .write = 160, .buffers = 1};
  CHECK(piles_up(times));
  times.buffers = 2;
  CHECK_FALSE(piles_up(times));
  times.buffers.reset();
  CHECK_FALSE(piles_up(times));
}
