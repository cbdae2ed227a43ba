/// What <cmath> lacks of probability: the largest of normal numbers, and quantiles of the gamma law.
#pragma once

#include <cmath>
#include <numbers>

namespace trainplan {

/// Expected largest of n independent standard normal numbers, to 1e-12; 0 for one or fewer.
/// The integral of z n phi(z) Phi(z)^(n-1): the trapezoid rule converges geometrically, since the integrand
/// is analytic and vanishes on both sides. Beyond 1e12 numbers the grid ends too early.
inline double normal_max(double n) {
  if (n <= 1) return 0;
  constexpr double kStep = 1.0 / 64, kFrom = -9, kTo = 13;
  constexpr int kPoints = static_cast<int>((kTo - kFrom) / kStep);
  double sum = 0;
  for (int i = 0; i <= kPoints; ++i) {
    const double z = kFrom + i * kStep, tail = std::erfc(std::abs(z) / std::numbers::sqrt2) / 2;
    const double log_below = z < 0 ? std::log(tail) : std::log1p(-tail);
    sum += z * std::exp((n - 1) * log_below - z * z / 2);
  }
  return n * sum * kStep / std::sqrt(2 * std::numbers::pi);
}

/// Share of the gamma law of that shape below x: the series before the mean, else the continued fraction.
inline double gamma_below(double shape, double x) {
  if (x <= 0) return 0;
  constexpr double kSmall = 1e-17;
  const double front = std::exp(shape * std::log(x) - x - std::lgamma(shape));
  if (x < shape + 1) {
    double term = 1 / shape, sum = term;
    for (double k = shape + 1; term > sum * kSmall; ++k) sum += term *= x / k;
    return front * sum;
  }
  double b = x + 1 - shape, c = 1e300, d = 1 / b, h = d;
  for (int i = 1; i < 10'000; ++i) {
    const double a = -i * (i - shape);
    b += 2;
    d = 1 / (a * d + b);
    c = b + a / c;
    h *= c * d;
    if (std::abs(c * d - 1) < kSmall * 10) break;
  }
  return 1 - front * h;
}

/// x with a share `below` of the gamma law of that shape below it. Counts n of a Poisson law with mean m have
/// P(X >= n) = gamma_below(n, m), so this gives the limits of a mean that was counted once.
inline double gamma_quantile(double shape, double below) {
  double low = 0, high = shape + 1;
  while (gamma_below(shape, high) < below) low = high, high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-15 * high; ++i) {
    const double middle = (low + high) / 2;
    (gamma_below(shape, middle) < below ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace trainplan
