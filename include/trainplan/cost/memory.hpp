/// Memory of one GPU of one stage: every item has a lifetime, and the peak is a maximum over phases, not a
/// sum.
#pragma once

#include <array>
#include <cstddef>

#include "trainplan/cost/activations.hpp"
#include "trainplan/cost/lifetimes.hpp"
#include "trainplan/cost/live_rows.hpp"
#include "trainplan/cost/params.hpp"
#include "trainplan/cost/state.hpp"
#include "trainplan/cost/transients.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

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

/// logits: with the loss. idle: blocks that the allocator keeps from phases other than the fullest.
template <class N>
struct MemoryCost {
  ParamsCost<N> params;
  ActivationCost<N> activations;
  Bytes<N> state, state_average, logits;
  BytesPerParam<N> state_per_param, state_per_expert_param{};
  std::array<Bytes<N>, kPhases> phases;
  Bytes<N> allocated, idle{}, reserved, device;
};

namespace detail {

inline constexpr std::array<std::string_view, kPhases> kPhaseItemIds{
    "memory.phase.load",          "memory.phase.forward_end",    "memory.phase.loss",
    "memory.phase.head_backward", "memory.phase.layer_backward", "memory.phase.embedding_backward",
    "memory.phase.optimizer",     "memory.phase.evaluation",     "memory.phase.save"};
inline constexpr std::array<std::string_view, kPhases> kPhaseSymbols{
    "M_load", "M_fwd", "M_loss", "M_hbwd", "M_bwd", "M_ebwd", "M_opt", "M_eval", "M_save"};

inline constexpr Phases kSavedPhases =
    bit(Phase::ForwardEnd) | bit(Phase::Loss) | bit(Phase::HeadBackward) | bit(Phase::LayerBackward);

/// Bytes that rows of the profile add up to, and bytes per parameter of either class.
template <class N>
struct StateCost {
  Bytes<N> bytes;
  BytesPerParam<N> dense, experts;
};

/// What of some parameters or bytes stays on the GPU when a share of a row is in host memory.
template <Recorder R, class Q>
Q left_on_gpu(R& rec, double host, Q all) {
  if (host == 0) return all;
  return all * (1.0 - offloaded_share(rec, host));
}

/// A row that the optimizer makes for one group of parameters after the other: the larger group counts.
template <Recorder R>
void add_largest_group(R& rec, const Problem& problem, const LiveRow<typename R::Num>& live_row,
                       const ParamsCost<typename R::Num>& params, Lifetimes<typename R::Num>& live) {
  const auto& [row, alive, host, width, ways] = live_row;
  const auto dense =
      state_row(rec, *row, width, ParamClass::Dense, left_on_gpu(rec, host, params.stage_dense), ways[0]);
  if (!problem.model().is_sparse()) return live.add(dense, row->alive);
  const auto experts =
      state_row(rec, *row, width, ParamClass::Experts, left_on_gpu(rec, host, params.stage_experts), ways[1]);
  live.add(
      rec.item({"memory.largest_group", "M_group", "of the larger parameter group"}, max(dense, experts)),
      row->alive);
}

/// Rows of the profile. Where all resident rows are alive together their sum counts, elsewhere each row for
/// itself.
template <Recorder R>
StateCost<typename R::Num> add_state(R& rec, const Problem& problem, const LiveRows<typename R::Num>& rows,
                                     const ParamsCost<typename R::Num>& params,
                                     Lifetimes<typename R::Num>& live) {
  using N = typename R::Num;
  const std::array<Params<N>, 2> params_of{params.stage_dense, params.stage_experts};
  const std::size_t classes = problem.model().is_sparse() ? 2 : 1;
  Sum<Bytes<N>> bytes;
  std::array<Sum<BytesPerParam<N>>, 2> each;
  for (const LiveRow<N>& live_row : rows) {
    const auto& [row, alive, host, width, ways] = live_row;
    if (row->largest_group) {
      add_largest_group(rec, problem, live_row, params, live);
      continue;
    }
    const bool narrow = problem.recipe.low_weights && row->id == "weights";
    for (std::size_t c = 0; c < classes; ++c) {
      const auto kind = static_cast<ParamClass>(c);
      const auto held = narrow ? params_of[c] - low_params(params, problem.model(), kind) : params_of[c];
      const Bytes<N> b = state_row(rec, *row, width, kind, left_on_gpu(rec, host, held), ways[c]);
      // A gradient shard that is yet to come holds a block; other rows are there or not.
      live.add(b, row->is_resident() ? static_cast<Phases>(alive & ~rows.together) : alive,
               alive == kBackwardPhases ? alive : kAlways);
      if (!row->is_resident()) continue;
      bytes.add(b);
      const auto mean = narrow && value_of(params_of[c]) > 0 ? width * (held / params_of[c]) : width;
      each[c].add(left_on_gpu(rec, host, mean / ways[c]));
    }
  }
  StateCost<N> out{{}, each[0].total(), each[1].total()};
  out.bytes = rec.item({"memory.state", "M_state", "model state"}, bytes.total());
  live.add(out.bytes, rows.together);
  return out;
}

/// The phase with the peak; both recorders hold the same values.
template <class N>
Phase fullest_phase(const MemoryCost<N>& cost) {
  std::size_t fullest = 0;
  for (std::size_t i = 1; i < kPhases; ++i)
    if (value_of(cost.phases[i]) > value_of(cost.phases[fullest])) fullest = i;
  return static_cast<Phase>(fullest);
}

/// What the allocator holds beyond the peak: rounding, or blocks of other phases where those are more.
template <Recorder R>
Bytes<typename R::Num> held_beyond(R& rec, const Problem& problem, const Lifetimes<typename R::Num>& live,
                                   Bytes<typename R::Num> slack, MemoryCost<typename R::Num>& out) {
  if (problem.recipe.expandable_segments) return slack;
  const auto idle = live.idle_sum(fullest_phase(out));
  if (idle.empty()) return slack;
  out.idle = rec.item({"memory.idle", "M_idle", "blocks of other phases that the allocator keeps"},
                      1.0 * idle.total());
  return rec.item({"memory.held", "M_held", "held by the allocator beyond the peak"}, max(slack, out.idle));
}

/// Phases, the largest of them, and what the allocator, the context and the communicators add. Idle blocks
/// are given back when memory runs short, so that they do not count against the gate.
template <Recorder R>
void add_totals(R& rec, const Problem& problem, const Lifetimes<typename R::Num>& live,
                MemoryCost<typename R::Num>& out) {
  using N = typename R::Num;
  const Calibration& c = problem.calibration();
  for (int i = 0; i < kPhases; ++i) {
    const auto k = static_cast<std::size_t>(i);
    out.phases[k] = rec.item({kPhaseItemIds[k], kPhaseSymbols[k], kPhaseTitles[k]},
                             live.phase_sum(static_cast<Phase>(i)));
  }
  Bytes<N> peak = out.phases[0];
  for (std::size_t i = 1; i < kPhases; ++i) peak = max(peak, out.phases[i]);
  out.allocated = rec.item({"memory.allocated", "M_alloc", "peak allocated"}, peak);
  const auto share = figure<Count<N>>(rec, "f_slack", "reserved over allocated, less one", c.allocator_slack);
  const auto slack =
      rec.apply(allocator_slack, {"memory.slack", "M_slack", "allocator slack"}, out.allocated, share);
  out.reserved = rec.item({"memory.reserved", "M_res", "reserved by the allocator, as a log prints it"},
                          out.allocated + held_beyond(rec, problem, live, slack, out));
  const auto context = figure<Bytes<N>>(rec, "M_ctx", "CUDA context", c.cuda_context);
  const auto comms = figure<Bytes<N>>(rec, "M_nccl", "communicators", c.communicators);
  const auto context_item = rec.item({"memory.context", "M_context", "CUDA context"}, 1.0 * context);
  const auto comms_item = rec.item({"memory.communicators", "M_comm", "communicators (NCCL)"}, 1.0 * comms);
  out.device =
      rec.item({"memory.device", "M_dev", "device total"}, out.allocated + slack + context_item + comms_item);
}

/// The state once more, by what the weights are for. Lines of the report only, so nothing for plain numbers.
template <Recorder R>
void explain_classes(R& rec, const MemoryCost<typename R::Num>& memory) {
  if constexpr (R::traced) {
    for (std::size_t i = 0; i < kWeightClasses; ++i) {
      const auto& held = memory.params.classes[i];
      if (value_of(held) == 0) continue;
      const bool experts = static_cast<WeightClass>(i) == WeightClass::Experts;
      const std::string id = "memory.state_of." + std::string(kWeightClassIds[i]),
                        symbol = "M_c" + std::to_string(i + 1);
      rec.item({id, symbol, kWeightClassTitles[i]},
               held * (experts ? memory.state_per_expert_param : memory.state_per_param));
    }
  }
}

}  // namespace detail

/// The ledger of one GPU of `stage`; `common` is filled as the stages of a plan need it.
template <Recorder R>
MemoryCost<typename R::Num> memory_cost(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                        const Plan& plan, int stage, CommonMemory<typename R::Num>& common) {
  using N = typename R::Num;
  MemoryCost<N> out;
  Lifetimes<N> live;
  if (!common.model) common.model = model_params(rec, in, problem.model(), problem.recipe.mtp_layers);
  if (!common.rows) common.rows.emplace(rec, in, problem, plan);
  out.params = params_cost(rec, in, problem, plan, stage, *common.model);
  const auto state = detail::add_state(rec, problem, *common.rows, out.params, live);
  if (keeps_low_operands(problem))
    live.add(detail::low_copies_of_weights(rec, problem, out.params),
             problem.recipe.low_weights ? kAlways : kAfterLoad);
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
  detail::explain_classes(rec, out);
  const auto average = out.params.average * out.state_per_param;
  out.state_average =
      rec.item({"memory.state_average", "M_avg", "state of an even share of the parameters, unpadded"},
               sparse ? average + out.params.average_experts * out.state_per_expert_param : average);
  out.activations = activation_cost(rec, in, problem, plan, stage, out.params, common.tensors);
  live.add(out.activations.saved, detail::kSavedPhases);
  const StageMemory<R> memory{rec, in, problem, plan, stage, out.params, out.activations, live, common};
  add_layers(memory);
  out.logits = add_head(memory);
  add_embedding(memory);
  detail::add_totals(rec, problem, live, out);
  return out;
}

template <Recorder R>
MemoryCost<typename R::Num> memory_cost(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                        const Plan& plan, int stage) {
  CommonMemory<typename R::Num> common;
  return memory_cost(rec, in, problem, plan, stage, common);
}

using MemoryFormulas = Chapter<logits_bytes, gathered_unit, reduced_unit, mlp_backward, rows_in_flight,
                               weight_gradient, allocator_slack, capacity_limit>;

}  // namespace trainplan
