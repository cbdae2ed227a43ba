/// What frameworks and papers call the schedules.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "trainplan/sim/schedules.hpp"

namespace trainplan::sim {

/// Capitals, '-' and '_' make no difference. where: who spells it so.
struct ScheduleAlias {
  std::string_view name, id, where;
};

namespace detail {

inline constexpr std::array kScheduleAliases{
    ScheduleAlias{"GPipe", "gpipe", "torch"},
    ScheduleAlias{"afab", "gpipe", "nanotron"},
    ScheduleAlias{"fill-drain", "fill_drain", "GPipe paper"},
    ScheduleAlias{"1F1B", "one_f1b", "Megatron-LM, torch, nanotron"},
    ScheduleAlias{"TrainSchedule", "one_f1b", "DeepSpeed"},
    ScheduleAlias{"PipeDream-Flush", "one_f1b", "Megatron paper"},
    ScheduleAlias{"Interleaved1F1B", "interleaved", "torch"},
    ScheduleAlias{"1F1B-I", "interleaved", "zero-bubble paper"},
    ScheduleAlias{"LoopedBFS", "looped_bfs", "torch"},
    ScheduleAlias{"InterleavedZeroBubble", "interleaved_zb", "torch"},
    ScheduleAlias{"ZB-H1", "zb_h1", "zero-bubble paper"},
    ScheduleAlias{"ZB-H2", "zb_h2", "zero-bubble paper"},
    ScheduleAlias{"ZB-1p", "zb_auto", "zero-bubble paper"},
    ScheduleAlias{"ZBVZeroBubble", "zbv", "torch"},
    ScheduleAlias{"ZB-V", "zbv", "zero-bubble paper"},
    ScheduleAlias{"V-Min", "v_min", "controllable-memory paper"},
    ScheduleAlias{"V-Half", "v_half", "controllable-memory paper"},
    ScheduleAlias{"V-ZB", "v_zb", "controllable-memory paper"},
    ScheduleAlias{"DualPipe", "dualpipe", "DeepSeek"},
    ScheduleAlias{"DualPipeV", "dualpipev", "torch, DeepSeek"},
};

inline std::string plain_name(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != '-' && c != '_' && c != ' ') out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

}  // namespace detail

constexpr std::span<const ScheduleAlias> schedule_aliases() { return detail::kScheduleAliases; }

/// The schedule of that id or alias, or nullptr.
inline const Schedule* schedule_named(std::string_view name) {
  const std::string wanted = detail::plain_name(name);
  for (const Schedule& s : schedules())
    if (detail::plain_name(s.id) == wanted) return &s;
  for (const ScheduleAlias& a : schedule_aliases())
    if (detail::plain_name(a.name) == wanted) return find_schedule(a.id);
  return nullptr;
}

}  // namespace trainplan::sim
