/// Fits constants to measured steps by a search along one constant after the other.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "trainplan/fit/free_constants.hpp"

namespace trainplan {

/// Errors count by their square up to a bound and by their size beyond it (Huber), so that a row that nothing
/// explains does not bend the constants. Squared distances from where the constants start count too: those of
/// an accelerator or a stack, which few rows tell, more than those of all runs.
struct FitOptions {
  int rounds = 30;
  double first_step = 0.2;  // of the logarithm of a constant
  double bound = 0.1;
  double prior = 0.004, local_prior = 0.05;
  double rest = 1e-4;  // a constant whose step is below rests

  double prior_of(const FreeConstant& c) const {
    return c.scope == FreeConstant::Scope::Global ? prior : local_prior;
  }
};

/// One fit: the constants, and the weighted mean loss that they leave.
class Fit {
  std::span<const Observation> observations_;
  FitOptions options_;
  std::vector<double> weights_;
  std::vector<double> losses_;  // of every observation
  Checked<Calibration> now_;

  double loss(double error) const {
    const double e = std::abs(error), bound = options_.bound;
    return e < bound ? e * e / bound : 2 * e - bound;
  }

  /// A group weighs by the root of its size, up to that of 40 rows.
  void weigh() {
    std::map<std::string, double> size;
    for (const Observation& o : observations_) size[o.group] += 1;
    double all = 0;
    for (const auto& [group, n] : size) all += std::sqrt(std::min(n, 40.0));
    for (const Observation& o : observations_) {
      const double n = size[o.group];
      weights_.push_back(std::sqrt(std::min(n, 40.0)) / n / all);
    }
  }

  /// Moves one constant when that lowers the score.
  bool tries(const FreeConstant& constant, double step, double start) {
    const auto trial = moved(*now_, constant, step);
    if (!trial) return false;
    const auto pull = [&](const Checked<Calibration>& c) {
      const double distance = std::log(constant.in(*c).value / start);
      return options_.prior_of(constant) * distance * distance;
    };
    double change = pull(*trial) - pull(now_);
    std::vector<double> losses = losses_;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      if (!constant.moves(observations_[i])) continue;
      losses[i] = loss(observations_[i].error(*trial));
      change += weights_[i] * (losses[i] - losses_[i]);
    }
    if (change >= -1e-9) return false;
    now_ = *trial;
    losses_ = std::move(losses);
    return true;
  }

 public:
  Fit(const Checked<Calibration>& start, std::span<const Observation> observations, FitOptions options = {})
      : observations_(observations), options_(options), now_(start) {
    weigh();
    for (const Observation& o : observations_) losses_.push_back(loss(o.error(start)));
  }

  /// Searches until the rounds are used up.
  void run(const std::vector<FreeConstant>& constants) {
    std::vector<double> steps(constants.size(), options_.first_step), starts;
    for (const FreeConstant& c : constants) starts.push_back(c.in(*now_).value);
    for (int round = 0; round < options_.rounds; ++round)
      for (std::size_t i = 0; i < constants.size(); ++i) {
        if (steps[i] < options_.rest) continue;
        const bool better =
            tries(constants[i], steps[i], starts[i]) || tries(constants[i], -steps[i], starts[i]);
        steps[i] *= better ? 1.1 : 0.6;
      }
  }

  const Checked<Calibration>& constants() const { return now_; }
};

}  // namespace trainplan
