/// A derivation that tries the degrees together: always for a model with routed experts, whose memory,
/// all-to-all and bubble pull against each other; for others where it beats the rules that go axis by axis.
/// The fastest plan within the limit wins.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "trainplan/derive/alternatives.hpp"
#include "trainplan/derive/derivation.hpp"
#include "trainplan/derive/pinned.hpp"
#include "trainplan/derive/story.hpp"

namespace trainplan::detail {

class JointDeriver {
  const Planner& planner_;
  const Planner* fsdp_;

  const RunSpec& run() const { return planner_.run(); }
  const ModelSpec& model() const { return planner_.problem().model(); }
  const ClusterSpec& cluster() const { return planner_.problem().cluster(); }
  /// Rates that differ by a smaller share are taken as equal.
  double alike() const { return planner_.problem().calibration().plan_difference.value; }

  /// Cheap parts of a layer that can be rebuilt one by one.
  Modules light_modules() const {
    const Modules always = bit(Module::MoeAct) | bit(Module::LayerNorm);
    return model().is_latent() ? always | bit(Module::MlaUpProj) : always;
  }

  Choice base() const {
    Choice c = pinned_choice(run());
    c.vpp = run().vpp;
    if (model().is_sparse() && planner_.problem().recipe.attention == Attention::Flash)
      c.modules = light_modules();
    return c;
  }

  /// The pinned value, or all of them.
  static std::vector<std::int64_t> open(const std::optional<std::int64_t>& pinned,
                                        std::vector<std::int64_t> all) {
    return pinned ? std::vector<std::int64_t>{*pinned} : all;
  }
  std::vector<std::int64_t> tensor_degrees() const {
    std::vector<std::int64_t> all;
    for (const std::int64_t t : {1, 2, 4, 8})
      if (t == 1 || t <= cluster().scale_up_domain) all.push_back(t);
    return all;
  }
  std::vector<std::int64_t> context_degrees() const {
    std::vector<std::int64_t> all{1};
    constexpr std::int64_t kLong = 16384, kMost = 16;
    if (model().is_sparse() && planner_.problem().recipe.sequence < kLong) return all;
    for (std::int64_t c = 2; c <= kMost; c *= 2) all.push_back(c);
    return all;
  }
  std::vector<std::int64_t> expert_degrees() const {
    std::vector<std::int64_t> all;
    if (!model().is_sparse()) return {1};
    for (std::int64_t e = 1; e <= model().experts.count && e <= cluster().gpus(); ++e)
      if (model().experts.count % e == 0) all.push_back(e);
    return all;
  }
  std::vector<std::int64_t> pipeline_degrees() const {
    std::vector<std::int64_t> all;
    for (std::int64_t p = 1; p <= model().layers && p <= cluster().gpus(); ++p)
      if (cluster().gpus() % p == 0) all.push_back(p);
    return all;
  }

  /// The degrees of c with as little recompute as fits: none, light modules, some layers, all layers.
  std::optional<Trial> least_recompute(Choice c) const {
    if (run().recompute && (run().recompute != Recompute::Layers || run().recompute_layers))
      return planner_.attempt(c);
    const auto keeps_margin = [](const Trial& t) { return t.device() <= t.limit(); };
    if (!run().recompute)
      for (const Recompute r : {Recompute::None, Recompute::Selective}) {
        c.recompute = r;
        if (auto trial = planner_.attempt(c); trial && keeps_margin(*trial)) return trial;
      }
    return planner_.attempt_recomputing(c, keeps_margin);
  }

  /// The mode of the run or the profile; of dense models all that share something.
  std::vector<std::optional<Sharding>> shardings() const {
    std::vector<std::optional<Sharding>> all{std::nullopt};
    if (model().is_sparse() || run().sharding) return all;
    const FrameworkProfile& f = planner_.problem().profile();
    for (const ShardingRows& rows : f.shardings)
      if (rows.mode != f.default_sharding && rows.mode != Sharding::None) all.push_back(rows.mode);
    return all;
  }

  /// Calls visit(choice) for all degrees and modes that are open.
  void for_each_choice(auto visit) const {
    Choice c = base();
    for (const std::optional<Sharding>& mode : shardings())
      for (const std::int64_t t : open(run().tp, tensor_degrees()))
        for (const std::int64_t x : open(run().cp, context_degrees()))
          for (const std::int64_t e : open(run().ep, expert_degrees()))
            for (const std::int64_t p : open(run().pp, pipeline_degrees())) {
              c.sharding = mode;
              c.tp = t;
              c.cp = x;
              c.ep = e;
              c.pp = p;
              c.vpp = p == 1 && !run().vpp ? 1 : run().vpp;
              visit(c);
            }
  }

  /// Every legal plan of the degrees that are open.
  std::vector<Trial> candidates() const {
    std::vector<Trial> all;
    for_each_choice([&](const Choice& c) {
      if (auto trial = least_recompute(c)) all.push_back(std::move(*trial));
    });
    return all;
  }

  /// Those that are faster than a rate, with a batch no larger than `batch`: where the batch follows the data
  /// parallel degree, a larger one is no better plan. Recompute takes time, so what is not faster without
  /// needs no trial.
  std::vector<Trial> candidates_above(double rate, std::int64_t batch) const {
    std::vector<Trial> all;
    for_each_choice([&](Choice c) {
      if (planner_.complete(c).first.recipe.global_batch > batch) return;
      if (!run().recompute) {
        c.recompute = Recompute::None;
        const auto plain = planner_.attempt(c);
        if (!plain || plain->cost.step.rate.num() <= rate) return;
      }
      auto trial = least_recompute(c);
      if (!trial || trial->verdict() != Verdict::Fits) return;
      const double own = trial->cost.step.rate.num();
      if (own <= rate) return;
      rate = std::max(rate, (1 - alike()) * own);
      all.push_back(std::move(*trial));
    });
    return all;
  }

  /// Within the limit before within the gate before over it. Within the limit the fastest, or of those as
  /// fast within what the model of time can tell apart the one with most data parallel ranks; else the
  /// smallest.
  const Trial* best_of(const std::vector<Trial>& all) const {
    if (all.empty()) return nullptr;
    const auto less_device = [](const Trial& a, const Trial& b) {
      return std::pair(a.verdict(), a.device()) < std::pair(b.verdict(), b.device());
    };
    const Trial& smallest = *std::min_element(all.begin(), all.end(), less_device);
    if (smallest.verdict() != Verdict::Fits) return &smallest;
    double fastest = 0;
    for (const Trial& t : all)
      if (t.verdict() == Verdict::Fits) fastest = std::max(fastest, t.cost.step.rate.num());
    const auto size = [](const Trial& t) {
      return std::tuple(std::int64_t{t.plan.tp} * t.plan.pp * t.plan.cp, t.plan.ep, t.plan.pp,
                        t.plan.recompute);
    };
    const Trial* best = nullptr;
    for (const Trial& t : all) {
      if (t.verdict() != Verdict::Fits || t.cost.step.rate.num() < (1 - alike()) * fastest) continue;
      if (best == nullptr || size(t) < size(*best)) best = &t;
    }
    return best;
  }

  /// How the choice was made, told once.
  Sentence method(const Trial& best, const std::vector<Trial>& all) const {
    const auto fits =
        std::count_if(all.begin(), all.end(), [](const Trial& t) { return t.verdict() == Verdict::Fits; });
    const std::string tried = "tp, ep, pp and cp are tried together, " +
                              num(static_cast<std::int64_t>(all.size())) + " legal plans: ";
    switch (best.verdict()) {
      case Verdict::Fits:
        return {tried + num(fits) + " keep the planning margin, and of those within ",
                Value{alike(), Unit::Share},
                " of the fastest the one with most data parallel ranks is taken"};
      case Verdict::Tight:
        return {tried +
                "none keeps the planning margin, and of those within the gate the one that needs least "
                "memory is taken"};
      default: return {tried + "none passes the gate, and the one that needs least memory is taken"};
    }
  }

  Choice choice_of(const Trial& t) const {
    Choice c = base();
    c.tp = t.plan.tp;
    c.pp = t.plan.pp;
    c.cp = t.plan.cp;
    c.ep = t.plan.ep;
    c.etp = t.plan.etp;
    c.sharding = t.plan.sharding;
    if (t.plan.pp == 1 && !run().vpp) c.vpp = 1;
    return c;
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
    const Choice own = choice_of(chosen);
    const auto at = std::find(values.begin(), values.end(), own.*member);
    const auto one = [&](std::int64_t value) {
      Choice c = own;
      c.*member = value;
      c.vpp = c.pp == 1 && !run().vpp ? 1 : run().vpp;
      out.push_back({axis, value, c, least_recompute(c)});
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
  JointDeriver(const Planner& planner, const Planner* fsdp) : planner_(planner), fsdp_(fsdp) {}

  std::optional<Derivation> derive() const {
    const std::vector<Trial> all = candidates();
    const Trial* const best = best_of(all);
    if (best == nullptr) return std::nullopt;
    return told(*best, {method(*best, all)});
  }

  /// Where a plan keeps the margin and is faster than that of the rules by more than can be told apart, or
  /// that of the rules keeps none.
  std::optional<Derivation> derive_beyond(const Trial& by_rules) const {
    const bool fits = by_rules.verdict() == Verdict::Fits;
    const double rate = by_rules.cost.step.rate.num();
    const std::vector<Trial> all =
        candidates_above(fits ? (1 + alike()) * rate : 0, by_rules.problem.recipe.global_batch);
    const Trial* const best = best_of(all);
    if (best == nullptr) return std::nullopt;
    const Plan& p = by_rules.plan;
    Sentence rules{
        "axis by axis the rules lead to tp " + num(p.tp) + ", pp " + num(p.pp) + ", cp " + num(p.cp) + ", " +
            std::string(name_of(p.sharding)) + (fits ? ": " : ", which does not keep the planning margin: "),
        Value{rate, Unit::TokenRate}, " instead of ", Value{best->cost.step.rate.num(), Unit::TokenRate}};
    Sentence together{
        "so tp, pp, cp and sharding are tried together: of the plans that keep the planning margin and are "
        "within ",
        Value{alike(), Unit::Share}, " of the fastest the one with most data parallel ranks is taken"};
    auto out = told(*best, {std::move(rules), std::move(together)});
    Alternatives(planner_, fsdp_, out).add("by_rules", "axis by axis", by_rules);
    return out;
  }

 private:
  /// The reasons of every axis, the first ones of tp given, and the plans beside it.
  Derivation told(const Trial& best, std::vector<Sentence> first) const {
    const Plan& p = best.plan;
    std::vector<Neighbour> beside;
    add_neighbours(beside, best, "tp", &Choice::tp, tensor_degrees());
    add_neighbours(beside, best, "ep", &Choice::ep, expert_degrees());
    add_neighbours(beside, best, "pp", &Choice::pp, pipeline_degrees());
    add_neighbours(beside, best, "cp", &Choice::cp, context_degrees());
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
    Choice two = choice_of(best);
    two.micro_batch = std::int64_t{p.micro_batch} * 2;
    others.add("micro_batch_" + num(*two.micro_batch), "micro-batch " + num(*two.micro_batch),
               least_recompute(two));
    others.add_full_sharding();
    return out;
  }
};

}  // namespace trainplan::detail
