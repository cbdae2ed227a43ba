/// How many measured steps lie in the ranges of predictions that were made without them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/report/fitted_rows.hpp"
#include "trainplan/report/groupings.hpp"

namespace trainplan {

/// Groups of fewer rows say nothing; of the others so many should lie inside an 80 % range.
inline constexpr std::size_t kCoverageRows = 25;
inline constexpr double kLeastCoverage = 0.72, kMostCoverage = 0.90;

/// rows: of the whole table. seen: rows that were predicted, each in as many splits as held it out.
struct GroupCoverage {
  std::string by, group;
  std::size_t rows = 0, seen = 0, inside = 0;

  double share() const { return seen == 0 ? 0 : static_cast<double>(inside) / static_cast<double>(seen); }
  bool holds() const { return share() >= kLeastCoverage && share() <= kMostCoverage; }
};

/// Whether the measured step lies in the range of what these constants predict.
inline bool is_inside(const FittedRow& r, const Checked<Calibration>& c) {
  Eval rec;
  const FactorRange<double> f = time_factors(rec, r.observation.problem.with(c), r.observation.plan);
  const double ratio = r.observation.measured / r.observation.predicted(c);
  return f.low.num() <= ratio && ratio <= f.high.num();
}

/// Counts by all rows, each grouping and the classes of ranges.
class Coverage {
  std::vector<GroupCoverage> groups_;

  GroupCoverage& group(const std::string& by, const std::string& name) {
    for (GroupCoverage& g : groups_)
      if (g.by == by && g.group == name) return g;
    groups_.push_back({by, name});
    return groups_.back();
  }
  template <class F>
  void for_each_group(const MeasuredRun& row, F use) {
    use(group("all", "standard rows"));
    for (const detail::Grouping& g : detail::kGroupings) use(group(g.by, g.name(row)));
    use(group("range", detail::class_of(row, Target::Time)));
  }

 public:
  explicit Coverage(const FittedRows& rows) {
    for (const FittedRow& r : rows) for_each_group(*r.row, [](GroupCoverage& g) { ++g.rows; });
  }

  /// Rows that were held out of the fit of `c`.
  void add(const FittedRows& held_out, const Checked<Calibration>& c) {
    for (const FittedRow& r : held_out) {
      const bool inside = is_inside(r, c);
      for_each_group(*r.row, [inside](GroupCoverage& g) {
        ++g.seen;
        if (inside) ++g.inside;
      });
    }
  }

  /// Groups of that many rows, those of one kind together.
  std::vector<GroupCoverage> of_at_least(std::size_t rows) const {
    std::map<std::string, std::size_t> order{{"all", 0}};
    for (const detail::Grouping& g : detail::kGroupings) order.emplace(g.by, order.size());
    order.emplace("range", order.size());
    std::vector<GroupCoverage> out;
    for (const GroupCoverage& g : groups_)
      if (g.rows >= rows) out.push_back(g);
    std::sort(out.begin(), out.end(), [&](const GroupCoverage& a, const GroupCoverage& b) {
      return std::pair(order.at(a.by), a.group) < std::pair(order.at(b.by), b.group);
    });
    return out;
  }
};

}  // namespace trainplan
