/// A measured step set against a plan: all figures that the answer of `gap` shows.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "trainplan/cost/gap_norms.hpp"
#include "trainplan/cost/gap_repair.hpp"
#include "trainplan/derive/trial.hpp"
#include "trainplan/report/published.hpp"
#include "trainplan/spec/gap.hpp"

namespace trainplan {

/// The step ledger's ids of the seven items.
inline constexpr std::array<std::string_view, kLossItems> kLossLedgerIds{
    "step.bubble", "step.exposed", "step.recompute", "step.data_wait",
    "step.kernel", "step.launch",  "step.straggler"};

namespace detail {
inline double value_in(const Ledger& ledger, std::string_view id) {
  const LineItem* item = ledger.find(id);
  if (item == nullptr) throw std::logic_error("the ledger has no " + std::string(id));
  return item->value;
}
}  // namespace detail

/// What the plan's ledger says of the step, under a convention of attention FLOPs.
inline GapPrediction prediction_of(const Ledger& plan, FlopConvention convention) {
  GapPrediction p;
  p.ideal_id = convention == FlopConvention::Causal ? "compute.ideal_causal" : "compute.ideal_full";
  p.ideal = detail::value_in(plan, p.ideal_id);
  p.step = detail::value_in(plan, "step.time");
  for (std::size_t i = 0; i < kLossItems; ++i) {
    p.ids[i] = kLossLedgerIds[i];
    p.predicted[i] = detail::value_in(plan, kLossLedgerIds[i]);
  }
  return p;
}

inline GapNorms gap_norms(const std::vector<Anchor>& anchors) {
  const auto figure = [&](const std::string& id) { return published(anchors, id).value; };
  const auto ends = [&](const std::string& id) {
    return NormFigures{figure(id + "_low"), figure(id + "_high")};
  };
  GapNorms n;
  n.tensor = ends("tp_exposed");
  n.data_tail = ends("dp_tail");
  n.selective = ends("recompute_selective");
  n.full = ends("recompute_full");
  n.gemm = ends("gemm_of_peak");
  n.other = ends("other_kernels");
  n.launch = ends("host_launch");
  n.data_wait = {figure("data_wait_normal"), figure("data_wait_high")};
  n.straggler = figure("straggler_share_max");
  return n;
}

template <class N>
struct GapAnswer {
  GapCost<N> cost;
  std::array<NormalRange<N>, kLossItems> normal;
  PointWorth<N> worth;
  std::array<RepairCost<N>, kRepairs.size() + 1> repair;
};

/// `plan`: the ledger of the trial. `file`: origin of the run. The gap must have passed judge_gap.
template <Recorder R>
GapAnswer<typename R::Num> answer_gap(R& rec, const Trial& t, const Ledger& plan, const GapSpec& gap,
                                      const std::string& file, const GapNorms& norms) {
  using N = typename R::Num;
  GapAnswer<N> out;
  out.cost = gap_cost(rec, gap, prediction_of(plan, t.problem.recipe.convention), file);
  out.normal =
      normal_ranges(rec, t.problem, t.plan, norms, detail::value_in(plan, "compute.ideal_full"), out.cost);
  const Inputs<N> in = bind(rec, t.problem, t.plan);
  const auto tokens =
      rec.template in<Tokens<N>>({"D_step", "tokens of a step", "plan compute.tokens_per_step"},
                                 detail::value_in(plan, "compute.tokens_per_step"));
  const LineItem* share = plan.find("goodput");
  const auto progress = rec.template in<Count<N>>(
      {"G_p", "goodput", share != nullptr ? "plan goodput" : "failure rate unknown"},
      share != nullptr ? share->value : 1.0);
  out.worth.timed = finishes(t.cost);
  out.worth.gpus = in.gpus;
  if (const Figure& price = t.problem.cluster().price; price.known)
    out.worth.price = figure<UsdPerSec<N>>(rec, "c_gpu", "price of one GPU", price);
  if (const auto& budget = t.problem.recipe.tokens)
    out.worth.steps = {rec.template in<Tokens<N>>({"D", "token budget", "run /tokens"}, *budget), tokens,
                       progress};
  out.worth.money =
      money_cost(rec, in, t.problem, tokens, out.cost.target, out.cost.target_mfu, progress, out.worth.timed);
  rec.apply(mfu_point_share, {"cost.mfu_point_share", "x_point", ""}, out.cost.target_mfu);
  out.repair = repair_costs(rec, out.cost, out.worth);
  return out;
}

}  // namespace trainplan
