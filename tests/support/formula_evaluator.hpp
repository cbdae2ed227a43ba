/// Evaluates a printed formula from its text alone, so that a test does not believe the printer.
#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainplan/base/lambert.hpp"

namespace formula_evaluator {

using Symbols = std::map<std::string, double>;

/// Of the text of a unit: "GB/s" is 1e9, "B/param" 1, "USD/h" 1/3600.
inline double unit_factor(std::string_view unit) {
  if (unit == "USD/h") return 1.0 / 3600;
  static constexpr std::string_view kPrefixes = "kMGTP";
  const std::size_t at = kPrefixes.find(unit.front());
  const std::string_view rest = unit.substr(1);
  if (at == std::string_view::npos || !(rest.starts_with("B") || rest.starts_with("FLOP"))) return 1;
  return std::pow(1000.0, static_cast<double>(at + 1));
}

/// sum: product (+|-) product ...; product: atom (×|/) atom ...; atom: number [unit], symbol, call or (sum).
class Parser {
  std::string_view text_;
  const Symbols& symbols_;
  bool bad_ = false;

  bool take(std::string_view token) {
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  double fail() {
    bad_ = true;
    text_ = {};
    return 0;
  }
  std::string_view word() {
    const std::size_t end = std::min(text_.find_first_of(" (),"), text_.size());
    const std::string_view out = text_.substr(0, end);
    text_.remove_prefix(end);
    return out;
  }
  static bool begins_operator(std::string_view s) {
    for (const std::string_view sign : {"×", "/", "+", "-"})
      if (s == sign || s.starts_with(std::string(sign) + " ")) return true;
    return false;
  }

  double number() {
    const std::string digits(word());
    char* end = nullptr;
    const double value = std::strtod(digits.c_str(), &end);
    if (end == digits.c_str() || *end != '\0') return fail();
    if (!text_.starts_with(' ') || begins_operator(text_.substr(1))) return value;
    take(" ");
    const std::string_view unit = word();
    return unit.empty() ? fail() : value * unit_factor(unit);
  }
  double call(std::string_view name) {
    std::vector<double> a{sum()};
    while (take(", ")) a.push_back(sum());
    if (!take(")")) return fail();
    if (a.size() >= 2 && name == "max") return *std::max_element(a.begin(), a.end());
    if (a.size() >= 2 && name == "min") return *std::min_element(a.begin(), a.end());
    if (a.size() == 2 && name == "pow") return std::pow(a[0], a[1]);
    if (a.size() == 1 && name == "sqrt") return std::sqrt(a[0]);
    if (a.size() == 1 && name == "log2") return std::log2(a[0]);
    if (a.size() == 1 && name == "exp") return std::exp(a[0]);
    if (a.size() == 1 && name == "W0") return trainplan::lambert_w(a[0]);
    if (a.size() == 1 && name == "ceil") return std::ceil(a[0]);
    if (a.size() == 1 && name == "floor") return std::floor(a[0]);
    return fail();
  }
  double atom() {
    if (take("(")) {
      const double inner = sum();
      return take(")") ? inner : fail();
    }
    if (text_.empty()) return fail();
    const auto c = static_cast<unsigned char>(text_.front());
    const bool negative =
        c == '-' && text_.size() > 1 && std::isdigit(static_cast<unsigned char>(text_[1])) != 0;
    if (std::isdigit(c) != 0 || negative) return number();
    const std::string name(word());
    if (take("(")) return call(name);
    const auto found = symbols_.find(name);
    return found == symbols_.end() ? fail() : found->second;
  }
  double product() {
    double out = atom();
    for (;;) {
      if (take(" × "))
        out *= atom();
      else if (take(" / "))
        out /= atom();
      else
        return out;
    }
  }
  double sum() {
    double out = product();
    for (;;) {
      if (take(" + "))
        out += product();
      else if (take(" - "))
        out -= product();
      else
        return out;
    }
  }

 public:
  Parser(std::string_view text, const Symbols& symbols) : text_(text), symbols_(symbols) {}
  std::optional<double> run() {
    const double out = sum();
    if (bad_ || !text_.empty()) return std::nullopt;
    return out;
  }
};

/// Nothing when the text is not a formula or names a symbol that is not in the table.
inline std::optional<double> evaluate(std::string_view text, const Symbols& symbols = {}) {
  return Parser(text, symbols).run();
}

}  // namespace formula_evaluator
