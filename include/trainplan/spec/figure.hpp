/// A number from a file, with its place and its source.
#pragma once

#include <string>

namespace trainplan {

/// value in base units (bytes, seconds, ...). origin: file and JSON pointer.
struct Figure {
  double value = 0;
  std::string origin{}, source{};
  bool known = false, assumed = false;

  explicit operator bool() const { return known; }
};

}  // namespace trainplan
