/// Parameters: of a layer, of the model, of one GPU of a pipeline stage.
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

inline constexpr Formula mlp_params{
    "mlp_params", "weights of one MLP", Source{"shazeer-2020", "three matrices when gated, two when plain"},
    std::array{Arg{"n", "n_mlp", "matrices: 3 gated, 2 plain", 2, 3}, Arg{"h", "h", "hidden size"},
               Arg{"f", "f", "MLP width"}},
    []<class N>(Count<N> n, Count<N> h, Count<N> f) { return as<kParams>(n * h * f); }};

inline constexpr Formula table_params{"table_params", "weights of an embedding or head table",
                                      Source{"vaswani-2017", "section 3.4"},
                                      std::array{Arg{"V", "V", "vocabulary"}, Arg{"h", "h", "hidden size"}},
                                      []<class N>(Count<N> v, Count<N> h) { return as<kParams>(v * h); }};

inline constexpr Formula padded_vocabulary{
    "padded_vocabulary", "vocabulary rounded up to the framework's multiple",
    Source{"megatron-lm", "--make-vocab-size-divisible-by x tensor parallel size"},
    std::array{Arg{"V", "V", "vocabulary", 1}, Arg{"multiple", "n_pad", "multiple", 1}},
    []<class N>(Count<N> v, Count<N> multiple) { return ceil(v / multiple) * multiple; }};

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
    std::array{Arg{"N", "N", "parameters"}, Arg{"lookup", "N_lookup", "parameters that are only looked up"}},
    []<class N>(Params<N> n, Params<N> lookup) { return n - lookup; }};

inline constexpr Formula params_per_gpu{
    "params_per_gpu", "average parameters of one GPU", Source{"megatron-2021", "section 2"},
    std::array{Arg{"N", "N", "parameters"}, Arg{"t", "t", "tensor parallel degree", 1},
               Arg{"p", "p", "pipeline parallel degree", 1}},
    []<class N>(Params<N> n, Count<N> t, Count<N> p) { return n / (t * p); }};

/// Parts of a model and of the GPU of one stage. `split` parts are divided by tp, `whole` parts are not.
template <class N>
struct ParamsCost {
  Params<N> total, gemm, average;
  Params<N> layer_split, layer_whole, layer_local;  // one layer; on one GPU
  Params<N> stage;                                  // all parameters of one GPU of the stage
  Params<N> tables_local;                           // embedding and head of that GPU
  Count<N> stage_layers, padded_vocabulary;
};

namespace detail {

template <class N>
struct LayerParts {
  Params<N> attention, mlp, split_bias, norms, whole_bias;
};

template <class N>
LayerParts<N> layer_parts(const Inputs<N>& in, const ModelSpec& m) {
  LayerParts<N> parts;
  parts.attention = attention_params(in.hidden, in.query, in.kv);
  parts.mlp = mlp_params(in.mlp_matrices, in.hidden, in.ffn);
  const Count<N> none{0.0};
  const Count<N> qkv = m.qkv_bias ? in.query + 2.0 * in.kv : none;
  const Count<N> up = m.mlp_bias ? (in.mlp_matrices - 1.0) * in.ffn : none;
  parts.split_bias = as<kParams>(qkv + up);
  const Count<N> qk = m.qk_norm == QkNorm::PerHead ? 2.0 * in.head_dim : none;
  parts.norms = as<kParams>(2.0 * in.norm_vectors * in.hidden + qk);
  const double rows = (m.output_bias ? 1.0 : 0.0) + (m.mlp_bias ? 1.0 : 0.0);
  parts.whole_bias = as<kParams>(rows * in.hidden);
  return parts;
}

/// Layers of a stage as the layout says.
template <Recorder R>
Count<typename R::Num> stage_layer_count(R& rec, const Inputs<typename R::Num>& in, const Plan& plan,
                                         int stage) {
  const Item item{"params.stage_layers", "L_s", "layers of this stage"};
  if (plan.layout == Layout::Equal) return rec.item(item, in.layers / in.pp);
  const double less = (stage == 0 ? 1.0 : 0.0) + (stage == plan.pp - 1 ? 1.0 : 0.0);
  return rec.item(item, (in.layers + 2.0) / in.pp - less);
}

/// The vocabulary as the framework pads it.
template <Recorder R>
Count<typename R::Num> padded_count(R& rec, const Inputs<typename R::Num>& in, const FrameworkProfile& f) {
  auto multiple =
      count(rec, "n_pad", "vocabulary multiple", f.origin, "/vocabulary/multiple", f.vocabulary_multiple);
  if (f.vocabulary_times_tp) multiple = multiple * in.tp;
  return rec.apply(padded_vocabulary, {"params.padded_vocabulary", "V_pad", ""}, in.vocab, multiple);
}

/// Embedding, positions and head on one GPU of the stage, with the padded vocabulary.
template <Recorder R>
Params<typename R::Num> stage_tables(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                     const Plan& plan, int stage, Count<typename R::Num> padded) {
  using N = typename R::Num;
  const bool first = stage == 0, last = stage == plan.pp - 1;
  const Params<N> table = rec.item({"params.table_per_gpu", "N_tab", "one padded table on one GPU"},
                                   table_params(padded, in.hidden) / in.tp);
  const Params<N> none{N(0.0)};
  const Params<N> positions = as<kParams>(in.positions * in.hidden);
  const Params<N> embedding =
      first ? rec.item({"params.stage.embedding", "N_emb_s", "embedding tables of this stage"},
                       problem.model().learned_positions > 0 ? table + positions : table)
            : none;
  const bool own_head = last && (!problem.model().tied || !first);
  const Params<N> head =
      own_head ? rec.item({"params.stage.head", "N_head_s", "head of this stage"}, table) : none;
  return rec.item({"params.stage.tables", "N_tables_s", "tables of this stage"}, embedding + head);
}

}  // namespace detail

template <Recorder R>
ParamsCost<typename R::Num> params_cost(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                        const Plan& plan, int stage) {
  using N = typename R::Num;
  const ModelSpec& m = problem.model();
  ParamsCost<N> out;
  const auto parts = detail::layer_parts(in, m);
  const auto attention =
      rec.item({"params.layer.attention", "N_attn", "attention weights of a layer"}, parts.attention);
  const auto mlp = rec.item({"params.layer.mlp", "N_mlp", "MLP weights of a layer"}, parts.mlp);
  const auto bias = rec.item({"params.layer.split_bias", "N_bias_t", "biases of a layer that tp divides"},
                             parts.split_bias);
  const auto norms = rec.item({"params.layer.norms", "N_norm", "norm weights of a layer"}, parts.norms);
  const auto whole =
      rec.item({"params.layer.whole_bias", "N_bias", "biases of a layer on every tp rank"}, parts.whole_bias);
  out.layer_split = attention + mlp + bias;
  out.layer_whole = norms + whole;
  const auto layer =
      rec.item({"params.layer", "N_layer", "parameters of a layer"}, attention + mlp + bias + norms + whole);
  const auto embedding =
      rec.apply(table_params, {"params.embedding", "N_emb", "input embedding"}, in.vocab, in.hidden);
  const bool learned = m.learned_positions > 0;
  const auto positions = learned ? rec.item({"params.positions", "N_pos", "learned position table"},
                                            as<kParams>(in.positions * in.hidden))
                                 : Params<N>{N(0.0)};
  const auto head = rec.item({"params.head", "N_head", "output head (0 when tied)"},
                             m.tied ? Params<N>{N(0.0)} : table_params(in.vocab, in.hidden));
  const auto final_norm =
      rec.item({"params.final_norm", "N_final", "final norm"}, as<kParams>(in.norm_vectors * in.hidden));
  const auto layers = rec.item({"params.layers", "N_layers", "all layers"}, in.layers * layer);
  const auto tables = learned ? embedding + positions + head : embedding + head;
  out.total = rec.item({"params.total", "N", "parameters"}, layers + tables + final_norm);
  const auto looked_up = learned ? embedding + positions : 1.0 * embedding;
  const auto lookup = rec.item({"params.lookup", "N_lookup", "parameters that are only looked up"},
                               m.tied ? positions : looked_up);
  out.gemm = rec.apply(gemm_params, {"params.gemm", "N_g", ""}, out.total, lookup);
  out.average = rec.apply(params_per_gpu, {"params.per_gpu_average", "N_avg", ""}, out.total, in.tp, in.pp);

  out.stage_layers = detail::stage_layer_count(rec, in, plan, stage);
  out.layer_local = rec.item({"params.layer_per_gpu", "N_layer_t", "one layer on one GPU"},
                             (attention + mlp + bias) / in.tp + (norms + whole));
  const auto layers_local = rec.item({"params.stage.layers", "N_layers_s", "layers of this stage on one GPU"},
                                     out.stage_layers * out.layer_local);
  out.padded_vocabulary = detail::padded_count(rec, in, problem.profile());
  out.tables_local = detail::stage_tables(rec, in, problem, plan, stage, out.padded_vocabulary);
  const bool last = stage == plan.pp - 1;
  out.stage = rec.item({"params.stage", "N_s", "parameters of one GPU of this stage"},
                       last ? layers_local + out.tables_local + final_norm : layers_local + out.tables_local);
  return out;
}

using ParamsFormulas = Chapter<attention_params, mlp_params, table_params, padded_vocabulary, llama_params,
                               gemm_params, params_per_gpu>;

}  // namespace trainplan
