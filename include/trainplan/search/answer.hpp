/// What a search tells beside its best plan.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "trainplan/derive/derive.hpp"
#include "trainplan/search/crossovers.hpp"
#include "trainplan/spec/resize.hpp"

namespace trainplan {

/// A plan with its number in the space.
struct Numbered {
  std::uint64_t index = 0;
  Trial trial;
};

/// best, front, near: as Found has them. crossovers: not where memory alone was asked for. preferred: place
/// in `best` or `front` of the plan with most room among those that the model cannot tell from the fastest.
/// alike: how many of `best` and `front` those are. safest: the plan whose upper end of the range is lowest.
struct SearchAnswer {
  PlanSpace space;
  Found found;
  std::vector<Numbered> best, front, near;
  Numbered preferred, safest;
  std::size_t alike = 0;
  std::vector<Neighbour> neighbours;
  std::vector<Crossover> crossovers;
};

namespace detail {

inline std::vector<Numbered> numbered(const PlanSpace& space, const std::vector<Candidate>& found) {
  std::vector<Numbered> out;
  for (const Candidate& c : found) out.push_back({c.index, trial_of(space, c.index)});
  return out;
}

inline double step_of(const Numbered& n) { return n.trial.cost.step.step.num(); }

/// Of plans within the room, those whose step is within the difference that the model can tell.
inline void prefer(SearchAnswer& a) {
  const double longest =
      step_of(a.best.front()) * (1 + a.best.front().trial.problem.calibration().plan_difference.value);
  const Verdict verdict = a.best.front().trial.verdict();
  std::vector<std::uint64_t> seen;
  const auto high = [](const Numbered& n) { return n.trial.cost.range.time_high.num(); };
  for (const auto* all : {&a.best, &a.front})
    for (const Numbered& n : *all) {
      if (n.trial.verdict() != verdict || std::ranges::find(seen, n.index) != seen.end()) continue;
      seen.push_back(n.index);
      if (high(n) < high(a.safest)) a.safest = n;
      if (step_of(n) > longest) continue;
      ++a.alike;
      if (n.trial.device() < a.preferred.trial.device()) a.preferred = n;
    }
}

}  // namespace detail

/// Nothing when no plan is legal. batch: sequences of a step.
inline std::optional<SearchAnswer> search_answer(const Planner& planner, std::int64_t batch,
                                                 const SearchOptions& options, const ForAll& for_all) {
  PlanSpace space = plan_space(planner, batch);
  Found f = search_plans(space, options, for_all);
  const std::vector<Numbered> best =
      detail::numbered(space, (f.room == Room::None ? f.smallest : f.best).kept());
  if (best.empty()) return std::nullopt;
  SearchAnswer a{std::move(space), std::move(f), best, {}, {}, best.front(), best.front(), 0, {}, {}};
  if (a.best.front().trial.verdict() == Verdict::DoesNotFit) return a;
  a.front = detail::numbered(a.space, a.found.front.kept());
  a.near = detail::numbered(a.space, a.found.near.kept());
  if (a.found.room != Room::None) detail::prefer(a);
  a.neighbours = neighbours(a.space, a.preferred.index, a.preferred.trial, for_all);
  if (a.found.room == Room::None) return a;
  std::vector<Trial> others;
  for (const auto* all : {&a.best, &a.front})
    for (const Numbered& n : *all)
      if (n.trial.verdict() == a.best.front().trial.verdict()) others.push_back(n.trial);
  a.crossovers = crossovers(a.best.front().trial, others, for_all);
  return a;
}

/// The answer for the smallest part of the cluster, in whole nodes, on which a plan keeps the margin; nothing
/// where none does. Clusters are added to `parts`, which the answer refers to.
inline std::optional<SearchAnswer> fewest_gpus(const Planner& planner, std::int64_t batch,
                                               const SearchOptions& options, const ForAll& for_all,
                                               std::deque<Checked<ClusterSpec>>& parts) {
  const ClusterSpec& own = planner.problem().cluster();
  for (std::int64_t nodes = 1; nodes < own.nodes; ++nodes) {
    const std::int64_t odd = nodes >> std::countr_zero(static_cast<std::uint64_t>(nodes));
    if (odd != 1 && odd != 3) continue;  // whole powers of two, and half as many again
    Issues issues;
    auto checked = with_nodes(own, nodes, issues);
    if (!checked) continue;
    parts.push_back(std::move(*checked));
    const Planner smaller = planner.with(planner.problem().with(parts.back()));
    auto answer = search_answer(smaller, batch, options, for_all);
    if (answer && answer->best.front().trial.verdict() == Verdict::Fits) return answer;
  }
  return search_answer(planner, batch, options, for_all);
}

}  // namespace trainplan
