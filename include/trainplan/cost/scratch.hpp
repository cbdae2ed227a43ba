/// Weight-shaped gradient buffers: one for each shape that a stage holds, or one for the product that runs.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>

#include "trainplan/cost/inputs.hpp"
#include "trainplan/cost/params.hpp"
#include "trainplan/cost/saved.hpp"
#include "trainplan/trace/formula.hpp"

namespace trainplan {

inline constexpr Formula weight_gradient{
    "weight_gradient", "bytes of the gradient of one weight matrix on one GPU",
    Source{"transformer-engine", "module/base.py, get_dummy_wgrad: a buffer of the weight's shape"},
    std::array{Arg{"rows", "n_r", "rows"}, Arg{"columns", "n_c", "columns"},
               Arg{"ways", "t", "ranks that share the matrix", 1}, Arg{"width", "w", "bytes of an element"}},
    []<class N>(Count<N> rows, Count<N> columns, Count<N> ways, BytesPerParam<N> width) {
      return as<kParams>(rows * columns / ways) * width;
    }};

namespace detail {

enum class Split : std::uint8_t { None, Rows, Columns };

/// One weight matrix; local: its rows and columns on one GPU.
template <class N>
struct WeightShape {
  Item item{};
  Count<N> rows{}, columns{}, ways{};
  double local_rows = 0, local_columns = 0;

  double elements() const { return local_rows * local_columns; }
};

/// The weights of the layers of a stage. Equal shapes, which can share a buffer, are listed once.
template <class N, std::size_t K = 16>
class WeightShapes {
  std::array<WeightShape<N>, K> shapes_{};
  std::size_t size_ = 0;

 public:
  void add(const Item& item, Count<N> rows, Count<N> columns, Count<N> ways, Split split) {
    const double cut = value_of(ways), r = value_of(rows) / (split == Split::Rows ? cut : 1),
                 c = value_of(columns) / (split == Split::Columns ? cut : 1);
    for (std::size_t i = 0; i < size_; ++i)
      if (shapes_[i].local_rows == r && shapes_[i].local_columns == c) return;
    assert(size_ < K);
    shapes_[size_++] = {item, rows, columns, ways, r, c};
  }
  const WeightShape<N>* begin() const { return shapes_.data(); }
  const WeightShape<N>* end() const { return shapes_.data() + size_; }
};

template <class N>
void latent_shapes(const Inputs<N>& in, const ModelSpec& m, WeightShapes<N>& out) {
  const Count<N> one{1.0};
  if (m.latent.q_rank > 0) {
    out.add({"memory.scratch.query_down", "M_s_qd", "query down projection"}, in.q_rank, in.hidden, one,
            Split::None);
    out.add({"memory.scratch.query_up", "M_s_qu", "query up projection"}, in.latent_query, in.q_rank, in.tp,
            Split::Rows);
  } else {
    out.add({"memory.scratch.query", "M_s_q", "query projection"}, in.latent_query, in.hidden, in.tp,
            Split::Rows);
  }
  out.add({"memory.scratch.key_value_down", "M_s_kvd", "key-value down projection"}, in.kv_rank + in.rope,
          in.hidden, one, Split::None);
  out.add({"memory.scratch.key_value_up", "M_s_kvu", "key-value up projection"},
          in.latent_nope + in.latent_value, in.kv_rank, in.tp, Split::Rows);
  out.add({"memory.scratch.projection", "M_s_o", "output projection"}, in.hidden, in.latent_value, in.tp,
          Split::Columns);
}

/// The layers that a stage holds; of experts one, not their stack.
template <class N>
WeightShapes<N> layer_shapes(const Inputs<N>& in, const Problem& problem, const Plan& plan, LayerMix mix) {
  const ModelSpec& m = problem.model();
  const double up = m.mlp_matrices - 1;
  WeightShapes<N> out;
  if (m.is_latent()) {
    latent_shapes(in, m, out);
  } else {
    const auto kv = copies_key_values(m, plan) ? 2.0 * in.kv * in.tp / in.kv_heads : 2.0 * in.kv;
    out.add({"memory.scratch.qkv", "M_s_qkv", "query, key and value projection"}, in.query + kv, in.hidden,
            in.tp, Split::Rows);
    out.add({"memory.scratch.projection", "M_s_o", "output projection"}, in.hidden, in.query, in.tp,
            Split::Columns);
  }
  if (mix.dense) {
    out.add({"memory.scratch.up", "M_s_up", "up projections"}, up * in.ffn, in.hidden, in.tp, Split::Rows);
    out.add({"memory.scratch.down", "M_s_down", "down projection"}, in.hidden, in.ffn, in.tp, Split::Columns);
  }
  if (!mix.sparse) return out;
  out.add({"memory.scratch.expert_up", "M_s_eu", "up projections of an expert"}, up * in.expert_ffn,
          in.hidden, in.etp, Split::Rows);
  out.add({"memory.scratch.expert_down", "M_s_ed", "down projection of an expert"}, in.hidden, in.expert_ffn,
          in.etp, Split::Columns);
  if (m.experts.shared_width == 0) return out;
  out.add({"memory.scratch.shared_up", "M_s_su", "up projections of the shared experts"}, up * in.shared_ffn,
          in.hidden, in.tp, Split::Rows);
  out.add({"memory.scratch.shared_down", "M_s_sd", "down projection of the shared experts"}, in.hidden,
          in.shared_ffn, in.tp, Split::Columns);
  return out;
}

template <Recorder R>
Bytes<typename R::Num> gradient_of(R& rec, const Item& item, const WeightShape<typename R::Num>& shape) {
  const auto width = rec.template in<BytesPerParam<typename R::Num>>(
      {"w_s", "bytes of an element of a weight-shaped gradient", "precision"}, 2);
  return rec.apply(weight_gradient, item, shape.rows, shape.columns, shape.ways, width);
}

/// The head with the padded vocabulary.
template <class N>
WeightShape<N> head_shape(const Inputs<N>& in, const ParamsCost<N>& params) {
  return {
      {"memory.scratch.head", "M_s_head", "head"},          params.padded_vocabulary, in.table_width, in.tp,
      value_of(params.padded_vocabulary) / value_of(in.tp), value_of(in.table_width)};
}

}  // namespace detail

/// Weight gradients go through a buffer of the framework that stays, one for each shape.
inline bool keeps_scratch_gradients(const Problem& problem, const Plan& plan) {
  return problem.profile().scratch_gradients && problem.recipe.accumulation_fusion &&
         !problem.profile().rows(plan.sharding)->is_fully_sharded();
}

/// One buffer for each shape that the stage holds.
template <Recorder R>
Bytes<typename R::Num> scratch_gradients(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                         const Plan& plan, int stage,
                                         const ParamsCost<typename R::Num>& params) {
  using N = typename R::Num;
  auto shapes = detail::layer_shapes(in, problem, plan, detail::mix_of(problem, plan, stage));
  if (stage == head_stage(plan)) {
    const auto head = detail::head_shape(in, params);
    shapes.add(head.item, head.rows, head.columns, head.ways, detail::Split::Rows);
  }
  Sum<Bytes<N>> sum;
  for (const auto& shape : shapes) sum.add(detail::gradient_of(rec, shape.item, shape));
  return rec.item({"memory.scratch_gradients", "M_scratch", "weight-shaped gradient buffers, one a shape"},
                  sum.total());
}

/// The largest weight of a layer: its gradient stands alone until it is added to the main gradient.
template <Recorder R>
Bytes<typename R::Num> layer_weight_gradient(R& rec, const Inputs<typename R::Num>& in,
                                             const Problem& problem, const Plan& plan, int stage) {
  const auto shapes = detail::layer_shapes(in, problem, plan, detail::mix_of(problem, plan, stage));
  const auto* largest = shapes.begin();
  for (const auto& shape : shapes)
    if (shape.elements() > largest->elements()) largest = &shape;
  return detail::gradient_of(
      rec, {"memory.layer_wgrad", "M_wgrad", "gradient of the largest weight of a layer"}, *largest);
}

}  // namespace trainplan
