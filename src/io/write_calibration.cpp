#include "trainplan/io/write_calibration.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace trainplan {
namespace {

std::string four_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string value_text(const WrittenConstant& c) {
  if (c.dim == kSeconds)
    return c.value < 1e-3 ? four_digits(c.value * 1e6) + " us" : four_digits(c.value * 1e3) + " ms";
  return c.share ? four_digits(c.value * 100) + " %" : four_digits(c.value);
}

}  // namespace

std::string calibration_text(const std::vector<WrittenConstant>& constants, std::string_view about) {
  nlohmann::ordered_json out;
  out["_about"] = about;
  for (const WrittenConstant& c : constants) {
    nlohmann::ordered_json* at = &out;
    for (const std::string& key : c.keys) at = &(*at)[key];
    (*at)["value"] = value_text(c);
    (*at)["source"] = c.source;
    if (c.assumed) (*at)["assumed"] = true;
  }
  return out.dump(2) + "\n";
}

}  // namespace trainplan
