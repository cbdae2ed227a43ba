/// A measured step and its seven items, as the user gives them: where the time of a step goes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trainplan {

/// In the order of the step ledger.
enum class LossItem : std::uint8_t { Bubble, ExposedComm, Recompute, DataWait, Kernel, Launch, Straggler };
inline constexpr std::size_t kLossItems = 7;
inline constexpr std::array<LossItem, kLossItems> kAllLossItems{
    LossItem::Bubble, LossItem::ExposedComm, LossItem::Recompute, LossItem::DataWait,
    LossItem::Kernel, LossItem::Launch,      LossItem::Straggler};
inline constexpr std::array<std::string_view, kLossItems> kLossItemNames{
    "bubble", "exposed_comm", "recompute", "data_wait", "kernel", "launch", "straggler"};
inline constexpr std::array<std::string_view, kLossItems> kLossItemTitles{
    "pipeline bubble", "exposed communication",      "recompute",   "data wait",
    "kernels",         "host launch the GPU awaits", "slowest rank"};
constexpr std::size_t index_of(LossItem i) { return static_cast<std::size_t>(i); }
constexpr std::string_view name_of(LossItem i) { return kLossItemNames[index_of(i)]; }
constexpr std::string_view title_of(LossItem i) { return kLossItemTitles[index_of(i)]; }

/// What has to be touched to repair an item, in the order of repair: the cheapest first.
enum class Repair : std::uint8_t { Configuration, Hardware, Data, Structure };
inline constexpr std::array<Repair, 4> kRepairs{Repair::Configuration, Repair::Hardware, Repair::Data,
                                                Repair::Structure};
inline constexpr std::string_view kRepairNames[] = {"configuration", "hardware", "data", "structure"};
constexpr std::string_view name_of(Repair r) { return kRepairNames[static_cast<int>(r)]; }
constexpr Repair repair_of(LossItem item) {
  switch (item) {
    case LossItem::Bubble: return Repair::Structure;
    case LossItem::ExposedComm:
    case LossItem::Recompute:
    case LossItem::Kernel:
    case LossItem::Launch: return Repair::Configuration;
    case LossItem::DataWait: return Repair::Data;
    case LossItem::Straggler: return Repair::Hardware;
  }
  return Repair::Configuration;
}

/// A figure and whether the command line gave it, which has the last word.
struct Stated {
  double value = 0;
  bool option = false;
};
using StatedItems = std::array<std::optional<Stated>, kLossItems>;

/// Seconds; target_mfu a fraction, points as quoted ("10 points"). `kernel` is the whole time of the kernels,
/// the ideal included.
struct GapSpec {
  std::optional<Stated> measured, target_step, target_mfu, points;
  StatedItems items, budget;
};

}  // namespace trainplan
