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
#include "trainplan/report/report.hpp"

namespace trainplan {

/// Errors of a row: before, after, and under constants that the other configurations give.
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

/// Names of the configurations, one for each row: rows that repeat one tell no more than one of them.
inline std::vector<std::string> configurations_of(const FittedRows& rows) {
  std::vector<std::string> out;
  for (const FittedRow& r : rows) out.push_back(r.row->family);
  return out;
}
inline std::size_t number_of_configurations(const FittedRows& rows) {
  const std::vector<std::string> names = configurations_of(rows);
  return std::set<std::string>(names.begin(), names.end()).size();
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

/// No constants bring the two together.
inline bool contradict(const FittedRow& a, const FittedRow& b, const Checked<Calibration>& c) {
  return distance_of(a, b, c) > (same_configuration(a, b, c) ? kRepetition : kContradiction);
}

/// Pairs of rows that contradict each other, each with the odd one first: the one that contradicts the most
/// rows, of equals the later one. It is left out then, until the others agree.
inline std::vector<std::pair<std::size_t, std::size_t>> odd_rows(const FittedRows& rows,
                                                                 const Checked<Calibration>& c) {
  std::vector<std::size_t> left(rows.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  std::vector<std::pair<std::size_t, std::size_t>> out;
  for (;;) {
    std::size_t most = 0, odd = 0, other = 0;
    for (const std::size_t i : left) {
      std::size_t count = 0, first = 0;
      for (const std::size_t k : left)
        if (k != i && contradict(rows[i], rows[k], c) && count++ == 0) first = k;
      if (count == 0 || count < most) continue;
      most = count;
      odd = i;
      other = first;
    }
    if (most == 0) break;
    out.emplace_back(odd, other);
    left.erase(std::find(left.begin(), left.end(), odd));
  }
  std::sort(out.begin(), out.end());
  return out;
}

inline void refuse_contradictions(const FittedRows& rows, const Checked<Calibration>& c,
                                  const std::string& file, Issues& issues) {
  for (const auto& [odd, other] : odd_rows(rows, c))
    issues.add({.rule = "contradiction",
                .file = file,
                .pointer = "step_time_s",
                .got = rows[odd].row->id + " against " + rows[other].row->id,
                .must =
                    "be measured within a factor of 3 of each other, seen from what is predicted (1.25 for "
                    "two rows of one configuration)",
                .hint = "look for a unit, a batch or a recipe that is not what was run",
                .line = rows[odd].row->line,
                .column = 1});
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
  const std::size_t setups = detail::setups_of(rows).size(),
                    configurations = detail::number_of_configurations(rows);
  if (configurations < 2)
    return refuse("over-fit", count + " of one configuration",
                  "be of at least two: repeats of one cannot show that its constants carry over",
                  "measure another model, micro-batch, sequence or plan too");
  if (setups > configurations - 1)
    return refuse(
        "over-fit",
        std::to_string(configurations) + " configurations of " + std::to_string(setups) +
            " accelerators and stacks",
        "be more configurations than constants: each accelerator and stack needs a factor of its own",
        "give " + std::to_string(setups + 1) + " configurations, or those of one accelerator and stack");
  detail::refuse_contradictions(rows, c, file, issues);
  return !issues.has_errors();
}

/// Why no constant is fitted to a row; empty when it can be.
inline std::string not_fitted(const MeasuredRun& r) {
  if (!r.skipped.empty()) return r.skipped;
  if (!r.step_time) return "no step time";
  return r.standing == Standing::Standard ? "" : "marked " + std::string(name_of(r.standing));
}

inline Table unused_rows(const MeasuredTable& table) {
  Table t{"unused", "Rows that are not used", {{"id", "run"}, {"reason", "reason"}}, {}};
  for (const MeasuredRun& r : table.rows)
    if (std::string why = not_fitted(r); !why.empty()) t.rows.push_back({r.id, std::move(why)});
  return t;
}

/// The same as warnings, where rows were refused since they are too few: they may be meant to be more.
inline void warn_where_few(const MeasuredTable& table, Issues& issues) {
  const std::string refused = issues.all().empty() ? "" : issues.all().back().rule;
  if (refused != "few-rows" && refused != "over-fit") return;
  for (const MeasuredRun& r : table.rows)
    if (const std::string why = not_fitted(r); !why.empty())
      issues.add({.level = Severity::Warning,
                  .rule = "row-not-used",
                  .file = table.origin,
                  .pointer = "id",
                  .got = r.id,
                  .must = "be a standard row with a step time and a run that can be predicted: " + why,
                  .hint = "trainplan validate " + table.origin + " --rows shows how each row is read",
                  .line = r.line,
                  .column = 1});
}

/// The rows must have passed judge_rows.
inline CalibrationAnswer calibrated(const Checked<Calibration>& shipped, const FittedRows& rows,
                                    const RecalibrationOptions& options = {}) {
  Issues ignored;
  const auto start = Checked<Calibration>::make(with_own_constants(*shipped, accelerators_of(rows)), ignored);
  std::vector<Observation> steps;
  for (const FittedRow& r : rows) steps.push_back(r.observation.with(*start));
  const std::size_t configurations = detail::number_of_configurations(rows);
  std::vector<FreeConstant> free = telling_constants(steps, *start, configurations - 1, options);
  const Checked<Calibration> after = recalibrated(*start, steps, free, options);
  const std::vector<double> left_out =
      left_out_errors(*start, steps, detail::configurations_of(rows), free, options);
  CalibrationAnswer out{*start, after, std::move(free), {}};
  for (std::size_t i = 0; i < rows.size(); ++i)
    out.rows.push_back({rows[i].row, steps[i].measured, rows[i].error(*start), rows[i].error(after),
                        std::expm1(left_out[i])});
  return out;
}

}  // namespace trainplan
