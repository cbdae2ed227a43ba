#include "trainplan/io/sweep_axes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "field_text.hpp"
#include "text.hpp"
#include "trainplan/base/comma_parts.hpp"
#include "trainplan/io/run_fields.hpp"
#include "trainplan/io/units.hpp"
#include "trainplan/spec/validator.hpp"

namespace trainplan {
namespace {

/// A type of run fields whose values are numbers, and how those are shown.
struct NumberType {
  std::string_view type;
  Dim dim;
  Unit unit;
};
constexpr NumberType kNumberTypes[] = {{"integer", kCount, Unit::Whole}, {"number", kCount, Unit::Count},
                                       {"share", kCount, Unit::Share},   {"tokens", kTokens, Unit::Tokens},
                                       {"time", kSeconds, Unit::Time},   {"size", kBytes, Unit::Memory}};
constexpr std::string_view kBatchType = "sequences or tokens", kListType = "module names";

/// "16Mi-tokens": 16 and "Mi-tokens".
struct Term {
  double number = 0;
  std::string_view unit;
};

std::optional<Term> term(std::string_view text) {
  Term out;
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), out.number);
  if (status != std::errc{} || !std::isfinite(out.number)) return std::nullopt;
  out.unit = text.substr(static_cast<std::size_t>(end - text.data()));
  return out;
}

/// Fifteen digits: what a double holds of a decimal number, so that 0.1 + 2 x 0.1 is 0.3.
std::string spelled(Term t) {
  std::array<char, 32> digits{};
  const auto [end, status] =
      std::to_chars(digits.data(), digits.data() + digits.size(), t.number, std::chars_format::general, 15);
  return std::string(digits.data(), end).append(t.unit);
}

struct Range {
  Term from, to, by;
  bool factor = false;

  double at(std::size_t i) const {
    const auto n = static_cast<double>(i);
    return factor ? from.number * std::pow(by.number, n) : from.number + by.number * n;
  }
};

/// Fills in what is wrong with a range, with one that is right and near where the ends can be read.
std::optional<Range> read_range(std::string_view text, Issue& out) {
  const std::size_t dots = text.find("..");
  const std::string_view rest = text.substr(dots + 2);
  const std::size_t sign = rest.find_last_of("x+");
  const auto from = term(text.substr(0, dots)), to = term(rest.substr(0, sign));
  const bool closed = sign != std::string_view::npos;
  const auto by = closed ? term(rest.substr(sign + 1)) : std::nullopt;
  const std::string must =
      "be A..BxF (times F, F above 1, A above 0) or A..B+S (plus S, S above 0), in one unit";
  if (!from || !to || from->unit != to->unit) {
    refuse(out, "range-form", must, "try 1..64x2 or 8k..32k+8k");
    return std::nullopt;
  }
  const Term &low = from->number < to->number ? *from : *to, &high = from->number < to->number ? *to : *from;
  const std::string ends = spelled(low) + ".." + spelled(high);
  const std::string near = low.number > 0 ? "try " + ends + "x2 or " + ends + "+" + spelled(low)
                                          : "try " + ends + "+" + spelled({1, low.unit});
  const bool factor = closed && rest[sign] == 'x';
  const Term step = by.value_or(Term{});
  const bool steps = by && step.unit == (factor ? std::string_view{} : from->unit) &&
                     step.number > (factor ? 1 : 0) && !(factor && from->number == 0);
  if (!steps) {
    refuse(out, "range-form", must, near);
  } else if (from->number > to->number) {
    refuse(out, "range-order", "begin at its lower end", near);
  } else {
    return Range{*from, *to, step, factor};
  }
  return std::nullopt;
}

/// Values up to the end, which is one of them when rounding alone keeps it from being met; none of too many.
std::vector<std::string> values_of(const Range& range, std::size_t before, Issue& out) {
  const double end = range.to.number * (1 + 1e-12);
  std::vector<std::string> values;
  for (std::size_t i = 0; range.at(i) <= end; ++i) {
    if (before + values.size() == kMostAxisValues) {
      refuse(out, "range-size", "give at most " + std::to_string(kMostAxisValues) + " values",
             "take a larger factor or step");
      return {};
    }
    values.push_back(spelled({range.at(i), range.from.unit}));
  }
  return values;
}

const NumberType* number_type(std::string_view type) {
  const auto* found = std::find_if(std::begin(kNumberTypes), std::end(kNumberTypes),
                                   [&](const NumberType& n) { return n.type == type; });
  return found == std::end(kNumberTypes) ? nullptr : found;
}

/// A batch counts sequences or tokens; values of both kinds have no unit in common and stay words.
const NumberType* batch_type(const std::vector<std::string>& values) {
  const auto tokens = std::count_if(values.begin(), values.end(),
                                    [](const std::string& v) { return parse_quantity(v).dim == kTokens; });
  if (tokens == 0) return number_type("integer");
  return static_cast<std::size_t>(tokens) == values.size() ? number_type("tokens") : nullptr;
}

/// A row for each value: one that stands twice is one value.
void add_cells(SweepAxis& axis, const NumberType* type) {
  if (type != nullptr) axis.unit = type->unit;
  std::set<std::pair<double, std::string>> seen;
  std::vector<std::string> values;
  for (std::string& v : axis.values) {
    const double number = type == nullptr ? 0 : parse_quantity(v, type->dim).value;
    if (!seen.emplace(number, type == nullptr ? v : "").second) continue;
    axis.cells.push_back(type == nullptr ? Cell{v} : Cell{Value{number, type->unit}});
    values.push_back(std::move(v));
  }
  axis.values = std::move(values);
}

bool takes(const RunField* field, const std::string& key, const std::string& value, Issues& issues) {
  if (field != nullptr) {
    RunSpec scratch;
    return set_field(scratch, key, value, issues);
  }
  const Measure m = parse_quantity(value, kCount);
  if (m && m.word == UnitWord::None && m.value == std::floor(m.value) && m.value >= 1 &&
      m.value <= static_cast<double>(kMaxRanks))
    return true;
  issues.add({.rule = "integer",
              .pointer = option_of(key),
              .got = clipped(value),
              .must = "be an integer from 1 to " + std::to_string(kMaxRanks),
              .hint = "try 1024"});
  return false;
}

/// Values and ranges joined by commas, those that `takes` accepts. What is wrong is recorded, of a range its
/// first wrong value only: the others are wrong in the same way.
bool add_listed(std::string_view text, const Issue& where, std::vector<std::string>& values, Issues& issues,
                auto takes) {
  bool good = true;
  for (const std::string_view part : comma_parts(text)) {
    Issue issue = where;
    issue.got = clipped(part);
    std::vector<std::string> added{std::string(part)};
    if (part.find("..") != std::string_view::npos) {
      const auto range = read_range(part, issue);
      added = range ? values_of(*range, values.size(), issue) : std::vector<std::string>{};
    }
    if (!issue.rule.empty()) issues.add(std::move(issue));
    const bool taken = !added.empty() && std::ranges::all_of(added, takes);
    good = good && taken;
    if (taken) values.insert(values.end(), added.begin(), added.end());
  }
  return good;
}

}  // namespace

std::optional<SweepAxis> sweep_axis(std::string_view key, std::string_view text, Issues& issues) {
  const RunField* field = find_run_field(key);
  if (field == nullptr && key != kGpuAxis) {
    RunSpec scratch;
    set_field(scratch, key, text, issues);  // says which fields there are
    return std::nullopt;
  }
  SweepAxis axis{std::string(field == nullptr ? key : field->key), {}, {}};
  const std::string_view type = field == nullptr ? "integer" : field->type;
  const auto legal = [&](const std::string& value) { return takes(field, axis.key, value, issues); };
  bool good = true;
  if (number_type(type) != nullptr || type == kBatchType) {
    good = add_listed(text, {.pointer = option_of(axis.key)}, axis.values, issues, legal);
  } else {
    if (type == kListType)
      axis.values.emplace_back(text);
    else
      for (const std::string_view part : comma_parts(text)) axis.values.emplace_back(part);
    for (const std::string& value : axis.values) good = legal(value) && good;
  }
  if (!good) return std::nullopt;
  add_cells(axis, type == kBatchType ? batch_type(axis.values) : number_type(type));
  return axis;
}

}  // namespace trainplan
