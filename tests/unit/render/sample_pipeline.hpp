/// Pipelines with round times for tests of pictures.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "trainplan/report/pipeline_picture.hpp"
#include "trainplan/sim/pipeline.hpp"
#include "trainplan/sim/schedules.hpp"

namespace sample {

using namespace trainplan;

/// Ticks of a full stage, of a message and of the update; a tick is a millisecond.
struct Setting {
  int stages = 4, micro_batches = 8, chunks = 1;
  sim::Ticks forward = 10, input_gradient = 10, weight_gradient = 10, transfer = 0, update = 0;
};

inline PipelinePicture pipeline(std::string_view id, const Setting& s = {}) {
  const sim::Schedule& schedule = *sim::find_schedule(id);
  const auto stages = static_cast<std::size_t>(s.stages);
  sim::Shape shape{
      .stages = s.stages, .micro_batches = s.micro_batches, .chunks = s.chunks, .group = s.stages};
  shape.memory = s.stages;
  shape.durations = {std::vector<sim::Ticks>(stages, s.forward),
                     std::vector<sim::Ticks>(stages, s.input_gradient),
                     std::vector<sim::Ticks>(stages, s.weight_gradient), s.transfer};
  sim::Times times = sim::times_of(shape, schedule.placement);
  times.update = s.update;
  const sim::Map map(schedule.placement, shape);
  sim::Timeline timeline =
      std::get<sim::Timeline>(sim::simulate(schedule.orders(shape), schedule.placement, shape, times));
  constexpr sim::Size kMiB = 1 << 20;
  sim::Sizes sizes =
      sim::one_for_each(map, {.whole = 640 * kMiB, .for_weights = schedule.split ? 320 * kMiB : 0});
  sizes.activation_message = 64 * kMiB;
  sizes.gradient_message = 64 * kMiB;
  auto memory = sim::residency(timeline, map, sizes);
  return {.schedule = std::string(schedule.id),
          .title = std::string(schedule.title),
          .map = map,
          .timeline = std::move(timeline),
          .memory = std::move(memory),
          .seconds_per_tick = 1e-3};
}

}  // namespace sample
