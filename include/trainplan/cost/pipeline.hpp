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

inline StageBlocks stage_blocks(const Problem& problem, const Plan& plan, int stage) {
  return blocks_of(problem, plan, layers_of(problem.model(), plan, stage), stage == head_stage(plan));
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

template <class N>
struct Blocks {
  std::array<BlockTime<N>, kBlockKinds> of;
  Seconds<N> head, head_product;  // kernels of the logits and the loss; the product among them
  Seconds<N> further;             // the product that joins a further token
  Seconds<N> head_forward{}, head_weights{}, further_forward{}, further_weights{};
};

template <Recorder R>
Blocks<typename R::Num> block_times(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                    const Plan& plan, const LayerWork<typename R::Num>& work,
                                    const LayerTraffic<typename R::Num>& traffic, const StageBlocks& model) {
  Blocks<typename R::Num> out;
  for (std::size_t i = 0; i < kBlockKinds; ++i)
    if (model.blocks[i] > 0)
      out.of[i] = block_time(rec, in, problem, plan, work, traffic, static_cast<BlockKind>(i));
  out.head = rec.item({"block.head", "t_head", "logits and loss"}, work.head.both());
  out.head_product =
      rec.item({"block.head_product", "t_hg", "product of the logits"}, work.head_product.both());
  out.head_forward = work.head.forward;
  out.head_weights = kWeightShare * work.head_product.backward;
  out.further_forward = work.further.forward;
  out.further_weights = kWeightShare * work.further.backward;
  if (model.further > 0)
    out.further = rec.item({"block.further", "t_further", "projection of a block for further tokens"},
                           work.further.both());
  return out;
}

/// What of the heads counts in a sum over blocks.
enum class Heads : std::uint8_t { Nothing, Kernels, Products, Forward, Weights };
template <class N>
Seconds<N> head_part(const Blocks<N>& b, Heads heads) {
  switch (heads) {
    case Heads::Products: return b.head_product;
    case Heads::Forward: return b.head_forward;
    case Heads::Weights: return b.head_weights;
    case Heads::Nothing:
    case Heads::Kernels: break;
  }
  return b.head;
}
template <class N>
Seconds<N> further_part(const Blocks<N>& b, Heads heads) {
  return heads == Heads::Forward   ? b.further_forward
         : heads == Heads::Weights ? b.further_weights
                                   : b.further;
}

/// Sum over the blocks of a stage or of the model of one part of their time.
template <Recorder R, class Part>
Seconds<typename R::Num> over_blocks(R& rec, const StageBlocks& held, const Blocks<typename R::Num>& blocks,
                                     Part part, Heads heads) {
  using N = typename R::Num;
  static constexpr std::array<std::string_view, kBlockKinds> kCounts{"n_d", "n_D", "n_e", "n_E"};
  Sum<Seconds<N>> sum;
  const auto count = [&](std::string_view symbol, std::string_view meaning, double n) {
    return rec.template in<Count<N>>({symbol, meaning, "plan layout"}, n);
  };
  for (std::size_t i = 0; i < kBlockKinds; ++i)
    if (held.blocks[i] > 0) sum.add(count(kCounts[i], kBlocks[i].title, held.blocks[i]) * part(blocks.of[i]));
  if (heads == Heads::Nothing) return sum.total();
  if (held.heads > 0) sum.add(count("n_h", "heads", held.heads) * head_part(blocks, heads));
  if (held.further > 0)
    sum.add(count("n_f", "blocks for further tokens", held.further) * further_part(blocks, heads));
  return sum.total();
}

/// The stage that needs most time for a micro-batch; the first of equals.
template <class N>
int slowest_stage(const Problem& problem, const Plan& plan, const Blocks<N>& blocks) {
  int slowest = 0;
  double most = -1;
  StageKinds kinds(problem.model(), plan);
  for (int s = 0; s < plan.pp; ++s) {
    if (!kinds.is_new(s)) continue;
    const StageBlocks held = stage_blocks(problem, plan, s);
    double time = held.heads * value_of(blocks.head) + held.further * value_of(blocks.further);
    for (std::size_t i = 0; i < kBlockKinds; ++i) time += held.blocks[i] * value_of(blocks.of[i].total);
    if (time > most) {
      most = time;
      slowest = s;
    }
  }
  return slowest;
}

/// The bubble of a schedule that splits backward passes, from those of the stages other than the slowest.
template <Recorder R>
Seconds<typename R::Num> split_bubble(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                      const Plan& plan, const StageBlocks& model,
                                      const Blocks<typename R::Num>& blocks,
                                      const PipelineTime<typename R::Num>& time) {
  using N = typename R::Num;
  const Item item{"pipeline.bubble", "T_bub", "pipeline bubble of the schedule"};
  const StageBlocks slowest = stage_blocks(problem, plan, time.slowest_stage);
  const auto sum = [&](const Item& what, const StageBlocks& held, auto part, Heads heads) {
    return rec.item(what, 1.0 * over_blocks(rec, held, blocks, part, heads));
  };
  const auto forward = [](const BlockTime<N>& b) { return b.forward; };
  const auto f_all =
      sum({"pipeline.forward", "w_f", "forward passes on all stages"}, model, forward, Heads::Forward);
  const auto f_slowest = sum({"pipeline.slowest_forward", "w_sf", "forward passes on the slowest stage"},
                             slowest, forward, Heads::Forward);
  const auto f =
      rec.item({"pipeline.other_forward", "w_of", "forward passes on the other stages"}, f_all - f_slowest);
  if (plan.schedule == Schedule::ZbV) return rec.apply(bubble_vee, item, f);
  const auto weights = [](const BlockTime<N>& b) { return b.weights; };
  const auto w_all =
      sum({"pipeline.weights", "w_w", "gradients of weights on all stages"}, model, weights, Heads::Weights);
  const auto w_slowest =
      sum({"pipeline.slowest_weights", "w_sw", "gradients of weights on the slowest stage"}, slowest, weights,
          Heads::Weights);
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
                                            const Plan& plan, const LayerWork<typename R::Num>& work,
                                            const LayerTraffic<typename R::Num>& traffic,
                                            Count<typename R::Num> m) {
  using N = typename R::Num;
  const StageBlocks model = model_blocks(problem, plan);
  const auto blocks = detail::block_times(rec, in, problem, plan, work, traffic, model);
  using detail::Heads;
  const auto sum = [&](const Item& item, auto part, Heads heads = Heads::Nothing) {
    return rec.item(item, 1.0 * detail::over_blocks(rec, model, blocks, part, heads));
  };
  using Time = BlockTime<N>;
  PipelineTime<N> out;
  out.kernels = sum(
      {"pipeline.kernels", "w_k", "kernels of a micro-batch, all stages"},
      [](const Time& b) { return b.kernels; }, Heads::Kernels);
  out.products = sum(
      {"pipeline.products", "w_g", "matrix products of a micro-batch, all stages"},
      [](const Time& b) { return b.products; }, Heads::Products);
  out.tensor = sum({"pipeline.tensor", "w_tp", "tensor parallel traffic that shows"},
                   [](const Time& b) { return b.tensor; });
  out.context = sum({"pipeline.context", "w_cp", "context parallel traffic that shows"},
                    [](const Time& b) { return b.context; });
  out.experts = sum({"pipeline.experts", "w_ep", "expert parallel traffic that shows"},
                    [](const Time& b) { return b.experts; });
  out.again = sum({"pipeline.again", "w_re", "recompute"}, [](const Time& b) { return b.again; });
  out.wait = sum({"pipeline.wait", "w_host", "waiting for the host"}, [](const Time& b) { return b.wait; });
  const auto total = [](const Time& b) { return b.total; };
  out.all = sum({"pipeline.all", "w", "time of a micro-batch on all stages"}, total, Heads::Kernels);
  out.slowest_stage = detail::slowest_stage(problem, plan, blocks);
  out.slowest = plan.pp == 1
                    ? out.all
                    : rec.item({"pipeline.slowest", "w_max", "time of a micro-batch on the slowest stage"},
                               1.0 * detail::over_blocks(rec, stage_blocks(problem, plan, out.slowest_stage),
                                                         blocks, total, Heads::Kernels));
  const Item step{"pipeline.step", "T_pipe", "all micro-batches of a step"};
  if (plan.pp == 1 || !splits_backward(plan.schedule)) {
    out.step = rec.apply(pipeline_time, step, m, out.slowest, out.all, in.vpp);
    return out;
  }
  out.bubble = detail::split_bubble(rec, in, problem, plan, model, blocks, out);
  out.step = rec.item(step, m * out.slowest + out.bubble);
  return out;
}

using PipelineFormulas = Chapter<pipeline_time, bubble_split, bubble_vee, bubble_dualpipev>;

}  // namespace trainplan
