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

namespace detail {

/// The user had a hand in how the GPUs are cut. A derivation's own choice comes with its reasons instead.
inline bool degrees_given(const RunSpec& r) {
  return r.tp || r.pp || r.vpp || r.cp || r.dp || r.ep || r.etp || r.sharding;
}

}  // namespace detail

}  // namespace trainplan
