/// Colours of a drawing, for light and for dark paper; what differs by colour differs in lightness or
/// pattern.
#pragma once

#include <string>
#include <vector>

#include "trainplan/render/pictures.hpp"

namespace trainplan {

struct Rgb {
  int red = 0, green = 0, blue = 0;
};

/// "#56b4e9".
std::string hex(Rgb colour);

/// Class of a slot: "F0", "X1"; the chunk is a direction where there are two.
std::string slot_class(sim::Work work, int chunk);

/// The style sheet and the patterns, for so many chunks.
std::string svg_style(Theme theme, int chunks);

}  // namespace trainplan
