/// A whole run: what saving and failing take from it, days, GPU-hours, dollars, energy.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "trainplan/cost/goodput.hpp"
#include "trainplan/cost/interval.hpp"
#include "trainplan/cost/long_run.hpp"
#include "trainplan/cost/money.hpp"
#include "trainplan/cost/run_work.hpp"
#include "trainplan/cost/stability.hpp"

namespace trainplan {

/// Where wall-clock time goes that does not train.
enum class RunLoss : std::uint8_t { Saving, Detect, Restart, Load, Rollback, Lag, Replacement, Spikes };
inline constexpr std::size_t kRunLosses = 8;
inline constexpr std::array<RunLoss, kRunLosses> kAllRunLosses{
    RunLoss::Saving,   RunLoss::Detect, RunLoss::Restart,     RunLoss::Load,
    RunLoss::Rollback, RunLoss::Lag,    RunLoss::Replacement, RunLoss::Spikes};
constexpr std::size_t index_of(RunLoss l) { return static_cast<std::size_t>(l); }

/// share in RunLoss order. running: share of the time that the job does not wait for a node; it fails then
/// alone, so that mtbf, joint and what follows from them are of that time. fixed: share of it lost whatever
/// the interval is, fixed_time: of one failure. least: the shortest interval that there can be. complete:
/// goodput of Daly's complete form, and the calendar time by it, with a token budget. finishes: the goodput
/// is above 0; what comes after it only then, money and energy where their inputs are known.
template <class N>
struct LongRun : RunWork<N> {
  Seconds<N> mtbf, joint, fixed_time, least, young, best, interval;
  Count<N> running{N(1.0)}, fixed, goodput, crowding, complete, overhead{};
  Seconds<N> complete_calendar{};
  std::array<Count<N>, kRunLosses> share{};
  bool finishes = false;
  Seconds<N> run{}, calendar{}, gpu_time{};
  Usd<N> money{};
  Seconds<N> energy{};  // joules
};

namespace detail {

/// A failure waits for a node when all spares are in repair.
template <Recorder R>
Seconds<typename R::Num> wait_for_node(R& rec, const RunFigures& f, Seconds<typename R::Num> mtbf) {
  using N = typename R::Num;
  const auto repair = figure<Seconds<N>>(rec, "T_rep", "time to repair or replace a node", f.repair);
  const auto load =
      rec.apply(failure_share, {"forecast.in_repair", "a", "nodes in repair, on average", {}, Unit::Count},
                repair, mtbf);
  Count<N> shortage = rec.template in<Count<N>>({"B_0", "share that waits without spares", "all"}, 1);
  for (double n = 1; n <= f.spares.value; ++n)
    shortage = rec.apply(spare_shortage, {"forecast.shortage", "B_n", ""}, load,
                         rec.template in<Count<N>>({"n", "spares so far", "count"}, n), shortage);
  return rec.apply(replacement_wait, {"forecast.node_wait", "T_node", ""}, shortage, repair,
                   figure<Count<N>>(rec, "n_spare", "spare nodes", f.spares));
}

/// A share of the time that the job runs, as one of all time.
inline constexpr std::array<Item, kRunLosses> kOfAllTime{
    Item{},
    Item{"forecast.of_all.detect", "x_d_all", "noticing failures, of all time", {}, Unit::Share},
    Item{"forecast.of_all.restart", "x_r_all", "restarting, of all time", {}, Unit::Share},
    Item{"forecast.of_all.load", "x_l_all", "loading the checkpoint, of all time", {}, Unit::Share},
    Item{"forecast.of_all.rollback", "x_back_all", "computing twice, of all time", {}, Unit::Share},
    Item{"forecast.of_all.lag", "x_lag_all", "work newer than what is written, of all time", {}, Unit::Share},
    Item{},
    Item{"forecast.of_all.spikes", "x_spike_all", "loss spikes, of all time", {}, Unit::Share}};

/// Nothing else is lost while the job waits for a node. Before the share of saving, which follows from the
/// goodput.
template <Recorder R>
void shares_of_all_time(R& rec, LongRun<typename R::Num>& run) {
  for (const RunLoss loss : kAllRunLosses) {
    auto& share = run.share[index_of(loss)];
    if (value_of(share) > 0) share = rec.item(kOfAllTime[index_of(loss)], share * run.running);
  }
  run.share[index_of(RunLoss::Replacement)] = rec.item(
      {"forecast.share.replacement", "x_node", "waiting for a node", {}, Unit::Share}, 1.0 - run.running);
}

/// Terms that the five of the goodput lack, as shares of the time that the job runs.
template <class N>
struct FurtherLosses {
  Sum<Count<N>> fixed, all;  // all: at the interval
};

/// What a failure costs, in the order of its parts.
template <class N>
struct Recovery {
  Seconds<N> detect, restart, load;
};

/// Names of a share of loss spikes: with half an interval, or of what they cost whatever the interval.
struct SpikeItems {
  Item steps, time, share;
};
inline constexpr SpikeItems kSpikes{{"forecast.spike_steps", "c_spike", "steps that a spike costs"},
                                    {"forecast.spike_time", "T_spike", "time that a spike costs"},
                                    {"forecast.share.spikes", "x_spike", "loss spikes"}};
inline constexpr SpikeItems kSpikesAtLeast{
    {"forecast.spike_fixed_steps", "c_fix", "steps that a spike costs whatever the interval"},
    {"forecast.spike_fixed_time", "T_sfix", "time that a spike costs whatever the interval"},
    {"forecast.spikes_fixed", "x_sfix", "loss spikes, whatever the interval"}};

/// A spike is noticed, the job restarted from an older checkpoint, and the steps since then are done again.
template <Recorder R>
Count<typename R::Num> spike_loss(R& rec, const SpikeItems& items, const RunFigures& f,
                                  Seconds<typename R::Num> step, const Recovery<typename R::Num>& r,
                                  Count<typename R::Num> interval) {
  using N = typename R::Num;
  const auto steps =
      rec.apply(spike_cost_mean, items.steps,
                figure<Count<N>>(rec, "k", "least age of the checkpoint, in steps", f.spike_back), interval,
                figure<Count<N>>(rec, "w", "steps until a spike is noticed", f.spike_noticed));
  const auto time = rec.item(items.time, steps * step + r.restart + r.load);
  return rec.apply(failure_share, items.share, time,
                   figure<Seconds<N>>(rec, "M_spike", "time between loss spikes", f.spike_every));
}

/// A save is not begun before the last one is written, and not within a step; one that stops training for
/// longer than the work between two of them leaves less than half of the time.
template <class N>
Seconds<N> least_interval(const RunWork<N>& run) {
  Seconds<N> out = run.step;
  for (const Seconds<N>& t : {run.stop, run.lag})
    if (value_of(t) > value_of(out)) out = t;
  return out;
}

template <Recorder R>
void intervals_of_run(R& rec, const RunFigures& f, LongRun<typename R::Num>& run) {
  using N = typename R::Num;
  run.young = rec.apply(young_interval, {"forecast.young", "tau_Y", "Young's interval"}, run.stop, run.joint);
  run.best = rec.apply(best_interval, {"forecast.best", "tau_best", ""}, run.stop, run.joint, run.fixed_time);
  run.least = least_interval(run);
  const auto at_least = [&](Seconds<N> tau, const Item& item) {
    return value_of(tau) >= value_of(run.least) ? tau : rec.item(item, max(tau, run.least));
  };
  run.young = at_least(run.young,
                       {"forecast.young_possible", "tau_Y", "Young's interval, at least a step and a save"});
  run.best =
      at_least(run.best, {"forecast.best_possible", "tau_best", "best interval, at least a step and a save"});
  run.interval =
      f.interval.known
          ? rec.item({"forecast.interval", "tau", "interval between saves"},
                     1.0 * figure<Seconds<N>>(rec, "tau_0", "interval as given", f.interval))
          : rec.item({"forecast.interval", "tau", "interval between saves, Young's"}, 1.0 * run.young);
}

/// The five terms, then what else is lost, then the wait for nodes.
template <Recorder R>
void goodput_of_run(R& rec, const RunFigures& f, const Recovery<typename R::Num>& r,
                    const Sum<Count<typename R::Num>>& further, LongRun<typename R::Num>& run) {
  constexpr Item kGoodput{"forecast.goodput", "G_p", "goodput", {}, Unit::Share},
      kFive{"forecast.goodput_five", "G_5", "goodput of the five terms"},
      kRunning{"forecast.goodput_running", "G_run", "goodput while no node is waited for"};
  const Item& before = f.repair.known ? kRunning : kGoodput;
  run.goodput = rec.apply(goodput, further.empty() ? before : kFive, run.stop, run.interval, run.mtbf,
                          r.detect, r.restart, r.load);
  if (!further.empty())
    run.goodput = rec.apply(goodput_less, before, run.goodput, further.total(), run.stop, run.interval);
  if (f.repair.known) run.goodput = rec.item(kGoodput, run.goodput * run.running);
}

template <Recorder R>
void price_run(R& rec, const PlannedRun& p, const RunFigures& f, LongRun<typename R::Num>& run) {
  using N = typename R::Num;
  run.overhead = rec.apply(goodput_overhead, {"forecast.overhead", "x_over", "overhead"}, run.goodput);
  const auto stops = figure<Seconds<N>>(rec, "T_0", "planned stops", f.planned_stop);
  if (p.tokens) {
    run.run = rec.apply(finish_time, {"forecast.run", "T_run", "time of the run, planned stops left out"},
                        Seconds<N>{N(0.0)}, run.steps, run.step, run.overhead);
    run.calendar =
        rec.apply(finish_time, {"forecast.calendar", "T_cal", ""}, stops, run.steps, run.step, run.overhead);
  } else {
    run.run = rec.template in<Seconds<N>>({"T_run", "a run of 30 days", "no token budget"}, 30.0 * 86400);
    run.calendar = rec.item({"forecast.calendar", "T_cal", "calendar time"}, stops + run.run);
  }
  run.gpu_time = rec.apply(gpu_time, {"forecast.gpu_time", "T_gpu", "GPU time held"}, run.calendar, run.held);
  if (f.price.known)
    run.money = rec.apply(cost_of_time, {"forecast.money", "c_run", "dollars"}, run.calendar, run.held,
                          figure<UsdPerSec<N>>(rec, "c_gpu", "price of one GPU", f.price));
  if (!p.tdp.known) return;
  const Figure pue = f.pue.known ? f.pue : Figure{.value = 1, .origin = "the GPUs alone", .known = true};
  run.energy = rec.apply(energy_bound, {"forecast.energy", "E", ""}, run.gpu_time,
                         figure<Count<N>>(rec, "P_tdp", "power limit of one GPU, W", p.tdp),
                         figure<Count<N>>(rec, "PUE", "power of the site over that of the GPUs", pue));
}

template <Recorder R>
Recovery<typename R::Num> recovery_of_run(R& rec, const RunFigures& f, LongRun<typename R::Num>& run) {
  using N = typename R::Num;
  const Recovery<N> r{
      figure<Seconds<N>>(rec, "T_d", "time to notice a failure", f.detect),
      figure<Seconds<N>>(rec, "T_r", f.one_recovery ? "whole recovery" : "time to restart", f.restart),
      figure<Seconds<N>>(rec, "T_l", "time to load a checkpoint", f.load)};
  const auto part = [&](RunLoss loss, std::string_view id, std::string_view symbol, std::string_view title,
                        Seconds<N> time) {
    return run.share[index_of(loss)] = rec.apply(failure_share, {id, symbol, title}, time, run.mtbf);
  };
  const auto d = part(RunLoss::Detect, "forecast.share.detect", "x_d", "noticing failures", r.detect);
  const auto s = part(RunLoss::Restart, "forecast.share.restart", "x_r",
                      f.one_recovery ? "recovering" : "restarting", r.restart);
  const auto l = part(RunLoss::Load, "forecast.share.load", "x_l", "loading the checkpoint", r.load);
  run.fixed = d + s + l;
  return r;
}

/// Beside the five terms: how far to trust them, and the goodput where a failure strikes saves and recoveries
/// too.
template <Recorder R>
void complete_run(R& rec, const PlannedRun& p, const RunFigures& f, LongRun<typename R::Num>& run) {
  run.crowding = rec.apply(crowding, {"forecast.crowding", "x_crowd", ""}, run.stop, run.interval, run.joint,
                           run.fixed_time);
  constexpr Item kComplete{
      "forecast.goodput_complete", "G_c", "goodput of Daly's complete form", {}, Unit::Share},
      kRunning{"forecast.goodput_retried", "G_c_run", "Daly's complete form while no node is waited for"};
  run.complete = rec.apply(retry_goodput, f.repair.known ? kRunning : kComplete, run.stop, run.interval,
                           run.joint, run.fixed_time);
  if (f.repair.known) run.complete = rec.item(kComplete, run.complete * run.running);
  if (!p.tokens || value_of(run.complete) <= 0) return;
  const auto overhead = rec.apply(
      goodput_overhead, {"forecast.overhead_complete", "x_over_c", "overhead, complete form"}, run.complete);
  run.complete_calendar =
      rec.apply(finish_time, {"forecast.calendar_complete", "T_cal_c", "calendar time, complete form"},
                figure<Seconds<typename R::Num>>(rec, "T_0", "planned stops", f.planned_stop), run.steps,
                run.step, overhead);
}

/// What is lost beside the five terms and whatever the interval; with spikes, failures and they strike
/// together.
template <Recorder R>
FurtherLosses<typename R::Num> fixed_losses(R& rec, const RunFigures& f, const Recovery<typename R::Num>& r,
                                            LongRun<typename R::Num>& run) {
  using N = typename R::Num;
  FurtherLosses<N> out;
  if (f.saving == Saving::Async) {
    const auto lag = rec.apply(
        failure_share, {"forecast.share.lag", "x_lag", "work newer than what is written"}, run.lag, run.mtbf);
    run.share[index_of(RunLoss::Lag)] = lag;
    out.fixed.add(lag);
    out.all.add(lag);
  }
  run.joint = run.mtbf;
  if (f.spike_every.known) {
    run.joint =
        rec.apply(joint_mtbf, {"forecast.joint_mtbf", "M_all", "time between failures and spikes"}, run.mtbf,
                  figure<Seconds<N>>(rec, "M_spike", "time between loss spikes", f.spike_every));
    const auto none = rec.template in<Count<N>>({"tau_0", "no interval", "whatever the interval"}, 0);
    out.fixed.add(spike_loss(rec, kSpikesAtLeast, f, run.step, r, none));
  }
  run.fixed = rec.item({"forecast.fixed", "x_fix", "share lost whatever the interval", {}, Unit::Share},
                       out.fixed.empty() ? run.fixed : run.fixed + out.fixed.total());
  run.fixed_time =
      rec.item({"forecast.fixed_time", "T_fix", "time that a failure costs whatever the interval"},
               run.fixed * run.joint);
  return out;
}

/// What a spike costs at the interval of the run.
template <Recorder R>
void add_spikes(R& rec, const RunFigures& f, const Recovery<typename R::Num>& r,
                LongRun<typename R::Num>& run, FurtherLosses<typename R::Num>& further) {
  const auto steps = rec.apply(periods_in_time, {"forecast.interval_steps", "tau_n", "steps of an interval"},
                               run.interval, run.step);
  const auto x = spike_loss(rec, kSpikes, f, run.step, r, steps);
  run.share[index_of(RunLoss::Spikes)] = x;
  further.all.add(x);
}

}  // namespace detail

/// Needs f.known(); with asynchronous saves also a copy time or a link to the host.
template <Recorder R>
LongRun<typename R::Num> long_run(R& rec, const PlannedRun& p, const RunFigures& f) {
  using N = typename R::Num;
  LongRun<N> run;
  run_work(rec, p, f, run);
  run.mtbf = rec.apply(cluster_mtbf, {"forecast.mtbf", "M", ""},
                       figure<Seconds<N>>(rec, "M_gpu", "mean time between failures of one GPU", f.gpu_mtbf),
                       run.gpus);
  if (f.repair.known)
    run.running = rec.apply(running_share, {"forecast.running", "x_run", ""},
                            detail::wait_for_node(rec, f, run.mtbf), run.mtbf);
  const auto r = detail::recovery_of_run(rec, f, run);
  auto further = detail::fixed_losses(rec, f, r, run);
  detail::intervals_of_run(rec, f, run);
  if (f.spike_every.known) detail::add_spikes(rec, f, r, run, further);
  detail::goodput_of_run(rec, f, r, further.all, run);
  run.share[index_of(RunLoss::Rollback)] = rec.apply(
      rollback_share, {"forecast.share.rollback", "x_back", "computing twice"}, run.interval, run.mtbf);
  if (f.repair.known) detail::shares_of_all_time(rec, run);
  detail::complete_run(rec, p, f, run);
  run.finishes = value_of(run.goodput) > 0;
  run.share[index_of(RunLoss::Saving)] = rec.apply(
      saving_share, {"forecast.share.saving", "x_save", "saving"}, run.goodput, run.stop, run.interval);
  if (run.finishes) detail::price_run(rec, p, f, run);
  return run;
}

/// Numbers alone, with an interval of its own or without.
inline LongRun<double> evaluate_run(const PlannedRun& p, const RunFigures& f) {
  Eval rec;
  return long_run(rec, p, f);
}
inline LongRun<double> evaluate_run(const PlannedRun& p, RunFigures f, double interval) {
  f.interval = Figure{.value = interval, .origin = "trial", .known = true};
  return evaluate_run(p, f);
}

/// What takes most time of a run beside saving, and beside waiting for nodes: that alone stops no run.
inline RunLoss largest_loss(const LongRun<double>& run) {
  RunLoss out = RunLoss::Rollback;
  for (const RunLoss loss : kAllRunLosses)
    if (loss != RunLoss::Saving && loss != RunLoss::Replacement &&
        run.share[index_of(loss)] > run.share[index_of(out)])
      out = loss;
  return out;
}

}  // namespace trainplan
