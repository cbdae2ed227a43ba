/// Constants as a file that can be laid over the shipped ones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trainplan/base/quantity.hpp"

namespace trainplan {

/// One constant: where it stands, what it is, and who says so.
struct WrittenConstant {
  std::vector<std::string> keys;
  double value = 0;
  Dim dim{};
  bool share = false, assumed = false;
  std::string source;
};

/// A JSON file with these constants, four digits each; about: its first line.
std::string calibration_text(const std::vector<WrittenConstant>& constants, std::string_view about);

}  // namespace trainplan
