#include "trainplan/io/gap_fields.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "field_text.hpp"
#include "text.hpp"
#include "trainplan/io/units.hpp"
#include "trainplan/spec/validator.hpp"

namespace trainplan {
namespace {

constexpr double kLeastStep = 1e-6, kLongestStep = 1e9;  // seconds, as max_step_time

/// Seconds from `least` on.
bool set_time(std::optional<Stated>& to, std::string_view text, double least, bool option,
              const std::string& example, Issue& out) {
  const Measure m = parse_quantity(text, kSeconds);
  if (!m) return refuse(out, "quantity", "be a time; this " + m.error, "try " + example);
  if (m.value < least || m.value > kLongestStep)
    return refuse(
        out, "range",
        least == 0 ? "not be below zero" : "be from " + shown(least) + " s to " + shown(kLongestStep) + " s",
        "try " + example);
  to = Stated{m.value, option};
  return true;
}

bool set_measured(GapSpec& gap, std::string_view text, bool option, Issue& out) {
  return set_time(gap.measured, text, kLeastStep, option, "6.2s", out);
}

/// A step time, or the MFU that it has.
bool set_target(GapSpec& gap, std::string_view text, bool option, Issue& out) {
  const Measure any = parse_quantity(text);
  std::optional<Stated> step, share;
  if (!any || any.dim != kCount) {
    if (!set_time(step, text, kLeastStep, option, "42% or 4.75s", out)) {
      out.must = "be an MFU or a step time" + (any ? std::string() : "; this " + any.error);
      return false;
    }
  } else if (any.value <= 0 || any.value > 1 ||
             (any.word != UnitWord::None && any.word != UnitWord::Percent)) {
    return refuse(out, "range", "be an MFU above 0 % and up to 100 %, or a step time with its unit",
                  "try 42% or 4.75s");
  } else {
    share = Stated{any.value, option};
  }
  gap.target_step = step;
  gap.target_mfu = share;
  return true;
}

bool set_points(GapSpec& gap, std::string_view text, bool option, Issue& out) {
  const Measure m = parse_quantity(text, kCount);
  if (!m || m.word != UnitWord::None || m.value <= 0 || m.value > 100)
    return refuse(out, "range", "be a number of MFU points above 0 and up to 100", "try 10");
  gap.points = Stated{m.value, option};
  return true;
}

constexpr GapField kFields[] = {
    {"measured", "time", "the measured step", "6.2s", set_measured},
    {"target", "share or time", "the MFU or the step that was planned", "42%", set_target},
    {"points", "number", "MFU points of the gap as they are quoted, a rounding of the exact ones", "10",
     set_points},
};

std::string underscored(std::string_view key) {
  std::string out = lower(key);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

StatedItems& column_of(GapSpec& gap, GapColumn column) {
  return column == GapColumn::Measured ? gap.items : gap.budget;
}

}  // namespace

std::span<const GapField> gap_fields() { return kFields; }

bool set_gap_field(GapSpec& gap, const GapField& field, std::string_view text, bool option, Issues& issues,
                   Issue where) {
  where.got = clipped(text);
  if (field.set(gap, text, option, where)) return true;
  issues.add(std::move(where));
  return false;
}

bool set_gap_item(GapSpec& gap, GapColumn column, std::string_view name, std::string_view text, bool option,
                  Issues& issues, Issue where) {
  const std::string wanted = option ? underscored(name) : std::string(name);
  const auto found = std::find(kLossItemNames.begin(), kLossItemNames.end(), wanted);
  where.got = clipped(name);
  if (found == kLossItemNames.end()) {
    refuse(where, "unknown-item", "be an item of a step: " + one_of(kLossItemNames),
           hint_for(wanted, kLossItemNames));
    issues.add(std::move(where));
    return false;
  }
  std::optional<Stated>& figure =
      column_of(gap, column)[static_cast<std::size_t>(found - kLossItemNames.begin())];
  if (option && figure && figure->option) {
    refuse(where, "twice", "be given once for each item", "leave one of them out");
    issues.add(std::move(where));
    return false;
  }
  where.got = clipped(text);
  if (option) where.pointer += " " + wanted;
  if (set_time(figure, text, 0, option, option ? wanted + "=0.2s" : "0.2 s", where)) return true;
  issues.add(std::move(where));
  return false;
}

bool set_gap_pair(GapSpec& gap, GapColumn column, std::string_view pair, Issues& issues) {
  const std::string option = column == GapColumn::Measured ? "--item" : "--budget";
  const std::size_t equals = pair.find('=');
  if (equals != std::string_view::npos)
    return set_gap_item(gap, column, pair.substr(0, equals), pair.substr(equals + 1), true, issues,
                        {.pointer = option});
  issues.add({.rule = "argument",
              .pointer = option,
              .got = clipped(pair),
              .must = "be NAME=TIME with an item of a step: " + one_of(kLossItemNames),
              .hint = "try exposed_comm=0.8s"});
  return false;
}

}  // namespace trainplan
