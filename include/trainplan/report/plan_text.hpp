/// A plan in words.
#pragma once

#include <string>

#include "trainplan/plan/sharding_modes.hpp"
#include "trainplan/report/plan_report.hpp"

namespace trainplan::detail {

/// "interleaved", with the split where stages are not equal.
inline std::string pipeline_text(const Trial& t) {
  const Plan& p = t.plan;
  if (p.pp == 1) return "no pipeline";
  std::string text(name_of(p.schedule));
  if (p.layout != Layout::Equal) text += ", " + split_text(t.problem.model(), p);
  return text;
}
inline std::string recompute_text(const Plan& p) {
  std::string text(name_of(p.recompute));
  if (p.recompute == Recompute::Layers) text += " " + std::to_string(p.recompute_layers);
  if (p.recompute == Recompute::Selective) text += " " + names_of_modules(p.modules);
  return text;
}
inline std::string sharding_text(const Trial& t) {
  const Plan& p = t.plan;
  std::string text(name_of(p.sharding));
  if (p.sharding == Sharding::Hsdp) text += " " + std::to_string(p.shard);
  if (!p.reshard && may_keep_gathered(t.problem, p)) text += ", weights stay";
  if (!p.sync_each_micro_batch && may_put_off_reduction(t.problem, p)) text += ", reduced once a step";
  if (t.problem.recipe.offload.optimizer > 0) text += ", optimizer on the host";
  return text;
}
/// "TP 8 PP 4 v 4 DP 32, micro-batch 1, zero1; interleaved; recompute none".
inline std::string whole_plan_text(const Trial& t) {
  return degrees_text(t.plan) + ", micro-batch " + std::to_string(t.plan.micro_batch) + ", " +
         sharding_text(t) + "; " + pipeline_text(t) + "; recompute " + recompute_text(t.plan);
}

}  // namespace trainplan::detail
