/// Words for messages: clipped texts and lists; near misses are in suggest.hpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "trainplan/io/suggest.hpp"

namespace trainplan {

/// At most 60 characters on one line, without control characters: safe on a terminal.
std::string clipped(std::string_view text);

/// "did you mean \"x\"?" when one is near, else "try \"x\"" with the first.
std::string hint_for(std::string_view word, std::span<const std::string_view> candidates);

/// "a, b or c".
std::string one_of(std::span<const std::string_view> names);

std::string lower(std::string_view text);

}  // namespace trainplan
