/// More GPUs for one run: what a larger batch saves, what a fixed batch saves, and what 6 N D asks for.
#pragma once

#include "trainplan/cost/long_run.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula least_steps{
    "least_steps", "steps that no batch, however large, can go below",
    Source{"mccandlish-2018", "section 2.2: S_min = S / (1 + B_noise / B)"},
    std::array{Arg{"steps", "S", "steps with the reference batch"},
               Arg{"batch", "B", "tokens of the reference batch", 1},
               Arg{"noise", "B_noise", "critical batch in tokens"}},
    []<class N>(Count<N> steps, Tokens<N> batch, Tokens<N> noise) { return steps / (noise / batch + 1.0); }};

inline constexpr Formula steps_at_batch{
    "steps_at_batch", "steps to the same loss with another batch",
    Source{"mccandlish-2018", "section 2.2: S = S_min (1 + B_noise / B)"},
    std::array{Arg{"least", "S_min", "steps that no batch can go below"},
               Arg{"batch", "B", "tokens of a step", 1}, Arg{"noise", "B_noise", "critical batch in tokens"}},
    []<class N>(Count<N> least, Tokens<N> batch, Tokens<N> noise) { return least * (noise / batch + 1.0); }};

inline constexpr Formula least_tokens{"least_tokens", "tokens that no batch, however small, can go below",
                                      Source{"mccandlish-2018", "section 2.2: B_crit = E_min / S_min"},
                                      std::array{Arg{"least", "S_min", "steps that no batch can go below"},
                                                 Arg{"noise", "B_noise", "critical batch in tokens"}},
                                      []<class N>(Count<N> least, Tokens<N> noise) { return least * noise; }};

inline constexpr Formula weak_scaling_ceiling{
    "weak_scaling_ceiling", "how many times fewer steps the largest batch needs",
    Source{"mccandlish-2018", "section 2.2: S / S_min = 1 + B_noise / B"},
    std::array{Arg{"batch", "B", "tokens of the reference batch", 1},
               Arg{"noise", "B_noise", "critical batch in tokens"}},
    []<class N>(Tokens<N> batch, Tokens<N> noise) { return noise / batch + 1.0; }};

inline constexpr Formula weak_scaled_batch{
    "weak_scaled_batch", "tokens of a step when each GPU keeps its share",
    Source{"identity", "batch x GPUs / reference GPUs"},
    std::array{Arg{"batch", "B", "tokens of the reference batch"}, Arg{"gpus", "G", "GPUs"},
               Arg{"reference", "G_0", "GPUs of the reference", 1}},
    []<class N>(Tokens<N> batch, Count<N> gpus, Count<N> reference) { return batch * gpus / reference; }};

inline constexpr Formula batch_ratio{
    "batch_ratio", "how many times one batch is another", Source{"identity", "B / B_noise, B / B_0"},
    std::array{Arg{"batch", "B", "tokens of a step"}, Arg{"unit", "B_0", "tokens that count as one", 1}},
    []<class N>(Tokens<N> batch, Tokens<N> unit) { return batch / unit; }};

inline constexpr Formula time_of_steps{
    "time_of_steps", "time of a number of steps", Source{"identity", "steps x step"},
    std::array{Arg{"steps", "S", "steps"}, Arg{"step", "t_step", "step time"}},
    []<class N>(Count<N> steps, Seconds<N> step) { return steps * step; }};

inline constexpr Formula strong_scaled_step{
    "strong_scaled_step", "step time when more GPUs share the same batch",
    Source{"amdahl-1967", "compute shrinks with the GPUs, the rest of the step does not"},
    std::array{Arg{"compute", "T_comp", "compute time of a step on the reference GPUs"},
               Arg{"fixed", "T_fix", "time of a step that more GPUs do not shorten"},
               Arg{"gpus", "G", "GPUs", 1}, Arg{"reference", "G_0", "GPUs of the reference"}},
    []<class N>(Seconds<N> compute, Seconds<N> fixed, Count<N> gpus, Count<N> reference) {
      return compute * reference / gpus + fixed;
    }};

inline constexpr Formula part_of_time{
    "part_of_time",
    "share of a time that one part of it takes",
    Source{"identity", "part / whole"},
    std::array{Arg{"part", "T_part", "time of the part"}, Arg{"whole", "T", "time of the whole", 1e-12}},
    []<class N>(Seconds<N> part, Seconds<N> whole) { return part / whole; },
    Unit::Share};

inline constexpr Formula speed_ratio{
    "speed_ratio", "how many times faster one way is than another", Source{"identity", "before / after"},
    std::array{Arg{"before", "T_1", "time before"}, Arg{"after", "T_2", "time after", 1e-12}},
    []<class N>(Seconds<N> before, Seconds<N> after) { return before / after; }};

inline constexpr Formula scaling_efficiency{
    "scaling_efficiency",
    "share of the added GPUs that turns into speed",
    Source{"megascale-2024", "section 6: speed-up / factor of GPUs"},
    std::array{Arg{"before", "T_1", "step time on fewer GPUs"},
               Arg{"after", "T_2", "step time on more GPUs", 1e-12}, Arg{"few", "G_1", "fewer GPUs"},
               Arg{"many", "G_2", "more GPUs", 1}},
    []<class N>(Seconds<N> before, Seconds<N> after, Count<N> few, Count<N> many) {
      return before / after * few / many;
    },
    Unit::Share};

inline constexpr Formula amdahl_time{
    "amdahl_time", "time of a step when one capability changes", Source{"amdahl-1967", "T (1 - f + f / r)"},
    std::array{Arg{"step", "T", "step time"}, Arg{"fraction", "f", "share of the step that uses it", 0, 1},
               Arg{"ratio", "r", "new capability over the old one", 1e-9}},
    []<class N>(Seconds<N> step, Count<N> fraction, Count<N> ratio) {
      return step * (1.0 - fraction + fraction / ratio);
    }};

inline constexpr Formula dense_flops{
    "dense_flops", "FLOPs of a training run, attention left out", Source{"kaplan-2020", "section 2.1: 6 N D"},
    std::array{Arg{"params", "N", "parameters"}, Arg{"tokens", "D", "tokens"}},
    []<class N>(Params<N> params, Tokens<N> tokens) { return as<kFlops - kTokens>(6.0 * params) * tokens; }};

inline constexpr Formula dense_time{
    "dense_time", "wall-clock time of a training run at an assumed MFU, nothing lost",
    Source{"kaplan-2020", "section 2.1: 6 N D over the FLOP/s that are reached"},
    std::array{Arg{"params", "N", "parameters"}, Arg{"tokens", "D", "tokens"}, Arg{"gpus", "G", "GPUs", 1},
               Arg{"peak", "P", "dense peak of a GPU", 1e-9},
               Arg{"mfu", "u", "model FLOPs utilisation", 1e-6, 1}},
    []<class N>(Params<N> params, Tokens<N> tokens, Count<N> gpus, FlopsPerSec<N> peak, Count<N> u) {
      return flops_time(dense_flops(params, tokens), gpus, peak, u);
    }};

inline constexpr Formula gpus_by_compute{
    "gpus_by_compute", "GPUs that finish a training run in time, nothing lost",
    Source{"kaplan-2020", "section 2.1: ceil(6 N D / (T P u))"},
    std::array{Arg{"params", "N", "parameters"}, Arg{"tokens", "D", "tokens"},
               Arg{"time", "T", "wall-clock time", 1e-9}, Arg{"peak", "P", "dense peak of a GPU", 1e-9},
               Arg{"mfu", "u", "model FLOPs utilisation", 1e-6, 1}},
    []<class N>(Params<N> params, Tokens<N> tokens, Seconds<N> time, FlopsPerSec<N> peak, Count<N> u) {
      return gpus_for_time(dense_flops(params, tokens), time, peak, u);
    }};

inline constexpr Formula gpus_by_memory{
    "gpus_by_memory", "GPUs that hold a training state, evenly split and with nothing beside it",
    Source{"zero-2020", "section 5: ceil(state / memory of a GPU)"},
    std::array{Arg{"state", "M_state", "training state"}, Arg{"memory", "M_gpu", "memory of a GPU", 1}},
    []<class N>(Bytes<N> state, Bytes<N> memory) { return ceil(state / memory); }};

inline constexpr Formula tokens_for_params{
    "tokens_for_params", "tokens in proportion to the parameters",
    Source{"hoffmann-2022", "table 3: about 20 tokens for each parameter"},
    std::array{Arg{"params", "N", "parameters"}, Arg{"ratio", "r_D", "tokens for each parameter"}},
    []<class N>(Params<N> params, Count<N> ratio) { return as<kTokens>(as<kCount>(params) * ratio); }};

using ScalingFormulas =
    Chapter<least_steps, steps_at_batch, least_tokens, weak_scaling_ceiling, weak_scaled_batch, batch_ratio,
            time_of_steps, strong_scaled_step, part_of_time, speed_ratio, scaling_efficiency, amdahl_time,
            dense_flops, dense_time, gpus_by_compute, gpus_by_memory, tokens_for_params>;

}  // namespace trainplan
