/// The best plans of a space: every legal plan is evaluated, or a proven bound says that it is in no answer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "trainplan/search/lane.hpp"

namespace trainplan {

/// Runs body(0) to body(n - 1) in any order, on as many threads as the caller likes.
using ForAll = std::function<void(std::size_t n, const std::function<void(std::size_t)>& body)>;
inline void one_after_the_other(std::size_t n, const std::function<void(std::size_t)>& body) {
  for (std::size_t i = 0; i < n; ++i) body(i);
}

namespace detail {

/// Parts of a search, each with bounds of its own, so that neither the answer nor the counts depend on how
/// many threads share them.
inline constexpr std::size_t kLanes = 8;
/// Arrangements with the lowest bounds, which are searched first, so that all parts begin with a plan that
/// fits.
inline constexpr std::size_t kScouted = 48;

inline std::vector<Bounded> bounded_arrangements(const PlanSpace& space, const ForAll& for_all) {
  const std::size_t n = space.arrangements().size();
  std::vector<Bounded> order(n);
  constexpr std::size_t kPiece = 64;
  for_all((n + kPiece - 1) / kPiece, [&](std::size_t piece) {
    for (std::size_t i = piece * kPiece; i < std::min(n, (piece + 1) * kPiece); ++i)
      order[i] = bounded(space, static_cast<std::uint32_t>(i));
  });
  return order;
}

/// A first plan that fits the room, if there is any, so that bounds have something to be held against.
inline Found first_that_fits(const PlanSpace& space, const std::vector<Bounded>& order,
                             const SearchOptions& options, Room room) {
  Found found(options);
  Lane lane(space, options, room, found);
  for (const Bounded& b : order)
    if (lane.probe(b)) break;
  return found;
}

/// known: of the same room.
inline Found search_within(const PlanSpace& space, const std::vector<Bounded>& order,
                           const SearchOptions& options, Room room, const Found& known,
                           const ForAll& for_all) {
  const std::size_t n = order.size(), scouted = std::min(n, kScouted);
  Found all(options);
  all.room = room;
  Lane scout(space, options, room, all, {&known});
  for (std::size_t i = 0; i < scouted; ++i) scout.visit(order[i]);
  std::vector<Found> found(kLanes, Found(options));
  for_all(kLanes, [&](std::size_t lane) {
    Lane worker(space, options, room, found[lane], {&known, &all});
    for (std::size_t i = scouted + lane; i < n; i += kLanes) worker.visit(order[i]);
  });
  for (const Found& f : found) all.merge(f);
  return all;
}

}  // namespace detail

/// The plans with the planning margin free; where there is none those within the gate; where there is none
/// either the smallest. The answer does not depend on for_all.
inline Found search_plans(const PlanSpace& space, const SearchOptions& options, const ForAll& for_all) {
  Found found(options);
  if (space.size() == 0) return found;
  std::vector<detail::Bounded> order = detail::bounded_arrangements(space, for_all);
  std::ranges::sort(order, {}, [](const detail::Bounded& b) { return std::pair(b.step, b.arrangement); });
  for (const Room room : {Room::Planned, Room::Gate}) {
    if (options.objective == Objective::Headroom) break;
    const Found known = detail::first_that_fits(space, order, options, room);
    if (known.best.kept().empty()) continue;
    found = detail::search_within(space, order, options, room, known, for_all);
    const double first = found.best.kept().front().step;
    found.front.drop([&](const Candidate& c) { return c.step > first * (1 + options.slower); });
    const double fastest = found.front.kept().empty() ? first : found.front.kept().front().step;
    found.near.drop([&](const Candidate& c) { return c.step > fastest; });
    return found;
  }
  std::ranges::sort(order, {}, &detail::Bounded::arrangement);
  return detail::search_within(space, order, options, Room::None, Found(options), for_all);
}

}  // namespace trainplan
