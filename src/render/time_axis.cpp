#include "time_axis.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "units.hpp"

namespace trainplan {
namespace {

/// What is off by a rounding error counts as reached.
constexpr double kSlack = 1 - 1e-9;

}  // namespace

TimeUnit unit_for(double seconds) {
  constexpr std::array units{TimeUnit{1, "s"}, TimeUnit{1e-3, "ms"}, TimeUnit{1e-6, "us"}};
  for (const TimeUnit& unit : units)
    if (seconds >= unit.seconds * kSlack) return unit;
  return {1e-9, "ns"};
}

double round_step(double at_least, std::span<const double> leading) {
  if (!(at_least > 0)) return 1;
  const double power = std::pow(10.0, std::floor(std::log10(at_least)));
  for (const double digits : leading)
    if (digits * power >= at_least * kSlack) return digits * power;
  return 10 * power;
}

double axis_step(double at_least) {
  constexpr std::array leading{1.0, 2.0, 5.0};
  return round_step(at_least, leading);
}

std::string in_unit(double seconds, const TimeUnit& unit) {
  return short_exponent(fmt::format("{:.6g}", seconds / unit.seconds));
}

std::string counted(long long n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : what.ends_with("ch") ? "es" : "s");
}

}  // namespace trainplan
