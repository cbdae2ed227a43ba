// Several values in one text.
#include "trainplan/base/comma_parts.hpp"

#include <string_view>
#include <vector>

#include "catch.hpp"

using trainplan::comma_parts;
using Parts = std::vector<std::string_view>;

TEST_CASE("parts stand as they are, empty ones too") {
  CHECK(comma_parts("a") == Parts{"a"});
  CHECK(comma_parts("10ms, 12ms") == Parts{"10ms", " 12ms"});
  CHECK(comma_parts("a,,b") == Parts{"a", "", "b"});
  CHECK(comma_parts(",") == Parts{"", ""});
  CHECK(comma_parts("") == Parts{""});
}
