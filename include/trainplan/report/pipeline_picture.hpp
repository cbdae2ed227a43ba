/// A simulated pipeline as what pictures of it need.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "trainplan/base/value.hpp"
#include "trainplan/sim/placement.hpp"
#include "trainplan/sim/retention.hpp"
#include "trainplan/sim/timeline.hpp"

namespace trainplan {

/// Memory holds one residency for each stage, in bytes, or in saved sets with the unit Count.
struct PipelinePicture {
  std::string schedule, title, subject{};  ///< "zb_h1", what it does, of whom the pipeline is
  sim::Map map;
  sim::Timeline timeline;
  std::vector<sim::Residency> memory{};
  double seconds_per_tick = 1;
  Unit memory_unit = Unit::Memory;
  double memory_scale = 1;  ///< what a size of the residency is, in that unit

  bool sized() const { return memory_unit != Unit::Count; }
  double seconds(sim::Ticks ticks) const { return seconds_per_tick * static_cast<double>(ticks); }
  int stages() const { return map.stages(); }
  /// Of all directions.
  int micro_batches() const { return map.micro_batches() * map.flows(); }
  sim::Ticks update() const { return timeline.makespan - timeline.gradient_ready; }
  /// Share of the time until all gradients are there.
  double idle_share(std::size_t stage) const {
    const auto whole = static_cast<double>(timeline.gradient_ready);
    return whole > 0 ? static_cast<double>(timeline.idle(stage)) / whole : 0;
  }
  double peak(std::size_t stage) const {
    return stage < memory.size() ? memory_scale * static_cast<double>(memory[stage].peak.total()) : 0;
  }
  double highest_peak() const {
    double out = 0;
    for (std::size_t g = 0; g < memory.size(); ++g) out = std::max(out, peak(g));
    return out;
  }
};

}  // namespace trainplan
