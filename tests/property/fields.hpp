/// Every number of a PlanCost with its name, so that two costs can be compared field by field.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "trainplan/cost/plan_cost.hpp"

namespace property {

using namespace trainplan;

struct Field {
  std::string_view name;
  double value;
};
inline constexpr std::size_t kFields = 155;
using Fields = std::array<Field, kFields>;

// A field that is added to PlanCost must be listed below: beside the numbers there are two stages, the
// mix of layers and four flags.
static_assert(sizeof(PlanCost<double>) == (kFields + 4) * sizeof(double));

namespace detail {

class Collector {
  Fields& out_;
  std::size_t size_ = 0;

 public:
  explicit Collector(Fields& out) : out_(out) {}
  template <class Q>
  void add(std::string_view name, Q q) {
    out_.at(size_++) = {name, value_of(q)};
  }
  template <class T>
  void add_traffic(std::string_view name, const T& t) {
    add(name, t.bytes);
    add(name, t.seconds);
  }
  bool full() const { return size_ == kFields; }
};

template <class N>
void add_memory(Collector& c, const MemoryCost<N>& m) {
  c.add("params.total", m.params.total);
  c.add("params.gemm", m.params.gemm);
  c.add("params.average", m.params.average);
  c.add("params.active", m.params.active);
  c.add("params.trained", m.params.trained);
  c.add("params.expert", m.params.expert);
  c.add("params.table", m.params.table);
  c.add("params.average_experts", m.params.average_experts);
  c.add("params.dense_layer", m.params.dense_layer);
  c.add("params.sparse_layer", m.params.sparse_layer);
  c.add("params.experts_layer", m.params.experts_layer);
  for (std::size_t i = 0; i < kWeightClasses; ++i) c.add(kWeightClassTitles[i], m.params.classes[i]);
  c.add("params.stage_dense", m.params.stage_dense);
  c.add("params.stage_experts", m.params.stage_experts);
  c.add("params.stage_sparse", m.params.stage_sparse);
  c.add("params.blocks", m.params.blocks);
  c.add("params.sparse_blocks", m.params.sparse_blocks);
  c.add("params.layer_local", m.params.layer_local);
  c.add("params.stage", m.params.stage);
  c.add("params.tables_local", m.params.tables_local);
  c.add("params.stage_layers", m.params.stage_layers);
  c.add("params.padded_vocabulary", m.params.padded_vocabulary);
  c.add("activations.tokens", m.activations.tokens);
  c.add("activations.micro_batches", m.activations.micro_batches);
  c.add("activations.in_flight", m.activations.in_flight);
  c.add("activations.recomputed", m.activations.recomputed);
  c.add("activations.layer", m.activations.layer);
  c.add("activations.running", m.activations.running);
  c.add("activations.kept", m.activations.kept);
  c.add("activations.saved", m.activations.saved);
  c.add("activations.left", m.activations.left);
  c.add("activations.rebuilt", m.activations.rebuilt);
  c.add("activations.offloaded", m.activations.offloaded);
  c.add("activations.offloaded_micro_batch", m.activations.offloaded_micro_batch);
  c.add("activations.rows", m.activations.rows);
  c.add("activations.sparse_layer", m.activations.sparse_layer);
  c.add("memory.state", m.state);
  c.add("memory.state_average", m.state_average);
  c.add("memory.logits", m.logits);
  c.add("memory.state_per_param", m.state_per_param);
  c.add("memory.state_per_expert_param", m.state_per_expert_param);
  for (std::size_t i = 0; i < kPhases; ++i) c.add(kPhaseIds[i], m.phases[i]);
  c.add("memory.allocated", m.allocated);
  c.add("memory.idle", m.idle);
  c.add("memory.reserved", m.reserved);
  c.add("memory.device", m.device);
}

template <class N>
void add_compute(Collector& c, const ComputeCost<N>& x) {
  c.add("compute.causal", x.causal);
  c.add("compute.full", x.full);
  c.add("compute.recomputed", x.recomputed);
  c.add("compute.recomputed_full", x.recomputed_full);
  c.add("compute.attention", x.attention);
  c.add("compute.attention_full", x.attention_full);
  c.add("compute.tokens", x.tokens);
  c.add("compute.ideal_causal", x.ideal_causal);
  c.add("compute.ideal_full", x.ideal_full);
  c.add("compute.ideal", x.ideal);
}

template <class N>
void add_comm(Collector& c, const CommCost<N>& x) {
  c.add_traffic("comm.tensor", x.tensor);
  c.add_traffic("comm.tensor_regather", x.tensor_regather);
  c.add_traffic("comm.context", x.context);
  c.add_traffic("comm.pipeline", x.pipeline);
  c.add_traffic("comm.data", x.data);
  c.add_traffic("comm.expert_all_to_all", x.expert_all_to_all);
  c.add_traffic("comm.expert_tensor", x.expert_tensor);
  c.add_traffic("comm.tied", x.tied);
  for (const auto& seconds : x.data_behind) c.add("comm.data_behind", seconds);
}

template <class N>
void add_pipeline(Collector& c, const PipelineTime<N>& x) {
  c.add("pipeline.kernels", x.kernels);
  c.add("pipeline.products", x.products);
  c.add("pipeline.tensor", x.tensor);
  c.add("pipeline.context", x.context);
  c.add("pipeline.experts", x.experts);
  c.add("pipeline.again", x.again);
  c.add("pipeline.wait", x.wait);
  c.add("pipeline.slowest", x.slowest);
  c.add("pipeline.all", x.all);
  c.add("pipeline.step", x.step);
  c.add("pipeline.bubble", x.bubble);
}

template <class N>
void add_step(Collector& c, const StepCost<N>& s) {
  c.add("step.compute", s.compute);
  c.add("step.optimizer", s.optimizer);
  c.add("step.unmodelled", s.unmodelled);
  c.add("step.recompute", s.recompute);
  c.add("step.exposed_tensor", s.exposed_tensor);
  c.add("step.exposed_data", s.exposed_data);
  c.add("step.exposed_context", s.exposed_context);
  c.add("step.exposed_experts", s.exposed_experts);
  c.add("step.exposed_pipeline", s.exposed_pipeline);
  c.add("step.exposed_tied", s.exposed_tied);
  c.add("step.exposed_host", s.exposed_host);
  c.add("step.bubble", s.bubble);
  c.add("step.exposed", s.exposed);
  c.add("step.data_wait", s.data_wait);
  c.add("step.kernel", s.kernel);
  c.add("step.launch", s.launch);
  c.add("step.straggler", s.straggler);
  c.add("step.step", s.step);
  c.add("step.mfu", s.mfu);
  c.add("step.mfu_full", s.mfu_full);
  c.add("step.hfu", s.hfu);
  c.add("step.hfu_full", s.hfu_full);
  c.add("step.rate", s.rate);
}

template <class N>
void add_operation(Collector& c, const PlanCost<N>& x) {
  c.add("checkpoint.bytes", x.checkpoint.bytes);
  c.add("checkpoint.per_gpu", x.checkpoint.per_gpu);
  c.add("checkpoint.staging", x.checkpoint.staging);
  c.add("checkpoint.write", x.checkpoint.write);
  c.add("goodput.mtbf", x.goodput.mtbf);
  c.add("goodput.interval", x.goodput.interval);
  c.add("goodput.waste", x.goodput.waste);
  c.add("goodput.goodput", x.goodput.goodput);
  c.add("money.day", x.money.day);
  c.add("money.run", x.money.run);
  c.add("money.run_time", x.money.run_time);
  c.add("money.run_gpu_time", x.money.run_gpu_time);
  c.add("money.mfu_point_time", x.money.mfu_point_time);
  c.add("money.mfu_point", x.money.mfu_point);
}

}  // namespace detail

template <class N>
Fields fields_of(const PlanCost<N>& cost) {
  Fields out{};
  detail::Collector c(out);
  detail::add_memory(c, cost.memory);
  c.add("host.state", cost.host.state);
  c.add("host.per_gpu", cost.host.per_gpu);
  c.add("host.node", cost.host.node);
  c.add("capacity", cost.capacity);
  c.add("gate", cost.gate);
  c.add("limit", cost.limit);
  c.add("range.time_low", cost.range.time_low);
  c.add("range.time_high", cost.range.time_high);
  c.add("range.mfu_low", cost.range.mfu_low);
  c.add("range.mfu_full_low", cost.range.mfu_full_low);
  c.add("range.device_low", cost.range.device_low);
  c.add("range.device_high", cost.range.device_high);
  detail::add_compute(c, cost.compute);
  detail::add_comm(c, cost.comm);
  c.add("schedule.micro_batches", cost.schedule.micro_batches);
  c.add("schedule.bubble_of_ideal", cost.schedule.bubble_of_ideal);
  c.add("schedule.bubble_of_total", cost.schedule.bubble_of_total);
  detail::add_pipeline(c, cost.pipeline);
  detail::add_step(c, cost.step);
  detail::add_operation(c, cost);
  if (!c.full()) out = {};  // never equal to a full one, and seen by the finite test
  return out;
}

/// Kernels may beat the ideal where it counts the full matrix or a 16-bit peak that fp8 products pass, and a
/// stack may be faster than the model of it. Nothing else is below zero.
inline bool may_be_negative(std::string_view field, const Problem& x) {
  const bool fast_stack = x.stack().slowdown.value < 1;
  if (field == "step.unmodelled") return fast_stack;
  return field == "step.kernel" &&
         (fast_stack || x.recipe.convention == FlopConvention::Full || x.recipe.matmul != Matmul::Wide);
}

}  // namespace property
