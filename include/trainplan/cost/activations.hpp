/// Activations that one layer saves for the backward pass, tensor by tensor, and how many are in flight.
#pragma once

#include "trainplan/cost/experts.hpp"
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

/// layer: mean layer of the stage and micro-batch; kept: what remains of a recomputed layer; running: what is
/// alive while the largest layer runs backward; recomputed: layers of the stage that are recomputed as a
/// whole.
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

/// The saved tensors of a layer, each an item.
template <Recorder R>
class SavedTensors {
  using N = typename R::Num;
  R& rec_;
  const Inputs<N>& in_;
  Tokens<N> tokens_;
  Sum<Bytes<N>> sum_;

 public:
  SavedTensors(R& rec, const Inputs<N>& in, Tokens<N> tokens) : rec_(rec), in_(in), tokens_(tokens) {}

  void add(const Item& item, Count<N> width, Count<N> ways) { add(item, tokens_, width, ways); }
  void add(const Item& item, Tokens<N> tokens, Count<N> width, Count<N> ways) {
    sum_.add(rec_.apply(activation_tensor, item, tokens, width, in_.element, ways));
  }
  void add(Bytes<N> bytes) { sum_.add(bytes); }
  Bytes<N> total() const { return sum_.total(); }
};

/// From the layer's input to the attention output: with latent attention keys and values are expanded for all
/// heads, and the latents are kept to expand them from.
template <Recorder R>
void attention_activations(const Inputs<typename R::Num>& in, const ModelSpec& m, const Plan& plan,
                           Count<typename R::Num> whole, SavedTensors<R>& t) {
  using N = typename R::Num;
  t.add({"activations.layer.input", "A_1", "layer input (kept for the first norm)"}, in.hidden, whole);
  t.add({"activations.layer.norm1", "A_2", "first norm's output (input of QKV)"}, in.hidden, whole);
  if (m.is_latent()) {
    const auto latents =
        m.latent.q_rank > 0 ? 2.0 * (in.q_rank + in.kv_rank) + in.rope : 2.0 * in.kv_rank + in.rope;
    t.add({"activations.layer.latents", "A_lat", "latents before and after their norms"}, latents, whole);
    t.add({"activations.layer.query", "A_3", "queries"}, in.latent_query, in.tp);
    t.add({"activations.layer.key_value", "A_4", "keys and values"}, in.latent_query + in.latent_value,
          in.tp);
    t.add({"activations.layer.attention", "A_5", "attention output"}, in.latent_value, in.tp);
    return;
  }
  const Count<N> groups = plan.tp > m.kv_heads ? in.kv_heads : in.tp;
  t.add({"activations.layer.query", "A_3", "queries"}, in.query, in.tp);
  t.add({"activations.layer.key_value", "A_4", "keys and values"}, 2.0 * in.kv, groups);
  t.add({"activations.layer.attention", "A_5", "attention output"}, in.query, in.tp);
}

/// The inputs of the MLP block; a parallel block shares those of the attention.
template <Recorder R>
void mlp_inputs(const Inputs<typename R::Num>& in, const ModelSpec& m, Count<typename R::Num> whole,
                SavedTensors<R>& t) {
  if (m.parallel_block) return;
  t.add({"activations.layer.residual", "A_6", "MLP block input (kept for the second norm)"}, in.hidden,
        whole);
  t.add({"activations.layer.norm2", "A_7", "second norm's output (input of the MLP)"}, in.hidden, whole);
}

template <Recorder R>
void dense_mlp_activations(const Inputs<typename R::Num>& in, const Problem& problem, SavedTensors<R>& t) {
  const double up = problem.model().mlp_matrices - 1;
  t.add({"activations.layer.up", "A_8", "up projections"}, up * in.ffn, in.tp);
  t.add({"activations.layer.mlp", "A_9", "activation output (input of the down projection)"}, in.ffn, in.tp);
  if (problem.model().mlp_matrices == 3 && !problem.recipe.fused_mlp)
    t.add({"activations.layer.gate", "A_10", "activated gate (eager SwiGLU)"}, in.ffn, in.tp);
}

/// Router, the rows that the experts of this rank take in, and shared experts.
template <Recorder R>
void expert_activations(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                        Tokens<typename R::Num> tokens, Count<typename R::Num> whole, SavedTensors<R>& t) {
  const double up = problem.model().mlp_matrices - 1;
  const auto rows = rec.apply(
      routed_rows, {"activations.routed_rows", "R", "token copies that the experts of a rank take in"},
      tokens, in.top_k, expert_load(rec, problem.recipe), in.etp, in.tp);
  t.add({"activations.layer.router", "A_r", "router scores, probabilities and their gradient in fp32"},
        6.0 * in.experts, whole);
  t.add({"activations.layer.permuted", "A_p", "permuted token copies (input of the experts)"}, rows,
        in.hidden, Count<typename R::Num>{1.0});
  t.add({"activations.layer.expert_up", "A_u", "up projections of the experts"}, rows, up * in.expert_ffn,
        in.etp);
  t.add({"activations.layer.expert_mlp", "A_e", "activation output of the experts"}, rows, in.expert_ffn,
        in.etp);
  if (problem.model().experts.shared_width == 0) return;
  t.add({"activations.layer.shared_up", "A_su", "up projections of the shared experts"}, up * in.shared_ffn,
        in.tp);
  t.add({"activations.layer.shared_mlp", "A_sm", "activation output of the shared experts"}, in.shared_ffn,
        in.tp);
}

/// Kinds of layers that a stage holds.
struct LayerMix {
  bool dense = true, sparse = false;
};
inline LayerMix mix_of(const Problem& problem, const Plan& plan, int stage) {
  const ModelSpec& m = problem.model();
  const StageLayers held = layers_of(m, plan, stage);
  const bool further = stage == plan.pp - 1 && problem.recipe.mtp_layers > 0;
  const bool last_sparse = m.kind(m.layers - 1).sparse;
  return {held.sparse < held.all || (further && !last_sparse), held.sparse > 0 || (further && last_sparse)};
}

/// What layers of either kind save; running is that of the larger kind.
template <class N>
struct StageActivations {
  Bytes<N> mean, running;
};

template <Recorder R>
StageActivations<typename R::Num> layer_activations(R& rec, const Inputs<typename R::Num>& in,
                                                    const Problem& problem, const Plan& plan,
                                                    const ParamsCost<typename R::Num>& params,
                                                    Tokens<typename R::Num> tokens, LayerMix mix) {
  using N = typename R::Num;
  const ModelSpec& m = problem.model();
  const Count<N> whole = hidden_ways(in, plan);
  SavedTensors<R> t(rec, in, tokens);
  attention_activations(in, m, plan, whole, t);
  mlp_inputs(in, m, whole, t);
  SavedTensors<R> dense = t, sparse = t;
  if (mix.dense) dense_mlp_activations(in, problem, dense);
  if (mix.sparse) expert_activations(rec, in, problem, tokens, whole, sparse);
  const bool keeps_matrix = problem.recipe.attention == Attention::Unfused;
  const bool rebuilt = keeps_matrix && plan.recompute == Recompute::Selective &&
                       (plan.modules & bit(Module::CoreAttention)) != 0;
  Bytes<N> matrix{};
  if (keeps_matrix)
    matrix = rec.apply(attention_matrix, {"activations.layer.matrix", "A_11", ""}, in.heads, tokens,
                       in.sequence / in.cp, in.tp);
  if (keeps_matrix && !rebuilt) {
    dense.add(matrix);
    sparse.add(matrix);
  }
  const Item mean{"activations.layer", "A", "activations of one layer and micro-batch"};
  StageActivations<N> out;
  if (mix.dense && mix.sparse) {
    const auto d =
        rec.item({"activations.dense_layer", "A_d", "activations of one dense layer"}, dense.total());
    const auto e =
        rec.item({"activations.sparse_layer", "A_s", "activations of one sparse layer"}, sparse.total());
    out.running = max(d, e);
    out.mean =
        rec.item({"activations.layer", "A", "activations of the mean layer of the stage and micro-batch"},
                 ((params.blocks - params.sparse_blocks) * d + params.sparse_blocks * e) / params.blocks);
  } else {
    out.mean = rec.item(mean, (mix.sparse ? sparse : dense).total());
    out.running = 1.0 * out.mean;
  }
  if (rebuilt) out.running = out.running + matrix;
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
                                                const ParamsCost<typename R::Num>& params) {
  using N = typename R::Num;
  ActivationCost<N> out;
  out.tokens = rec.apply(tokens_per_gpu, {"activations.tokens", "T", ""}, in.micro_batch, in.sequence, in.cp);
  out.micro_batches =
      rec.apply(micro_batches_per_step, {"schedule.micro_batches", "m", "micro-batches of a step"}, in.batch,
                in.dp, in.micro_batch);
  out.in_flight = detail::in_flight(rec, in, plan, stage, out.micro_batches);
  const auto layer = detail::layer_activations(rec, in, problem, plan, params, out.tokens,
                                               detail::mix_of(problem, plan, stage));
  out.layer = layer.mean;
  out.running = layer.running;
  out.kept = rec.apply(activation_tensor, {"activations.kept", "A_k", "input that a recomputed layer keeps"},
                       out.tokens, in.hidden, in.element, hidden_ways(in, plan));
  if (plan.recompute == Recompute::Full) {
    out.recomputed = params.blocks;
  } else {
    const double k = plan.recompute == Recompute::Layers ? plan.recompute_layers : 0;
    out.recomputed = rec.template in<Count<N>>(
        {"k", "layers of a stage that are recomputed", "plan /recompute_layers"}, k);
    out.recomputed = min(out.recomputed, params.blocks);
  }
  out.saved = rec.apply(saved_activations, {"memory.activations", "M_act", "activations in flight"},
                        out.in_flight, params.blocks, out.recomputed, out.layer, out.kept);
  return out;
}

using ActivationFormulas = Chapter<tokens_per_gpu, activation_tensor, attention_matrix, in_flight_gpipe,
                                   in_flight_1f1b, in_flight_interleaved, saved_activations>;

}  // namespace trainplan
