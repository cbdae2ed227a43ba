/// A derivation that tries the degrees together: always for a model with routed experts, whose memory,
/// all-to-all and bubble pull against each other; for others where it beats the rules that go axis by axis.
/// The fastest plan within the limit wins.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/derive/alternatives.hpp"
#include "trainplan/derive/derivation.hpp"
#include "trainplan/derive/joint_trials.hpp"
#include "trainplan/derive/story.hpp"

namespace trainplan::detail {

class JointDeriver {
  const Planner& planner_;
  const Planner* fsdp_;
  JointTrials trials_;

  const RunSpec& run() const { return planner_.run(); }
  const ModelSpec& model() const { return planner_.problem().model(); }
  const ClusterSpec& cluster() const { return planner_.problem().cluster(); }

  /// How the choice was made, told once.
  Sentence method(const Trial& best, const std::vector<Trial>& all) const {
    const auto fits =
        std::count_if(all.begin(), all.end(), [](const Trial& t) { return t.verdict() == Verdict::Fits; });
    const std::string tried = "tp, ep, pp and cp are tried together, " +
                              num(static_cast<std::int64_t>(all.size())) + " legal plans: ";
    switch (best.verdict()) {
      case Verdict::Fits:
        return {tried + num(fits) + " keep the planning margin, and of those within ",
                Value{trials_.alike(), Unit::Share},
                " of the fastest the one with most data parallel ranks is taken"};
      case Verdict::Tight:
        return {tried +
                "none keeps the planning margin, and of those within the gate the one that needs least "
                "memory is taken"};
      default: return {tried + "none passes the gate, and the one that needs least memory is taken"};
    }
  }

  /// A plan beside the chosen one: one degree changed, the others kept, with as little recompute as fits.
  struct Neighbour {
    std::string axis;
    std::int64_t value;
    Choice choice;
    std::optional<Trial> trial;
  };

  void add_neighbours(std::vector<Neighbour>& out, const Trial& chosen, const char* axis,
                      std::int64_t Choice::*member, const std::vector<std::int64_t>& values) const {
    const Choice own = trials_.choice_of(chosen);
    const auto at = std::find(values.begin(), values.end(), own.*member);
    const auto one = [&](std::int64_t value) {
      Choice c = own;
      c.*member = value;
      c.vpp = c.pp == 1 && !run().vpp ? 1 : run().vpp;
      out.push_back({axis, value, c, trials_.least_recompute(c)});
    };
    if (at == values.end()) return;
    if (at != values.begin()) one(*std::prev(at));
    if (std::next(at) != values.end()) one(*std::next(at));
  }

  /// Memory, and where that passes, what it does to the rate; or the rule that it breaks.
  std::optional<Sentence> told(const Neighbour& n, const Trial& chosen) const {
    Sentence s{n.axis + " " + num(n.value) + ": "};
    if (!n.trial) {
      const auto [problem, plan] = planner_.complete(n.choice);
      const Rule* rule = first_broken(problem, plan);
      if (rule == nullptr) return std::nullopt;
      s.push_back(std::string(rule->field) + " must " + std::string(rule->must) + " (" +
                  rule->numbers(problem, plan) + ")");
      return s;
    }
    const Trial& t = *n.trial;
    s.push_back(memory(t.device()));
    if (t.verdict() == Verdict::DoesNotFit) {
      s.push_back(", above the gate of ");
      s.push_back(memory(t.gate()));
      return s;
    }
    const double own = chosen.cost.step.rate.num(), other = t.cost.step.rate.num();
    s.push_back(t.verdict() == Verdict::Tight ? ", without the planning margin, " : ", ");
    s.push_back(Value{other, Unit::TokenRate});
    s.push_back(other < own ? " instead of " : " against ");
    s.push_back(Value{own, Unit::TokenRate});
    s.push_back(" (recompute " + std::string(name_of(t.plan.recompute)) +
                (model().is_sparse() ? ", expert traffic exposed " : ", traffic exposed "));
    s.push_back(
        Value{(model().is_sparse() ? t.cost.step.exposed_experts : t.cost.step.exposed).num(), Unit::Time});
    s.push_back(", bubble ");
    s.push_back(Value{t.cost.schedule.bubble_of_ideal.num(), Unit::Share});
    if (t.problem.recipe.global_batch != chosen.problem.recipe.global_batch)
      s.push_back(", a batch of " + num(t.problem.recipe.global_batch) + " sequences");
    s.push_back(")");
    return s;
  }

  void tell(Decision& d, const std::vector<Neighbour>& neighbours, const Trial& chosen) const {
    for (const Neighbour& n : neighbours)
      if (n.axis == d.axis)
        if (auto s = told(n, chosen)) d.reasons.push_back(std::move(*s));
  }

  Decision expert_decision(const Trial& t) const {
    const Plan& p = t.plan;
    Decision d{"ep", num(p.ep), {}};
    const std::int64_t each = model().experts.count / p.ep;
    const double share = t.cost.memory.params.stage_experts.num() / t.cost.memory.params.stage.num();
    Sentence held{num(model().experts.count) + " experts / ep " + num(p.ep) + " = " + num(each) +
                  " of every sparse layer on each GPU, "};
    held.push_back(Value{share, Unit::Share});
    held.push_back(" of the parameters of the fullest GPU");
    d.reasons.push_back(std::move(held));
    if (run().ep) d.reasons.push_back({"pinned by the user"});
    if (p.ep > 1) {
      const GroupShape g = group_of(p, Axis::Ep);
      const std::int64_t inside = members_inside(g, cluster().scale_up_domain);
      Sentence link{inside == g.size ? "its all-to-all stays inside the scale-up domain (" +
                                           num(cluster().scale_up_domain) + " GPUs): "
                                     : "its all-to-all leaves the scale-up domain, " + num(inside) + " of " +
                                           num(g.size) + " ranks are inside: "};
      link.push_back(Value{t.cost.comm.expert_all_to_all.bytes.num(), Unit::Traffic});
      link.push_back(" a step, ");
      link.push_back(Value{t.cost.comm.expert_all_to_all.seconds.num(), Unit::Time});
      link.push_back(" at link rate");
      d.reasons.push_back(std::move(link));
    }
    d.reasons.push_back({"expert data parallel degree: " + num(p.tp) + " x " + num(p.cp) + " x " + num(p.dp) +
                         " / (etp " + num(p.etp) + " x ep " + num(p.ep) + ") = " + num(expert_dp(p)) +
                         (expert_dp(p) == 1 ? ", so the optimizer state of the experts is not sharded"
                                            : ", over which the optimizer state of the experts is sharded")});
    return d;
  }

  static Decision begun(const char* axis, std::int64_t value, const std::optional<std::int64_t>& pinned) {
    Decision d{axis, num(value), {}};
    if (pinned) d.reasons.push_back({"pinned by the user"});
    return d;
  }

  Decision recompute_decision(const Trial& t) const {
    Decision d{"recompute", std::string(name_of(t.plan.recompute)), {}};
    if (run().recompute)
      d.reasons.push_back({"pinned by the user"});
    else if (t.plan.recompute == Recompute::None)
      d.reasons.push_back({"not needed"});
    else
      d.reasons.push_back({t.verdict() == Verdict::Fits
                               ? "as little as brings these degrees under the planning limit"
                               : "the planning limit is not reached with less"});
    tell_recompute(d, planner_, t);
    return d;
  }

 public:
  JointDeriver(const Planner& planner, const Planner* fsdp)
      : planner_(planner), fsdp_(fsdp), trials_(planner) {}

  std::optional<Derivation> derive() const {
    const std::vector<Trial> all = trials_.candidates();
    const Trial* const best = trials_.best_of(all);
    if (best == nullptr) return std::nullopt;
    return derivation_of(*best, {method(*best, all)});
  }

  /// Where a plan is clearly better than that of the rules.
  std::optional<Derivation> derive_beyond(const Trial& rules) const {
    const std::vector<Trial> all = trials_.candidates_beyond(rules);
    const Trial* best = trials_.best_of(all);
    if (best == nullptr) return std::nullopt;
    if (best->verdict() != Verdict::Fits) best = trials_.fastest_of(all);
    Sentence together{"tp, pp, cp and sharding are tried together: of the plans that are clearly better "};
    if (best->verdict() == Verdict::Fits)
      together.insert(together.end(),
                      {"and within ", Value{trials_.alike(), Unit::Share},
                       " of the fastest of them the one with most data parallel ranks is taken"});
    else
      together.push_back("none keeps the planning margin, and the fastest is taken");
    auto out = derivation_of(*best, {told_rules(rules, *best), std::move(together)});
    Alternatives(planner_, fsdp_, out).add("by_rules", "axis by axis", rules);
    return out;
  }

 private:
  /// Where the rules lead, and what that lacks.
  static Sentence told_rules(const Trial& rules, const Trial& best) {
    const Plan& p = rules.plan;
    const char* const lacks = rules.verdict() == Verdict::Fits ? ": "
                              : rules.verdict() == Verdict::Tight
                                  ? ", which does not keep the planning margin: "
                                  : ", which does not pass the gate: ";
    return {"axis by axis the rules lead to tp " + num(p.tp) + ", pp " + num(p.pp) + ", cp " + num(p.cp) +
                ", " + std::string(name_of(p.sharding)) + lacks,
            Value{rules.cost.step.rate.num(), Unit::TokenRate}, " against ",
            Value{best.cost.step.rate.num(), Unit::TokenRate}, " of this plan"};
  }

  /// The reasons of every axis, the first ones of tp given, and the plans beside it.
  Derivation derivation_of(const Trial& best, std::vector<Sentence> first) const {
    const Plan& p = best.plan;
    std::vector<Neighbour> beside;
    add_neighbours(beside, best, "tp", &Choice::tp, trials_.tensor_degrees());
    add_neighbours(beside, best, "ep", &Choice::ep, trials_.expert_degrees());
    add_neighbours(beside, best, "pp", &Choice::pp, trials_.pipeline_degrees());
    add_neighbours(beside, best, "cp", &Choice::cp, trials_.context_degrees());
    Decision tp = begun("tp", p.tp, run().tp), pp = begun("pp", p.pp, run().pp), dp{"dp", num(p.dp), {}},
             cp = begun("cp", p.cp, run().cp), ep{"ep", num(p.ep), {}};
    if (model().is_sparse()) ep = expert_decision(best);
    tp.reasons.insert(tp.reasons.begin(), first.begin(), first.end());
    if (p.pp > 1) tell_vpp(pp, best, run());
    tell_dp(dp, best);
    for (Decision* d : {&tp, &ep, &pp, &cp}) tell(*d, beside, best);
    if (cp.reasons.empty()) cp.reasons.push_back({"sequences below 16Ki tokens are not cut"});
    Derivation out{best, {tp, pp, dp, cp, recompute_decision(best)}, {}};
    if (model().is_sparse()) out.decisions.insert(out.decisions.begin() + 1, ep);
    Alternatives others(planner_, fsdp_, out);
    for (const Neighbour& n : beside) others.add(n.axis + num(n.value), n.axis + " " + num(n.value), n.trial);
    Choice two = trials_.choice_of(best);
    two.micro_batch = std::int64_t{p.micro_batch} * 2;
    others.add("micro_batch_" + num(*two.micro_batch), "micro-batch " + num(*two.micro_batch),
               trials_.least_recompute(two));
    others.add_full_sharding();
    return out;
  }
};

}  // namespace trainplan::detail
