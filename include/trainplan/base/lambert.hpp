/// The principal branch of Lambert's W function, which the standard library lacks.
#pragma once

#include <cmath>
#include <limits>

namespace trainplan {

/// The w of at least -1 with w exp(w) = z, to some 1e-15; not a number below -1/e.
inline double lambert_w(double z) {
  constexpr double kE = 2.718281828459045235;
  const double above = kE * z + 1;  // 0 where the branch begins
  if (!(above >= -1e-12)) return std::numeric_limits<double>::quiet_NaN();
  if (above <= 0) return -1;
  const double p = std::sqrt(2 * above);  // series about the beginning of the branch, else a logarithm
  double w = z < 1 ? -1 + p - p * p / 3 + 11 * p * p * p / 72 : std::log(z) - std::log(1 + std::log(z));
  if (p < 1e-3) return w;        // the next term of the series is below 1e-13
  for (int i = 0; i < 8; ++i) {  // Halley's method: three times as many digits each
    const double e = std::exp(w), f = w * e - z;
    w -= f / (e * (w + 1) - (w + 2) * f / (2 * w + 2));
  }
  return w;
}

}  // namespace trainplan
