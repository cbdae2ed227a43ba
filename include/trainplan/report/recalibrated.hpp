/// What a few steps of one's own are worth: a source, accelerator and stack that no constant was fitted to,
/// before and after some of its rows were given to `calibrate`.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/report/calibration_answer.hpp"
#include "trainplan/report/comparison.hpp"
#include "trainplan/report/splits.hpp"
#include "trainplan/report/spread_rows.hpp"

namespace trainplan {

/// Medians of the rows that were not given. drawn: the mean of these medians over rows drawn at random.
struct RecalibratedGroup {
  std::string source, accelerator, stack;
  std::size_t rows = 0;
  double before = 0, after = 0, drawn_before = 0, drawn = 0;
  std::string outcome;  // what moved, or why nothing did
};

inline constexpr std::size_t kLeastGroup = 6;
inline constexpr int kRowDraws = 20;
inline constexpr double kRecalibratedTarget = 0.07, kWorseAllowed = 0.01;

namespace detail {

inline double median_error(const FittedRows& rows, const Checked<Calibration>& c) {
  std::vector<double> errors;
  for (const FittedRow& r : rows) errors.push_back(r.error(c));
  return summary_of(errors).median;
}

/// The constants that a user would go on with: those of `calibrate` when it writes them.
inline std::pair<Checked<Calibration>, std::string> taken_over(const Checked<Calibration>& before,
                                                               const FittedRows& given) {
  Issues refusals;
  if (!judge_rows(given, before, "", refusals)) return {before, "refused: " + refusals.all().front().rule};
  CalibrationAnswer answer = calibrated(before, given);
  if (answer.worse()) return {before, "not written"};
  std::string names;
  for (const FreeConstant& c : answer.moved) names += (names.empty() ? "" : ", ") + key_of(c);
  return {answer.after, names.empty() ? "nothing moved" : names};
}

inline std::pair<FittedRows, FittedRows> given_and_others(const FittedRows& rows,
                                                          const std::vector<std::size_t>& picks) {
  std::pair<FittedRows, FittedRows> out;
  for (std::size_t i = 0; i < rows.size(); ++i) (is_in(picks, i) ? out.first : out.second).push_back(rows[i]);
  return out;
}

/// Means over rows drawn at random.
inline void draw_rows(RecalibratedGroup& out, const FittedRows& rows, std::size_t count,
                      const Checked<Calibration>& before) {
  Draws draws(1);
  std::vector<std::size_t> order(rows.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (int draw = 0; draw < kRowDraws; ++draw) {
    draws.shuffle(order);
    const std::vector<std::size_t> picks(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
    const auto [given, others] = given_and_others(rows, picks);
    out.drawn_before += median_error(others, before) / kRowDraws;
    out.drawn += median_error(others, taken_over(before, given).first) / kRowDraws;
  }
}

}  // namespace detail

/// One group, whose rows `before` was not fitted to.
inline RecalibratedGroup recalibrated_group(const FittedRows& rows, std::size_t count,
                                            const Checked<Calibration>& before) {
  const Observation& o = rows.front().observation;
  RecalibratedGroup out{rows.front().row->source,
                        o.problem.cluster().accelerator.id,
                        std::string(name_of(o.stack())),
                        rows.size(),
                        0,
                        0,
                        0,
                        0,
                        {}};
  const auto [given, others] = detail::given_and_others(rows, spread_rows(rows, count, before));
  const auto [after, outcome] = detail::taken_over(before, given);
  out.before = detail::median_error(others, before);
  out.after = detail::median_error(others, after);
  out.outcome = outcome;
  detail::draw_rows(out, rows, count, before);
  return out;
}

/// Every group of at least six rows.
inline std::vector<RecalibratedGroup> recalibrated_groups(const FittedRows& rows,
                                                          const Checked<Calibration>& start,
                                                          std::size_t count) {
  const auto name = [](const FittedRow& r) { return r.row->source + "/" + detail::setup_name(r); };
  std::map<std::string, std::size_t> sizes;
  for (const FittedRow& r : rows) ++sizes[name(r)];
  std::vector<RecalibratedGroup> out;
  for (const auto& size : sizes) {
    if (size.second < std::max(kLeastGroup, count + 1)) continue;
    const auto belongs = [&](const FittedRow& r) { return name(r) == size.first; };
    const FittedRows others = chosen(rows, [&](const FittedRow& r) { return !belongs(r); });
    out.push_back(recalibrated_group(chosen(rows, belongs), count, fitted(start, others)));
  }
  return out;
}

}  // namespace trainplan
