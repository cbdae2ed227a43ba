/// What to change where nothing fits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "trainplan/report/plan_text.hpp"
#include "trainplan/search/ways_out.hpp"

namespace trainplan {

/// nearest: the plan that misses by least. Every row was derived and evaluated anew, and fits.
inline Section ways_out_section(const Trial& nearest, const WaysOut& ways) {
  Table t{"ways_out",
          "Each worked out anew",
          {{"change", "change"},
           {"plan", "then the plan is"},
           {"device", "device"},
           {"gate", "gate"},
           {"step", "step"},
           {"verdict", "verdict"}},
          {}};
  for (const WayOut& w : ways.ways)
    t.rows.push_back({w.name, detail::whole_plan_text(w.trial), Value{w.trial.device(), Unit::Memory},
                      Value{w.trial.gate(), Unit::Memory}, Value{w.trial.cost.step.step.num(), Unit::Time},
                      verdict_text(w.trial.verdict())});
  Facts missing{"missing", {}};
  missing.add("plan", "nearest plan", detail::whole_plan_text(nearest));
  missing.add("bytes", "missing under the gate", Value{nearest.device() - nearest.gate(), Unit::MemoryBoth},
              "of the fullest GPU");
  Section s{"ways_out", "What would make it fit", {std::move(missing)}};
  if (!t.rows.empty()) s.blocks.push_back(std::move(t));
  const std::int64_t nodes = nearest.problem.cluster().nodes;
  if (std::ranges::any_of(ways.ways,
                          [&](const WayOut& w) { return w.trial.problem.cluster().nodes > nodes; }))
    s.blocks.push_back(Notes{"nodes", {{"with more nodes: trainplan sweep with --gpus"}}});
  Sentence failed{"does not help: "};
  for (const std::string& name : ways.failed) failed.push_back((failed.size() > 1 ? "; " : "") + name);
  if (!ways.failed.empty()) s.blocks.push_back(Notes{"failed", {std::move(failed)}});
  return s;
}

/// Behind the inputs and the plan.
inline void add_ways_out(Report& r, Section section) {
  r.sections.insert(r.sections.begin() + 2, std::move(section));
}

}  // namespace trainplan
