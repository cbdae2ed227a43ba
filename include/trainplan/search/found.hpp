/// What a search is asked for, and what it has found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "trainplan/search/best.hpp"

namespace trainplan {

/// What the best plan has most, or least, of. With one cluster and one batch MFU, GPU-hours and dollars are
/// best where the step is shortest.
enum class Objective : std::uint8_t { Step, Mfu, GpuHours, Dollars, Headroom, FewestGpus };
inline constexpr std::string_view kObjectiveNames[] = {"step",    "mfu",      "gpu-hours",
                                                       "dollars", "headroom", "fewest-gpus"};
constexpr std::string_view name_of(Objective o) { return kObjectiveNames[static_cast<int>(o)]; }

/// top: plans to keep. slower: share that a plan of the front may be slower than the fastest by. over: share
/// of the gate that a near miss may lie above it. bounds: whether plans are cut by them; the answer is the
/// same.
struct SearchOptions {
  std::size_t top = 20;
  double slower = 0.25, over = 0.1;
  bool bounds = true;
  Objective objective = Objective::Step;
};

/// legal = evaluated + slow + beaten + large: the last three were cut by a bound, of the step, of step and
/// memory together, of the memory. fit, tight, not_fit: of those evaluated. above: whose memory was worked
/// out and is above the gate, evaluated further or not; by_state: those whose model state alone is above it;
/// by_activations: those that the activations in flight bring above it; by_working: those that what runs
/// does.
struct SearchCounts {
  std::uint64_t legal = 0, evaluated = 0, slow = 0, beaten = 0, large = 0;
  std::uint64_t fit = 0, tight = 0, not_fit = 0;
  std::uint64_t above = 0, by_state = 0, by_activations = 0, by_working = 0;

  SearchCounts& operator+=(const SearchCounts& o) {
    for (const auto m : {&SearchCounts::legal, &SearchCounts::evaluated, &SearchCounts::slow,
                         &SearchCounts::beaten, &SearchCounts::large, &SearchCounts::fit,
                         &SearchCounts::tight, &SearchCounts::not_fit, &SearchCounts::above,
                         &SearchCounts::by_state, &SearchCounts::by_activations, &SearchCounts::by_working})
      this->*m += o.*m;
    return *this;
  }
};

/// Memory that the best plans may use.
enum class Room : std::uint8_t { Planned, Gate, None };

/// best: fastest first, within the room. front: within the gate, none both slower and larger than another.
/// near: above the gate by little and faster than all within it. smallest: least memory first, where nothing
/// fits or headroom is asked for.
struct Found {
  Room room = Room::Planned;
  Best best, near, smallest;
  Front front{512};
  SearchCounts counts;

  explicit Found(const SearchOptions& o)
      : best(o.top, faster), near(o.top, faster), smallest(o.top, leaner) {}
  void merge(const Found& o) {
    for (const Candidate& c : o.best.kept()) best.offer(c);
    for (const Candidate& c : o.near.kept()) near.offer(c);
    for (const Candidate& c : o.smallest.kept()) smallest.offer(c);
    for (const Candidate& c : o.front.kept()) front.offer(c);
    counts += o.counts;
  }
};

}  // namespace trainplan
