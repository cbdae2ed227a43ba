/// How good is the plan that the program would have picked? Rows that share everything but the plan, and what
/// the pick loses against the best of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/report/comparison.hpp"
#include "trainplan/report/report.hpp"

namespace trainplan {

/// Rows of one contest, with step times measured and predicted.
struct Contest {
  std::vector<const Comparison*> plans;

  static double measured(const Comparison* c) { return *c->row->step_time; }
  const Comparison* best() const {
    return *std::min_element(plans.begin(), plans.end(), [](const Comparison* a, const Comparison* b) {
      return measured(a) < measured(b);
    });
  }
  /// All plans that are predicted to be the fastest: equal ones are one pick.
  std::vector<const Comparison*> picked() const {
    constexpr double kEqual = 1 + 1e-9;
    double least = *plans.front()->step_time;
    for (const Comparison* c : plans) least = std::min(least, *c->step_time);
    std::vector<const Comparison*> out;
    for (const Comparison* c : plans)
      if (*c->step_time <= least * kEqual) out.push_back(c);
    return out;
  }
  /// Time lost against the best plan, averaged over plans that are predicted equal.
  double regret() const {
    const std::vector<const Comparison*> picks = picked();
    double sum = 0;
    for (const Comparison* c : picks) sum += measured(c);
    return sum / static_cast<double>(picks.size()) / measured(best()) - 1;
  }
  /// The same for a plan drawn at random.
  double blind_regret() const {
    double sum = 0;
    for (const Comparison* c : plans) sum += measured(c);
    return sum / static_cast<double>(plans.size()) / measured(best()) - 1;
  }
};

inline constexpr std::size_t kContestPlans = 3;  // fewer hardly rank anything

/// Steps that differ by at most this are close.
inline constexpr double kClose = 0.1;

/// By what share the predicted ratio of two steps of a contest misses the measured one, for every pair that
/// is predicted to be close; in ascending order.
inline std::vector<double> pair_errors(const std::vector<Contest>& contests) {
  std::vector<double> errors;
  for (const Contest& c : contests)
    for (std::size_t i = 0; i < c.plans.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const double predicted = *c.plans[i]->step_time / *c.plans[j]->step_time;
        const double measured = Contest::measured(c.plans[i]) / Contest::measured(c.plans[j]);
        if (std::max(predicted, 1 / predicted) > 1 + kClose) continue;
        errors.push_back(std::expm1(std::abs(std::log(predicted / measured))));
      }
  std::ranges::sort(errors);
  return errors;
}

/// Standard rows with a step time, by contest; those of one plan are none.
inline std::vector<Contest> contests_of(const std::vector<Comparison>& all) {
  std::map<std::string, Contest> by_key;
  for (const Comparison& c : all)
    if (c.time_error() && c.row->standing == Standing::Standard) by_key[c.row->contest].plans.push_back(&c);
  std::vector<Contest> out;
  for (auto& [key, contest] : by_key)
    if (contest.plans.size() > 1) out.push_back(std::move(contest));
  return out;
}

namespace detail {

inline Table contest_table(const std::vector<Contest>& contests, bool large) {
  Table t{large ? "contests" : "small_contests",
          large ? "Three plans or more" : "Two plans",
          {{"best", "fastest measured"},
           {"picked", "predicted fastest"},
           {"plans", "plans"},
           {"equal", "equal picks"},
           {"regret", "lost"},
           {"blind", "lost at random"}},
          {}};
  for (const Contest& c : contests) {
    if ((c.plans.size() >= kContestPlans) != large) continue;
    const auto picks = c.picked();
    t.rows.push_back({c.best()->row->id, picks.front()->row->id, Value{static_cast<double>(c.plans.size())},
                      Value{static_cast<double>(picks.size())}, Value{c.regret(), Unit::Share},
                      Value{c.blind_regret(), Unit::Share}});
  }
  return t;
}

inline Facts ranking_facts(const std::vector<Contest>& contests) {
  constexpr double kNear = 0.02;
  std::vector<double> lost, blind;
  double near = 0;
  for (const Contest& c : contests) {
    if (c.plans.size() < kContestPlans) continue;
    lost.push_back(c.regret());
    blind.push_back(c.blind_regret());
    near += lost.back() <= kNear ? 1 : 0;
  }
  const ErrorSummary s = summary_of(lost), at_random = summary_of(blind);
  const auto share = [](double x) { return Value{x, Unit::Share}; };
  const std::vector<double> pairs = pair_errors(contests);
  return {"summary",
          {{"groups", "groups of three plans or more", Value{static_cast<double>(lost.size())}, "", ""},
           {"median", "time lost by the pick, median", share(s.median), "", ""},
           {"mean", "time lost by the pick, mean", share(s.mean), "", ""},
           {"worst", "time lost by the pick, worst", share(s.worst), "", ""},
           {"near", "groups within 2 % of the best", Value{near}, "", ""},
           {"random_mean", "time lost at random, mean", share(at_random.mean), "", ""},
           {"pairs", "pairs predicted within 10 %", Value{static_cast<double>(pairs.size())}, "", ""},
           {"pair_error", "error of their ratio, median", share(pairs.empty() ? 0 : quantile(pairs, 0.5)), "",
            ""}}};
}

}  // namespace detail

/// Groups share source, model, GPU, GPUs, batch, sequence, precision and release.
inline Section ranking_section(const std::vector<Comparison>& all) {
  const std::vector<Contest> contests = contests_of(all);
  Section s{"ranking", "Would it have picked the fastest plan?", {detail::ranking_facts(contests)}};
  for (const bool large : {true, false}) {
    Table t = detail::contest_table(contests, large);
    if (!t.rows.empty()) s.blocks.push_back(std::move(t));
  }
  return s;
}

}  // namespace trainplan
