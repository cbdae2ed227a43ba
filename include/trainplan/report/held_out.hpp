/// Errors of rows that the constants were not fitted to.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/report/comparison.hpp"
#include "trainplan/report/coverage.hpp"
#include "trainplan/report/splits.hpp"

namespace trainplan {

/// Rows that are judged together, and what is aimed at; 0: nothing.
struct HeldOutClass {
  const char* name;
  bool (*has)(const FittedRow&);
  double median = 0, mean = 0, p90 = 0;
};
inline constexpr HeldOutClass kHeldOutClasses[] = {
    {"dense, stack calibrated",
     [](const FittedRow& r) { return !r.row->sparse && r.observation.stack() != Stack::Unknown; }, 0.06,
     0.075, 0.15},
    {"dense", [](const FittedRow& r) { return !r.row->sparse; }, 0.09, 0.12},
    {"dense, vtrain-multi", [](const FittedRow& r) { return r.row->source == "vtrain-multi"; }, 0, 0.1},
    {"dense, vtrain-single", [](const FittedRow& r) { return r.row->source == "vtrain-single"; }, 0, 0.12},
    {"mixture of experts", [](const FittedRow& r) { return r.row->sparse; }, 0.12}};

/// Means over the splits.
struct SplitErrors {
  std::size_t splits = 0;
  double rows = 0, median = 0, mean = 0, p90 = 0;

  void add(const ErrorSummary& s) {
    if (s.rows == 0) return;
    const auto n = static_cast<double>(splits++);
    const auto average = [&](double& mean_so_far, double x) {
      mean_so_far = (mean_so_far * n + x) / (n + 1);
    };
    average(rows, static_cast<double>(s.rows));
    average(median, s.median);
    average(mean, s.mean);
    average(p90, s.p90);
  }
};

/// A source and kind of model: errors in the splits, under constants fitted to all rows, and under those
/// fitted to all other sources.
struct HeldOutSource {
  std::string source, kind;
  SplitErrors held_out;
  ErrorSummary in_sample, left_out;
};

struct HeldOut {
  int splits = 0;
  std::vector<std::pair<const HeldOutClass*, SplitErrors>> classes;
  std::vector<HeldOutSource> sources;
  std::vector<GroupCoverage> coverage;  // of groups that are large enough
};

namespace detail {

inline ErrorSummary errors_of(const FittedRows& rows, const Checked<Calibration>& c) {
  std::vector<double> errors;
  for (const FittedRow& r : rows) errors.push_back(r.error(c));
  return summary_of(errors);
}

inline std::string kind_of(const FittedRow& r) { return r.row->sparse ? "mixture of experts" : "dense"; }
inline bool belongs(const FittedRow& r, const HeldOutSource& s) {
  return r.row->source == s.source && kind_of(r) == s.kind;
}

inline std::vector<HeldOutSource> sources_of(const FittedRows& rows) {
  std::set<std::pair<std::string, std::string>> names;
  for (const FittedRow& r : rows) names.emplace(r.row->source, kind_of(r));
  std::vector<HeldOutSource> out;
  for (const auto& [source, kind] : names) out.push_back({source, kind, {}, {}, {}});
  return out;
}

}  // namespace detail

/// start: where fits begin; all: constants fitted to all rows.
inline HeldOut held_out(const FittedRows& rows, const Checked<Calibration>& start,
                        const Checked<Calibration>& all, int splits) {
  HeldOut out{splits, {}, detail::sources_of(rows), {}};
  Coverage coverage(rows);
  for (const HeldOutClass& c : kHeldOutClasses) out.classes.emplace_back(&c, SplitErrors{});
  for (int seed = 1; seed <= splits; ++seed) {
    const Split split = half_split(rows, static_cast<std::uint64_t>(seed));
    const Checked<Calibration> constants = fitted(start, split.fitted);
    coverage.add(split.held_out, constants);
    for (auto& [c, errors] : out.classes)
      errors.add(detail::errors_of(chosen(split.held_out, c->has), constants));
    for (HeldOutSource& s : out.sources) {
      const auto its = [&](const FittedRow& r) { return detail::belongs(r, s); };
      s.held_out.add(detail::errors_of(chosen(split.held_out, its), constants));
    }
  }
  out.coverage = coverage.of_at_least(kCoverageRows);
  std::optional<Checked<Calibration>> without;
  std::string name;
  for (HeldOutSource& s : out.sources) {
    const FittedRows its = chosen(rows, [&](const FittedRow& r) { return detail::belongs(r, s); });
    if (s.source != name)
      without = fitted(start, chosen(rows, [&](const FittedRow& r) { return r.row->source != s.source; }));
    name = s.source;
    s.in_sample = detail::errors_of(its, all);
    s.left_out = detail::errors_of(its, *without);
  }
  return out;
}

}  // namespace trainplan
