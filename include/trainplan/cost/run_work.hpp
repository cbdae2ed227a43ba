/// A run before anything fails: its step, its steps, and what a save stops.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "trainplan/cost/checkpoint.hpp"
#include "trainplan/cost/long_run.hpp"
#include "trainplan/cost/run_figures.hpp"
#include "trainplan/cost/step.hpp"

namespace trainplan {

/// compute: the part that an efficiency is of; rest: waits beside it. stop: what one save stops training;
/// lag: how much older its state is when it is on storage. steps only with a token budget. mfu: of the step
/// with its waits.
template <class N>
struct RunWork {
  Seconds<N> compute, rest, step;
  Count<N> efficiency, mfu, steps{}, gpus, held;
  Seconds<N> stop{}, lag{};
};

namespace detail {

/// A figure of a plan, read from its ledger.
template <class Q, class R>
Q planned(R& rec, std::string_view symbol, std::string_view meaning, std::string_view origin, double value) {
  return rec.template in<Q>({symbol, meaning, origin}, value);
}

/// Data-parallel traffic that shows beside an assumed compute. Messages within a replica, and that traffic
/// slows kernels down, are part of the efficiency: it is that of the micro-batches.
template <Recorder R>
Seconds<typename R::Num> exposed_of_run(R& rec, const PlannedRun& p, Seconds<typename R::Num> compute) {
  using N = typename R::Num;
  const auto m = planned<Count<N>>(rec, "m", "micro-batches of a step", "plan", p.micro_batches);
  const auto layers = planned<Count<N>>(rec, "L_s", "layers of the stage", "plan", p.layers);
  static constexpr std::array<std::string_view, 4> kSymbols{"t_0", "t_b", "t_f", "t_all"};
  std::array<Seconds<N>, 4> times{};
  for (std::size_t i = 0; i < times.size(); ++i)
    if (p.used[i])
      times[i] =
          planned<Seconds<N>>(rec, kSymbols[i], "data-parallel traffic", "plan comm.dp", p.data_behind[i]);
  const auto window = [&](HidesBehind what, const Sum<Seconds<N>>& taken) {
    if (what == HidesBehind::LastBackward) return compute / m * 2.0 / 3.0;
    if (what == HidesBehind::NextForward) return compute / m / 3.0;
    return taken.empty() ? 1.0 * compute : compute - taken.total();
  };
  const auto data = data_exposure(p.overlap, times, p.used, layers, m, window);
  const Item item{"forecast.exposed", "T_exp", "data-parallel traffic that the compute does not hide"};
  return rec.item(item, data.shown.empty() ? Seconds<N>{N(0.0)} : 1.0 * data.shown.total());
}

template <Recorder R>
void step_of_run(R& rec, const PlannedRun& p, const RunFigures& f, RunWork<typename R::Num>& out) {
  using N = typename R::Num;
  const auto input = figure<Seconds<N>>(rec, "T_in", "wait for input", f.input_wait);
  const auto ideal = planned<Seconds<N>>(rec, "T_ideal", "ideal step", "plan " + p.ideal_id, p.ideal);
  Sum<Seconds<N>> rest;
  if (f.efficiency.known) {
    out.efficiency = figure<Count<N>>(rec, "eta", "efficiency (assumed)", f.efficiency);
    out.compute =
        rec.apply(step_time_at_mfu, {"forecast.compute", "T_comp", "compute at the assumed efficiency"},
                  ideal, out.efficiency);
    rest.add(exposed_of_run(rec, p, out.compute));
  } else {
    out.efficiency = planned<Count<N>>(rec, "MFU", "MFU of the plan", "plan step.mfu", p.mfu);
    const auto step = planned<Seconds<N>>(rec, "T_plan", "predicted step", "plan step.time", p.step);
    const auto slow = planned<Seconds<N>>(rec, "dT_slow", "stragglers of the plan", "plan step.straggler",
                                          f.straggler_wait.known ? p.straggler : 0.0);
    out.compute = rec.item({"forecast.compute", "T_comp", "step of the plan, before waits given here"},
                           f.straggler_wait.known ? step - slow : 1.0 * step);
  }
  if (f.straggler_wait.known)
    rest.add(figure<Seconds<N>>(rec, "T_slow", "wait for the slowest GPU", f.straggler_wait));
  rest.add(input);
  out.rest = rec.item({"forecast.rest", "T_rest", "waits beside the compute"}, 1.0 * rest.total());
  out.step = rec.item({"forecast.step", "T_step", "step time"}, out.compute + out.rest);
  out.mfu = rec.apply(mfu, {"forecast.mfu", "MFU_run", "MFU of that step"}, ideal, out.step);
}

/// What a save stops and how old its state is when it is safe.
template <Recorder R>
void saves_of_run(R& rec, const PlannedRun& p, const RunFigures& f, RunWork<typename R::Num>& out) {
  using N = typename R::Num;
  const Item write_item{"forecast.write", "T_write", "time to write a checkpoint"};
  const auto write =
      f.save_time.known
          ? rec.item(write_item, 1.0 * figure<Seconds<N>>(rec, "T_save", "time of a save", f.save_time))
          : rec.apply(write_time, write_item,
                      planned<Bytes<N>>(rec, "K", "checkpoint", "plan checkpoint.bytes", p.checkpoint),
                      figure<BytesPerSec<N>>(rec, "W_store", "storage write bandwidth", f.save_bandwidth));
  const Item stop{"forecast.save", "delta", "time that one save stops training"};
  if (f.saving == Saving::Sync) {
    out.stop = rec.item(stop, 1.0 * write);
    out.lag = Seconds<N>{N(0.0)};
    return;
  }
  out.stop = f.copy_time.known
                 ? rec.item(stop, 1.0 * figure<Seconds<N>>(rec, "T_copy", "time of a copy", f.copy_time))
                 : rec.apply(transfer_time, stop,
                             planned<Bytes<N>>(rec, "K_gpu", "unique bytes of a GPU",
                                               "plan checkpoint.per_gpu", p.per_gpu),
                             figure<BytesPerSec<N>>(rec, "W_host", "link to the host", p.host_link));
  out.lag = rec.item({"forecast.lag", "T_lag", "from the copy until it is on storage"}, 1.0 * write);
}

}  // namespace detail

/// The step, the steps, and what a save costs; saves only where their time is known.
template <Recorder R>
void run_work(R& rec, const PlannedRun& p, const RunFigures& f, RunWork<typename R::Num>& out) {
  using N = typename R::Num;
  detail::step_of_run(rec, p, f, out);
  out.gpus = detail::planned<Count<N>>(rec, "G", "GPUs", "cluster /nodes x /gpus_per_node", p.gpus());
  const auto spares = figure<Count<N>>(rec, "n_spare", "spare nodes", f.spares);
  const auto wide =
      detail::planned<Count<N>>(rec, "n_gpu", "GPUs of a node", "cluster /gpus_per_node", p.gpus_per_node);
  out.held = rec.item({"forecast.gpus", "G_held", "GPUs with spares"}, out.gpus + spares * wide);
  if (p.tokens)
    out.steps = rec.apply(run_steps, {"forecast.steps", "n_step", "steps"},
                          rec.template in<Tokens<N>>({"D", "token budget", "run /tokens"}, *p.tokens),
                          detail::planned<Tokens<N>>(rec, "D_step", "tokens of a step",
                                                     "plan compute.tokens_per_step", p.tokens_per_step));
  if (f.can_save()) detail::saves_of_run(rec, p, f, out);
}

}  // namespace trainplan
