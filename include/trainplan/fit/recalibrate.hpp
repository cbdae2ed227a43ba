/// Moves the constants of one's accelerator and stack by a few measured steps.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "trainplan/fit/free_constants.hpp"
#include "trainplan/fit/least_squares.hpp"

namespace trainplan {

/// Few rows move little: a constant is expected within `width` of where it starts (the host's time within
/// `host_width`), a step within `noise` of its prediction, all as logarithms. An error far beyond the noise
/// pulls no more than one of its size: single rows are often odd.
struct RecalibrationOptions {
  double width = 0.1, host_width = 0.2;
  double noise = 0.22;
  double least = 0.05;  // a constant that moves the rows by less when it moves by its width tells nothing
  int rounds = 12;
};

/// What the rows may move: factors of their stacks, shares of their accelerators, times of the host.
inline std::vector<FreeConstant> movable_constants(std::span<const Observation> rows) {
  std::vector<FreeConstant> out, shares;
  for (FreeConstant& c : local_constants(rows))
    if (c.of_stack != &StackConstants::slowdown) shares.push_back(std::move(c));
  for (const Observation& o : rows) {
    const auto known = [&](const FreeConstant& c) { return c.stack == o.stack(); };
    if (std::any_of(out.begin(), out.end(), known)) continue;
    out.push_back(
        {.scope = FreeConstant::Scope::Stack, .stack = o.stack(), .of_stack = &StackConstants::slowdown});
  }
  out.insert(out.end(), shares.begin(), shares.end());
  return out;
}

/// Change of the logarithm of a predicted step with that of a constant.
inline double sensitivity(const Observation& o, const Checked<Calibration>& c, const FreeConstant& constant) {
  if (!constant.moves(o)) return 0;
  for (const double step : {0.05, -0.05})
    if (const auto other = moved(*c, constant, step)) return (o.error(*other) - o.error(c)) / step;
  return 0;
}

/// A row of sensitivities for each observation.
inline Rows sensitivities(std::span<const Observation> rows, const Checked<Calibration>& c,
                          const std::vector<FreeConstant>& constants) {
  Rows out;
  for (const Observation& o : rows) {
    out.emplace_back();
    for (const FreeConstant& k : constants) out.back().push_back(sensitivity(o, c, k));
  }
  return out;
}

namespace detail {

inline double width_of(const FreeConstant& c, const RecalibrationOptions& options) {
  return c.of_stack == &StackConstants::host_per_layer ? options.host_width : options.width;
}

/// Takes from every column what lies along one of them, which was chosen.
inline void take_out(Rows& columns, std::size_t chosen, double length) {
  const std::vector<double> along = columns[chosen];
  for (std::vector<double>& column : columns) {
    double dot = 0;
    for (std::size_t i = 0; i < along.size(); ++i) dot += column[i] * along[i] / (length * length);
    for (std::size_t i = 0; i < along.size(); ++i) column[i] -= dot * along[i];
  }
}

inline double length_of(const std::vector<double>& column) {
  double sum = 0;
  for (const double x : column) sum += x * x;
  return std::sqrt(sum);
}

}  // namespace detail

/// The constants that these rows tell apart, at most so many: each is the one that moves the rows the most in
/// ways in which those before it do not.
inline std::vector<FreeConstant> telling_constants(std::span<const Observation> rows,
                                                   const Checked<Calibration>& c, std::size_t most,
                                                   const RecalibrationOptions& options = {}) {
  const std::vector<FreeConstant> all = movable_constants(rows);
  const Rows by_row = sensitivities(rows, c, all);
  Rows columns(all.size());
  for (std::size_t k = 0; k < all.size(); ++k)
    for (const std::vector<double>& row : by_row)
      columns[k].push_back(row[k] * detail::width_of(all[k], options));
  std::vector<FreeConstant> out;
  while (out.size() < std::min(most, all.size())) {
    std::size_t longest = 0;
    for (std::size_t k = 1; k < all.size(); ++k)
      if (detail::length_of(columns[k]) > detail::length_of(columns[longest]) + 1e-9) longest = k;
    const double length = detail::length_of(columns[longest]);
    if (length < options.least) break;
    out.push_back(all[longest]);
    detail::take_out(columns, longest, length);
  }
  return out;
}

namespace detail {

/// The step towards the most likely constants, seen from `now`: squared errors, each over the noise, and
/// squared distances from the start. odd: an error far beyond the noise is weighed down.
inline std::vector<double> likely_step(std::span<const Observation> rows, const Checked<Calibration>& now,
                                       const std::vector<FreeConstant>& constants,
                                       const std::vector<double>& distance, bool odd,
                                       const RecalibrationOptions& options) {
  const std::size_t n = constants.size();
  const Rows s = sensitivities(rows, now, constants);
  Rows a(n, std::vector<double>(n, 0));
  std::vector<double> b(n, 0);
  for (std::size_t k = 0; k < n; ++k) {
    const double pull = 1 / (width_of(constants[k], options) * width_of(constants[k], options));
    a[k][k] = pull;
    b[k] = -pull * distance[k];
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double error = rows[i].error(now), size = error / options.noise;
    const double weight = (odd ? 2 / (1 + size * size) : 1) / (options.noise * options.noise);
    for (std::size_t k = 0; k < n; ++k) {
      b[k] -= weight * s[i][k] * error;
      for (std::size_t l = 0; l < n; ++l) a[k][l] += weight * s[i][k] * s[i][l];
    }
  }
  return solve(std::move(a), std::move(b));
}

}  // namespace detail

/// The constants that are most likely after these rows; only those named move. The first round takes all rows
/// as they are: seen from far away every row looks odd.
inline Checked<Calibration> recalibrated(const Checked<Calibration>& start, std::span<const Observation> rows,
                                         const std::vector<FreeConstant>& constants,
                                         const RecalibrationOptions& options = {}) {
  Checked<Calibration> now = start;
  std::vector<double> distance(constants.size(), 0);
  for (int round = 0; round < options.rounds; ++round) {
    const std::vector<double> step = detail::likely_step(rows, now, constants, distance, round > 0, options);
    for (std::size_t k = 0; k < constants.size(); ++k) {
      const auto next = moved(*now, constants[k], step[k]);
      if (!next) continue;  // at the border of what is legal
      now = *next;
      distance[k] += step[k];
    }
  }
  return now;
}

/// The error of each row under constants that those of other configurations give. configurations: their
/// names, one for each row.
inline std::vector<double> left_out_errors(const Checked<Calibration>& start,
                                           std::span<const Observation> rows,
                                           std::span<const std::string> configurations,
                                           const std::vector<FreeConstant>& constants,
                                           const RecalibrationOptions& options = {}) {
  std::vector<double> out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<Observation> others;
    for (std::size_t k = 0; k < rows.size(); ++k)
      if (configurations[k] != configurations[i]) others.push_back(rows[k]);
    out.push_back(rows[i].error(recalibrated(start, others, constants, options)));
  }
  return out;
}

}  // namespace trainplan
