/// Plans beside the derived one: other pp, other micro-batch, no recompute, full sharding.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "trainplan/derive/derivation.hpp"

namespace trainplan::detail {

class Alternatives {
  const Planner& planner_;
  const Planner* fsdp_;
  Derivation& out_;

  /// Full sharding whose traffic takes longer than the compute that would have to hide it.
  static bool has_much_traffic(const Trial& t) {
    return t.plan.sharding == Sharding::Zero3 && t.cost.comm.data.seconds > t.cost.compute.ideal_full;
  }

  /// The traffic of full sharding that its compute cannot hide.
  static Sentence too_much_traffic(const Trial& t, double ideal) {
    Sentence s{"rejected: "};
    s.push_back(Value{t.cost.comm.data.bytes.num(), Unit::Traffic});
    s.push_back(" take ");
    s.push_back(Value{t.cost.comm.data.seconds.num(), Unit::Time});
    s.push_back(" at link rate, more than the ideal step of ");
    s.push_back(Value{ideal, Unit::Time});
    s.push_back(" (full attention matrix) that would have to hide them");
    if (t.plan.sync_each_micro_batch) return s;
    s.push_back("; reduced once a step, the gradient stays whole: ");
    s.push_back(Value{t.cost.memory.params.stage.num() * bytes_of(t.problem.recipe.gradient), Unit::Traffic});
    return s;
  }

  /// Where a default batch follows the data parallel degree, a step of another batch is held against the time
  /// that its tokens take at the derived plan's rate.
  Sentence judge(const Trial& t) const {
    if (t.verdict() == Verdict::DoesNotFit)
      return {"does not fit: ", Value{t.device() - t.gate(), Unit::Memory}, " over the gate"};
    const auto& chosen = out_.chosen.cost;
    const bool same = t.problem.recipe.global_batch == out_.chosen.problem.recipe.global_batch;
    const double step = t.cost.step.step.num(),
                 own = (same ? chosen.step.step : t.cost.compute.tokens / chosen.step.rate).num();
    const double ideal = t.cost.compute.ideal_full.num();
    const bool much = has_much_traffic(t);
    if (much && step >= own && !has_much_traffic(out_.chosen)) return too_much_traffic(t, ideal);
    if (t.verdict() == Verdict::Tight) return {"fits, without the planning margin"};
    Sentence s{step < own ? "fits; step shorter by " : "fits; step longer by ",
               Value{std::abs(step - own), Unit::Time}};
    if (!same)
      s.push_back(" than its " + num(t.problem.recipe.global_batch) +
                  " sequences take at the derived plan's rate");
    if (much)
      s.insert(s.end(), {"; of ", Value{t.cost.comm.data.seconds.num(), Unit::Time}, " of traffic ",
                         Value{t.cost.step.exposed_data.num(), Unit::Time}, " show"});
    return s;
  }

 public:
  /// fsdp: the planner of a fully sharded framework, or nullptr.
  Alternatives(const Planner& planner, const Planner* fsdp, Derivation& out)
      : planner_(planner), fsdp_(fsdp), out_(out) {}

  /// One more plan, unless there is none or it is there already.
  void add(std::string key, std::string name, const std::optional<Trial>& t) {
    if (!t || t->plan == out_.chosen.plan) return;
    for (const Alternative& a : out_.alternatives)
      if (a.trial.plan == t->plan && &a.trial.problem.profile() == &t->problem.profile()) return;
    out_.alternatives.push_back({std::move(key), std::move(name), *t, judge(*t)});
  }

  /// Against a plan that was chosen after them.
  void judge_again() {
    for (Alternative& a : out_.alternatives) a.why = judge(a.trial);
  }

  /// The same tp, cp and ep with full sharding in place of the pipeline.
  void add_full_sharding() {
    if (fsdp_ == nullptr) return;
    const Plan& plan = out_.chosen.plan;
    for (bool each : {false, true}) {
      Choice f;
      f.tp = plan.tp;
      f.cp = plan.cp;
      f.ep = plan.ep;
      f.vpp = 1;
      f.sharding = Sharding::Zero3;
      f.sync_each_micro_batch = each;
      f.recompute = without_layers(plan.recompute);
      add(each ? "fsdp_sync_each" : "fsdp",
          std::string("FSDP, ") + (each ? "reduced every micro-batch" : "reduced once a step"),
          fsdp_->attempt(f));
    }
  }

  /// c: what was decided before pp; budget: bytes of activations that recompute aims at.
  void collect(Choice c, double budget) {
    const Plan& plan = out_.chosen.plan;
    c.tp = plan.tp;
    c.cp = plan.cp;
    c.ep = plan.ep;
    c.etp = plan.etp;
    if (plan.recompute != Recompute::None) {
      Choice without = c;
      without.pp = plan.pp;
      without.vpp = plan.vpp;
      without.recompute = Recompute::None;
      without.sharding = plan.sharding;
      add("no_recompute", "no recompute", planner_.attempt(without));
    }
    const auto with_pp = [&](std::int64_t p) {
      Choice o = c;
      o.pp = p;
      if (p == 1) o.vpp = 1;
      return attempt(planner_, o, budget);
    };
    for (std::int64_t p = plan.pp - 1; p >= 1; --p) add("pp" + num(p), "pp " + num(p), with_pp(p));
    for (std::int64_t p = plan.pp + 1; p <= planner_.problem().model().layers; ++p) {
      const auto t = with_pp(p);
      if (!t || micro_batches(t->problem, t->plan) < p) continue;
      add("pp" + num(p), "pp " + num(p), t);
      break;
    }
    Choice two = c;
    two.pp = plan.pp;
    two.micro_batch = std::int64_t{plan.micro_batch} * 2;
    add("micro_batch_" + num(*two.micro_batch), "micro-batch " + num(*two.micro_batch),
        attempt(planner_, two, budget));
    add_full_sharding();
  }
};

}  // namespace trainplan::detail
