/// Round steps of a time axis and the unit that all of its labels share.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace trainplan {

struct TimeUnit {
  double seconds = 1;
  std::string_view name = "s";
};

/// The largest unit of which there is at least one.
TimeUnit unit_for(double seconds);

/// The smallest step of at least that length whose leading digits are in the list (ascending, from 1 on).
double round_step(double at_least, std::span<const double> leading);

/// Of an axis: 1, 2 or 5.
double axis_step(double at_least);

/// The number alone, without digits that mean nothing.
std::string in_unit(double seconds, const TimeUnit& unit);

/// "3 slots", "1 slot".
std::string counted(long long n, std::string_view what);

}  // namespace trainplan
