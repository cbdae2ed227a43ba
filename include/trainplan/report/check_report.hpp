/// The answer of `check`: each gate with its value, its limit and whether it holds.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/derive/trial.hpp"
#include "trainplan/report/plan_report.hpp"

namespace trainplan {

/// id: the ledger item of the value. The gate holds when value <= limit, or >= with `floor`.
struct Gate {
  std::string name, id;
  Value value, limit;
  bool floor = false;

  bool holds() const { return floor ? value.number >= limit.number : value.number <= limit.number; }
};

inline std::vector<Gate> gates_of(const Trial& t, const Limits& limits) {
  std::vector<Gate> gates;
  const auto& c = t.cost;
  gates.push_back({"memory", "memory.device", {t.device(), Unit::Memory}, {t.gate(), Unit::Memory}});
  if (limits.max_memory)
    gates.push_back(
        {"max_memory", "memory.device", {t.device(), Unit::Memory}, {*limits.max_memory, Unit::Memory}});
  if (limits.min_mfu) {
    const bool causal = t.problem.recipe.convention == FlopConvention::Causal;
    gates.push_back({"min_mfu",
                     causal ? "step.mfu" : "step.mfu_full",
                     {causal ? c.step.mfu.num() : c.step.mfu_full.num(), Unit::Share},
                     {*limits.min_mfu, Unit::Share},
                     true});
  }
  if (limits.max_step_time)
    gates.push_back(
        {"max_step_time", "step.time", {c.step.step.num(), Unit::Time}, {*limits.max_step_time, Unit::Time}});
  return gates;
}

/// What one run gave.
struct CheckedRun {
  std::string name;
  Trial trial;
  std::vector<Gate> gates;
};

inline Sentence failure_of(const CheckedRun& run, const Gate& g) {
  Sentence s{run.name + ": " + g.id + " = "};
  s.push_back(g.value);
  s.push_back(g.floor ? " is below the limit of " : " exceeds the limit of ");
  s.push_back(g.limit);
  s.push_back(" by ");
  s.push_back(Value{std::abs(g.value.number - g.limit.number), g.value.unit});
  if (g.id == "memory.device") s.push_back(" (stage " + std::to_string(run.trial.cost.stage) + ")");
  return s;
}

inline Report check_report(const std::vector<CheckedRun>& runs) {
  Report r{"check",
           "Check of " + std::to_string(runs.size()) + (runs.size() == 1 ? " run" : " runs"),
           Verdict::Fits,
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
  for (const CheckedRun& run : runs) {
    for (const Gate& g : run.gates) {
      table.rows.push_back(
          {run.name, detail::degrees_text(run.trial.plan), g.name, g.id, g.value, g.limit, g.holds()});
      if (g.holds()) continue;
      r.verdict = Verdict::DoesNotFit;
      failures.sentences.push_back(failure_of(run, g));
    }
  }
  const std::size_t failed = failures.sentences.size();
  r.headline.push_back(
      failed == 0 ? "passed" : "failed: " + std::to_string(failed) + (failed == 1 ? " gate" : " gates"));
  Section s{"check", "Gates", {}};
  s.blocks.push_back(std::move(table));
  if (!failures.sentences.empty()) s.blocks.push_back(std::move(failures));
  r.sections.push_back(std::move(s));
  return r;
}

}  // namespace trainplan
