/// Memory of phases that follow one another: what is alive together adds, what is not takes the larger.
#pragma once

#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula alive_together{
    "alive_together", "memory of two things that are alive at the same time", Source{"identity", "a sum"},
    std::array{Arg{"one", "M_1", "bytes of one"}, Arg{"other", "M_2", "bytes of the other"}},
    []<class N>(Bytes<N> one, Bytes<N> other) { return one + other; }};

inline constexpr Formula alive_in_turn{
    "alive_in_turn", "memory of two things of which one is gone before the other comes",
    Source{"identity", "the larger"},
    std::array{Arg{"one", "M_1", "bytes of one"}, Arg{"other", "M_2", "bytes of the other"}},
    []<class N>(Bytes<N> one, Bytes<N> other) { return max(one, other); }};

inline constexpr Formula switch_peak{
    "switch_peak", "peak of a switch from training to generation that frees before it allocates",
    Source{"hybridflow-2024", "weights arrive, training state goes, then the cache of keys and values comes"},
    std::array{Arg{"train", "M_train", "training state and activations"},
               Arg{"weights", "M_w", "weights in the layout of generation"},
               Arg{"cache", "M_kv", "cache of keys and values"},
               Arg{"shared", "M_shared", "what both phases keep"}},
    []<class N>(Bytes<N> train, Bytes<N> weights, Bytes<N> cache, Bytes<N> shared) {
      return max(train, cache) + weights + shared;
    }};

inline constexpr Formula memory_left{"memory_left", "memory that is left beside what is used",
                                     Source{"identity", "usable - used; negative when it does not fit"},
                                     std::array{Arg{"usable", "M_usable", "memory that can be used"},
                                                Arg{"used", "M_used", "memory that is used"}},
                                     []<class N>(Bytes<N> usable, Bytes<N> used) { return usable - used; }};

using PhaseFormulas = Chapter<alive_together, alive_in_turn, switch_peak, memory_left>;

}  // namespace trainplan
