/// Every topic of `study`.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "trainplan/study/checkpoint.hpp"
#include "trainplan/study/data.hpp"
#include "trainplan/study/failures.hpp"
#include "trainplan/study/moe.hpp"
#include "trainplan/study/offload.hpp"
#include "trainplan/study/overlap.hpp"
#include "trainplan/study/phases.hpp"
#include "trainplan/study/reshard.hpp"
#include "trainplan/study/rl.hpp"
#include "trainplan/study/scale.hpp"
#include "trainplan/study/spike.hpp"
#include "trainplan/study/straggler.hpp"

namespace trainplan::study {

inline constexpr std::array kTopics{
    &kCheckpoint, &kReshard, &kFailures, &kStraggler, &kSpike,   &kData,
    &kOffload,    &kScale,   &kRl,       &kMoe,       &kOverlap, &kPhases,
};

/// The topic of that id, or nullptr.
inline const Topic* find_topic(std::string_view id) {
  for (const Topic* topic : kTopics)
    if (topic->id == id) return topic;
  return nullptr;
}

}  // namespace trainplan::study
