#include "curve_axes.hpp"

#include <array>
#include <cmath>

#include "time_axis.hpp"
#include "units.hpp"

namespace trainplan {

double place_of(const WasteCurve& curve, double interval) {
  return std::log(interval / curve.shortest()) / std::log(curve.longest() / curve.shortest());
}

std::vector<AxisMark> interval_axis(const WasteCurve& curve) {
  constexpr double kMinute = 60, kHour = 3600, kDay = 86400;
  constexpr std::array kRound{1.,       2.,          5.,          10.,          20.,          30.,
                              kMinute,  2 * kMinute, 5 * kMinute, 10 * kMinute, 20 * kMinute, 30 * kMinute,
                              kHour,    2 * kHour,   4 * kHour,   8 * kHour,    16 * kHour,   kDay,
                              2 * kDay, 4 * kDay,    8 * kDay,    16 * kDay,    32 * kDay};
  std::vector<AxisMark> out;
  for (const double t : kRound) {
    if (t < curve.shortest() || t > curve.longest()) continue;
    const TimeUnit unit = t < kMinute ? TimeUnit{1, "s"}
                          : t < kHour ? TimeUnit{kMinute, "min"}
                          : t < kDay  ? TimeUnit{kHour, "h"}
                                      : TimeUnit{kDay, "d"};
    out.push_back({t, place_of(curve, t), in_unit(t, unit) + " " + std::string(unit.name)});
  }
  return out;
}

std::vector<AxisMark> waste_axis(const WasteCurve& curve, int most) {
  std::vector<AxisMark> out;
  const double step = axis_step(curve.top / most);
  for (int i = 0; i * step <= curve.top * (1 + 1e-9); ++i)
    out.push_back({i * step, i * step / curve.top, value_text({i * step, Unit::Share})});
  return out;
}

}  // namespace trainplan
