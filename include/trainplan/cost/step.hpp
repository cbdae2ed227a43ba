/// Step time: the ideal plus seven losses, each a line of its own.
#pragma once

#include <array>

#include "trainplan/cost/comm.hpp"
#include "trainplan/cost/compute.hpp"
#include "trainplan/cost/schedule.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula compute_time{
    "compute_time", "time of the kernels of a step",
    Source{"rule-of-thumb", "ideal with the full matrix / kernel efficiency"},
    std::array{Arg{"ideal", "T_ideal_full", "ideal step, full matrix"},
               Arg{"efficiency", "eta", "kernel efficiency", 1e-6, 1}},
    []<class N>(Seconds<N> ideal, Count<N> efficiency) { return ideal / efficiency; }};

inline constexpr Formula expert_imbalance_time{
    "expert_imbalance_time", "kernel time that the busiest expert rank needs beyond the mean",
    Source{"megatron-moe", "experts of a rank run as long as their rows; the others wait at the combine"},
    std::array{Arg{"compute", "T_mean", "kernel time, balanced"},
               Arg{"experts", "N_r", "parameters of the experts that a token visits"},
               Arg{"gemm", "N_g", "parameters in matrix products", 1},
               Arg{"load", "f_load", "rows of the busiest rank over the mean", 0.1}},
    []<class N>(Seconds<N> compute, Params<N> experts, Params<N> gemm, Count<N> load) {
      return compute * (experts / gemm) * positive(load - 1.0);
    }};

inline constexpr Formula kernel_loss{
    "kernel_loss", "kernel time above the ideal",
    Source{"rule-of-thumb", "GEMMs below peak and element-wise work"},
    std::array{Arg{"compute", "T_comp", "kernel time"}, Arg{"ideal", "T_ideal", "ideal step"}},
    []<class N>(Seconds<N> compute, Seconds<N> ideal) { return positive(compute - ideal); }};

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

inline constexpr Formula exposed_share{
    "exposed_share", "communication that overlap does not hide",
    Source{"identity", "time x (1 - hidden share)"},
    std::array{Arg{"time", "t", "time at link rate"}, Arg{"hidden", "f_hide", "hidden share", 0, 1}},
    []<class N>(Seconds<N> time, Count<N> hidden) { return time * (1.0 - hidden); }};

inline constexpr Formula exposed_window{
    "exposed_window", "communication that does not fit behind the work of a window",
    Source{"rule-of-thumb", "the first gather or the last bucket always shows"},
    std::array{Arg{"time", "t", "time at link rate"}, Arg{"window", "t_win", "work to hide behind"},
               Arg{"pieces", "n_piece", "pieces that the collective is cut into", 1}},
    []<class N>(Seconds<N> time, Seconds<N> window, Count<N> pieces) {
      return max(time / pieces, positive(time - window));
    }};

inline constexpr Formula launch_loss{
    "launch_loss", "host launch time that the GPU waits for",
    Source{"rule-of-thumb", "0.1-0.3 s a step at micro-batch 1"},
    std::array{Arg{"per_layer", "t_launch", "time per layer and micro-batch"},
               Arg{"layers", "L_s", "layers of a stage"}, Arg{"m", "m", "micro-batches of a step"}},
    []<class N>(Seconds<N> per_layer, Count<N> layers, Count<N> m) { return per_layer * layers * m; }};

inline constexpr Formula straggler_loss{
    "straggler_loss", "waiting for the slowest rank", Source{"rule-of-thumb", "below 2 % when healthy"},
    std::array{Arg{"share", "f_slow", "share of the step"}, Arg{"rest", "T_rest", "step without stragglers"}},
    []<class N>(Count<N> share, Seconds<N> rest) { return share * rest; }};

/// The seven losses in the order of the report: bubble, exposed communication, recompute, data wait, kernel
/// efficiency, launch, straggler.
template <class N>
struct StepCost {
  Seconds<N> compute, recompute, exposed_tensor, exposed_data, exposed_context, exposed_experts{};
  Seconds<N> bubble, exposed, data_wait, kernel, launch, straggler, step;
  Count<N> mfu, mfu_full, hfu, hfu_full;
  TokensPerSec<N> rate;
};

namespace detail {

template <Recorder R>
Seconds<typename R::Num> exposed_data(R& rec, const Problem& problem, const CommCost<typename R::Num>& comm,
                                      Seconds<typename R::Num> compute, Count<typename R::Num> layers,
                                      Count<typename R::Num> m) {
  using N = typename R::Num;
  const Item item{"step.exposed_dp", "t_dp_exp", "data parallel"};
  if (!problem.recipe.dp_overlap) return rec.item(item, 1.0 * comm.data.seconds);
  const auto waits = [&](HidesBehind what) { return comm.used[static_cast<std::size_t>(what)]; };
  const auto time = [&](HidesBehind what) { return comm.data_behind[static_cast<std::size_t>(what)]; };
  Seconds<N> sum{};
  if (waits(HidesBehind::Nothing)) sum = sum + time(HidesBehind::Nothing);
  if (waits(HidesBehind::LastBackward)) {
    const auto window = rec.item({"step.window_backward", "t_win_b", "backward of the last micro-batch"},
                                 compute * 2.0 / 3.0 / m);
    sum = sum + exposed_window(time(HidesBehind::LastBackward), window, layers);
  }
  if (waits(HidesBehind::NextForward)) {
    const auto window =
        rec.item({"step.window_forward", "t_win_f", "forward of the next micro-batch"}, compute / 3.0 / m);
    sum = sum + exposed_window(time(HidesBehind::NextForward), window, layers);
  }
  if (waits(HidesBehind::Compute))
    sum = sum + exposed_window(time(HidesBehind::Compute), compute, layers * m);
  return rec.item(item, sum);
}

template <Recorder R>
void exposed_cost(R& rec, const Inputs<typename R::Num>& in, const Problem& problem, const Plan& plan,
                  const CommCost<typename R::Num>& comm, Count<typename R::Num> layers,
                  Count<typename R::Num> m, StepCost<typename R::Num>& out) {
  using N = typename R::Num;
  constexpr std::string_view kHiddenTp = "share of tensor parallel traffic that overlap hides",
                             kHiddenEp = "share of expert traffic that overlap hides";
  const bool overlapped = problem.recipe.tp_overlap && plan.sequence_parallel;
  const auto hidden =
      overlapped ? figure<Count<N>>(rec, "f_hide", kHiddenTp, problem.calibration().tp_overlap_hidden)
                 : rec.template in<Count<N>>({"f_hide", kHiddenTp, "run /tp_overlap"}, 0);
  const Item tp{"step.exposed_tp", "t_tp_exp", "tensor parallel"};
  out.exposed_tensor = plan.tp == 1 ? rec.item(tp, Seconds<N>{N(0.0)})
                                    : rec.apply(exposed_share, tp, comm.tensor.seconds, hidden);
  if (plan.sequence_parallel && plan.tp > 1 && !overlapped)
    out.exposed_tensor = rec.item({"step.exposed_tp_all", "t_tp_all", "tensor parallel with the re-gather"},
                                  out.exposed_tensor + comm.tensor_regather.seconds);
  out.exposed_data = exposed_data(rec, problem, comm, out.compute, layers, m);
  const Item cp{"step.exposed_cp", "t_cp_exp", "context parallel"};
  out.exposed_context =
      plan.cp == 1 ? rec.item(cp, Seconds<N>{N(0.0)})
      : problem.recipe.cp_mode == CpMode::Ring
          ? rec.apply(exposed_window, cp, comm.context.seconds, out.compute, in.cp * layers * m)
          : rec.item(cp, 1.0 * comm.context.seconds);
  auto exposed = out.exposed_tensor + out.exposed_data + out.exposed_context;
  if (value_of(comm.tied.bytes) > 0)
    exposed = exposed + rec.item({"step.exposed_tied", "t_tied_exp", "tied table"}, 1.0 * comm.tied.seconds);
  if (problem.model().is_sparse()) {
    const auto behind =
        problem.recipe.ep_overlap
            ? figure<Count<N>>(rec, "f_ep", kHiddenEp, problem.calibration().ep_overlap_hidden)
            : rec.template in<Count<N>>({"f_ep", kHiddenEp, "run /ep_overlap"}, 0);
    out.exposed_experts = rec.apply(exposed_share, {"step.exposed_ep", "t_ep_exp", "expert parallel"},
                                    comm.expert_all_to_all.seconds + comm.expert_tensor.seconds, behind);
    exposed = exposed + out.exposed_experts;
  }
  out.exposed = rec.item({"step.exposed", "dT_comm", "exposed communication"}, exposed);
}

}  // namespace detail

template <Recorder R>
StepCost<typename R::Num> step_cost(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                    const Plan& plan, const ComputeCost<typename R::Num>& compute,
                                    const CommCost<typename R::Num>& comm,
                                    const ScheduleCost<typename R::Num>& schedule,
                                    const ParamsCost<typename R::Num>& params,
                                    Count<typename R::Num> layers) {
  using N = typename R::Num;
  const Calibration& c = problem.calibration();
  const Count<N> m = schedule.micro_batches;
  StepCost<N> out;
  const auto eta = figure<Count<N>>(rec, "eta", "kernel efficiency", c.kernel_efficiency);
  if (problem.model().is_sparse() && load_of(problem.recipe, plan) > 1) {
    const auto mean = rec.apply(compute_time, {"step.compute_balanced", "T_mean", "kernel time, balanced"},
                                compute.ideal_full, eta);
    const auto more = rec.apply(expert_imbalance_time, {"step.expert_imbalance", "dT_hot", ""}, mean,
                                in.sparse_layers * in.top_k * params.expert, params.gemm,
                                expert_load(rec, problem.recipe, plan));
    out.compute = rec.item({"step.compute", "T_comp", "time of the kernels of a step"}, mean + more);
  } else {
    out.compute = rec.apply(compute_time, {"step.compute", "T_comp", ""}, compute.ideal_full, eta);
  }
  out.recompute = rec.apply(recompute_loss, {"step.recompute", "dT_re", "recompute"}, out.compute,
                            compute.recomputed, compute.causal);
  out.bubble = rec.apply(bubble_loss, {"step.bubble", "dT_bubble", "pipeline bubble"},
                         schedule.bubble_of_ideal, out.compute, out.recompute);
  detail::exposed_cost(rec, in, problem, plan, comm, layers, m, out);
  out.data_wait = rec.item({"step.data_wait", "dT_data", "data wait"}, Seconds<N>{N(0.0)});
  out.kernel =
      rec.apply(kernel_loss, {"step.kernel", "dT_kernel", "kernel efficiency"}, out.compute, compute.ideal);
  out.launch = rec.apply(
      launch_loss, {"step.launch", "dT_launch", "host launch"},
      figure<Seconds<N>>(rec, "t_launch", "launch time per layer and micro-batch", c.launch_per_layer),
      layers, m);
  const auto rest = rec.item(
      {"step.before_stragglers", "T_rest", "step without stragglers"},
      compute.ideal + out.bubble + out.exposed + out.recompute + out.data_wait + out.kernel + out.launch);
  out.straggler = rec.apply(straggler_loss, {"step.straggler", "dT_slow", "stragglers"},
                            figure<Count<N>>(rec, "f_slow", "straggler share", c.straggler_share), rest);
  out.step = rec.item({"step.time", "T_step", "step time"}, compute.ideal + out.bubble + out.exposed +
                                                                out.recompute + out.data_wait + out.kernel +
                                                                out.launch + out.straggler);
  out.mfu = rec.apply(mfu, {"step.mfu", "MFU", "MFU, causal"}, compute.ideal_causal, out.step);
  out.mfu_full =
      rec.apply(mfu, {"step.mfu_full", "MFU_full", "MFU, full matrix"}, compute.ideal_full, out.step);
  out.hfu = rec.apply(hfu, {"step.hfu", "HFU", "HFU, causal"}, out.mfu, compute.causal, compute.recomputed);
  out.hfu_full = rec.apply(hfu, {"step.hfu_full", "HFU_full", "HFU, full matrix"}, out.mfu_full, compute.full,
                           compute.recomputed_full);
  out.rate = rec.apply(tokens_per_second, {"step.tokens_per_second", "R_tok", ""}, compute.tokens, out.step);
  return out;
}

using StepFormulas = Chapter<compute_time, kernel_loss, bubble_loss, recompute_loss, exposed_share,
                             exposed_window, launch_loss, straggler_loss, expert_imbalance_time>;

}  // namespace trainplan
