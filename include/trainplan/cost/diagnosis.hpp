/// What a measured figure implies: the formulas of a plan, solved for the number that nobody measured.
#pragma once

#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula implied_bandwidth{
    "implied_bandwidth", "bandwidth that a measured transfer reached", Source{"identity", "bytes / time"},
    std::array{Arg{"bytes", "V", "bytes moved"}, Arg{"time", "T", "measured time", 1e-12}},
    []<class N>(Bytes<N> bytes, Seconds<N> time) { return bytes / time; }};

inline constexpr Formula implied_save_time{
    "implied_save_time", "time of one save that a measured waste implies",
    Source{"young-1974", "w = sqrt(2 delta / M), solved for delta"},
    std::array{Arg{"waste", "w_min", "share of time lost to saving and rollback", 0, 1},
               Arg{"mtbf", "M", "mean time between failures of the job"}},
    []<class N>(Count<N> waste, Seconds<N> mtbf) { return waste * waste * mtbf / 2.0; }};

inline constexpr Formula accelerated_share{
    "accelerated_share",
    "share of the time that a faster kernel must have taken",
    Source{"identity", "Amdahl: 1/S = 1 - g + g/k, solved for g"},
    std::array{Arg{"speedup", "S", "speed-up of the whole", 1},
               Arg{"factor", "k", "speed-up of the kernel", 1.000001}},
    []<class N>(Count<N> speedup, Count<N> factor) { return (1.0 - 1.0 / speedup) / (1.0 - 1.0 / factor); },
    Unit::Share};

inline constexpr Formula achieved_flops{
    "achieved_flops", "model FLOP/s of one GPU",
    Source{"palm-2022", "appendix B: tokens/s x FLOPs of a token"},
    std::array{Arg{"rate", "r", "tokens that a GPU trains in a second"},
               Arg{"flops", "F_tok", "model FLOPs of a token"}},
    []<class N>(TokensPerSec<N> rate, FlopsPerToken<N> flops) { return rate * flops; }};

inline constexpr Formula flops_utilisation{
    "flops_utilisation",
    "share of a peak that a FLOP rate is",
    Source{"palm-2022", "appendix B: the dense peak of the number format"},
    std::array{Arg{"achieved", "P_got", "achieved FLOP/s"}, Arg{"peak", "P", "dense peak", 1}},
    []<class N>(FlopsPerSec<N> achieved, FlopsPerSec<N> peak) { return achieved / peak; },
    Unit::Share};

inline constexpr Formula flops_ratio{
    "flops_ratio", "how many times the FLOPs of one token are those of another", Source{"identity", "ratio"},
    std::array{Arg{"more", "F_1", "FLOPs of a token"}, Arg{"less", "F_2", "FLOPs of a token", 1e-9}},
    []<class N>(FlopsPerToken<N> more, FlopsPerToken<N> less) { return more / less; }};

inline constexpr Formula regather_utilisation{
    "regather_utilisation",
    "MFU of a step whose time is that of gathering weights",
    Source{"fsdp-2023", "section 3.2: every micro-batch gathers again"},
    std::array{Arg{"mfu", "MFU", "MFU with one micro-batch"},
               Arg{"tokens", "x_tok", "tokens of the step over those with one micro-batch"},
               Arg{"gathers", "n_g", "micro-batches of the step", 1}},
    []<class N>(Count<N> u, Count<N> tokens, Count<N> gathers) { return u * tokens / gathers; },
    Unit::Share};

inline constexpr Formula implied_activations{
    "implied_activations", "activations of one micro-batch that a measured peak implies",
    Source{"pipedream-2021", "peak = state + micro-batches in flight x activations"},
    std::array{Arg{"peak", "M_peak", "measured peak"}, Arg{"state", "M_state", "training state"},
               Arg{"in_flight", "n_fly", "micro-batches in flight", 1}},
    []<class N>(Bytes<N> peak, Bytes<N> state, Count<N> fly) { return (peak - state) / fly; }};

inline constexpr Formula implied_tokens{
    "implied_tokens", "tokens whose logits are a tensor of that size",
    Source{"megatron-2019", "section 3: tokens x vocabulary / t"},
    std::array{Arg{"bytes", "X", "bytes of the tensor"}, Arg{"vocabulary", "V", "vocabulary", 1},
               Arg{"element", "e_l", "bytes of an entry", 1e-9}, Arg{"t", "t", "tensor parallel degree", 1}},
    []<class N>(Bytes<N> bytes, Count<N> vocabulary, BytesPerToken<N> element, Count<N> t) {
      return bytes * t / (vocabulary * element);
    }};

inline constexpr Formula implied_elements{
    "implied_elements", "parameters whose copies are a buffer of that size",
    Source{"identity", "bytes / bytes per parameter"},
    std::array{Arg{"bytes", "X", "bytes of the buffer"}, Arg{"width", "w", "bytes per parameter", 1e-9}},
    []<class N>(Bytes<N> bytes, BytesPerParam<N> width) { return bytes / width; }};

inline constexpr Formula size_excess{"size_excess",
                                     "by how much one size exceeds another",
                                     Source{"identity", "x / y - 1"},
                                     std::array{Arg{"more", "X", "bytes"}, Arg{"less", "Y", "bytes", 1e-9}},
                                     []<class N>(Bytes<N> more, Bytes<N> less) { return more / less - 1.0; },
                                     Unit::Share};

inline constexpr Formula average_shortfall{
    "average_shortfall",
    "by how much the average of the stages is below the fullest",
    Source{"identity", "1 - average / largest"},
    std::array{Arg{"average", "N_avg", "parameters of a stage on average"},
               Arg{"largest", "N_max", "parameters of the fullest stage", 1e-9}},
    []<class N>(Params<N> average, Params<N> largest) { return 1.0 - average / largest; },
    Unit::Share};

inline constexpr Formula batch_of_micro_batches{
    "batch_of_micro_batches", "batch that gives every pipeline so many micro-batches",
    Source{"megatron-2021", "section 2.2: m = B / (d b), solved for B"},
    std::array{Arg{"m", "m", "micro-batches of a step"}, Arg{"b", "b", "micro-batch in sequences", 1},
               Arg{"d", "d", "ranks that share the batch", 1}},
    []<class N>(Count<N> m, Count<N> b, Count<N> d) { return m * b * d; }};

inline constexpr Formula equal_layers{
    "equal_layers", "layers that a pipeline holds when every stage takes the same whole number",
    Source{"megatron-lm", "before it checked: num_layers // pipeline_model_parallel_size on each stage"},
    std::array{Arg{"L", "L", "layers", 1}, Arg{"p", "p", "stages", 1}},
    []<class N>(Count<N> l, Count<N> p) { return floor(l / p) * p; }};

using DiagnosisFormulas =
    Chapter<implied_bandwidth, implied_save_time, accelerated_share, achieved_flops, flops_utilisation,
            flops_ratio, regather_utilisation, implied_activations, implied_tokens, implied_elements,
            size_excess, average_shortfall, batch_of_micro_batches, equal_layers>;

}  // namespace trainplan
