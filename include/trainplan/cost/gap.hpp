/// A measured step against its budget: seven items, what they exceed, and what that costs in MFU points.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

#include "trainplan/cost/compute.hpp"
#include "trainplan/cost/losses.hpp"
#include "trainplan/spec/gap.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula time_excess{
    "time_excess", "time that a measured part takes beyond its budget",
    Source{"identity", "difference, where it is positive"},
    std::array{Arg{"measured", "T_i", "measured time"}, Arg{"budget", "B_i", "budgeted time"}},
    []<class N>(Seconds<N> measured, Seconds<N> budget) { return positive(measured - budget); }};

inline constexpr Formula step_residual{
    "step_residual", "time of a step that no item explains", Source{"identity", "step less its items"},
    std::array{Arg{"step", "T_step", "step time"}, Arg{"items", "T_sum", "time of all items"}},
    []<class N>(Seconds<N> step, Seconds<N> items) { return step - items; }};

inline constexpr Formula gap_points{
    "gap_points", "MFU points that a step lacks; below zero where it is faster than planned",
    Source{"identity", "difference of two MFUs, x 100"},
    std::array{Arg{"target", "MFU_0", "MFU that was planned"}, Arg{"measured", "MFU", "MFU of the step"}},
    []<class N>(Count<N> target, Count<N> measured) { return 100.0 * (target - measured); }};

inline constexpr Formula points_time{
    "points_time", "wall-clock time of a run that some MFU points are worth, without a token budget",
    Source{"identity", "first order: points x time of one point"},
    std::array{Arg{"points", "g_i", "MFU points"}, Arg{"point", "T_point", "time that one point is worth"}},
    []<class N>(Count<N> points, Seconds<N> point) { return points * point; }};

/// What a plan predicts, read from its ledger. kernel of `predicted`: loss above the ideal, as the ledger has
/// it.
struct GapPrediction {
  double ideal = 0, step = 0;
  std::array<double, kLossItems> predicted{};
  std::array<std::string, kLossItems> ids;
  std::string ideal_id;
};

/// A row of the ledger; what nobody measured stays empty.
template <class N>
struct GapRow {
  Seconds<N> budget;
  bool planned = true;  ///< the budget is what the plan predicts
  std::optional<Seconds<N>> measured, excess;
  std::optional<Count<N>> points, first_order;
};

/// residual: step less its items. unknown: what the items without a measurement exceed together with the
/// residual. points: `exact` distributed, or the quoted number where it is a rounding of that; none where the
/// step is faster than planned.
template <class N>
struct GapCost {
  Seconds<N> ideal, measured, target;
  Count<N> mfu, target_mfu, exact, points;
  std::array<GapRow<N>, kLossItems> rows;
  Seconds<N> budget_sum, measured_sum, target_residual, residual, residual_budget, unknown, excess;
  Count<N> unknown_points;
  bool quoted = false;

  bool all_measured() const {
    for (const auto& row : rows)
      if (!row.measured) return false;
    return true;
  }
};

/// A quoted number of points is a rounding of the exact one to a whole number.
inline bool rounds_to(double exact, double quoted) { return std::abs(exact - quoted) <= 0.5; }

namespace detail {

inline constexpr std::array<std::string_view, kLossItems> kItemSymbols{"bubble", "comm",   "re",  "data",
                                                                       "kernel", "launch", "slow"};

struct ItemNames {
  std::string id, symbol, title;
  ItemNames(const char* column, const char* letter, LossItem item, const char* what)
      : id("gap." + std::string(column) + "." + std::string(name_of(item))),
        symbol(std::string(letter) + "_" + std::string(kItemSymbols[index_of(item)])),
        title(what + std::string(title_of(item))) {}
  operator Item() const { return {id, symbol, title}; }
};

inline std::string origin_of(const Stated& s, const char* option, const std::string& file,
                             const std::string& pointer) {
  return s.option ? std::string("option ") + option : file + " /gap/" + pointer;
}

template <Recorder R>
Seconds<typename R::Num> budget_of(R& rec, const GapSpec& gap, const GapPrediction& plan, LossItem item,
                                   const std::string& file) {
  using N = typename R::Num;
  const ItemNames names("budget", "B", item, "budget: ");
  const std::size_t i = index_of(item);
  if (const auto& stated = gap.budget[i])
    return rec.item(names,
                    1.0 * rec.template in<Seconds<N>>(
                              {names.symbol, names.title,
                               origin_of(*stated, "--budget", file, "budget/" + std::string(name_of(item)))},
                              stated->value));
  const auto loss = rec.template in<Seconds<N>>(
      {"p_" + std::string(kItemSymbols[i]), title_of(item), "plan " + plan.ids[i]}, plan.predicted[i]);
  if (item != LossItem::Kernel) return rec.item(names, 1.0 * loss);
  const auto ideal =
      rec.template in<Seconds<N>>({"p_ideal", "ideal step", "plan " + plan.ideal_id}, plan.ideal);
  return rec.item(names, ideal + loss);
}

/// The step that was planned: as stated, else the plan's with the budgets that were stated in place of its
/// own.
template <Recorder R>
Seconds<typename R::Num> target_of(R& rec, const GapSpec& gap, const GapPrediction& plan,
                                   const GapCost<typename R::Num>& out, const std::string& file) {
  using N = typename R::Num;
  const Item item{"gap.target", "T_0", "step that was planned"};
  if (gap.target_mfu)
    return rec.apply(step_time_at_mfu, item, out.ideal,
                     rec.template in<Count<N>>({"MFU_plan", "MFU that was planned",
                                                origin_of(*gap.target_mfu, "--target", file, "target")},
                                               gap.target_mfu->value));
  if (gap.target_step)
    return rec.item(
        item, 1.0 * rec.template in<Seconds<N>>({"T_plan", "step that was planned",
                                                 origin_of(*gap.target_step, "--target", file, "target")},
                                                gap.target_step->value));
  auto step = 1.0 * rec.template in<Seconds<N>>({"T_plan", "predicted step", "plan step.time"}, plan.step);
  for (const LossItem i : kAllLossItems) {
    if (!gap.budget[index_of(i)]) continue;
    const double own = plan.predicted[index_of(i)] + (i == LossItem::Kernel ? plan.ideal : 0.0);
    step = step + out.rows[index_of(i)].budget -
           rec.template in<Seconds<N>>(
               {"p_" + std::string(kItemSymbols[index_of(i)]), title_of(i), "plan " + plan.ids[index_of(i)]},
               own);
  }
  return rec.item(item, step);
}

template <Recorder R>
void measure(R& rec, const GapSpec& gap, const std::string& file, GapCost<typename R::Num>& out) {
  using N = typename R::Num;
  Sum<Seconds<N>> measured, excess, open;
  for (const LossItem i : kAllLossItems) {
    GapRow<N>& row = out.rows[index_of(i)];
    const auto& stated = gap.items[index_of(i)];
    if (!stated) {
      open.add(row.budget);
      continue;
    }
    const ItemNames names("measured", "T", i, "measured: ");
    row.measured =
        rec.item(names, 1.0 * rec.template in<Seconds<N>>(
                                  {names.symbol, names.title,
                                   origin_of(*stated, "--item", file, "items/" + std::string(name_of(i)))},
                                  stated->value));
    row.excess =
        rec.apply(time_excess, ItemNames("excess", "dT", i, "above budget: "), *row.measured, row.budget);
    measured.add(*row.measured);
    excess.add(*row.excess);
  }
  out.measured_sum = rec.item({"gap.measured_sum", "T_sum", "measured items together"},
                              measured.empty() ? Seconds<N>{N(0.0)} : 1.0 * measured.total());
  out.residual = rec.apply(step_residual, {"gap.residual", "T_res", "measured step less its measured items"},
                           out.measured, out.measured_sum);
  out.target_residual =
      rec.apply(step_residual, {"gap.target_residual", "B_res", "planned step less its budget"}, out.target,
                out.budget_sum);
  out.residual_budget =
      rec.item({"gap.residual_budget", "B_open", "budget of what was not measured"},
               open.empty() ? 1.0 * out.target_residual : out.target_residual + open.total());
  out.unknown = rec.apply(time_excess, {"gap.excess.unknown", "dT_open", "above budget: not measured"},
                          out.residual, out.residual_budget);
  excess.add(out.unknown);
  out.excess = rec.item({"gap.excess", "dT", "time above budget"}, excess.total());
}

/// In proportion to the time above budget; without any there is nothing to distribute.
template <Recorder R>
Count<typename R::Num> points_of(R& rec, const Item& item, Seconds<typename R::Num> excess,
                                 const GapCost<typename R::Num>& out) {
  using N = typename R::Num;
  if (value_of(out.excess) <= 0) return rec.item(item, Count<N>{N(0.0)});
  return rec.apply(loss_points, item, excess, out.excess, out.points);
}

}  // namespace detail

/// `file`: origin of the run, for the figures that it states. The measured step must be known.
template <Recorder R>
GapCost<typename R::Num> gap_cost(R& rec, const GapSpec& gap, const GapPrediction& plan,
                                  const std::string& file) {
  using N = typename R::Num;
  using detail::ItemNames;
  GapCost<N> out;
  out.ideal = rec.item(
      {"gap.ideal", "T_ideal", "ideal step"},
      1.0 * rec.template in<Seconds<N>>({"p_ideal", "ideal step", "plan " + plan.ideal_id}, plan.ideal));
  for (const LossItem i : kAllLossItems) {
    out.rows[index_of(i)].budget = detail::budget_of(rec, gap, plan, i, file);
    out.rows[index_of(i)].planned = !gap.budget[index_of(i)];
  }
  const auto& r = out.rows;
  out.budget_sum =
      rec.apply(seven_losses, {"gap.budget_sum", "B_sum", "budget of the seven items"}, r[0].budget,
                r[1].budget, r[2].budget, r[3].budget, r[4].budget, r[5].budget, r[6].budget);
  out.target = detail::target_of(rec, gap, plan, out, file);
  out.measured = rec.item(
      {"gap.measured", "T_step", "measured step"},
      1.0 * rec.template in<Seconds<N>>(
                {"T_log", "measured step", detail::origin_of(*gap.measured, "--measured", file, "measured")},
                gap.measured->value));
  out.mfu = rec.apply(mfu, {"gap.mfu", "MFU", "MFU of the measured step"}, out.ideal, out.measured);
  out.target_mfu =
      rec.apply(mfu, {"gap.target_mfu", "MFU_0", "MFU of the planned step"}, out.ideal, out.target);
  out.exact =
      rec.apply(gap_points, {"gap.exact_points", "g_x", "MFU points between them"}, out.target_mfu, out.mfu);
  out.quoted = gap.points && rounds_to(value_of(out.exact), gap.points->value);
  const Item points{"gap.points", "g", "MFU points to explain"};
  out.points = out.quoted
                   ? rec.item(points, 1.0 * rec.template in<Count<N>>(
                                                {"g_q", "points as quoted",
                                                 detail::origin_of(*gap.points, "--points", file, "points")},
                                                gap.points->value))
                   : rec.item(points, positive(out.exact));
  detail::measure(rec, gap, file, out);
  for (const LossItem i : kAllLossItems) {
    GapRow<N>& row = out.rows[index_of(i)];
    if (!row.excess) continue;
    row.points = detail::points_of(rec, ItemNames("points", "g", i, "points: "), *row.excess, out);
    row.first_order =
        rec.apply(first_order_points, ItemNames("first_order", "g1", i, "points, first order: "), *row.excess,
                  out.ideal, out.measured);
  }
  out.unknown_points =
      detail::points_of(rec, {"gap.points.unknown", "g_open", "points: not measured"}, out.unknown, out);
  return out;
}

using GapFormulas = Chapter<time_excess, step_residual, gap_points, points_time>;

}  // namespace trainplan
