/// Failures beyond their mean: how sure a count is, what one costs, spares and replicas.
#pragma once

#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula mtbf_low{
    "mtbf_low", "shortest mean time between failures that a count leaves open",
    Source{"garwood-1936", "T over the upper limit of a Poisson mean, gamma law of shape n + 1"},
    std::array{Arg{"time", "T", "wall-clock time"}, Arg{"failures", "n", "failures counted"},
               Arg{"confidence", "c", "share of such intervals that hold the mean", 0, 0.999999}},
    []<class N>(Seconds<N> time, Count<N> failures, Count<N> confidence) {
      return time / gamma_quantile(failures + 1.0, (confidence + 1.0) / 2.0);
    }};

inline constexpr Formula mtbf_high{
    "mtbf_high", "longest mean time between failures that a count leaves open",
    Source{"garwood-1936", "T over the lower limit of a Poisson mean, gamma law of shape n"},
    std::array{Arg{"time", "T", "wall-clock time"}, Arg{"failures", "n", "failures counted", 1},
               Arg{"confidence", "c", "share of such intervals that hold the mean", 0, 0.999999}},
    []<class N>(Seconds<N> time, Count<N> failures, Count<N> confidence) {
      return time / gamma_quantile(failures, (1.0 - confidence) / 2.0);
    }};

inline constexpr Formula failure_cost{
    "failure_cost", "time that one failure costs: half an interval, and recovery",
    Source{"young-1974", "it falls in the middle of an interval on average"},
    std::array{Arg{"tau", "tau", "interval between saves"},
               Arg{"recovery", "T_rec", "time to notice, restart and load"}},
    []<class N>(Seconds<N> tau, Seconds<N> recovery) { return tau / 2.0 + recovery; }};

inline constexpr Formula overhead_share{
    "overhead_share",
    "time that saving and failures add to each second of training, first order",
    Source{"young-1974", "delta/tau + (tau/2 + recovery)/M"},
    std::array{Arg{"delta", "delta", "time that one save costs"},
               Arg{"tau", "tau", "interval between saves", 1e-9},
               Arg{"mtbf", "M", "mean time between failures of the job", 1e-9},
               Arg{"recovery", "T_rec", "time to notice, restart and load"}},
    []<class N>(Seconds<N> delta, Seconds<N> tau, Seconds<N> mtbf, Seconds<N> recovery) {
      return delta / tau + (tau / 2.0 + recovery) / mtbf;
    },
    Unit::Share};

inline constexpr Formula gpus_in_repair{
    "gpus_in_repair", "GPUs that are away for repair, on average",
    Source{"little-1961", "arrivals x stay: G T_rep / M_gpu"},
    std::array{Arg{"gpus", "G", "GPUs", 1}, Arg{"repair", "T_rep", "time until a failed GPU is back"},
               Arg{"gpu_mtbf", "M_gpu", "mean time between failures of one GPU", 1e-9}},
    []<class N>(Count<N> gpus, Seconds<N> repair, Seconds<N> each) { return gpus * repair / each; }};

inline constexpr Formula replica_availability{
    "replica_availability",
    "share of the time that a replica trains, where the others go on without it",
    Source{"torchft", "replica groups fail alone: M_g / (M_g + T_rep) with M_g = M_gpu / G_g"},
    std::array{Arg{"gpu_mtbf", "M_gpu", "mean time between failures of one GPU", 1e-9},
               Arg{"gpus", "G_g", "GPUs of a replica", 1},
               Arg{"away", "T_rep", "time until the replica is back"}},
    []<class N>(Seconds<N> each, Count<N> gpus, Seconds<N> away) {
      return each / gpus / (each / gpus + away);
    },
    Unit::Share};

using FailureFormulas =
    Chapter<mtbf_low, mtbf_high, failure_cost, overhead_share, gpus_in_repair, replica_availability>;

}  // namespace trainplan
