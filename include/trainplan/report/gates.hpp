/// Limits of a run: each with the value that it is held against.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/derive/trial.hpp"
#include "trainplan/report/ranges.hpp"
#include "trainplan/report/report.hpp"

namespace trainplan {

/// id: the ledger item of the value. The gate holds when value <= limit, or >= with `floor`. A value without
/// end is the time, or the money, of a run that never finishes.
struct Gate {
  std::string name, id;
  Value value, limit;
  bool floor = false;

  bool holds() const { return floor ? value.number >= limit.number : value.number <= limit.number; }
  bool ends() const { return std::isfinite(value.number); }
  Cell cell() const { return ends() ? Cell(value) : Cell(std::string("never finishes")); }
};

inline bool all_hold(const std::vector<Gate>& gates) {
  return std::all_of(gates.begin(), gates.end(), [](const Gate& g) { return g.holds(); });
}

namespace detail {

/// A number held against a limit; with a confidence it is the end of its range that is worse.
inline Gate gate(const Problem& p, std::string name, std::string id, const Estimate& e, double limit,
                 bool floor = false) {
  const Unit unit = e.value.unit;
  if (!p.recipe.confidence) return {std::move(name), std::move(id), e.value, {limit, unit}, floor};
  return {
      std::move(name), id + (floor ? "_low" : "_high"), {floor ? e.low : e.high, unit}, {limit, unit}, floor};
}

}  // namespace detail

/// The gate of the GPU's capacity, and what the run limits beside it.
inline std::vector<Gate> gates_of(const Trial& t, const Limits& limits) {
  std::vector<Gate> gates;
  const auto& c = t.cost;
  const Problem& p = t.problem;
  const Estimate device = device_estimate(p, c);
  gates.push_back(detail::gate(p, "memory", "memory.device", device, t.gate()));
  const Figure& host = p.cluster().host_memory;
  if (p.recipe.offload.any() && host.known)
    gates.push_back(
        {"host memory", "host.node", {c.host.node.num(), Unit::Memory}, {host.value, Unit::Memory}});
  if (limits.max_memory)
    gates.push_back(detail::gate(p, "max_memory", "memory.device", device, *limits.max_memory));
  if (limits.min_mfu) {
    const bool causal = p.recipe.convention == FlopConvention::Causal;
    const Value utilisation{causal ? c.step.mfu.num() : c.step.mfu_full.num(), Unit::Share};
    gates.push_back(detail::gate(p, "min_mfu", causal ? "step.mfu" : "step.mfu_full",
                                 rate_estimate(p, c, utilisation), *limits.min_mfu, true));
  }
  if (limits.max_step_time)
    gates.push_back(
        detail::gate(p, "max_step_time", "step.time", step_estimate(p, c), *limits.max_step_time));
  return gates;
}

/// step.time = 4.04 s exceeds the limit of 4 s by 40 ms, after the words `before`; shares differ by points.
inline Sentence failure_of(const std::string& before, const Gate& g, int stage) {
  const Unit unit = g.value.unit == Unit::Share ? Unit::Points : g.value.unit;
  if (!g.ends()) return {before + g.id + ": the run never finishes, the limit is ", g.limit};
  Sentence s{before + g.id + " = "};
  s.push_back(g.value);
  s.push_back(g.floor ? " is below the limit of " : " exceeds the limit of ");
  s.push_back(g.limit);
  s.push_back(" by ");
  s.push_back(Value{std::abs(g.value.number - g.limit.number), unit});
  if (g.id.starts_with("memory.device")) s.push_back(" (stage " + std::to_string(stage) + ")");
  return s;
}

/// The gates of one run as a section, with a sentence for each that fails.
inline Section limit_section(const std::vector<Gate>& gates, int stage) {
  Section s{"limits", "Limits", {}};
  Table table{"gates",
              "",
              {{"gate", "gate"}, {"id", "id"}, {"value", "value"}, {"limit", "limit"}, {"holds", "holds"}},
              {}};
  Notes failures{"failures", {}};
  for (const Gate& g : gates) {
    table.rows.push_back({g.name, Code{g.id}, g.cell(), g.limit, g.holds()});
    if (!g.holds()) failures.sentences.push_back(failure_of("", g, stage));
  }
  s.blocks.push_back(std::move(table));
  if (!failures.sentences.empty()) s.blocks.push_back(std::move(failures));
  return s;
}

}  // namespace trainplan
