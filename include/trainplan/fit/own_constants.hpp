/// Entries of accelerators that move by themselves.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "trainplan/spec/calibration.hpp"

namespace trainplan {

/// Every accelerator gets an entry that shares nothing, with the constants that it has now.
inline Calibration with_own_constants(Calibration c, const std::vector<std::string>& accelerators) {
  for (const std::string& id : accelerators) {
    const auto found = std::find_if(c.accelerators.begin(), c.accelerators.end(),
                                    [&](const AcceleratorConstants& a) { return a.id == id; });
    if (found != c.accelerators.end()) {
      found->same_as.clear();
      continue;
    }
    c.accelerators.push_back(c.other_accelerator);
    c.accelerators.back().id = id;
  }
  return c;
}

}  // namespace trainplan
