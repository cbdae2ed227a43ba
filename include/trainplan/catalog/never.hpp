/// Formulas whose result has a meaning above zero alone, and what it means that there is none.
#pragma once

#include <array>
#include <string_view>

#include "trainplan/cost/goodput.hpp"
#include "trainplan/cost/interval.hpp"
#include "trainplan/cost/long_run.hpp"

namespace trainplan {

struct Never {
  std::string_view id, must;
};
inline constexpr std::array kNever{
    Never{goodput.id, "leave time for training; with these inputs a run never finishes"},
    Never{goodput_less.id, "leave time for training; with these inputs a run never finishes"},
    Never{restart_interval.id, "be above zero; a save that takes so long leaves no such interval"},
    Never{mtbf_for_goodput.id, "be above zero; with such saves no failure rate reaches that goodput"},
    Never{other_mtbf.id, "be above zero; the joint time must be below that of one kind"}};

/// Empty where every result has a meaning.
constexpr std::string_view never_text(std::string_view id) {
  for (const Never& n : kNever)
    if (n.id == id) return n.must;
  return {};
}

}  // namespace trainplan
