/// A number with what it is, and text with such numbers in it; only a renderer turns them into characters.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace trainplan {

/// What a number is, and so how it is shown. Memory is GiB, traffic decimal GB; JSON has base units.
enum class Unit : unsigned char {
  Count,       // an integer when it is one
  Whole,       // an integer, every digit of it
  Memory,      // bytes, GiB
  MemoryBoth,  // bytes, GiB with GB beside it
  Request,     // bytes, whole MiB, as messages of allocators have them
  Traffic,     // bytes, decimal GB
  Time,
  StepTime,   // seconds that are compared with each other: never ms
  Days,       // from seconds
  Share,      // 0.42 is 42 %
  FineShare,  // of three digits: 0.01078 is 1.08 %
  Points,     // difference of shares: 0.14 is 14.0 points, 0.0055 is 0.55
  Flops,
  FlopRate,
  ByteRate,
  Params,
  Tokens,
  TokenRate,
  FlopsPerToken,
  BytesPerParam,
  Usd,
  UsdPerHour,  // from dollars per second
  GpuTime,     // seconds of one GPU, shown as GPU-hours
  Energy,      // joules, shown as kWh
};

struct Value {
  double number = 0;
  Unit unit = Unit::Count;
};

/// A predicted number with the range that holds a share `confidence` of such predictions.
struct Estimate {
  Value value;
  double low = 0, high = 0, confidence = 0;
};

/// Two ends without a middle.
struct Ends {
  double low = 0, high = 0;
  Unit unit = Unit::Count;
};

/// Text that is typed as it stands: an id, a formula, a command.
struct Code {
  std::string text;
};

/// Empty, text, a number, yes/no, a number with its range, or a range alone.
using Cell = std::variant<std::monostate, std::string, Value, bool, Code, Estimate, Ends>;

/// Text with values in it.
using Sentence = std::vector<std::variant<std::string, Value, Estimate>>;

/// Fits with the planning margin free, fits the gate only, or does not fit; passed or failed its limits.
enum class Verdict : unsigned char { None, Fits, Tight, DoesNotFit, Passed, Failed };

}  // namespace trainplan
