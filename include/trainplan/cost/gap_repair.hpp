/// The items of a gap by what has to be touched to repair them, in order, each with its price.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "trainplan/cost/gap.hpp"
#include "trainplan/cost/money.hpp"

namespace trainplan {

/// Steps of a run that has a token budget: so many times is a second of a step paid for.
template <class N>
struct RunSteps {
  Tokens<N> tokens, per_step;
  Count<N> progress;
};

/// What a point is worth in this run. timed: the run finishes; price: of one GPU, where the cluster has one.
template <class N>
struct PointWorth {
  MoneyCost<N> money;
  bool timed = false;
  std::optional<RunSteps<N>> steps;
  std::optional<UsdPerSec<N>> price;
  Count<N> gpus;

  bool priced() const { return price.has_value(); }
};

/// One class of repairs; known: at least one of its items was measured.
template <class N>
struct RepairCost {
  bool known = false;
  Seconds<N> excess;
  Count<N> points;
  Seconds<N> time;
  Usd<N> money;
};

namespace detail {

/// Of a token budget every step pays the excess; without one a run of 30 days has no number of steps, and the
/// points are worth what they are to first order.
template <Recorder R>
void price_excess(R& rec, const std::string& what, const std::string& symbol, const std::string& title,
                  const PointWorth<typename R::Num>& worth, RepairCost<typename R::Num>& out) {
  if (!worth.timed) return;
  const std::string time_id = "gap.time." + what, time_symbol = "T_" + symbol, time_title = "time: " + title,
                    money_id = "gap.money." + what, money_symbol = "c_" + symbol,
                    money_title = "dollars: " + title;
  const Item time{time_id, time_symbol, time_title};
  out.time = worth.steps ? rec.apply(training_time, time, worth.steps->tokens, worth.steps->per_step,
                                     out.excess, worth.steps->progress)
                         : rec.apply(points_time, time, out.points, worth.money.mfu_point_time);
  if (!worth.priced()) return;
  out.money =
      rec.apply(cost_of_time, {money_id, money_symbol, money_title}, out.time, worth.gpus, *worth.price);
}

}  // namespace detail

/// In the order of kRepairs, then what was not measured.
template <Recorder R>
std::array<RepairCost<typename R::Num>, kRepairs.size() + 1> repair_costs(
    R& rec, const GapCost<typename R::Num>& gap, const PointWorth<typename R::Num>& worth) {
  using N = typename R::Num;
  std::array<RepairCost<N>, kRepairs.size() + 1> out;
  for (std::size_t k = 0; k < kRepairs.size(); ++k) {
    Sum<Seconds<N>> excess;
    Sum<Count<N>> points;
    for (const LossItem i : kAllLossItems) {
      const GapRow<N>& row = gap.rows[index_of(i)];
      if (repair_of(i) != kRepairs[k] || !row.excess) continue;
      excess.add(*row.excess);
      points.add(*row.points);
    }
    if (excess.empty()) continue;
    const std::string name(name_of(kRepairs[k]));
    out[k].known = true;
    out[k].excess =
        rec.item({"gap.repair." + name, "dT_" + name, "above budget: " + name}, 1.0 * excess.total());
    out[k].points =
        rec.item({"gap.repair_points." + name, "g_" + name, "points: " + name}, 1.0 * points.total());
    detail::price_excess(rec, name, name, name, worth, out[k]);
  }
  RepairCost<N>& open = out.back();
  open.known = true;
  open.excess = gap.unknown;
  open.points = gap.unknown_points;
  detail::price_excess(rec, "unknown", "open", "not measured", worth, open);
  return out;
}

}  // namespace trainplan
