/// Time of one block of the model and micro-batch: kernels, what shows of its traffic, recompute, the host.
#pragma once

#include <array>
#include <string_view>

#include "trainplan/cost/layer_blocks.hpp"
#include "trainplan/cost/layer_traffic.hpp"

namespace trainplan {

/// Kinds of blocks: with an MLP or with experts, and each as it is or recomputed as a whole.
enum class BlockKind : std::uint8_t { Dense, DenseAgain, Sparse, SparseAgain };
inline constexpr std::size_t kBlockKinds = 4;
constexpr bool has_experts(BlockKind kind) {
  return kind == BlockKind::Sparse || kind == BlockKind::SparseAgain;
}
struct BlockNames {
  std::string_view total_id, kernels_id, again_id, wait_id, products_id, symbol, kernels, again, wait,
      products, title;
};
inline constexpr std::array<BlockNames, kBlockKinds> kBlocks{{
    {"block.dense", "block.dense.kernels", "block.dense.again", "block.dense.wait", "block.dense.products",
     "t_d", "t_dk", "t_dr", "t_dw", "t_dg", "layer with an MLP"},
    {"block.dense_again", "block.dense_again.kernels", "block.dense_again.again", "block.dense_again.wait",
     "block.dense_again.products", "t_D", "t_Dk", "t_Dr", "t_Dw", "t_Dg", "recomputed layer with an MLP"},
    {"block.sparse", "block.sparse.kernels", "block.sparse.again", "block.sparse.wait",
     "block.sparse.products", "t_e", "t_ek", "t_er", "t_ew", "t_eg", "layer with experts"},
    {"block.sparse_again", "block.sparse_again.kernels", "block.sparse_again.again",
     "block.sparse_again.wait", "block.sparse_again.products", "t_E", "t_Ek", "t_Er", "t_Ew", "t_Eg",
     "recomputed layer with experts"},
}};

/// Parts of a block's time, forward and backward together; products: matrix products, a part of the kernels.
/// forward, weights: parts of the total, its forward pass and the gradients of its weights.
template <class N>
struct BlockTime {
  Seconds<N> kernels{}, products{}, tensor{}, context{}, experts{}, again{}, wait{}, total{};
  Seconds<N> forward{}, weights{};
};

namespace detail {

/// Eager Megatron-DeepSpeed issues a layer in 3.3 ms alone and in 3.5, 3.6 and 5.0 ms with 2, 4 and 8
/// tensor-parallel ranks (VIA-Research/vTrain): growth with the square of the other ranks.
inline constexpr double kIssueGrowth = 0.0104;

/// Backward products make the gradients of inputs and of weights, as many FLOPs each.
inline constexpr double kWeightShare = 0.5;

/// Share of the host's work that is left with CUDA graphs.
constexpr double graph_share(Graphs g) { return g == Graphs::Full ? 0.1 : g == Graphs::Layer ? 0.6 : 1; }

/// Forward work that selective recompute repeats in a block.
template <Recorder R>
Seconds<typename R::Num> selected_again(const Problem& problem, const Plan& plan,
                                        const LayerWork<typename R::Num>& w, bool sparse) {
  using N = typename R::Num;
  Sum<Seconds<N>> sum;
  if (plan.recompute != Recompute::Selective) return {};
  if (problem.profile().selective == SelectivePolicy::EverySecondMatmul) {
    const auto rest = w.attention_block.forward - w.attention.forward + (sparse ? w.experts : w.mlp).forward;
    return (rest + w.norms + (sparse ? w.expert_activation : w.mlp_activation)) / 2.0;
  }
  const auto has = [&](Module m) { return (plan.modules & bit(m)) != 0; };
  if (has(Module::CoreAttention)) sum.add(w.attention.forward);
  if (has(Module::LayerNorm)) sum.add(w.norms);
  if (has(Module::MlaUpProj)) sum.add(w.latent_up);
  if (has(Module::Mlp) && !sparse) sum.add(w.mlp.forward);
  if (sparse && has(Module::Moe)) {
    sum.add(w.experts.forward);
  } else if (sparse) {
    if (has(Module::MoeAct)) sum.add(w.expert_activation);
    if (has(Module::SharedExperts)) sum.add(w.shared);
  }
  return sum.total();
}

template <Recorder R>
Seconds<typename R::Num> issue_time(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                    int passes) {
  using N = typename R::Num;
  const auto host = figure<Seconds<N>>(rec, "t_host", "host time of a layer: forward, recompute, backward",
                                       problem.stack().host_per_layer);
  const auto left = rec.template in<Count<N>>({"f_graph", "share left with CUDA graphs", "run /cuda_graphs"},
                                              graph_share(problem.recipe.graphs));
  return host * left * (kIssueGrowth * (in.tp - 1.0) * (in.tp - 1.0) + 1.0) * (passes / 4.0);
}

template <Recorder R>
BlockTime<typename R::Num> block_time(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                      const Plan& plan, const LayerWork<typename R::Num>& w,
                                      const LayerTraffic<typename R::Num>& t, BlockKind kind) {
  const BlockNames& n = kBlocks[static_cast<std::size_t>(kind)];
  const bool sparse = has_experts(kind),
             whole = kind == BlockKind::DenseAgain || kind == BlockKind::SparseAgain;
  BlockTime<typename R::Num> out;
  const auto kernels = w.attention_block + (sparse ? w.experts : w.mlp);
  const auto products = w.attention_products + (sparse ? w.expert_products : w.mlp_products);
  out.kernels = rec.item({n.kernels_id, n.kernels, "kernels, forward and backward"}, kernels.both());
  out.products =
      rec.item({n.products_id, n.products, "matrix products, forward and backward"}, products.both());
  const auto& tensor = sparse ? t.tensor_sparse : t.tensor;
  out.tensor = tensor.both();
  out.context = t.context.both();
  if (sparse) out.experts = t.experts.both();
  if (whole) {
    // Recompute that stops early does not run the last product of a block again.
    const bool stops = problem.stack().early_stop && !sparse;
    out.again = stops ? kernels.forward - w.mlp_last : 1.0 * kernels.forward;
    out.tensor = out.tensor + tensor.forward;
    out.context = out.context + t.context.forward;
    if (sparse) out.experts = out.experts + t.experts.forward;
  } else {
    out.again = selected_again<R>(problem, plan, w, sparse);
    if (sparse && plan.recompute == Recompute::Selective && (plan.modules & bit(Module::Moe)) != 0)
      out.experts = out.experts + t.experts.forward;
  }
  out.again = rec.item({n.again_id, n.again, "recompute"}, 1.0 * out.again);
  const auto work = out.kernels + out.tensor + out.context + out.experts + out.again;
  out.wait = rec.apply(host_wait, {n.wait_id, n.wait, "waiting for the host"},
                       issue_time(rec, in, problem, whole ? 4 : 3), work);
  out.total = rec.item({n.total_id, n.symbol, n.title}, work + out.wait);
  const auto traffic =
      sparse ? tensor.forward + t.context.forward + t.experts.forward : tensor.forward + t.context.forward;
  const auto waited = out.wait / (whole ? 4.0 : 3.0);  // the host issues each pass alike
  out.forward = kernels.forward + traffic + waited;
  out.weights = kWeightShare * products.backward + waited;
  return out;
}

}  // namespace detail

}  // namespace trainplan
