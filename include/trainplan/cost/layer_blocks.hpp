/// The blocks of a layer, each as the sum of its kernels: attention, MLP, routed experts; and the head.
#pragma once

#include "trainplan/cost/layer_work.hpp"
#include "trainplan/cost/params.hpp"

namespace trainplan {

namespace detail {

/// flops: of the attention of one token in all layers, forward and backward, as far as the kernel counts
/// them.
template <Recorder R>
Passes<typename R::Num> attention_kernel(const LayerKernels<R>& k,
                                         const ComputeCost<typename R::Num>& compute) {
  using N = typename R::Num;
  const Inputs<N>& in = k.in;
  const bool fused = k.problem.recipe.attention == Attention::Flash;
  const Count<N> layers = k.problem.recipe.mtp_layers > 0 ? in.layers + in.mtp_layers : in.layers;
  const Flops<N> forward =
      k.tokens * (fused ? compute.attention : compute.attention_full) / (3.0 * layers * in.tp);
  const Item f{"work.attention.forward", "t_att_f", "attention kernel, forward"},
      b{"work.attention.backward", "t_att_b", "attention kernel, backward"};
  if (!fused) {
    const auto rate = k.rates.wide * k.constant("e_batch", "rate of batched products", kBatchedProducts);
    const Count<N> scores = in.heads / in.tp * as<kCount>(k.tokens) * as<kCount>(in.sequence);
    const auto moved = [&](double bytes, double kernels) {
      return element_wise_time(as<kBytes>(bytes * scores), k.rates.memory,
                               k.constant("n_k", "element-wise kernels", kernels), k.rates.start);
    };
    return {k.rec.item(f, forward / rate + moved(kScoresForward, kScoresEager.forward)),
            k.rec.item(b, 2.0 * forward / rate + moved(kScoresBackward, kScoresEager.backward))};
  }
  const Count<N> positions = as<kCount>(in.sequence) / in.cp,
                 blocks = in.heads / in.tp * as<kCount>(k.tokens) / kQueryBlock,
                 half_blocks = k.constant("n_0", "blocks of queries of half the best rate", kHalfBlocks);
  const auto time = [&](Flops<N> flops) {
    return attention_time(flops, k.rates.attention, positions, k.rates.half_length, blocks, half_blocks);
  };
  // Backward: four products of which two were made forward, and the scores once more.
  return {k.rec.item(f, time(forward)), k.rec.item(b, time(2.5 * forward))};
}

template <Recorder R>
Passes<typename R::Num> latent_products(const LayerKernels<R>& k, Seconds<typename R::Num>& up) {
  using N = typename R::Num;
  const Inputs<N>& in = k.in;
  Passes<N> sum;
  const bool compressed = k.problem.model().latent.q_rank > 0;
  if (compressed) sum = k.product(Product::QueryDown, k.local, in.q_rank, in.hidden);
  const auto q =
      k.product(Product::QueryUp, k.tokens, in.latent_query / in.tp, compressed ? in.q_rank : in.hidden);
  const auto down = k.product(Product::KeyValueDown, k.local, in.kv_rank + in.rope, in.hidden);
  const auto kv =
      k.product(Product::KeyValueUp, k.tokens, (in.latent_nope + in.latent_value) / in.tp, in.kv_rank);
  up = q.forward + kv.forward;
  return sum + q + down + kv;
}

template <Recorder R>
void attention_block(const LayerKernels<R>& k, const ComputeCost<typename R::Num>& compute,
                     LayerWork<typename R::Num>& out) {
  using N = typename R::Num;
  const Inputs<N>& in = k.in;
  const ModelSpec& m = k.problem.model();
  out.attention = attention_kernel(k, compute);
  const Count<N> values = output_width(in, m) / in.tp;
  Count<N> made;  // width of queries, keys and values of one rank
  Passes<N> products;
  if (m.is_latent()) {
    products = latent_products(k, out.latent_up);
    made = (in.latent_query + in.latent_nope + in.latent_value) / in.tp;
  } else {
    made = in.query / in.tp + 2.0 * in.kv / key_value_ways(in, k.problem.model(), k.plan);
    products = k.product(Product::QueryKeyValue, k.tokens, made, in.hidden);
  }
  products = products + k.product(Product::Output, k.tokens, in.hidden, values);
  out.attention_products = products;
  const auto moved = k.element_wise(
      kNormKernels, k.bytes(kHiddenForward, k.local, in.hidden) + k.bytes(kRotaryForward, k.tokens, made),
      k.bytes(kHiddenBackward, k.local, in.hidden) + k.bytes(kRotaryBackward, k.tokens, made), kNormsFused,
      kNormsEager);
  out.norms = memory_time(k.bytes(kNorms, k.local, in.hidden) * k.passes, k.rates.memory);
  out.attention_block = out.attention + products + moved +
                        k.casts(kAttentionCasts, k.tokens, in.hidden + values, made + in.hidden);
}

/// Activation of an MLP of that width, on so many rows.
template <Recorder R>
Passes<typename R::Num> activation(const LayerKernels<R>& k, const KernelNames& names,
                                   Tokens<typename R::Num> rows, Count<typename R::Num> width) {
  const bool gated = k.problem.model().mlp_matrices == 3;
  return k.element_wise(names, k.bytes(gated ? kGatedForward : kPlainForward, rows, width),
                        k.bytes(gated ? kGatedBackward : kPlainBackward, rows, width), kActivationFused,
                        kActivationEager);
}

template <Recorder R>
void mlp_block(const LayerKernels<R>& k, LayerWork<typename R::Num>& out) {
  using N = typename R::Num;
  const Inputs<N>& in = k.in;
  const Count<N> width = in.ffn / in.tp, up = (in.mlp_matrices - 1.0) * width;
  const auto act = activation(k, kMlpActivation, k.tokens, width);
  out.mlp_activation = act.forward;
  const auto down = k.product(Product::MlpDown, k.tokens, in.hidden, width);
  out.mlp_last = down.forward;
  const auto first = k.product(Product::MlpUp, k.tokens, up, in.hidden);
  out.mlp_products = first + down;
  out.mlp = first + down + act + k.casts(kMlpCasts, k.tokens, in.hidden + width, up + in.hidden);
}

/// Products of all experts of a rank as one grouped kernel: the weights of each are read, however few its
/// rows.
template <Recorder R>
Passes<typename R::Num> grouped(const LayerKernels<R>& k, Product p, Tokens<typename R::Num> rows,
                                Count<typename R::Num> width, Count<typename R::Num> depth) {
  using N = typename R::Num;
  const KernelNames& n = kProducts[static_cast<std::size_t>(p)];
  const Flops<N> flops = as<kFlops>(2.0 * as<kCount>(rows) * width * depth);
  const Count<N> entries = k.in.experts / k.in.ep * width * depth;
  const auto time = [&](double width_bytes) {
    return grouped_product_time(flops, k.low() ? k.rates.low : k.rates.wide,
                                as<kBytes>(width_bytes * entries), k.rates.memory, k.rates.start);
  };
  const double weight = k.low() ? 1 : 2, gradient = 8;
  return {k.rec.item({n.forward_id, n.forward, n.title}, time(weight)),
          k.rec.item({n.backward_id, n.backward, n.title}, time(weight) + time(gradient))};
}

template <Recorder R>
Passes<typename R::Num> shared_experts(const LayerKernels<R>& k, Passes<typename R::Num>& products) {
  using N = typename R::Num;
  const Inputs<N>& in = k.in;
  const Count<N> width = in.shared_ffn / in.tp;
  const auto both = k.product(Product::SharedUp, k.tokens, (in.mlp_matrices - 1.0) * width, in.hidden) +
                    k.product(Product::SharedDown, k.tokens, in.hidden, width);
  products = products + both;
  return both + activation(k, kSharedActivation, k.tokens, width);
}

/// What the router, the permutation of rows and the launches of single experts take.
template <Recorder R>
Passes<typename R::Num> routing(const LayerKernels<R>& k, Tokens<typename R::Num> rows,
                                Passes<typename R::Num>& products) {
  using N = typename R::Num;
  const Inputs<N>& in = k.in;
  const bool fused = k.problem.recipe.dispatcher != Dispatcher::AllToAll;
  const auto permutation = k.rates.memory * k.constant("e_perm", "rate of a permutation", kPermutationRate);
  const Bytes<N> moved = as<kBytes>(2.0 * in.hidden * as<kCount>((fused ? 2.0 : 6.0) * rows + 2.0 * k.local));
  const Seconds<N> once =
      memory_time(moved, permutation) + memory_time(k.bytes(kRouter, k.local, in.experts), k.rates.memory);
  Passes<N> out = k.product(Product::Router, k.local, in.experts, in.hidden, true);
  products = products + out;
  const Passes<N> maps{
      k.rec.item({"work.permutation.forward", "t_perm", "router maps and permutation"}, once),
      k.rec.item({"work.permutation.backward", "t_perm_b", "router maps and permutation"}, 1.0 * once)};
  out = out + maps;
  if (k.low() && k.problem.recipe.graphs != Graphs::Full) {
    const Seconds<N> each = in.experts / in.ep *
                            figure<Seconds<N>>(k.rec, "t_exp", "overhead of an expert, forward and backward",
                                               k.problem.stack().expert_overhead);
    out =
        out + Passes<N>{k.rec.item({"work.expert_overhead.forward", "t_exp_f", "overhead of single experts"},
                                   each / 3.0),
                        k.rec.item({"work.expert_overhead.backward", "t_exp_b", "overhead of single experts"},
                                   each * 2.0 / 3.0)};
  }
  return out;
}

template <Recorder R>
void expert_block(const LayerKernels<R>& k, LayerWork<typename R::Num>& out) {
  using N = typename R::Num;
  const Inputs<N>& in = k.in;
  const auto rows = k.rec.apply(routed_rows, {"work.expert_rows", "R_e", ""}, k.tokens, in.top_k,
                                expert_load(k.rec, k.problem.recipe, k.plan), in.etp, in.tp);
  const Count<N> width = in.expert_ffn / in.etp, up = (in.mlp_matrices - 1.0) * width;
  const auto act = activation(k, kExpertActivation, rows, width);
  out.expert_activation = act.forward;
  const auto grouped_products = grouped(k, Product::ExpertUp, rows, up, in.hidden) +
                                grouped(k, Product::ExpertDown, rows, in.hidden, width);
  out.expert_products = grouped_products;
  out.experts = grouped_products + act + routing(k, rows, out.expert_products) +
                k.casts(kExpertCasts, rows, in.hidden + width, up + in.hidden);
  if (k.problem.model().experts.shared_width == 0) return;
  const auto shared = shared_experts(k, out.expert_products);
  out.shared = shared.forward;
  out.experts = out.experts + shared;
}

/// Logits and loss, and what a block for further tokens adds to a layer.
template <Recorder R>
void head_block(const LayerKernels<R>& k, Count<typename R::Num> vocabulary,
                LayerWork<typename R::Num>& out) {
  using N = typename R::Num;
  const Inputs<N>& in = k.in;
  const Count<N> width = vocabulary / in.tp;
  const auto rate = k.rates.memory * k.constant("e_loss", "rate of the kernel of the loss", kLossRate);
  const auto loss = k.rec.item({"work.loss", "t_loss", "loss, forward and backward"},
                               k.bytes(loss_traffic(k.problem.loss().kind), k.tokens, width) / rate);
  out.head_product = k.product(Product::Head, k.tokens, width, in.table_width, true);
  out.head = out.head_product + Passes<N>{Seconds<N>{N(0.0)}, loss};
  if (k.problem.recipe.mtp_layers > 0)
    out.further = k.product(Product::Further, k.local, in.hidden, 2.0 * in.hidden);
}

}  // namespace detail

template <Recorder R>
LayerWork<typename R::Num> layer_work(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                      const Plan& plan, Tokens<typename R::Num> tokens,
                                      const ComputeCost<typename R::Num>& compute,
                                      const Rates<typename R::Num>& rates,
                                      Count<typename R::Num> vocabulary) {
  using N = typename R::Num;
  const bool eager = problem.stack().eager && !problem.recipe.compile;
  const auto passes = rec.template in<Count<N>>(
      {"f_eager", "memory passes over those of fused kernels", "stack eager"}, eager ? detail::kEager : 1);
  const detail::LayerKernels<R> k{rec,   in,    problem, plan, tokens, rates, tokens / hidden_ways(in, plan),
                                  eager, passes};
  const ModelSpec& m = problem.model();
  LayerWork<N> out;
  detail::attention_block(k, compute, out);
  if (!m.is_sparse() || m.sparse_layers() < m.layers) detail::mlp_block(k, out);
  if (m.is_sparse()) detail::expert_block(k, out);
  detail::head_block(k, vocabulary, out);
  return out;
}

}  // namespace trainplan
