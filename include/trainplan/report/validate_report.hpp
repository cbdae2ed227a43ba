/// The answer of `validate`: sets of published facts and tables of measured runs, and whether what they ask
/// holds.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trainplan/report/measured_report.hpp"
#include "trainplan/report/validation.hpp"

namespace trainplan {

namespace detail {

inline std::string judged_text(const Judged& j) {
  if (!j.failed()) return "passed: all bounds and checks hold";
  std::string text = "failed: ";
  if (j.wrong > 0) text += std::to_string(j.wrong) + (j.wrong == 1 ? " check" : " checks");
  if (j.wrong > 0 && j.bound) text += " and ";
  if (j.bound) text += "a bound";
  return text + (j.wrong + (j.bound ? 1 : 0) == 1 ? " does not hold" : " do not hold");
}

/// "step times of 612 runs: median error 5.1 %, mean 6.3 %"; empty without standard rows.
inline Sentence error_sentence(const std::vector<Comparison>& all, Target target) {
  std::vector<double> errors;
  for (const Comparison& c : all)
    if (const auto e = c.error(target); e && c.row->standing == Standing::Standard) errors.push_back(*e);
  if (errors.empty()) return {};
  const ErrorSummary s = summary_of(errors);
  return {target == Target::Time ? "step times of " : "memory of ",
          Value{static_cast<double>(s.rows)},
          s.rows == 1 ? " run: median error " : " runs: median error ",
          Value{s.median, Unit::Share},
          ", mean ",
          Value{s.mean, Unit::Share}};
}

inline Sentence validation_headline(const Judged& judged, const std::vector<Comparison>& all,
                                    const MeasuredView& view) {
  Sentence out;
  const auto add = [&out](const Sentence& part) {
    if (part.empty()) return;
    if (!out.empty()) out.emplace_back("; ");
    out.insert(out.end(), part.begin(), part.end());
  };
  if (judged.judged > 0) add(Sentence{judged_text(judged)});
  if (view.time) add(error_sentence(all, Target::Time));
  if (view.memory) add(error_sentence(all, Target::Memory));
  return out.empty() ? Sentence{"nothing to judge: no bounds, no checks"} : out;
}

}  // namespace detail

inline Report validation_report(const std::vector<ValidationSet>& sets,
                                const std::vector<MeasuredTable>& tables = {},
                                const MeasuredView& view = {}) {
  Report r{"validate", "Published facts and the program's answers", Verdict::None, {}, {}};
  Judged judged;
  const std::vector<Comparison> all = comparisons_of(tables);
  std::vector<Section> facts = set_sections(sets, judged);
  Table bounds = run_bound_table(tables, view, judged.bound);
  judged.judged += bounds.rows.size();
  std::vector<Section> runs = tables.empty() ? std::vector<Section>{} : measured_sections(all, view);
  if (!bounds.rows.empty())
    runs.insert(runs.begin(), {"bounds", "Bounds of measured runs", {std::move(bounds)}});
  for (std::vector<Section>* part : {&runs, &facts})
    for (Section& s : *part) r.sections.push_back(std::move(s));
  if (judged.judged > 0) r.verdict = judged.failed() ? Verdict::Failed : Verdict::Passed;
  r.headline = detail::validation_headline(judged, all, view);
  return r;
}

}  // namespace trainplan
