/// Memory over a sequence of arrivals and departures.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainplan/base/comma_parts.hpp"

namespace trainplan::study {

/// Something that comes into memory or leaves it; `what` is an index into the names of the sequence.
struct Change {
  std::size_t what = 0;
  bool comes = true;

  friend bool operator==(const Change&, const Change&) = default;
};

/// "+train,-cache" as changes of these names. Nothing when a word is not a sign with a name, when something
/// comes that is there, or leaves that is not.
inline std::optional<std::vector<Change>> read_order(std::string_view text,
                                                     std::span<const std::string_view> names) {
  std::vector<Change> out;
  std::vector<bool> there(names.size(), false);
  for (const std::string_view word : comma_parts(text)) {
    const auto* const name = word.empty()
                                 ? names.data() + names.size()
                                 : std::find(names.data(), names.data() + names.size(), word.substr(1));
    const auto what = static_cast<std::size_t>(name - names.data());
    if (what == names.size() || (word.front() != '+' && word.front() != '-')) return std::nullopt;
    const bool comes = word.front() == '+';
    if (there[what] == comes) return std::nullopt;
    there[what] = comes;
    out.push_back({what, comes});
  }
  return out;
}

/// What is there after each change: one flag for each name.
inline std::vector<std::vector<bool>> moments_of(std::span<const Change> order, std::size_t names) {
  std::vector<std::vector<bool>> out;
  std::vector<bool> there(names, false);
  for (const Change& change : order) {
    there[change.what] = change.comes;
    out.push_back(there);
  }
  return out;
}

}  // namespace trainplan::study
