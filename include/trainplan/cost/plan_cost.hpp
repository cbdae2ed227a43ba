/// The whole cost of a plan: evaluate() for numbers, explain() for numbers with their ledger.
#pragma once

#include <cstdint>

#include "trainplan/cost/checkpoint.hpp"
#include "trainplan/cost/comm.hpp"
#include "trainplan/cost/compute.hpp"
#include "trainplan/cost/confidence.hpp"
#include "trainplan/cost/goodput.hpp"
#include "trainplan/cost/host.hpp"
#include "trainplan/cost/kernels.hpp"
#include "trainplan/cost/memory.hpp"
#include "trainplan/cost/money.hpp"
#include "trainplan/cost/schedule.hpp"
#include "trainplan/cost/step.hpp"

namespace trainplan {

/// Costs of one GPU of `stage` and of the step. goodput and dollars only where their inputs are known.
template <class N>
struct PlanCost {
  int stage = 0;
  MemoryCost<N> memory;
  HostCost<N> host;
  Bytes<N> capacity, gate, limit;  // limit: what a derived plan may use
  ComputeCost<N> compute;
  CommCost<N> comm;
  ScheduleCost<N> schedule;
  PipelineTime<N> pipeline;
  StepCost<N> step;
  RangeCost<N> range;
  CheckpointCost<N> checkpoint;
  GoodputCost<N> goodput;
  MoneyCost<N> money;
};

/// False for a job that fails faster than it recovers. Both recorders hold the same value, so both go one
/// way.
template <class N>
bool finishes(const PlanCost<N>& cost) {
  return value_of(cost.goodput.mtbf) == 0 || value_of(cost.goodput.goodput) > 0;
}

namespace detail {

/// What follows from the memory of the stage that is looked at.
template <Recorder R>
PlanCost<typename R::Num> cost_beyond_memory(R& rec, const Inputs<typename R::Num>& in,
                                             const Problem& problem, const Plan& plan,
                                             const StageKinds& kinds, int stage,
                                             const MemoryCost<typename R::Num>& memory) {
  using N = typename R::Num;
  PlanCost<N> out;
  out.stage = stage;
  out.memory = memory;
  const Calibration& c = problem.calibration();
  out.capacity =
      figure<Bytes<N>>(rec, "C", "memory that the driver shows", problem.cluster().accelerator.usable_memory);
  out.gate = rec.apply(capacity_limit, {"memory.gate", "C_gate", "gate"}, out.capacity,
                       figure<Count<N>>(rec, "f_gate", "share that may be used", c.capacity_gate));
  const auto margin =
      rec.template in<Count<N>>({"f_margin", "planning margin", "run /memory_margin"}, problem.recipe.margin);
  out.limit = rec.item({"memory.limit", "C_plan", "planning limit"}, out.gate * (1.0 - margin));
  const auto& act = out.memory.activations;
  const Count<N> layers = out.memory.params.blocks;
  const Count<N> again_share = act.recomputed / layers;
  out.compute = compute_cost(rec, in, problem, plan, out.memory.params.gemm, again_share);
  out.comm =
      comm_cost(rec, in, problem, plan, stage, out.memory.params, act.tokens, act.micro_batches, again_share);
  const bool split = plan.pp > 1 && splits_backward(plan.schedule);
  if (!split) out.schedule = schedule_cost(rec, in, act.micro_batches);
  out.host = host_cost(rec, in, problem, plan, out.memory);
  const auto host = host_traffic(rec, in, problem, plan, out.memory);
  const auto rates = sustained_rates(rec, in, problem);
  const auto work =
      layer_work(rec, in, problem, plan, act.tokens, out.compute, rates, out.memory.params.padded_vocabulary);
  const auto traffic = layer_traffic(rec, in, problem, plan, act.tokens, work);
  out.pipeline = pipeline_cost(rec, in, problem, plan, kinds, work, traffic, act.micro_batches);
  if (split)
    out.schedule = schedule_cost(rec, act.micro_batches, out.pipeline.bubble,
                                 act.micro_batches * out.pipeline.slowest, out.pipeline.step);
  out.step = step_cost(rec, in, problem, plan, out.compute, rates, out.comm, out.pipeline, out.memory.params,
                       host, act.tokens, act.micro_batches);
  out.range = range_cost(rec, problem, plan, out.compute, out.step.step, out.memory.device);
  out.checkpoint = checkpoint_cost(rec, in, problem, out.memory.params.trained);
  Count<N> share = rec.template in<Count<N>>({"G_p", "goodput (failure rate unknown)", "no failures"}, 1);
  if (goodput_is_known(problem.cluster())) {
    out.goodput = goodput_cost(rec, in, problem, out.checkpoint.write);
    share = out.goodput.goodput;
  }
  out.money =
      money_cost(rec, in, problem, out.compute.tokens, out.step.step, out.step.mfu, share, finishes(out));
  return out;
}

/// The stage whose GPU needs most device memory, and what it needs; the first of equals.
struct FullestStage {
  int stage = 0;
  MemoryCost<double> memory;
};

}  // namespace detail

/// One body for both recorders. `stage` is the stage whose GPU is looked at.
template <Recorder R>
PlanCost<typename R::Num> plan_cost(R& rec, const Problem& problem, const Plan& plan, int stage) {
  const auto in = bind(rec, problem, plan);
  const auto memory = memory_cost(rec, in, problem, plan, stage);
  return detail::cost_beyond_memory(rec, in, problem, plan, StageKinds(problem.model(), plan), stage, memory);
}

// The engine for one recorder. With TRAINPLAN_COMPILED it is src/engine.cpp that makes it, once for all.
#define TRAINPLAN_ENGINE(WHERE, R)                                                                           \
  WHERE template Inputs<R::Num> bind(R&, const Problem&, const Plan&);                                       \
  WHERE template ParamsCost<R::Num> params_cost(R&, const Inputs<R::Num>&, const Problem&, const Plan&, int, \
                                                const ModelParams<R::Num>&);                                 \
  WHERE template MemoryCost<R::Num> memory_cost(R&, const Inputs<R::Num>&, const Problem&, const Plan&, int, \
                                                CommonMemory<R::Num>&);                                      \
  WHERE template Rates<R::Num> sustained_rates(R&, const Inputs<R::Num>&, const Problem&);                   \
  WHERE template LayerWork<R::Num> layer_work(R&, const Inputs<R::Num>&, const Problem&, const Plan&,        \
                                              Tokens<R::Num>, const ComputeCost<R::Num>&,                    \
                                              const Rates<R::Num>&, Count<R::Num>);                          \
  WHERE template LayerTraffic<R::Num> layer_traffic(R&, const Inputs<R::Num>&, const Problem&, const Plan&,  \
                                                    Tokens<R::Num>, const LayerWork<R::Num>&);               \
  WHERE template detail::Blocks<R::Num> detail::block_times(                                                 \
      R&, const Inputs<R::Num>&, const Problem&, const Plan&, const LayerWork<R::Num>&,                      \
      const LayerTraffic<R::Num>&, const StageBlocks&);                                                      \
  WHERE template PlanCost<R::Num> detail::cost_beyond_memory(R&, const Inputs<R::Num>&, const Problem&,      \
                                                             const Plan&, const StageKinds&, int,            \
                                                             const MemoryCost<R::Num>&);                     \
  WHERE template FactorRange<R::Num> time_factors(R&, const Problem&, const Plan&);                          \
  WHERE template FactorRange<R::Num> memory_factors(R&, const Problem&, Reading);

#ifdef TRAINPLAN_COMPILED
TRAINPLAN_ENGINE(extern, Eval)
TRAINPLAN_ENGINE(extern, Explain)
#endif

/// evaluate() in parts, for those who may have seen enough after the first ones. The plan must be legal and
/// outlive it, as the problem must.
class Evaluation {
  const Problem& problem_;
  const Plan& plan_;
  Eval rec_{};
  StageKinds kinds_;
  Inputs<double> in_;
  CommonMemory<double> common_;
  detail::FullestStage fullest_;

 public:
  /// Knows the memory of the first stage.
  Evaluation(const Problem& problem, const Plan& plan)
      : problem_(problem),
        plan_(plan),
        kinds_(problem.model(), plan),
        in_(bind(rec_, problem, plan)),
        fullest_{0, memory_cost(rec_, in_, problem, plan, 0, common_)} {}

  /// Of the fullest of the stages that were looked at.
  const MemoryCost<double>& memory() const { return fullest_.memory; }
  int stage() const { return fullest_.stage; }

  /// Looks at the other stages. Those that hold what the first one does need no more than it: they have no
  /// more micro-batches in flight, and none but the ends have tables. Receive buffers alone are fewer at the
  /// ends.
  void look_at_all() {
    const StageKind& first = *kinds_.begin();
    const bool as_first = problem_.profile().pipeline_buffers == PipelineBuffers::None;
    for (const StageKind& kind : kinds_) {
      if (kind.stage == 0 || (as_first && kind.stage < plan_.pp - 1 && kind.held == first.held)) continue;
      const MemoryCost<double> memory = memory_cost(rec_, in_, problem_, plan_, kind.stage, common_);
      if (memory.device > fullest_.memory.device) fullest_ = {kind.stage, memory};
    }
  }
  /// All numbers of that stage's GPU.
  PlanCost<double> cost() {
    return detail::cost_beyond_memory(rec_, in_, problem_, plan_, kinds_, fullest_.stage, fullest_.memory);
  }
};

/// The stage whose GPU needs most device memory.
inline int fullest_stage(const Problem& problem, const Plan& plan) {
  Evaluation e(problem, plan);
  e.look_at_all();
  return e.stage();
}

/// Numbers of the fullest GPU; no allocation. The plan must be legal.
inline PlanCost<double> evaluate(const Problem& problem, const Plan& plan) {
  Evaluation e(problem, plan);
  e.look_at_all();
  return e.cost();
}

/// Numbers of the GPU of a given stage.
inline PlanCost<double> evaluate_stage(const Problem& problem, const Plan& plan, int stage) {
  Eval rec;
  return plan_cost(rec, problem, plan, stage);
}

/// The same numbers with their formulas, for the GPU of `stage`.
inline Ledger explain(const Problem& problem, const Plan& plan, int stage) {
  Explain rec;
  plan_cost(rec, problem, plan, stage);
  return rec.take_ledger();
}

}  // namespace trainplan
