/// Pipeline bubble in closed form.
#pragma once

#include "trainplan/cost/inputs.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula micro_batches_per_step{
    "micro_batches_per_step", "micro-batches of a step on one pipeline",
    Source{"megatron-2021", "section 2.2: m = B / (d b)"},
    std::array{Arg{"batch", "B", "sequences of a step"}, Arg{"d", "d", "data parallel degree", 1},
               Arg{"b", "b", "micro-batch in sequences", 1}},
    []<class N>(Count<N> batch, Count<N> d, Count<N> b) { return batch / (d * b); }};

inline constexpr Formula bubble_of_ideal{
    "bubble_of_ideal",
    "pipeline bubble, share of the ideal compute time",
    Source{"megatron-2021", "section 2.2: (p - 1)/(v m)"},
    std::array{Arg{"p", "p", "stages", 1}, Arg{"v", "v", "virtual stages per rank", 1},
               Arg{"m", "m", "micro-batches of a step", 1}},
    []<class N>(Count<N> p, Count<N> v, Count<N> m) { return (p - 1.0) / (v * m); },
    Unit::Share};

inline constexpr Formula bubble_of_total{
    "bubble_of_total",
    "pipeline bubble, share of the total time",
    Source{"gpipe-2019", "x/(m + x) with x = (p - 1)/v"},
    std::array{Arg{"p", "p", "stages", 1}, Arg{"v", "v", "virtual stages per rank", 1},
               Arg{"m", "m", "micro-batches of a step", 1}},
    []<class N>(Count<N> p, Count<N> v, Count<N> m) { return (p - 1.0) / v / (m + (p - 1.0) / v); },
    Unit::Share};

inline constexpr Formula micro_batches_for_bubble{
    "micro_batches_for_bubble", "micro-batches that bring the bubble down to a share of the total time",
    Source{"gpipe-2019", "m = (p - 1) (1 - x) / x"},
    std::array{Arg{"p", "p", "stages", 1}, Arg{"share", "x", "bubble as a share of the total time", 1e-9, 1}},
    []<class N>(Count<N> p, Count<N> share) { return (p - 1.0) * (1.0 - share) / share; }};

template <class N>
struct ScheduleCost {
  Count<N> micro_batches, bubble_of_ideal, bubble_of_total;
};

template <Recorder R>
ScheduleCost<typename R::Num> schedule_cost(R& rec, const Inputs<typename R::Num>& in,
                                            Count<typename R::Num> m) {
  ScheduleCost<typename R::Num> out;
  out.micro_batches = m;
  out.bubble_of_ideal =
      rec.apply(bubble_of_ideal, {"schedule.bubble_of_ideal", "x_bubble", ""}, in.pp, in.vpp, m);
  out.bubble_of_total =
      rec.apply(bubble_of_total, {"schedule.bubble_of_total", "x_total", ""}, in.pp, in.vpp, m);
  return out;
}

/// The same of a schedule whose bubble depends on what its passes take. work: of the slowest stage; all: with
/// the bubble.
template <Recorder R>
ScheduleCost<typename R::Num> schedule_cost(R& rec, Count<typename R::Num> m, Seconds<typename R::Num> bubble,
                                            Seconds<typename R::Num> work, Seconds<typename R::Num> all) {
  ScheduleCost<typename R::Num> out;
  out.micro_batches = m;
  out.bubble_of_ideal = rec.item(
      {"schedule.bubble_of_ideal", "x_bubble", bubble_of_ideal.title, {}, Unit::Share}, bubble / work);
  out.bubble_of_total =
      rec.item({"schedule.bubble_of_total", "x_total", bubble_of_total.title, {}, Unit::Share}, bubble / all);
  return out;
}

using ScheduleFormulas =
    Chapter<micro_batches_per_step, bubble_of_ideal, bubble_of_total, micro_batches_for_bubble>;

}  // namespace trainplan
