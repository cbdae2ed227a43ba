#include "trainplan/io/units.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace trainplan {
namespace {

/// A multiplier and a divisor, so that "400 Gbit/s" and "30%" are exact.
struct Unit {
  Dim dim{};
  double mul = 1, div = 1;
  UnitWord word = UnitWord::None;
  bool bare = false;  // a number without a unit, perhaps with a multiplier
};

/// How a symbol takes a multiplier: not at all, attached ("GB"), or also apart ("4 Mi tokens").
enum class Multiplier : unsigned char { None, Attached, Apart };

struct Symbol {
  std::string_view name;
  Unit unit;
  Multiplier multiplier = Multiplier::None;
};

constexpr double kMinute = 60, kHour = 3600, kDay = 86400;

// clang-format off
constexpr Symbol kSymbols[] = {
    {"B", {kBytes}, Multiplier::Attached},         {"byte", {kBytes}},   {"bytes", {kBytes}},
    {"bit", {kBytes, 1, 8}, Multiplier::Attached}, {"bits", {kBytes, 1, 8}, Multiplier::Attached},
    {"b", {kBytes, 1, 8}, Multiplier::Attached},
    {"Bps", {kBytes - kSeconds}, Multiplier::Attached},
    {"bps", {kBytes - kSeconds, 1, 8}, Multiplier::Attached},
    {"FLOP", {kFlops}, Multiplier::Attached},      {"FLOPs", {kFlops}, Multiplier::Attached},
    {"FLOPS", {kFlops - kSeconds}, Multiplier::Attached},
    {"s", {kSeconds}},          {"sec", {kSeconds}},
    {"second", {kSeconds}},     {"seconds", {kSeconds}},
    {"ms", {kSeconds, 1, 1e3}}, {"us", {kSeconds, 1, 1e6}},    {"ns", {kSeconds, 1, 1e9}},
    {"min", {kSeconds, kMinute}}, {"minute", {kSeconds, kMinute}}, {"minutes", {kSeconds, kMinute}},
    {"h", {kSeconds, kHour}},   {"hour", {kSeconds, kHour}},   {"hours", {kSeconds, kHour}},
    {"d", {kSeconds, kDay}},    {"day", {kSeconds, kDay}},     {"days", {kSeconds, kDay}},
    {"GPU-h", {kSeconds, kHour}}, {"GPU-hour", {kSeconds, kHour}}, {"GPU", {kCount}},
    {"token", {kTokens}, Multiplier::Apart},       {"tokens", {kTokens}, Multiplier::Apart},
    {"tok", {kTokens}, Multiplier::Apart},
    {"param", {kParams}, Multiplier::Apart},       {"params", {kParams}, Multiplier::Apart},
    {"parameters", {kParams}, Multiplier::Apart},
    {"USD", {kUsd}, Multiplier::Apart},            {"usd", {kUsd}, Multiplier::Apart},
    {"sequence", {kCount, 1, 1, UnitWord::Sequences}, Multiplier::Apart},
    {"sequences", {kCount, 1, 1, UnitWord::Sequences}, Multiplier::Apart},
    {"W", {kCount, 1, 1, UnitWord::Watts}, Multiplier::Attached},
    {"%", {kCount, 1, 100, UnitWord::Percent}},
};
struct Prefix {
  std::string_view name;
  double factor;
};
constexpr Prefix kPrefixes[] = {  // the longer first
    {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50},
    {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"B", 1e9}, {"T", 1e12}, {"P", 1e15}, {"E", 1e18},
    {"Z", 1e21}, {"Y", 1e24},
};

struct Kind {
  Dim dim;
  std::string_view noun, examples;
};
constexpr Kind kKinds[] = {
    {kCount,              "a number",                    "8, 0.3, 30% or 4Ki"},
    {kBytes,              "a size",                      "80GB, 79.6GiB or 500MB"},
    {kFlops,              "an amount of computation",    "3.8e25 FLOP"},
    {kSeconds,            "a time",                      "300s, 5min or 3h"},
    {kTokens,             "a number of tokens",          "8192, 4Mi-tokens or 15T tokens"},
    {kParams,             "a number of parameters",      "70.55B or 8e9 params"},
    {kUsd,                "an amount of money",          "5000 USD or 5M-USD"},
    {kBytes - kSeconds,   "a data rate",                 "450 GB/s or 400 Gbit/s"},
    {kFlops - kSeconds,   "a compute rate",              "989 TFLOP/s"},
    {kTokens - kSeconds,  "a token rate",                "400000 tokens/s"},
    {kBytes - kParams,    "a width per parameter",       "18 B/param"},
    {kBytes - kTokens,    "a width per token",           "34 B/token"},
    {kFlops - kTokens,    "computation per token",       "4.5e11 FLOP/token"},
    {kUsd - kSeconds,     "a price per time",            "2.5 USD/h"},
    {Dim{} - kSeconds,    "a frequency",                 "3/h or 0.001/s"},
};
// clang-format on

const Kind* kind_of(Dim dim) {
  for (const Kind& kind : kKinds)
    if (kind.dim == dim) return &kind;
  return nullptr;
}

/// "B*s/param" for a dimension without a name of its own.
std::string spelled(Dim dim) {
  const std::pair<int, std::string_view> powers[] = {{dim.byte, "B"},      {dim.flop, "FLOP"},
                                                     {dim.sec, "s"},       {dim.token, "token"},
                                                     {dim.param, "param"}, {dim.usd, "USD"}};
  std::string above, below;
  for (const auto& [power, name] : powers) {
    for (int i = 0; i < power; ++i) above.append(above.empty() ? "" : "*").append(name);
    for (int i = 0; i < -power; ++i) below.append("/").append(name);
  }
  return above + below;
}

std::string noun_of(const Unit& unit) {
  if (unit.word == UnitWord::Watts) return "a power";
  if (unit.word == UnitWord::Percent) return "a percentage";
  if (unit.word == UnitWord::Sequences) return "a number of sequences";
  const Kind* kind = kind_of(unit.dim);
  return kind != nullptr ? std::string(kind->noun) : "in " + spelled(unit.dim);
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Without the spaces and the one hyphen that may stand between a number, a multiplier and a unit.
std::string_view after_gap(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('-')) text = trimmed(text.substr(1));
  return text;
}

const Symbol* find_symbol(std::string_view name) {
  for (const Symbol& s : kSymbols)
    if (s.name == name) return &s;
  return nullptr;
}

/// A symbol, a multiplier with a symbol, or a multiplier alone.
std::optional<Unit> parse_factor(std::string_view text) {
  if (const Symbol* s = find_symbol(text)) return s->unit;
  for (const Prefix& prefix : kPrefixes) {
    if (!text.starts_with(prefix.name)) continue;
    const std::string_view rest = text.substr(prefix.name.size());
    if (rest.empty()) return Unit{.mul = prefix.factor, .bare = true};
    const Symbol* s = find_symbol(after_gap(rest));
    if (s == nullptr || s->multiplier == Multiplier::None) continue;
    const bool apart = s->multiplier == Multiplier::Apart;
    if (!apart && (rest != s->name || prefix.name == "B")) continue;
    Unit unit = s->unit;
    unit.mul *= prefix.factor;
    return unit;
  }
  return std::nullopt;
}

/// Factors divided by '/'; nothing when one is not known.
std::optional<Unit> parse_unit(std::string_view text) {
  if (text.empty()) return Unit{.bare = true};
  const std::size_t cut = std::min(text.find('/'), text.size());
  std::optional<Unit> unit = cut == 0 ? Unit{} : parse_factor(trimmed(text.substr(0, cut)));
  for (std::size_t at = cut; unit && at < text.size();) {
    const std::size_t end = std::min(text.find('/', at + 1), text.size());
    const Symbol* below = find_symbol(trimmed(text.substr(at + 1, end - at - 1)));
    if (below == nullptr || below->unit.word != UnitWord::None) return std::nullopt;
    unit = Unit{unit->dim - below->unit.dim, unit->mul * below->unit.div, unit->div * below->unit.mul,
                unit->word};
    at = end;
  }
  return unit;
}

Measure refused(std::string error) {
  Measure m;
  m.error = std::move(error);
  return m;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string out = "\"";
  for (const char c : text.substr(0, kLongest))
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return out + (text.size() > kLongest ? "...\"" : "\"");
}

/// Takes the number off the front of `text`.
std::optional<double> take_number(std::string_view& text, std::string& error) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  if (!digit(first) && !(first < text.size() && text[first] == '.' && digit(first + 1))) {
    error = "does not begin with a number";
    return std::nullopt;
  }
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || !std::isfinite(value)) {
    error = "is a number out of range";
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// `giga`: a lone "B" means 10^9, because bytes are not expected.
Measure parse(std::string_view text, bool giga, Unit& unit) {
  text = trimmed(text);
  if (text.empty()) return refused("is empty");
  std::string error;
  const std::optional<double> number = take_number(text, error);
  if (!number) return refused(error);
  const std::string_view rest = after_gap(text);
  if (!text.empty() && (text.front() == ',' || text.front() == '_'))
    return refused("has a separator inside the number");
  if (rest.empty() && !trimmed(text).empty()) return refused("ends in a hyphen");
  const std::optional<Unit> parsed = giga && rest == "B" ? Unit{.mul = 1e9, .bare = true} : parse_unit(rest);
  if (!parsed) return refused("has the unknown unit " + quoted(rest));
  unit = *parsed;
  Measure m{.value = *number * unit.mul / unit.div, .dim = unit.dim, .word = unit.word};
  if (!std::isfinite(m.value)) return refused("is a number out of range");
  return m;
}

}  // namespace

std::string noun_of(Dim dim) { return noun_of(Unit{dim}); }

std::string example_of(Dim dim) {
  const Kind* kind = kind_of(dim);
  if (kind == nullptr) return "a number in " + spelled(dim);
  return std::string(kind->noun).append(" such as ").append(kind->examples);
}

std::string base_unit_of(Dim dim) { return spelled(dim); }

Measure parse_quantity(std::string_view text) {
  Unit unit;
  Measure m = parse(text, false, unit);
  if (!m) m.hint = "give a number with a unit such as 300s, 80GB or 4Mi-tokens";
  return m;
}

Measure parse_quantity(std::string_view text, Dim expected) {
  Unit unit;
  Measure m = parse(text, expected.byte == 0, unit);
  const bool plain = expected == kCount || expected == kTokens || expected == kParams;
  if (m && unit.bare && !plain) m = refused("has no unit");
  if (m && !unit.bare && (unit.dim != expected || unit.word == UnitWord::Watts))
    m = refused("is " + noun_of(unit) + ", not " + noun_of(Unit{expected}));
  if (!m) m.hint = "give " + example_of(expected);
  m.dim = expected;
  return m;
}

Measure parse_power(std::string_view text) {
  Unit unit;
  Measure m = parse(text, false, unit);
  if (m && unit.word != UnitWord::Watts)
    m = refused(unit.bare ? "has no unit" : "is " + noun_of(unit) + ", not a power");
  if (m && unit.dim != kCount) m = refused("is not a power");
  if (!m) m.hint = "give a power such as 700 W";
  return m;
}

}  // namespace trainplan
