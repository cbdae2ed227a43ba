/// Taking a slow step apart: what each loss costs in MFU points and what a change buys.
#pragma once

#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula compute_time{
    "compute_time", "time of the kernels of a step",
    Source{"rule-of-thumb", "ideal with the full matrix / kernel efficiency"},
    std::array{Arg{"ideal", "T_ideal_full", "ideal step, full matrix"},
               Arg{"efficiency", "eta", "kernel efficiency", 1e-6, 1}},
    []<class N>(Seconds<N> ideal, Count<N> efficiency) { return ideal / efficiency; }};

inline constexpr Formula kernel_loss{
    "kernel_loss", "kernel time above the ideal",
    Source{"rule-of-thumb", "GEMMs below peak and element-wise work"},
    std::array{Arg{"compute", "T_comp", "kernel time"}, Arg{"ideal", "T_ideal", "ideal step"}},
    []<class N>(Seconds<N> compute, Seconds<N> ideal) { return compute - ideal; }};

inline constexpr Formula bubble_loss{
    "bubble_loss", "pipeline bubble",
    Source{"megatron-2021", "section 2.2: bubble share x forward and backward time"},
    std::array{Arg{"bubble", "x_bubble", "share of the compute time"},
               Arg{"compute", "T_comp", "kernel time"}, Arg{"recompute", "T_re", "recompute time"}},
    []<class N>(Count<N> bubble, Seconds<N> compute, Seconds<N> recompute) {
      return bubble * (compute + recompute);
    }};

inline constexpr Formula recompute_loss{
    "recompute_loss", "recompute", Source{"korthikanti-2022", "recomputed FLOPs at the rate of the others"},
    std::array{Arg{"compute", "T_comp", "kernel time"},
               Arg{"recomputed", "F_re", "recomputed FLOPs of a token"},
               Arg{"model", "F_tok", "model FLOPs of a token", 1e-9}},
    []<class N>(Seconds<N> compute, FlopsPerToken<N> recomputed, FlopsPerToken<N> model) {
      return compute * recomputed / model;
    }};

inline constexpr Formula launch_loss{
    "launch_loss", "host launch time that the GPU waits for",
    Source{"rule-of-thumb", "0.1-0.3 s a step at micro-batch 1"},
    std::array{Arg{"per_layer", "t_launch", "time per layer and micro-batch"},
               Arg{"layers", "L_s", "layers of a stage"}, Arg{"m", "m", "micro-batches of a step"}},
    []<class N>(Seconds<N> per_layer, Count<N> layers, Count<N> m) { return per_layer * layers * m; }};

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
    Chapter<compute_time, kernel_loss, bubble_loss, recompute_loss, launch_loss, seven_losses, loss_points,
            first_order_points, time_saved, share_of_step, fp8_step_cut>;

}  // namespace trainplan
