/// Stragglers: a synchronous step takes as long as its slowest rank. Times of ranks are independent normals.
#pragma once

#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula slowest_rank{
    "slowest_rank", "by how many standard deviations the slowest rank exceeds the mean",
    Source{"order-statistics", "expected largest of n independent normal numbers"},
    std::array{Arg{"ranks", "n", "ranks", 1, 1e12}},
    []<class N>(Count<N> ranks) { return normal_max(ranks); }};

inline constexpr Formula synchronous_step{
    "synchronous_step", "step that waits for the slowest rank",
    Source{"order-statistics", "mean + sigma E_max(n) + overhead"},
    std::array{Arg{"mean", "mu", "mean time of a rank"},
               Arg{"sigma", "sigma", "standard deviation between ranks and steps"},
               Arg{"ranks", "n", "ranks", 1, 1e12},
               Arg{"overhead", "T_0", "what every rank adds, communication"}},
    []<class N>(Seconds<N> mean, Seconds<N> sigma, Count<N> ranks, Seconds<N> overhead) {
      return mean + sigma * normal_max(ranks) + overhead;
    }};

inline constexpr Formula noise_wait{
    "noise_wait", "time of a step that ranks wait for the slowest",
    Source{"order-statistics", "sigma E_max(n)"},
    std::array{Arg{"sigma", "sigma", "standard deviation between ranks and steps"},
               Arg{"ranks", "n", "ranks", 1, 1e12}},
    []<class N>(Seconds<N> sigma, Count<N> ranks) { return sigma * normal_max(ranks); }};

inline constexpr Formula slow_rank_wait{
    "slow_rank_wait", "what one rank that is always slow adds to a step",
    Source{"order-statistics", "sigma max(0, k - E_max(n - 1)): beyond the wait for the others"},
    std::array{Arg{"slow", "k", "standard deviations by which it is slow"},
               Arg{"sigma", "sigma", "standard deviation between ranks and steps"},
               Arg{"ranks", "n", "ranks with the slow one", 2, 1e12}},
    []<class N>(Count<N> slow, Seconds<N> sigma, Count<N> ranks) {
      return sigma * positive(slow - normal_max(ranks - 1.0));
    }};

inline constexpr Formula redistributed_step{
    "redistributed_step", "step when the other ranks take over the work of one",
    Source{"order-statistics", "mean n/(n-1) + sigma E_max(n - 1) + overhead; sigma as before"},
    std::array{Arg{"mean", "mu", "mean time of a rank"},
               Arg{"sigma", "sigma", "standard deviation between ranks and steps"},
               Arg{"ranks", "n", "ranks with the slow one", 2, 1e12},
               Arg{"overhead", "T_0", "what every rank adds, communication"}},
    []<class N>(Seconds<N> mean, Seconds<N> sigma, Count<N> ranks, Seconds<N> overhead) {
      return mean * ranks / (ranks - 1.0) + sigma * normal_max(ranks - 1.0) + overhead;
    }};

inline constexpr Formula redistribution_limit{
    "redistribution_limit", "standard deviations of slowness from which handing over the work pays",
    Source{"order-statistics", "E_max(n - 1) + mean / ((n - 1) sigma)"},
    std::array{Arg{"mean", "mu", "mean time of a rank"},
               Arg{"sigma", "sigma", "standard deviation between ranks and steps", 1e-9},
               Arg{"ranks", "n", "ranks with the slow one", 2, 1e12}},
    []<class N>(Seconds<N> mean, Seconds<N> sigma, Count<N> ranks) {
      return normal_max(ranks - 1.0) + mean / ((ranks - 1.0) * sigma);
    }};

using StragglerFormulas = Chapter<slowest_rank, synchronous_step, noise_wait, slow_rank_wait,
                                  redistributed_step, redistribution_limit>;

}  // namespace trainplan
