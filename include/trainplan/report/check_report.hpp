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
  Table ranges{"ranges",
               "Predictions with their ranges",
               {{"run", "run"}, {"id", "id"}, {"value", "predicted"}, {"class", "judged by measured runs"}},
               {}};
  Table warnings = warning_table(true);
  for (const CheckedRun& run : runs) {
    add_warnings(warnings, run.issues, run.name);
    const Trial& t = run.trial;
    ranges.rows.push_back({run.name, Code{"memory.device"}, device_estimate(t.problem, t.cost),
                           memory_class_text(t.problem, Reading::Device)});
    ranges.rows.push_back(
        {run.name, Code{"step.time"}, step_estimate(t.problem, t.cost), time_class_text(t.problem, t.plan)});
    if (const std::string& overlay = t.problem.calibration().overlay; !overlay.empty())
      constants.sentences.push_back({run.name + ": constants: baseline, with " + overlay});
    for (const Gate& g : run.gates) {
      table.rows.push_back(
          {run.name, detail::degrees_text(run.trial.plan), g.name, Code{g.id}, g.cell(), g.limit, g.holds()});
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
  s.blocks.push_back(std::move(ranges));
  if (!constants.sentences.empty()) s.blocks.push_back(std::move(constants));
  r.sections.push_back(std::move(s));
  add_warning_section(r, std::move(warnings));
  return r;
}

}  // namespace trainplan
