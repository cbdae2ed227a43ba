/// Communication of one layer and micro-batch that the kernels of the layer do not hide.
#pragma once

#include <array>

#include "trainplan/cost/comm.hpp"
#include "trainplan/cost/layer_work.hpp"
#include "trainplan/cost/links.hpp"

namespace trainplan {

inline constexpr Formula exposed_share{
    "exposed_share", "communication that overlap does not hide",
    Source{"identity", "time x (1 - hidden share)"},
    std::array{Arg{"time", "t", "time at link rate"}, Arg{"hidden", "f_hide", "hidden share", 0, 1}},
    []<class N>(Seconds<N> time, Count<N> hidden) { return time * (1.0 - hidden); }};

inline constexpr Formula exposed_window{
    "exposed_window", "communication that does not fit behind the work of a window",
    Source{"rule-of-thumb", "the first gather or the last bucket always shows"},
    std::array{Arg{"time", "t", "time at link rate"}, Arg{"window", "t_win", "work to hide behind"},
               Arg{"pieces", "n_piece", "pieces that the collective is cut into", 1}},
    []<class N>(Seconds<N> time, Seconds<N> window, Count<N> pieces) {
      return max(time / pieces, positive(time - window));
    }};

inline constexpr Formula deduplicated_copies{
    "deduplicated_copies", "ranks that the experts of one token lie on, on average",
    Source{"deepep-2025", "one copy to each rank or node, whatever number of its experts a token visits"},
    std::array{Arg{"ranks", "n", "ranks or nodes", 1},
               Arg{"top_k", "k_top", "experts that a token visits", 1}},
    []<class N>(Count<N> n, Count<N> k) { return n * (1.0 - pow(1.0 - 1.0 / n, k)); }};

/// Exposed time of a layer: tensor and context parallel of every layer, expert parallel of those with
/// experts.
template <class N>
struct LayerTraffic {
  Passes<N> tensor, tensor_sparse;  // a layer without shared experts gathers only for its attention
  Passes<N> context, experts;
};

namespace detail {

/// Of the link rate that other collectives reach, in an all-to-all (0.60 against 0.74, SimuMax on B200).
inline constexpr double kAllToAllShare = 0.8;

/// Switches that add up make an all-reduce of five ranks and more this much faster than a ring (480 against
/// 365 GB/s on H200, 838 against 682 on B200, nccl-tests).
inline constexpr double kInSwitch = 1.3;

/// Without sequence parallelism a gather and a scatter are one all-reduce, which the switches may add up.
inline double switch_gain(const Problem& problem, const Plan& plan) {
  const bool inside = link_of(problem.cluster(), group_of(plan, Axis::Tp)) == Link::ScaleUp;
  return problem.cluster().accelerator.in_switch_reduction && !plan.sequence_parallel && plan.tp >= 5 &&
                 inside
             ? kInSwitch
             : 1;
}

/// One gather or scatter of the hidden states of a layer.
template <Recorder R>
Seconds<typename R::Num> tensor_collective(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                           const Plan& plan, Tokens<typename R::Num> tokens) {
  const auto link = reached_link(rec, problem, group_of(plan, Axis::Tp));
  return rec.apply(collective_time, {"traffic.tp", "t_c", "one gather or scatter of hidden states"},
                   shard_exchange_bytes(layer_message_bytes(tokens, in.hidden, in.element), in.tp),
                   link.rate * rec.template in<Count<typename R::Num>>(
                                   {"f_nvls", "gain of switches that add up", "accelerator /scale_up"},
                                   switch_gain(problem, plan)),
                   in.tp, link.hop);
}

template <Recorder R>
void tensor_exposed(R& rec, const Inputs<typename R::Num>& in, const Problem& problem, const Plan& plan,
                    Tokens<typename R::Num> tokens, LayerTraffic<typename R::Num>& out) {
  using N = typename R::Num;
  if (plan.tp == 1) return;
  const bool overlapped = problem.recipe.tp_overlap && plan.sequence_parallel;
  constexpr std::string_view kHidden = "share of tensor-parallel traffic that overlap hides";
  const auto hidden =
      overlapped ? figure<Count<N>>(rec, "f_hide", kHidden, problem.calibration().time.tp_overlap_hidden)
                 : rec.template in<Count<N>>({"f_hide", kHidden, "run /tp_overlap"}, 0);
  const auto one = rec.apply(exposed_share, {"traffic.tp_exposed", "t_c_x", "what shows of it"},
                             tensor_collective(rec, in, problem, plan, tokens), hidden);
  // Saved inputs are gathered once more for the gradients of the weights.
  const double again = plan.sequence_parallel ? 2 : 0;
  out.tensor = {4.0 * one, (4.0 + again) * one};
  out.tensor_sparse =
      problem.model().experts.shared_width > 0 ? out.tensor : Passes<N>{2.0 * one, (2.0 + again / 2) * one};
}

template <Recorder R>
Passes<typename R::Num> context_exposed(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                        const Plan& plan, Tokens<typename R::Num> tokens,
                                        const LayerWork<typename R::Num>& work) {
  using N = typename R::Num;
  if (plan.cp == 1) return {};
  const ModelSpec& m = problem.model();
  const bool ring = problem.recipe.cp_mode != CpMode::AllToAll;  // a gather moves what a ring does
  const auto kv = m.is_latent() ? (in.latent_query + in.latent_value) / 2.0 : in.kv;
  const auto ways = key_value_ways(in, m, plan);
  const Count<N> one = rec.template in<Count<N>>({"1", "one layer", "layer"}, 1);
  const auto bytes =
      ring ? context_ring_bytes(in.cp, tokens, kv, ways, in.element, one, one)
           : context_all_to_all_bytes(in.cp, tokens, score_width(in, m), kv, in.tp, in.element, one, one);
  const auto link = reached_link(rec, problem, group_of(plan, Axis::Cp));
  const auto all = rec.apply(collective_time, {"traffic.cp", "t_cp_l", "context parallel traffic of a layer"},
                             bytes, link.rate, in.cp, link.hop);
  const Item f{"traffic.cp_forward", "t_cp_f", "context parallel, forward, what shows"},
      b{"traffic.cp_backward", "t_cp_b", "context parallel, backward, what shows"};
  if (!ring) return {rec.item(f, all / 2.0), rec.item(b, all / 2.0)};
  if (problem.recipe.cp_mode == CpMode::AllGather)
    return {rec.item(f, all / 3.0), rec.item(b, all * 2.0 / 3.0)};
  return {rec.apply(exposed_window, f, all / 3.0, work.attention.forward, in.cp),
          rec.apply(exposed_window, b, all * 2.0 / 3.0, work.attention.backward, in.cp)};
}

/// One dispatch or combine: inside the scale-up domain, and between domains where experts lie in several.
template <Recorder R>
Seconds<typename R::Num> expert_exchange(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                         const Plan& plan, Tokens<typename R::Num> tokens) {
  using N = typename R::Num;
  const ClusterSpec& cluster = problem.cluster();
  const GroupShape g = group_of(plan, Axis::Ep);
  const bool fused = problem.recipe.dispatcher != Dispatcher::AllToAll;
  const auto inside = rec.template in<Count<N>>(
      {"n_in", "ranks of the group in one scale-up domain", "cluster /scale_up_domain"},
      static_cast<double>(members_inside(g, cluster.scale_up_domain)));
  const auto share = rec.template in<Count<N>>(
      {"f_a2a", "rate of an all-to-all over that of other collectives", "links"}, kAllToAllShare);
  const auto copy =
      layer_message_bytes(tokens * expert_load(rec, problem.recipe, plan) / in.tp, in.hidden, in.element);
  const Item item{"traffic.ep", "t_a2a", "one dispatch or combine"};
  const bool one_tier = link_of(cluster, g) != Link::Nic || value_of(inside) == 1;
  const auto copies =
      fused ? rec.apply(deduplicated_copies, {"traffic.ep_copies", "n_copy", ""}, in.ep, in.top_k) : in.top_k;
  if (one_tier) {
    const auto link = reached_link(rec, problem, g);
    return rec.apply(collective_time, item, shard_exchange_bytes(copy * copies, in.ep), link.rate * share,
                     in.ep, link.hop);
  }
  const auto near =
      reached_link(rec, problem, GroupShape{members_inside(g, cluster.scale_up_domain), g.stride});
  const auto nic =
      figure<BytesPerSec<N>>(rec, "W_nic", "NIC", cluster.nic_per_gpu) *
      figure<Count<N>>(rec, "e_nic", "share of a NIC that is reached", problem.calibration().time.nic_rate);
  const auto domains = in.ep / inside;
  const auto hops = (in.ep - 1.0) * near.hop;
  if (!fused)  // rows to the ranks of the domain, then those to all others
    return rec.item(item, copy * copies * ((inside - 1.0) / in.ep) / (near.rate * share) +
                              copy * copies * ((in.ep - inside) / in.ep) / nic + hops);
  const auto far = rec.apply(
      deduplicated_copies, {"traffic.ep_domains", "n_dom", "domains that a token visits"}, domains, in.top_k);
  return rec.item(item, max(copy * copies * ((in.ep - 1.0) / in.ep) / (near.rate * share),
                            copy * far * ((domains - 1.0) / domains) / nic) +
                            hops);
}

template <Recorder R>
Passes<typename R::Num> experts_exposed(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                        const Plan& plan, Tokens<typename R::Num> tokens) {
  using N = typename R::Num;
  Seconds<N> each{};
  if (plan.ep > 1) each = expert_exchange(rec, in, problem, plan, tokens);
  if (plan.etp > 1) {
    const auto link = reached_link(rec, problem, group_of(plan, Axis::Etp));
    const auto rows = routed_rows(tokens, in.top_k, expert_load(rec, problem.recipe, plan), in.etp, in.tp);
    each =
        each + rec.apply(collective_time, {"traffic.etp", "t_etp_l", "one gather or scatter of expert rows"},
                         shard_exchange_bytes(layer_message_bytes(rows, in.hidden, in.element), in.etp),
                         link.rate, in.etp, link.hop);
  }
  constexpr std::string_view kHidden = "share of expert traffic that overlap hides";
  const auto hidden =
      problem.recipe.ep_overlap
          ? figure<Count<N>>(rec, "f_ep", kHidden, problem.calibration().time.ep_overlap_hidden)
          : rec.template in<Count<N>>({"f_ep", kHidden, "run /ep_overlap"}, 0);
  const auto shown =
      rec.apply(exposed_share, {"traffic.ep_exposed", "t_ep_x", "what shows of dispatch or combine"},
                1.0 * each, hidden);
  return {2.0 * shown, 2.0 * shown};
}

}  // namespace detail

template <Recorder R>
LayerTraffic<typename R::Num> layer_traffic(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                            const Plan& plan, Tokens<typename R::Num> tokens,
                                            const LayerWork<typename R::Num>& work) {
  LayerTraffic<typename R::Num> out;
  detail::tensor_exposed(rec, in, problem, plan, tokens, out);
  out.context = detail::context_exposed(rec, in, problem, plan, tokens, work);
  if (problem.model().is_sparse()) out.experts = detail::experts_exposed(rec, in, problem, plan, tokens);
  return out;
}

using LayerTrafficFormulas = Chapter<exposed_share, exposed_window, deduplicated_copies>;

}  // namespace trainplan
