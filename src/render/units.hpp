/// The only place that chooses GiB, ms, TFLOP/s and digits.
#pragma once

#include <string>
#include <string_view>

#include "trainplan/base/quantity.hpp"
#include "trainplan/base/value.hpp"

namespace trainplan {

/// "14.1 GiB", "4.7 %", "61,440 USD": rounded for reading.
std::string value_text(Value value);

/// "(3.8 ... 5.0, 80 %)": the ends without their unit where it is that of the value.
std::string range_text(const Estimate& estimate);
/// "3.82 s ... 4.99 s".
std::string ends_text(const Ends& ends);
/// "4.4 s (3.8 ... 5.0, 80 %)".
std::string estimate_text(const Estimate& estimate);

/// A number of a formula: the mantissa as printed, what it is multiplied by, and the unit that says so.
struct Printed {
  std::string mantissa, unit;
  double scale = 1;

  std::string text() const { return unit.empty() ? mantissa : mantissa + " " + unit; }
  /// What a reader gets who takes the text at its word.
  double value() const;
};

/// With that many significant digits; 17 are exact.
Printed printed_number(double value, Dim dim, int digits);

inline constexpr int kFormulaDigits = 6, kExactDigits = 17;

/// Without the '+' and the leading zeros of an exponent: 1.5e9, 2e-5.
std::string short_exponent(std::string text);

}  // namespace trainplan
