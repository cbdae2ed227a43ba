/// Step time: the ideal plus seven losses, each a line of its own. All are means over the GPUs of a pipeline.
#pragma once

#include <array>

#include "trainplan/cost/comm.hpp"
#include "trainplan/cost/compute.hpp"
#include "trainplan/cost/host.hpp"
#include "trainplan/cost/kernels.hpp"
#include "trainplan/cost/losses.hpp"
#include "trainplan/cost/pipeline.hpp"
#include "trainplan/cost/schedule.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula optimizer_time{
    "optimizer_time", "time of the optimizer step",
    Source{"roofline-2009", "state of a rank is read and written once"},
    std::array{Arg{"params", "N_o", "parameters that a rank updates"},
               Arg{"width", "w_o", "bytes read and written for each"},
               Arg{"memory", "W_mem", "memory rate", 1}},
    []<class N>(Params<N> params, BytesPerParam<N> width, BytesPerSec<N> memory) {
      return params * width / memory;
    }};

inline constexpr Formula straggler_share{
    "straggler_share", "share of the step lost to the slowest of many nodes",
    Source{"mosaic-2023", "2.5 to 10 % from 128 to 512 GPUs, by model size"},
    std::array{Arg{"growth", "f_2", "share for each doubling of the nodes", 0, 1},
               Arg{"nodes", "n_node", "nodes", 1}},
    []<class N>(Count<N> growth, Count<N> nodes) { return growth * log2(nodes); }};

inline constexpr Formula straggler_loss{
    "straggler_loss", "waiting for the slowest rank", Source{"rule-of-thumb", "below 2 % when healthy"},
    std::array{Arg{"share", "f_slow", "share of the step"}, Arg{"rest", "T_rest", "step without stragglers"}},
    []<class N>(Count<N> share, Seconds<N> rest) { return share * rest; }};

/// The seven losses in the order of the report: bubble, exposed communication, recompute, data wait, kernel
/// efficiency, launch, straggler. compute: kernels of the blocks; optimizer and unmodelled are part of the
/// loss of kernel efficiency.
template <class N>
struct StepCost {
  Seconds<N> compute, optimizer, unmodelled, recompute;
  Seconds<N> exposed_tensor, exposed_data, exposed_context, exposed_experts, exposed_pipeline, exposed_tied;
  Seconds<N> exposed_host{};
  Seconds<N> bubble, exposed, data_wait, kernel, launch, straggler, step;
  Count<N> mfu, mfu_full, hfu, hfu_full;
  TokensPerSec<N> rate;
};

/// Whether data-parallel traffic goes on behind work, and gathers of updated weights with it.
struct DataOverlap {
  bool traffic = true, gathers = true;

  bool hides(HidesBehind what) const {
    return traffic && what != HidesBehind::Nothing && (gathers || what != HidesBehind::NextForward);
  }
};
inline DataOverlap data_overlap(const Recipe& r) { return {r.dp_overlap, r.gather_overlap}; }

namespace detail {

/// Data-parallel traffic that shows, and that which hides behind work.
template <class N>
struct DataExposure {
  Sum<Seconds<N>> shown, behind;
};

/// window(what, behind) is the work that traffic can hide behind, `behind` what hides there already.
template <class N, class Window>
DataExposure<N> data_exposure(DataOverlap overlap, const std::array<Seconds<N>, 4>& times,
                              const std::array<bool, 4>& used, Count<N> layers, Count<N> m, Window window) {
  DataExposure<N> out;
  for (std::size_t i = 0; i < used.size(); ++i) {
    const auto what = static_cast<HidesBehind>(i);
    if (!used[i]) continue;
    if (!overlap.hides(what)) {
      out.shown.add(1.0 * times[i]);
      continue;
    }
    const Seconds<N> work = window(what, out.behind);
    out.shown.add(exposed_window(times[i], work, what == HidesBehind::Compute ? layers * m : layers));
    out.behind.add(min(times[i], work));
  }
  return out;
}

/// Data-parallel traffic that no work hides, and what that behind work costs the work. A window is the time
/// that the pace-making stage takes, whatever it spends it on: were it the kernels alone, faster ones could
/// lengthen the step. Waiting for the host is part of it. Traffic behind all of the work gets what the other
/// windows leave.
template <Recorder R>
Seconds<typename R::Num> exposed_data(R& rec, const Problem& problem, const CommCost<typename R::Num>& comm,
                                      const PipelineTime<typename R::Num>& pipe,
                                      const HostWait<typename R::Num>& host, Count<typename R::Num> layers,
                                      Count<typename R::Num> m) {
  using N = typename R::Num;
  const auto with = [&](Seconds<N> window, Seconds<N> wait) { return host.any ? window + wait : window; };
  const auto all = host.any ? pipe.slowest + host.forward + host.backward : pipe.slowest;
  const auto window = [&](HidesBehind what, const Sum<Seconds<N>>& taken) {
    if (what == HidesBehind::LastBackward)
      return rec.item({"step.window_backward", "t_win_b", "backward of the last micro-batch"},
                      with(pipe.slowest * 2.0 / 3.0, host.backward));
    if (what == HidesBehind::NextForward)
      return rec.item({"step.window_forward", "t_win_f", "forward of the next micro-batch"},
                      with(pipe.slowest / 3.0, host.forward));
    return rec.item({"step.window_all", "t_win", "all micro-batches, less what other traffic hides behind"},
                    taken.empty() ? m * all : m * all - taken.total());
  };
  auto [shown, behind] =
      data_exposure(data_overlap(problem.recipe), comm.data_behind, comm.used, layers, m, window);
  if (!behind.empty())
    shown.add(rec.item(
        {"step.overlap_slowdown", "t_slow_dp", "compute slowed by the traffic behind it"},
        behind.total() * figure<Count<N>>(rec, "f_ov", "compute lost for each second of traffic behind it",
                                          problem.calibration().time.overlap_slowdown)));
  return rec.item({"step.exposed_dp", "t_dp_exp", "data parallel"}, 1.0 * shown.total());
}

/// One message between stages. Each tensor-parallel rank sends its part and the receivers gather it
/// (megatron-2021, section 4.1).
template <Recorder R>
Seconds<typename R::Num> stage_message(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                       const Plan& plan, Tokens<typename R::Num> tokens) {
  using N = typename R::Num;
  const auto link = reached_link(rec, problem, group_of(plan, Axis::Pp));
  const auto two = rec.template in<Count<N>>({"n_2", "ranks of a message", "pipeline"}, 2);
  return rec.apply(collective_time, {"traffic.pp", "t_m", "one message between stages"},
                   layer_message_bytes(tokens, in.hidden, in.element) / in.tp, link.rate, two, link.hop);
}

/// Messages between stages: schedules with one chunk on a rank wait for each, others send behind other
/// chunks.
template <Recorder R>
Seconds<typename R::Num> exposed_pipeline(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                          const Plan& plan, Tokens<typename R::Num> tokens,
                                          Count<typename R::Num> m) {
  using N = typename R::Num;
  const Item item{"step.exposed_pp", "t_pp_exp", "pipeline parallel"};
  if (plan.pp == 1 || has_chunks(plan.schedule)) return rec.item(item, Seconds<N>{N(0.0)});
  return rec.item(item, 2.0 * m * stage_message(rec, in, problem, plan, tokens));
}

template <Recorder R>
void exposed_cost(R& rec, const Inputs<typename R::Num>& in, const Problem& problem, const Plan& plan,
                  const CommCost<typename R::Num>& comm, const PipelineTime<typename R::Num>& pipe,
                  const ParamsCost<typename R::Num>& params, const HostTraffic<typename R::Num>& host,
                  Tokens<typename R::Num> tokens, Count<typename R::Num> m, StepCost<typename R::Num>& out) {
  using N = typename R::Num;
  const auto mean = [&](const Item& item, Seconds<N> all) { return rec.item(item, m * all / in.pp); };
  out.exposed_tensor = mean({"step.exposed_tp", "t_tp_exp", "tensor parallel"}, pipe.tensor);
  const bool offloads = problem.recipe.offload.any();
  const auto host_link = offloads ? host_rate(rec, problem) : BytesPerSec<N>{};
  const auto wait = offloads ? copy_wait(rec, host, host_link, pipe) : HostWait<N>{};
  out.exposed_data = exposed_data(rec, problem, comm, pipe, wait, params.blocks, m);
  out.exposed_context = mean({"step.exposed_cp", "t_cp_exp", "context parallel"}, pipe.context);
  out.exposed_pipeline = exposed_pipeline(rec, in, problem, plan, tokens, m);
  auto exposed = out.exposed_tensor + out.exposed_data + out.exposed_context + out.exposed_pipeline;
  if (problem.model().tied && tables_apart(plan)) {
    const auto link = reached_link(rec, problem, group_of(plan, Axis::Pp));
    const auto bytes = tied_bytes(
        rec, {"traffic.tied", "V_tied_s", "gradient of the tied table, once a step"}, problem, params.table);
    out.exposed_tied = rec.item({"step.exposed_tied", "t_tied_exp", "tied table"}, bytes / link.rate);
    exposed = exposed + out.exposed_tied;
  }
  if (problem.model().is_sparse()) {
    out.exposed_experts = mean({"step.exposed_ep", "t_ep_exp", "expert parallel"}, pipe.experts);
    exposed = exposed + out.exposed_experts;
  }
  if (offloads) {
    out.exposed_host = exposed_host(rec, host, wait, host_link, m);
    exposed = exposed + out.exposed_host;
  }
  out.exposed = rec.item({"step.exposed", "dT_comm", "exposed communication"}, exposed);
}

/// Gradient read twice (norm, update); master weights and moments read and written; weights written. With
/// products in 8 bits or less also the casts of the weights, once a step.
template <Recorder R>
Seconds<typename R::Num> optimizer_cost(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                        const Plan& plan, const ParamsCost<typename R::Num>& params,
                                        const HostTraffic<typename R::Num>& host,
                                        BytesPerSec<typename R::Num> memory) {
  using N = typename R::Num;
  const bool offloads = problem.recipe.offload.optimizer > 0;
  Params<N> held = updated_params(in, problem, plan, params), cast = params.average;
  if (offloads) held = held - host.updated;
  if (problem.model().is_sparse()) cast = cast + params.average_experts;
  const double width = 2 * bytes_of(problem.recipe.gradient) + 8 + 4 * bytes_of(problem.recipe.moments) + 2;
  const auto update = rec.apply(
      optimizer_time, {"step.optimizer_update", "t_upd", "optimizer update"}, held,
      rec.template in<BytesPerParam<N>>({"w_o", "bytes of a parameter: gradient, master, moments, weight",
                                         "run /gradient_dtype, /moment_dtype"},
                                        width),
      memory);
  const auto both = offloads ? update + host_update(rec, problem, host.updated) : 1.0 * update;
  if (problem.recipe.matmul == Matmul::Wide)
    return rec.item({"step.optimizer", "t_opt", "optimizer step"}, both);
  const auto casts =
      rec.apply(optimizer_time, {"step.weight_casts", "t_wcast", "casts of the weights, once a step"}, cast,
                rec.template in<BytesPerParam<N>>(
                    {"w_c", "bytes of a weight read and its copies written", "run /matmul_precision"}, 4),
                memory);
  return rec.item({"step.optimizer", "t_opt", "optimizer step and casts of weights"}, both + casts);
}

template <Recorder R>
void utilisation(R& rec, const ComputeCost<typename R::Num>& compute, StepCost<typename R::Num>& out) {
  out.mfu = rec.apply(mfu, {"step.mfu", "MFU", "MFU, causal"}, compute.ideal_causal, out.step);
  out.mfu_full =
      rec.apply(mfu, {"step.mfu_full", "MFU_full", "MFU, full matrix"}, compute.ideal_full, out.step);
  out.hfu = rec.apply(hfu, {"step.hfu", "HFU", "HFU, causal"}, out.mfu, compute.causal, compute.recomputed);
  out.hfu_full = rec.apply(hfu, {"step.hfu_full", "HFU_full", "HFU, full matrix"}, out.mfu_full, compute.full,
                           compute.recomputed_full);
  out.rate = rec.apply(tokens_per_second, {"step.tokens_per_second", "R_tok", ""}, compute.tokens, out.step);
}

/// What matrix products in a narrower format can speed up.
template <Recorder R>
void product_shares(R& rec, const Inputs<typename R::Num>& in, const PipelineTime<typename R::Num>& pipe,
                    Count<typename R::Num> m, const StepCost<typename R::Num>& step) {
  const auto products =
      rec.item({"step.products", "T_gemm", "matrix products, mean of the stages"}, m * pipe.products / in.pp);
  const auto share = rec.item(
      {"step.products_of_kernels", "f_gemm_k", "matrix products, share of the kernels", {}, Unit::Share},
      products / step.compute);
  rec.apply(share_of_step,
            {"step.products_of_step", "f_gemm", "matrix products, share of the step", {}, Unit::Share}, share,
            step.compute, step.step);
}

}  // namespace detail

/// Of the stage that `comm` and `params` are about, only its data-parallel traffic and its blocks count.
template <Recorder R>
StepCost<typename R::Num> step_cost(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                    const Plan& plan, const ComputeCost<typename R::Num>& compute,
                                    const Rates<typename R::Num>& rates,
                                    const CommCost<typename R::Num>& comm,
                                    const PipelineTime<typename R::Num>& pipe,
                                    const ParamsCost<typename R::Num>& params,
                                    const HostTraffic<typename R::Num>& host, Tokens<typename R::Num> tokens,
                                    Count<typename R::Num> m) {
  using N = typename R::Num;
  const TimeConstants& c = problem.calibration().time;
  StepCost<N> out;
  out.compute = rec.item({"step.compute", "T_comp", "kernels of the blocks, mean of the stages"},
                         m * pipe.kernels / in.pp);
  out.optimizer = detail::optimizer_cost(rec, in, problem, plan, params, host, rates.memory);
  out.recompute = rec.item({"step.recompute", "dT_re", "recompute"}, m * pipe.again / in.pp);
  detail::exposed_cost(rec, in, problem, plan, comm, pipe, params, host, tokens, m, out);
  const auto busy =
      rec.item({"step.busy", "T_busy", "micro-batches of a step, mean of the stages"}, m * pipe.all / in.pp);
  out.bubble =
      rec.item({"step.bubble", "dT_bubble", "pipeline bubble, unequal stages"}, positive(pipe.step - busy));
  out.data_wait = rec.item({"step.data_wait", "dT_data", "data wait"}, Seconds<N>{N(0.0)});
  out.launch =
      rec.item({"step.launch", "dT_launch", "host launch"},
               m * pipe.wait / in.pp +
                   figure<Seconds<N>>(rec, "t_fix", "work of a step outside its blocks", c.step_fixed));
  const auto modelled = rec.item(
      {"step.modelled", "T_model", "step that an ideal stack would take"},
      out.compute + out.optimizer + out.recompute + out.bubble + out.exposed + out.data_wait + out.launch);
  out.unmodelled = rec.item(
      {"step.unmodelled", "dT_stack", "what this software stack adds"},
      (figure<Count<N>>(rec, "f_stack", "step of the stack over the model", problem.stack().slowdown) - 1.0) *
          modelled);
  out.kernel = rec.item({"step.kernel", "dT_kernel", "kernel efficiency"},
                        out.compute + out.optimizer + out.unmodelled - compute.ideal);
  const auto rest =
      rec.item({"step.before_stragglers", "T_rest", "step without stragglers"}, modelled + out.unmodelled);
  const auto share =
      rec.apply(straggler_share, {"step.straggler_share", "f_slow", ""},
                figure<Count<N>>(rec, "f_2", "share for each doubling of the nodes", c.straggler_growth),
                rec.template in<Count<N>>({"n_node", "nodes", "cluster /nodes"},
                                          static_cast<double>(problem.cluster().nodes)));
  out.straggler = rec.apply(straggler_loss, {"step.straggler", "dT_slow", "stragglers"}, share, rest);
  out.step = rec.item({"step.time", "T_step", "step time"}, compute.ideal + out.bubble + out.exposed +
                                                                out.recompute + out.data_wait + out.kernel +
                                                                out.launch + out.straggler);
  detail::utilisation(rec, compute, out);
  detail::product_shares(rec, in, pipe, m, out);
  return out;
}

using StepFormulas = Chapter<optimizer_time, straggler_share, straggler_loss>;

}  // namespace trainplan
