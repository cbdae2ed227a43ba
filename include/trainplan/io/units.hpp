/// Quantities as people write them: "300s", "4Mi tokens", "900 GB/s", "2.5 USD/h", "30%".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trainplan/base/quantity.hpp"

namespace trainplan {

/// Words that stand for a plain number: a quantity of seven sequences and one of 7 % have no dimension.
enum class UnitWord : std::uint8_t { None, Percent, Sequences, Watts };

/// value in base units (bytes, FLOP, seconds, tokens, parameters, dollars); never NaN or infinite. error: why
/// the text was refused, empty when it is a quantity; hint: what to write instead.
struct Measure {
  double value = 0;
  Dim dim{};
  UnitWord word = UnitWord::None;
  std::string error{}, hint{};

  explicit operator bool() const { return error.empty(); }
};

/// A number, then an optional unit after nothing, spaces or a hyphen: decimal and binary prefixes, '/' for
/// "per". A bare "B" is bytes.
Measure parse_quantity(std::string_view text);

/// The same where one dimension is meant: "70.55B" is 70.55e9 where parameters, tokens or a count are
/// expected. A bare number is a count, tokens or parameters; other dimensions need their unit.
Measure parse_quantity(std::string_view text, Dim expected);

/// Watts: "700 W", "1.2 kW".
Measure parse_power(std::string_view text);

/// What may be written where this dimension is expected: "a time such as 300s, 5min or 3h".
std::string example_of(Dim dim);

/// "a time".
std::string noun_of(Dim dim);

/// The unit of a number in base units: "s", "B/s"; empty for a count.
std::string base_unit_of(Dim dim);

}  // namespace trainplan
