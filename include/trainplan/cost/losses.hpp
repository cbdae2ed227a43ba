/// Taking a slow step apart: what each loss costs in MFU points and what a change buys.
#pragma once

#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula seven_losses{
    "seven_losses", "time that the seven losses of a step take together", Source{"identity", "their sum"},
    std::array{Arg{"bubble", "dT_bubble", "pipeline bubble"},
               Arg{"exposed", "dT_comm", "exposed communication"}, Arg{"recompute", "dT_re", "recompute"},
               Arg{"data", "dT_data", "data wait"}, Arg{"kernel", "dT_kernel", "kernel efficiency"},
               Arg{"launch", "dT_launch", "host launch"}, Arg{"straggler", "dT_slow", "stragglers"}},
    []<class N>(Seconds<N> bubble, Seconds<N> exposed, Seconds<N> recompute, Seconds<N> data,
                Seconds<N> kernel, Seconds<N> launch, Seconds<N> straggler) {
      return bubble + exposed + recompute + data + kernel + launch + straggler;
    }};

inline constexpr Formula loss_points{
    "loss_points", "MFU points of one loss, in proportion",
    Source{"rule-of-thumb", "excess / all excesses x points of the gap"},
    std::array{Arg{"excess", "dT_i", "time of this loss above its normal value"},
               Arg{"total", "dT", "time of all of them", 1e-12},
               Arg{"points", "g", "MFU points between the two steps"}},
    []<class N>(Seconds<N> excess, Seconds<N> total, Count<N> points) { return excess / total * points; }};

inline constexpr Formula first_order_points{
    "first_order_points", "MFU points of one loss, first order",
    Source{"identity", "derivative of T_ideal / T_step, x 100"},
    std::array{Arg{"excess", "dT_i", "time of this loss"}, Arg{"ideal", "T_ideal", "ideal step time"},
               Arg{"step", "T_step", "step time", 1e-12}},
    []<class N>(Seconds<N> excess, Seconds<N> ideal, Seconds<N> step) {
      return 100.0 * (excess * ideal / (step * step));
    }};

inline constexpr Formula time_saved{
    "time_saved", "time between a slow and a fast way", Source{"identity", "difference"},
    std::array{Arg{"slow", "T_1", "time of the slow way"}, Arg{"fast", "T_2", "time of the fast way"}},
    []<class N>(Seconds<N> slow, Seconds<N> fast) { return slow - fast; }};

inline constexpr Formula share_of_step{
    "share_of_step", "share of the kernel time as a share of the step",
    Source{"identity", "share x kernel time / step time"},
    std::array{Arg{"share", "f", "share of the kernel time", 0, 1}, Arg{"compute", "T_comp", "kernel time"},
               Arg{"step", "T_step", "step time", 1e-12}},
    []<class N>(Count<N> share, Seconds<N> compute, Seconds<N> step) { return share * compute / step; }};

inline constexpr Formula fp8_step_cut{
    "fp8_step_cut", "share of the step that FP8 matrix products save",
    Source{"rule-of-thumb", "GEMM share of the step x cut of the GEMM time, 30-40 %"},
    std::array{Arg{"share", "f_gemm", "share of the step in matrix products", 0, 1},
               Arg{"cut", "f_cut", "cut of their time", 0, 1}},
    []<class N>(Count<N> share, Count<N> cut) { return share * cut; }};

using LossFormulas =
    Chapter<seven_losses, loss_points, first_order_points, time_saved, share_of_step, fp8_step_cut>;

}  // namespace trainplan
