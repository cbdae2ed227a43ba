/// Reads the `checkpoint` of a framework profile.
#pragma once

#include "reader.hpp"
#include "trainplan/spec/framework.hpp"

namespace trainplan {

void read_checkpoint(const Reader& in, FrameworkProfile& f);

}  // namespace trainplan
