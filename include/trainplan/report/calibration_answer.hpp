/// What a few measured steps of one's own change, and what that does to the errors.
#pragma once

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/fit/recalibrate.hpp"
#include "trainplan/report/fitted_rows.hpp"

namespace trainplan {

/// Errors of a row: before, after, and under constants that the other rows give.
struct CalibratedRow {
  const MeasuredRun* row = nullptr;
  double measured = 0, before = 0, after = 0, left_out = 0;
};

struct CalibrationAnswer {
  Checked<Calibration> before, after;
  std::vector<FreeConstant> moved;
  std::vector<CalibratedRow> rows;

  /// Mean size of the errors.
  double mean(double CalibratedRow::*error) const {
    double sum = 0;
    for (const CalibratedRow& r : rows) sum += std::abs(r.*error);
    return rows.empty() ? 0 : sum / static_cast<double>(rows.size());
  }
  /// Rows that were left out are predicted worse than before, all or those of one kind: what was fitted does
  /// not carry over, or not from dense models to mixtures of experts.
  bool worse() const {
    double change[2] = {0, 0};
    for (const CalibratedRow& r : rows) change[r.row->sparse] += std::abs(r.left_out) - std::abs(r.before);
    return change[0] > 0 || change[1] > 0;
  }
};

namespace detail {

/// Accelerator and stack: each needs a factor of its own.
inline std::string setup_name(const FittedRow& r) {
  return r.observation.problem.cluster().accelerator.id + " with " +
         std::string(name_of(r.observation.stack()));
}

inline std::set<std::string> setups_of(const FittedRows& rows) {
  std::set<std::string> out;
  for (const FittedRow& r : rows) out.insert(setup_name(r));
  return out;
}

inline constexpr double kContradiction = 3;  // ratio of measured over predicted of two rows
inline constexpr double kRepetition = 1.25;  // the same of two rows of one configuration

/// How far two rows are apart that nothing but chance may tell apart.
inline double distance_of(const FittedRow& a, const FittedRow& b, const Checked<Calibration>& c) {
  return std::exp(std::abs(a.observation.error(c) - b.observation.error(c)));
}
inline bool same_configuration(const FittedRow& a, const FittedRow& b, const Checked<Calibration>& c) {
  return a.row->family == b.row->family && a.observation.predicted(c) == b.observation.predicted(c);
}

/// "8b and 70b", when no constants bring the two together.
inline std::string contradiction_of(const FittedRows& rows, const Checked<Calibration>& c) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t k = i + 1; k < rows.size(); ++k) {
      const double limit = same_configuration(rows[i], rows[k], c) ? kRepetition : kContradiction;
      if (distance_of(rows[i], rows[k], c) > limit) return rows[i].row->id + " and " + rows[k].row->id;
    }
  return {};
}

}  // namespace detail

/// Why rows cannot be fitted to; true when they can.
inline bool judge_rows(const FittedRows& rows, const Checked<Calibration>& c, const std::string& file,
                       Issues& issues) {
  const auto refuse = [&](const char* rule, std::string got, std::string must, std::string hint) {
    issues.add({.rule = rule,
                .file = file,
                .got = std::move(got),
                .must = std::move(must),
                .hint = std::move(hint)});
    return false;
  };
  const std::string count = std::to_string(rows.size()) + (rows.size() == 1 ? " row" : " rows");
  if (rows.size() < 2)
    return refuse("few-rows", count + " with a step time",
                  "have at least two standard rows: one alone cannot show that its constants carry over",
                  "measure steps of 2 to 5 configurations");
  const std::size_t setups = detail::setups_of(rows).size();
  if (setups > rows.size() - 1)
    return refuse("over-fit", count + " of " + std::to_string(setups) + " accelerators and stacks",
                  "have more rows than constants: each accelerator and stack needs a factor of its own",
                  "give " + std::to_string(setups + 1) + " rows, or those of one accelerator and stack");
  const std::string pair = detail::contradiction_of(rows, c);
  if (!pair.empty())
    return refuse("contradiction", pair,
                  "be measured within a factor of 3 of each other, seen from what is predicted (1.25 for two "
                  "rows of one configuration)",
                  "look for a unit, a batch or a recipe that is not what was run");
  return true;
}

/// The rows must have passed judge_rows.
inline CalibrationAnswer calibrated(const Checked<Calibration>& shipped, const FittedRows& rows,
                                    const RecalibrationOptions& options = {}) {
  Issues ignored;
  const auto start = Checked<Calibration>::make(with_own_constants(*shipped, accelerators_of(rows)), ignored);
  std::vector<Observation> steps;
  for (const FittedRow& r : rows) steps.push_back(r.observation.with(*start));
  std::vector<FreeConstant> free = telling_constants(steps, *start, rows.size() - 1, options);
  const Checked<Calibration> after = recalibrated(*start, steps, free, options);
  const std::vector<double> left_out = left_out_errors(*start, steps, free, options);
  CalibrationAnswer out{*start, after, std::move(free), {}};
  for (std::size_t i = 0; i < rows.size(); ++i)
    out.rows.push_back({rows[i].row, steps[i].measured, rows[i].error(*start), rows[i].error(after),
                        std::expm1(left_out[i])});
  return out;
}

}  // namespace trainplan
