/// Parameters of a model alone, by class: what tensor parallelism divides, what every rank keeps, and routed
/// experts. Exact: every figure is an integer below 2^53.
#pragma once

#include "trainplan/cost/inputs.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula attention_params{
    "attention_params", "weights of one attention block",
    Source{"vaswani-2017", "grouped queries: arXiv:2305.13245"},
    std::array{Arg{"h", "h", "hidden size"}, Arg{"q", "q", "query width"},
               Arg{"kv", "kv", "key or value width"}},
    []<class N>(Count<N> h, Count<N> q, Count<N> kv) { return as<kParams>(2.0 * h * q + 2.0 * h * kv); }};

inline constexpr Formula latent_down_params{
    "latent_down_params", "weights that project into the latent space, with its norms",
    Source{"deepseek-v2-2024", "section 2.1: compressed queries, keys and values"},
    std::array{Arg{"h", "h", "hidden size"}, Arg{"q_rank", "r_q", "rank of the queries, 0: not compressed"},
               Arg{"kv_rank", "r_kv", "rank of keys and values"}, Arg{"rope", "d_r", "rotary part of a key"}},
    []<class N>(Count<N> h, Count<N> rq, Count<N> rkv, Count<N> rope) {
      return as<kParams>(h * rq + rq + h * (rkv + rope) + rkv);
    }};

inline constexpr Formula latent_up_params{
    "latent_up_params", "weights that project out of the latent space, and the output",
    Source{"deepseek-v2-2024", "section 2.1; without q_lora_rank queries come from the hidden state"},
    std::array{Arg{"h", "h", "hidden size"}, Arg{"q_in", "r_q", "input width of the query projection"},
               Arg{"kv_rank", "r_kv", "rank of keys and values"}, Arg{"q", "q_l", "width of all queries"},
               Arg{"k", "k_l", "width of all keys without rotary part"},
               Arg{"v", "v_l", "width of all values"}},
    []<class N>(Count<N> h, Count<N> q_in, Count<N> rkv, Count<N> q, Count<N> k, Count<N> v) {
      return as<kParams>(q_in * q + rkv * (k + v) + v * h);
    }};

inline constexpr Formula index_params{
    "index_params", "weights of the index that picks positions in sparse attention",
    Source{"deepseek-v3.2-2025", "lightning indexer; agrees with the published checkpoint"},
    std::array{Arg{"h", "h", "hidden size"}, Arg{"q_rank", "r_q", "rank of the queries"},
               Arg{"n", "n_idx", "heads of the index"}, Arg{"d", "d_idx", "head size of the index"}},
    []<class N>(Count<N> h, Count<N> rq, Count<N> n, Count<N> d) {
      return as<kParams>(rq * n * d + h * d + 2.0 * d + h * n);
    }};

inline constexpr Formula mlp_params{
    "mlp_params", "weights of one MLP", Source{"shazeer-2020", "three matrices when gated, two when plain"},
    std::array{Arg{"n", "n_mlp", "matrices: 3 gated, 2 plain", 2, 3}, Arg{"h", "h", "hidden size"},
               Arg{"f", "f", "MLP width"}},
    []<class N>(Count<N> n, Count<N> h, Count<N> f) { return as<kParams>(n * h * f); }};

inline constexpr Formula active_params{
    "active_params", "parameters that a token visits",
    Source{"switch-2021", "routed experts that it does not visit are left out; both tables count"},
    std::array{Arg{"N", "N", "parameters"}, Arg{"layers", "L_moe", "layers with routed experts"},
               Arg{"experts", "E", "routed experts of a layer"},
               Arg{"top_k", "k_top", "experts that a token visits"},
               Arg{"expert", "N_exp", "parameters of one expert"}},
    []<class N>(Params<N> n, Count<N> l, Count<N> e, Count<N> k, Params<N> expert) {
      return n - l * (e - k) * expert;
    }};

inline constexpr Formula table_params{"table_params", "weights of an embedding or head table",
                                      Source{"vaswani-2017", "section 3.4"},
                                      std::array{Arg{"V", "V", "vocabulary"}, Arg{"h", "h", "hidden size"}},
                                      []<class N>(Count<N> v, Count<N> h) { return as<kParams>(v * h); }};

inline constexpr Formula llama_params{
    "llama_params", "parameters of an untied Llama-style model",
    Source{"llama-2023", "grouped queries, SwiGLU, RMSNorm"},
    std::array{Arg{"L", "L", "layers"}, Arg{"h", "h", "hidden size"}, Arg{"q", "q", "query width"},
               Arg{"kv", "kv", "key or value width"}, Arg{"f", "f", "MLP width"},
               Arg{"V", "V", "vocabulary"}},
    []<class N>(Count<N> l, Count<N> h, Count<N> q, Count<N> kv, Count<N> f, Count<N> v) {
      return as<kParams>(l * (2.0 * h * q + 2.0 * h * kv + 3.0 * h * f + 2.0 * h) + 2.0 * v * h + h);
    }};

inline constexpr Formula gemm_params{
    "gemm_params", "parameters that take part in matrix products",
    Source{"kaplan-2020", "the input embedding is a look-up and costs no FLOP"},
    std::array{Arg{"N", "N", "parameters that a token visits"},
               Arg{"lookup", "N_lookup", "parameters that are only looked up"}},
    []<class N>(Params<N> n, Params<N> lookup) { return n - lookup; }};

/// One layer: split is divided by tp, whole is on every tp rank, experts are divided by etp x ep. Biases and
/// norms are parts of split and whole.
template <class N>
struct LayerParams {
  Params<N> split{}, whole{}, experts{}, total{};
  Params<N> split_bias{}, norms{};
};

/// dense and sparse: a layer of either kind, where the model has one. key_value: what more tp ranks than
/// key-value heads replicate. mtp: one block for a further token, which is not part of total.
template <class N>
struct ModelParams {
  LayerParams<N> dense{}, sparse{}, mtp{};
  Params<N> attention{}, latent{}, mlp{}, router{}, shared{};  // weights of one layer that has them
  Params<N> key_value{}, expert{}, embedding{}, head{}, final_norm{}, projections{}, total{}, active{},
      active_mtp{}, gemm{};
};

namespace detail {

/// Attention weights and what a norm or a bias adds, the same in every layer.
template <class N>
struct AttentionParams {
  Params<N> weights, down, split_bias, whole_bias, norms;
  bool has_down = false;
};

template <Recorder R>
AttentionParams<typename R::Num> attention_block(R& rec, const ModelInputs<typename R::Num>& in,
                                                 const ModelSpec& m, Params<typename R::Num>& key_value) {
  using N = typename R::Num;
  const Count<N> none{N(0.0)};
  AttentionParams<N> out;
  Count<N> split = none, whole = m.output_bias ? 1.0 * in.hidden : none;
  if (m.is_latent()) {
    out.weights =
        rec.apply(latent_up_params, {"params.layer.attention", "N_attn", "attention weights of a layer"},
                  in.hidden, m.latent.q_rank > 0 ? in.q_rank : in.hidden, in.kv_rank, in.latent_query,
                  in.latent_nope, in.latent_value);
    out.down =
        rec.apply(latent_down_params, {"params.layer.latent", "N_lat", "latent projections of a layer"},
                  in.hidden, in.q_rank, in.kv_rank, in.rope);
    out.has_down = true;
    if (m.latent.index_heads > 0)
      out.down =
          rec.item({"params.layer.latent_index", "N_lat_idx", "latent projections and index of a layer"},
                   out.down + rec.apply(index_params, {"params.layer.index", "N_idx", "index of a layer"},
                                        in.hidden, in.q_rank, in.index_heads, in.index_dim));
    if (m.qkv_bias) whole = whole + in.q_rank + in.kv_rank + in.rope;
  } else {
    out.weights =
        rec.apply(attention_params, {"params.layer.attention", "N_attn", "attention weights of a layer"},
                  in.hidden, in.query, in.kv);
    const double vectors = m.qkv_bias ? 1.0 : 0.0;
    key_value = as<kParams>(2.0 * in.hidden * in.kv + vectors * 2.0 * in.kv);
    if (m.qkv_bias) split = in.query + 2.0 * in.kv;
  }
  if (m.sinks) split = split + in.heads;
  const Count<N> qk = m.qk_norm == QkNorm::PerHead    ? 2.0 * in.head_dim
                      : m.qk_norm == QkNorm::AllHeads ? in.query + in.kv
                                                      : none;
  out.split_bias = as<kParams>(split);
  out.whole_bias = as<kParams>(whole);
  out.norms = as<kParams>(static_cast<double>(m.block_norms) * in.norm_vectors * in.hidden + qk);
  return out;
}

/// A layer whose MLP every token runs through.
template <Recorder R>
LayerParams<typename R::Num> dense_layer(R& rec, const ModelInputs<typename R::Num>& in, const ModelSpec& m,
                                         const AttentionParams<typename R::Num>& a,
                                         Params<typename R::Num>& mlp) {
  using N = typename R::Num;
  LayerParams<N> out;
  mlp = rec.apply(mlp_params, {"params.layer.mlp", "N_mlp", "MLP weights of a layer"}, in.mlp_matrices,
                  in.hidden, in.ffn);
  const Params<N> up = m.mlp_bias ? as<kParams>((in.mlp_matrices - 1.0) * in.ffn) : Params<N>{N(0.0)};
  const Params<N> down = m.mlp_bias ? as<kParams>(1.0 * in.hidden) : Params<N>{N(0.0)};
  const auto bias = rec.item({"params.layer.split_bias", "N_bias_t", "biases of a layer that tp divides"},
                             a.split_bias + up);
  const auto norms = rec.item({"params.layer.norms", "N_norm", "norm weights of a layer"}, 1.0 * a.norms);
  const auto whole = rec.item({"params.layer.whole_bias", "N_bias", "biases of a layer on every tp rank"},
                              a.whole_bias + down);
  out.split_bias = bias;
  out.norms = norms + whole;
  out.split = a.weights + mlp + bias;
  out.whole = a.has_down ? norms + whole + a.down : norms + whole;
  out.total = rec.item(
      {"params.layer", "N_layer", m.is_sparse() ? "parameters of a dense layer" : "parameters of a layer"},
      out.split + out.whole);
  return out;
}

/// A layer with routed experts; its attention is that of the other layers.
template <Recorder R>
LayerParams<typename R::Num> sparse_layer(R& rec, const ModelInputs<typename R::Num>& in, const ModelSpec& m,
                                          const AttentionParams<typename R::Num>& a,
                                          ModelParams<typename R::Num>& model) {
  using N = typename R::Num;
  const Experts& x = m.experts;
  LayerParams<N> out;
  const auto weights = rec.apply(mlp_params, {"params.expert.weights", "N_exp_w", "weights of one expert"},
                                 in.mlp_matrices, in.hidden, in.expert_ffn);
  const Params<N> bias =
      x.bias ? as<kParams>((in.mlp_matrices - 1.0) * in.expert_ffn + in.hidden) : Params<N>{N(0.0)};
  model.expert = rec.item({"params.expert", "N_exp", "parameters of one expert"}, weights + bias);
  out.experts =
      rec.item({"params.layer.experts", "N_exps", "routed experts of a layer"}, in.experts * model.expert);
  Count<N> gate = in.hidden * in.experts;
  if (x.router_bias) gate = gate + in.experts;
  if (x.shared_gate) gate = gate + in.hidden;
  model.router = rec.item({"params.layer.router", "N_rout", "router of a layer"}, as<kParams>(gate));
  out.split = a.weights + a.split_bias;
  if (x.shared_width > 0) {
    model.shared = rec.apply(mlp_params, {"params.layer.shared", "N_sh", "shared experts of a layer"},
                             in.mlp_matrices, in.hidden, in.shared_ffn);
    out.split = out.split + model.shared;
  }
  out.split_bias = a.split_bias;
  const auto rest = rec.item(
      {"params.sparse_layer.norms", "N_norm_moe", "norms and biases of a sparse layer on every tp rank"},
      a.norms + a.whole_bias);
  out.norms = rest;
  out.whole = a.has_down ? rest + model.router + a.down : rest + model.router;
  out.total = rec.item({"params.sparse_layer", "N_layer_moe", "parameters of a sparse layer"},
                       out.split + out.whole + out.experts);
  return out;
}

/// A block for a further token: a projection of two hidden states, two norms, one layer of the last kind, a
/// norm.
template <Recorder R>
void mtp_block(R& rec, const ModelInputs<typename R::Num>& in, const ModelSpec& m,
               ModelParams<typename R::Num>& out) {
  const bool sparse = m.kind(m.layers - 1).sparse;
  const auto& layer = sparse ? out.sparse : out.dense;
  const auto extra = as<kParams>(2.0 * in.hidden * in.hidden);
  const auto norms = as<kParams>(3.0 * in.norm_vectors * in.hidden);
  out.mtp.split = layer.split + extra;
  out.mtp.whole = layer.whole + norms;
  out.mtp.experts = layer.experts;
  out.mtp.total =
      rec.item({"params.mtp_block", "N_mtp", "one block for a further token"}, layer.total + extra + norms);
  out.active_mtp =
      sparse ? rec.item({"params.mtp_active", "N_mtp_act", "parameters of the block that a token visits"},
                        out.mtp.total - (in.experts - in.top_k) * out.expert)
             : out.mtp.total;
}

/// Embedding with positions and its norm, head with its bias, final norm. Returns what is only looked up.
template <Recorder R>
Params<typename R::Num> model_tables(R& rec, const ModelInputs<typename R::Num>& in, const ModelSpec& m,
                                     ModelParams<typename R::Num>& out) {
  using N = typename R::Num;
  const auto table =
      rec.apply(table_params, {"params.table", "N_table", "token table"}, in.vocab, in.table_width);
  auto sum = 1.0 * table;
  if (m.learned_positions > 0)
    sum = sum + rec.item({"params.positions", "N_pos", "learned position table"},
                         as<kParams>(in.positions * in.hidden));
  if (m.embedding_norm) sum = sum + as<kParams>(in.norm_vectors * in.hidden);
  out.embedding = rec.item({"params.embedding", "N_emb", "input embedding"}, sum);
  Params<N> head = m.tied ? Params<N>{N(0.0)} : 1.0 * table;
  if (m.head_bias) head = head + as<kParams>(in.vocab);
  out.head = rec.item({"params.head", "N_head", "output head (0 when tied)"}, head);
  out.final_norm = rec.item({"params.final_norm", "N_final", "final norm"},
                            m.final_norm ? as<kParams>(in.norm_vectors * in.hidden) : Params<N>{N(0.0)});
  if (m.table_width > 0)
    out.projections = rec.item({"params.projections", "N_proj", "projections between tables and layers"},
                               as<kParams>(2.0 * in.hidden * in.table_width));
  const auto positions = m.tied ? out.embedding - table : 1.0 * out.embedding;
  return rec.item({"params.lookup", "N_lookup", "parameters that are only looked up"}, positions);
}

}  // namespace detail

/// Everything that follows from the model alone. Where blocks for further tokens are trained (mtp_layers),
/// they and the head once more for each take part in matrix products.
template <Recorder R>
ModelParams<typename R::Num> model_params(R& rec, const ModelInputs<typename R::Num>& in, const ModelSpec& m,
                                          std::int64_t mtp_layers) {
  using N = typename R::Num;
  ModelParams<N> out;
  const auto attention = detail::attention_block(rec, in, m, out.key_value);
  const bool has_sparse = m.sparse_layers() > 0, has_dense = m.sparse_layers() < m.layers;
  out.attention = attention.weights;
  if (attention.has_down) out.latent = attention.down;
  if (has_dense) out.dense = detail::dense_layer(rec, in, m, attention, out.mlp);
  if (has_sparse) out.sparse = detail::sparse_layer(rec, in, m, attention, out);
  const auto layers = rec.item(
      {"params.layers", "N_layers", "all layers"},
      !has_sparse  ? in.layers * out.dense.total
      : !has_dense ? in.layers * out.sparse.total
                   : (in.layers - in.sparse_layers) * out.dense.total + in.sparse_layers * out.sparse.total);
  const auto lookup = detail::model_tables(rec, in, m, out);
  auto all = layers + out.embedding + out.head + out.final_norm;
  if (m.table_width > 0) all = all + out.projections;
  out.total = rec.item({"params.total", "N", "parameters"}, all);
  out.active = has_sparse ? rec.apply(active_params, {"params.active", "N_act", ""}, out.total,
                                      in.sparse_layers, in.experts, in.top_k, out.expert)
                          : out.total;
  if (m.mtp_layers > 0) detail::mtp_block(rec, in, m, out);
  out.gemm = rec.apply(gemm_params, {"params.gemm", "N_g", ""}, out.active, lookup);
  if (mtp_layers > 0)
    out.gemm = rec.item({"params.gemm_mtp", "N_g_mtp", "with the blocks for further tokens and their heads"},
                        out.gemm + in.mtp_layers * (out.active_mtp + table_params(in.vocab, in.table_width)));
  return out;
}

using ModelParamsFormulas = Chapter<attention_params, latent_down_params, latent_up_params, index_params,
                                    mlp_params, active_params, table_params, llama_params, gemm_params>;

}  // namespace trainplan
