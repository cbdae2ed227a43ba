/// The answer of `check`: each gate with its value, its limit and whether it holds.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trainplan/derive/trial.hpp"
#include "trainplan/report/gates.hpp"
#include "trainplan/report/plan_report.hpp"
#include "trainplan/report/warning_section.hpp"

namespace trainplan {

/// What one run gave.
struct CheckedRun {
  std::string name;
  Trial trial;
  std::vector<Gate> gates;
  std::vector<Issue> issues{};  // its warnings are shown
};

inline Report check_report(const std::vector<CheckedRun>& runs) {
  Report r{"check",
           "Check of " + std::to_string(runs.size()) + (runs.size() == 1 ? " run" : " runs"),
           Verdict::Passed,
           {},
           {}};
  Table table{"gates",
              "",
              {{"run", "run"},
               {"plan", "plan"},
               {"gate", "gate"},
               {"id", "id"},
               {"value", "value"},
               {"limit", "limit"},
               {"holds", "holds"}},
              {}};
  Notes failures{"failures", {}};
  Notes constants{"constants", {}};
  Table warnings = warning_table(true);
  for (const CheckedRun& run : runs) {
    add_warnings(warnings, run.issues, run.name);
    if (const std::string& overlay = run.trial.problem.calibration().overlay; !overlay.empty())
      constants.sentences.push_back({run.name + ": constants: baseline, with " + overlay});
    for (const Gate& g : run.gates) {
      table.rows.push_back(
          {run.name, detail::degrees_text(run.trial.plan), g.name, Code{g.id}, g.value, g.limit, g.holds()});
      if (g.holds()) continue;
      r.verdict = Verdict::Failed;
      failures.sentences.push_back(failure_of(run.name + ": ", g, run.trial.cost.stage));
    }
  }
  const std::size_t failed = failures.sentences.size();
  const std::string plural = failed == 1 ? " gate" : " gates";
  r.headline.push_back(failed == 0 ? "passed" : "failed: " + std::to_string(failed) + plural);
  Section s{"check", "Gates", {}};
  s.blocks.push_back(std::move(table));
  if (!failures.sentences.empty()) s.blocks.push_back(std::move(failures));
  if (!constants.sentences.empty()) s.blocks.push_back(std::move(constants));
  r.sections.push_back(std::move(s));
  add_warning_section(r, std::move(warnings));
  return r;
}

}  // namespace trainplan
