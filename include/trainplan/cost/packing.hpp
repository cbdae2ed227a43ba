/// Documents of unequal length: how many sequences they fill, and how even the work of ranks is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

namespace trainplan {

/// Sequences of a length that hold documents whole: first fit, the longest first. A longer document fills as
/// many as it needs.
inline std::size_t packed_sequences(std::vector<double> lengths, double capacity) {
  std::ranges::sort(lengths, std::greater{});
  std::size_t full = 0;
  std::vector<double> free;
  for (double length : lengths) {
    for (; length > capacity; length -= capacity) ++full;
    const auto place = std::ranges::find_if(free, [&](double room) { return room >= length; });
    if (place != free.end())
      *place -= length;
    else
      free.push_back(capacity - length);
  }
  return full + free.size();
}

/// Work of the busiest rank over the mean, when the sequences of a list go to ranks in turn.
inline double imbalance_in_turn(std::span<const double> work, std::size_t ranks) {
  std::vector<double> load(ranks);
  for (std::size_t i = 0; i < work.size(); ++i) load[i % ranks] += work[i];
  const double all = std::accumulate(load.begin(), load.end(), 0.0);
  return all > 0 ? std::ranges::max(load) * static_cast<double>(ranks) / all : 1;
}

/// The same when the longest goes first, each to the rank with the least work so far.
inline double imbalance_by_work(std::vector<double> work, std::size_t ranks) {
  std::ranges::sort(work, std::greater{});
  std::vector<double> load(ranks);
  for (const double w : work) *std::ranges::min_element(load) += w;
  const double all = std::accumulate(load.begin(), load.end(), 0.0);
  return all > 0 ? std::ranges::max(load) * static_cast<double>(ranks) / all : 1;
}

}  // namespace trainplan
