/// A run as a whole: steps, days, what fits a deadline or a budget, what spares and loss spikes change.
#pragma once

#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula joint_mtbf{
    "joint_mtbf", "mean time between events of two kinds", Source{"identity", "rates add"},
    std::array{Arg{"one", "M_1", "mean time between events of one kind", 1e-9},
               Arg{"other", "M_2", "mean time between events of the other", 1e-9}},
    []<class N>(Seconds<N> one, Seconds<N> other) { return one * other / (one + other); }};

using LongRunFormulas = Chapter<joint_mtbf>;

}  // namespace trainplan
