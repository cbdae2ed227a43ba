/// Rows that stand for the configurations of many.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "trainplan/fit/recalibrate.hpp"
#include "trainplan/report/fitted_rows.hpp"

namespace trainplan {

namespace detail {

/// What a step is made of: how it depends on the rates of products, attention, memory and NICs, and whether
/// the host decides it.
inline Rows makeup_of(const FittedRows& rows, const Checked<Calibration>& c) {
  constexpr double kHostCounts = 4;
  Rows out;
  for (const FittedRow& r : rows) {
    const Observation& o = r.observation;
    const auto of_accelerator = [&](Figure AcceleratorConstants::*figure) {
      return sensitivity(o, c,
                         {.scope = FreeConstant::Scope::Accelerator,
                          .accelerator = o.accelerator(),
                          .of_accelerator = figure});
    };
    const auto of_time = [&](Figure TimeConstants::*figure) {
      return sensitivity(o, c, {.of_time = figure});
    };
    const double host = sensitivity(o, c,
                                    {.scope = FreeConstant::Scope::Stack,
                                     .stack = o.stack(),
                                     .of_stack = &StackConstants::host_per_layer});
    out.push_back({of_accelerator(&AcceleratorConstants::gemm),
                   o.is_low() ? of_accelerator(&AcceleratorConstants::low_gemm) : 0,
                   of_accelerator(&AcceleratorConstants::attention), of_time(&TimeConstants::memory_rate),
                   of_time(&TimeConstants::nic_rate), kHostCounts * host});
  }
  return out;
}

inline double distance_between(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

/// Sum of the distances of all to the nearest of those that stand for them.
inline double spread_cost(const Rows& makeup, const std::vector<std::size_t>& picks) {
  double sum = 0;
  for (const std::vector<double>& row : makeup) {
    double nearest = std::numeric_limits<double>::max();
    for (const std::size_t p : picks) nearest = std::min(nearest, distance_between(row, makeup[p]));
    sum += nearest;
  }
  return sum;
}

inline bool is_in(const std::vector<std::size_t>& picks, std::size_t i) {
  return std::find(picks.begin(), picks.end(), i) != picks.end();
}

/// Puts a row in the place of one of the picks where that brings them nearest to all; false when none does.
inline bool exchange(const Rows& makeup, std::vector<std::size_t>& picks) {
  std::vector<std::size_t> best = picks;
  double least = spread_cost(makeup, picks) - 1e-9;
  for (std::size_t k = 0; k < picks.size(); ++k)
    for (std::size_t i = 0; i < makeup.size(); ++i) {
      if (is_in(picks, i)) continue;
      std::vector<std::size_t> trial = picks;
      trial[k] = i;
      const double cost = spread_cost(makeup, trial);
      if (cost >= least) continue;
      least = cost - 1e-9;
      best = trial;
    }
  const bool better = best != picks;
  picks = best;
  return better;
}

}  // namespace detail

/// Indices of so many rows, each near the middle of a part of them: what somebody would measure who knows
/// which steps are alike. Nothing measured is looked at.
inline std::vector<std::size_t> spread_rows(const FittedRows& rows, std::size_t count,
                                            const Checked<Calibration>& c) {
  const Rows makeup = detail::makeup_of(rows, c);
  std::vector<std::size_t> picks;
  while (picks.size() < std::min(count, rows.size())) {
    std::size_t best = rows.size();
    double least = std::numeric_limits<double>::max();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (detail::is_in(picks, i)) continue;
      std::vector<std::size_t> trial = picks;
      trial.push_back(i);
      const double cost = detail::spread_cost(makeup, trial);
      if (cost >= least) continue;
      least = cost - 1e-9;
      best = i;
    }
    picks.push_back(best);
  }
  while (detail::exchange(makeup, picks)) {
  }
  std::sort(picks.begin(), picks.end());
  return picks;
}

}  // namespace trainplan
