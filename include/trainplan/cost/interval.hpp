/// How often to save: optima of increasing order, how flat they are, and where one interval overtakes
/// another.
#pragma once

#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula retry_interval{
    "retry_interval", "checkpoint interval where failures are Poisson and a failed interval is tried again",
    Source{"daly-2006", "zero of y - 1 + exp(-y - delta / M), interval y M"},
    std::array{Arg{"delta", "delta", "time that one save costs"},
               Arg{"mtbf", "M", "mean time between failures of the job", 1e-9}},
    []<class N>(Seconds<N> delta, Seconds<N> mtbf) {
      return (1.0 + lambert_w(-1.0 * exp(-1.0 * (1.0 + delta / mtbf)))) * mtbf;
    }};

using IntervalFormulas = Chapter<retry_interval>;

}  // namespace trainplan
