/// By how much one number that is larger on average raises the expected largest of normal numbers.
#pragma once

#include <cmath>
#include <numbers>

#include "trainplan/base/distributions.hpp"

namespace trainplan {

/// E max(X, k + Z) - E X, in standard deviations: X the largest of n - 1 independent standard normal numbers,
/// Z another one. That is the integral of Phi(z)^(n-1) (1 - Phi(z - k)) over all z, by the trapezoid rule,
/// to 1e-9; at least max(0, k - E X).
inline double slow_rank_excess(double k, double n) {
  constexpr double kStep = 1.0 / 64, kTail = 9, kAlwaysLast = 40;
  if (k > kAlwaysLast) return k - normal_max(n - 1);
  const auto log_below = [](double z) {
    const double tail = std::erfc(std::abs(z) / std::numbers::sqrt2) / 2;
    return z < 0 ? std::log(tail) : std::log1p(-tail);
  };
  double sum = 0;
  for (double z = -kTail; z <= k + kTail; z += kStep)
    sum += std::exp((n - 1) * log_below(z)) * std::erfc((z - k) / std::numbers::sqrt2) / 2;
  return sum * kStep;
}

}  // namespace trainplan
