/// Kernels of one layer and of the head, for one micro-batch on one GPU.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "trainplan/cost/compute.hpp"
#include "trainplan/cost/experts.hpp"
#include "trainplan/cost/kernels.hpp"

namespace trainplan {

/// Matrix products of a model, in the order of their items.
enum class Product : std::uint8_t {
  QueryKeyValue,
  QueryDown,
  QueryUp,
  KeyValueDown,
  KeyValueUp,
  Output,
  MlpUp,
  MlpDown,
  Router,
  SharedUp,
  SharedDown,
  ExpertUp,
  ExpertDown,
  Further,
  Head
};
/// Ids, symbols and title of two kernels that belong together.
struct KernelNames {
  std::string_view forward_id, backward_id, forward, backward, title;
};
inline constexpr KernelNames kProducts[] = {
    {"work.qkv.forward", "work.qkv.backward", "t_qkv_f", "t_qkv_b", "query, key and value projection"},
    {"work.q_down.forward", "work.q_down.backward", "t_qd_f", "t_qd_b", "latent projection of queries, down"},
    {"work.q_up.forward", "work.q_up.backward", "t_qu_f", "t_qu_b", "latent projection of queries, up"},
    {"work.kv_down.forward", "work.kv_down.backward", "t_kvd_f", "t_kvd_b",
     "latent projection of keys and values, down"},
    {"work.kv_up.forward", "work.kv_up.backward", "t_kvu_f", "t_kvu_b",
     "latent projection of keys and values, up"},
    {"work.output.forward", "work.output.backward", "t_o_f", "t_o_b", "output projection"},
    {"work.mlp_up.forward", "work.mlp_up.backward", "t_up_f", "t_up_b", "MLP, up"},
    {"work.mlp_down.forward", "work.mlp_down.backward", "t_dn_f", "t_dn_b", "MLP, down"},
    {"work.router.forward", "work.router.backward", "t_r_f", "t_r_b", "router"},
    {"work.shared_up.forward", "work.shared_up.backward", "t_su_f", "t_su_b", "shared experts, up"},
    {"work.shared_down.forward", "work.shared_down.backward", "t_sd_f", "t_sd_b", "shared experts, down"},
    {"work.experts_up.forward", "work.experts_up.backward", "t_eu_f", "t_eu_b", "routed experts, up"},
    {"work.experts_down.forward", "work.experts_down.backward", "t_ed_f", "t_ed_b", "routed experts, down"},
    {"work.further.forward", "work.further.backward", "t_ft_f", "t_ft_b",
     "projection of a block for further tokens"},
    {"work.head.forward", "work.head.backward", "t_h_f", "t_h_b", "head"},
};

/// Kernels that only move memory.
inline constexpr KernelNames kNormKernels{"work.norms.forward", "work.norms.backward", "t_n_f", "t_n_b",
                                          "norms, residual sums, rotary positions"},
    kMlpActivation{"work.mlp_activation.forward", "work.mlp_activation.backward", "t_act_f", "t_act_b",
                   "activation of the MLP"},
    kSharedActivation{"work.shared_activation.forward", "work.shared_activation.backward", "t_sact_f",
                      "t_sact_b", "activation of the shared experts"},
    kExpertActivation{"work.expert_activation.forward", "work.expert_activation.backward", "t_xact_f",
                      "t_xact_b", "activation of the routed experts"},
    kAttentionCasts{"work.attention_casts.forward", "work.attention_casts.backward", "t_ac_f", "t_ac_b",
                    "casts to the low format, attention"},
    kMlpCasts{"work.mlp_casts.forward", "work.mlp_casts.backward", "t_mc_f", "t_mc_b",
              "casts to the low format, MLP"},
    kExpertCasts{"work.expert_casts.forward", "work.expert_casts.backward", "t_xc_f", "t_xc_b",
                 "casts to the low format, routed experts"};

/// What one micro-batch takes: an MLP layer, a layer with experts, what both have, and the last stage.
template <class N>
struct LayerWork {
  Passes<N> attention;        // the attention kernel alone
  Passes<N> attention_block;  // with its projections, norms and residuals
  Passes<N> mlp, experts;
  Passes<N> head, further;  // logits and loss; a projection of a block for further tokens
  Passes<N> attention_products, mlp_products, expert_products, head_product;  // their matrix products alone
  Seconds<N> mlp_last{};  // last product of an MLP, forward; and forward parts that may be recomputed
  Seconds<N> mlp_activation{}, expert_activation{}, norms{}, latent_up{}, shared{};
};

namespace detail {

/// Bytes that element-wise kernels move for each element of a token, fused: what passes the hidden state
/// (two norms, two residual sums), queries and keys (rotary positions), an MLP (its activation).
inline constexpr double kHiddenForward = 20, kHiddenBackward = 30, kRotaryForward = 4, kRotaryBackward = 6,
                        kGatedForward = 6, kGatedBackward = 10, kPlainForward = 4, kPlainBackward = 6,
                        kNorms = 8;
/// Unfused kernels pass memory more often.
inline constexpr double kEager = 1.55;
/// Kernels of a layer outside its matrix products, forward and backward. Unfused, each step of a norm, of
/// rotary positions, of dropout and of an activation is a kernel of its own.
struct Kernels {
  double forward = 0, backward = 0;
};
inline constexpr Kernels kNormsFused{4, 6}, kNormsEager{10, 14}, kActivationFused{1, 1},
    kActivationEager{3, 4}, kScoresEager{5, 8};
/// Reading an element in 16 bits and writing it, and its transpose, in 8.
inline constexpr double kCast = 4;
/// Scores of an unfused kernel, in bytes of an entry: products, scale, mask, softmax and what follows.
inline constexpr double kScoresForward = 10, kScoresBackward = 12;
/// Router: probabilities, their sort and the maps of tokens to experts, in bytes of an expert and token.
inline constexpr double kRouter = 40;
/// Batched products of unfused attention run at about half the rate of a large product.
inline constexpr double kBatchedProducts = 0.5;
/// Blocks of 128 queries at which an attention kernel fills half of a GPU, and one such block.
inline constexpr double kHalfBlocks = 160, kQueryBlock = 128;
/// Permutation and loss kernels reach half and a third of what other element-wise kernels do.
inline constexpr double kPermutationRate = 0.58, kLossRate = 0.35;

/// Bytes that the kernel of the loss moves for each logit.
constexpr double loss_traffic(LossKind kind) {
  switch (kind) {
    case LossKind::Te:
    case LossKind::Compiled:
    case LossKind::Chunked: return 8;
    case LossKind::Native: return 10;
    case LossKind::Eager: return 14;
  }
  return 8;
}

/// Everything that the kernels of a layer are worked out from.
template <Recorder R>
struct LayerKernels {
  using N = typename R::Num;
  R& rec;
  const Inputs<N>& in;
  const Problem& problem;
  const Plan& plan;
  Tokens<N> tokens;  // of a micro-batch on one GPU
  Rates<N> rates;
  Tokens<N> local;  // outside the tensor-parallel regions
  bool eager;       // kernels that are not fused
  Count<N> passes;  // memory passes over those of fused kernels

  bool low() const { return problem.recipe.matmul != Matmul::Wide; }
  Count<N> constant(std::string_view symbol, std::string_view meaning, double value) const {
    return rec.template in<Count<N>>({symbol, meaning, "kernels"}, value);
  }
  static Bytes<N> bytes(double of_element, Tokens<N> rows, Count<N> width) {
    return as<kBytes>(of_element * as<kCount>(rows) * width);
  }

  /// rows x width from rows x depth. The gradient of the weights is accumulated in fp32.
  Passes<N> product(Product p, Tokens<N> rows, Count<N> width, Count<N> depth, bool wide = false) const {
    const KernelNames& n = kProducts[static_cast<std::size_t>(p)];
    const bool narrow = low() && !wide;
    const FlopsPerSec<N> rate = narrow ? rates.low : rates.wide;
    const Count<N> half = narrow ? rates.half_depth_low : rates.half_depth;
    const Flops<N> flops = as<kFlops>(2.0 * as<kCount>(rows) * width * depth);
    const Bytes<N> ends = as<kBytes>(2.0 * as<kCount>(rows) * (width + depth)),
                   weights = as<kBytes>(2.0 * width * depth);
    const auto pass = [&](Count<N> k, Bytes<N> moved) {
      return product_time(flops, rate, k, half, moved, rates.memory, rates.start);
    };
    return {rec.apply(product_time, {n.forward_id, n.forward, n.title}, flops, rate, depth, half,
                      ends + weights, rates.memory, rates.start),
            rec.item({n.backward_id, n.backward, n.title},
                     pass(width, ends + weights) + pass(as<kCount>(rows), ends + 4.0 * weights))};
  }

  Passes<N> element_wise(const KernelNames& n, Bytes<N> forward, Bytes<N> backward, Kernels fused,
                         Kernels unfused) const {
    const Kernels kernels = eager ? unfused : fused;
    const auto count = [&](double of_pass) { return constant("n_k", "element-wise kernels", of_pass); };
    return {
        rec.apply(element_wise_time, {n.forward_id, n.forward, n.title}, forward * passes, rates.memory,
                  count(kernels.forward), rates.start),
        rec.item({n.backward_id, n.backward, n.title},
                 element_wise_time(backward * passes, rates.memory, count(kernels.backward), rates.start))};
  }

  /// Casts of `inputs` and of the gradients of `outputs` to a low format.
  Passes<N> casts(const KernelNames& n, Tokens<N> rows, Count<N> inputs, Count<N> outputs) const {
    if (!low()) return {};
    return {
        rec.apply(memory_time, {n.forward_id, n.forward, n.title}, bytes(kCast, rows, inputs), rates.memory),
        rec.item({n.backward_id, n.backward, n.title},
                 memory_time(bytes(kCast, rows, outputs), rates.memory))};
  }
};

}  // namespace detail

}  // namespace trainplan
