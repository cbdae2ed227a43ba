/// How time becomes columns of a terminal.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "trainplan/report/pipeline_picture.hpp"

namespace trainplan {

/// Exact: every slot begins and ends with a column. Rounded: with the nearest one.
/// Shares: slots may be narrower than a column.
enum class Drawn : std::uint8_t { Exact, Rounded, Shares };
struct Scale {
  Drawn drawn = Drawn::Exact;
  double ticks = 1;  ///< of a column
  int columns = 1;

  int column(sim::Ticks at) const {
    const auto nearest = static_cast<int>(std::lround(static_cast<double>(at) / ticks));
    return std::clamp(nearest, 0, columns);
  }
};

/// For a picture in at most so many columns.
Scale scale_for(const PipelinePicture& picture, int room);

}  // namespace trainplan
