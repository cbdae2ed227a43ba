/// What a warning about a legal plan is.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "trainplan/plan/problem.hpp"
#include "trainplan/spec/run.hpp"

namespace trainplan {

/// "<field> must <must>": speaks() says whether the plan of a run gives reason to warn, numbers() what it was
/// judged on, hint what to do. The run tells what the user asked for from what was derived.
struct Warning {
  std::string_view id{}, field{}, must{}, hint{};
  bool (*speaks)(const Problem&, const Plan&, const RunSpec&) = nullptr;
  std::string (*numbers)(const Problem&, const Plan&) = nullptr;
};

}  // namespace trainplan
