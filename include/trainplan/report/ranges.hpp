/// Predicted numbers with their ranges, and how sure the class of the run makes them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainplan/cost/plan_cost.hpp"
#include "trainplan/derive/trial.hpp"
#include "trainplan/report/build.hpp"

namespace trainplan {

inline double confidence_of(const Problem& p) {
  return p.recipe.confidence.value_or(p.calibration().ranges.confidence.value);
}

inline Estimate step_estimate(const Problem& p, const PlanCost<double>& c) {
  return {{c.step.step.num(), Unit::Time}, c.range.time_low.num(), c.range.time_high.num(), confidence_of(p)};
}
inline Estimate device_estimate(const Problem& p, const PlanCost<double>& c) {
  return {{c.memory.device.num(), Unit::Memory},
          c.range.device_low.num(),
          c.range.device_high.num(),
          confidence_of(p)};
}
/// Of what falls as the step grows: a rate, or a share of the peak.
inline Estimate rate_estimate(const Problem& p, const PlanCost<double>& c, Value value) {
  const double work = value.number * c.step.step.num();
  return {value, work / c.range.time_high.num(), work / c.range.time_low.num(), confidence_of(p)};
}

/// "a guess: no measured run of this accelerator or this software stack"; empty when both are calibrated.
inline std::string guess_text(const Problem& p) {
  const bool accelerator = !accelerator_is_known(p), stack = !stack_is_known(p);
  if (!accelerator && !stack) return {};
  return std::string("a guess: no measured run of this ") + (accelerator ? "accelerator" : "software stack") +
         (accelerator && stack ? " or this software stack" : "");
}

/// "dense-one-node: dense, ...; a guess: ...".
inline std::string time_class_text(const Problem& p, const Plan& plan) {
  const TimeClass c = time_class(p, plan);
  const std::string guess = guess_text(p);
  return std::string(name_of(c)) + ": " + std::string(title_of(c)) + (guess.empty() ? "" : "; " + guess);
}
inline std::string memory_class_text(const Problem& p, Reading reading) {
  const MemoryClass c = memory_class(p, reading);
  return std::string(name_of(c)) + ": " + std::string(title_of(c));
}

/// What runs a range is read off.
inline Facts class_facts(std::string text) {
  return {"judged_by", {{"class", "judged by measured runs", std::move(text), "", ""}}};
}

/// The same run with its tensor-parallel traffic overlapped or not, whichever the plan does not do.
inline Estimate other_overlap(const Trial& t) {
  Problem other = t.problem;
  other.recipe.tp_overlap = !other.recipe.tp_overlap;
  return step_estimate(other, evaluate_stage(other, t.plan, t.cost.stage));
}

/// Step and rate. Where tensor parallel ranks exchange anything, both steps are shown; `chosen` says
/// why the plan has the one that it has.
inline Facts step_range_facts(const Trial& t, const Ledger& ledger, const std::string& chosen) {
  Facts f{"range", {}};
  const bool overlapped = t.problem.recipe.tp_overlap, tensor = t.plan.tp > 1;
  const LineItem& step = *ledger.find("step.time");
  const double rate = t.cost.step.rate.num();
  const auto with = [](bool yes) { return std::string(yes ? "with" : "without") + " TP overlap"; };
  f.facts.push_back({"step", tensor ? "step time " + with(overlapped) : step.title,
                     step_estimate(t.problem, t.cost), tensor ? chosen : "", step.id});
  if (tensor)
    f.facts.push_back({overlapped ? "without_tp_overlap" : "with_tp_overlap",
                       "step time " + with(!overlapped), other_overlap(t),
                       overlapped ? "--tp-overlap false" : "--tp-overlap true", ""});
  f.facts.push_back({"rate", "tokens in a second", rate_estimate(t.problem, t.cost, {rate, Unit::TokenRate}),
                     "whole cluster", ""});
  return f;
}

/// The device total, and a warning where only its low part fits.
inline Fact device_range_fact(const Trial& t) {
  const Estimate e = device_estimate(t.problem, t.cost);
  std::string note = "judged by " + std::string(title_of(memory_class(t.problem, Reading::Device)));
  if (e.value.number <= t.gate() && e.high > t.gate()) note += "; the high end is above the gate";
  return {"device", "device total with its range", e, note, "memory.device"};
}

/// The range of an item that has one, and its class: for `explain`.
inline std::vector<Block> item_ranges(const Problem& p, const Plan& plan, const PlanCost<double>& c,
                                      std::string_view id) {
  const auto shown = [](const Estimate& e, std::string runs) {
    return std::vector<Block>{Facts{"range", {{"value", "with its range", e, "", ""}}},
                              class_facts(std::move(runs))};
  };
  if (id == "step.time") return shown(step_estimate(p, c), time_class_text(p, plan));
  if (id == "memory.device") return shown(device_estimate(p, c), memory_class_text(p, Reading::Device));
  return {};
}

}  // namespace trainplan
