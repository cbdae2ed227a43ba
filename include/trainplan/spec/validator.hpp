/// The collector that the validators of validate.hpp share, and the largest values that they accept.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "trainplan/spec/figure.hpp"
#include "trainplan/spec/issue.hpp"

namespace trainplan {

inline constexpr std::int64_t kMaxWidth = std::int64_t{1} << 24;  // of a hidden vector, an MLP, a head
inline constexpr std::int64_t kMaxLayers = 4096;  // a derivation tries every number of stages and of layers
inline constexpr std::int64_t kMaxHeads = std::int64_t{1} << 16;  // also the width of one
inline constexpr std::int64_t kMaxVocab = std::int64_t{1} << 31;  // vocabulary entries and positions
inline constexpr std::int64_t kMaxDegree = 65535;                 // of a parallel axis: 16 bits of a Plan
inline constexpr std::int64_t kMaxRanks = std::int64_t{1} << 20;  // data-parallel; nodes; of a domain
inline constexpr std::int64_t kMaxNodeWidth = 1024;               // GPUs of one node
inline constexpr std::int64_t kMaxSequence = std::int64_t{1} << 40;
inline constexpr double kMaxBytesPerParam = 64;
// Of a figure in base units; products of a few of them stay finite.
inline constexpr double kLeastFigure = 1e-18, kMostFigure = 1e30;

/// Shortest text that reads back as the same number.
inline std::string shown(double v) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, v).ptr;
  return {buffer, end};
}

/// The whole number from 1 to `most` that passes a test and is nearest to `from`, the smaller of two; 1 where
/// none passes.
template <class Test>
std::int64_t nearest_that(std::int64_t from, std::int64_t most, Test passes) {
  for (std::int64_t away = 0; away < most; ++away)
    for (const std::int64_t n : {from - away, from + away})
      if (n >= 1 && n <= most && passes(n)) return n;
  return 1;
}

/// Collects the broken rules of one spec; ok() when there was none.
class Validator {
  Issues& issues_;
  std::string_view file_;
  bool ok_ = true;

 public:
  Validator(Issues& issues, std::string_view file) : issues_(issues), file_(file) {}
  bool ok() const { return ok_; }

  void fail(Issue issue) {
    ok_ = false;
    if (issue.file.empty()) issue.file = file_;
    issues_.add(std::move(issue));
  }

  /// True when the value lies in lo..hi.
  bool range(std::string pointer, std::int64_t v, std::int64_t lo, std::int64_t hi) {
    if (v >= lo && v <= hi) return true;
    fail({.rule = "range",
          .pointer = std::move(pointer),
          .got = std::to_string(v),
          .must = "be an integer from " + std::to_string(lo) + " to " + std::to_string(hi),
          .hint = "try " + std::to_string(v < lo ? lo : hi)});
    return false;
  }
  bool real(std::string pointer, double v, double lo, double hi) {
    if (std::isfinite(v) && v >= lo && v <= hi) return true;
    fail({.rule = "range",
          .pointer = std::move(pointer),
          .got = shown(v),
          .must = "be from " + shown(lo) + " to " + shown(hi),
          .hint = "try " + shown(v < lo ? lo : hi)});
    return false;
  }

  /// A figure names its own file and pointer; `fallback` stands where it has none.
  void figure(std::string_view fallback, const Figure& f, std::string rule, std::string must,
              std::string hint) {
    const auto cut = f.origin.rfind(" /");
    Issue issue{.rule = std::move(rule),
                .pointer = std::string(fallback),
                .got = f.known ? shown(f.value) : "unknown",
                .must = std::move(must),
                .hint = std::move(hint)};
    if (cut != std::string::npos) {
      issue.file = f.origin.substr(0, cut);
      issue.pointer = f.origin.substr(cut + 1);
    }
    fail(std::move(issue));
  }
  void required(std::string_view pointer, const Figure& f) {
    if (f.known) return positive(pointer, f);
    figure(pointer, f, "figure-required", "be known", "give a value with its unit and \"source\"");
  }
  void positive(std::string_view pointer, const Figure& f) {
    if (f.known && !(std::isfinite(f.value) && f.value > 0))
      figure(pointer, f, "positive", "be above zero",
             "give a positive value, or \"unknown\" where that is allowed");
    else
      magnitude(pointer, f);
  }
  void not_negative(std::string_view pointer, const Figure& f) {
    if (f.known && !(std::isfinite(f.value) && f.value >= 0))
      figure(pointer, f, "positive", "not be below zero", "give zero or a positive value");
    else
      magnitude(pointer, f);
  }
  void magnitude(std::string_view pointer, const Figure& f) {
    if (f.known && f.value != 0 && (f.value < kLeastFigure || f.value > kMostFigure))
      figure(pointer, f, "range",
             "be from " + shown(kLeastFigure) + " to " + shown(kMostFigure) + " in base units",
             "check the number and its unit");
  }
  void share(std::string_view pointer, const Figure& f) {
    if (!f.known) return required(pointer, f);
    if (!(std::isfinite(f.value) && f.value >= 0 && f.value <= 1))
      figure(pointer, f, "share", "be a share from 0 to 1 (0 % to 100 %)",
             f.value < 0 ? "try 0%" : "try 100%");
  }
  /// A share that something is divided by.
  void rate(std::string_view pointer, const Figure& f) {
    required(pointer, f);
    if (f.known && f.value > 0) share(pointer, f);
  }
};

}  // namespace trainplan
