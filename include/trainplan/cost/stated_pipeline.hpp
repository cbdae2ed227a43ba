/// From numbers that somebody states to a pipeline on which schedules are tried.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "trainplan/sim/cut.hpp"
#include "trainplan/spec/pipeline.hpp"

namespace trainplan {

namespace detail {

inline constexpr std::int64_t kUsualChunks = 2;

/// Passes of each stage in whole picoseconds.
struct StatedTimes {
  std::vector<sim::Ticks> forward, input_gradient, weight_gradient;
};

inline std::vector<sim::Ticks> of_each_stage(const std::vector<double>& seconds, std::size_t stages) {
  std::vector<sim::Ticks> out(stages);
  for (std::size_t g = 0; g < stages; ++g)
    out[g] = sim::whole_picoseconds(seconds.size() == 1 ? seconds.front() : seconds[g]);
  return out;
}

/// Without halves the backward pass is cut: the share is rounded to a picosecond, the sum is kept.
inline StatedTimes stated_times(const PipelineSpec& s) {
  const auto stages = static_cast<std::size_t>(*s.stages);
  StatedTimes out{of_each_stage(s.forward, stages), {}, {}};
  if (s.backward.empty()) {
    out.input_gradient = of_each_stage(s.input_gradient, stages);
    out.weight_gradient = of_each_stage(s.weight_gradient, stages);
    return out;
  }
  for (const sim::Ticks whole : of_each_stage(s.backward, stages)) {
    const auto w = static_cast<sim::Ticks>(
        std::llround(static_cast<double>(whole) * s.weight_gradient_share.value_or(0.5)));
    out.weight_gradient.push_back(w);
    out.input_gradient.push_back(whole - w);
  }
  return out;
}

/// Layers of a stage; where nobody says how many, as many slices as every cut divides evenly.
inline int stated_layers(const PipelineSpec& s) {
  return static_cast<int>(s.layers ? *s.layers / *s.stages
                                   : std::lcm(s.chunks.value_or(kUsualChunks), std::int64_t{2}));
}

inline sim::Size whole_bytes(const std::optional<double>& bytes) {
  return static_cast<sim::Size>(std::llround(bytes.value_or(0)));
}

/// Stage sets that orders with a limit may hold: as stated, as the budget allows, or as 1F1B does.
inline double stated_memory(const PipelineSpec& s) {
  if (s.memory_sets) return *s.memory_sets;
  const auto stages = static_cast<double>(*s.stages);
  if (!s.memory_budget || !s.saved_per_layer) return stages;
  const double set = *s.saved_per_layer * stated_layers(s) + s.saved_head.value_or(0),
               messages = 2 * (s.activation_message.value_or(0) + s.gradient_message.value_or(0));
  return set > 0 ? std::clamp((*s.memory_budget - messages) / set, 0.0, 1e6) : stages;
}

/// Everything of a stated pipeline but the placement.
class StatedCuts {
  const PipelineSpec& s_;
  int layers_;
  StatedTimes times_;
  std::vector<sim::Ticks> saved_by_pair_;
  sim::ClockFinder clock_;

  sim::Ticks parts() const { return sim::Ticks{layers_} * (s_.pair ? 2 : 1); }

  sim::Shape shape(sim::Placement placement) const {
    sim::Shape out;
    out.stages = static_cast<int>(*s_.stages);
    out.micro_batches = static_cast<int>(*s_.micro_batches);
    out.chunks = sim::chunks_of(placement, static_cast<int>(s_.chunks.value_or(kUsualChunks)));
    out.group = static_cast<int>(s_.group.value_or(*s_.stages));
    out.lead = static_cast<int>(s_.lead.value_or(0));
    out.memory = stated_memory(s_);
    out.after_x = s_.kept_for_weights.value_or(1);
    const auto ticks = [&](std::vector<sim::Ticks> of) {
      for (sim::Ticks& t : of) t = clock_.ticks(t);
      return of;
    };
    out.durations = {ticks(times_.forward), ticks(times_.input_gradient), ticks(times_.weight_gradient),
                     clock_.ticks(sim::whole_picoseconds(s_.transfer.value_or(0)))};
    return out;
  }

  sim::Sizes sizes(const sim::Map& map, const std::vector<int>& layers) const {
    sim::Sizes out = sim::one_for_each(map, {});
    for (int q = 0; q < map.virtual_stages(); ++q) {
      const sim::Seat seat = map.seat(q);
      const auto chunk = static_cast<std::size_t>(seat.chunk);
      const sim::Size whole =
          layers[chunk] * whole_bytes(s_.saved_per_layer) + (map.last(q) ? whole_bytes(s_.saved_head) : 0);
      out.saved[static_cast<std::size_t>(seat.stage)][chunk] = {
          whole,
          static_cast<sim::Size>(std::llround(static_cast<double>(whole) * s_.kept_for_weights.value_or(1)))};
    }
    out.activation_message = whole_bytes(s_.activation_message);
    out.gradient_message = whole_bytes(s_.gradient_message);
    return out;
  }

  std::optional<sim::Refusal> refusal(const sim::Shape& shape, const sim::Map& map) const {
    if (map.flows() > 1 || layers_ >= map.chunks()) return {};
    if (shape.chunks > 2 || !s_.layers)
      return sim::Refusal{"chunks", shape.chunks,
                          "be at most the layers of a stage, " + std::to_string(layers_), layers_};
    const int least = 2 * shape.stages;
    return sim::Refusal{"layers", static_cast<int>(*s_.layers),
                        "be at least two for each stage, " + std::to_string(least), least};
  }

 public:
  explicit StatedCuts(const PipelineSpec& s)
      : s_(s), layers_(stated_layers(s)), times_(stated_times(s)), clock_(parts()) {
    const sim::Ticks each = s.pair ? 2 : 1;
    for (std::size_t g = 0; g < times_.forward.size(); ++g) {
      for (const sim::Ticks t : {times_.forward[g], times_.input_gradient[g], times_.weight_gradient[g]})
        clock_.add_shared(t * each);
      const sim::Ticks alone = times_.forward[g] + times_.input_gradient[g] + times_.weight_gradient[g];
      saved_by_pair_.push_back(s.pair ? std::max(sim::Ticks{0}, alone - sim::whole_picoseconds(*s.pair)) : 0);
      if (s.pair) clock_.add_shared(saved_by_pair_.back() * layers_);
    }
    clock_.add(sim::whole_picoseconds(s.transfer.value_or(0)));
    clock_.add(sim::whole_picoseconds(s.update.value_or(0)));
  }

  sim::Clock clock() const { return clock_.clock(); }

  sim::Cut cut(sim::Placement placement) const {
    sim::Cut out{.shape = shape(placement)};
    const sim::Map map(placement, out.shape);
    if ((out.refusal = refusal(out.shape, map))) return out;
    const auto layers = map.flows() == 1 ? sim::chunk_layers(layers_, map.chunks())
                                         : std::vector<int>(static_cast<std::size_t>(map.chunks()), layers_);
    out.times = sim::times_of(out.shape, placement, layers);
    out.times.update = clock_.ticks(sim::whole_picoseconds(s_.update.value_or(0)));
    for (std::size_t g = 0; g < saved_by_pair_.size(); ++g)
      out.times.overlap[g] = clock_.ticks(saved_by_pair_[g]) / map.chunks_of_copy();
    out.sizes = sizes(map, layers);
    return out;
  }
};

}  // namespace detail

/// Whether the ticks of all passes of a step can be counted: the finer the digits, the more there are.
inline bool countable(const PipelineSpec& s) {
  const detail::StatedCuts cuts(s);
  const sim::Clock clock = cuts.clock();
  const auto seconds = [](const std::vector<double>& of) {
    return of.empty() ? 0 : *std::ranges::max_element(of);
  };
  const double pass = seconds(s.forward) + seconds(s.backward) + seconds(s.input_gradient) +
                      seconds(s.weight_gradient) + 2 * s.transfer.value_or(0);
  const double longest = pass * static_cast<double>(*s.micro_batches + *s.stages) *
                             static_cast<double>(*s.stages * s.chunks.value_or(detail::kUsualChunks)) +
                         s.update.value_or(0);
  constexpr double kMostTicks = 1e16;  // products of a time and a number of layers stay below 2^63
  return longest * 1e12 * static_cast<double>(clock.denominator) / static_cast<double>(clock.numerator) <
         kMostTicks;
}

/// The spec has passed its rules.
inline sim::Pipeline stated_pipeline(const PipelineSpec& s) {
  const detail::StatedCuts cuts(s);
  sim::Pipeline out{.clock = cuts.clock(), .sized = s.saved_per_layer.has_value()};
  for (const sim::Placement p : sim::kEveryPlacement) out.cut(p) = cuts.cut(p);
  return out;
}

}  // namespace trainplan
