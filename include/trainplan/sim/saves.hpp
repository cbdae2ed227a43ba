/// Asynchronous saving as events: capture, copy, a writer that takes snapshots in order, commit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "trainplan/sim/slot.hpp"

namespace trainplan::sim {

/// buffers: snapshots that host memory holds at a time; without a number as many as it takes.
struct SaveTimes {
  Ticks interval = 0, copy = 0, write = 0;
  std::optional<int> buffers{};
};

/// Training stands still from `due` to `copied`: it waits for a buffer until `captured`, then copies. Nothing
/// of a snapshot can be loaded before `committed`.
struct Save {
  Ticks due = 0, captured = 0, copied = 0, started = 0, committed = 0;

  Ticks pause() const { return copied - due; }
};

/// The first `count` saves of a run. Snapshot k is due at k intervals of wall-clock time, or when the pause
/// of the one before is over.
inline std::vector<Save> asynchronous_saves(const SaveTimes& times, int count) {
  std::vector<Save> out;
  Ticks writer = 0, running = 0;
  for (int k = 0; k < count; ++k) {
    Save s;
    s.due = s.captured = std::max((k + 1) * times.interval, running);
    if (times.buffers && k >= *times.buffers)
      s.captured = std::max(s.due, out[static_cast<std::size_t>(k - *times.buffers)].committed);
    s.copied = running = s.captured + times.copy;
    s.started = std::max(s.copied, writer);
    s.committed = writer = s.started + times.write;
    out.push_back(s);
  }
  return out;
}

/// The state that a failure leaves to start from: the moment of the last snapshot that was committed by then,
/// 0 for the start of the run.
inline Ticks recovery_point(std::span<const Save> saves, Ticks failure) {
  Ticks point = 0;
  for (const Save& s : saves)
    if (s.committed <= failure) point = s.captured;
  return point;
}

/// For how long training stands still by `end`.
inline Ticks paused_until(std::span<const Save> saves, Ticks end) {
  Ticks out = 0;
  for (const Save& s : saves) out += std::min(s.copied, end) - std::min(s.due, end);
  return out;
}

/// Those that are captured before `end`.
inline std::vector<Save> captured_before(std::span<const Save> saves, Ticks end) {
  std::vector<Save> out;
  std::ranges::copy_if(saves, std::back_inserter(out), [&](const Save& s) { return s.captured < end; });
  return out;
}

/// Saves pile up: each is committed later after its capture than the one before, without end; or, with so
/// many buffers, it is captured later after it was due. A buffer is taken for a copy and a write.
constexpr bool piles_up(const SaveTimes& times) {
  return times.write > times.interval ||
         (times.buffers && times.copy + times.write > *times.buffers * times.interval);
}

/// Saves that are due by `end`.
constexpr int saves_until(const SaveTimes& times, Ticks end) {
  return times.interval > 0 ? static_cast<int>(end / times.interval) : 0;
}

}  // namespace trainplan::sim
