/// How many spares cover the repairs that are under way.
#pragma once

#include <cmath>
#include <utility>

#include "trainplan/base/distributions.hpp"

namespace trainplan {

/// Fewest spares that suffice a share `confidence` of the time, when repairs are a Poisson count with that
/// mean. Confidence is below 1.
inline double spares_for(double mean_in_repair, double confidence) {
  const auto too_few = [&](double spares) {
    return mean_in_repair > 0 && gamma_below(spares + 1, mean_in_repair) > 1 - confidence;
  };
  if (!too_few(0)) return 0;
  double few = 0, enough = 1;
  while (too_few(enough)) few = std::exchange(enough, 2 * enough);
  while (enough - few > 1) {
    const double between = std::floor((few + enough) / 2);
    (too_few(between) ? few : enough) = between;
  }
  return enough;
}

}  // namespace trainplan
