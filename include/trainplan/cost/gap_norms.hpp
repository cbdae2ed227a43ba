/// What is normal for each item of a step: ranges from practice, which reach to what the plan itself
/// predicts.
#pragma once

#include <array>
#include <string>

#include "trainplan/cost/compute.hpp"
#include "trainplan/cost/gap.hpp"
#include "trainplan/cost/schedule.hpp"
#include "trainplan/plan/problem.hpp"
#include "trainplan/spec/figure.hpp"

namespace trainplan {

inline constexpr Formula normal_kernel_time{
    "normal_kernel_time", "time of the kernels of a step that practice leads one to expect",
    Source{"rule-of-thumb", "ideal / (GEMM efficiency x share of the time in GEMMs)"},
    std::array{Arg{"ideal", "T_ideal_full", "ideal step, full matrix"},
               Arg{"gemm", "f_gemm", "share of peak that GEMMs reach", 1e-6, 1},
               Arg{"other", "f_other", "share of the kernel time outside GEMMs", 0, 0.99}},
    []<class N>(Seconds<N> ideal, Count<N> gemm, Count<N> other) { return ideal / (gemm * (1.0 - other)); }};

inline constexpr Formula share_time{"share_time", "time that a share of another time is",
                                    Source{"identity", "share x time"},
                                    std::array{Arg{"share", "f", "share"}, Arg{"time", "T", "time"}},
                                    []<class N>(Count<N> share, Seconds<N> time) { return share * time; }};

/// Lower and upper end.
struct NormFigures {
  Figure low, high;
};

/// Published and rule-of-thumb figures that the ranges rest on; see configs/references/anchors.json.
struct GapNorms {
  NormFigures tensor, data_tail, selective, full, gemm, other, launch, data_wait;
  Figure straggler;
};

template <class N>
struct NormalRange {
  Seconds<N> low, high;
};

namespace detail {

template <class Q, Recorder R>
Q norm(R& rec, std::string_view symbol, std::string_view meaning, const Figure& f) {
  return figure<Q>(rec, symbol, meaning, f);
}

/// Of the item, both ends by the same formula. What the plan predicts is normal for it, also where practice
/// speaks of other jobs; a budget that somebody stated is not.
template <Recorder R, class F>
NormalRange<typename R::Num> range(R& rec, LossItem item, const GapRow<typename R::Num>& row, F end) {
  const ItemNames low("normal_low", "L", item, "normal, low end: "),
      high("normal_high", "H", item, "normal, high end: ");
  if (!row.planned) return {rec.item(low, end(false)), rec.item(high, end(true))};
  return {rec.item(low, min(end(false), row.budget)), rec.item(high, max(end(true), row.budget))};
}

template <Recorder R>
Seconds<typename R::Num> normal_exposed(R& rec, const Plan& plan, const GapNorms& norms, bool high) {
  using N = typename R::Num;
  const auto pick = [&](const NormFigures& f) -> const Figure& { return high ? f.high : f.low; };
  Sum<Seconds<N>> sum;
  if (plan.tp > 1)
    sum.add(norm<Seconds<N>>(rec, high ? "t_tp_hi" : "t_tp_lo", "exposed TP traffic", pick(norms.tensor)));
  if (plan.dp > 1)
    sum.add(
        norm<Seconds<N>>(rec, high ? "t_dp_hi" : "t_dp_lo", "tail of the reduction", pick(norms.data_tail)));
  return sum.empty() ? Seconds<N>{N(0.0)} : 1.0 * sum.total();
}

template <Recorder R>
Seconds<typename R::Num> normal_recompute(R& rec, const Plan& plan, double share_of_layers,
                                          const GapNorms& norms, Seconds<typename R::Num> kernel, bool high) {
  using N = typename R::Num;
  if (plan.recompute == Recompute::None) return Seconds<N>{N(0.0)};
  const NormFigures& f = plan.recompute == Recompute::Selective ? norms.selective : norms.full;
  const auto share =
      norm<Count<N>>(rec, high ? "f_re_hi" : "f_re_lo", "share of the kernel time", high ? f.high : f.low);
  if (plan.recompute != Recompute::Layers) return share_time(share, kernel);
  return share_time(
      share * rec.template in<Count<N>>({"k/L_s", "share of layers recomputed", "plan"}, share_of_layers),
      kernel);
}

}  // namespace detail

/// `kernel`: the kernel time as measured, else as budgeted. ideal_full: full matrix, which the rule counts.
template <Recorder R>
std::array<NormalRange<typename R::Num>, kLossItems> normal_ranges(R& rec, const Problem& problem,
                                                                   const Plan& plan, const GapNorms& norms,
                                                                   double ideal_full,
                                                                   const GapCost<typename R::Num>& cost) {
  using N = typename R::Num;
  using detail::norm;
  using detail::range;
  const auto in = [&](const char* symbol, const char* meaning, double n) {
    return rec.template in<Count<N>>({symbol, meaning, "plan"}, n);
  };
  const auto zero = [] { return Seconds<N>{N(0.0)}; };
  const auto& kernel_row = cost.rows[index_of(LossItem::Kernel)];
  const Seconds<N> kernel = kernel_row.measured.value_or(kernel_row.budget);
  const auto bubble = rec.apply(bubble_of_ideal, {"gap.bubble_share", "x_bubble", ""},
                                in("p", "stages", plan.pp), in("v", "virtual stages", plan.vpp),
                                in("m", "micro-batches", static_cast<double>(micro_batches(problem, plan))));
  const auto ideal = rec.template in<Seconds<N>>(
      {"T_full", "ideal step, full matrix", "plan compute.ideal_full"}, ideal_full);
  const double stage = static_cast<double>(problem.model().layers) / plan.pp;
  std::array<NormalRange<N>, kLossItems> out;
  const auto set = [&](LossItem i, auto end) {
    out[index_of(i)] = range(rec, i, cost.rows[index_of(i)], end);
  };
  set(LossItem::Bubble, [&](bool high) { return high ? share_time(bubble, kernel) : zero(); });
  set(LossItem::ExposedComm, [&](bool high) { return detail::normal_exposed(rec, plan, norms, high); });
  set(LossItem::Recompute, [&](bool high) {
    return detail::normal_recompute(rec, plan, plan.recompute_layers / stage, norms, kernel, high);
  });
  set(LossItem::DataWait, [&](bool high) {
    const NormFigures& f = norms.data_wait;
    return 1.0 * norm<Seconds<N>>(rec, high ? "t_data_hi" : "t_data_lo", "data wait", high ? f.high : f.low);
  });
  set(LossItem::Kernel, [&](bool high) {  // fast GEMMs and little else make the low end
    return normal_kernel_time(ideal,
                              norm<Count<N>>(rec, high ? "f_g_lo" : "f_g_hi", "share of peak of GEMMs",
                                             high ? norms.gemm.low : norms.gemm.high),
                              norm<Count<N>>(rec, high ? "f_o_hi" : "f_o_lo", "share outside GEMMs",
                                             high ? norms.other.high : norms.other.low));
  });
  set(LossItem::Launch, [&](bool high) {
    const NormFigures& f = norms.launch;
    return 1.0 * norm<Seconds<N>>(rec, high ? "t_la_hi" : "t_la_lo", "host launch", high ? f.high : f.low);
  });
  set(LossItem::Straggler, [&](bool high) {
    return high ? share_time(norm<Count<N>>(rec, "f_slow", "share of the step", norms.straggler),
                             cost.measured)
                : zero();
  });
  return out;
}

using GapNormFormulas = Chapter<normal_kernel_time, share_time>;

}  // namespace trainplan
