/// The items of a gap by what has to be touched to repair them, in order, each with its price.
#pragma once

#include <array>
#include <string>

#include "trainplan/cost/gap.hpp"
#include "trainplan/cost/money.hpp"

namespace trainplan {

/// What a point is worth in this run. timed: the run finishes; priced: the cluster has a price as well.
template <class N>
struct PointWorth {
  MoneyCost<N> money;
  bool timed = false, priced = false;
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

template <Recorder R>
void price_points(R& rec, const std::string& what, const std::string& symbol, const std::string& title,
                  const PointWorth<typename R::Num>& worth, RepairCost<typename R::Num>& out) {
  if (!worth.timed) return;
  out.time = rec.apply(points_time, {"gap.time." + what, "T_" + symbol, "time: " + title}, out.points,
                       worth.money.mfu_point_time);
  if (!worth.priced) return;
  out.money =
      rec.item({"gap.money." + what, "c_" + symbol, "dollars: " + title}, out.points * worth.money.mfu_point);
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
    detail::price_points(rec, name, name, name, worth, out[k]);
  }
  RepairCost<N>& open = out.back();
  open.known = true;
  open.excess = gap.unknown;
  open.points = gap.unknown_points;
  detail::price_points(rec, "unknown", "open", "not measured", worth, open);
  return out;
}

}  // namespace trainplan
