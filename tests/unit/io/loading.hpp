/// Loaders of texts that a test expects to succeed or to fail.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "catch.hpp"
#include "found.hpp"

namespace trainplan {

/// What load(text, issues) makes of a good text.
template <class Loader>
auto loaded_by(Loader load, const std::string& text) {
  Issues issues;
  auto value = load(text, issues);
  CAPTURE(listed(issues));
  REQUIRE(value);
  return std::move(*value);
}

/// What it says about a bad one: issues that are complete and have a line.
template <class Loader>
Issues mistakes_by(Loader load, const std::string& text) {
  Issues issues;
  CHECK_FALSE(load(text, issues));
  CAPTURE(listed(issues));
  CHECK(complete(issues));
  for (const Issue& i : issues.all()) CHECK(i.line > 0);
  return issues;
}

}  // namespace trainplan
