#include "units.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <span>

namespace trainplan {
namespace {

struct Scale {
  double factor;
  std::string_view name;
  double from = 1;  // multiples of factor from which on it is used
};

constexpr double kKiB = 1024, kMiB = kKiB * kKiB, kGiB = kMiB * kKiB, kTiB = kGiB * kKiB, kPiB = kTiB * kKiB;
constexpr double kMinute = 60, kHour = 3600, kDay = 86400;

constexpr Scale kBinary[] = {
    {kPiB, "PiB"}, {kTiB, "TiB"}, {kGiB, "GiB", 0.1}, {kMiB, "MiB", 0.1}, {kKiB, "KiB"}};
constexpr Scale kDecimal[] = {{1e15, "PB"}, {1e12, "TB"}, {1e9, "GB", 0.1}, {1e6, "MB", 0.1}, {1e3, "kB"}};
constexpr Scale kClock[] = {{kDay, "days", 2}, {kHour, "h", 2}, {kMinute, "min", 2}, {1, "s"},
                            {1e-3, "ms"},      {1e-6, "us"},    {1e-9, "ns", 0}};
constexpr Scale kPrefixes[] = {{1e24, "Y"}, {1e21, "Z"}, {1e18, "E"}, {1e15, "P"},
                               {1e12, "T"}, {1e9, "G"},  {1e6, "M"},  {1e3, "k"}};
constexpr Scale kShort[] = {{1e12, "T"}, {1e9, "B"}, {1e6, "M"}};

/// A value that would be rounded up to the next scale belongs there.
constexpr double kAlmost = 0.99995;

const Scale* pick(double value, std::span<const Scale> scales) {
  for (const Scale& s : scales)
    if (std::abs(value) >= s.factor * s.from * kAlmost) return &s;
  return nullptr;
}

/// Thousands separators for the digits before the point.
std::string grouped(std::string digits) {
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  const std::size_t point = digits.find('.');
  for (std::size_t i = point == std::string::npos ? digits.size() : point; i > first + 3;)
    digits.insert(i -= 3, 1, ',');
  return digits;
}

std::string fixed(double v, int decimals) {
  const std::string text = grouped(fmt::format("{:.{}f}", v, decimals));
  return text.find_first_not_of("-0.,") == std::string::npos && text.starts_with('-') ? text.substr(1) : text;
}

/// Two decimals below `from`, else one.
std::string two_or_one(double v, double from) { return fixed(v, std::abs(v) < from - 0.005 ? 2 : 1); }

bool same(double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); }

/// Decimals that show `digits` significant digits.
int decimals_for(double v, int digits) {
  const std::string text = fmt::format("{:.{}e}", v, digits - 1);
  const int exponent = std::stoi(text.substr(text.find('e') + 1));
  return digits - 1 - exponent > 0 ? digits - 1 - exponent : 0;
}

std::string trimmed(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

/// `digits` significant digits; all of them when four tell the value exactly, so that 61 is not 61.0.
std::string significant(double v, int digits) {
  if (v == 0) return "0";
  if (std::abs(v) < 1e-4) return short_exponent(fmt::format("{:.{}g}", v, digits));
  const std::string four = fmt::format("{:.{}f}", v, decimals_for(v, 4));
  if (same(std::stod(four), v)) return grouped(trimmed(four));
  return grouped(fmt::format("{:.{}f}", v, decimals_for(v, digits)));
}

std::string joined(std::string number, std::string_view prefix, std::string_view unit) {
  return number.append(" ").append(prefix).append(unit);
}

std::string bytes_text(double v, std::span<const Scale> scales) {
  const Scale* s = pick(v, scales);
  return s == nullptr ? joined(significant(v, 3), "", "B")
                      : joined(two_or_one(v / s->factor, 100), "", s->name);
}

/// "989 TFLOP/s".
std::string prefixed(double v, std::string_view unit) {
  const Scale* s = pick(v, kPrefixes);
  return s == nullptr ? joined(significant(v, 3), "", unit)
                      : joined(significant(v / s->factor, 3), s->name, unit);
}

std::string time_text(double v) {
  const Scale* s = v == 0 ? nullptr : pick(v, kClock);
  return s == nullptr ? joined(significant(v, 3), "", "s")
                      : joined(significant(v / s->factor, 3), "", s->name);
}

/// "0.70 s": hundredths, two digits where nothing else would be left. What is below a nanosecond is rounding.
std::string step_time_text(double v) {
  if (std::abs(v) < 1e-9) v = 0;
  const bool small = v != 0 && std::abs(v) < 0.095, tiny = std::abs(v) < 1e-4;
  return joined(!small ? two_or_one(v, 1000)
                : tiny ? significant(v, 2)
                       : trimmed(fixed(v, decimals_for(v, 2))),
                "", "s");
}

std::string share_text(double v) {
  const double percent = 100 * v;
  if (same(std::round(percent * 10) / 10, percent)) return trimmed(fixed(percent, 1)) + " %";
  return fixed(percent, std::abs(percent) >= 0.995 ? 1 : decimals_for(percent, 2)) + " %";
}

std::string points_text(double v) {
  if (v == 0) return "0";
  return fixed(v, std::abs(v) < 0.1 ? 3 : std::abs(v) < 0.995 ? 2 : 1);
}

std::string count_text(double v) {
  constexpr double kLargestInteger = 1e15;
  if (std::abs(v) >= kLargestInteger) return short_exponent(fmt::format("{:.4g}", v));
  return v == std::trunc(v) ? fixed(v, 0) : significant(v, 4);
}

/// "70.55 B param" without the unit: whole numbers below `from`.
std::string large_count(double v, double from) {
  const Scale* s = std::abs(v) < from * kAlmost ? nullptr : pick(v, kShort);
  return s == nullptr ? count_text(v) : joined(two_or_one(v / s->factor, 10), "", s->name);
}
std::string params_text(double v) {
  const Scale* s = pick(v, kShort);
  return s == nullptr ? count_text(v) : joined(fixed(v / s->factor, 2), "", s->name);
}
std::string token_rate_text(double v) {
  const Scale* s = pick(v, kShort);
  if (s != nullptr) return joined(significant(v / s->factor, 3), s->name, " token/s");
  return joined(std::abs(v) >= 100 ? fixed(v, 0) : significant(v, 3), "", "token/s");
}

std::string money(double v) { return v != std::trunc(v) && std::abs(v) < 99.995 ? fixed(v, 2) : fixed(v, 0); }
std::string gpu_hours(double v) {
  const double hours = v / kHour;
  const Scale* s = pick(hours, kShort);
  if (s != nullptr) return joined(significant(hours / s->factor, 3), s->name, " GPU-h");
  return joined(std::abs(hours) >= 100 ? fixed(hours, 0) : significant(hours, 3), "", "GPU-h");
}

/// "4.2 MWh".
std::string energy_text(double v) { return prefixed(v / kHour, "Wh"); }

}  // namespace

std::string short_exponent(std::string text) {
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text;
  std::size_t digits = e + 1;
  if (text[digits] == '+') text.erase(digits, 1);
  if (text[digits] == '-') ++digits;
  while (digits + 1 < text.size() && text[digits] == '0') text.erase(digits, 1);
  return text;
}

std::string value_text(Value value) {
  const double v = value.number;
  if (!std::isfinite(v)) return "not finite";
  switch (value.unit) {
    case Unit::Count: return count_text(v);
    case Unit::Whole: return fixed(v, 0);
    case Unit::Memory: return bytes_text(v, kBinary);
    case Unit::MemoryBoth: return bytes_text(v, kBinary) + " (" + bytes_text(v, kDecimal) + ")";
    case Unit::Request: return joined(fixed(v / kMiB, std::abs(v) < 10 * kMiB ? 2 : 0), "", "MiB");
    case Unit::Traffic: return bytes_text(v, kDecimal);
    case Unit::Time: return time_text(v);
    case Unit::StepTime: return step_time_text(v);
    case Unit::Days: return joined(significant(v / kDay, 3), "", v == kDay ? "day" : "days");
    case Unit::Share: return share_text(v);
    case Unit::FineShare: return joined(significant(100 * v, 3), "", "%");
    case Unit::Points: return points_text(100 * v) + " points";
    case Unit::Flops: return prefixed(v, "FLOP");
    case Unit::FlopRate: return prefixed(v, "FLOP/s");
    case Unit::ByteRate: return prefixed(v, "B/s");
    case Unit::Params: return params_text(v);
    case Unit::Tokens: return large_count(v, 1e9);
    case Unit::TokenRate: return token_rate_text(v);
    case Unit::FlopsPerToken: return prefixed(v, "FLOP/token");
    case Unit::BytesPerParam: return joined(significant(v, 4), "", "B/param");
    case Unit::Usd: return money(v) + " USD";
    case Unit::UsdPerHour:
      return (std::abs(v * kHour) < 99.995 ? fixed(v * kHour, 2) : fixed(v * kHour, 0)) + " USD/h";
    case Unit::GpuTime: return gpu_hours(v);
    case Unit::Energy: return energy_text(v);
  }
  return {};
}

std::string ends_text(const Ends& e) {
  return value_text({e.low, e.unit}) + " ... " + value_text({e.high, e.unit});
}

std::string range_text(const Estimate& e) {
  std::string low = value_text({e.low, e.value.unit}), high = value_text({e.high, e.value.unit});
  const std::string middle = value_text(e.value);
  for (std::size_t at = middle.find(' '); at != std::string::npos; at = middle.find(' ', at + 1)) {
    const std::string unit = middle.substr(at);
    if (!low.ends_with(unit) || !high.ends_with(unit)) continue;
    low.erase(low.size() - unit.size());
    high.erase(high.size() - unit.size());
    break;
  }
  return "(" + low + " ... " + high + ", " + share_text(e.confidence) + ")";
}

std::string estimate_text(const Estimate& e) { return value_text(e.value) + " " + range_text(e); }

}  // namespace trainplan
