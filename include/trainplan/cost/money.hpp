/// GPU-hours, days and dollars.
#pragma once

#include "trainplan/cost/inputs.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula gpu_time{"gpu_time",
                                  "GPU time of a stretch of wall-clock time",
                                  Source{"identity", "time x GPUs"},
                                  std::array{Arg{"time", "T", "wall-clock time"}, Arg{"gpus", "G", "GPUs"}},
                                  []<class N>(Seconds<N> time, Count<N> gpus) { return time * gpus; },
                                  Unit::GpuTime};

inline constexpr Formula cost_of_time{
    "cost_of_time", "dollars of a stretch of wall-clock time", Source{"identity", "time x GPUs x price"},
    std::array{Arg{"time", "T", "wall-clock time"}, Arg{"gpus", "G", "GPUs"},
               Arg{"price", "c_gpu", "price of one GPU"}},
    []<class N>(Seconds<N> time, Count<N> gpus, UsdPerSec<N> price) { return time * gpus * price; }};

inline constexpr Formula training_time{
    "training_time", "wall-clock time of a token budget", Source{"identity", "steps x step time / goodput"},
    std::array{Arg{"tokens", "D", "tokens of the run"}, Arg{"per_step", "D_step", "tokens of a step", 1},
               Arg{"step", "T_step", "step time"}, Arg{"goodput", "G_p", "goodput", 1e-9, 1}},
    []<class N>(Tokens<N> tokens, Tokens<N> per_step, Seconds<N> step, Count<N> g) {
      return tokens / per_step * step / g;
    }};

inline constexpr Formula mfu_point_time{
    "mfu_point_time", "wall-clock time that one MFU point is worth",
    Source{"identity", "first order: time / (100 MFU)"},
    std::array{Arg{"time", "T", "wall-clock time of the run"},
               Arg{"mfu", "MFU", "model FLOPs utilisation", 1e-9, 1}},
    []<class N>(Seconds<N> time, Count<N> u) { return time / (100.0 * u); }};

inline constexpr Formula mfu_point_share{"mfu_point_share", "throughput that one MFU point is worth",
                                         Source{"identity", "first order: 1 / (100 MFU)"},
                                         std::array{Arg{"mfu", "MFU", "model FLOPs utilisation", 1e-9, 1}},
                                         []<class N>(Count<N> u) { return 1.0 / (100.0 * u); }};

inline constexpr Formula share_of_gpu_time{
    "share_of_gpu_time", "GPU time that a share of wall-clock time is",
    Source{"identity", "share x time x GPUs"},
    std::array{Arg{"share", "x", "share of the time"}, Arg{"time", "T", "wall-clock time"},
               Arg{"gpus", "G", "GPUs"}},
    []<class N>(Count<N> share, Seconds<N> time, Count<N> gpus) { return share * time * gpus; }};

template <class N>
struct MoneyCost {
  Usd<N> day, run;
  Seconds<N> run_time, run_gpu_time, mfu_point_time;
  Usd<N> mfu_point;
};

/// `progress` is the goodput, 1 when the failure rate is not known; run figures need a token budget, else a
/// month of 30 days. A job that does not finish has only the
/// cost of a day; without a price there are no dollars.
template <Recorder R>
MoneyCost<typename R::Num> money_cost(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                      Tokens<typename R::Num> per_step, Seconds<typename R::Num> step,
                                      Count<typename R::Num> utilisation, Count<typename R::Num> progress,
                                      bool finishes) {
  using N = typename R::Num;
  MoneyCost<N> out;
  const auto day = rec.template in<Seconds<N>>({"T_day", "a day", "calendar"}, 86400);
  rec.apply(gpu_time, {"cost.day_gpu_time", "T_gpu_day", "GPU time of a day"}, day, in.gpus);
  if (finishes) {
    if (problem.recipe.tokens) {
      const auto tokens =
          rec.template in<Tokens<N>>({"D", "token budget", "run /tokens"}, *problem.recipe.tokens);
      out.run_time =
          rec.apply(training_time, {"cost.run_time", "T_run", ""}, tokens, per_step, step, progress);
    } else {
      out.run_time =
          rec.template in<Seconds<N>>({"T_run", "a run of 30 days", "no token budget"}, 30.0 * 86400);
    }
    out.run_gpu_time =
        rec.apply(gpu_time, {"cost.run_gpu_time", "T_gpu", "GPU time of the run"}, out.run_time, in.gpus);
    out.mfu_point_time =
        rec.apply(mfu_point_time, {"cost.mfu_point_time", "T_point", ""}, out.run_time, utilisation);
  }
  if (!problem.cluster().price.known) return out;
  const auto price = figure<UsdPerSec<N>>(rec, "c_gpu", "price of one GPU", problem.cluster().price);
  out.day = rec.apply(cost_of_time, {"cost.day", "c_day", "dollars of a day"}, day, in.gpus, price);
  if (!finishes) return out;
  out.run =
      rec.apply(cost_of_time, {"cost.run", "c_run", "dollars of the run"}, out.run_time, in.gpus, price);
  out.mfu_point =
      rec.apply(cost_of_time, {"cost.mfu_point", "c_point", "dollars that one MFU point is worth"},
                out.mfu_point_time, in.gpus, price);
  return out;
}

using MoneyFormulas =
    Chapter<gpu_time, cost_of_time, training_time, mfu_point_time, mfu_point_share, share_of_gpu_time>;

}  // namespace trainplan
