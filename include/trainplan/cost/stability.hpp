/// Loss spikes and number formats: what a rollback costs and how coarse a format is.
#pragma once

#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula spike_cost_worst{
    "spike_cost_worst", "steps computed twice after a loss spike, at worst",
    Source{"palm-2022",
           "section 5.1: restart about 100 steps before the spike; the checkpoint may be an interval older"},
    std::array{Arg{"back", "k", "least age of the checkpoint, in steps"},
               Arg{"interval", "tau", "steps between checkpoints"},
               Arg{"noticed", "w", "steps until the spike is noticed"}},
    []<class N>(Count<N> back, Count<N> interval, Count<N> noticed) { return back + interval + noticed; }};

inline constexpr Formula spike_cost_mean{"spike_cost_mean",
                                         "steps computed twice after a loss spike, on average",
                                         Source{"palm-2022", "section 5.1; half an interval on average"},
                                         std::array{Arg{"back", "k", "least age of the checkpoint, in steps"},
                                                    Arg{"interval", "tau", "steps between checkpoints"},
                                                    Arg{"noticed", "w", "steps until the spike is noticed"}},
                                         []<class N>(Count<N> back, Count<N> interval, Count<N> noticed) {
                                           return back + interval / 2.0 + noticed;
                                         }};

inline constexpr Formula spike_cost_least{
    "spike_cost_least", "steps computed twice after a loss spike, at best",
    Source{"palm-2022", "section 5.1: the checkpoint is just old enough"},
    std::array{Arg{"back", "k", "least age of the checkpoint, in steps"},
               Arg{"noticed", "w", "steps until the spike is noticed"}},
    []<class N>(Count<N> back, Count<N> noticed) { return back + noticed; }};

inline constexpr Formula spike_share{
    "spike_share", "share of a run lost to loss spikes",
    Source{"identity", "spikes x steps of each / steps of the run"},
    std::array{Arg{"spikes", "n", "spikes"}, Arg{"cost", "c", "steps that one spike costs"},
               Arg{"steps", "n_step", "steps of the run", 1}},
    []<class N>(Count<N> spikes, Count<N> cost, Count<N> steps) { return spikes * cost / steps; }};

inline constexpr Formula rounding_error{
    "rounding_error", "largest relative error of rounding to a number format",
    Source{"kalamkar-2019", "half a gap: 1 / (2 x values from 1 to 2)"},
    std::array{Arg{"values", "n", "numbers from 1 to 2: 128 in bf16, 1024 in fp16", 1}},
    []<class N>(Count<N> values) { return 1.0 / (2.0 * values); }};

using StabilityFormulas =
    Chapter<spike_cost_worst, spike_cost_mean, spike_cost_least, spike_share, rounding_error>;

}  // namespace trainplan
