/// Halves of the rows, drawn by family: rows that repeat one configuration stay together.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/report/fitted_rows.hpp"

namespace trainplan {

/// The same numbers from the same seed everywhere (SplitMix64), which those of <random> need not be.
class Draws {
  std::uint64_t state_;

 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// A number below n.
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }
};

/// Constants are fitted to one half and judged on the other.
struct Split {
  FittedRows fitted, held_out;
};

inline Split half_split(const FittedRows& rows, std::uint64_t seed) {
  std::set<std::string> names;
  for (const FittedRow& r : rows) names.insert(r.row->family);
  std::vector<std::string> families(names.begin(), names.end());
  Draws(seed).shuffle(families);
  families.resize(families.size() / 2);
  const std::set<std::string> first(families.begin(), families.end());
  Split out;
  for (const FittedRow& r : rows) (first.count(r.row->family) > 0 ? out.fitted : out.held_out).push_back(r);
  return out;
}

}  // namespace trainplan
