/// The passes of a plan's pipeline as the ledger times them, for timelines and for what no timeline can beat.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "trainplan/cost/plan_cost.hpp"
#include "trainplan/sim/schedules.hpp"
#include "trainplan/sim/times.hpp"

namespace trainplan {

/// Seconds of one micro-batch in some layers. Recompute and what shows of the traffic are part of their pass.
struct PassSeconds {
  double forward = 0, input_gradient = 0, weight_gradient = 0;

  double backward() const { return input_gradient + weight_gradient; }
  double all() const { return forward + backward(); }
  void add(double count, const PassSeconds& of) {
    forward += count * of.forward;
    input_gradient += count * of.input_gradient;
    weight_gradient += count * of.weight_gradient;
  }
};

/// Of one block of each kind, one head, and what joins one further token. message: one between neighbouring
/// stages.
struct BlockPasses {
  std::array<PassSeconds, kBlockKinds> of{};
  PassSeconds head{}, further{};
  double message = 0;
};

/// chunk: for each stage and chunk; message: one between neighbouring stages.
struct PipelinePasses {
  std::vector<std::vector<PassSeconds>> chunk{};
  double message = 0;
};

namespace detail {

/// Blocks of one chunk of a stage. A number of recomputed layers counts for the whole stage.
inline StageBlocks chunk_blocks(const Problem& problem, const Plan& plan, int stage, int chunk) {
  const LayerRange r = chunk_layers(problem.model().layers, plan, stage, chunk);
  Plan of_chunk = plan;
  of_chunk.recompute_layers = static_cast<std::uint16_t>(plan.recompute_layers / plan.vpp);
  return blocks_of(problem, of_chunk, {r.size(), problem.model().sparse_layers(r.first, r.last)},
                   stage == head_stage(plan) && chunk == plan.vpp - 1);
}

inline PassSeconds pass_of(const BlockTime<double>& b) {
  const double forward = b.forward.num(), weights = b.weights.num();
  return {forward, std::max(0.0, b.total.num() - forward - weights), weights};
}

inline BlockPasses passes_of(const Blocks<double>& b) {
  BlockPasses out;
  for (std::size_t i = 0; i < kBlockKinds; ++i) out.of[i] = pass_of(b.of[i]);
  out.head = pass_of(b.head);
  out.further = pass_of(b.further);
  return out;
}

inline PassSeconds passes_of(const StageBlocks& held, const BlockPasses& blocks) {
  PassSeconds out;
  for (std::size_t i = 0; i < kBlockKinds; ++i) out.add(held.blocks[i], blocks.of[i]);
  out.add(held.heads, blocks.head);
  out.add(held.further, blocks.further);
  return out;
}

/// The numbers of evaluate(): of the kinds of blocks that `held` has.
inline BlockPasses block_passes(const Problem& problem, const Plan& plan, const StageBlocks& held) {
  Eval rec;
  const Inputs<double> in = bind(rec, problem, plan);
  const auto params = params_cost(rec, in, problem, plan, 0);
  const auto compute = compute_cost(rec, in, problem, plan, params.gemm, Count<>{0});
  const auto tokens = tokens_per_gpu(in.micro_batch, in.sequence, in.cp);
  const auto work = layer_work(rec, in, problem, plan, tokens, compute, sustained_rates(rec, in, problem),
                               params.padded_vocabulary);
  const auto traffic = layer_traffic(rec, in, problem, plan, tokens, work);
  BlockPasses out = passes_of(block_times(rec, in, problem, plan, work, traffic, held));
  if (plan.pp > 1) out.message = stage_message(rec, in, problem, plan, tokens).num();
  return out;
}

}  // namespace detail

inline PipelinePasses pipeline_passes(const Problem& problem, const Plan& plan) {
  const BlockPasses blocks = detail::block_passes(problem, plan, model_blocks(problem, plan));
  PipelinePasses out{.message = blocks.message};
  for (int s = 0; s < plan.pp; ++s) {
    out.chunk.emplace_back();
    for (int c = 0; c < plan.vpp; ++c)
      out.chunk.back().push_back(detail::passes_of(detail::chunk_blocks(problem, plan, s, c), blocks));
  }
  return out;
}

/// A tick of timelines in seconds: far below the time of a layer.
inline constexpr double kTick = 1e-9;

inline sim::Ticks ticks(double seconds) { return std::llround(seconds / kTick); }

/// Equal chunks get equal ticks, so that what happens at one moment stays at one moment.
inline sim::Times ticks_of(const PipelinePasses& passes) {
  const std::size_t p = passes.chunk.size();
  const std::vector<sim::Ticks> message(p, ticks(passes.message));
  sim::Times out{.activation = message, .gradient = message, .overlap = std::vector<sim::Ticks>(p, 0)};
  for (const auto& stage : passes.chunk) {
    out.chunk.emplace_back();
    for (const PassSeconds& pass : stage)
      out.chunk.back().push_back(
          {ticks(pass.forward), ticks(pass.input_gradient), ticks(pass.weight_gradient)});
  }
  return out;
}

/// The row of the table of orders that a plan's schedule is.
inline const sim::Schedule& orders_of(Schedule s) {
  static constexpr std::string_view kIds[] = {"gpipe",          "one_f1b", "interleaved", "looped_bfs",
                                              "interleaved_zb", "zbv",     "dualpipev"};
  static_assert(std::size(kIds) == kScheduleCount);
  return *sim::find_schedule(kIds[static_cast<std::size_t>(s)]);
}

inline sim::Shape shape_of(const Problem& problem, const Plan& plan) {
  return {.stages = plan.pp,
          .micro_batches = static_cast<int>(micro_batches(problem, plan)),
          .chunks = plan.vpp,
          .group = static_cast<int>(group_size(problem, plan))};
}

/// What no order of these passes can beat. A stage starts when the first micro-batch has come down to it,
/// does all of its passes, and after its last gradient of an input the stages before it still have theirs to
/// do; gradients of weights may be made in the meantime.
inline double least_pipeline_time(const PipelinePasses& passes, Schedule schedule, std::int64_t m) {
  double most = 0, forwards = 0, backwards = 0;  // of the first chunks of the stages before
  for (const auto& stage : passes.chunk) {
    PassSeconds sum;
    for (const PassSeconds& c : stage) sum.add(1, c);
    const double times = static_cast<double>(m);
    if (splits_backward(schedule)) {
      const double last = backwards > 0 ? passes.chunk.front().front().weight_gradient : 0;
      most = std::max({most, forwards + times * sum.all(),
                       forwards + times * (sum.forward + sum.input_gradient) + backwards + last});
    } else {
      most = std::max(most, forwards + times * sum.all() + backwards);
    }
    forwards += stage.front().forward + passes.message;
    backwards += passes.message +
                 (splits_backward(schedule) ? stage.front().input_gradient : stage.front().backward());
  }
  return most;
}

}  // namespace trainplan
