/// Measured runs beside the program's answers, and the size of the errors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "trainplan/cost/plan_cost.hpp"
#include "trainplan/report/measured_rows.hpp"
#include "trainplan/report/validation_answers.hpp"

namespace trainplan {

/// The ends of a predicted range.
struct Interval {
  double low = 0, high = 0;

  bool holds(double x) const { return low <= x && x <= high; }
};

/// One row with what is predicted for it. Errors are predicted / measured - 1.
struct Comparison {
  const MeasuredRun* row = nullptr;
  std::optional<double> step_time, peak;  // predicted seconds and bytes
  Interval time_range{}, peak_range{};    // of rows with a prediction

  std::optional<double> time_error() const {
    if (!step_time || !row->step_time) return std::nullopt;
    return *step_time / *row->step_time - 1;
  }
  /// Of rows whose memory is comparable.
  std::optional<double> memory_error() const {
    if (!peak || !row->peak || !row->not_memory.empty()) return std::nullopt;
    return *peak / *row->peak - 1;
  }
  std::optional<double> error(Target t) const { return t == Target::Time ? time_error() : memory_error(); }
  /// Whether what was measured lies in the range of what is predicted; of rows with an error.
  bool is_inside(Target t) const {
    return t == Target::Time ? time_range.holds(*row->step_time) : peak_range.holds(*row->peak);
  }
};

inline Comparison compared(const MeasuredRun& row) {
  Comparison out{&row, {}, {}};
  if (row.run == nullptr) return out;
  const PlanCost<double> cost = evaluate(row.run->problem(), row.run->plan());
  out.step_time = cost.step.step.num();
  out.time_range = {cost.range.time_low.num(), cost.range.time_high.num()};
  const auto& memory = row.stage == kFullestStage ? cost.memory : detail::memory_at(*row.run, row.stage);
  out.peak = detail::reading_of(memory, row.reading);
  Eval rec;
  const FactorRange<double> factors = memory_factors(rec, row.run->problem(), row.reading);
  out.peak_range = {*out.peak * factors.low.num(), *out.peak * factors.high.num()};
  return out;
}

/// Absolute errors, and the mean of the signed ones. inside: share of the rows within their ranges.
struct ErrorSummary {
  std::size_t rows = 0;
  double median = 0, mean = 0, p90 = 0, worst = 0, bias = 0, inside = 0;
};

/// The value below which a share of sorted ones lies, between two of them in proportion.
inline double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

inline ErrorSummary summary_of(const std::vector<double>& errors) {
  ErrorSummary out;
  out.rows = errors.size();
  if (errors.empty()) return out;
  const auto n = static_cast<double>(errors.size());
  std::vector<double> absolute;
  for (const double e : errors) {
    absolute.push_back(std::abs(e));
    out.bias += e / n;
    out.mean += std::abs(e) / n;
  }
  std::sort(absolute.begin(), absolute.end());
  out.median = quantile(absolute, 0.5);
  out.p90 = quantile(absolute, 0.9);
  out.worst = absolute.back();
  return out;
}

/// Of rows that have an error.
inline ErrorSummary summary_of(const std::vector<const Comparison*>& rows, Target target) {
  std::vector<double> errors;
  double inside = 0;
  for (const Comparison* c : rows) {
    errors.push_back(*c->error(target));
    if (c->is_inside(target)) ++inside;
  }
  ErrorSummary out = summary_of(errors);
  if (!rows.empty()) out.inside = inside / static_cast<double>(rows.size());
  return out;
}

}  // namespace trainplan
