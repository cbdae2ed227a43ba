/// What bytes a text may consist of.
#pragma once

#include <string_view>

#include "trainplan/spec/issue.hpp"

namespace trainplan {

/// Whether the text is UTF-8 without zero bytes; if not, an issue says where.
bool is_utf8(std::string_view text, std::string_view file, Issues& issues);

}  // namespace trainplan
