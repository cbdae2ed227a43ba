/// How the blocks of a model fill the stages of a pipeline, and what one pass of all micro-batches takes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "trainplan/cost/blocks.hpp"

namespace trainplan {

inline constexpr Formula pipeline_time{
    "pipeline_time", "time of all micro-batches of a step on a pipeline",
    Source{"megatron-2021",
           "section 2.2: the slowest stage works without a break, the others fill and drain"},
    std::array{Arg{"m", "m", "micro-batches of a step"},
               Arg{"slowest", "w_max", "time of a micro-batch on the slowest stage"},
               Arg{"all", "w", "time of a micro-batch on all stages"},
               Arg{"v", "v", "virtual stages per rank", 1}},
    []<class N>(Count<N> m, Seconds<N> slowest, Seconds<N> all, Count<N> v) {
      return m * slowest + (all - slowest) / v;
    }};

namespace detail {

inline constexpr Arg kOthersArg{"others", "w_o", "time of a micro-batch on the other stages"},
    kOthersForward{"forward", "w_of", "forward passes in it"},
    kOthersWeights{"weights", "w_ow", "gradients of weights in it"};

}  // namespace detail

inline constexpr Formula bubble_split{
    "bubble_split", "pipeline bubble, interleaved with weight gradients put off",
    Source{"zero-bubble-2024",
           "table 2: (p - 1)(T_F + T_B - T_W); the last stage starts after p - 1 forwards"},
    std::array{detail::kOthersArg, detail::kOthersForward, detail::kOthersWeights,
               Arg{"v", "v", "virtual stages per rank", 1}},
    []<class N>(Seconds<N> others, Seconds<N> f, Seconds<N> w, Count<N> v) {
      return max(f, others - 2.0 * w) / v;
    }};

inline constexpr Formula bubble_vee{
    "bubble_vee", "pipeline bubble, zero-bubble V whose three passes take as long",
    Source{"zero-bubble-2024", "section 6: none, once the first chunks are filled"},
    std::array{detail::kOthersForward}, []<class N>(Seconds<N> f) { return f / 2.0; }};

inline constexpr Formula bubble_dualpipev{
    "bubble_dualpipev", "pipeline bubble, DualPipeV with pairs as long as their parts",
    Source{"deepseek-v3-2024", "table 2: (PP/2 - 1)(F&B + B - 3W) with 2p positions of half a stage"},
    std::array{detail::kOthersArg, detail::kOthersForward, detail::kOthersWeights},
    []<class N>(Seconds<N> others, Seconds<N> f, Seconds<N> w) {
      return max(f, 2.0 * others - f - 3.0 * w) / 2.0;
    }};

/// Blocks of a stage, or of the model; heads: how often it works out logits.
struct StageBlocks {
  std::array<double, kBlockKinds> blocks{};
  double heads = 0, further = 0;

  StageBlocks& operator+=(const StageBlocks& other) {
    for (std::size_t i = 0; i < kBlockKinds; ++i) blocks[i] += other.blocks[i];
    heads += other.heads;
    further += other.further;
    return *this;
  }
};

/// `held` and, on the last stage, the blocks for further tokens and the heads.
inline StageBlocks blocks_of(const Problem& problem, const Plan& plan, StageLayers held, bool last) {
  const ModelSpec& m = problem.model();
  double sparse = static_cast<double>(held.sparse), all = static_cast<double>(held.all);
  StageBlocks out;
  if (last) {
    const auto further = static_cast<double>(problem.recipe.mtp_layers);
    out.heads = 1 + further;
    out.further = further;
    all += further;
    if (m.kind(m.layers - 1).sparse) sparse += further;
  }
  const double again = plan.recompute == Recompute::Full     ? all
                       : plan.recompute == Recompute::Layers ? std::min<double>(plan.recompute_layers, all)
                                                             : 0;
  const double share = all > 0 ? again / all : 0, dense = all - sparse;
  out.blocks = {dense * (1 - share), dense * share, sparse * (1 - share), sparse * share};
  return out;
}

inline StageBlocks stage_blocks(const Problem& problem, const Plan& plan, StageKind kind) {
  return blocks_of(problem, plan, kind.held, kind.stage == head_stage(plan));
}
inline StageBlocks stage_blocks(const Problem& problem, const Plan& plan, int stage) {
  return stage_blocks(problem, plan, {stage, layers_of(problem.model(), plan, stage)});
}

/// All stages together. Only a number of recomputed layers, which counts for each stage, needs one by one.
inline StageBlocks model_blocks(const Problem& problem, const Plan& plan) {
  const ModelSpec& m = problem.model();
  if (plan.recompute != Recompute::Layers)
    return blocks_of(problem, plan, {m.layers, m.sparse_layers()}, true);
  StageBlocks out;
  for (int s = 0; s < plan.pp; ++s) out += stage_blocks(problem, plan, s);
  return out;
}

/// Seconds of one micro-batch, all stages together, by what they are spent on; and of the whole step.
/// products: the matrix products among the kernels. bubble: of schedules that split backward passes.
template <class N>
struct PipelineTime {
  Seconds<N> kernels, products, tensor, context, experts, again, wait;
  Seconds<N> slowest, all, step, bubble{};
  int slowest_stage = 0;
};

namespace detail {

/// Of one layer of each kind, one head (kernels of the logits and the loss), and what joins one further
/// token.
template <class N>
struct Blocks {
  std::array<BlockTime<N>, kBlockKinds> of;
  BlockTime<N> head, further;
};

template <Recorder R>
Blocks<typename R::Num> block_times(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                    const Plan& plan, const LayerWork<typename R::Num>& work,
                                    const LayerTraffic<typename R::Num>& traffic, const StageBlocks& model) {
  Blocks<typename R::Num> out;
  for (std::size_t i = 0; i < kBlockKinds; ++i)
    if (model.blocks[i] > 0)
      out.of[i] = block_time(rec, in, problem, plan, work, traffic, static_cast<BlockKind>(i));
  out.head.total = out.head.kernels = rec.item({"block.head", "t_head", "logits and loss"}, work.head.both());
  out.head.products =
      rec.item({"block.head_product", "t_hg", "product of the logits"}, work.head_product.both());
  out.head.forward = work.head.forward;
  out.head.weights = kWeightShare * work.head_product.backward;
  if (model.further == 0) return out;
  out.further.total = out.further.kernels = out.further.products = rec.item(
      {"block.further", "t_further", "projection of a block for further tokens"}, work.further.both());
  out.further.forward = work.further.forward;
  out.further.weights = kWeightShare * work.further.backward;
  return out;
}

/// The blocks of a stage or of the model, each part of their time added up.
template <class N>
struct BlockSums {
  Sum<Seconds<N>> kernels, products, total, forward, weights;  // of layers, heads and further tokens
  Sum<Seconds<N>> tensor, context, experts, again, wait;       // of layers

  void add_kernels(Count<N> n, const BlockTime<N>& b) {
    kernels.add(n * b.kernels);
    products.add(n * b.products);
    total.add(n * b.total);
    forward.add(n * b.forward);
    weights.add(n * b.weights);
  }
  void add_layers(Count<N> n, const BlockTime<N>& b) {
    add_kernels(n, b);
    tensor.add(n * b.tensor);
    context.add(n * b.context);
    experts.add(n * b.experts);
    again.add(n * b.again);
    wait.add(n * b.wait);
  }
};

template <Recorder R>
BlockSums<typename R::Num> block_sums(R& rec, const StageBlocks& held,
                                      const Blocks<typename R::Num>& blocks) {
  static constexpr std::array<std::string_view, kBlockKinds> kCounts{"n_d", "n_D", "n_e", "n_E"};
  BlockSums<typename R::Num> sums;
  const auto count = [&](std::string_view symbol, std::string_view meaning, double n) {
    return rec.template in<Count<typename R::Num>>({symbol, meaning, "plan layout"}, n);
  };
  for (std::size_t i = 0; i < kBlockKinds; ++i)
    if (held.blocks[i] > 0)
      sums.add_layers(count(kCounts[i], kBlocks[i].title, held.blocks[i]), blocks.of[i]);
  if (held.heads > 0) sums.add_kernels(count("n_h", "heads", held.heads), blocks.head);
  if (held.further > 0)
    sums.add_kernels(count("n_f", "blocks for further tokens", held.further), blocks.further);
  return sums;
}

/// The stage that needs most time for a micro-batch; the first of equals.
template <class N>
StageKind slowest_stage(const Problem& problem, const Plan& plan, const StageKinds& kinds,
                        const Blocks<N>& blocks) {
  StageKind slowest = *kinds.begin();
  double most = -1;
  for (const StageKind& kind : kinds) {
    const StageBlocks held = stage_blocks(problem, plan, kind);
    double time = held.heads * value_of(blocks.head.total) + held.further * value_of(blocks.further.total);
    for (std::size_t i = 0; i < kBlockKinds; ++i) time += held.blocks[i] * value_of(blocks.of[i].total);
    if (time > most) {
      most = time;
      slowest = kind;
    }
  }
  return slowest;
}

/// The bubble of a schedule that splits backward passes, from those of the stages other than the slowest.
template <Recorder R>
Seconds<typename R::Num> split_bubble(R& rec, const Inputs<typename R::Num>& in, const Plan& plan,
                                      const BlockSums<typename R::Num>& model,
                                      const BlockSums<typename R::Num>& slowest,
                                      const PipelineTime<typename R::Num>& time) {
  using N = typename R::Num;
  const Item item{"pipeline.bubble", "T_bub", "pipeline bubble of the schedule"};
  const auto total = [&](const Item& what, const Sum<Seconds<N>>& sum) {
    return rec.item(what, 1.0 * sum.total());
  };
  const auto f_all = total({"pipeline.forward", "w_f", "forward passes on all stages"}, model.forward);
  const auto f_slowest =
      total({"pipeline.slowest_forward", "w_sf", "forward passes on the slowest stage"}, slowest.forward);
  const auto f =
      rec.item({"pipeline.other_forward", "w_of", "forward passes on the other stages"}, f_all - f_slowest);
  if (plan.schedule == Schedule::ZbV) return rec.apply(bubble_vee, item, f);
  const auto w_all = total({"pipeline.weights", "w_w", "gradients of weights on all stages"}, model.weights);
  const auto w_slowest = total(
      {"pipeline.slowest_weights", "w_sw", "gradients of weights on the slowest stage"}, slowest.weights);
  const auto w = rec.item({"pipeline.other_weights", "w_ow", "gradients of weights on the other stages"},
                          w_all - w_slowest);
  const auto all =
      rec.item({"pipeline.others", "w_o", "a micro-batch on the other stages"}, time.all - time.slowest);
  if (plan.schedule == Schedule::DualPipeV) return rec.apply(bubble_dualpipev, item, all, f, w);
  return rec.apply(bubble_split, item, all, f, w, in.vpp);
}

}  // namespace detail

template <Recorder R>
PipelineTime<typename R::Num> pipeline_cost(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                            const Plan& plan, const StageKinds& kinds,
                                            const LayerWork<typename R::Num>& work,
                                            const LayerTraffic<typename R::Num>& traffic,
                                            Count<typename R::Num> m) {
  using N = typename R::Num;
  const StageBlocks model = model_blocks(problem, plan);
  const auto blocks = detail::block_times(rec, in, problem, plan, work, traffic, model);
  const auto sums = detail::block_sums(rec, model, blocks);
  const auto total = [&](const Item& item, const Sum<Seconds<N>>& sum) {
    return rec.item(item, 1.0 * sum.total());
  };
  PipelineTime<N> out;
  out.kernels = total({"pipeline.kernels", "w_k", "kernels of a micro-batch, all stages"}, sums.kernels);
  out.products =
      total({"pipeline.products", "w_g", "matrix products of a micro-batch, all stages"}, sums.products);
  out.tensor = total({"pipeline.tensor", "w_tp", "tensor parallel traffic that shows"}, sums.tensor);
  out.context = total({"pipeline.context", "w_cp", "context parallel traffic that shows"}, sums.context);
  out.experts = total({"pipeline.experts", "w_ep", "expert parallel traffic that shows"}, sums.experts);
  out.again = total({"pipeline.again", "w_re", "recompute"}, sums.again);
  out.wait = total({"pipeline.wait", "w_host", "waiting for the host"}, sums.wait);
  out.all = total({"pipeline.all", "w", "time of a micro-batch on all stages"}, sums.total);
  const Item step{"pipeline.step", "T_pipe", "all micro-batches of a step"};
  if (plan.pp == 1) {
    out.slowest = out.all;
    out.step = rec.apply(pipeline_time, step, m, out.slowest, out.all, in.vpp);
    return out;
  }
  const StageKind kind = detail::slowest_stage(problem, plan, kinds, blocks);
  const auto slowest = detail::block_sums(rec, stage_blocks(problem, plan, kind), blocks);
  out.slowest_stage = kind.stage;
  out.slowest =
      total({"pipeline.slowest", "w_max", "time of a micro-batch on the slowest stage"}, slowest.total);
  if (!splits_backward(plan.schedule)) {
    out.step = rec.apply(pipeline_time, step, m, out.slowest, out.all, in.vpp);
    return out;
  }
  out.bubble = detail::split_bubble(rec, in, plan, sums, slowest, out);
  out.step = rec.item(step, m * out.slowest + out.bubble);
  return out;
}

using PipelineFormulas = Chapter<pipeline_time, bubble_split, bubble_vee, bubble_dualpipev>;

}  // namespace trainplan
