/// How many spares cover the repairs that are under way.
#pragma once

#include "trainplan/base/distributions.hpp"

namespace trainplan {

/// Fewest spares that suffice a share `confidence` of the time, when repairs are a Poisson count with that
/// mean. Confidence is below 1.
inline double spares_for(double mean_in_repair, double confidence) {
  double spares = 0;
  while (mean_in_repair > 0 && gamma_below(spares + 1, mean_in_repair) > 1 - confidence) ++spares;
  return spares;
}

}  // namespace trainplan
