/// A simulated pipeline as text for a terminal, as SVG and as a trace for a viewer.
#pragma once

#include <cstdint>
#include <string>

#include "trainplan/report/pipeline_picture.hpp"

namespace trainplan {

struct TimelineStyle {
  bool colour = false;
  bool ascii = false;  ///< no character beyond ASCII
  int columns = 100;
};

/// Auto: light or dark as the viewer prefers.
enum class Theme : std::uint8_t { Auto, Light, Dark };

struct SvgStyle {
  bool messages = false;  ///< a line for each message
  Theme theme = Theme::Auto;
};

/// Narrower than this there is no room for a timeline.
inline constexpr int kNarrowestTimeline = 40;

/// One row for each stage. Where slots are narrower than a column, columns show what prevails in them.
std::string render_timeline(const PipelinePicture& picture, const TimelineStyle& style);

/// A drawing to any scale: every slot with its place in time, the memory of each stage beneath it.
std::string render_svg(const PipelinePicture& picture, const SvgStyle& style);

/// Trace events as viewers of them read, in JSON. Times are microseconds, rounded to whole nanoseconds.
std::string render_trace(const PipelinePicture& picture);

}  // namespace trainplan
