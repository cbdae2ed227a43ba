/// The answer of `calibrate`: which constants moved, and what that does to the errors.
#pragma once

#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/report/build.hpp"
#include "trainplan/report/calibration_answer.hpp"
#include "trainplan/report/comparison.hpp"

namespace trainplan {

/// Where the constants go; empty: nowhere.
struct CalibrationFile {
  std::string rows, overlay;
};

namespace detail {

inline Value constant_value(const FreeConstant& c, const Figure& f) {
  const ConstantPlace place = place_of(c);
  return {f.value, place.share ? Unit::Share : place.dim == kSeconds ? Unit::Time : Unit::Count};
}

inline Table moved_table(const Calibration& before, const Calibration& after,
                         const std::vector<FreeConstant>& moved) {
  Table t{"constants",
          "",
          {{"constant", "constant"}, {"before", "before"}, {"after", "after"}, {"change", "change"}},
          {}};
  for (const FreeConstant& c : moved) {
    const Figure &was = c.in(before), &is = c.in(after);
    t.rows.push_back({Code{place_of(c).pointer()}, constant_value(c, was), constant_value(c, is),
                      Value{is.value / was.value - 1, Unit::Share}});
  }
  return t;
}

inline Table calibrated_rows(const std::vector<CalibratedRow>& rows) {
  Table t{"rows",
          "Predicted over measured, less 1",
          {{"id", "run"},
           {"measured", "measured"},
           {"before", "before"},
           {"after", "after"},
           {"left_out", "fitted on the others"}},
          {}};
  for (const CalibratedRow& r : rows)
    t.rows.push_back({r.row->id, Value{r.measured, Unit::Time}, Value{r.before, Unit::Share},
                      Value{r.after, Unit::Share}, Value{r.left_out, Unit::Share}});
  return t;
}

/// Which runs take the constants: a stack that no row names is easily not that of a plan.
inline Notes takers(const std::vector<FreeConstant>& moved) {
  Notes out{"takers", {}};
  std::set<std::string> stacks, accelerators;
  for (const FreeConstant& c : moved) {
    if (c.of_stack != nullptr) stacks.emplace(name_of(c.stack));
    if (c.of_accelerator != nullptr) accelerators.insert(c.accelerator);
  }
  for (const std::string& name : stacks)
    out.sentences.push_back(
        {"constants of the stack " + name + " move runs with that stack alone (--stack)" +
         (name == name_of(Stack::Unknown) ? ": zero_or_fsdp of a row tells another one" : "")});
  for (const std::string& id : accelerators)
    out.sentences.push_back(
        {"constants of " + id + " move runs on it, and on accelerators that share its constants"});
  return out;
}

/// No constant moved by what four digits show.
inline bool nothing_changed(const CalibrationAnswer& a) {
  for (const FreeConstant& c : a.moved)
    if (std::abs(c.in(*a.after).value / c.in(*a.before).value - 1) > 5e-4) return false;
  return true;
}

inline std::string written_text(const CalibrationFile& file) {
  return file.overlay.empty() ? "not written: no -o FILE" : "written to " + file.overlay;
}

inline void add_unused(Section& section, const MeasuredTable& table) {
  Table unused = unused_rows(table);
  if (!unused.rows.empty()) section.blocks.push_back(std::move(unused));
}

}  // namespace detail

/// Constants may be written when rows that were left out are predicted no worse, or nothing changes.
inline bool may_be_written(const CalibrationAnswer& a) { return !a.worse() || detail::nothing_changed(a); }

inline Report calibrate_report(const CalibrationAnswer& a, const MeasuredTable& table,
                               const CalibrationFile& file) {
  Report r{"calibrate", "Constants from " + file.rows, Verdict::None, {}, {}};
  const bool written = may_be_written(a);
  if (!written) r.verdict = Verdict::Failed;
  const auto share = [](double x) { return Value{x, Unit::Share}; };
  const double before = a.mean(&CalibratedRow::before), left_out = a.mean(&CalibratedRow::left_out);
  r.headline = {written ? "mean error of "
                        : "failed: not written, since rows are predicted worse from the "
                          "others than before: mean error of ",
                Value{static_cast<double>(a.rows.size())},
                " steps ",
                share(before),
                " before, ",
                share(a.mean(&CalibratedRow::after)),
                " after, ",
                share(left_out),
                " where each is predicted from the others"};
  if (written) r.headline.emplace_back("; " + detail::written_text(file));
  Section constants{"moved", "Constants that these rows tell apart", {}};
  if (a.moved.empty() || detail::nothing_changed(a))
    constants.blocks.push_back(
        Notes{"unchanged", {{"nothing changes: the constants fit these rows as they are"}}});
  constants.blocks.push_back(detail::moved_table(*a.before, *a.after, a.moved));
  if (!a.moved.empty()) constants.blocks.push_back(detail::takers(a.moved));
  r.sections.push_back(std::move(constants));
  r.sections.push_back({"errors", "Errors of step times", {detail::calibrated_rows(a.rows)}});
  detail::add_unused(r.sections.back(), table);
  return r;
}

/// All constants, fitted to many rows.
inline Report fit_report(const FittedRows& rows, const MeasuredTable& table,
                         const Checked<Calibration>& start, const Checked<Calibration>& end,
                         const CalibrationFile& file) {
  Report r{"calibrate", "All constants from " + file.rows, Verdict::None, {}, {}};
  Table errors{"errors",
               "Errors of step times",
               {{"constants", "constants"},
                {"rows", "rows"},
                {"median", "median error"},
                {"mean", "mean"},
                {"p90", "9 of 10 below"}},
               {}};
  const auto add = [&](const char* name, const Checked<Calibration>& c) {
    std::vector<double> list;
    for (const FittedRow& row : rows) list.push_back(row.error(c));
    const ErrorSummary s = summary_of(list);
    errors.rows.push_back({std::string(name), Value{static_cast<double>(s.rows)},
                           Value{s.median, Unit::Share}, Value{s.mean, Unit::Share},
                           Value{s.p90, Unit::Share}});
    return s;
  };
  add("published figures", start);
  const ErrorSummary after = add("fitted", end);
  r.headline = {"median error of ",
                Value{static_cast<double>(after.rows)},
                " steps ",
                Value{after.median, Unit::Share},
                ", mean ",
                Value{after.mean, Unit::Share},
                ", in sample; " + detail::written_text(file)};
  const std::vector<FreeConstant> all = all_constants(observations_of(rows));
  r.sections.push_back({"errors", "", {std::move(errors)}});
  detail::add_unused(r.sections.back(), table);
  r.sections.push_back({"moved", "Constants", {detail::moved_table(*start, *end, all)}});
  return r;
}

}  // namespace trainplan
