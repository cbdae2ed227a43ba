/// What a measured step makes of the peak: MFU and HFU under both conventions, without a plan.
#pragma once

#include <optional>
#include <string>

#include "trainplan/cost/compute.hpp"
#include "trainplan/cost/diagnosis.hpp"
#include "trainplan/cost/model_params.hpp"
#include "trainplan/cost/money.hpp"

namespace trainplan {

/// Exactly one of step (seconds) and rate (tokens per second of the whole cluster) is known; origin says who
/// gave it. peak: in place of the cluster's.
struct MfuQuestion {
  std::optional<double> step{}, rate{}, peak{};  // braces: may be left out of an initialiser
  std::string origin{};
};

/// Under one convention. selective: core attention runs again; full: every layer does.
template <class N>
struct Utilisation {
  FlopsPerToken<N> flops;
  Seconds<N> ideal;
  Count<N> mfu, selective, full;
  FlopsPerSec<N> achieved;
};

template <class N>
struct MfuCost {
  Utilisation<N> causal, whole;
  Tokens<N> tokens;
  Seconds<N> step, good_step;
  TokensPerSec<N> rate, gpu_rate;
  FlopsPerSec<N> peak;
  MoneyCost<N> money;

  const Utilisation<N>& of(FlopConvention c) const { return c == FlopConvention::Causal ? causal : whole; }
};

namespace detail {

/// Ids and symbols of one convention.
struct UtilisationIds {
  Item flops, ideal, mfu, selective_flops, selective, full_flops, full, achieved;
};
inline constexpr UtilisationIds kCausalIds{
    {"compute.flops_per_token_causal", "F_tok", "model FLOPs of a token, causal"},
    {"compute.ideal_causal", "T_ideal", "ideal step, causal"},
    {"mfu.causal", "MFU", "MFU, causal"},
    {"mfu.selective_flops", "F_sel", "FLOPs that selective recompute adds to a token, causal"},
    {"mfu.hfu_selective", "HFU_sel", "HFU with selective recompute, causal"},
    {"mfu.full_flops", "F_all", "FLOPs that full recompute adds to a token, causal"},
    {"mfu.hfu_full", "HFU_all", "HFU with full recompute, causal"},
    {"mfu.achieved", "P_got", "model FLOP/s of one GPU, causal"}};
inline constexpr UtilisationIds kFullIds{
    {"compute.flops_per_token_full", "F_full", "model FLOPs of a token, full matrix"},
    {"compute.ideal_full", "T_ideal_full", "ideal step, full matrix"},
    {"mfu.full", "MFU_full", "MFU, full matrix"},
    {"mfu.selective_flops_full", "F_sel_full", "FLOPs that selective recompute adds to a token, full matrix"},
    {"mfu.hfu_selective_full", "HFU_sel_full", "HFU with selective recompute, full matrix"},
    {"mfu.full_flops_full", "F_all_full", "FLOPs that full recompute adds to a token, full matrix"},
    {"mfu.hfu_full_full", "HFU_all_full", "HFU with full recompute, full matrix"},
    {"mfu.achieved_full", "P_got_full", "model FLOP/s of one GPU, full matrix"}};

template <Recorder R>
Utilisation<typename R::Num> utilisation(R& rec, const UtilisationIds& ids, Params<typename R::Num> gemm,
                                         FlopsPerToken<typename R::Num> attention,
                                         Count<typename R::Num> gpus, const MfuCost<typename R::Num>& of) {
  using N = typename R::Num;
  Utilisation<N> u;
  u.flops = rec.apply(train_flops_per_token, ids.flops, gemm, attention);
  u.ideal = rec.apply(ideal_step_time, ids.ideal, of.tokens, u.flops, gpus, of.peak);
  u.mfu = rec.apply(mfu, ids.mfu, u.ideal, of.step);
  const auto selective = rec.apply(recompute_flops_selective, ids.selective_flops, attention);
  u.selective = rec.apply(hfu, ids.selective, u.mfu, u.flops, selective);
  const auto every = rec.template in<Count<N>>({"k/L_s", "share of layers recomputed", "full recompute"}, 1);
  const auto all = rec.apply(recompute_flops_full, ids.full_flops, u.flops, every);
  u.full = rec.apply(hfu, ids.full, u.mfu, u.flops, all);
  u.achieved = rec.apply(achieved_flops, ids.achieved, of.gpu_rate, u.flops);
  return u;
}

}  // namespace detail

/// `good`: the MFU that is a good result.
template <Recorder R>
MfuCost<typename R::Num> mfu_cost(R& rec, const Problem& problem, const MfuQuestion& question,
                                  const Figure& good) {
  using N = typename R::Num;
  const Inputs<N> in = bind(rec, problem, Plan{});
  MfuCost<N> out;
  out.peak = question.peak
                 ? rec.template in<FlopsPerSec<N>>({"P", "peak of one GPU", "option --peak"}, *question.peak)
                 : in.peak;
  out.tokens = rec.apply(step_tokens, {"compute.tokens_per_step", "D_step", ""}, in.batch, in.sequence);
  const Item step{"mfu.step", "T_step", "measured step"}, rate{"mfu.tokens_per_second", "R_tok", ""};
  if (question.step) {
    out.step = rec.item(
        step, 1.0 * rec.template in<Seconds<N>>({"T_log", "measured step", question.origin}, *question.step));
    out.rate = rec.apply(tokens_per_second, rate, out.tokens, out.step);
  } else {
    out.rate = rec.item(
        {rate.id, rate.symbol, "tokens of the whole cluster in a second"},
        1.0 * rec.template in<TokensPerSec<N>>({"R_log", "measured rate", question.origin}, *question.rate));
    out.step = rec.item({step.id, step.symbol, "step that the rate means"}, out.tokens / out.rate);
  }
  out.gpu_rate =
      rec.item({"mfu.tokens_per_second_of_gpu", "r", "tokens of one GPU in a second"}, out.rate / in.gpus);
  const Params<N> gemm = model_params(rec, in, problem.model(), problem.recipe.mtp_layers).gemm;
  const auto [half, whole] = detail::attention_flops(rec, in, problem);
  out.causal = detail::utilisation(rec, detail::kCausalIds, gemm, half, in.gpus, out);
  out.whole = detail::utilisation(rec, detail::kFullIds, gemm, whole, in.gpus, out);
  const Utilisation<N>& chosen = out.of(problem.recipe.convention);
  out.good_step =
      rec.apply(step_time_at_mfu, {"mfu.good_step", "T_good", "step at the MFU that is a good result"},
                chosen.ideal, figure<Count<N>>(rec, "MFU_good", "MFU that is a good result", good));
  const auto always = rec.template in<Count<N>>({"G_p", "goodput", "failures not counted"}, 1);
  out.money = money_cost(rec, in, problem, out.tokens, out.step, chosen.mfu, always, true);
  rec.apply(mfu_point_share, {"cost.mfu_point_share", "x_point", ""}, chosen.mfu);
  return out;
}

}  // namespace trainplan
