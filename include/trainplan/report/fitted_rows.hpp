/// Rows of measured runs whose step times constants can be fitted to.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/fit/fit.hpp"
#include "trainplan/fit/own_constants.hpp"
#include "trainplan/report/measured_rows.hpp"

namespace trainplan {

/// A row, and the step that is predicted for it. Refers to the row.
struct FittedRow {
  const MeasuredRun* row = nullptr;
  Observation observation;

  /// predicted / measured - 1.
  double error(const Checked<Calibration>& c) const { return std::expm1(observation.error(c)); }
};
using FittedRows = std::vector<FittedRow>;

/// Rows of one source, GPU, kind and width of products weigh together.
inline std::string fit_group(const MeasuredRun& row) {
  const bool low = row.run->problem().recipe.matmul != Matmul::Wide;
  return row.source + "/" + row.gpu + (row.sparse ? "m" : "") + (low ? "8" : "");
}

/// Standard rows with a step time. The table must outlive them.
inline FittedRows fitted_rows(const MeasuredTable& table) {
  FittedRows out;
  for (const MeasuredRun& row : table.rows) {
    if (row.run == nullptr || !row.step_time || row.standing != Standing::Standard) continue;
    out.push_back({&row, Observation(row.run->problem(), row.run->plan(), *row.step_time, fit_group(row))});
  }
  return out;
}
FittedRows fitted_rows(MeasuredTable&&) = delete;

inline std::vector<Observation> observations_of(const FittedRows& rows) {
  std::vector<Observation> out;
  for (const FittedRow& r : rows) out.push_back(r.observation);
  return out;
}

/// The rows that a predicate takes.
template <class P>
FittedRows chosen(const FittedRows& rows, P takes) {
  FittedRows out;
  for (const FittedRow& r : rows)
    if (takes(r)) out.push_back(r);
  return out;
}

/// Accelerators of the rows.
inline std::vector<std::string> accelerators_of(const FittedRows& rows) {
  std::vector<std::string> out;
  for (const FittedRow& r : rows) {
    const std::string& id = r.observation.problem.cluster().accelerator.id;
    if (std::find(out.begin(), out.end(), id) == out.end()) out.push_back(id);
  }
  return out;
}

/// Constants with an entry for every accelerator of the rows that has none; those that share one go on to.
inline Checked<Calibration> with_entries(const Checked<Calibration>& c, const FittedRows& rows) {
  std::vector<std::string> unknown;
  for (const std::string& id : accelerators_of(rows))
    if (c->of(id).id != id) unknown.push_back(id);
  Issues ignored;
  return *Checked<Calibration>::make(with_own_constants(*c, unknown), ignored);
}

inline constexpr int kFitRounds = 60;

/// Every constant that measured steps tell: those of the accelerators and stacks of the rows, and of all
/// runs.
inline std::vector<FreeConstant> all_constants(const std::vector<Observation>& observations) {
  std::vector<FreeConstant> out = local_constants(observations);
  for (FreeConstant& c : global_constants()) out.push_back(std::move(c));
  return out;
}

/// All constants fitted to the rows.
inline Checked<Calibration> fitted(const Checked<Calibration>& start, const FittedRows& rows,
                                   int rounds = kFitRounds) {
  std::vector<Observation> observations;
  const Checked<Calibration> own = with_entries(start, rows);
  for (const FittedRow& r : rows) observations.push_back(r.observation.with(own));
  FitOptions options;
  options.rounds = rounds;
  Fit fit(own, observations, options);
  fit.run(all_constants(observations));
  return fit.constants();
}

}  // namespace trainplan
