/// What the tests of the orders of slots look at.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "trainplan/sim/pipeline.hpp"

namespace trainplan::sim {

using Texts = std::vector<std::string>;

inline std::string text(const Slot& slot) {
  return slot.second ? "(" + text(slot.first) + "+" + text(*slot.second) + ")" : text(slot.first);
}

/// One line for each stage, as in "F0.0 (F1.0+B0.1) X1.0 W1.0".
inline Texts texts(const Orders& orders) {
  Texts out;
  for (const auto& of_stage : orders) {
    out.emplace_back();
    for (const Slot& slot : of_stage.front()) out.back() += (out.back().empty() ? "" : " ") + text(slot);
  }
  return out;
}

/// The same without the chunk, of which there is only one.
inline Texts without_chunk(Texts lines) {
  for (std::string& line : lines)
    for (std::size_t dot; (dot = line.find(".0")) != std::string::npos;) line.erase(dot, 2);
  return lines;
}

/// Most sets of a chunk that a stage holds; a set of which `after_x` is left counts as that much.
inline double peak_sets(const std::vector<Sequence>& of_stage, double after_x = 1) {
  double held = 0, peak = 0;
  const auto start = [&](const Pass& p) { held += p.work == Work::Forward ? 1 : 0; };
  const auto end = [&](const Pass& p) {
    if (p.work == Work::Backward) held -= 1;
    if (p.work == Work::InputGradient) held += after_x - 1;
    if (p.work == Work::WeightGradient) held -= after_x;
  };
  for (const Slot& slot : of_stage.front()) {
    start(slot.first);
    if (slot.second) start(*slot.second);
    peak = std::max(peak, held);
    end(slot.first);
    if (slot.second) end(*slot.second);
  }
  return peak;
}

inline double peak_sets(const Orders& orders, double after_x = 1) {
  double peak = 0;
  for (const auto& of_stage : orders) peak = std::max(peak, peak_sets(of_stage, after_x));
  return peak;
}

/// The times that the published bubbles are printed for.
inline Durations equal_times(int stages, Ticks pass = 10, Ticks transfer = 0) {
  const std::vector<Ticks> same(static_cast<std::size_t>(stages), pass);
  return {same, same, same, transfer};
}

inline Shape equal_shape(int stages, int micro_batches) {
  Shape shape{.stages = stages, .micro_batches = micro_batches};
  shape.durations = equal_times(stages);
  return shape;
}

/// Empty when the order runs: every pass once and on its stage, and none that waits for what comes after it.
inline std::string why_not(const Orders& orders, Placement placement, const Shape& shape) {
  const Outcome outcome = simulate(orders, placement, shape);
  const Fault* fault = std::get_if<Fault>(&outcome);
  return fault == nullptr ? "" : text(*fault);
}

}  // namespace trainplan::sim
