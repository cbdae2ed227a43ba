/// Time lost against the interval between saves, for a terminal and as SVG.
#pragma once

#include <string>

#include "trainplan/render/pictures.hpp"
#include "trainplan/report/waste_curve.hpp"

namespace trainplan {

/// Lines of at most style.columns, ending in a newline.
std::string render_curve(const WasteCurve& curve, const TimelineStyle& style);

/// A drawing with both curves and every mark.
std::string render_curve_svg(const WasteCurve& curve, Theme theme);

}  // namespace trainplan
