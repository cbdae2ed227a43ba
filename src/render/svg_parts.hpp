/// Numbers, texts and boxes of an SVG.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "layout.hpp"
#include "words.hpp"

namespace trainplan {

/// Advance of a character of a monospaced font, in its size; no usual one is wider.
inline constexpr double kAdvance = 0.61;
inline double width_of(std::string_view text, double size) {
  return kAdvance * size * static_cast<double>(display_width(text));
}

/// Two decimals, as short as they can be.
inline std::string num(double v) {
  std::string out = fmt::format("{:.2f}", v);
  out.erase(out.find_last_not_of('0') + 1);
  if (out.ends_with('.')) out.pop_back();
  return out == "-0" ? "0" : out;
}

inline std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  return out;
}

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};

}  // namespace trainplan
