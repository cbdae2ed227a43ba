/// Failures and what they cost: the share of wall-clock time that moves training forward.
#pragma once

#include "trainplan/cost/checkpoint.hpp"
#include "trainplan/cost/inputs.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula cluster_mtbf{
    "cluster_mtbf", "mean time between failures of a job",
    Source{"llama-3-2024", "independent GPUs: M = M_gpu / G"},
    std::array{Arg{"gpu_mtbf", "M_gpu", "mean time between failures of one GPU"},
               Arg{"gpus", "G", "GPUs", 1}},
    []<class N>(Seconds<N> gpu_mtbf, Count<N> gpus) { return gpu_mtbf / gpus; }};

inline constexpr Formula goodput{
    "goodput",
    "share of wall-clock time that moves training forward",
    Source{"daly-2006", "(1 - (T_d + T_r + T_l + tau/2)/M) / (1 + delta/tau)"},
    std::array{Arg{"delta", "delta", "time that one save costs"},
               Arg{"tau", "tau", "interval between saves", 1e-9},
               Arg{"mtbf", "M", "mean time between failures of the job", 1e-9},
               Arg{"detect", "T_d", "time to notice a failure"}, Arg{"restart", "T_r", "time to restart"},
               Arg{"load", "T_l", "time to load a checkpoint"}},
    []<class N>(Seconds<N> delta, Seconds<N> tau, Seconds<N> mtbf, Seconds<N> detect, Seconds<N> restart,
                Seconds<N> load) {
      return (1.0 - (detect + restart + load + tau / 2.0) / mtbf) / (delta / tau + 1.0);
    },
    Unit::Share};

inline constexpr Formula failure_share{
    "failure_share",
    "share of wall-clock time that one part of a recovery takes",
    Source{"daly-2006", "term / M"},
    std::array{Arg{"time", "T", "time of that part in one failure"},
               Arg{"mtbf", "M", "mean time between failures of the job", 1e-9}},
    []<class N>(Seconds<N> time, Seconds<N> mtbf) { return time / mtbf; },
    Unit::Share};

inline constexpr Formula rollback_share{
    "rollback_share",
    "share of wall-clock time that is computed twice",
    Source{"young-1974", "half an interval for each failure"},
    std::array{Arg{"tau", "tau", "interval between saves"},
               Arg{"mtbf", "M", "mean time between failures of the job", 1e-9}},
    []<class N>(Seconds<N> tau, Seconds<N> mtbf) { return tau / 2.0 / mtbf; },
    Unit::Share};

inline constexpr Formula saving_share{
    "saving_share",
    "share of wall-clock time spent saving",
    Source{"daly-2006", "G delta / tau"},
    std::array{Arg{"goodput", "G_p", "goodput"}, Arg{"delta", "delta", "time that one save costs"},
               Arg{"tau", "tau", "interval between saves", 1e-9}},
    []<class N>(Count<N> g, Seconds<N> delta, Seconds<N> tau) { return g * delta / tau; },
    Unit::Share};

inline constexpr Formula observed_mtbf{
    "observed_mtbf", "mean time between failures that were counted",
    Source{"llama-3-2024", "section 3.3.4: 419 in 54 days"},
    std::array{Arg{"time", "T", "wall-clock time"}, Arg{"failures", "n", "failures", 1}},
    []<class N>(Seconds<N> time, Count<N> failures) { return time / failures; }};

inline constexpr Formula gpu_mtbf{
    "gpu_mtbf", "mean time between failures of one GPU",
    Source{"llama-3-2024", "independent GPUs: M_gpu = M G"},
    std::array{Arg{"mtbf", "M", "mean time between failures of the job"}, Arg{"gpus", "G", "GPUs", 1}},
    []<class N>(Seconds<N> mtbf, Count<N> gpus) { return mtbf * gpus; }};

inline constexpr Formula best_interval{
    "best_interval", "interval between saves of the largest goodput",
    Source{"daly-2006", "zero of the derivative of the goodput"},
    std::array{Arg{"delta", "delta", "time that one save costs"},
               Arg{"mtbf", "M", "mean time between failures of the job"},
               Arg{"recovery", "T", "time to notice, restart and load; below M"}},
    []<class N>(Seconds<N> delta, Seconds<N> mtbf, Seconds<N> recovery) {
      return sqrt(delta * delta + 2.0 * delta * positive(mtbf - recovery)) - delta;
    }};

inline constexpr Formula incident_time{
    "incident_time", "time that incidents take in a stretch of wall-clock time",
    Source{"identity", "time of each x incidents"},
    std::array{Arg{"each", "T_i", "time of one incident"}, Arg{"time", "T", "wall-clock time"},
               Arg{"mtbf", "M", "mean time between incidents", 1e-9}},
    []<class N>(Seconds<N> each, Seconds<N> time, Seconds<N> mtbf) { return each * (time / mtbf); }};

inline constexpr Formula events_left{
    "events_left", "events without those of one kind", Source{"identity", "difference"},
    std::array{Arg{"all", "n", "events"}, Arg{"some", "n_1", "events of one kind"}},
    []<class N>(Count<N> all, Count<N> some) { return all - some; }};

inline constexpr Formula event_share{
    "event_share", "share of the events that are of one kind", Source{"identity", "ratio"},
    std::array{Arg{"some", "n_1", "events of one kind"}, Arg{"all", "n", "events", 1}},
    []<class N>(Count<N> some, Count<N> all) { return some / all; }};

/// True when the cluster says how often GPUs fail, how long recovery takes and how fast it saves.
inline bool goodput_is_known(const ClusterSpec& c) {
  return c.gpu_mtbf.known && c.detect.known && c.restart.known && c.load.known && c.storage_write.known;
}

/// Only where goodput_is_known.
template <class N>
struct GoodputCost {
  Seconds<N> mtbf, interval;
  Count<N> waste, goodput;
};

template <Recorder R>
GoodputCost<typename R::Num> goodput_cost(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                          Seconds<typename R::Num> delta) {
  using N = typename R::Num;
  const ClusterSpec& c = problem.cluster();
  GoodputCost<N> out;
  out.mtbf = rec.apply(cluster_mtbf, {"goodput.mtbf", "M", ""},
                       figure<Seconds<N>>(rec, "M_gpu", "mean time between failures of one GPU", c.gpu_mtbf),
                       in.gpus);
  out.interval = rec.apply(young_interval, {"checkpoint.interval", "tau", ""}, delta, out.mtbf);
  out.waste = rec.apply(minimum_waste, {"checkpoint.waste", "w_min", ""}, delta, out.mtbf);
  const auto detect = figure<Seconds<N>>(rec, "T_d", "time to notice a failure", c.detect);
  const auto restart = figure<Seconds<N>>(rec, "T_r", "time to restart", c.restart);
  const auto load = figure<Seconds<N>>(rec, "T_l", "time to load a checkpoint", c.load);
  out.goodput =
      rec.apply(goodput, {"goodput", "G_p", "goodput"}, delta, out.interval, out.mtbf, detect, restart, load);
  rec.apply(saving_share, {"goodput.saving", "x_save", "saving"}, out.goodput, delta, out.interval);
  rec.apply(failure_share, {"goodput.detect", "x_d", "noticing failures"}, detect, out.mtbf);
  rec.apply(failure_share, {"goodput.restart", "x_r", "restarting"}, restart, out.mtbf);
  rec.apply(failure_share, {"goodput.load", "x_l", "loading the checkpoint"}, load, out.mtbf);
  rec.apply(rollback_share, {"goodput.rollback", "x_back", "computing twice"}, out.interval, out.mtbf);
  return out;
}

using GoodputFormulas =
    Chapter<cluster_mtbf, goodput, failure_share, rollback_share, saving_share, observed_mtbf, gpu_mtbf,
            best_interval, incident_time, events_left, event_share>;

}  // namespace trainplan
