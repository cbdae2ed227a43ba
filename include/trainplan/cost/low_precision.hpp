/// What products in 8 or 4 bits keep: their inputs for the backward pass, and copies of their weights.
#pragma once

#include <array>
#include <cstddef>

#include "trainplan/cost/params.hpp"
#include "trainplan/cost/state.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

/// A number format of products. element, scale: bytes of an entry and of its part of a scale. by_row: scales
/// belong to pieces of a row, so that the transposed operand is a cast of its own.
struct LowFormat {
  double element, scale;
  bool by_row;
  std::string_view origin;
};

/// In the order of Matmul.
inline constexpr std::array<LowFormat, std::size(kMatmulNames)> kLowFormats{{
    {2, 0, false, "16 bits"},
    {1, 0, false, "Transformer Engine, current and delayed scaling: one fp32 scale for a tensor"},
    {1, 0, true, "torchao, float8: one fp32 scale for a row"},
    {1, 4.0 / 128, true, "Transformer Engine, blockwise scaling: one fp32 scale for 128 entries of an input"},
    {1, 1.0 / 32, true, "Transformer Engine, MXFP8: one scale of a byte for 32 entries"},
    {0.5, 1.0 / 16, true, "Transformer Engine, NVFP4: one scale of a byte for 16 entries"},
}};
constexpr const LowFormat& low_format(Matmul m) { return kLowFormats[static_cast<std::size_t>(m)]; }

inline constexpr Formula low_weights{
    "low_weights", "copies of the weights of products in their format",
    Source{"transformer-engine", "module/base.py: cast once a step and kept between micro-batches"},
    std::array{Arg{"params", "N_low", "weights of products in 8 or 4 bits"},
               Arg{"width", "w_low", "bytes of a weight with its scale"},
               Arg{"copies", "n_copy", "copies: as it is, and transposed", 1, 2}},
    []<class N>(Params<N> params, BytesPerParam<N> width, Count<N> copies) {
      return params * width * copies;
    }};

/// The framework keeps inputs and weights of products in their format.
inline bool keeps_low_operands(const Problem& problem) {
  return problem.recipe.matmul != Matmul::Wide && problem.profile().low_operands;
}

/// Products of GPUs before those with fp4 take both operands with the summed dimension inside, so that the
/// backward pass needs weights transposed; with scales by row every GPU does.
inline int low_copies(const Problem& problem) {
  return low_format(problem.recipe.matmul).by_row || !problem.cluster().accelerator.fp4_dense.known ? 2 : 1;
}

namespace detail {

/// Bytes of an element of an input that a product keeps for its backward pass.
template <Recorder R>
BytesPerToken<typename R::Num> low_element(R& rec, const Inputs<typename R::Num>& in,
                                           const Problem& problem) {
  if (!keeps_low_operands(problem)) return in.element;
  const LowFormat& f = low_format(problem.recipe.matmul);
  return rec.template in<BytesPerToken<typename R::Num>>(
      {"e_low", "bytes of an input of a product, with its scale", f.origin}, f.element + f.scale);
}

/// Weights on this GPU of products that run in 8 or 4 bits: not tables, routers and norms.
template <class N>
Params<N> low_params(const ParamsCost<N>& params, const ModelSpec& m, ParamClass kind) {
  const auto of = [&](WeightClass c) { return params.classes[static_cast<std::size_t>(c)]; };
  if (kind == ParamClass::Experts) return 1.0 * of(WeightClass::Experts);
  Sum<Params<N>> sum;
  sum.add(of(WeightClass::Attention));
  if (m.is_latent()) sum.add(of(WeightClass::Latent));
  if (m.sparse_layers() < m.layers) sum.add(of(WeightClass::Mlp));
  if (m.is_sparse() && m.experts.shared_width > 0) sum.add(of(WeightClass::Shared));
  if (value_of(of(WeightClass::Further)) > 0) sum.add(of(WeightClass::Further));
  return sum.total();
}

/// How many copies of an operand that both products of the backward pass read.
template <Recorder R>
Count<typename R::Num> copies_leaf(R& rec, const Problem& problem) {
  const LowFormat& f = low_format(problem.recipe.matmul);
  return rec.template in<Count<typename R::Num>>(
      {"n_copy", "copies of an operand: as it is, and transposed",
       f.by_row ? f.origin : "Transformer Engine, handling transposes"},
      low_copies(problem));
}

/// Narrow copies of all weights of products on this GPU.
template <Recorder R>
Bytes<typename R::Num> low_copies_of_weights(R& rec, const Problem& problem,
                                             const ParamsCost<typename R::Num>& params) {
  using N = typename R::Num;
  const LowFormat& f = low_format(problem.recipe.matmul);
  const ModelSpec& m = problem.model();
  const auto dense = low_params(params, m, ParamClass::Dense);
  const auto held = rec.item({"params.low", "N_low", "weights of products in 8 or 4 bits"},
                             m.is_sparse() ? dense + low_params(params, m, ParamClass::Experts) : dense);
  const auto width = rec.template in<BytesPerParam<N>>(
      {"w_low", "bytes of a weight with its scale", f.origin}, f.element + f.scale);
  return rec.apply(low_weights,
                   {"memory.low_weights", "M_cast",
                    problem.recipe.low_weights ? "weights in the format of the products"
                                               : "copies of weights in the format of the products"},
                   held, width, copies_leaf(rec, problem));
}

}  // namespace detail

using LowPrecisionFormulas = Chapter<low_weights>;

}  // namespace trainplan
