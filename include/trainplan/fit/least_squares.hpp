/// Small systems of linear equations.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace trainplan {

using Rows = std::vector<std::vector<double>>;

/// x with A x = b, by elimination with pivots. A is square and not singular.
inline std::vector<double> solve(Rows a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t pivot = i;
    for (std::size_t r = i + 1; r < n; ++r)
      if (std::abs(a[r][i]) > std::abs(a[pivot][i])) pivot = r;
    std::swap(a[i], a[pivot]);
    std::swap(b[i], b[pivot]);
    for (std::size_t r = 0; r < n; ++r) {
      if (r == i) continue;
      const double share = a[r][i] / a[i][i];
      for (std::size_t k = i; k < n; ++k) a[r][k] -= share * a[i][k];
      b[r] -= share * b[i];
    }
  }
  for (std::size_t i = 0; i < n; ++i) b[i] /= a[i][i];
  return b;
}

}  // namespace trainplan
