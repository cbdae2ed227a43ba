/// What a change buys: of a format, of some layers, and of 1 % of an input.
#pragma once

#include <array>

#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula time_cut{
    "time_cut", "share of a time that a faster way saves", Source{"identity", "1 - fast / slow"},
    std::array{Arg{"slow", "T_1", "time of the slow way", 1e-12}, Arg{"fast", "T_2", "time of the fast way"}},
    []<class N>(Seconds<N> slow, Seconds<N> fast) { return 1.0 - fast / slow; }};

inline constexpr Formula pro_rata{
    "pro_rata", "effect of some layers, where that of all is known",
    Source{"rule-of-thumb", "k of L_s layers have k / L_s of the effect"},
    std::array{Arg{"layers", "k", "layers of a stage that change"},
               Arg{"all", "L_s", "layers of the stage", 1}, Arg{"effect", "f", "effect of all of them"}},
    []<class N>(Count<N> layers, Count<N> all, Count<N> effect) { return layers / all * effect; }};

inline constexpr Formula time_elasticity{
    "time_elasticity", "per cent that a time changes by for each per cent of an input",
    Source{"identity", "d log T / d log x, from a larger and a smaller x"},
    std::array{Arg{"above", "T_up", "time with the larger input", 1e-12},
               Arg{"below", "T_down", "time with the smaller input", 1e-12},
               Arg{"ratio", "f_x", "larger input over the smaller one", 1.0001}},
    []<class N>(Seconds<N> above, Seconds<N> below, Count<N> ratio) {
      return log2(above / below) / log2(ratio);
    }};

using SensitivityFormulas = Chapter<time_cut, pro_rata, time_elasticity>;

}  // namespace trainplan
