/// The schedules that trainplan knows. A new one is a header in sim/orders/ and a row here.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "trainplan/sim/orders/dualpipe.hpp"
#include "trainplan/sim/orders/gpipe.hpp"
#include "trainplan/sim/orders/interleaved.hpp"
#include "trainplan/sim/orders/looped_bfs.hpp"
#include "trainplan/sim/orders/one_f1b.hpp"
#include "trainplan/sim/orders/two_flows.hpp"
#include "trainplan/sim/orders/v_search.hpp"
#include "trainplan/sim/orders/vee.hpp"
#include "trainplan/sim/orders/zb_auto.hpp"
#include "trainplan/sim/orders/zbv.hpp"
#include "trainplan/sim/schedule.hpp"

namespace trainplan::sim {

namespace detail {

using enum Placement;
inline constexpr bool kWhole = false, kSplit = true;

inline constexpr std::array kSchedules{
    Schedule{"gpipe", "all forwards, then all backwards", Linear, kWhole, any_shape, gpipe},
    Schedule{"fill_drain", "all forwards, then all backwards in reverse", Linear, kWhole, any_shape,
             fill_drain},
    Schedule{"one_f1b", "one forward, one backward", Linear, kWhole, any_shape, one_f1b},
    Schedule{"interleaved", "1F1B over several chunks of a stage", Loop, kWhole, groups_fill, interleaved},
    Schedule{"looped_bfs", "breadth-first over several chunks of a stage", Loop, kWhole, any_shape,
             looped_bfs},
    Schedule{"interleaved_zb", "interleaved with weight gradients put off", Loop, kSplit, groups_fill,
             interleaved_zb},
    Schedule{"zb_h1", "zero bubble with the memory of 1F1B", Linear, kSplit, at_least_stages, zb_h1},
    Schedule{"zb_h2", "zero bubble with twice the memory of 1F1B", Linear, kSplit, fills_two_ways, zb_h2},
    Schedule{"zb_auto", "zero bubble as a memory limit allows", Linear, kSplit, holds_a_set, zb_auto},
    Schedule{"zbv", "zero bubble on a V, laid out by hand", Vee, kSplit, fills_two_ways, zbv},
    Schedule{"v_min", "a V with a third of the memory of 1F1B", Vee, kSplit, any_shape, v_min},
    Schedule{"v_half", "a V with half of the memory of 1F1B", Vee, kSplit, any_shape, v_half},
    Schedule{"v_zb", "a V with the memory of 1F1B and no bubble", Vee, kSplit, fills_two_ways, v_zb},
    Schedule{"v_search", "the shortest V that a memory limit allows", Vee, kSplit, holds_a_v, v_search},
    Schedule{"dualpipe", "two directions, forwards paired with backwards", TwoDirections, kSplit, halves_meet,
             dualpipe},
    Schedule{"dualpipev", "a V, forwards paired with backwards", Vee, kSplit, fills_the_pairs, dualpipev},
    Schedule{"dualpipe_book", "two directions, each in its own 1F1B order", TwoDirections, kSplit,
             even_micro_batches, two_flows},
};

}  // namespace detail

constexpr std::span<const Schedule> schedules() { return detail::kSchedules; }

/// The schedule of that id, or nullptr.
constexpr const Schedule* find_schedule(std::string_view id) {
  for (const Schedule& schedule : schedules())
    if (schedule.id == id) return &schedule;
  return nullptr;
}

}  // namespace trainplan::sim
