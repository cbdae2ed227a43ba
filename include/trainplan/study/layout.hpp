/// A layout of ranks as a word: "tp4,pp2,dp16" or "nodes16".
#pragma once

#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainplan/spec/checkpoint_use.hpp"

namespace trainplan::study {

/// Degrees that the word does not name are 1. nodes: then dp is what the nodes have beyond the other degrees.
struct Layout {
  std::array<std::int64_t, kDegrees> degrees{1, 1, 1, 1, 1};
  std::optional<std::int64_t> nodes{};

  std::int64_t of(Degree d) const { return degrees[static_cast<std::size_t>(d)]; }
  std::int64_t& of(Degree d) { return degrees[static_cast<std::size_t>(d)]; }
};

namespace detail {

inline std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  const bool good = error == std::errc() && end == text.data() + text.size() && n >= 1 && n <= 1'000'000;
  return good ? std::optional(n) : std::nullopt;
}

/// "tp4", "tp=4", "nodes16", "node 16".
inline bool set_part(Layout& layout, std::string_view part) {
  std::size_t name_end = 0;
  while (name_end < part.size() && std::isalpha(static_cast<unsigned char>(part[name_end]))) ++name_end;
  const std::string_view name = part.substr(0, name_end);
  std::string_view number = part.substr(name_end);
  if (number.starts_with('=')) number.remove_prefix(1);
  const auto n = whole(number);
  if (!n) return false;
  if (name == "nodes") {
    layout.nodes = *n;
    return true;
  }
  for (int d = 0; d < kDegrees; ++d)
    if (name == kDegreeNames[d]) {
      layout.degrees[static_cast<std::size_t>(d)] = *n;
      return true;
    }
  return false;
}

}  // namespace detail

/// Nothing for a text that is no layout.
inline std::optional<Layout> layout_of(std::string_view text) {
  Layout out;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    if (!detail::set_part(out, text.substr(0, comma))) return std::nullopt;
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return out;
}

}  // namespace trainplan::study
