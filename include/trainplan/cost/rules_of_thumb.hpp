/// Rules for the back of an envelope: a GPT layer's activations and the memory of a plan in four terms.
#pragma once

#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula attention_coefficient{
    "attention_coefficient", "bytes of the stored attention matrices per element of the hidden states",
    Source{"korthikanti-2022", "5 a s / h; none with a fused kernel"},
    std::array{Arg{"a", "a", "attention heads"}, Arg{"s", "s", "sequence length"},
               Arg{"h", "h", "hidden size", 1}},
    []<class N>(Count<N> a, Tokens<N> s, Count<N> h) {
      return as<kBytes - kTokens>(5.0 * a * as<kCount>(s) / h);
    }};

inline constexpr Formula tensor_parallel_coefficient{
    "tensor_parallel_coefficient",
    "bytes of a GPT layer per element of the hidden states, without sequence parallelism",
    Source{"korthikanti-2022", "10 + 24 / t: norms, dropouts and block inputs are not split"},
    std::array{Arg{"t", "t", "tensor parallel degree", 1}},
    []<class N>(Count<N> t) { return as<kBytes - kTokens>(24.0 / t + 10.0); }};

inline constexpr Formula korthikanti_layer{
    "korthikanti_layer", "activations of one GPT layer, not split",
    Source{"korthikanti-2022", "eq. 1: s b h (34 + 5 a s / h)"},
    std::array{Arg{"s", "s", "sequence length"}, Arg{"b", "b", "micro-batch in sequences"},
               Arg{"h", "h", "hidden size", 1}, Arg{"a", "a", "attention heads"}},
    []<class N>(Tokens<N> s, Count<N> b, Count<N> h, Count<N> a) {
      return as<kBytes>(s * b * h * (5.0 * a * as<kCount>(s) / h + 34.0));
    }};

inline constexpr Formula korthikanti_tp{
    "korthikanti_tp", "activations of one GPT layer, tensor parallel",
    Source{"korthikanti-2022", "eq. 2: s b h (10 + 24 / t + 5 a s / (h t))"},
    std::array{Arg{"s", "s", "sequence length"}, Arg{"b", "b", "micro-batch in sequences"},
               Arg{"h", "h", "hidden size", 1}, Arg{"a", "a", "attention heads"},
               Arg{"t", "t", "tensor parallel degree", 1}},
    []<class N>(Tokens<N> s, Count<N> b, Count<N> h, Count<N> a, Count<N> t) {
      return as<kBytes>(s * b * h * (24.0 / t + 5.0 * a * as<kCount>(s) / (h * t) + 10.0));
    }};

inline constexpr Formula korthikanti_tp_sp{
    "korthikanti_tp_sp", "activations of one GPT layer, tensor and sequence parallel",
    Source{"korthikanti-2022", "eq. 4: s b h / t (34 + 5 a s / h)"},
    std::array{Arg{"s", "s", "sequence length"}, Arg{"b", "b", "micro-batch in sequences"},
               Arg{"h", "h", "hidden size", 1}, Arg{"a", "a", "attention heads"},
               Arg{"t", "t", "tensor parallel degree", 1}},
    []<class N>(Tokens<N> s, Count<N> b, Count<N> h, Count<N> a, Count<N> t) {
      return as<kBytes>(s * b * h / t * (5.0 * a * as<kCount>(s) / h + 34.0));
    }};

inline constexpr Formula flash_layer{
    "flash_layer", "activations of one GPT layer with a fused attention kernel",
    Source{"korthikanti-2022", "eq. 4 without the attention matrices: 34 s b h / t"},
    std::array{Arg{"s", "s", "sequence length"}, Arg{"b", "b", "micro-batch in sequences"},
               Arg{"h", "h", "hidden size"}, Arg{"t", "t", "tensor and sequence parallel degree", 1}},
    []<class N>(Tokens<N> s, Count<N> b, Count<N> h, Count<N> t) {
      return as<kBytes>(34.0 * s * b * h / t);
    }};

inline constexpr Formula unfused_factor{
    "unfused_factor", "activations of a GPT layer with stored attention matrices over those without",
    Source{"korthikanti-2022", "(34 + 5 a s / h) / 34"},
    std::array{Arg{"a", "a", "attention heads"}, Arg{"s", "s", "sequence length"},
               Arg{"h", "h", "hidden size", 1}},
    []<class N>(Count<N> a, Tokens<N> s, Count<N> h) { return (5.0 * a * as<kCount>(s) / h + 34.0) / 34.0; }};

inline constexpr Formula recompute_saving{
    "recompute_saving", "share of a layer's activations that recomputing it saves",
    Source{"korthikanti-2022", "only the input of the layer stays"},
    std::array{Arg{"kept", "A_k", "bytes that a recomputed layer keeps"},
               Arg{"full", "A", "bytes that a layer saves", 1e-9}},
    []<class N>(Bytes<N> kept, Bytes<N> full) { return 1.0 - kept / full; }};

inline constexpr Formula recompute_frees{
    "recompute_frees", "memory that recomputing some layers frees",
    Source{"korthikanti-2022", "layers x micro-batches in flight"},
    std::array{Arg{"layers", "k", "layers of a stage that are recomputed"},
               Arg{"in_flight", "n_fly", "micro-batches in flight"},
               Arg{"full", "A", "bytes that a layer saves"},
               Arg{"kept", "A_k", "bytes that a recomputed layer keeps"}},
    []<class N>(Count<N> layers, Count<N> fly, Bytes<N> full, Bytes<N> kept) {
      return layers * fly * (full - kept);
    }};

inline constexpr Formula interleaving_penalty{
    "interleaving_penalty", "activations of the first stage with interleaving over those without",
    Source{"megatron-lm", "theoretical_memory_usage.py: 1 + (p - 1)/(p v)"},
    std::array{Arg{"p", "p", "stages", 1}, Arg{"v", "v", "virtual stages per rank", 1}},
    []<class N>(Count<N> p, Count<N> v) { return (p - 1.0) / (p * v) + 1.0; }};

inline constexpr Formula rule_activations{
    "rule_activations", "activations of a stage, rule of thumb",
    Source{"rule-of-thumb", "layers x in flight x 34 s b h / t; 1.2 allows for SwiGLU"},
    std::array{Arg{"layer", "A", "activations of one layer and micro-batch"},
               Arg{"layers", "L_s", "layers of the stage"},
               Arg{"in_flight", "n_fly", "micro-batches in flight"},
               Arg{"allowance", "f_allow", "allowance for a gated MLP", 1}},
    []<class N>(Bytes<N> layer, Count<N> layers, Count<N> fly, Count<N> allowance) {
      return layer * layers * fly * allowance;
    }};

inline constexpr Formula rule_memory{
    "rule_memory", "memory of one GPU, rule of thumb",
    Source{"rule-of-thumb", "state + activations + a flat 8 GB"},
    std::array{Arg{"state", "M_state", "training state of one GPU"},
               Arg{"layer", "A", "activations of one layer and micro-batch"},
               Arg{"layers", "L_s", "layers of the stage"},
               Arg{"in_flight", "n_fly", "micro-batches in flight"},
               Arg{"allowance", "f_allow", "allowance for a gated MLP", 1},
               Arg{"overhead", "M_flat", "logits, context, communicators, fragmentation"}},
    []<class N>(Bytes<N> state, Bytes<N> layer, Count<N> layers, Count<N> fly, Count<N> allowance,
                Bytes<N> overhead) { return state + layer * layers * fly * allowance + overhead; }};

inline constexpr Formula bytes_ratio{
    "bytes_ratio", "how many times one size is another", Source{"identity", "a number of cards, of copies"},
    std::array{Arg{"bytes", "X", "bytes"}, Arg{"unit", "Y", "bytes that count as one", 1e-9}},
    []<class N>(Bytes<N> bytes, Bytes<N> unit) { return bytes / unit; }};

using RuleOfThumbFormulas =
    Chapter<attention_coefficient, tensor_parallel_coefficient, korthikanti_layer, korthikanti_tp,
            korthikanti_tp_sp, flash_layer, unfused_factor, recompute_saving, recompute_frees,
            interleaving_penalty, rule_activations, rule_memory, bytes_ratio>;

}  // namespace trainplan
