/// Texts that hold several values: "10ms,12ms".
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace trainplan {

/// What stands between the commas of a text, as it stands there; a text without any is one part.
inline std::vector<std::string_view> comma_parts(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t end = text.find(','); end != std::string_view::npos; end = text.find(',')) {
    out.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  out.push_back(text);
  return out;
}

}  // namespace trainplan
