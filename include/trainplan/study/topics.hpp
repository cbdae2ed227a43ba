/// Every topic of `study`.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "trainplan/study/failures.hpp"
#include "trainplan/study/moe.hpp"
#include "trainplan/study/overlap.hpp"
#include "trainplan/study/phases.hpp"
#include "trainplan/study/rl.hpp"
#include "trainplan/study/scale.hpp"

namespace trainplan::study {

inline constexpr std::array kTopics{
    &kFailures, &kMoe, &kOverlap, &kPhases, &kRl, &kScale,
};

/// The topic of that id, or nullptr.
inline const Topic* find_topic(std::string_view id) {
  for (const Topic* topic : kTopics)
    if (topic->id == id) return topic;
  return nullptr;
}

}  // namespace trainplan::study
