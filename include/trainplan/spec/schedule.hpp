/// Pipeline schedules that frameworks offer, and what tells them apart before any order is laid out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace trainplan {

enum class Schedule : std::uint8_t { GPipe, OneFOneB, Interleaved, LoopedBfs, InterleavedZb, ZbV, DualPipeV };
inline constexpr std::string_view kScheduleNames[] = {"gpipe",          "1f1b", "interleaved", "looped-bfs",
                                                      "interleaved-zb", "zbv",  "dualpipev"};
inline constexpr std::size_t kScheduleCount = std::size(kScheduleNames);
constexpr std::string_view name_of(Schedule s) { return kScheduleNames[static_cast<int>(s)]; }

/// Bit set of schedules.
using Schedules = std::uint8_t;
constexpr Schedules bit(Schedule s) { return static_cast<Schedules>(1u << static_cast<int>(s)); }

/// Virtual stages run down the ranks and up again: both ends of the model lie on stage 0.
constexpr bool is_vee(Schedule s) { return s == Schedule::ZbV || s == Schedule::DualPipeV; }
/// Virtual stage q lies on stage q mod p.
constexpr bool is_loop(Schedule s) {
  return s == Schedule::Interleaved || s == Schedule::LoopedBfs || s == Schedule::InterleavedZb;
}
/// Several virtual stages on each rank.
constexpr bool has_chunks(Schedule s) { return is_vee(s) || is_loop(s); }
inline constexpr Schedules kChunkedSchedules = bit(Schedule::Interleaved) | bit(Schedule::LoopedBfs) |
                                               bit(Schedule::InterleavedZb) | bit(Schedule::ZbV) |
                                               bit(Schedule::DualPipeV);
/// Gradients of inputs and of weights are passes of their own.
constexpr bool splits_backward(Schedule s) { return s == Schedule::InterleavedZb || is_vee(s); }
/// Micro-batches pass in groups, each of which visits all virtual stages before the next one starts.
constexpr bool in_groups(Schedule s) { return s == Schedule::Interleaved || s == Schedule::InterleavedZb; }

}  // namespace trainplan
