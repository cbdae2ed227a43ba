/// Sets of published facts beside the program's answers, errors for each set, and whether the bounds hold.
#pragma once

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/report/calc.hpp"
#include "trainplan/report/validation_answers.hpp"

namespace trainplan {

/// One set with its findings; what was not scored has none.
struct ValidatedSet {
  const ValidationSet* set = nullptr;
  std::vector<Finding> findings;
};

/// Absolute errors of the scored rows of a group.
struct Errors {
  std::size_t scored = 0;  // rows, where several findings of a case count once
  double mean = 0, median = 0, worst = 0, low = 0;
};

inline ValidatedSet validated(const ValidationSet& set) {
  ValidatedSet out{&set, {}};
  for (const MeasuredRow& row : set.measured)
    if (row.run != nullptr && row.missing.empty()) out.findings.push_back(finding_of(row));
  for (const CaseRow& row : set.cases) {
    for (const Check& check : row.checks) {
      out.findings.push_back(finding_of(check));
      out.findings.back().id = row.id;
    }
  }
  return out;
}

/// Of signed errors; `rows` as it is counted elsewhere.
inline Errors errors_in(const std::vector<double>& errors, std::size_t rows) {
  Errors out;
  out.scored = rows;
  if (errors.empty()) return out;
  std::vector<double> absolute;
  for (const double e : errors) {
    absolute.push_back(std::abs(e));
    out.low = std::max(out.low, -e);
  }
  std::sort(absolute.begin(), absolute.end());
  for (const double e : absolute) out.mean += e / static_cast<double>(absolute.size());
  const std::size_t half = absolute.size() / 2;
  out.median = absolute.size() % 2 == 1 ? absolute[half] : (absolute[half - 1] + absolute[half]) / 2;
  out.worst = absolute.back();
  return out;
}

inline Errors errors_of(const ValidatedSet& set, RowGroup group) {
  std::vector<double> errors;
  std::set<std::string> rows;
  for (const Finding& o : set.findings) {
    const bool other = (group == RowGroup::Dense && o.sparse) || (group == RowGroup::Sparse && !o.sparse);
    if (!o.measured || !o.ratio || other) continue;
    errors.push_back(o.error());
    rows.insert(o.id);
  }
  return errors_in(errors, rows.size());
}

inline double value_of(const Errors& e, BoundKind kind) {
  switch (kind) {
    case BoundKind::Mean: return e.mean;
    case BoundKind::Median: return e.median;
    case BoundKind::Worst: return e.worst;
    case BoundKind::Low: return e.low;
    case BoundKind::Scored: return static_cast<double>(e.scored);
  }
  return 0;
}

namespace detail {

inline Table summary_table(const std::vector<ValidatedSet>& sets) {
  Table t{"summary",
          "",
          {{"set", "rows of"},
           {"rows", "rows"},
           {"scored", "memory scored"},
           {"mean", "mean error"},
           {"median", "median"},
           {"worst", "worst"},
           {"low", "too low"},
           {"in_sample", "in sample"},
           {"checks", "checks"},
           {"hold", "hold"}},
          {}};
  const auto count = [](std::size_t n) { return Value{static_cast<double>(n), Unit::Count}; };
  for (const ValidatedSet& v : sets) {
    const Errors e = errors_of(v, RowGroup::All);
    const auto other = [](const Finding& o) { return !o.measured; };
    const auto holds = [](const Finding& o) { return !o.measured && o.holds; };
    const auto counted = [&](auto which) {
      return count(static_cast<std::size_t>(std::count_if(v.findings.begin(), v.findings.end(), which)));
    };
    const auto share = [&](double x) { return e.scored == 0 ? Cell{} : Cell{Value{x, Unit::Share}}; };
    const auto& rows = v.set->measured;
    const bool in_sample =
        std::any_of(rows.begin(), rows.end(), [](const MeasuredRow& row) { return row.in_sample; });
    t.rows.push_back({v.set->title, count(v.set->measured.size() + v.set->cases.size()), count(e.scored),
                      share(e.mean), share(e.median), share(e.worst), share(e.low), in_sample, counted(other),
                      counted(holds)});
  }
  return t;
}

/// The bounds of all sets; `failed` is set when one does not hold. A bound on no rows says nothing, so it
/// does not hold.
inline Table bound_table(const std::vector<ValidatedSet>& sets, bool& failed) {
  Table t{"bounds",
          "",
          {{"set", "rows of"},
           {"group", "which"},
           {"bound", "bound"},
           {"value", "value"},
           {"limit", "limit"},
           {"holds", "holds"}},
          {}};
  for (const ValidatedSet& v : sets) {
    for (const Bound& b : v.set->bounds) {
      const bool least = b.kind == BoundKind::Scored;
      const Errors e = errors_of(v, b.group);
      const double value = value_of(e, b.kind);
      const bool holds = least ? value >= b.limit : e.scored > 0 && value <= b.limit;
      failed = failed || !holds;
      const Unit unit = least ? Unit::Count : Unit::Share;
      t.rows.push_back({v.set->title, std::string(kRowGroupNames[static_cast<int>(b.group)]),
                        std::string(kBoundNames[static_cast<int>(b.kind)]),
                        least || e.scored > 0 ? Cell{Value{value, unit}} : Cell{}, Value{b.limit, unit},
                        holds});
    }
  }
  return t;
}

inline Cell error_cell(const Finding& o) { return o.ratio ? Cell{Value{*o.ratio, Unit::Count}} : Cell{}; }

inline std::string stage_text(int stage) {
  if (stage == kFullestStage) return "fullest";
  return stage == kLastStage ? "last" : std::to_string(stage);
}

inline Table measured_table(const ValidatedSet& v) {
  Table t{"rows",
          "",
          {{"id", "run"},
           {"reading", "reading"},
           {"stage", "stage"},
           {"predicted", "predicted"},
           {"measured", "measured"},
           {"ratio", "ratio"},
           {"remark", "remark"}},
          {}};
  std::size_t next = 0;
  for (const MeasuredRow& row : v.set->measured) {
    const bool scored = row.run != nullptr && row.missing.empty();
    std::string remark = scored ? row.note : "not scored: " + row.missing;
    if (scored && row.in_sample) remark = remark.empty() ? "in sample" : "in sample; " + remark;
    const Finding* o = scored ? &v.findings[next++] : nullptr;
    t.rows.push_back({row.id, std::string(name_of(row.reading)), stage_text(row.stage),
                      o == nullptr ? Cell{} : o->answer, Value{row.peak, Unit::Memory},
                      o == nullptr ? Cell{} : error_cell(*o), std::move(remark)});
  }
  return t;
}

inline Table case_table(const ValidatedSet& v, bool measured) {
  Table t{measured ? "measured" : "predicted",
          measured ? "Measured memory" : "Worked out by hand, rules and verdicts",
          {{"id", "case"},
           {"what", "what"},
           {"answer", "trainplan"},
           {"figure", measured ? "measured" : "figure"},
           {"ratio", "ratio"}},
          {}};
  if (!measured) t.columns.push_back({"holds", "holds"});
  for (const Finding& o : v.findings) {
    if (o.measured != measured) continue;
    t.rows.push_back({o.id, o.title, o.answer, o.figure, error_cell(o)});
    if (!measured) t.rows.back().push_back(o.holds);
  }
  return t;
}

inline Table unscored_table(const ValidatedSet& v) {
  Table t{"unscored", "Memory that is not scored", {{"id", "case"}, {"missing", "what is missing"}}, {}};
  for (const CaseRow& row : v.set->cases)
    if (!row.missing.empty()) t.rows.push_back({row.id, row.missing});
  return t;
}

inline Table source_table(const ValidatedSet& v) {
  Table t{"sources", "Where the cases were told", {{"id", "case"}, {"source", "source"}}, {}};
  for (const CaseRow& row : v.set->cases) t.rows.push_back({row.id, row.source});
  return t;
}

/// The sections of one set.
inline Section set_section(const ValidatedSet& v) {
  Section s{member_key(v.set->name), v.set->title, {}};
  if (!v.set->source.empty()) s.blocks.push_back(Facts{"", {{"source", "source", v.set->source, "", ""}}});
  if (!v.set->measured.empty()) s.blocks.push_back(measured_table(v));
  if (v.set->cases.empty()) return s;
  for (const Table& t : {case_table(v, false), case_table(v, true), unscored_table(v), source_table(v)})
    if (!t.rows.empty()) s.blocks.push_back(t);
  return s;
}

}  // namespace detail

/// What was judged, and how much of it does not hold.
struct Judged {
  std::size_t judged = 0, wrong = 0;
  bool bound = false;

  bool failed() const { return bound || wrong > 0; }
};

/// The sections of sets of rows, and their part of the verdict.
inline std::vector<Section> set_sections(const std::vector<ValidationSet>& sets, Judged& judged) {
  std::vector<ValidatedSet> all;
  for (const ValidationSet& set : sets) all.push_back(validated(set));
  std::vector<Section> out;
  if (all.empty()) return out;
  Section summary{"summary", "Summary", {detail::summary_table(all)}};
  Table bounds = detail::bound_table(all, judged.bound);
  judged.judged += bounds.rows.size();
  if (!bounds.rows.empty()) summary.blocks.push_back(std::move(bounds));
  for (const ValidatedSet& v : all) {
    for (const Finding& o : v.findings) {
      if (o.measured) continue;
      ++judged.judged;
      if (!o.holds) ++judged.wrong;
    }
  }
  out.push_back(std::move(summary));
  for (const ValidatedSet& v : all) out.push_back(detail::set_section(v));
  return out;
}

}  // namespace trainplan
