/// Every topic of `study`.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "trainplan/study/failures.hpp"

namespace trainplan::study {

inline constexpr std::array kTopics{
    &kFailures,
};

/// The topic of that id, or nullptr.
inline const Topic* find_topic(std::string_view id) {
  for (const Topic* topic : kTopics)
    if (topic->id == id) return topic;
  return nullptr;
}

}  // namespace trainplan::study
