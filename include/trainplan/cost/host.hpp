/// The memory of the host: what a node holds of its GPUs, what is copied, and what of the copies shows.
#pragma once

#include <array>
#include <string>

#include "trainplan/cost/memory.hpp"
#include "trainplan/cost/offload.hpp"
#include "trainplan/cost/pipeline.hpp"

namespace trainplan {

/// Of one GPU, and of all GPUs of a node. Nothing where nothing is offloaded.
template <class N>
struct HostCost {
  Bytes<N> state{}, per_gpu{}, node{};
};

/// Bytes of one GPU between it and its host: up from the host, down to it. In the forward and the backward
/// pass of a micro-batch, and between steps. updated: parameters of the GPU whose optimizer is on the host.
template <class N>
struct HostTraffic {
  Sum<Bytes<N>> forward_up, forward_down, backward_up, backward_down, step_up, step_down;
  Params<N> updated{};
};

/// The cluster has what offloading needs; without a place in host memory nothing is judged.
inline bool host_is_full(const Problem& problem, double node) {
  const Figure& memory = problem.cluster().host_memory;
  return memory.known && node > memory.value;
}

/// Which ranks share the optimizer state of a parameter.
constexpr Group optimizer_group(Sharding s) {
  return s == Sharding::None ? Group::None : s == Sharding::Hsdp ? Group::Shard : Group::DataParallel;
}

/// Parameters that a rank updates, of an even share of the model.
template <class N>
Params<N> updated_params(const Inputs<N>& in, const Problem& problem, const Plan& plan,
                         const ParamsCost<N>& params) {
  const Group group = optimizer_group(plan.sharding);
  const auto dense = params.average / ways(in, group, ParamClass::Dense);
  return problem.model().is_sparse() ? dense + params.average_experts / ways(in, group, ParamClass::Experts)
                                     : dense;
}

namespace detail {

/// One row in host memory, as the item host.state.<id>, of experts with .experts behind it.
template <Recorder R>
Bytes<typename R::Num> row_on_host(R& rec, const Inputs<typename R::Num>& in, const StateRow& row,
                                   BytesPerParam<typename R::Num> width, Count<typename R::Num> share,
                                   Count<typename R::Num> buffers, ParamClass params,
                                   Params<typename R::Num> held) {
  const auto shared = ways(in, row.sharded_over, params);
  if constexpr (R::traced) {
    const bool experts = params == ParamClass::Experts;
    const std::string id = "host.state." + row.id + (experts ? ".experts" : ""),
                      title = row.title + (experts ? ", routed experts" : "") + ", on the host";
    std::string symbol = row.symbol + (experts ? "_e" : "");
    symbol.front() = 'H';
    return rec.apply(host_row, {id, symbol, title}, held, width, share, buffers, shared);
  } else {
    return host_row(held, width, share, buffers, shared);
  }
}

/// The gradient that an optimizer on the host reads; a copy of its own where the rows do not have it.
template <Recorder R>
void add_host_gradient(R& rec, const Inputs<typename R::Num>& in, const Problem& problem, const Plan& plan,
                       const ParamsCost<typename R::Num>& params, Count<typename R::Num> share,
                       Count<typename R::Num> buffers, Sum<Bytes<typename R::Num>>& sum) {
  using N = typename R::Num;
  const Group group = optimizer_group(plan.sharding);
  const auto width = detail::from_file<BytesPerParam<N>>(rec, "w_gh", "bytes of a gradient on the host",
                                                         problem.profile().origin, "/host/gradient_bytes",
                                                         problem.profile().host.gradient_bytes);
  sum.add(rec.apply(host_row, {"host.gradient", "H_g32", "gradients that the host's optimizer reads"},
                    params.stage_dense, width, share, buffers, ways(in, group, ParamClass::Dense)));
  if (problem.model().is_sparse())
    sum.add(rec.apply(host_row,
                      {"host.gradient.experts", "H_g32_e", "gradients of experts that the host reads"},
                      params.stage_experts, width, share, buffers, ways(in, group, ParamClass::Experts)));
}

/// Rows that only the optimizer step needs are buffers of the GPU and have no place on the host.
template <Recorder R>
Bytes<typename R::Num> state_on_host(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                     const Plan& plan, const ParamsCost<typename R::Num>& params) {
  using N = typename R::Num;
  Sum<Bytes<N>> sum;
  const HostUse& use = problem.profile().host;
  const auto buffers = from_file<Count<N>>(rec, "f_buf", "host memory over what is counted",
                                           problem.profile().origin, "/host/buffers", use.buffers);
  for (const StateRow& row : problem.profile().rows(plan.sharding)->state) {
    const double host = host_share(problem, plan, row.id);
    if (host == 0 || !applies(row.when, problem.recipe, plan) || !row.is_resident()) continue;
    // A gradient is counted once, below, in the type that the optimizer reads.
    if (row.id == "gradient" || row.id == "gradient_shard") continue;
    const auto width = width_leaf(rec, problem, "w_", row);
    const bool weights = problem.recipe.offload.weights &&
                         goes_along(problem.profile().rows(plan.sharding)->host.weights, row.id);
    const auto share =
        weights ? rec.template in<Count<N>>({"x_w", "weights on the host", "run /offload_weights"}, 1)
                : offloaded_share(rec, host);
    const auto add = [&](ParamClass kind, Params<N> held) {
      sum.add(row_on_host(rec, in, row, width, share, buffers, kind, held));
    };
    add(ParamClass::Dense, params.stage_dense);
    if (problem.model().is_sparse()) add(ParamClass::Experts, params.stage_experts);
  }
  if (problem.recipe.offload.optimizer > 0)
    add_host_gradient(rec, in, problem, plan, params, offloaded_share(rec, problem.recipe.offload.optimizer),
                      buffers, sum);
  if (sum.empty()) return {};
  return rec.item({"host.state", "H_state", "training state on the host"}, sum.total());
}

/// Gathers of weights in every micro-batch: none, in the forward pass, or in both.
inline int gathers_each_micro_batch(const Problem& problem, const Plan& plan) {
  int n = 0;
  for (const CommRow& row : problem.profile().rows(plan.sharding)->traffic)
    if (row.collective == Collective::AllGather && row.times == Times::PerMicroBatch &&
        applies(row.when, problem.recipe, plan))
      ++n;
  return n;
}

/// Gradients leave the GPU when they are reduced, after every micro-batch.
inline bool sends_gradients_early(const Problem& problem, const Plan& plan) {
  return host_share(problem, plan, "gradient") > 0 && plan.sync_each_micro_batch;
}

template <Recorder R>
void add_optimizer_traffic(R& rec, const Problem& problem, const Plan& plan,
                           HostTraffic<typename R::Num>& out) {
  using N = typename R::Num;
  const Recipe& r = problem.recipe;
  const auto width = rec.template in<BytesPerParam<N>>(
      {"w_gd", "bytes of a gradient on its way to the host", "run /gradient_dtype"}, bytes_of(r.gradient));
  const auto gradients =
      rec.item({"host.gradients_copied", "V_gd", "gradients copied to the host"}, out.updated * width);
  (sends_gradients_early(problem, plan) ? out.backward_down : out.step_down).add(gradients);
  if (r.offload.weights) return;
  const auto weight =
      detail::from_file<BytesPerParam<N>>(rec, "w_wu", "bytes of an updated weight", problem.profile().origin,
                                          "/host/weight_bytes", problem.profile().host.weight_bytes);
  out.step_up.add(
      rec.item({"host.weights_updated", "V_wu", "updated weights copied to the GPU"}, out.updated * weight));
}

}  // namespace detail

template <Recorder R>
HostCost<typename R::Num> host_cost(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                    const Plan& plan, const MemoryCost<typename R::Num>& memory) {
  using N = typename R::Num;
  HostCost<N> out;
  if (!problem.recipe.offload.any()) return out;
  out.state = detail::state_on_host(rec, in, problem, plan, memory.params);
  const bool layers = problem.recipe.offload.layers > 0, state = value_of(out.state) > 0;
  out.per_gpu = rec.item({"host.per_gpu", "H_gpu", "host memory of one GPU"},
                         layers && state ? out.state + memory.activations.offloaded
                         : layers        ? 1.0 * memory.activations.offloaded
                                         : 1.0 * out.state);
  out.node = rec.item({"host.node", "H_node", "host memory of a node"},
                      out.per_gpu * detail::count(rec, "G_node", "GPUs of a node", problem.cluster().origin,
                                                  "/gpus_per_node", problem.cluster().gpus_per_node));
  return out;
}

template <Recorder R>
HostTraffic<typename R::Num> host_traffic(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                          const Plan& plan, const MemoryCost<typename R::Num>& memory) {
  using N = typename R::Num;
  HostTraffic<N> out;
  const Offload& o = problem.recipe.offload;
  if (o.layers > 0) {
    out.forward_down.add(1.0 * memory.activations.offloaded_micro_batch);
    out.backward_up.add(1.0 * memory.activations.offloaded_micro_batch);
  }
  if (o.optimizer > 0) {
    out.updated =
        rec.item({"host.updated", "N_host", "parameters of a GPU that the host updates"},
                 updated_params(in, problem, plan, memory.params) * offloaded_share(rec, o.optimizer));
    detail::add_optimizer_traffic(rec, problem, plan, out);
  }
  if (!o.weights) return out;
  const auto weight = detail::from_file<BytesPerParam<N>>(rec, "w_wu", "bytes of a weight that is copied",
                                                          problem.profile().origin, "/host/weight_bytes",
                                                          problem.profile().host.weight_bytes);
  const auto copied = rec.item({"host.weights_copied", "V_w", "weights copied to the GPU for a pass"},
                               updated_params(in, problem, plan, memory.params) * weight);
  const int gathers = detail::gathers_each_micro_batch(problem, plan);
  (gathers > 0 ? out.forward_up : out.step_up).add(copied);
  if (gathers > 1) out.backward_up.add(copied);
  return out;
}

namespace detail {

/// What a pass of a micro-batch waits for copies.
template <class N>
struct HostWait {
  bool any = false;
  Seconds<N> forward{}, backward{};
};

/// Of one pass of a micro-batch; nothing is copied: nothing.
template <Recorder R>
Seconds<typename R::Num> pass_wait(R& rec, const Item& item, const Sum<Bytes<typename R::Num>>& up,
                                   const Sum<Bytes<typename R::Num>>& down, BytesPerSec<typename R::Num> rate,
                                   Seconds<typename R::Num> window) {
  using N = typename R::Num;
  const Bytes<N> none{N(0.0)};
  return rec.apply(offload_wait, item, up.empty() ? none : up.total(), down.empty() ? none : down.total(),
                   rate, window);
}

template <Recorder R>
BytesPerSec<typename R::Num> host_rate(R& rec, const Problem& problem) {
  using N = typename R::Num;
  return rec.item(
      {"host.rate", "W_host", "rate of copies between a GPU and its host"},
      figure<BytesPerSec<N>>(rec, "W_link", "link of a GPU to its host", problem.cluster().host_link) *
          figure<Count<N>>(rec, "e_host", "share of the link that copies reach",
                           problem.calibration().time.host_link_rate));
}

/// Windows are those of the stage that sets the pace: a third of a micro-batch forward, two thirds backward.
template <Recorder R>
HostWait<typename R::Num> copy_wait(R& rec, const HostTraffic<typename R::Num>& t,
                                    BytesPerSec<typename R::Num> rate,
                                    const PipelineTime<typename R::Num>& pipe) {
  HostWait<typename R::Num> out;
  out.any =
      !(t.forward_up.empty() && t.forward_down.empty() && t.backward_up.empty() && t.backward_down.empty());
  if (!out.any) return out;
  out.forward = pass_wait(rec, {"step.host_forward", "t_host_f", "copies that a forward pass does not hide"},
                          t.forward_up, t.forward_down, rate, pipe.slowest / 3.0);
  out.backward =
      pass_wait(rec, {"step.host_backward", "t_host_b", "copies that a backward pass does not hide"},
                t.backward_up, t.backward_down, rate, pipe.slowest * 2.0 / 3.0);
  return out;
}

/// Copies between steps, which nothing hides: gradients down, then weights up.
template <class N>
Sum<Bytes<N>> between_steps(const HostTraffic<N>& traffic) {
  Sum<Bytes<N>> out;
  if (!traffic.step_down.empty()) out.add(traffic.step_down.total());
  if (!traffic.step_up.empty()) out.add(traffic.step_up.total());
  return out;
}

/// What of the copies shows in a step.
template <Recorder R>
Seconds<typename R::Num> exposed_host(R& rec, const HostTraffic<typename R::Num>& traffic,
                                      const HostWait<typename R::Num>& wait,
                                      BytesPerSec<typename R::Num> rate, Count<typename R::Num> m) {
  Sum<Seconds<typename R::Num>> shown;
  if (wait.any) shown.add(m * (wait.forward + wait.backward));
  if (const auto bytes = between_steps(traffic); !bytes.empty())
    shown.add(rec.item({"step.host_copies", "t_host_c", "gradients and weights copied between steps"},
                       bytes.total() / rate));
  return rec.item({"step.exposed_host", "t_host_exp", "copies to and from the host"}, 1.0 * shown.total());
}

/// All GPUs of a node update on their host at once.
template <Recorder R>
Seconds<typename R::Num> host_update(R& rec, const Problem& problem, Params<typename R::Num> updated) {
  using N = typename R::Num;
  const auto rate = rec.item(
      {"host.memory_rate", "W_mem_host", "rate of the host's memory in an optimizer step"},
      figure<BytesPerSec<N>>(rec, "W_ram", "memory bandwidth of a node", problem.cluster().host_bandwidth) *
          figure<Count<N>>(rec, "e_ram", "share of it that an optimizer step reaches",
                           problem.calibration().time.host_memory_rate));
  return rec.apply(host_update_time, {"step.host_update", "t_host_u", "optimizer update on the host"},
                   updated * count(rec, "G_node", "GPUs of a node", problem.cluster().origin,
                                   "/gpus_per_node", problem.cluster().gpus_per_node),
                   rate);
}

}  // namespace detail

}  // namespace trainplan
