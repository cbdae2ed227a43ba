/// Memory of one GPU of one stage: every item has a lifetime, and the peak is a maximum over phases, not a
/// sum.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>

#include "trainplan/cost/activations.hpp"
#include "trainplan/cost/params.hpp"
#include "trainplan/cost/state.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula logits_bytes{
    "logits_bytes", "logits and loss on the last stage",
    Source{"megatron-lm", "vocabulary-parallel cross-entropy"},
    std::array{Arg{"tokens", "T", "tokens"}, Arg{"vocabulary", "V_pad", "padded vocabulary"},
               Arg{"element", "e_l", "bytes per token and vocabulary entry"},
               Arg{"t", "t", "tensor parallel degree", 1}},
    []<class N>(Tokens<N> tokens, Count<N> v, BytesPerToken<N> e, Count<N> t) { return tokens * v * e / t; }};

inline constexpr Formula gathered_unit{
    "gathered_unit", "whole layers that are gathered at a time",
    Source{"fsdp-2023", "current and prefetched unit"},
    std::array{Arg{"units", "u", "layers at a time"},
               Arg{"layer", "N_layer_t", "parameters of a layer on this GPU"},
               Arg{"tables", "N_tables_s", "tables of this stage"}, Arg{"width", "w", "bytes per parameter"}},
    []<class N>(Count<N> units, Params<N> layer, Params<N> tables, BytesPerParam<N> width) {
      return (units * layer + tables) * width;
    }};

inline constexpr Formula allocator_slack{
    "allocator_slack", "memory that the caching allocator holds beyond what is allocated",
    Source{"simumax", "reserved over allocated, 43 runs"},
    std::array{Arg{"allocated", "M_alloc", "peak allocated"}, Arg{"slack", "f_slack", "share on top"}},
    []<class N>(Bytes<N> allocated, Count<N> slack) { return allocated * slack; }};

inline constexpr Formula capacity_limit{
    "capacity_limit", "device memory that a plan may use",
    Source{"rule-of-thumb", "above 92-96 % of the card is unsafe"},
    std::array{Arg{"usable", "C", "memory that the driver shows"},
               Arg{"gate", "f_gate", "share that may be used", 0, 1}},
    []<class N>(Bytes<N> usable, Count<N> gate) { return usable * gate; }};

/// Items with lifetimes; phase_sum adds those alive in a phase.
template <class N, std::size_t K = 40>
class Lifetimes {
  std::array<Bytes<N>, K> bytes_{};
  std::array<Phases, K> alive_{};
  std::size_t size_ = 0;

 public:
  void add(Bytes<N> bytes, Phases alive) {
    assert(size_ < K);
    bytes_[size_] = bytes;
    alive_[size_++] = alive;
  }
  Bytes<N> phase_sum(Phase phase) const {
    Sum<Bytes<N>> sum;
    for (std::size_t i = 0; i < size_; ++i)
      if ((alive_[i] & bit(phase)) != 0) sum.add(bytes_[i]);
    return sum.total();
  }
};

template <class N>
struct MemoryCost {
  ParamsCost<N> params;
  ActivationCost<N> activations;
  Bytes<N> state, state_average, logits;
  BytesPerParam<N> state_per_param, state_per_expert_param{};
  std::array<Bytes<N>, kPhases> phases;
  Bytes<N> allocated, reserved, device;
};

namespace detail {

inline constexpr std::array<std::string_view, kPhases> kPhaseItemIds{
    "memory.phase.load",      "memory.phase.forward_end", "memory.phase.loss", "memory.phase.backward_end",
    "memory.phase.optimizer", "memory.phase.evaluation",  "memory.phase.save"};
inline constexpr std::array<std::string_view, kPhases> kPhaseSymbols{"M_load", "M_fwd",  "M_loss", "M_bwd",
                                                                     "M_opt",  "M_eval", "M_save"};

inline constexpr Phases kCompute = bit(Phase::ForwardEnd) | bit(Phase::Loss) | bit(Phase::BackwardEnd);
inline constexpr Phases kForwardKept = bit(Phase::ForwardEnd) | bit(Phase::Loss);

/// Bytes that rows of the profile add up to, and bytes per parameter of either class.
template <class N>
struct StateCost {
  Bytes<N> bytes;
  BytesPerParam<N> dense, experts;
};

/// Phases in which every resident row is alive.
inline Phases alive_together(const Problem& problem, const Plan& plan) {
  Phases together = kAlways;
  for (const StateRow& row : problem.profile().rows(plan.sharding)->state)
    if (applies(row.when, problem.recipe, plan) && row.is_resident()) together &= row.alive;
  return together;
}

/// Rows of the profile. Where all resident rows are alive their sum counts, elsewhere each row for itself.
template <Recorder R>
StateCost<typename R::Num> add_state(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                     const Plan& plan, const ParamsCost<typename R::Num>& params,
                                     Lifetimes<typename R::Num>& live) {
  using N = typename R::Num;
  const Phases together = alive_together(problem, plan);
  Sum<Bytes<N>> bytes;
  Sum<BytesPerParam<N>> dense, experts;
  for (const StateRow& row : problem.profile().rows(plan.sharding)->state) {
    if (!applies(row.when, problem.recipe, plan)) continue;
    const auto width = width_leaf(rec, problem, "w_" + row.id, row);
    const auto add = [&](ParamClass kind, Params<N> held, Sum<BytesPerParam<N>>& each) {
      const Bytes<N> b = state_row(rec, in, row, width, kind, held);
      live.add(b, row.is_resident() ? row.alive & static_cast<Phases>(~together) : row.alive);
      if (!row.is_resident()) return;
      bytes.add(b);
      each.add(width / ways(in, row.sharded_over, kind));
    };
    add(ParamClass::Dense, params.stage_dense, dense);
    if (problem.model().is_sparse()) add(ParamClass::Experts, params.stage_experts, experts);
  }
  StateCost<N> out{{}, dense.total(), experts.total()};
  out.bytes = rec.item({"memory.state", "M_state", "model state"}, bytes.total());
  live.add(out.bytes, together);
  return out;
}

/// Layers gathered or not yet reduced at a time (FSDP); zero rows add nothing.
template <Recorder R>
void add_units(R& rec, const Problem& problem, const Plan& plan, const ParamsCost<typename R::Num>& params,
               Lifetimes<typename R::Num>& live) {
  using N = typename R::Num;
  const ShardingRows& rows = *problem.profile().rows(plan.sharding);
  const std::string& origin = problem.profile().origin;
  if (rows.gathered_units > 0 && plan.reshard) {
    const auto units = count(rec, "u_w", "layers gathered at a time", origin, "/shardings",
                             static_cast<std::int64_t>(rows.gathered_units));
    const auto width =
        rec.template in<BytesPerParam<N>>({"w_g", "bytes of a gathered bf16 weight", "precision"}, 2);
    live.add(rec.apply(gathered_unit, {"memory.gathered", "M_gather", "gathered weights (layers and tables)"},
                       units, params.layer_local, params.tables_local, width),
             kCompute | bit(Phase::Evaluation));
  }
  if (rows.gradient_units > 0 && plan.sync_each_micro_batch) {
    const auto units = count(rec, "u_g", "layers of unsharded gradient at a time", origin, "/shardings",
                             static_cast<std::int64_t>(rows.gradient_units));
    const auto width = rec.template in<BytesPerParam<N>>(
        {"w_r", "bytes of a reduced gradient", "run /reduce_dtype"}, bytes_of(problem.recipe.reduce));
    live.add(rec.apply(gathered_unit,
                       {"memory.gradient_units", "M_gunit", "unsharded gradients before their reduction"},
                       units, params.layer_local, params.tables_local, width),
             bit(Phase::Loss) | bit(Phase::BackwardEnd));
  }
}

template <Recorder R>
Bytes<typename R::Num> add_logits(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                  const Plan& plan, int stage, Tokens<typename R::Num> tokens,
                                  Count<typename R::Num> padded, Lifetimes<typename R::Num>& live) {
  using N = typename R::Num;
  if (stage != plan.pp - 1) return Bytes<N>{};
  const FrameworkProfile& f = problem.profile();
  const auto e = from_file<BytesPerToken<N>>(rec, "e_l", "logit bytes per token and entry", f.origin,
                                             "/logits", f.logit_bytes);
  const auto logits =
      rec.apply(logits_bytes, {"memory.logits", "M_logits", "logits and loss"}, tokens, padded, e, in.tp);
  live.add(logits, bit(Phase::Loss) | bit(Phase::Evaluation));
  return logits;
}

/// Phases, the largest of them, and what the allocator, the context and the communicators add.
template <Recorder R>
void add_totals(R& rec, const Calibration& c, const Lifetimes<typename R::Num>& live,
                MemoryCost<typename R::Num>& out) {
  using N = typename R::Num;
  for (int i = 0; i < kPhases; ++i) {
    const auto k = static_cast<std::size_t>(i);
    out.phases[k] = rec.item({kPhaseItemIds[k], kPhaseSymbols[k], kPhaseTitles[k]},
                             live.phase_sum(static_cast<Phase>(i)));
  }
  Bytes<N> peak = out.phases[0];
  for (std::size_t i = 1; i < kPhases; ++i) peak = max(peak, out.phases[i]);
  out.allocated = rec.item({"memory.allocated", "M_alloc", "peak allocated"}, peak);
  const auto slack = figure<Count<N>>(rec, "f_slack", "reserved over allocated, less one", c.allocator_slack);
  const auto held =
      rec.apply(allocator_slack, {"memory.slack", "M_slack", "allocator slack"}, out.allocated, slack);
  out.reserved = rec.item({"memory.reserved", "M_res", "reserved by the allocator"}, out.allocated + held);
  const auto context = figure<Bytes<N>>(rec, "M_ctx", "CUDA context", c.cuda_context);
  const auto comms = figure<Bytes<N>>(rec, "M_nccl", "communicators", c.communicators);
  const auto context_item = rec.item({"memory.context", "M_context", "CUDA context"}, 1.0 * context);
  const auto comms_item = rec.item({"memory.communicators", "M_comm", "communicators (NCCL)"}, 1.0 * comms);
  out.device = rec.item({"memory.device", "M_dev", "device total"}, out.reserved + context_item + comms_item);
}

}  // namespace detail

/// The ledger of one GPU of `stage`.
template <Recorder R>
MemoryCost<typename R::Num> memory_cost(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                        const Plan& plan, int stage) {
  using N = typename R::Num;
  const Calibration& c = problem.calibration();
  MemoryCost<N> out;
  Lifetimes<N> live;
  out.params = params_cost(rec, in, problem, plan, stage);
  const auto state = detail::add_state(rec, in, problem, plan, out.params, live);
  const bool sparse = problem.model().is_sparse();
  out.state = state.bytes;
  out.state_per_param =
      rec.item({"memory.state_per_param", "w_state",
                sparse ? "state per parameter without routed experts" : "state per parameter"},
               state.dense);
  if (sparse)
    out.state_per_expert_param =
        rec.item({"memory.state_per_expert_param", "w_state_e", "state per parameter of routed experts"},
                 state.experts);
  const auto average = out.params.average * out.state_per_param;
  out.state_average =
      rec.item({"memory.state_average", "M_avg", "state, average of the stages, unpadded"},
               sparse ? average + out.params.average_experts * out.state_per_expert_param : average);
  out.activations = activation_cost(rec, in, problem, plan, stage, out.params);
  live.add(out.activations.saved, detail::kForwardKept);
  const bool rebuilt = plan.recompute != Recompute::None;
  const auto working =
      rec.item({"memory.working_layer", "M_layer", "one layer's activations while it runs backward"},
               1.0 * out.activations.running);
  live.add(working,
           bit(Phase::BackwardEnd) | bit(Phase::Evaluation) | (rebuilt ? bit(Phase::Loss) : Phases{0}));
  out.logits = detail::add_logits(rec, in, problem, plan, stage, out.activations.tokens,
                                  out.params.padded_vocabulary, live);
  detail::add_units(rec, problem, plan, out.params, live);
  if (plan.pp > 1) {
    live.add(rec.item({"memory.p2p_buffers", "M_p2p", "two send and two receive buffers"},
                      4.0 * activation_tensor(out.activations.tokens, in.hidden, in.element,
                                              hidden_ways(in, plan))),
             detail::kCompute | bit(Phase::Evaluation));
  }
  const auto workspace = figure<Bytes<N>>(rec, "M_ws", "library workspaces", c.workspace);
  live.add(rec.item({"memory.workspace", "M_work", "library workspaces"}, 1.0 * workspace),
           detail::kCompute | bit(Phase::Optimizer) | bit(Phase::Evaluation));

  detail::add_totals(rec, c, live, out);
  return out;
}

using MemoryFormulas = Chapter<logits_bytes, gathered_unit, allocator_slack, capacity_limit>;

}  // namespace trainplan
