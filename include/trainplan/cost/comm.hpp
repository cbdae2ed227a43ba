/// Traffic: bytes that one GPU sends in a step, the link that carries them, and seconds at the link's rate.
#pragma once

#include <array>
#include <string>

#include "trainplan/cost/experts.hpp"
#include "trainplan/cost/inputs.hpp"
#include "trainplan/cost/links.hpp"
#include "trainplan/cost/params.hpp"
#include "trainplan/cost/state.hpp"
#include "trainplan/plan/groups.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula all_reduce_bytes{
    "all_reduce_bytes",
    "bytes that a rank sends in a ring all-reduce",
    Source{"nccl-perf", "2 (n - 1)/n of the payload"},
    std::array{Arg{"payload", "S", "payload"}, Arg{"n", "n", "ranks", 1}},
    []<class N>(Bytes<N> payload, Count<N> n) { return 2.0 * payload * (n - 1.0) / n; },
    Unit::Traffic};

inline constexpr Formula shard_exchange_bytes{
    "shard_exchange_bytes",
    "bytes that a rank sends in an all-gather, reduce-scatter or all-to-all",
    Source{"nccl-perf", "(n - 1)/n of the payload"},
    std::array{Arg{"payload", "S", "payload"}, Arg{"n", "n", "ranks", 1}},
    []<class N>(Bytes<N> payload, Count<N> n) { return payload * (n - 1.0) / n; },
    Unit::Traffic};

inline constexpr Formula transfer_time{
    "transfer_time", "seconds at the rate of a link", Source{"identity", "bytes / bandwidth"},
    std::array{Arg{"bytes", "V", "bytes"}, Arg{"bandwidth", "W", "bytes of a second", 1e-9}},
    []<class N>(Bytes<N> bytes, BytesPerSec<N> bandwidth) { return bytes / bandwidth; }};

inline constexpr Formula layer_message_bytes{
    "layer_message_bytes",
    "payload of a tensor parallel collective: one layer's hidden states",
    Source{"megatron-2019", "section 3"},
    std::array{Arg{"tokens", "T", "tokens"}, Arg{"h", "h", "hidden size"},
               Arg{"element", "e", "bytes of an element"}},
    []<class N>(Tokens<N> tokens, Count<N> h, BytesPerToken<N> element) { return tokens * h * element; },
    Unit::Traffic};

inline constexpr Formula tensor_parallel_bytes{
    "tensor_parallel_bytes",
    "bytes that a rank sends for tensor parallelism in a step",
    Source{"megatron-2019", "section 3; sequence parallelism: korthikanti-2022"},
    std::array{Arg{"collectives", "n_c", "gathers and scatters of a layer and micro-batch"},
               Arg{"payload", "S", "payload"}, Arg{"t", "t", "tensor parallel degree", 1},
               Arg{"layers", "L_s", "layers of the stage"}, Arg{"m", "m", "micro-batches of a step"}},
    []<class N>(Count<N> collectives, Bytes<N> payload, Count<N> t, Count<N> layers, Count<N> m) {
      return collectives * ((t - 1.0) / t) * payload * layers * m;
    },
    Unit::Traffic};

inline constexpr Formula pipeline_bytes{
    "pipeline_bytes",
    "bytes that a stage sends to its neighbours in a step",
    Source{"megatron-2021", "section 4.1"},
    std::array{Arg{"forward", "n_f", "chunks that send activations"},
               Arg{"backward", "n_b", "chunks that send gradients"}, Arg{"m", "m", "micro-batches of a step"},
               Arg{"payload", "S", "message of the whole hidden state"},
               Arg{"t", "t", "ranks that share a message", 1}},
    []<class N>(Count<N> forward, Count<N> backward, Count<N> m, Bytes<N> payload, Count<N> t) {
      return (forward + backward) * m * payload / t;
    },
    Unit::Traffic};

inline constexpr Formula context_ring_bytes{
    "context_ring_bytes",
    "bytes that a rank sends for ring attention in a step",
    Source{"ring-attention-2023", "keys and values c - 1 times forward, twice that backward"},
    std::array{Arg{"c", "c", "context parallel degree", 1}, Arg{"tokens", "T", "tokens of a rank"},
               Arg{"kv", "kv", "key or value width"}, Arg{"t", "t", "tensor parallel degree", 1},
               Arg{"element", "e", "bytes of an element"}, Arg{"layers", "L_s", "layers of the stage"},
               Arg{"m", "m", "micro-batches of a step"}},
    []<class N>(Count<N> c, Tokens<N> tokens, Count<N> kv, Count<N> t, BytesPerToken<N> element,
                Count<N> layers,
                Count<N> m) { return 3.0 * (c - 1.0) * tokens * (2.0 * kv / t) * element * layers * m; },
    Unit::Traffic};

inline constexpr Formula context_all_to_all_bytes{
    "context_all_to_all_bytes",
    "bytes that a rank sends for all-to-all context parallelism in a step",
    Source{"ulysses-2023", "queries, keys, values in and outputs back, forward and backward"},
    std::array{Arg{"c", "c", "context parallel degree", 1}, Arg{"tokens", "T", "tokens of a rank"},
               Arg{"q", "q", "query width"}, Arg{"kv", "kv", "key or value width"},
               Arg{"t", "t", "tensor parallel degree", 1}, Arg{"element", "e", "bytes of an element"},
               Arg{"layers", "L_s", "layers of the stage"}, Arg{"m", "m", "micro-batches of a step"}},
    []<class N>(Count<N> c, Tokens<N> tokens, Count<N> q, Count<N> kv, Count<N> t, BytesPerToken<N> element,
                Count<N> layers, Count<N> m) {
      return 2.0 * ((c - 1.0) / c) * tokens * ((2.0 * q + 2.0 * kv) / t) * element * layers * m;
    },
    Unit::Traffic};

inline constexpr Formula parameter_bytes{
    "parameter_bytes",
    "payload of a collective over the parameters of a rank",
    Source{"zero-2020", "section 7"},
    std::array{Arg{"params", "N_s", "parameters of this GPU"}, Arg{"width", "w", "bytes per parameter"}},
    []<class N>(Params<N> params, BytesPerParam<N> width) { return params * width; },
    Unit::Traffic};

inline constexpr Formula zero_elements{
    "zero_elements", "elements that data parallelism moves, in units of the rank's parameters",
    Source{"zero-2020", "section 7: one reduce-scatter and the gathers, (n - 1)/n dropped"},
    std::array{Arg{"params", "N_s", "parameters of this GPU"},
               Arg{"gathers", "n_ag", "gathers: 1 with ZeRO-1 and 2 or without resharding, 2 with ZeRO-3"}},
    []<class N>(Params<N> params, Count<N> gathers) { return params * (gathers + 1.0); }};

inline constexpr Formula hsdp_elements{
    "hsdp_elements", "elements that hybrid sharding moves between its groups",
    Source{"fsdp-2023", "section 3.2: all-reduce of a shard, (n - 1)/n dropped"},
    std::array{Arg{"params", "N_s", "parameters of this GPU"},
               Arg{"shard", "d_s", "ranks of a shard group", 1}},
    []<class N>(Params<N> params, Count<N> shard) { return 2.0 * params / shard; }};

inline constexpr Formula fsdp_step_bytes{
    "fsdp_step_bytes", "payload of fully sharded data parallelism in a step",
    Source{"fsdp-2023", "gathers and reductions counted apart, (n - 1)/n dropped"},
    std::array{Arg{"params", "N_s", "parameters of this GPU"}, Arg{"gathers", "n_ag", "gathers of a step"},
               Arg{"gather_width", "w_g", "bytes of a gathered parameter"},
               Arg{"reductions", "n_rs", "reductions of a step"},
               Arg{"reduce_width", "w_r", "bytes of a reduced gradient"}},
    []<class N>(Params<N> params, Count<N> gathers, BytesPerParam<N> gather_width, Count<N> reductions,
                BytesPerParam<N> reduce_width) {
      return params * (gathers * gather_width + reductions * reduce_width);
    }};

inline constexpr Formula link_ratio{
    "link_ratio", "how many times one link is as fast as another", Source{"identity", "ratio of the rates"},
    std::array{Arg{"fast", "W_1", "rate of the fast link"},
               Arg{"slow", "W_2", "rate of the slow link", 1e-9}},
    []<class N>(BytesPerSec<N> fast, BytesPerSec<N> slow) { return fast / slow; }};

/// One line of traffic: bytes sent and seconds at link rate.
template <class N>
struct Traffic {
  Bytes<N> bytes;
  Seconds<N> seconds;
};

/// data_behind sums what the rows take that may hide behind the same work (HidesBehind order), with the rates
/// that collectives reach; used: such rows exist.
template <class N>
struct CommCost {
  Traffic<N> tensor, tensor_regather, context, pipeline, data;
  Traffic<N> expert_all_to_all{}, expert_tensor{}, tied{};
  std::array<Seconds<N>, 4> data_behind;
  std::array<bool, 4> used{};
};

namespace detail {

template <Recorder R>
BytesPerSec<typename R::Num> rate(R& rec, const Problem& problem, GroupShape g, std::string_view symbol) {
  const Link link = link_of(problem.cluster(), g);
  return figure<BytesPerSec<typename R::Num>>(rec, symbol, name_of(problem.cluster(), link),
                                              bandwidth_of(problem.cluster(), link));
}

template <Recorder R>
void tensor_traffic(R& rec, const Inputs<typename R::Num>& in, const Problem& problem, const Plan& plan,
                    Bytes<typename R::Num> message, Count<typename R::Num> layers, Count<typename R::Num> m,
                    Count<typename R::Num> again_share, CommCost<typename R::Num>& out) {
  using N = typename R::Num;
  if (plan.tp == 1) return;
  Count<N> n = rec.template in<Count<N>>(
      {"n_8", "4 gathers and 4 scatters of a layer and micro-batch", "tensor parallelism"}, 8);
  if (recomputes_layers(plan))
    n = rec.item({"comm.tp_collectives", "n_c",
                  "gathers and scatters of a layer, the forward ones again where recomputed"},
                 n + 4.0 * again_share);
  out.tensor.bytes =
      rec.apply(tensor_parallel_bytes, {"comm.tp", "V_tp", "tensor parallel"}, n, message, in.tp, layers, m);
  const auto w = rate(rec, problem, group_of(plan, Axis::Tp), "W_tp");
  out.tensor.seconds =
      rec.apply(transfer_time, {"comm.tp_time", "t_tp", "tensor parallel at link rate"}, out.tensor.bytes, w);
  if (!plan.sequence_parallel) return;
  const auto again = rec.template in<Count<N>>(
      {"n_g", "gathers of saved inputs for the weight gradients", "sequence parallelism"}, 2);
  out.tensor_regather.bytes = rec.apply(
      tensor_parallel_bytes, {"comm.tp_regather", "V_tp_again", "backward re-gather of saved inputs"}, again,
      message, in.tp, layers, m);
  out.tensor_regather.seconds =
      rec.apply(transfer_time, {"comm.tp_regather_time", "t_tp_again", "re-gather at link rate"},
                out.tensor_regather.bytes, w);
}

template <Recorder R>
void context_traffic(R& rec, const Inputs<typename R::Num>& in, const Problem& problem, const Plan& plan,
                     Tokens<typename R::Num> tokens, Count<typename R::Num> layers, Count<typename R::Num> m,
                     Count<typename R::Num> again_share, CommCost<typename R::Num>& out) {
  if (plan.cp == 1) return;
  const bool ring = problem.recipe.cp_mode != CpMode::AllToAll;  // a gather moves what a ring does
  const ModelSpec& model = problem.model();
  const auto groups = key_value_ways(in, model, plan);
  const auto query = score_width(in, model);
  const auto kv = model.is_latent()
                      ? rec.item({"comm.cp_width", "kv_c", "mean width of expanded keys and values"},
                                 (in.latent_query + in.latent_value) / 2.0)
                      : in.kv;
  const Item item{"comm.cp", "V_cp", "context parallel"};
  const Item once =
      recomputes_layers(plan) ? Item{"comm.cp_once", "V_cp_1", "context parallel without recompute"} : item;
  out.context.bytes =
      ring
          ? rec.apply(context_ring_bytes, once, in.cp, tokens, kv, groups, in.element, layers, m)
          : rec.apply(context_all_to_all_bytes, once, in.cp, tokens, query, kv, in.tp, in.element, layers, m);
  if (recomputes_layers(plan))  // the forward third (ring) or half (all-to-all) runs again
    out.context.bytes = rec.item({"comm.cp", "V_cp", "context parallel", {}, Unit::Traffic},
                                 out.context.bytes * (again_share / (ring ? 3.0 : 2.0) + 1.0));
  out.context.seconds = rec.apply(transfer_time, {"comm.cp_time", "t_cp", "context parallel at link rate"},
                                  out.context.bytes, rate(rec, problem, group_of(plan, Axis::Cp), "W_cp"));
}

template <Recorder R>
void pipeline_traffic(R& rec, const Inputs<typename R::Num>& in, const Problem& problem, const Plan& plan,
                      int stage, Bytes<typename R::Num> message, Count<typename R::Num> m,
                      CommCost<typename R::Num>& out) {
  using N = typename R::Num;
  if (plan.pp == 1) return;
  // At the turn of a V, and at its ends, one of the two chunks has no neighbour on another stage.
  const bool vee = is_vee(plan.schedule), first = stage == 0, last = stage == plan.pp - 1;
  const Count<N> forward = last || (vee && first) ? in.vpp - 1.0 : 1.0 * in.vpp;
  const Count<N> backward = first || (vee && last) ? in.vpp - 1.0 : 1.0 * in.vpp;
  out.pipeline.bytes = rec.apply(pipeline_bytes, {"comm.pp", "V_pp", "pipeline parallel"}, forward, backward,
                                 m, message, hidden_ways(in, plan));
  out.pipeline.seconds = rec.apply(transfer_time, {"comm.pp_time", "t_pp", "pipeline parallel at link rate"},
                                   out.pipeline.bytes, rate(rec, problem, group_of(plan, Axis::Pp), "W_pp"));
}

/// The link of the dispatch of tokens to experts: one tier inside the scale-up domain, else two.
template <Recorder R>
Seconds<typename R::Num> all_to_all_seconds(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                            const Plan& plan, Bytes<typename R::Num> bytes) {
  using N = typename R::Num;
  const ClusterSpec& cluster = problem.cluster();
  const GroupShape g = group_of(plan, Axis::Ep);
  const Item item{"comm.ep_time", "t_ep", "expert parallel at link rate"};
  const Link link = link_of(cluster, g);
  const std::int64_t inside = members_inside(g, cluster.scale_up_domain);
  if (link != Link::Nic || inside == 1)
    return rec.apply(transfer_time, item, bytes, rate(rec, problem, g, "W_ep"));
  const auto near = rec.template in<Count<N>>(
      {"n_in", "ranks of the group in one scale-up domain", "cluster /scale_up_domain"},
      static_cast<double>(inside));
  const auto fast =
      figure<BytesPerSec<N>>(rec, "W_in", cluster.accelerator.link, cluster.accelerator.scale_up_bandwidth);
  const auto slow = figure<BytesPerSec<N>>(rec, "W_out", "NIC", cluster.nic_per_gpu);
  return rec.apply(all_to_all_time, item, bytes, in.ep, near, fast, slow);
}

template <Recorder R>
void expert_traffic(R& rec, const Inputs<typename R::Num>& in, const Problem& problem, const Plan& plan,
                    Tokens<typename R::Num> tokens, Count<typename R::Num> layers, Count<typename R::Num> m,
                    Count<typename R::Num> again_share, CommCost<typename R::Num>& out) {
  using N = typename R::Num;
  const auto load = expert_load(rec, problem.recipe, plan);
  Count<N> n =
      rec.template in<Count<N>>({"n_fb", "all-to-alls of a layer and micro-batch, forward and backward",
                                 "dispatch and combine in each"},
                                4);
  if (recomputes_layers(plan))
    n = rec.item({"comm.ep_collectives", "n_a2a", "all-to-alls of a layer and micro-batch"},
                 n + 2.0 * again_share);
  if (plan.ep > 1) {
    const auto rows = rec.apply(routed_rows, {"comm.ep_rows", "R_s", "token copies that a rank sends"},
                                tokens, in.top_k, load, Count<N>{N(1.0)}, in.tp);
    out.expert_all_to_all.bytes = rec.apply(expert_all_to_all_bytes, {"comm.ep", "V_ep", "expert parallel"},
                                            n, rows, in.hidden, in.element, in.ep, layers, m);
    out.expert_all_to_all.seconds = all_to_all_seconds(rec, in, problem, plan, out.expert_all_to_all.bytes);
  }
  if (plan.etp > 1) {
    const auto rows =
        rec.apply(routed_rows, {"comm.etp_rows", "R_x", "token copies that the experts of a rank take in"},
                  tokens, in.top_k, load, in.etp, in.tp);
    out.expert_tensor.bytes = rec.apply(expert_gather_bytes, {"comm.etp", "V_etp", "expert tensor parallel"},
                                        n, rows, in.hidden, in.element, in.etp, layers, m);
    out.expert_tensor.seconds =
        rec.apply(transfer_time, {"comm.etp_time", "t_etp", "expert tensor parallel at link rate"},
                  out.expert_tensor.bytes, rate(rec, problem, group_of(plan, Axis::Etp), "W_etp"));
  }
}

/// The gradient of a table that the first and the last stage both hold, once a step.
template <Recorder R>
Bytes<typename R::Num> tied_bytes(R& rec, const Item& item, const Problem& problem,
                                  Params<typename R::Num> table) {
  using N = typename R::Num;
  const auto width = rec.template in<BytesPerParam<N>>({"w_g", "bytes of a gradient", "run /gradient_dtype"},
                                                       bytes_of(problem.recipe.gradient));
  const auto two = rec.template in<Count<N>>({"n_2", "first and last stage", "tied tables"}, 2);
  return rec.apply(all_reduce_bytes, item, parameter_bytes(table, width), two);
}

template <Recorder R>
void tied_traffic(R& rec, const Problem& problem, const Plan& plan, int stage, Params<typename R::Num> table,
                  CommCost<typename R::Num>& out) {
  if (!problem.model().tied || !tables_apart(plan) || (stage != 0 && stage != plan.pp - 1)) return;
  out.tied.bytes = tied_bytes(rec, {"comm.tied", "V_tied", "gradient of the tied table"}, problem, table);
  out.tied.seconds = rec.apply(transfer_time, {"comm.tied_time", "t_tied", "tied table at link rate"},
                               out.tied.bytes, rate(rec, problem, group_of(plan, Axis::Pp), "W_pp"));
}

/// Ranks that shard inside groups take those for all data-parallel ranks.
constexpr Axis axis_of(const Plan& plan, Group group, ParamClass params) {
  const bool experts = params == ParamClass::Experts;
  switch (group) {
    case Group::None:
    case Group::DataParallel:
      if (plan.shard < std::int64_t{plan.dp} * plan.cp) return experts ? Axis::ExpertShard : Axis::Shard;
      return experts ? Axis::ExpertDp : Axis::DpCp;
    case Group::Shard: return experts ? Axis::ExpertShard : Axis::Shard;
    case Group::Replicate: return Axis::Replicate;
  }
  return Axis::DpCp;
}

/// A row of data-parallel traffic; reached: seconds at the rate that its collectives reach, with their hops.
template <class N>
struct DataTraffic : Traffic<N> {
  Seconds<N> reached;
};

/// One row of the profile for one class of parameters: bytes a step and seconds, as items comm.dp.<row id>,
/// of experts with .experts behind it. Each layer is a collective of its own.
template <Recorder R>
DataTraffic<typename R::Num> data_row(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                      const Plan& plan, const CommRow& row, ParamClass kind,
                                      Params<typename R::Num> params, Count<typename R::Num> layers,
                                      Count<typename R::Num> m) {
  using N = typename R::Num;
  const bool low = (problem.profile().low_gathers || problem.recipe.low_weights) &&
                   problem.recipe.matmul != Matmul::Wide && row.collective == Collective::AllGather;
  auto width = width_leaf(rec, problem, "w", row);
  if (low)
    width = width * rec.template in<Count<N>>({"f_low", "8 bits over 16", "run /matmul_precision"}, 0.5);
  const Params<N> share = row.group == Group::Replicate ? params / ways(in, Group::Shard, kind) : params;
  const Bytes<N> payload = parameter_bytes(share, width);
  const Count<N> n = ways(in, row.group, kind);
  const Bytes<N> once = row.collective == Collective::AllReduce ? all_reduce_bytes(payload, n)
                                                                : shard_exchange_bytes(payload, n);
  const Bytes<N> bytes = row.times == Times::PerMicroBatch ? once * m : once;
  const GroupShape group = group_of(plan, axis_of(plan, row.group, kind));
  const auto w = rate(rec, problem, group, "W_dp");
  const auto link = reached_link(rec, problem, group);
  const Count<N> rounds = row.times == Times::PerMicroBatch ? layers * m : layers;
  const Seconds<N> hops = rounds * ((n - 1.0) * link.hop);
  if constexpr (R::traced) {
    const bool experts = kind == ParamClass::Experts;
    const std::string id = "comm.dp." + row.id + (experts ? ".experts" : ""), time_id = id + "_time",
                      symbol = row.symbol + (experts ? "_e" : ""), time_symbol = "t_" + symbol,
                      title = row.title + (experts ? ", routed experts" : "");
    const std::string_view source = row.collective == Collective::AllReduce
                                        ? all_reduce_bytes.source.where
                                        : shard_exchange_bytes.source.where;
    const Bytes<N> named = rec.item({id, symbol, title, Source{"nccl-perf", source}, Unit::Traffic}, bytes);
    const auto seconds = rec.apply(transfer_time, {time_id, time_symbol, title}, named, w);
    const std::string reached_id = id + "_reached", reached_symbol = "t_" + symbol + "_r";
    return {{named, seconds},
            rec.item({reached_id, reached_symbol, title + ", at the rate that is reached"},
                     named / link.rate + hops)};
  } else {
    return {{bytes, transfer_time(bytes, w)}, bytes / link.rate + hops};
  }
}

template <Recorder R>
void data_traffic(R& rec, const Inputs<typename R::Num>& in, const Problem& problem, const Plan& plan,
                  const ParamsCost<typename R::Num>& params, Count<typename R::Num> m,
                  CommCost<typename R::Num>& out) {
  using N = typename R::Num;
  Sum<Bytes<N>> bytes;
  Sum<Seconds<N>> seconds;
  std::array<Sum<Seconds<N>>, 4> behind;
  const auto add = [&](const CommRow& row, ParamClass kind, Params<N> held) {
    if (group_of(plan, axis_of(plan, row.group, kind)).size == 1) return;
    const auto t = data_row(rec, in, problem, plan, row, kind, held, params.blocks, m);
    bytes.add(t.bytes);
    seconds.add(t.seconds);
    behind[static_cast<std::size_t>(row.hides)].add(t.reached);
  };
  for (const CommRow& row : problem.profile().rows(plan.sharding)->traffic) {
    if (!applies(row.when, problem.recipe, plan)) continue;
    add(row, ParamClass::Dense, params.stage_dense);
    if (problem.model().is_sparse()) add(row, ParamClass::Experts, params.stage_experts);
  }
  for (std::size_t i = 0; i < behind.size(); ++i) {
    out.data_behind[i] = behind[i].total();
    out.used[i] = !behind[i].empty();
  }
  out.data.bytes = rec.item({"comm.dp", "V_dp", "data parallel", {}, Unit::Traffic}, bytes.total());
  out.data.seconds = rec.item({"comm.dp_time", "t_dp", "data parallel at link rate"}, seconds.total());
}

}  // namespace detail

/// again_share: share of the stage's layers whose forward pass, with its collectives, runs twice.
template <Recorder R>
CommCost<typename R::Num> comm_cost(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                    const Plan& plan, int stage, const ParamsCost<typename R::Num>& params,
                                    Tokens<typename R::Num> tokens, Count<typename R::Num> m,
                                    Count<typename R::Num> again_share) {
  using N = typename R::Num;
  CommCost<N> out;
  const auto message =
      rec.apply(layer_message_bytes, {"comm.message", "S", "hidden states of one micro-batch"}, tokens,
                in.hidden, in.element);
  // Routed experts take the tokens of each tp rank, so only shared experts gather the sequence once more.
  const bool sparse = problem.model().is_sparse();
  const auto gathering =
      sparse && problem.model().experts.shared_width == 0
          ? rec.item({"comm.tp_layers", "L_tp", "layers in units of 8 gathers and scatters"},
                     params.blocks - params.sparse_blocks / 2.0)
          : params.blocks;
  detail::tensor_traffic(rec, in, problem, plan, message, gathering, m, again_share, out);
  detail::context_traffic(rec, in, problem, plan, tokens, params.blocks, m, again_share, out);
  if (sparse)
    detail::expert_traffic(rec, in, problem, plan, tokens, params.sparse_blocks, m, again_share, out);
  detail::pipeline_traffic(rec, in, problem, plan, stage, message, m, out);
  detail::tied_traffic(rec, problem, plan, stage, params.table, out);
  detail::data_traffic(rec, in, problem, plan, params, m, out);
  return out;
}

using CommFormulas =
    Chapter<all_reduce_bytes, shard_exchange_bytes, transfer_time, layer_message_bytes, tensor_parallel_bytes,
            pipeline_bytes, context_ring_bytes, context_all_to_all_bytes, parameter_bytes, zero_elements,
            hsdp_elements, fsdp_step_bytes, link_ratio>;

}  // namespace trainplan
