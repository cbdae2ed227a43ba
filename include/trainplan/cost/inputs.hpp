/// Every number that the cost formulas start from, named for the reader and tied to its place in a file.
#pragma once

#include <cstdint>
#include <string>

#include "trainplan/plan/groups.hpp"
#include "trainplan/plan/problem.hpp"
#include "trainplan/trace/recorder.hpp"

namespace trainplan {

/// Leaves over N = double or Sym. Letters: formulas use the papers' symbols.
template <class N>
struct Inputs {
  Count<N> layers, hidden, heads, query, kv, head_dim, ffn, vocab, positions, mlp_matrices,
      norm_vectors;  // model
  Tokens<N> sequence;
  Count<N> batch, micro_batch;
  Count<N> tp, pp, vpp, cp, dp, shard, gpus;
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
}  // namespace detail

/// A figure of a file as a leaf of dimension Q.
template <class Q, class R>
Q figure(R& rec, std::string_view symbol, std::string_view meaning, const Figure& f) {
  return rec.template in<Q>({symbol, meaning, f.origin}, f.value);
}

template <Recorder R>
Inputs<typename R::Num> bind(R& rec, const Problem& problem, const Plan& plan) {
  using N = typename R::Num;
  using detail::count;
  const ModelSpec& m = problem.model();
  const Recipe& r = problem.recipe;
  static const std::string p = "plan", run = "run";
  Inputs<N> in;
  in.layers = count(rec, "L", "transformer layers", m.origin, "/num_hidden_layers", m.layers);
  in.hidden = count(rec, "h", "hidden size", m.origin, "/hidden_size", m.hidden);
  in.heads = count(rec, "a", "attention heads", m.origin, "/num_attention_heads", m.heads);
  in.head_dim = count(rec, "hd", "head size", m.origin, "/head_dim", m.head_dim);
  const auto kv_heads = count(rec, "a_kv", "key-value heads", m.origin, "/num_key_value_heads", m.kv_heads);
  in.query = rec.item({"params.query_width", "q", "query width"}, in.heads * in.head_dim);
  in.kv = rec.item({"params.kv_width", "kv", "key or value width"}, kv_heads * in.head_dim);
  in.ffn = count(rec, "f", "MLP width", m.origin, "/intermediate_size", m.ffn);
  in.vocab = count(rec, "V", "vocabulary", m.origin, "/vocab_size", m.vocab);
  in.positions = count(rec, "n_pos", "rows of the learned position table", m.origin, "/n_positions",
                       m.learned_positions);
  in.mlp_matrices =
      count(rec, "n_mlp", "matrices of the MLP (3 gated, 2 plain)", m.origin, "/model_type", m.mlp_matrices);
  in.norm_vectors = count(rec, "n_w", "weight vectors of a norm (1 RMSNorm, 2 LayerNorm)", m.origin,
                          "/model_type", m.norm_vectors);
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
  in.gpus =
      count(rec, "G", "GPUs", problem.cluster().origin, "/nodes x /gpus_per_node", problem.cluster().gpus());
  in.peak = figure<FlopsPerSec<N>>(rec, "P", "dense bf16 peak of one GPU",
                                   problem.cluster().accelerator.bf16_dense);
  in.element = rec.template in<BytesPerToken<N>>({"e", "bytes of a bf16 element", "precision"}, 2);
  return in;
}

/// Ranks that share the hidden states between blocks: the tp ranks with sequence parallelism, else none.
template <class N>
Count<N> hidden_ways(const Inputs<N>& in, const Plan& plan) {
  return plan.sequence_parallel || plan.tp == 1 ? in.tp : Count<N>{1.0};
}

}  // namespace trainplan
