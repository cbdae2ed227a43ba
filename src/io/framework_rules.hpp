/// Reads the `rules` of a framework profile.
#pragma once

#include "reader.hpp"
#include "trainplan/spec/framework_rules.hpp"

namespace trainplan {

FrameworkRules read_framework_rules(const Reader& in);

}  // namespace trainplan
