/// Weight-shaped gradient buffers: one for each shape that a stage holds, or one for the product that runs.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <optional>

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
  Item item;
  Count<N> rows, columns, ways;
  double local_rows, local_columns;

  WeightShape(const Item& weight, Count<N> all_rows, Count<N> all_columns, Count<N> ranks, Split split)
      : item(weight),
        rows(all_rows),
        columns(all_columns),
        ways(ranks),
        local_rows(value_of(rows) / (split == Split::Rows ? value_of(ways) : 1)),
        local_columns(value_of(columns) / (split == Split::Columns ? value_of(ways) : 1)) {}
  double elements() const { return local_rows * local_columns; }
};

/// Shapes that came before. Equal ones can share a buffer.
class ShapesSeen {
  static constexpr std::size_t kMost = 16;
  std::array<double, kMost> rows_, columns_;
  std::size_t size_ = 0;

 public:
  template <class N>
  bool is_new(const WeightShape<N>& shape) {
    for (std::size_t i = 0; i < size_; ++i)
      if (rows_[i] == shape.local_rows && columns_[i] == shape.local_columns) return false;
    assert(size_ < kMost);
    rows_[size_] = shape.local_rows;
    columns_[size_++] = shape.local_columns;
    return true;
  }
};

/// Calls add(item, rows, columns, ways, split) for the weights of latent attention.
template <class N>
void latent_shapes(const Inputs<N>& in, const ModelSpec& m, auto& add) {
  const Count<N> one{1.0};
  if (m.latent.q_rank > 0) {
    add({"memory.scratch.query_down", "M_s_qd", "query down projection"}, in.q_rank, in.hidden, one,
        Split::None);
    add({"memory.scratch.query_up", "M_s_qu", "query up projection"}, in.latent_query, in.q_rank, in.tp,
        Split::Rows);
  } else {
    add({"memory.scratch.query", "M_s_q", "query projection"}, in.latent_query, in.hidden, in.tp,
        Split::Rows);
  }
  add({"memory.scratch.key_value_down", "M_s_kvd", "key-value down projection"}, in.kv_rank + in.rope,
      in.hidden, one, Split::None);
  add({"memory.scratch.key_value_up", "M_s_kvu", "key-value up projection"}, in.latent_nope + in.latent_value,
      in.kv_rank, in.tp, Split::Rows);
  add({"memory.scratch.projection", "M_s_o", "output projection"}, in.hidden, in.latent_value, in.tp,
      Split::Columns);
}

/// Calls visit(shape) for each weight of the layers that a stage holds; of experts one, not their stack.
template <class N>
void for_each_weight(const Inputs<N>& in, const Problem& problem, const Plan& plan, LayerMix mix,
                     auto&& visit) {
  const ModelSpec& m = problem.model();
  const double up = m.mlp_matrices - 1;
  const auto add = [&](const Item& item, Count<N> rows, Count<N> columns, Count<N> ways, Split split) {
    visit(WeightShape<N>(item, rows, columns, ways, split));
  };
  if (m.is_latent()) {
    latent_shapes(in, m, add);
  } else {
    const auto kv = copies_key_values(m, plan) ? 2.0 * in.kv * in.tp / in.kv_heads : 2.0 * in.kv;
    add({"memory.scratch.qkv", "M_s_qkv", "query, key and value projection"}, in.query + kv, in.hidden, in.tp,
        Split::Rows);
    add({"memory.scratch.projection", "M_s_o", "output projection"}, in.hidden, in.query, in.tp,
        Split::Columns);
  }
  if (mix.dense) {
    add({"memory.scratch.up", "M_s_up", "up projections"}, up * in.ffn, in.hidden, in.tp, Split::Rows);
    add({"memory.scratch.down", "M_s_down", "down projection"}, in.hidden, in.ffn, in.tp, Split::Columns);
  }
  if (!mix.sparse) return;
  add({"memory.scratch.expert_up", "M_s_eu", "up projections of an expert"}, up * in.expert_ffn, in.hidden,
      in.etp, Split::Rows);
  add({"memory.scratch.expert_down", "M_s_ed", "down projection of an expert"}, in.hidden, in.expert_ffn,
      in.etp, Split::Columns);
  if (m.experts.shared_width == 0) return;
  add({"memory.scratch.shared_up", "M_s_su", "up projections of the shared experts"}, up * in.shared_ffn,
      in.hidden, in.tp, Split::Rows);
  add({"memory.scratch.shared_down", "M_s_sd", "down projection of the shared experts"}, in.hidden,
      in.shared_ffn, in.tp, Split::Columns);
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
  return {{"memory.scratch.head", "M_s_head", "head"},
          params.padded_vocabulary,
          in.table_width,
          in.tp,
          Split::Rows};
}

}  // namespace detail

/// Weight gradients go through a buffer of the framework that stays, one for each shape.
inline bool keeps_scratch_gradients(const Problem& problem, const Plan& plan) {
  return problem.profile().scratch_gradients && problem.recipe.accumulation_fusion &&
         !problem.profile().rows(plan.sharding)->is_fully_sharded();
}

/// Shapes of the layers of a stage, and a buffer for each.
template <class N>
struct ScratchBuffers {
  detail::ShapesSeen seen;
  Sum<Bytes<N>> sum;

  template <Recorder R>
  void add(R& rec, const detail::WeightShape<N>& shape) {
    if (seen.is_new(shape)) sum.add(detail::gradient_of(rec, shape.item, shape));
  }
};

/// One buffer for each shape that the stage holds. of_layers: those of its layers, shared by the stages.
template <Recorder R>
Bytes<typename R::Num> scratch_gradients(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                         const Plan& plan, int stage,
                                         const ParamsCost<typename R::Num>& params,
                                         OfMix<ScratchBuffers<typename R::Num>>& of_layers) {
  using N = typename R::Num;
  const auto& layers = of_layers(params.mix, [&] {
    ScratchBuffers<N> made;
    detail::for_each_weight(in, problem, plan, params.mix,
                            [&](const detail::WeightShape<N>& shape) { made.add(rec, shape); });
    return made;
  });
  const Item item{"memory.scratch_gradients", "M_scratch", "weight-shaped gradient buffers, one a shape"};
  if (stage != head_stage(plan)) return rec.item(item, layers.sum.total());
  ScratchBuffers<N> all = layers;
  all.add(rec, detail::head_shape(in, params));
  return rec.item(item, all.sum.total());
}

/// The largest weight of a layer: its gradient stands alone until it is added to the main gradient.
template <Recorder R>
Bytes<typename R::Num> layer_weight_gradient(R& rec, const Inputs<typename R::Num>& in,
                                             const Problem& problem, const Plan& plan, LayerMix mix) {
  using N = typename R::Num;
  std::optional<detail::WeightShape<N>> largest;
  detail::for_each_weight(in, problem, plan, mix, [&](const detail::WeightShape<N>& shape) {
    if (!largest || shape.elements() > largest->elements()) largest = shape;
  });
  return detail::gradient_of(
      rec, {"memory.layer_wgrad", "M_wgrad", "gradient of the largest weight of a layer"}, *largest);
}

}  // namespace trainplan
