/// Sentences that give the numbers behind a decision.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trainplan/derive/derivation.hpp"

namespace trainplan::detail {

/// Which rule a choice breaks.
inline void tell_broken(Decision& decision, const Planner& planner, const Choice& c) {
  const auto [problem, plan] = planner.complete(c);
  if (const Rule* rule = first_broken(problem, plan))
    decision.reasons.push_back({"tp " + num(c.tp) + ", pp " + num(c.pp) +
                                " is not legal: " + std::string(rule->field) + " must " +
                                std::string(rule->must) + " (" + rule->numbers(problem, plan) + ")"});
}

inline void tell_vpp(Decision& pp, const Trial& chosen, const RunSpec& run) {
  if (splits_backward(chosen.plan.schedule)) {
    const auto& schedule = chosen.cost.schedule;
    pp.reasons.push_back({std::string(name_of(chosen.plan.schedule)) + ": bubble ",
                          Value{schedule.bubble_of_ideal.num(), Unit::Share}, " of ideal time (",
                          Value{schedule.bubble_of_total.num(), Unit::Share},
                          " of total) if its passes were equal"});
    return;
  }
  const double target = chosen.problem.calibration().interleave_bubble_target.value;
  const double p = chosen.plan.pp, m = static_cast<double>(micro_batches(chosen.problem, chosen.plan));
  const auto bubble = [&](double v) { return bubble_of_ideal(Count<>{p}, Count<>{v}, Count<>{m}).num(); };
  const auto total = [&](double v) { return bubble_of_total(Count<>{p}, Count<>{v}, Count<>{m}).num(); };
  Sentence s{"v " + num(chosen.plan.vpp) + ": bubble ", Value{bubble(chosen.plan.vpp), Unit::Share},
             " of ideal time (", Value{total(chosen.plan.vpp), Unit::Share}, " of total)"};
  if (chosen.plan.vpp > 1) {
    s.push_back("; v 1 would be ");
    s.push_back(Value{bubble(1), Unit::Share});
    s.push_back(" (");
    s.push_back(Value{total(1), Unit::Share});
    s.push_back(")");
  }
  s.push_back(run.vpp                             ? "; pinned by the user"
              : bubble(chosen.plan.vpp) <= target ? "; the smallest legal v within "
                                                  : "; the largest legal v, above ");
  if (!run.vpp) s.push_back(Value{target, Unit::Share});
  pp.reasons.push_back(std::move(s));
}

/// What the planning margin costs: the first pp that only the margin ruled out.
inline void tell_margin(Decision& pp, const std::vector<Trial>& tried, const Trial& chosen) {
  if (chosen.verdict() != Verdict::Fits) return;
  for (const Trial& t : tried) {
    if (t.verdict() != Verdict::Tight || t.plan.pp >= chosen.plan.pp) continue;
    pp.reasons.push_back({"giving up the margin of ", Value{chosen.problem.recipe.margin, Unit::Share},
                          " would allow pp " + num(t.plan.pp) + ": bubble ",
                          Value{t.cost.schedule.bubble_of_ideal.num(), Unit::Share}, " and ",
                          Value{t.cost.step.step.num(), Unit::Time}, " a step, instead of ",
                          Value{chosen.cost.schedule.bubble_of_ideal.num(), Unit::Share}, " and ",
                          Value{chosen.cost.step.step.num(), Unit::Time}});
    return;
  }
}

inline void tell_pp(Decision& pp, const std::vector<Trial>& tried, const Trial& chosen, const RunSpec& run) {
  for (const Trial& t : tried) {
    const Verdict v = t.verdict();
    const bool is_chosen = t.plan == chosen.plan;
    pp.reasons.push_back({"pp " + num(t.plan.pp) + " needs ", memory(t.device()),
                          v == Verdict::Fits    ? ": within the planning limit of "
                          : v == Verdict::Tight ? ": passes the gate but not the planning limit of "
                                                : ": above the gate of ",
                          memory(v == Verdict::DoesNotFit ? t.gate() : t.limit()),
                          is_chosen ? ", chosen" : ""});
  }
  if (run.pp) pp.reasons.push_back({"pinned by the user"});
  if (chosen.plan.pp > 1) tell_vpp(pp, chosen, run);
  tell_margin(pp, tried, chosen);
}

/// What the chosen degrees would need without recompute.
inline void tell_recompute(Decision& recompute, const Planner& planner, const Trial& t) {
  if (t.plan.recompute == Recompute::None || planner.run().recompute) return;
  Choice c;
  take_degrees(t.plan, c);
  c.vpp = t.plan.vpp;
  const auto without = planner.attempt(c);
  if (!without) return;
  const auto& m = without->cost.memory;
  recompute.reasons.push_back(
      {"without recompute this plan needs ", Value{m.state.num(), Unit::Traffic}, " of state and ",
       Value{m.activations.saved.num(), Unit::Traffic}, " of activations, ", memory(without->device()),
       without->device() > without->gate() ? " in all, and does not fit" : " in all"});
}

inline void tell_dp(Decision& dp, const Trial& t) {
  const std::int64_t m = micro_batches(t.problem, t.plan);
  dp.reasons.push_back({"all remaining GPUs: " + num(t.problem.cluster().gpus()) + " / (" + num(t.plan.tp) +
                        " x " + num(t.plan.pp) + " x " + num(t.plan.cp) + ") = " + num(t.plan.dp)});
  dp.reasons.push_back({num(t.problem.recipe.global_batch) + " sequences / (dp " + num(t.plan.dp) +
                        " x micro-batch " + num(t.plan.micro_batch) + ") = " + num(m) + " micro-batches"});
  const ShardingRows* rows = t.problem.profile().rows(t.plan.sharding);
  dp.reasons.push_back({"sharding " + std::string(name_of(t.plan.sharding)) + " (" + rows->title + "): ",
                        Value{t.cost.comm.data.bytes.num(), Unit::Traffic}, " a step, ",
                        Value{t.cost.comm.data.seconds.num(), Unit::Time}, " at link rate, ",
                        Value{t.cost.step.exposed_data.num(), Unit::Time}, " exposed"});
  if (m < t.plan.pp)
    dp.reasons.push_back(
        {"only " + num(m) + " micro-batches for " + num(t.plan.pp) + " stages: a global batch of " +
         num(std::int64_t{t.plan.pp} * t.plan.dp * t.plan.micro_batch) + " sequences gives each stage one"});
}

}  // namespace trainplan::detail
