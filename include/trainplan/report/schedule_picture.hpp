/// One of the schedules that were tried, as what pictures of it need.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "trainplan/report/pipeline_picture.hpp"
#include "trainplan/report/schedule_answer.hpp"

namespace trainplan {

/// The attempt ran. Without sizes its memory is counted in activation sets of a whole stage.
inline PipelinePicture picture_of(const ScheduleAnswer& a, const sim::Attempt& t, std::string subject) {
  const sim::Map map = t.map();
  const bool sized = a.pipeline.sized;
  return {.schedule = std::string(t.schedule->id),
          .title = std::string(t.schedule->title),
          .subject = std::move(subject),
          .map = map,
          .timeline = t.timeline,
          .memory = sized ? t.bytes : t.sets,
          .seconds_per_tick = a.seconds(1),
          .memory_unit = sized ? Unit::Request : Unit::Count,
          .memory_scale = sized ? 1.0 : 1.0 / map.chunks_of_copy()};
}

/// Slots of all stages.
inline std::int64_t slots_of(const sim::Attempt& t) {
  std::int64_t out = 0;
  for (const auto& of_stage : t.timeline.stages) out += static_cast<std::int64_t>(of_stage.size());
  return out;
}

}  // namespace trainplan
