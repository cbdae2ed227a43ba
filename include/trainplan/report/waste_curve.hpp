/// Time lost against the interval between saves, as points that a renderer can draw.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "trainplan/report/forecast_answer.hpp"

namespace trainplan {

/// An interval in seconds and the share of the time that does not train.
struct WastePoint {
  double interval = 0, waste = 0;
};

/// letter stands where the mark is drawn; upper case, each once.
struct WasteMark {
  char letter = '?';
  std::string name;
  WastePoint at;
};

/// Intervals grow by equal factors. retried: where failures strike saves and recoveries too. marks in the
/// order of their importance: of two in one place the first is drawn.
struct WasteCurve {
  std::string title;
  std::vector<WastePoint> points, retried;
  std::vector<WasteMark> marks;
  double top = 1;  // of the axis

  double shortest() const { return points.front().interval; }
  double longest() const { return points.back().interval; }
};

/// Of a run that finishes.
inline WasteCurve waste_curve(const ForecastAnswer& a, std::string title) {
  constexpr int kPoints = 200;
  constexpr double kSpan = 16, kTop = 3;  // ends over the best interval; top over the least waste
  const ScenarioRun& s = a.first();
  const LongRun<double>& run = *s.run;
  WasteCurve out{.title = std::move(title), .points = {}, .retried = {}, .marks = {}};
  const double low = std::max(run.least.num(), run.best.num() / kSpan),
               high = std::max(2 * low, run.best.num() * kSpan);
  for (int i = 0; i <= kPoints; ++i) {
    const double tau = low * std::pow(high / low, static_cast<double>(i) / kPoints);
    const LongRun<double> at = evaluate_run(a.plan, s.figures, tau);
    out.points.push_back({tau, 1 - at.goodput.num()});
    out.retried.push_back({tau, 1 - at.complete.num()});
  }
  const auto mark = [&](char letter, std::string name, double tau, double share) {
    out.marks.push_back({letter, std::move(name), {tau, 1 - share}});
  };
  if (s.figures.interval.known) mark('G', "as given", run.interval.num(), run.goodput.num());
  mark('E', "exact optimum", run.best.num(), s.best_goodput);
  mark('Y', "Young", run.young.num(), detail::goodput_of(a.plan, s.figures, run.young.num()));
  double most = kTop * (1 - s.best_goodput);
  for (const WasteMark& m : out.marks) most = std::max(most, 1.1 * m.at.waste);
  out.top = std::min(1.0, most);
  return out;
}

}  // namespace trainplan
