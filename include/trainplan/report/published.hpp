/// Published figures by their id, for reports that hold a number against them.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "trainplan/spec/anchor.hpp"

namespace trainplan {

/// The anchor of that id; shipped data without it is a defect of the program.
inline const Anchor& published(const std::vector<Anchor>& anchors, std::string_view id) {
  const auto found =
      std::find_if(anchors.begin(), anchors.end(), [&](const Anchor& a) { return a.id == id; });
  if (found == anchors.end() || !found->value.known)
    throw std::logic_error("no published figure " + std::string(id));
  return *found;
}

}  // namespace trainplan
