/// The tensors that a layer saves for the backward pass, each an item.
#pragma once

#include "trainplan/cost/experts.hpp"
#include "trainplan/cost/inputs.hpp"
#include "trainplan/cost/low_precision.hpp"
#include "trainplan/cost/selection.hpp"

namespace trainplan {

inline constexpr Formula activation_tensor{
    "activation_tensor", "bytes of one saved tensor on one GPU", Source{"korthikanti-2022", "section 4"},
    std::array{Arg{"tokens", "T", "tokens"}, Arg{"width", "w", "elements of a token"},
               Arg{"element", "e", "bytes of an element"},
               Arg{"ways", "t", "ranks that share the tensor", 1}},
    []<class N>(Tokens<N> tokens, Count<N> width, BytesPerToken<N> element, Count<N> ways) {
      return tokens * width * element / ways;
    }};

inline constexpr Formula attention_matrix{
    "attention_matrix", "bytes of matrices of an unfused attention kernel",
    Source{"korthikanti-2022",
           "a s^2 b entries; saved: softmax output 2 bytes, with dropout mask 1, output 2"},
    std::array{Arg{"a", "a", "attention heads"}, Arg{"tokens", "T", "tokens"},
               Arg{"s", "s", "sequence length"}, Arg{"entry", "w_a", "bytes of all matrices for an entry"},
               Arg{"t", "t", "tensor parallel degree", 1}},
    []<class N>(Count<N> a, Tokens<N> tokens, Tokens<N> s, BytesPerToken<N> entry, Count<N> t) {
      return a * tokens * as<kCount>(s) * entry / t;
    }};

namespace detail {

/// Tensors of one kind of layer. saved: until the backward pass. dropped: selective recompute rebuilds them.
/// behind: all but the layer's input, which recompute of the whole layer rebuilds.
template <class N>
struct LayerSums {
  Sum<Bytes<N>> saved, dropped, behind, all;

  void add(Tensor t, Bytes<N> bytes, bool drop) {
    (drop ? dropped : saved).add(bytes);
    if (t != Tensor::Input) behind.add(bytes);
    all.add(bytes);
  }
};

/// The tensors of both kinds of layers that a stage holds; rows: token copies that the experts of this rank
/// take in.
template <class N>
struct LayerTotals {
  LayerSums<N> dense{}, sparse{};
  Tokens<N> rows{};
};

/// Where they are added up, each tensor one item.
template <Recorder R>
struct LayerTensors {
  using N = typename R::Num;
  R& rec;
  const Inputs<N>& in;
  const Problem& problem;
  const Plan& plan;
  Tokens<N> tokens;
  LayerMix mix;
  Selection selection;
  Count<N> whole;
  BytesPerToken<N> low;  // of an input that a product keeps in its format
  LayerSums<N> dense{}, sparse{};

  void add_both(Tensor t, const Item& item, Count<N> width, Count<N> ways) {
    add_both(t, rec.apply(activation_tensor, item, tokens, width, in.element, ways));
  }
  void add_both_low(Tensor t, const Item& item, Count<N> width, Count<N> ways) {
    add_both(t, rec.apply(activation_tensor, item, tokens, width, low, ways));
  }
  void add_both(Tensor t, Bytes<N> bytes) {
    if (mix.dense) dense.add(t, bytes, selection.drops(t, false));
    if (mix.sparse) sparse.add(t, bytes, selection.drops(t, true));
  }
  void add_dense(Tensor t, const Item& item, Count<N> width) {
    dense.add(t, rec.apply(activation_tensor, item, tokens, width, in.element, in.tp),
              selection.drops(t, false));
  }
  void add_dense_low(Tensor t, const Item& item, Count<N> width, Count<N> ways) {
    dense.add(t, rec.apply(activation_tensor, item, tokens, width, low, ways), selection.drops(t, false));
  }
  void add_sparse_low(Tensor t, const Item& item, Tokens<N> rows, Count<N> width, Count<N> ways) {
    sparse.add(t, rec.apply(activation_tensor, item, rows, width, low, ways), selection.drops(t, true));
  }
  void add_sparse(Tensor t, const Item& item, Tokens<N> rows, Count<N> width, Count<N> ways) {
    sparse.add(t, rec.apply(activation_tensor, item, rows, width, in.element, ways),
               selection.drops(t, true));
  }
};

/// Latents before and after their norms, and what the kernel reads: keys and values expanded for all heads.
template <Recorder R>
void latent_tensors(LayerTensors<R>& t) {
  const auto& in = t.in;
  const auto normed = t.problem.model().latent.q_rank > 0 ? in.q_rank + in.kv_rank : 1.0 * in.kv_rank;
  t.add_both(Tensor::Latents, {"activations.layer.latents", "A_lat", "latents (kept for their norms)"},
             normed + in.rope, t.whole);
  t.add_both_low(Tensor::LatentNorm,
                 {"activations.layer.latent_norm", "A_latn", "normed latents (input of the up projections)"},
                 normed, t.whole);
  t.add_both(Tensor::Query, {"activations.layer.query", "A_3", "queries"}, in.latent_query, in.tp);
  t.add_both(Tensor::Value, {"activations.layer.key_value", "A_4", "keys and values"},
             in.latent_query + in.latent_value, in.tp);
}

template <Recorder R>
void grouped_query_tensors(LayerTensors<R>& t) {
  const auto& in = t.in;
  const ModelSpec& m = t.problem.model();
  const auto groups = key_value_ways(in, m, t.plan);
  if (m.qk_norm != QkNorm::None)
    t.add_both(Tensor::QkNorm, {"activations.layer.qk_norm", "A_qk", "queries and keys before their norms"},
               in.query + in.kv, in.tp);
  t.add_both(Tensor::Query, {"activations.layer.query", "A_3", "queries"}, in.query, in.tp);
  if (t.selection.on && t.selection.policy == SelectivePolicy::EverySecondMatmul) {
    t.add_both(Tensor::Key, {"activations.layer.key", "A_k4", "keys"}, in.kv, groups);
    t.add_both(Tensor::Value, {"activations.layer.value", "A_v4", "values"}, in.kv, groups);
  } else {
    t.add_both(Tensor::Value, {"activations.layer.key_value", "A_4", "keys and values"}, 2.0 * in.kv, groups);
  }
}

/// Softmax statistics of a fused kernel, or the matrices of an unfused one.
template <Recorder R>
void kernel_tensors(LayerTensors<R>& t) {
  using N = typename R::Num;
  const auto& in = t.in;
  if (t.problem.recipe.attention == Attention::Flash) {
    t.add_both(Tensor::Statistics,
               {"activations.layer.lse", "A_lse", "softmax statistics of the kernel, in fp32"},
               2.0 * in.heads, in.tp);
    return;
  }
  const bool dropout = t.problem.recipe.attention_dropout;
  const auto entry = t.rec.template in<BytesPerToken<N>>(
      {"w_a", dropout ? "softmax output, dropout mask and output" : "softmax output",
       "run /attention_dropout"},
      dropout ? 5 : 2);
  t.add_both(Tensor::Matrix,
             t.rec.apply(attention_matrix, {"activations.layer.matrix", "A_11", "attention matrices"},
                         in.heads, t.tokens, in.sequence, entry, in.tp));
}

/// From the layer's input to the attention output.
template <Recorder R>
void attention_tensors(LayerTensors<R>& t) {
  const auto& in = t.in;
  const bool latent = t.problem.model().is_latent();
  t.add_both(Tensor::Input, {"activations.layer.input", "A_1", "layer input (kept for the first norm)"},
             in.hidden, t.whole);
  const Item norm1{"activations.layer.norm1", "A_2", "first norm's output (input of QKV)"};
  // Both down projections of latent attention keep it, so that 8 bits save nothing.
  if (latent)
    t.add_both(Tensor::Norm1, norm1, in.hidden, t.whole);
  else
    t.add_both_low(Tensor::Norm1, norm1, in.hidden, t.whole);
  if (latent)
    latent_tensors(t);
  else
    grouped_query_tensors(t);
  const auto output = output_width(in, t.problem.model());
  t.add_both(Tensor::Attention, {"activations.layer.attention", "A_5", "attention output"}, output, in.tp);
  if (keeps_low_operands(t.problem))
    t.add_both_low(Tensor::Attention,
                   {"activations.layer.attention_low", "A_5q",
                    "attention output in 8 or 4 bits (input of the output projection)"},
                   output, in.tp);
  if (t.plan.cp > 1 && t.problem.recipe.cp_mode == CpMode::AllToAll)
    t.add_both(Tensor::Attention,
               {"activations.layer.attention_local", "A_5l", "attention output before its all-to-all"},
               output, in.tp);
  kernel_tensors(t);
}

/// The output of the second norm: a router keeps it in 16 bits, the product of an MLP in its format.
template <Recorder R>
void second_norm(LayerTensors<R>& t) {
  const Item norm2{"activations.layer.norm2", "A_7", "second norm's output (input of the MLP)"};
  if (!keeps_low_operands(t.problem)) return t.add_both(Tensor::Norm2, norm2, t.in.hidden, t.whole);
  if (t.mix.dense) t.add_dense_low(Tensor::Norm2, norm2, t.in.hidden, t.whole);
  if (t.mix.sparse)
    t.add_sparse(Tensor::Norm2,
                 {"activations.layer.norm2_router", "A_7r", "second norm's output (input of the router)"},
                 t.tokens, t.in.hidden, t.whole);
}

/// The inputs of the MLP block; a parallel block shares those of the attention.
template <Recorder R>
void block_tensors(LayerTensors<R>& t) {
  const auto& in = t.in;
  if (!t.problem.model().parallel_block) {
    t.add_both(Tensor::Residual,
               {"activations.layer.residual", "A_6", "MLP block input (kept for the second norm)"}, in.hidden,
               t.whole);
    second_norm(t);
  }
  if (t.problem.recipe.hidden_dropout)
    t.add_both(Tensor::Dropout, {"activations.layer.dropout", "A_drop", "dropout masks of both blocks"},
               1.0 * in.hidden, t.whole);
}

template <Recorder R>
void dense_tensors(LayerTensors<R>& t) {
  const auto& in = t.in;
  const bool gated = t.problem.model().mlp_matrices == 3;
  const bool by_product = t.selection.on && t.selection.policy == SelectivePolicy::EverySecondMatmul;
  if (by_product && gated) {
    t.add_dense(Tensor::Up, {"activations.layer.up", "A_8", "first up projection"}, in.ffn);
    t.add_dense(Tensor::UpSecond, {"activations.layer.up_second", "A_8s", "second up projection"}, in.ffn);
  } else {
    t.add_dense(Tensor::Up, {"activations.layer.up", "A_8", "up projections"}, (gated ? 2.0 : 1.0) * in.ffn);
  }
  t.add_dense_low(Tensor::MlpInner,
                  {"activations.layer.mlp", "A_9", "activation output (input of the down projection)"},
                  in.ffn, in.tp);
  if (gated && !t.problem.recipe.fused_mlp)
    t.add_dense(Tensor::MlpInner, {"activations.layer.gate", "A_10", "activated gate (eager SwiGLU)"},
                in.ffn);
}

/// Router, the rows that the experts of this rank take in, and shared experts. Returns the rows.
template <Recorder R>
Tokens<typename R::Num> expert_tensors(LayerTensors<R>& t) {
  const auto& in = t.in;
  const double up = t.problem.model().mlp_matrices - 1;
  const Count<typename R::Num> one{1.0};
  const auto rows = t.rec.apply(
      routed_rows, {"activations.routed_rows", "R", "token copies that the experts of a rank take in"},
      t.tokens, in.top_k, expert_load(t.rec, t.problem.recipe, t.plan), in.etp, in.tp);
  t.add_sparse(Tensor::Router,
               {"activations.layer.router", "A_r", "router scores, probabilities and their gradient in fp32"},
               t.tokens, 6.0 * in.experts, t.whole);
  t.add_sparse_low(Tensor::Permuted,
                   {"activations.layer.permuted", "A_p", "permuted token copies (input of the experts)"},
                   rows, in.hidden, one);
  t.add_sparse(Tensor::ExpertInner, {"activations.layer.expert_up", "A_u", "up projections of the experts"},
               rows, up * in.expert_ffn, in.etp);
  t.add_sparse_low(Tensor::ExpertActivation,
                   {"activations.layer.expert_mlp", "A_e", "activation output of the experts"}, rows,
                   in.expert_ffn, in.etp);
  const bool by_product = t.selection.on && t.selection.policy == SelectivePolicy::EverySecondMatmul;
  if (t.problem.profile().weights_expert_output || by_product)
    t.add_sparse(Tensor::Returned, {"activations.layer.returned", "A_ret", "output of the experts"}, rows,
                 in.hidden, one);
  if (t.problem.model().experts.shared_width == 0) return rows;
  if (keeps_low_operands(t.problem))
    t.add_sparse_low(Tensor::SharedInner,
                     {"activations.layer.shared_input", "A_si", "input of the shared experts in 8 or 4 bits"},
                     t.tokens, in.hidden, t.whole);
  t.add_sparse(Tensor::SharedUp,
               {"activations.layer.shared_up", "A_su", "up projections of the shared experts"}, t.tokens,
               up * in.shared_ffn, in.tp);
  t.add_sparse_low(Tensor::SharedInner,
                   {"activations.layer.shared_mlp", "A_sm", "activation output of the shared experts"},
                   t.tokens, in.shared_ffn, in.tp);
  return rows;
}

/// The down projection's output, which the policy keeps although nothing reads it; a compiler drops it.
template <Recorder R>
void unread_tensors(LayerTensors<R>& t) {
  const bool by_product = t.selection.on && t.selection.policy == SelectivePolicy::EverySecondMatmul;
  if (!by_product || t.problem.recipe.compile || t.problem.model().mlp_matrices != 3 || !t.mix.dense) return;
  t.dense.add(Tensor::MlpOutput,
              t.rec.apply(activation_tensor,
                          {"activations.layer.mlp_output", "A_12", "down projection's output, not compiled"},
                          t.tokens, t.in.hidden, t.in.element, t.whole),
              false);
}

/// All tensors of a micro-batch of `tokens`.
template <Recorder R>
LayerTotals<typename R::Num> layer_totals(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                          const Plan& plan, LayerMix mix, Tokens<typename R::Num> tokens) {
  const Selection selection{plan.recompute == Recompute::Selective, problem.model().is_latent(),
                            problem.profile().selective, plan.modules};
  LayerTensors<R> t{
      rec, in, problem, plan, tokens, mix, selection, hidden_ways(in, plan), low_element(rec, in, problem)};
  Tokens<typename R::Num> rows{};
  attention_tensors(t);
  block_tensors(t);
  if (mix.dense) dense_tensors(t);
  if (mix.sparse) rows = expert_tensors(t);
  unread_tensors(t);
  return {t.dense, t.sparse, rows};
}

}  // namespace detail

}  // namespace trainplan
