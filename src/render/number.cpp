#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

#include "trainplan/render/render.hpp"
#include "units.hpp"

namespace trainplan {
namespace {

constexpr double kHour = 3600;
constexpr double kWholeBelow = 1e8;  // counts and tokens are printed digit by digit up to here
constexpr double kWholeBytesBelow = 1e6;

/// "B·s/param"; nothing above the line is written with negative powers: "s⁻¹", so that no unit begins with
/// '/'.
std::string spelled(Dim dim) {
  const std::pair<int, std::string_view> powers[] = {{dim.byte, "B"},      {dim.flop, "FLOP"},
                                                     {dim.param, "param"}, {dim.token, "token"},
                                                     {dim.usd, "USD"},     {dim.sec, "s"}};
  std::string above, below, inverse;
  for (const auto& [power, name] : powers) {
    for (int i = 0; i < power; ++i) above.append(above.empty() ? "" : "·").append(name);
    for (int i = 0; i < -power; ++i) {
      below.append("/").append(name);
      inverse.append(inverse.empty() ? "" : "·").append(name).append("⁻¹");
    }
  }
  return above.empty() ? inverse : above + below;
}

/// Bytes and FLOP take a prefix where they stand alone above the line.
bool takes_prefix(Dim dim) {
  const Dim bytes = dim - kBytes, flops = dim - kFlops;
  const auto below_only = [](Dim d) {
    return d.byte <= 0 && d.flop <= 0 && d.sec <= 0 && d.token <= 0 && d.param <= 0 && d.usd <= 0;
  };
  return (dim.byte == 1 && below_only(bytes)) || (dim.flop == 1 && below_only(flops));
}

std::string mantissa_text(double v, int digits) {
  return digits >= kExactDigits ? short_exponent(fmt::format("{}", v))
                                : short_exponent(fmt::format("{:.{}g}", v, digits));
}

/// The largest prefix that leaves at least 1 in front, after rounding.
std::pair<double, std::string_view> prefix_for(double v, int digits) {
  constexpr std::pair<double, std::string_view> prefixes[] = {
      {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  if (std::abs(v) >= 1e18) return {1, ""};
  for (const auto& [factor, name] : prefixes)
    if (std::abs(v) >= factor * (1 - 0.5 * std::pow(10, -digits))) return {factor, name};
  return {1, ""};
}

}  // namespace

double Printed::value() const { return std::strtod(mantissa.c_str(), nullptr) * scale; }

Printed printed_number(double v, Dim dim, int digits) {
  Printed out{{}, unit_text(dim), 1};
  if (dim == kUsd - kSeconds) {
    out.scale = 1 / kHour;
    v *= kHour;
  }
  const bool prefixes = takes_prefix(dim);
  if (v == std::trunc(v) && std::abs(v) < (prefixes ? kWholeBytesBelow : kWholeBelow)) {
    out.mantissa = fmt::format("{:.0f}", v == 0 ? 0.0 : v);
    return out;
  }
  if (prefixes && digits < kExactDigits) {
    const auto [factor, name] = prefix_for(v, digits);
    out.mantissa = mantissa_text(v / factor, digits);
    out.unit.insert(0, name);
    out.scale = factor;
    return out;
  }
  out.mantissa = mantissa_text(v, digits);
  return out;
}

/// Prices are by the hour, whatever the base unit.
std::string unit_text(Dim dim) { return dim == kUsd - kSeconds ? "USD/h" : spelled(dim); }

std::string number_text(double value, Dim dim) { return printed_number(value, dim, kFormulaDigits).text(); }

}  // namespace trainplan
