/// Near misses: what a mistyped name may have been meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace trainplan {

/// The candidate that a typing mistake may have turned into `word`; empty when none is near. Ignores case.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

/// "did you mean \"x\"?", or "use a, b or c" (the first of many).
std::string suggestion(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace trainplan
