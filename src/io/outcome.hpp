/// What the issues recorded since a mark mean for a loader.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "trainplan/spec/issue.hpp"

namespace trainplan {

inline bool errors_since(const Issues& issues, std::size_t first) {
  const auto& all = issues.all();
  return std::any_of(all.begin() + static_cast<std::ptrdiff_t>(first), all.end(),
                     [](const Issue& i) { return i.level == Severity::Error; });
}

/// Drops the issues from `first` on below a pointer: what depends on a value that could not be read.
inline void drop_under(Issues& issues, std::size_t first, std::string_view pointer) {
  auto& all = issues.all();
  const auto from = all.begin() + static_cast<std::ptrdiff_t>(first);
  all.erase(std::remove_if(from, all.end(), [&](const Issue& i) { return i.pointer.starts_with(pointer); }),
            all.end());
}

}  // namespace trainplan
