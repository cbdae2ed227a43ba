/// How often to save: optima of increasing order, how flat they are, and where one interval overtakes
/// another.
#pragma once

#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula restart_interval{
    "restart_interval", "checkpoint interval, first order with the recovery beside it",
    Source{"daly-2006", "section 3: sqrt(2 delta (M + R)) - delta, for delta well below M"},
    std::array{Arg{"delta", "delta", "time that one save costs"},
               Arg{"mtbf", "M", "mean time between failures of the job"},
               Arg{"recovery", "R", "time to notice, restart and load"}},
    []<class N>(Seconds<N> delta, Seconds<N> mtbf, Seconds<N> recovery) {
      return sqrt(2.0 * delta * (mtbf + recovery)) - delta;
    }};

inline constexpr Formula daly_interval{
    "daly_interval", "checkpoint interval, higher order",
    Source{"daly-2006", "equation 37; M from a delta of 2 M on, where floor(min(delta/(2M), 1)) is 1"},
    std::array{Arg{"delta", "delta", "time that one save costs"},
               Arg{"mtbf", "M", "mean time between failures of the job", 1e-9}},
    []<class N>(Seconds<N> delta, Seconds<N> mtbf) {
      const auto half = delta / (2.0 * mtbf);
      const auto beyond = floor(min(half, Count<N>{N(1.0)}));
      return (1.0 - beyond) * (sqrt(2.0 * delta * mtbf) * (1.0 + sqrt(half) / 3.0 + half / 9.0) - delta) +
             beyond * mtbf;
    }};

inline constexpr Formula retry_interval{
    "retry_interval", "checkpoint interval where failures are Poisson and a failed interval is tried again",
    Source{"daly-2006", "zero of y - 1 + exp(-y - delta / M), interval y M"},
    std::array{Arg{"delta", "delta", "time that one save costs"},
               Arg{"mtbf", "M", "mean time between failures of the job", 1e-9}},
    []<class N>(Seconds<N> delta, Seconds<N> mtbf) {
      return (1.0 + lambert_w(-1.0 * exp(-1.0 * (1.0 + delta / mtbf)))) * mtbf;
    }};

inline constexpr Formula retry_goodput{
    "retry_goodput",
    "goodput where failures are Poisson and strike saves and recoveries too",
    Source{"daly-2006", "complete wall-clock time: M exp(R/M) (exp((tau + delta)/M) - 1) for each tau"},
    std::array{Arg{"delta", "delta", "time that one save costs"},
               Arg{"tau", "tau", "interval between saves", 1e-9},
               Arg{"mtbf", "M", "mean time between failures of the job", 1e-3},
               Arg{"recovery", "R", "time to notice, restart and load"}},
    []<class N>(Seconds<N> delta, Seconds<N> tau, Seconds<N> mtbf, Seconds<N> recovery) {
      return tau / mtbf * exp(-1.0 * (recovery / mtbf)) / (exp((tau + delta) / mtbf) - 1.0);
    },
    Unit::Share};

inline constexpr Formula crowding{
    "crowding", "how close failures follow each other: an interval with its save and a recovery, over M",
    Source{"daly-2006", "(tau + delta + R) / M; first order wants it well below 1"},
    std::array{Arg{"delta", "delta", "time that one save costs"}, Arg{"tau", "tau", "interval between saves"},
               Arg{"mtbf", "M", "mean time between failures of the job", 1e-9},
               Arg{"recovery", "R", "time to notice, restart and load"}},
    []<class N>(Seconds<N> delta, Seconds<N> tau, Seconds<N> mtbf, Seconds<N> recovery) {
      return (tau + delta + recovery) / mtbf;
    }};

/// How far the five terms may be from Daly's complete form, which agrees with a simulated job at every rate,
/// before that is told: docs/howto/forecast-a-long-run.md.
inline constexpr double kFirstOrderError = 0.006;

namespace detail {

inline constexpr std::array kFlatArgs{Arg{"delta", "delta", "time that one save costs"},
                                      Arg{"mtbf", "M", "mean time between failures of the job"},
                                      Arg{"fixed", "x", "share lost whatever the interval", 0, 1},
                                      Arg{"goodput", "g", "goodput that is wanted; at most the best", 0, 1}};

/// Half of the distance between the roots of (1 - x - tau/(2 M)) / (1 + delta/tau) = g; rest: 1 - x - g.
template <class N>
Seconds<N> half_flat(Seconds<N> delta, Seconds<N> mtbf, Count<N> rest, Count<N> g) {
  return sqrt(positive(mtbf * mtbf * rest * rest - 2.0 * g * delta * mtbf));
}

}  // namespace detail

inline constexpr Formula flat_low{
    "flat_low", "shortest interval whose goodput is at least so high",
    Source{"identity", "smaller root of (1 - x - tau/(2 M)) / (1 + delta/tau) = g"}, detail::kFlatArgs,
    []<class N>(Seconds<N> delta, Seconds<N> mtbf, Count<N> fixed, Count<N> g) {
      const auto rest = 1.0 - fixed - g;
      return mtbf * rest - detail::half_flat(delta, mtbf, rest, g);
    }};

inline constexpr Formula flat_high{
    "flat_high", "longest interval whose goodput is at least so high",
    Source{"identity", "larger root of (1 - x - tau/(2 M)) / (1 + delta/tau) = g"}, detail::kFlatArgs,
    []<class N>(Seconds<N> delta, Seconds<N> mtbf, Count<N> fixed, Count<N> g) {
      const auto rest = 1.0 - fixed - g;
      return mtbf * rest + detail::half_flat(delta, mtbf, rest, g);
    }};

inline constexpr Formula break_even_mtbf{
    "break_even_mtbf", "mean time between failures at which two intervals lose the same",
    Source{"young-1974", "delta/tau_1 + tau_1/(2 M) = delta/tau_2 + tau_2/(2 M)"},
    std::array{Arg{"delta", "delta", "time that one save costs", 1e-9},
               Arg{"short", "tau_1", "shorter interval between saves"},
               Arg{"long", "tau_2", "longer interval between saves"}},
    []<class N>(Seconds<N> delta, Seconds<N> tau1, Seconds<N> tau2) { return tau1 * tau2 / (2.0 * delta); }};

inline constexpr Formula mtbf_for_goodput{
    "mtbf_for_goodput", "mean time between failures from which on a goodput is reached",
    Source{"identity", "(1 - (R + tau/2)/M) / (1 + delta/tau) = g, solved for M"},
    std::array{Arg{"delta", "delta", "time that one save costs"},
               Arg{"tau", "tau", "interval between saves", 1e-9},
               Arg{"recovery", "R", "time to notice, restart and load"},
               Arg{"goodput", "g", "goodput that is needed", 0, 0.999999}},
    []<class N>(Seconds<N> delta, Seconds<N> tau, Seconds<N> recovery, Count<N> g) {
      return (recovery + tau / 2.0) / (1.0 - g * (1.0 + delta / tau));
    }};

using IntervalFormulas = Chapter<restart_interval, daly_interval, retry_interval, retry_goodput, crowding,
                                 flat_low, flat_high, break_even_mtbf, mtbf_for_goodput>;

}  // namespace trainplan
