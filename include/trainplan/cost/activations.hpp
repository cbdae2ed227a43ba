/// Activations of a stage: what a layer saves, times the micro-batches in flight, and what recompute
/// rebuilds.
#pragma once

#include "trainplan/cost/params.hpp"
#include "trainplan/cost/saved.hpp"
#include "trainplan/cost/schedule.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula tokens_per_gpu{
    "tokens_per_gpu", "tokens of one micro-batch on one GPU",
    Source{"ring-attention-2023", "context parallelism cuts the sequence"},
    std::array{Arg{"b", "b", "micro-batch in sequences"}, Arg{"s", "s", "sequence length"},
               Arg{"c", "c", "context parallel degree", 1}},
    []<class N>(Count<N> b, Tokens<N> s, Count<N> c) { return b * s / c; }};

inline constexpr Formula in_flight_gpipe{
    "in_flight_gpipe", "micro-batches in flight on a stage, GPipe", Source{"gpipe-2019", "all of a step"},
    std::array{Arg{"m", "m", "micro-batches of a step"}}, []<class N>(Count<N> m) { return 1.0 * m; }};

inline constexpr Formula in_flight_1f1b{
    "in_flight_1f1b", "micro-batches in flight on a stage, 1F1B", Source{"pipedream-2021", "1F1B"},
    std::array{Arg{"p", "p", "stages"}, Arg{"stage", "i", "stage, from 0"},
               Arg{"m", "m", "micro-batches of a step"}},
    []<class N>(Count<N> p, Count<N> stage, Count<N> m) { return min(p - stage, m); }};

inline constexpr Formula in_flight_interleaved{
    "in_flight_interleaved", "micro-batches in flight on a stage, interleaved 1F1B",
    Source{"megatron-2021", "warm-up 2 (p - 1 - i) + (v - 1) p chunks, then one forward"},
    std::array{Arg{"p", "p", "stages"}, Arg{"v", "v", "virtual stages per rank", 1},
               Arg{"stage", "i", "stage, from 0"}, Arg{"m", "m", "micro-batches of a step"}},
    []<class N>(Count<N> p, Count<N> v, Count<N> stage, Count<N> m) {
      return min(2.0 * (p - 1.0 - stage) + (v - 1.0) * p + 1.0, v * m) / v;
    }};

inline constexpr Formula in_flight_rounds{
    "in_flight_rounds", "micro-batches in flight on a stage, interleaved in rounds of N",
    Source{"korthikanti-2022", "warm-up of 2 (p - 1 - i) + (v - 1) N chunks, then one forward"},
    std::array{Arg{"p", "p", "stages"}, Arg{"v", "v", "virtual stages per rank", 1},
               Arg{"stage", "i", "stage, from 0"}, Arg{"m", "m", "micro-batches of a step"},
               Arg{"group", "N", "micro-batches of a round", 1}},
    []<class N>(Count<N> p, Count<N> v, Count<N> stage, Count<N> m, Count<N> group) {
      return min(2.0 * (p - 1.0 - stage) + (v - 1.0) * group + 1.0, v * m) / v;
    }};

inline constexpr Formula in_flight_interleaved_zb{
    "in_flight_interleaved_zb",
    "micro-batches in flight on every stage, interleaved with weight gradients put off",
    Source{"zero-bubble-2024",
           "as ZB-H1: what the warm-up loses from stage to stage, owed weight gradients keep"},
    std::array{Arg{"p", "p", "stages"}, Arg{"v", "v", "virtual stages per rank", 1},
               Arg{"m", "m", "micro-batches of a step"}, Arg{"group", "N", "micro-batches of a round", 1}},
    []<class N>(Count<N> p, Count<N> v, Count<N> m, Count<N> group) {
      return min(p + (v - 1.0) * group, v * m) / v;
    }};

inline constexpr Formula in_flight_zbv{
    "in_flight_zbv", "micro-batches in flight on every stage, zero-bubble V",
    Source{"zero-bubble-2024", "section 6: as 1F1B on its first stage"},
    std::array{Arg{"p", "p", "stages"}, Arg{"m", "m", "micro-batches of a step"}},
    []<class N>(Count<N> p, Count<N> m) { return min(p, m); }};

inline constexpr Formula in_flight_dualpipev{
    "in_flight_dualpipev", "micro-batches in flight on every stage, DualPipeV",
    Source{"deepseek-v3-2024", "table 2: PP + 1 chunks, of 2p positions"},
    std::array{Arg{"p", "p", "stages"}, Arg{"m", "m", "micro-batches of a step"}},
    []<class N>(Count<N> p, Count<N> m) { return min(p + 0.5, m); }};

inline constexpr Formula saved_activations{
    "saved_activations", "activations in flight on one GPU",
    Source{"korthikanti-2022", "section 4.2: layers x micro-batches in flight"},
    std::array{
        Arg{"in_flight", "n_fly", "micro-batches in flight"}, Arg{"layers", "L_s", "layers of the stage"},
        Arg{"recomputed", "k", "layers that are recomputed"}, Arg{"full", "A", "bytes that a layer saves"},
        Arg{"kept", "A_k", "bytes that a recomputed layer keeps"}},
    []<class N>(Count<N> fly, Count<N> layers, Count<N> recomputed, Bytes<N> full, Bytes<N> kept) {
      return fly * ((layers - recomputed) * full + recomputed * kept);
    }};

inline constexpr Formula offloaded_activations{
    "offloaded_activations", "saved activations of one GPU that wait in host memory",
    Source{"megatron-lm", "--cpu-offloading-num-layers: all that those layers save"},
    std::array{Arg{"in_flight", "n_fly", "micro-batches in flight"},
               Arg{"layers", "k_off", "layers of the stage that are offloaded"},
               Arg{"saved", "A_off", "bytes that such a layer saves"}},
    []<class N>(Count<N> fly, Count<N> layers, Bytes<N> saved) { return fly * layers * saved; }};

/// layer: mean layer of the stage and micro-batch, as it is saved. running: all tensors of the largest layer.
/// rebuilt: those that recompute brings back for the layer that runs backward. kept: what remains of a layer
/// that is recomputed as a whole; recomputed: such layers of the stage. left: saved while the embedding runs
/// backward, when one micro-batch is done. offloaded: on the host, and the part of
/// one micro-batch. rows: token copies that the experts of this rank take in.
template <class N>
struct ActivationCost {
  Tokens<N> tokens;
  Count<N> micro_batches, in_flight, recomputed;
  Bytes<N> layer, running, kept, saved, left, rebuilt{}, sparse_layer{};
  Bytes<N> offloaded{}, offloaded_micro_batch{};
  Tokens<N> rows{};
};

namespace detail {

template <class N>
struct StageActivations {
  Bytes<N> mean, last, running, rebuilt{}, sparse{};
  Tokens<N> rows{};
};

/// The larger of both kinds of layers, where a stage holds both.
template <class N>
Bytes<N> larger(LayerMix mix, const Sum<Bytes<N>>& dense, const Sum<Bytes<N>>& sparse) {
  if (mix.dense && mix.sparse) return max(dense.total(), sparse.total());
  return mix.sparse ? sparse.total() : dense.total();
}

/// What recompute rebuilds of one layer: what selective recompute drops, or all but the layer's input.
template <Recorder R>
Bytes<typename R::Num> rebuilt_activations(R& rec, const Plan& plan, LayerMix mix,
                                           const LayerTotals<typename R::Num>& t) {
  const Item item{"activations.rebuilt", "A_re", "rebuilt for the layer that runs backward"};
  if (recomputes_layers(plan)) return rec.item(item, larger(mix, t.dense.behind, t.sparse.behind));
  if (t.dense.dropped.empty() && t.sparse.dropped.empty()) return {};
  return rec.item(item, larger(mix, t.dense.dropped, t.sparse.dropped));
}

template <Recorder R>
StageActivations<typename R::Num> layer_activations(R& rec, const ModelSpec& m, const Plan& plan,
                                                    const ParamsCost<typename R::Num>& params,
                                                    const LayerTotals<typename R::Num>& t) {
  const LayerMix mix = params.mix;
  StageActivations<typename R::Num> out;
  out.rows = t.rows;
  if (mix.dense && mix.sparse) {
    const auto d =
        rec.item({"activations.dense_layer", "A_d", "activations of one dense layer"}, t.dense.saved.total());
    const auto e = rec.item({"activations.sparse_layer", "A_s", "activations of one sparse layer"},
                            t.sparse.saved.total());
    out.mean = rec.item(
        {"activations.layer", "A", "activations of the mean layer of the stage and micro-batch"},
        ((params.stage_layers - params.stage_sparse) * d + params.stage_sparse * e) / params.stage_layers);
    out.last = m.kind(m.layers - 1).sparse ? e : d;
    out.sparse = e;
  } else {
    out.last = out.mean = rec.item({"activations.layer", "A", "activations of one layer and micro-batch"},
                                   (mix.sparse ? t.sparse : t.dense).saved.total());
  }
  if (mix.sparse && !mix.dense) out.sparse = out.mean;
  out.running = larger(mix, t.dense.all, t.sparse.all);
  out.rebuilt = rebuilt_activations(rec, plan, mix, t);
  return out;
}

template <Recorder R>
Count<typename R::Num> group_leaf(R& rec, std::int64_t group) {
  return rec.template in<Count<typename R::Num>>({"N", "micro-batches of a group", "plan schedule"},
                                                 static_cast<double>(group));
}

template <Recorder R>
Count<typename R::Num> in_flight(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                 const Plan& plan, int stage, Count<typename R::Num> m) {
  using N = typename R::Num;
  const Item item{"activations.in_flight", "n_fly", "micro-batches in flight on this stage"};
  const Count<N> i = rec.template in<Count<N>>({"i", "stage, from 0", "stage"}, stage);
  switch (plan.schedule) {
    case Schedule::GPipe: return rec.apply(in_flight_gpipe, item, m);
    case Schedule::OneFOneB: return rec.apply(in_flight_1f1b, item, in.pp, i, m);
    case Schedule::Interleaved: {
      const auto group = group_size(problem, plan);
      if (group == plan.pp) return rec.apply(in_flight_interleaved, item, in.pp, in.vpp, i, m);
      return rec.apply(in_flight_rounds, item, in.pp, in.vpp, i, m, group_leaf(rec, group));
    }
    case Schedule::LoopedBfs: return rec.apply(in_flight_gpipe, item, m);
    case Schedule::InterleavedZb:
      return rec.apply(in_flight_interleaved_zb, item, in.pp, in.vpp, m,
                       group_leaf(rec, group_size(problem, plan)));
    case Schedule::ZbV: return rec.apply(in_flight_zbv, item, in.pp, m);
    case Schedule::DualPipeV: return rec.apply(in_flight_dualpipev, item, in.pp, m);
  }
  return m;
}

/// Layers of the stage, with its blocks for further tokens, that are recomputed as a whole.
template <Recorder R>
Count<typename R::Num> recomputed_layers(R& rec, const Plan& plan,
                                         const ParamsCost<typename R::Num>& params) {
  if (plan.recompute == Recompute::Full) return params.blocks;
  const double k = plan.recompute == Recompute::Layers ? plan.recompute_layers : 0;
  return min(rec.template in<Count<typename R::Num>>(
                 {"k", "layers of a stage that are recomputed", "plan /recompute_layers"}, k),
             params.blocks);
}

/// One more layer for each further token, of one micro-batch, with the two normed inputs that it joins.
template <Recorder R>
Bytes<typename R::Num> further_activations(R& rec, const Inputs<typename R::Num>& in, const Plan& plan,
                                           const ActivationCost<typename R::Num>& act,
                                           Bytes<typename R::Num> last) {
  const auto joined = rec.apply(
      activation_tensor, {"activations.mtp_inputs", "A_mtp", "inputs that a block for a further token joins"},
      act.tokens, 4.0 * in.hidden, in.element, hidden_ways(in, plan));
  return rec.item({"memory.activations_mtp", "M_act_mtp", "activations of the blocks for further tokens"},
                  in.mtp_layers * ((plan.recompute == Recompute::Full ? act.kept : last) + joined));
}

/// Layers that the GPU holds of those on the host: one on its way there or back, one at work.
inline constexpr double kLayersUnderWay = 2;

/// Moves what the offloaded layers save to the host.
template <Recorder R>
void offload_saved(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                   ActivationCost<typename R::Num>& out) {
  using N = typename R::Num;
  const double k = static_cast<double>(problem.recipe.offload.layers);
  const auto layers = rec.template in<Count<N>>(
      {"k_off", "layers of a stage with activations on the host", "run /offload_layers"}, k);
  const auto of_layer = problem.profile().host.layers == LayerOffload::Kept ? out.kept : out.layer;
  out.offloaded =
      rec.apply(offloaded_activations, {"host.activations", "H_act", "activations that wait in host memory"},
                out.in_flight, layers, of_layer);
  out.offloaded_micro_batch =
      rec.item({"host.activations_micro_batch", "V_act", "activations of a micro-batch that are copied"},
               layers * of_layer);
  const auto under_way =
      rec.item({"memory.activations_under_way", "M_act_way", "offloaded layers under way or at work"},
               min(layers, Count<N>{N(kLayersUnderWay)}) * of_layer);
  out.saved = rec.item({"memory.activations", "M_act", "activations in flight on the GPU"},
                       out.saved - out.offloaded + under_way);
  out.left = rec.item(
      {"memory.activations_left", "M_act_1", "activations in flight on the GPU, less a finished micro-batch"},
      out.left - (out.in_flight - 1.0 / in.vpp) * layers * of_layer);
}

/// Activations in flight, and what is left of them when the first micro-batch is done.
template <Recorder R>
void add_saved(R& rec, const Inputs<typename R::Num>& in, const Problem& problem, const Plan& plan, int stage,
               const ParamsCost<typename R::Num>& params, Bytes<typename R::Num> last,
               ActivationCost<typename R::Num>& out) {
  const bool further = stage == head_stage(plan) && problem.recipe.mtp_layers > 0;
  const auto again = plan.recompute == Recompute::Full ? params.stage_layers
                     : further                         ? min(out.recomputed, params.stage_layers)
                                                       : out.recomputed;
  const bool offloads = problem.recipe.offload.layers > 0;
  const Item all = offloads ? Item{"memory.activations_all", "M_act_all", "activations in flight, all"}
                            : Item{"memory.activations", "M_act", "activations in flight"},
             left = offloads ? Item{"memory.activations_left_all", "M_act_1_all",
                                    "activations in flight, all, less a finished micro-batch"}
                             : Item{"memory.activations_left", "M_act_1",
                                    "activations in flight, less a finished micro-batch"};
  const Item layers{"memory.activations_layers", "M_act_l", "activations in flight of the layers"};
  const auto saved = rec.apply(saved_activations, further ? layers : all, out.in_flight, params.stage_layers,
                               again, out.layer, out.kept);
  out.saved = further ? rec.item(all, saved + further_activations(rec, in, plan, out, last)) : saved;
  out.left = rec.apply(saved_activations, left, out.in_flight - 1.0 / in.vpp, params.stage_layers, again,
                       out.layer, out.kept);
  if (offloads) offload_saved(rec, in, problem, out);
}

}  // namespace detail

/// totals: of the tensors of a layer, shared by the stages of the plan.
template <Recorder R>
ActivationCost<typename R::Num> activation_cost(R& rec, const Inputs<typename R::Num>& in,
                                                const Problem& problem, const Plan& plan, int stage,
                                                const ParamsCost<typename R::Num>& params,
                                                OfMix<detail::LayerTotals<typename R::Num>>& totals) {
  using N = typename R::Num;
  ActivationCost<N> out;
  out.tokens = rec.apply(tokens_per_gpu, {"activations.tokens", "T", ""}, in.micro_batch, in.sequence, in.cp);
  out.micro_batches =
      rec.apply(micro_batches_per_step, {"schedule.micro_batches", "m", "micro-batches of a step"}, in.batch,
                in.dp, in.micro_batch);
  out.in_flight = detail::in_flight(rec, in, problem, plan, stage, out.micro_batches);
  const auto& tensors = totals(
      params.mix, [&] { return detail::layer_totals(rec, in, problem, plan, params.mix, out.tokens); });
  const auto layer = detail::layer_activations(rec, problem.model(), plan, params, tensors);
  out.layer = layer.mean;
  out.running = layer.running;
  out.rebuilt = layer.rebuilt;
  out.rows = layer.rows;
  out.sparse_layer = layer.sparse;
  out.kept = rec.apply(activation_tensor, {"activations.kept", "A_k", "input that a recomputed layer keeps"},
                       out.tokens, in.hidden, in.element, hidden_ways(in, plan));
  out.recomputed = detail::recomputed_layers(rec, plan, params);
  detail::add_saved(rec, in, problem, plan, stage, params, layer.last, out);
  return out;
}

using ActivationFormulas =
    Chapter<tokens_per_gpu, activation_tensor, attention_matrix, in_flight_gpipe, in_flight_1f1b,
            in_flight_interleaved, in_flight_rounds, in_flight_interleaved_zb, in_flight_zbv,
            in_flight_dualpipev, saved_activations, offloaded_activations>;

}  // namespace trainplan
