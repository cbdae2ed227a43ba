/// Activations that one layer saves for the backward pass, tensor by tensor, and how many are in flight.
#pragma once

#include "trainplan/cost/inputs.hpp"
#include "trainplan/cost/params.hpp"
#include "trainplan/cost/schedule.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula tokens_per_gpu{
    "tokens_per_gpu", "tokens of one micro-batch on one GPU",
    Source{"ring-attention-2023", "context parallelism cuts the sequence"},
    std::array{Arg{"b", "b", "micro-batch in sequences"}, Arg{"s", "s", "sequence length"},
               Arg{"c", "c", "context parallel degree", 1}},
    []<class N>(Count<N> b, Tokens<N> s, Count<N> c) { return b * s / c; }};

inline constexpr Formula activation_tensor{
    "activation_tensor", "bytes of one saved tensor on one GPU", Source{"korthikanti-2022", "section 4"},
    std::array{Arg{"tokens", "T", "tokens"}, Arg{"width", "w", "elements of a token"},
               Arg{"element", "e", "bytes of an element"},
               Arg{"ways", "t", "ranks that share the tensor", 1}},
    []<class N>(Tokens<N> tokens, Count<N> width, BytesPerToken<N> element, Count<N> ways) {
      return tokens * width * element / ways;
    }};

inline constexpr Formula attention_matrix{
    "attention_matrix", "bytes of the attention matrices that an unfused kernel saves",
    Source{"korthikanti-2022", "5 a s^2 b: softmax output 2, dropout mask 1, dropout output 2"},
    std::array{Arg{"a", "a", "attention heads"}, Arg{"tokens", "T", "tokens"},
               Arg{"s", "s", "sequence length"}, Arg{"t", "t", "tensor parallel degree", 1}},
    []<class N>(Count<N> a, Tokens<N> tokens, Tokens<N> s, Count<N> t) {
      return as<kBytes>(5.0 * a * tokens * as<kCount>(s) / t);
    }};

inline constexpr Formula in_flight_gpipe{
    "in_flight_gpipe", "micro-batches in flight on a stage, GPipe", Source{"gpipe-2019", "all of a step"},
    std::array{Arg{"m", "m", "micro-batches of a step"}}, []<class N>(Count<N> m) { return 1.0 * m; }};

inline constexpr Formula in_flight_1f1b{
    "in_flight_1f1b", "micro-batches in flight on a stage, 1F1B", Source{"pipedream-2021", "1F1B"},
    std::array{Arg{"p", "p", "stages"}, Arg{"stage", "i", "stage, from 0"},
               Arg{"m", "m", "micro-batches of a step"}},
    []<class N>(Count<N> p, Count<N> stage, Count<N> m) { return min(p - stage, m); }};

inline constexpr Formula in_flight_interleaved{
    "in_flight_interleaved", "micro-batches in flight on a stage, interleaved 1F1B",
    Source{"megatron-2021", "warm-up 2 (p - 1 - i) + (v - 1) p chunks, then one forward"},
    std::array{Arg{"p", "p", "stages"}, Arg{"v", "v", "virtual stages per rank", 1},
               Arg{"stage", "i", "stage, from 0"}, Arg{"m", "m", "micro-batches of a step"}},
    []<class N>(Count<N> p, Count<N> v, Count<N> stage, Count<N> m) {
      return min(2.0 * (p - 1.0 - stage) + (v - 1.0) * p + 1.0, v * m) / v;
    }};

inline constexpr Formula saved_activations{
    "saved_activations", "activations in flight on one GPU",
    Source{"korthikanti-2022", "section 4.2: layers x micro-batches in flight"},
    std::array{
        Arg{"in_flight", "n_fly", "micro-batches in flight"}, Arg{"layers", "L_s", "layers of the stage"},
        Arg{"recomputed", "k", "layers that are recomputed"}, Arg{"full", "A", "bytes that a layer saves"},
        Arg{"kept", "A_k", "bytes that a recomputed layer keeps"}},
    []<class N>(Count<N> fly, Count<N> layers, Count<N> recomputed, Bytes<N> full, Bytes<N> kept) {
      return fly * ((layers - recomputed) * full + recomputed * kept);
    }};

/// layer: one layer and micro-batch; kept: what remains of a recomputed layer; core: what selective recompute
/// frees; recomputed: layers of the stage that are recomputed as a whole.
template <class N>
struct ActivationCost {
  Tokens<N> tokens;
  Count<N> micro_batches, in_flight, recomputed;
  Bytes<N> layer, running, kept, saved;
};

namespace detail {

/// One layer and micro-batch on one GPU: what it saves, and what is alive while it runs backward.
template <class N>
struct LayerActivations {
  Bytes<N> saved, running;
};

template <Recorder R>
LayerActivations<typename R::Num> layer_activations(R& rec, const Inputs<typename R::Num>& in,
                                                    const Problem& problem, const Plan& plan,
                                                    Tokens<typename R::Num> tokens) {
  using N = typename R::Num;
  const Count<N> whole = hidden_ways(in, plan);
  const auto one = [&](std::string_view id, std::string_view symbol, std::string_view title, Count<N> width,
                       Count<N> ways) {
    return rec.apply(activation_tensor, {id, symbol, title}, tokens, width, in.element, ways);
  };
  const double up = problem.model().mlp_matrices - 1;
  const auto in1 =
      one("activations.layer.input", "A_1", "layer input (kept for the first norm)", in.hidden, whole);
  const auto in2 =
      one("activations.layer.norm1", "A_2", "first norm's output (input of QKV)", in.hidden, whole);
  const auto q = one("activations.layer.query", "A_3", "queries", in.query, in.tp);
  const auto kv = one("activations.layer.key_value", "A_4", "keys and values", 2.0 * in.kv, in.tp);
  const auto o = one("activations.layer.attention", "A_5", "attention output", in.query, in.tp);
  const auto in3 = one("activations.layer.residual", "A_6", "MLP block input (kept for the second norm)",
                       in.hidden, whole);
  const auto in4 =
      one("activations.layer.norm2", "A_7", "second norm's output (input of the MLP)", in.hidden, whole);
  const auto u = one("activations.layer.up", "A_8", "up projections", up * in.ffn, in.tp);
  const auto a =
      one("activations.layer.mlp", "A_9", "activation output (input of the down projection)", in.ffn, in.tp);
  auto sum = in1 + in2 + q + kv + o + in3 + in4 + u + a;
  if (problem.model().mlp_matrices == 3 && !problem.recipe.fused_mlp)
    sum = sum + one("activations.layer.gate", "A_10", "activated gate (eager SwiGLU)", in.ffn, in.tp);
  LayerActivations<N> out;
  const bool keeps_matrix = problem.recipe.attention == Attention::Unfused;
  Bytes<N> matrix{};
  if (keeps_matrix)
    matrix = rec.apply(attention_matrix, {"activations.layer.matrix", "A_11", ""}, in.heads, tokens,
                       in.sequence / in.cp, in.tp);
  const bool rebuilt = keeps_matrix && plan.recompute == Recompute::Selective;
  if (keeps_matrix && !rebuilt) sum = sum + matrix;
  out.saved = rec.item({"activations.layer", "A", "activations of one layer and micro-batch"}, sum);
  out.running = rebuilt ? out.saved + matrix : 1.0 * out.saved;
  return out;
}

template <Recorder R>
Count<typename R::Num> in_flight(R& rec, const Inputs<typename R::Num>& in, const Plan& plan, int stage,
                                 Count<typename R::Num> m) {
  using N = typename R::Num;
  const Item item{"activations.in_flight", "n_fly", "micro-batches in flight on this stage"};
  const Count<N> i = rec.template in<Count<N>>({"i", "stage, from 0", "stage"}, stage);
  switch (plan.schedule) {
    case Schedule::GPipe: return rec.apply(in_flight_gpipe, item, m);
    case Schedule::OneFOneB: return rec.apply(in_flight_1f1b, item, in.pp, i, m);
    case Schedule::Interleaved: return rec.apply(in_flight_interleaved, item, in.pp, in.vpp, i, m);
  }
  return m;
}

}  // namespace detail

template <Recorder R>
ActivationCost<typename R::Num> activation_cost(R& rec, const Inputs<typename R::Num>& in,
                                                const Problem& problem, const Plan& plan, int stage,
                                                Count<typename R::Num> stage_layers) {
  using N = typename R::Num;
  ActivationCost<N> out;
  out.tokens = rec.apply(tokens_per_gpu, {"activations.tokens", "T", ""}, in.micro_batch, in.sequence, in.cp);
  out.micro_batches =
      rec.apply(micro_batches_per_step, {"schedule.micro_batches", "m", "micro-batches of a step"}, in.batch,
                in.dp, in.micro_batch);
  out.in_flight = detail::in_flight(rec, in, plan, stage, out.micro_batches);
  const auto layer = detail::layer_activations(rec, in, problem, plan, out.tokens);
  out.layer = layer.saved;
  out.running = layer.running;
  out.kept = rec.apply(activation_tensor, {"activations.kept", "A_k", "input that a recomputed layer keeps"},
                       out.tokens, in.hidden, in.element, hidden_ways(in, plan));
  if (plan.recompute == Recompute::Full) {
    out.recomputed = stage_layers;
  } else {
    const double k = plan.recompute == Recompute::Layers ? plan.recompute_layers : 0;
    out.recomputed = rec.template in<Count<N>>(
        {"k", "layers of a stage that are recomputed", "plan /recompute_layers"}, k);
    out.recomputed = min(out.recomputed, stage_layers);
  }
  out.saved = rec.apply(saved_activations, {"memory.activations", "M_act", "activations in flight"},
                        out.in_flight, stage_layers, out.recomputed, out.layer, out.kept);
  return out;
}

using ActivationFormulas = Chapter<tokens_per_gpu, activation_tensor, attention_matrix, in_flight_gpipe,
                                   in_flight_1f1b, in_flight_interleaved, saved_activations>;

}  // namespace trainplan
