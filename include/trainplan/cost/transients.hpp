/// Memory that the layer that runs needs beside what is saved, and buffers between stages.
#pragma once

#include "trainplan/cost/head_memory.hpp"
#include "trainplan/trace/formula.hpp"

namespace trainplan {

inline constexpr Formula mlp_backward{
    "mlp_backward", "peak of the backward pass of a dense MLP over what is saved",
    Source{"simumax", "docs/b200, peaks of each rank: at the activation, the up and the down projection"},
    std::array{Arg{"tokens", "T", "tokens"}, Arg{"up", "n_up", "up projections: 2 gated, 1 plain", 1, 2},
               Arg{"f", "f", "MLP width"}, Arg{"h", "h", "hidden size"},
               Arg{"element", "e", "bytes of an element"}, Arg{"t", "t", "tensor parallel degree", 1},
               Arg{"ways", "t_h", "ranks that share the hidden states", 1},
               Arg{"whole", "n_w", "whole copies of the hidden states: 1 with tp, else 0", 0, 1}},
    []<class N>(Tokens<N> tokens, Count<N> up, Count<N> f, Count<N> h, BytesPerToken<N> e, Count<N> t,
                Count<N> ways, Count<N> whole) {
      const auto split = h / ways;
      return tokens * e *
             max(max(up * f / t + split, whole * (2.0 * h + split - f / t)), f / t + split + whole * h);
    }};

inline constexpr Formula rows_in_flight{
    "rows_in_flight", "tensors of the exchange of a layer with experts while it runs forward",
    Source{"simumax", "docs/b200, peaks of each rank: rows before and after the experts, unsorted, returned"},
    std::array{Arg{"rows", "R", "token copies that the experts of a rank take in"},
               Arg{"tokens", "T", "tokens"}, Arg{"h", "h", "hidden size"},
               Arg{"element", "e", "bytes of an element"},
               Arg{"ways", "t_h", "ranks that share the hidden states", 1}},
    []<class N>(Tokens<N> rows, Tokens<N> tokens, Count<N> h, BytesPerToken<N> e, Count<N> ways) {
      return (4.0 * rows + 3.0 * tokens / ways) * h * e;
    }};

inline constexpr Formula gathered_unit{
    "gathered_unit", "whole layers that are gathered at a time",
    Source{"fsdp-2023", "current and prefetched unit"},
    std::array{Arg{"units", "u", "layers at a time"},
               Arg{"layer", "N_layer_t", "parameters of a layer on this GPU"},
               Arg{"tables", "N_tables_s", "tables of this stage"}, Arg{"width", "w", "bytes per parameter"}},
    []<class N>(Count<N> units, Params<N> layer, Params<N> tables, BytesPerParam<N> width) {
      return (units * layer + tables) * width;
    }};

inline constexpr Formula reduced_unit{
    "reduced_unit", "unsharded gradient of whole layers and the input of its reduction",
    Source{"pytorch", "torch/distributed/fsdp: the gradient is copied into the reduce-scatter's input"},
    std::array{Arg{"units", "u", "layers at a time"},
               Arg{"layer", "N_layer_t", "parameters of a layer on this GPU"},
               Arg{"gradient", "w_g", "bytes per parameter of the gradient"},
               Arg{"reduced", "w_r", "bytes per parameter of the reduction"}},
    []<class N>(Count<N> units, Params<N> layer, BytesPerParam<N> gradient, BytesPerParam<N> reduced) {
      return units * layer * (gradient + reduced);
    }};

namespace detail {

/// Gradients of probabilities and scores of an unfused kernel.
template <Recorder R>
Bytes<typename R::Num> matrix_gradients(const StageMemory<R>& s) {
  const auto entry = s.rec.template in<BytesPerToken<typename R::Num>>(
      {"w_ga", "gradients of probabilities and scores", "precision"}, 4);
  return s.rec.apply(attention_matrix,
                     {"memory.matrix_gradients", "M_mgrad", "gradients of the attention matrices"},
                     s.in.heads, s.act.tokens, s.in.sequence, entry, s.in.tp);
}

/// The gradient of the up projections of the larger MLP of the stage.
template <Recorder R>
Bytes<typename R::Num> up_gradient(const StageMemory<R>& s) {
  const double up = s.problem.model().mlp_matrices - 1;
  const Item item{"memory.up_gradient", "M_ugrad", "gradient of the up projections"};
  const auto of_experts = [&] {
    return activation_tensor(s.act.rows, up * s.in.expert_ffn, s.in.element, s.in.etp);
  };
  if (!s.mix().dense) return s.rec.item(item, of_experts());
  const auto dense = activation_tensor(s.act.tokens, up * s.in.ffn, s.in.element, s.in.tp);
  return s.rec.item(item, s.mix().sparse ? max(dense, of_experts()) : dense);
}

/// The same in the format of the products, for both products of the backward pass.
template <Recorder R>
Bytes<typename R::Num> low_gradient(const StageMemory<R>& s) {
  const double up = s.problem.model().mlp_matrices - 1;
  const auto element = low_element(s.rec, s.in, s.problem) * copies_leaf(s.rec, s.problem);
  const auto of_experts = [&] {
    return activation_tensor(s.act.rows, up * s.in.expert_ffn, element, s.in.etp);
  };
  const auto of_dense = [&] { return activation_tensor(s.act.tokens, up * s.in.ffn, element, s.in.tp); };
  return s.rec.item(
      {"memory.low_gradient", "M_ugrad8", "gradient of the up projections in the format of the products"},
      !s.mix().dense   ? of_experts()
      : s.mix().sparse ? max(of_dense(), of_experts())
                       : of_dense());
}

template <Recorder R>
bool gathers_context(const StageMemory<R>& s) {
  return s.plan.cp > 1 && s.problem.recipe.cp_mode == CpMode::AllGather;
}

/// Keys and values of the whole sequence in one layer, and their gradients before these are reduced.
template <Recorder R>
Bytes<typename R::Num> gathered_context(const StageMemory<R>& s) {
  const ModelSpec& m = s.problem.model();
  const auto width = m.is_latent() ? s.in.latent_query + s.in.latent_value : 2.0 * s.in.kv;
  const auto ways = key_value_ways(s.in, m, s.plan);
  return s.rec.apply(activation_tensor,
                     {"memory.gathered_context", "M_kv", "gathered keys and values, with their gradients"},
                     s.act.tokens * s.in.cp, 2.0 * width, s.in.element, ways);
}

/// A layer that runs backward with tensors that were not saved: what is rebuilt, gradients of the attention
/// matrices, the incoming gradient. A fully sharded block is rebuilt whole, with its gathered inputs.
template <Recorder R>
Bytes<typename R::Num> running_layer(const StageMemory<R>& s) {
  using N = typename R::Num;
  Sum<Bytes<N>> sum;
  if (s.plan.recompute != Recompute::None && s.is_fully_sharded()) {
    sum.add(
        s.rec.item({"memory.block", "M_block", "all tensors of the block that is rebuilt"}, s.act.running));
    if (s.gathers())
      sum.add(s.rec.item({"memory.block_inputs", "M_block_in", "gathered inputs of both halves of the block"},
                         2.0 * s.gathered()));
    sum.add(up_gradient(s));
  } else if (value_of(s.act.rebuilt) > 0) {
    sum.add(s.act.rebuilt);
    if (recomputes_layers(s.plan)) sum.add(up_gradient(s));
  }
  if (s.problem.recipe.attention == Attention::Unfused) sum.add(matrix_gradients(s));
  if (gathers_context(s)) sum.add(gathered_context(s));
  const auto incoming =
      s.rec.item({"memory.layer_gradient", "M_lgrad", "gradient that enters the layer"}, 1.0 * s.hidden());
  sum.add(incoming);
  return s.rec.item({"memory.running_layer", "M_run", "layer that runs backward, beside what is saved"},
                    sum.total());
}

/// The larger of both moments of a layer's backward pass.
template <Recorder R>
Bytes<typename R::Num> layer_backward(const StageMemory<R>& s) {
  using N = typename R::Num;
  const bool rebuilds = value_of(s.act.rebuilt) > 0 || s.problem.recipe.attention == Attention::Unfused ||
                        gathers_context(s) || (s.plan.recompute != Recompute::None && s.is_fully_sharded());
  if (!s.mix().dense) return running_layer(s);
  const Count<N> up{N(static_cast<double>(s.problem.model().mlp_matrices - 1))};
  const auto mlp = s.rec.apply(
      mlp_backward, {"memory.mlp_backward", "M_mlp", "backward pass of a dense MLP, beside what is saved"},
      s.act.tokens, up, s.in.ffn, s.in.hidden, s.in.element, s.in.tp, hidden_ways(s.in, s.plan),
      Count<N>{N(s.plan.tp > 1 ? 1.0 : 0.0)});
  if (!rebuilds) return mlp;
  return s.rec.item({"memory.layer_backward", "M_lbwd", "layer that runs backward"},
                    max(mlp, running_layer(s)));
}

/// All that does not depend on where in the pipeline the layers run.
template <Recorder R>
RunningLayers<typename R::Num> running_layers(const StageMemory<R>& s) {
  RunningLayers<typename R::Num> out;
  if (!keeps_scratch_gradients(s.problem, s.plan) && !s.is_fully_sharded())
    out.weight_gradient = layer_weight_gradient(s.rec, s.in, s.problem, s.plan, s.mix());
  if (s.mix().sparse) {
    out.rows =
        s.rec.apply(rows_in_flight, {"memory.moe_rows", "M_rows", "rows of a running layer with experts"},
                    s.act.rows, s.act.tokens, s.in.hidden, s.in.element, hidden_ways(s.in, s.plan));
    if (s.problem.recipe.ep_overlap)
      out.overlapped =
          s.rec.item({"memory.ep_overlap", "M_ovl", "a layer of the overlapped micro-batch, with its rows"},
                     s.act.sparse_layer + out.rows);
  }
  out.backward = layer_backward(s);
  if (keeps_low_operands(s.problem)) out.low_gradient = low_gradient(s);
  return out;
}

/// Rows on their way to experts and back count twice, with a layer's activations, where two micro-batches
/// overlap.
template <Recorder R>
void add_running_layers(const StageMemory<R>& s) {
  const auto& layers = s.common.running(s.mix(), [&] { return running_layers(s); });
  const auto add = [&](Bytes<typename R::Num> bytes, Phases alive) {
    if (value_of(bytes) > 0) s.live.add_transient(bytes, alive);
  };
  add(layers.weight_gradient, bit(Phase::LayerBackward));
  add(layers.rows, bit(Phase::ForwardEnd));
  if (value_of(layers.overlapped) > 0) s.live.add(layers.overlapped, kComputePhases);
  add(layers.backward, bit(Phase::LayerBackward));
  add(layers.low_gradient, bit(Phase::LayerBackward));
}

/// A receive buffer for each micro-batch and neighbour, and the outputs that stay until the step ends.
template <Recorder R>
void add_pipeline_buffers(const StageMemory<R>& s) {
  if (s.plan.pp == 1 || s.problem.profile().pipeline_buffers != PipelineBuffers::Torch) return;
  const bool end = s.stage == 0 || s.stage == s.plan.pp - 1;
  const double neighbours = (end ? 1 : 2) * (is_vee(s.plan.schedule) ? 2 : 1);
  s.live.add(s.rec.item({"memory.pipeline_receive", "M_recv", "receive buffers of all micro-batches"},
                        s.act.micro_batches * s.hidden(neighbours)),
             kComputePhases);
  s.live.add(
      s.rec.item({"memory.pipeline_outputs", "M_outs", "outputs kept until the step ends"},
                 s.is_last() ? s.act.micro_batches * logits_bytes(s.act.tokens, s.params.padded_vocabulary,
                                                                  s.in.element, s.in.tp)
                             : s.act.in_flight * s.hidden()),
      kComputePhases);
}

template <Recorder R>
void add_workspace(const StageMemory<R>& s) {
  using N = typename R::Num;
  const Workspaces& w = s.problem.profile().workspace;
  Sum<Bytes<N>> sum;
  const auto part = [&](std::string_view symbol, std::string_view meaning, const Figure& f) {
    if (f.known && f.value > 0) sum.add(figure<Bytes<N>>(s.rec, symbol, meaning, f));
  };
  part("M_ws", "library workspaces", w.base);
  if (s.is_last()) part("M_ws_l", "library workspaces of the last stage", w.last_stage);
  if (s.mix().sparse) part("M_ws_g", "library workspaces of grouped products", w.grouped);
  if (sum.empty()) return;
  s.live.add(s.rec.item({"memory.workspace", "M_work", "library workspaces"}, 1.0 * sum.total()),
             kComputePhases | bit(Phase::Optimizer) | bit(Phase::Evaluation));
}

/// Layers gathered or not yet reduced at a time; zero rows add nothing.
template <Recorder R>
void add_units(const StageMemory<R>& s) {
  using N = typename R::Num;
  const ShardingRows& rows = *s.problem.profile().rows(s.plan.sharding);
  const std::string& origin = s.problem.profile().origin;
  const auto compute_width = [&](std::string_view symbol, std::string_view meaning) {
    return s.rec.template in<BytesPerParam<N>>({symbol, meaning, "precision"}, 2);
  };
  if (rows.gathered_units > 0 && s.plan.reshard) {
    const auto units = count(s.rec, "u_w", "layers gathered at a time", origin, "/shardings",
                             static_cast<std::int64_t>(rows.gathered_units));
    s.live.add_transient(
        s.rec.apply(gathered_unit, {"memory.gathered", "M_gather", "gathered weights (layers and tables)"},
                    units, s.params.layer_local, s.params.tables_local,
                    compute_width("w_g", "bytes of a gathered bf16 weight")),
        kComputePhases | bit(Phase::Evaluation));
  }
  if (rows.gradient_units == 0) return;
  const auto units = count(s.rec, "u_g", "layers of unsharded gradient at a time", origin, "/shardings",
                           static_cast<std::int64_t>(rows.gradient_units));
  const auto reduced = s.rec.template in<BytesPerParam<N>>(
      {"w_r", "bytes of a reduced gradient", "run /reduce_dtype"}, bytes_of(s.problem.recipe.reduce));
  s.live.add_transient(
      s.rec.apply(
          reduced_unit,
          {"memory.gradient_units", "M_gunit", "unsharded gradients, and the input of their reduction"},
          units, s.params.layer_local, compute_width("w_u", "bytes of a bf16 gradient"), reduced),
      bit(Phase::LayerBackward));
}

}  // namespace detail

/// Everything that a stage needs for its running layers.
template <Recorder R>
void add_layers(const StageMemory<R>& s) {
  if (keeps_scratch_gradients(s.problem, s.plan))
    s.live.add(scratch_gradients(s.rec, s.in, s.problem, s.plan, s.stage, s.params, s.common.scratch),
               kAfterLoad);
  detail::add_running_layers(s);
  detail::add_units(s);
  detail::add_pipeline_buffers(s);
  detail::add_workspace(s);
  s.live.add(s.rec.item({"memory.working_layer", "M_layer", "one layer's activations while it is evaluated"},
                        1.0 * s.act.running),
             bit(Phase::Evaluation));
}

}  // namespace trainplan
