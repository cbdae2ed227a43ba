/// Every number that the cost formulas start from, named for the reader and tied to its place in a file.
#pragma once

#include <cstdint>
#include <string>

#include "trainplan/plan/groups.hpp"
#include "trainplan/plan/problem.hpp"
#include "trainplan/trace/recorder.hpp"

namespace trainplan {

/// Leaves over N = double or Sym. Letters: formulas use the papers' symbols. Widths that a model does not
/// have are 0.
template <class N>
struct ModelInputs {
  Count<N> layers, hidden, heads, kv_heads, query, kv, head_dim, ffn, vocab, positions, table_width,
      mlp_matrices, norm_vectors;
  Count<N> q_rank, kv_rank, rope, latent_query, latent_nope, latent_value;  // latent attention, all heads
  Count<N> index_heads, index_dim;
  Count<N> experts, top_k, expert_ffn, shared_ffn, sparse_layers, mtp_layers;
};

template <class N>
struct Inputs : ModelInputs<N> {
  Tokens<N> sequence;
  Count<N> batch, micro_batch;
  Count<N> tp, pp, vpp, cp, dp, shard, gpus;
  Count<N> ep, etp, expert_dp;
  FlopsPerSec<N> peak;
  BytesPerToken<N> element;
};

namespace detail {
/// A number of a file as a leaf; the text that tells its place is only made to be written down.
template <class Q, class R>
Q from_file(R& rec, std::string_view symbol, std::string_view meaning, const std::string& file,
            std::string_view pointer, double value) {
  if constexpr (R::traced) {
    return rec.template in<Q>({symbol, meaning, file + " " + std::string(pointer)}, value);
  } else {
    return Q{value};
  }
}
template <class R>
Count<typename R::Num> count(R& rec, std::string_view symbol, std::string_view meaning,
                             const std::string& file, std::string_view pointer, std::int64_t value) {
  return from_file<Count<typename R::Num>>(rec, symbol, meaning, file, pointer, static_cast<double>(value));
}
/// A number of the model; its origin is the key that its file uses.
template <class Q, class R>
Q of_model(R& rec, std::string_view symbol, std::string_view meaning, const ModelSpec& m,
           std::string_view pointer, std::int64_t value) {
  if constexpr (R::traced) {
    return from_file<Q>(rec, symbol, meaning, m.origin, m.keys.of(pointer), static_cast<double>(value));
  } else {
    return Q{static_cast<double>(value)};
  }
}
template <class R>
Count<typename R::Num> count(R& rec, std::string_view symbol, std::string_view meaning, const ModelSpec& m,
                             std::string_view pointer, std::int64_t value) {
  return of_model<Count<typename R::Num>>(rec, symbol, meaning, m, pointer, value);
}
}  // namespace detail

/// A figure of a file as a leaf of dimension Q.
template <class Q, class R>
Q figure(R& rec, std::string_view symbol, std::string_view meaning, const Figure& f) {
  return rec.template in<Q>({symbol, meaning, f.origin}, f.value);
}

namespace detail {

template <Recorder R>
void bind_latent(R& rec, const ModelSpec& m, ModelInputs<typename R::Num>& in) {
  const LatentAttention& a = m.latent;
  in.q_rank = count(rec, "r_q", "rank of the query projection", m, "/q_lora_rank", a.q_rank);
  in.kv_rank = count(rec, "r_kv", "rank of the key-value projection", m, "/kv_lora_rank", a.kv_rank);
  in.rope = count(rec, "d_r", "rotary part of a key, one for all heads", m, "/qk_rope_head_dim", a.rope_dim);
  const auto nope = count(rec, "d_n", "part of a head without positions", m, "/qk_nope_head_dim", a.nope_dim);
  const auto v = count(rec, "d_v", "value size of a head", m, "/v_head_dim", a.v_dim);
  in.latent_query = rec.item({"params.latent_query", "q_l", "width of all queries and of all keys"},
                             in.heads * (nope + in.rope));
  in.latent_nope =
      rec.item({"params.latent_nope", "k_l", "width of all keys without the rotary part"}, in.heads * nope);
  in.latent_value = rec.item({"params.latent_value", "v_l", "width of all values"}, in.heads * v);
  in.index_heads = count(rec, "n_idx", "heads of the index", m, "/index_n_heads", a.index_heads);
  in.index_dim = count(rec, "d_idx", "head size of the index", m, "/index_head_dim", a.index_dim);
}

template <Recorder R>
void bind_experts(R& rec, const ModelSpec& m, ModelInputs<typename R::Num>& in) {
  const Experts& x = m.experts;
  in.experts = count(rec, "E", "routed experts of a layer", m, "/num_experts", x.count);
  in.top_k = count(rec, "k_top", "experts that a token visits", m, "/num_experts_per_tok", x.per_token);
  in.expert_ffn = count(rec, "f_e", "MLP width of an expert", m, "/moe_intermediate_size", x.width);
  in.shared_ffn =
      count(rec, "f_sh", "MLP width of the shared experts together", m, "/n_shared_experts", x.shared_width);
  in.sparse_layers = count(rec, "L_moe", "layers with routed experts", m, "layer pattern", m.sparse_layers());
}

}  // namespace detail

template <Recorder R>
void bind_model(R& rec, const ModelSpec& m, ModelInputs<typename R::Num>& in) {
  using detail::count;
  in.layers = count(rec, "L", "transformer layers", m, "/num_hidden_layers", m.layers);
  in.hidden = count(rec, "h", "hidden size", m, "/hidden_size", m.hidden);
  in.heads = count(rec, "a", "attention heads", m, "/num_attention_heads", m.heads);
  in.head_dim = count(rec, "hd", "head size", m, "/head_dim", m.head_dim);
  in.kv_heads = count(rec, "a_kv", "key-value heads", m, "/num_key_value_heads", m.kv_heads);
  if (!m.is_latent()) {
    in.query = rec.item({"params.query_width", "q", "query width"}, in.heads * in.head_dim);
    in.kv = rec.item({"params.kv_width", "kv", "key or value width"}, in.kv_heads * in.head_dim);
  } else {
    detail::bind_latent(rec, m, in);
  }
  in.ffn = count(rec, "f", "MLP width", m, "/intermediate_size", m.ffn);
  in.vocab = count(rec, "V", "vocabulary", m, "/vocab_size", m.vocab);
  in.positions =
      count(rec, "n_pos", "rows of the learned position table", m, "/n_positions", m.learned_positions);
  in.table_width = m.table_width == 0 ? in.hidden
                                      : count(rec, "h_tab", "width of the token tables", m,
                                              "/word_embed_proj_dim", m.table_width);
  in.mlp_matrices =
      count(rec, "n_mlp", "matrices of the MLP (3 gated, 2 plain)", m, "/model_type", m.mlp_matrices);
  in.norm_vectors = count(rec, "n_w", "weight vectors of a norm (1 RMSNorm, 2 LayerNorm)", m, "/model_type",
                          m.norm_vectors);
  if (m.is_sparse()) detail::bind_experts(rec, m, in);
}

template <Recorder R>
Inputs<typename R::Num> bind(R& rec, const Problem& problem, const Plan& plan) {
  using N = typename R::Num;
  using detail::count;
  const ModelSpec& m = problem.model();
  const Recipe& r = problem.recipe;
  static const std::string p = "plan", run = "run";
  Inputs<N> in;
  bind_model(rec, m, in);
  in.mtp_layers = count(rec, "n_mtp", "blocks for further tokens", run, "/mtp", r.mtp_layers);
  in.sequence =
      rec.template in<Tokens<N>>({"s", "sequence length", "run /sequence"}, static_cast<double>(r.sequence));
  in.batch = count(rec, "B", "global batch in sequences", run, "/global_batch", r.global_batch);
  in.micro_batch = count(rec, "b", "micro-batch in sequences", p, "/micro_batch", plan.micro_batch);
  in.tp = count(rec, "t", "tensor parallel degree", p, "/tp", plan.tp);
  in.pp = count(rec, "p", "pipeline parallel degree", p, "/pp", plan.pp);
  in.vpp = count(rec, "v", "virtual stages per pipeline rank", p, "/vpp", plan.vpp);
  in.cp = count(rec, "c", "context parallel degree", p, "/cp", plan.cp);
  in.dp = count(rec, "d", "data parallel degree", p, "/dp", plan.dp);
  in.shard = count(rec, "d_s", "ranks that share one copy of sharded state", p, "/shard_size", plan.shard);
  in.ep = count(rec, "e_p", "expert parallel degree", p, "/ep", plan.ep);
  in.etp = count(rec, "x", "tensor parallel degree of experts", p, "/etp", plan.etp);
  in.expert_dp = m.is_sparse() ? rec.item({"plan.expert_dp", "d_e", "data parallel degree of routed experts"},
                                          in.tp * in.cp * in.dp / (in.ep * in.etp))
                               : in.dp * in.cp;
  in.gpus =
      count(rec, "G", "GPUs", problem.cluster().origin, "/nodes x /gpus_per_node", problem.cluster().gpus());
  in.peak = figure<FlopsPerSec<N>>(rec, "P", "dense bf16 peak of one GPU",
                                   problem.cluster().accelerator.bf16_dense);
  in.element = rec.template in<BytesPerToken<N>>({"e", "bytes of a bf16 element", "precision"}, 2);
  return in;
}

/// Widths of all queries and of all attention outputs, whatever the kind of attention.
template <class N>
Count<N> score_width(const ModelInputs<N>& in, const ModelSpec& m) {
  return m.is_latent() ? in.latent_query : in.query;
}
template <class N>
Count<N> output_width(const ModelInputs<N>& in, const ModelSpec& m) {
  return m.is_latent() ? in.latent_value : in.query;
}

/// Whether tp ranks hold copies of keys and values: there are more of them than heads to divide.
inline bool copies_key_values(const ModelSpec& m, const Plan& plan) {
  return !m.is_latent() && plan.tp > m.kv_heads;
}
/// Ranks that the keys and values of a layer are divided over.
template <class N>
Count<N> key_value_ways(const Inputs<N>& in, const ModelSpec& m, const Plan& plan) {
  return copies_key_values(m, plan) ? in.kv_heads : in.tp;
}

/// Ranks that share the hidden states between blocks: the tp ranks with sequence parallelism, else none.
template <class N>
Count<N> hidden_ways(const Inputs<N>& in, const Plan& plan) {
  return plan.sequence_parallel || plan.tp == 1 ? in.tp : Count<N>{1.0};
}

}  // namespace trainplan
