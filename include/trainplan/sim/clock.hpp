/// Seconds as whole ticks, and back: a tick is a fraction of a picosecond grid on which nothing is rounded.
#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>

#include "trainplan/sim/slot.hpp"

namespace trainplan::sim {

/// The one door from seconds to the clock. A decimal text of that precision comes through unchanged.
inline Ticks whole_picoseconds(double seconds) { return static_cast<Ticks>(std::llround(seconds * 1e12)); }

/// A tick is numerator / denominator picoseconds.
struct Clock {
  Ticks numerator = 1, denominator = 1;

  double seconds(Ticks t) const {
    const auto picoseconds = static_cast<long double>(t) * static_cast<long double>(numerator) /
                             static_cast<long double>(denominator);
    return static_cast<double>(picoseconds / 1e12L);
  }
};

/// The longest tick that divides every time that was added, after each was cut into `parts`.
class ClockFinder {
  Ticks parts_, common_ = 0;

 public:
  explicit ClockFinder(Ticks parts = 1) : parts_(parts) {}

  /// A time that chunks share: a part of it is a whole number of ticks.
  void add_shared(Ticks picoseconds) { common_ = std::gcd(common_, picoseconds); }
  void add(Ticks picoseconds) { common_ = std::gcd(common_, picoseconds * parts_); }

  Clock clock() const {
    const Ticks numerator = common_ == 0 ? parts_ : common_, shared = std::gcd(numerator, parts_);
    return {numerator / shared, parts_ / shared};
  }
  Ticks ticks(Ticks picoseconds) const { return common_ == 0 ? picoseconds : picoseconds * parts_ / common_; }
};

}  // namespace trainplan::sim
