/// Which experts a router chooses, and by how little the last of them won.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace trainplan::study {

/// Indices of the k largest scores, best first; of equal ones the earlier. No more than
/// there are scores.
inline std::vector<std::size_t> chosen_experts(std::span<const double> scores, std::size_t k) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  order.resize(std::min(k, order.size()));
  return order;
}

/// How far the score of the last chosen expert lies above that of the first that is left out: a change of
/// half of it, up for one and down for the other, chooses another. Infinite when all are chosen.
inline double routing_margin(std::span<const double> scores, std::size_t k) {
  const auto order = chosen_experts(scores, scores.size());
  return k == 0 || k >= order.size() ? std::numeric_limits<double>::infinity()
                                     : scores[order[k - 1]] - scores[order[k]];
}

}  // namespace trainplan::study
