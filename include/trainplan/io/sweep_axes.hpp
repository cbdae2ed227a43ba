/// Several values of one field in one text: "1,2,4", "256..16384x2", "8k..32k+8k".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainplan/base/value.hpp"
#include "trainplan/spec/issue.hpp"

namespace trainplan {

/// One field of a sweep. values: each as the field takes it; cells: the same as numbers of `unit`, or as
/// words.
struct SweepAxis {
  std::string key;
  std::vector<std::string> values;
  std::vector<Cell> cells;
  Unit unit = Unit::Count;
};

inline constexpr std::size_t kMostAxisValues = 10'000;

/// The number of GPUs, an axis that is no field of a run: it changes the nodes of the cluster.
inline constexpr std::string_view kGpuAxis = "gpus";

/// A field of a run, or kGpuAxis, with a list of its values, each of which the field takes; nothing when an
/// error was recorded. Where values are numbers a part of the list may be a range: A..BxF multiplies by F,
/// A..B+S adds S, from A up to B; both ends and S have the same unit. A field whose one value is a list itself
/// has one value.
std::optional<SweepAxis> sweep_axis(std::string_view key, std::string_view text, Issues& issues);

}  // namespace trainplan
