/// A run as a whole: steps, days, what fits a deadline or a budget, what spares and loss spikes change.
#pragma once

#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula run_steps{
    "run_steps", "steps of a token budget", Source{"identity", "tokens / tokens of a step, rounded up"},
    std::array{Arg{"tokens", "D", "tokens of the run"}, Arg{"per_step", "D_step", "tokens of a step", 1}},
    []<class N>(Tokens<N> tokens, Tokens<N> per_step) { return ceil(tokens / per_step); }};

inline constexpr Formula last_sequence{
    "last_sequence", "tokens of the last sequence of a token budget, where it is not a whole one",
    Source{"identity", "remainder of a division"},
    std::array{Arg{"tokens", "D", "tokens of the run"}, Arg{"s", "s", "sequence length", 1}},
    []<class N>(Tokens<N> tokens, Tokens<N> s) { return tokens - floor(tokens / s) * s; }};

inline constexpr Formula joint_mtbf{
    "joint_mtbf", "mean time between events of two kinds", Source{"identity", "rates add"},
    std::array{Arg{"one", "M_1", "mean time between events of one kind", 1e-9},
               Arg{"other", "M_2", "mean time between events of the other", 1e-9}},
    []<class N>(Seconds<N> one, Seconds<N> other) { return one * other / (one + other); }};

inline constexpr Formula other_mtbf{
    "other_mtbf", "mean time between events of one kind, out of those of two",
    Source{"identity", "rates subtract"},
    std::array{Arg{"joint", "M_all", "mean time between events of both kinds, below M_1", 1e-9},
               Arg{"one", "M_1", "mean time between events of the other kind", 1e-6}},
    []<class N>(Seconds<N> joint, Seconds<N> one) { return joint * one / (one - joint); }};

inline constexpr Formula goodput_less{
    "goodput_less",
    "goodput when a further share of the time is lost",
    Source{"daly-2006", "the same share in the numerator: G - x / (1 + delta/tau)"},
    std::array{Arg{"goodput", "G_1", "goodput without it"}, Arg{"share", "x", "further share of the time"},
               Arg{"delta", "delta", "time that one save costs"},
               Arg{"tau", "tau", "interval between saves", 1e-9}},
    []<class N>(Count<N> g, Count<N> share, Seconds<N> delta, Seconds<N> tau) {
      return g - share / (1.0 + delta / tau);
    },
    Unit::Share};

inline constexpr Formula goodput_overhead{"goodput_overhead",
                                          "time beside training, over the time of training",
                                          Source{"identity", "1 / G - 1"},
                                          std::array{Arg{"goodput", "G_p", "goodput", 1e-9, 1}},
                                          []<class N>(Count<N> g) { return 1.0 / g - 1.0; },
                                          Unit::Share};

inline constexpr Formula finish_time{
    "finish_time", "calendar time of a run",
    Source{"identity", "planned stops + steps x step time x (1 + overhead)"},
    std::array{Arg{"stops", "T_0", "planned stops"}, Arg{"steps", "n_step", "steps of the run"},
               Arg{"step", "T_step", "step time"},
               Arg{"overhead", "x_over", "time beside training over that of training"}},
    []<class N>(Seconds<N> stops, Count<N> steps, Seconds<N> step, Count<N> overhead) {
      return stops + steps * step * (1.0 + overhead);
    }};

inline constexpr Formula step_cap{
    "step_cap", "longest step that keeps a deadline",
    Source{"identity", "time left / (steps x (1 + overhead))"},
    std::array{Arg{"time", "T", "time for training, planned stops taken off"},
               Arg{"steps", "n_step", "steps of the run", 1},
               Arg{"overhead", "x_over", "time beside training over that of training"}},
    []<class N>(Seconds<N> time, Count<N> steps, Count<N> overhead) {
      return time / (steps * (1.0 + overhead));
    }};

inline constexpr Formula efficiency_needed{
    "efficiency_needed",
    "efficiency of the compute that fits it into so many seconds",
    Source{"identity", "efficiency x compute / time left for it"},
    std::array{Arg{"efficiency", "eta", "efficiency of the compute", 0, 1},
               Arg{"compute", "T_comp", "compute at that efficiency"},
               Arg{"left", "T_left", "time of a step that is left for the compute", 1e-12}},
    []<class N>(Count<N> eta, Seconds<N> compute, Seconds<N> left) { return eta * compute / left; },
    Unit::Share};

inline constexpr Formula time_regained{
    "time_regained", "wall-clock time of a run that a higher goodput gives back",
    Source{"identity", "time x (1 - G_0 / G_1)"},
    std::array{Arg{"time", "T_run", "wall-clock time of the run"}, Arg{"before", "G_0", "goodput"},
               Arg{"after", "G_1", "goodput after the change", 1e-9}},
    []<class N>(Seconds<N> time, Count<N> before, Count<N> after) { return time * (1.0 - before / after); }};

inline constexpr Formula spare_shortage{
    "spare_shortage",
    "share of the failures that find no spare node, with one spare more",
    Source{"erlang-1917", "loss formula, from n - 1 to n: a B / (n + a B)"},
    std::array{Arg{"load", "a", "nodes in repair on average: repair time / M"},
               Arg{"spares", "n", "spare nodes", 1}, Arg{"fewer", "B_n1", "share with a spare less", 0, 1}},
    []<class N>(Count<N> load, Count<N> spares, Count<N> fewer) {
      return load * fewer / (spares + load * fewer);
    },
    Unit::Share};

inline constexpr Formula replacement_wait{
    "replacement_wait", "time that a failure waits for a node, on average",
    Source{"erlang-1917", "the first of n + 1 repairs: B x repair time / (n + 1)"},
    std::array{Arg{"shortage", "B_n", "share of the failures that find no spare node", 0, 1},
               Arg{"repair", "T_rep", "time until a failed node is back or replaced"},
               Arg{"spares", "n", "spare nodes"}},
    []<class N>(Count<N> shortage, Seconds<N> repair, Count<N> spares) {
      return shortage * repair / (spares + 1.0);
    }};

inline constexpr Formula running_share{
    "running_share",
    "share of the time that a job does not wait for a node",
    Source{"erlang-1917", "loss system of the n + 1 nodes that can be away: nothing fails while it waits"},
    std::array{Arg{"wait", "T_node", "time that a failure waits for a node, on average"},
               Arg{"mtbf", "M", "mean time between failures of the job while it runs", 1e-9}},
    []<class N>(Seconds<N> wait, Seconds<N> mtbf) { return mtbf / (mtbf + wait); },
    Unit::Share};

inline constexpr Formula energy_bound{
    "energy_bound",
    "energy of a run, at most",
    Source{"identity", "GPU time x TDP x PUE"},
    std::array{Arg{"gpu_time", "T_gpu", "GPU time"}, Arg{"tdp", "P_tdp", "power limit of one GPU, in watts"},
               Arg{"pue", "PUE", "power of the site over that of the GPUs", 1}},
    []<class N>(Seconds<N> held, Count<N> tdp, Count<N> pue) { return held * tdp * pue; },
    Unit::Energy};

inline constexpr Formula gpu_token_rate{
    "gpu_token_rate", "tokens that some GPUs train in a second", Source{"identity", "peak x MFU / FLOPs"},
    std::array{Arg{"gpus", "G", "GPUs"}, Arg{"peak", "P", "dense peak of one GPU"},
               Arg{"mfu", "MFU", "model FLOPs utilisation", 0, 1},
               Arg{"flops", "F_tok", "model FLOPs of a token", 1e-9}},
    []<class N>(Count<N> gpus, FlopsPerSec<N> peak, Count<N> u, FlopsPerToken<N> flops) {
      return gpus * peak * u / flops;
    }};

inline constexpr Formula needed_token_rate{
    "needed_token_rate", "tokens of a second that a deadline needs", Source{"identity", "tokens / time"},
    std::array{Arg{"tokens", "D", "tokens of the run"}, Arg{"time", "T", "time for training", 1e-9}},
    []<class N>(Tokens<N> tokens, Seconds<N> time) { return tokens / time; }};

inline constexpr Formula flops_time{"flops_time", "time of an amount of model FLOPs",
                                    Source{"identity", "FLOPs / (GPUs x peak x MFU)"},
                                    std::array{Arg{"flops", "F", "model FLOPs"}, Arg{"gpus", "G", "GPUs", 1},
                                               Arg{"peak", "P", "dense peak of one GPU", 1},
                                               Arg{"mfu", "MFU", "model FLOPs utilisation", 1e-9, 1}},
                                    []<class N>(Flops<N> flops, Count<N> gpus, FlopsPerSec<N> peak,
                                                Count<N> u) { return flops / (gpus * peak * u); }};

inline constexpr Formula gpus_for_time{
    "gpus_for_time", "GPUs that do an amount of model FLOPs in a time",
    Source{"identity", "FLOPs / (time x peak x MFU), rounded up"},
    std::array{Arg{"flops", "F", "model FLOPs"}, Arg{"time", "T", "time for training", 1e-9},
               Arg{"peak", "P", "dense peak of one GPU", 1},
               Arg{"mfu", "MFU", "model FLOPs utilisation", 1e-9, 1}},
    []<class N>(Flops<N> flops, Seconds<N> time, FlopsPerSec<N> peak, Count<N> u) {
      return ceil(flops / (time * peak * u));
    }};

inline constexpr Formula time_of_money{
    "time_of_money", "wall-clock time that some GPUs cost so much",
    Source{"identity", "money / (GPUs x price)"},
    std::array{Arg{"money", "c", "money"}, Arg{"gpus", "G", "GPUs", 1},
               Arg{"price", "c_gpu", "price of one GPU", 1e-12}},
    []<class N>(Usd<N> money, Count<N> gpus, UsdPerSec<N> price) { return money / (gpus * price); }};

inline constexpr Formula tokens_in_time{
    "tokens_in_time", "tokens of the whole steps of a time",
    Source{"identity", "time / (step x (1 + overhead)), rounded down, x tokens of a step"},
    std::array{Arg{"time", "T", "time for training"}, Arg{"step", "T_step", "step time", 1e-12},
               Arg{"overhead", "x_over", "time beside training over that of training"},
               Arg{"per_step", "D_step", "tokens of a step"}},
    []<class N>(Seconds<N> time, Seconds<N> step, Count<N> overhead, Tokens<N> per_step) {
      return floor(time / (step * (1.0 + overhead))) * per_step;
    }};

inline constexpr Formula params_for_flops{
    "params_for_flops", "parameters of a dense model that so many FLOPs train on some tokens",
    Source{"kaplan-2020", "F = 6 N D, attention left out"},
    std::array{Arg{"flops", "F", "model FLOPs"}, Arg{"tokens", "D", "tokens of the run", 1}},
    []<class N>(Flops<N> flops, Tokens<N> tokens) {
      return as<kParams>(as<kCount>(flops) / (6.0 * as<kCount>(tokens)));
    }};

using LongRunFormulas =
    Chapter<run_steps, last_sequence, joint_mtbf, other_mtbf, goodput_less, goodput_overhead, finish_time,
            step_cap, efficiency_needed, time_regained, spare_shortage, replacement_wait, running_share,
            energy_bound, gpu_token_rate, needed_token_rate, flops_time, gpus_for_time, time_of_money,
            tokens_in_time, params_for_flops>;

}  // namespace trainplan
