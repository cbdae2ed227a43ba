/// Where a number or a formula comes from.
#pragma once

#include <string_view>

namespace trainplan {

/// key: an entry of docs/references.md; where: the table, equation or section in it.
struct Source {
  std::string_view key, where{};
};

}  // namespace trainplan
