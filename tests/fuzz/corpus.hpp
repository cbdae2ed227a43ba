/// Inputs of the fuzzer: a letter that says of what kind, then the text.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "claims.hpp"

namespace fuzz {

inline constexpr std::pair<char, std::string_view> kLetters[] = {
    {'m', "models"},      {'c', "clusters"},   {'a', "accelerators"}, {'f', "frameworks"},
    {'k', "calibration"}, {'n', "references"}, {'r', "runs"},         {'p', "schedules"},  {'d', "reports"}};

/// Inputs without such a letter are of no interest and break nothing.
inline std::string broken_claim(std::string_view input) {
  for (const auto& [letter, kind] : kLetters)
    if (input.starts_with(letter)) return broken_claim(kind, input.substr(1));
  return "";
}

}  // namespace fuzz
