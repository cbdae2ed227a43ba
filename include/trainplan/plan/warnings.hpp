/// What is legal and yet of no effect or of doubtful use: the list, in the form of the rules.
#pragma once

#include <span>

#include "trainplan/plan/warnings/doubts.hpp"
#include "trainplan/plan/warnings/effectless.hpp"

namespace trainplan {

namespace detail {

inline constexpr auto kWarnings = [] {
  std::array<Warning, kEffectless.size() + kDoubts.size()> all{};
  std::size_t at = 0;
  for (const Warning& w : kEffectless) all[at++] = w;
  for (const Warning& w : kDoubts) all[at++] = w;
  return all;
}();

}  // namespace detail

inline std::span<const Warning> warnings() { return detail::kWarnings; }

}  // namespace trainplan
