/// Axes of a curve: intervals on a logarithmic one, shares on a linear one.
#pragma once

#include <string>
#include <vector>

#include "trainplan/report/waste_curve.hpp"

namespace trainplan {

struct AxisMark {
  double value = 0, place = 0;  ///< place from 0 to 1
  std::string label;
};

/// Round times between the ends of the curve.
std::vector<AxisMark> interval_axis(const WasteCurve& curve);

/// Round shares from 0 to the top, at most so many.
std::vector<AxisMark> waste_axis(const WasteCurve& curve, int most);

/// Where an interval lies, from 0 to 1.
double place_of(const WasteCurve& curve, double interval);

}  // namespace trainplan
