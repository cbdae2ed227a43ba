/// The derivation of a plan, told in the order TP, PP, DP, CP, with the numbers that forced each degree.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainplan/derive/trial.hpp"

namespace trainplan {

/// Why an axis has its value.
struct Decision {
  std::string axis, value;
  std::vector<Sentence> reasons;
};

/// A plan beside the derived one. why: the number that decided.
struct Alternative {
  std::string key, name;
  Trial trial;
  Sentence why;
};

struct Derivation {
  Trial chosen;
  std::vector<Decision> decisions;
  std::vector<Alternative> alternatives;
};

namespace detail {

inline Value memory(double bytes) { return {bytes, Unit::MemoryBoth}; }
inline std::string num(std::int64_t n) { return std::to_string(n); }

class Deriver {
  const Planner& planner_;
  const Planner* fsdp_;
  Derivation* out_ = nullptr;
  Decision tp_{"tp", "", {}}, pp_{"pp", "", {}}, dp_{"dp", "", {}}, cp_{"cp", "", {}};
  std::vector<Trial> tried_;

  const RunSpec& run() const { return planner_.run(); }
  const ClusterSpec& cluster() const { return planner_.problem().cluster(); }

  Choice base() const {
    Choice c;
    c.cp = run().cp.value_or(1);
    c.vpp = run().vpp;
    c.recompute = run().recompute.value_or(Recompute::None);
    c.recompute_layers = run().recompute_layers.value_or(0);
    return c;
  }

  std::vector<std::int64_t> tp_candidates() const {
    if (run().tp) return {*run().tp};
    std::vector<std::int64_t> all;
    for (std::int64_t t : {1, 2, 4, 8}) {
      if (t > 1 && t > cluster().scale_up_domain) break;
      Choice c = base();
      c.tp = t;
      const auto [problem, plan] = planner_.complete(c);
      bool ok = cluster().gpus() % t == 0;
      for (const Rule& rule : rules())
        if (rule.field == "tp" && !rule.holds(problem, plan)) ok = false;
      if (ok) all.push_back(t);
    }
    return all;
  }

  std::int64_t choose_tp() {
    const auto candidates = tp_candidates();
    if (run().tp) {
      tp_.reasons.push_back({"pinned by the user"});
      return *run().tp;
    }
    for (std::int64_t t : candidates) {
      Choice c = base();
      c.tp = t;
      c.pp = run().pp.value_or(1);
      const auto trial = planner_.attempt(c);
      if (!trial) continue;
      const bool fits = trial->device() <= trial->limit();
      tp_.reasons.push_back({"tp " + num(t) + ", pp " + num(c.pp) + " needs ", memory(trial->device()),
                             fits ? ", within the planning limit of " : ", above the planning limit of ", memory(trial->limit())});
      if (fits) return t;
    }
    tp_.reasons.push_back({"none fits with pp 1, so the largest up to 8 that the model and the scale-up domain (" + num(cluster().scale_up_domain) +
                           (cluster().scale_up_domain == 1 ? " GPU)" : " GPUs)") + " allow; its collectives are on the critical path and stay inside the domain"});
    return candidates.empty() ? 1 : candidates.back();
  }

  /// Sets cp or recompute when the activations of all layers exceed half of the gate. Returns their budget.
  double tame_activations(Choice& c) {
    Choice probe = c;
    probe.pp = 1;
    probe.vpp = 1;
    auto trial = planner_.attempt(probe);
    if (!trial) trial = planner_.attempt(c);
    if (!trial) return 0;
    const double half = trial->gate() / 2;
    const double all = trial->cost.memory.activations.saved.num();
    const Sentence size{"activations of all layers in flight: ", memory(all), all > half ? ", more than half of the gate (" : ", at most half of the gate (", memory(half), ")"};
    pp_.reasons.push_back({"activations in flight do not shrink with pp: 1F1B keeps pp micro-batches of layers / pp each"});
    cp_.reasons.push_back(size);
    if (run().cp) cp_.reasons.push_back({"cp pinned by the user"});
    if (all <= half) return half;
    if (!run().cp && trial->problem.recipe.sequence >= 16384) return raise_cp(c, probe, half);
    if (!run().recompute) turn_on_recompute(c, probe, half);
    return half;
  }

  double raise_cp(Choice& c, Choice probe, double half) {
    for (probe.cp = 2; probe.cp <= cluster().gpus(); probe.cp *= 2) {
      const auto trial = planner_.attempt(probe);
      if (!trial) continue;
      c.cp = probe.cp;
      const double left = trial->cost.memory.activations.saved.num();
      if (left > half) continue;
      cp_.reasons.push_back({"cp " + num(c.cp) + " is the smallest power of two that brings them under it: ", memory(left), "; its GPUs come out of dp"});
      break;
    }
    return half;
  }

  void turn_on_recompute(Choice& c, Choice probe, double half) {
    probe.recompute = Recompute::Selective;
    const auto selective = planner_.attempt(probe);
    if (selective) {
      const double left = selective->cost.memory.activations.saved.num();
      cp_.reasons.push_back({"selective recompute leaves ", memory(left), planner_.problem().recipe.attention == Attention::Flash ? " (flash attention keeps no score matrix to drop)" : ""});
      if (left <= half) {
        c.recompute = Recompute::Selective;
        return;
      }
    }
    c.recompute = Recompute::Layers;
    cp_.reasons.push_back({"so whole layers are recomputed, as few as bring them under it"});
  }

  std::optional<Trial> attempt(const Choice& c, double budget) const {
    if (c.recompute == Recompute::Layers && !run().recompute) return planner_.attempt_recomputing(c, budget);
    return planner_.attempt(c);
  }

  /// Tries every legal pp in ascending order; the first within the planning limit, else the deepest within the gate.
  std::optional<Trial> choose_pp(const Choice& c, double budget) {
    std::optional<Trial> deepest;
    for (std::int64_t p = 1; p <= planner_.problem().model().layers; ++p) {
      if (run().pp && p != *run().pp) continue;
      Choice candidate = c;
      candidate.pp = p;
      if (p == 1) candidate.vpp = 1;
      const auto trial = attempt(candidate, budget);
      if (!trial) continue;
      if (p > 1 && micro_batches(trial->problem, trial->plan) < p && !run().pp) break;
      tried_.push_back(*trial);
      if (trial->device() <= trial->limit()) return trial;
      if (!deepest || trial->device() <= trial->gate() || trial->device() < deepest->device()) deepest = trial;
    }
    return deepest;
  }

  void tell_pp(const Trial& chosen) {
    for (const Trial& t : tried_) {
      const Verdict v = t.verdict();
      const bool is_chosen = t.plan == chosen.plan;
      pp_.reasons.push_back({"pp " + num(t.plan.pp) + " needs ", memory(t.device()),
                             v == Verdict::Fits ? ": within the planning limit of " : v == Verdict::Tight ? ": passes the gate but not the planning limit of " : ": above the gate of ",
                             memory(v == Verdict::DoesNotFit ? t.gate() : t.limit()), is_chosen ? ", chosen" : ""});
    }
    if (run().pp) pp_.reasons.push_back({"pinned by the user"});
    if (chosen.plan.pp > 1) tell_vpp(chosen);
  }

  void tell_vpp(const Trial& chosen) {
    const double target = chosen.problem.calibration().interleave_bubble_target.value;
    const double p = chosen.plan.pp, m = static_cast<double>(micro_batches(chosen.problem, chosen.plan));
    const auto bubble = [&](double v) { return bubble_of_ideal(Count<>{p}, Count<>{v}, Count<>{m}).num(); };
    const auto total = [&](double v) { return bubble_of_total(Count<>{p}, Count<>{v}, Count<>{m}).num(); };
    Sentence s{"v " + num(chosen.plan.vpp) + ": bubble ", Value{bubble(chosen.plan.vpp), Unit::Share}, " of ideal time (", Value{total(chosen.plan.vpp), Unit::Share}, " of total)"};
    if (chosen.plan.vpp > 1) {
      s.push_back("; v 1 would be ");
      s.push_back(Value{bubble(1), Unit::Share});
      s.push_back(" (");
      s.push_back(Value{total(1), Unit::Share});
      s.push_back(")");
    }
    s.push_back(run().vpp ? "; pinned by the user" : bubble(chosen.plan.vpp) <= target ? "; the smallest legal v within " : "; the largest legal v, above ");
    if (!run().vpp) s.push_back(Value{target, Unit::Share});
    pp_.reasons.push_back(std::move(s));
  }

  /// What the chosen degrees would need without recompute.
  void tell_recompute(const Trial& t) {
    if (t.plan.recompute == Recompute::None || run().recompute) return;
    Choice c = base();
    c.tp = t.plan.tp;
    c.pp = t.plan.pp;
    c.cp = t.plan.cp;
    c.vpp = t.plan.vpp;
    c.sharding = t.plan.sharding;
    const auto without = planner_.attempt(c);
    if (!without) return;
    const auto& m = without->cost.memory;
    cp_.reasons.push_back({"without recompute this plan needs ", Value{m.state.num(), Unit::Traffic}, " of state and ", Value{m.activations.saved.num(), Unit::Traffic}, " of activations, ", memory(without->device()),
                           without->device() > without->gate() ? " in all, and does not fit" : " in all"});
  }

  void tell_dp(const Trial& t) {
    const std::int64_t m = micro_batches(t.problem, t.plan);
    dp_.reasons.push_back({"all remaining GPUs: " + num(cluster().gpus()) + " / (" + num(t.plan.tp) + " x " + num(t.plan.pp) + " x " + num(t.plan.cp) + ") = " + num(t.plan.dp)});
    dp_.reasons.push_back({num(t.problem.recipe.global_batch) + " sequences / (dp " + num(t.plan.dp) + " x micro-batch " + num(t.plan.micro_batch) + ") = " + num(m) + " micro-batches"});
    const ShardingRows* rows = t.problem.profile().rows(t.plan.sharding);
    dp_.reasons.push_back({"sharding " + std::string(name_of(t.plan.sharding)) + " (" + rows->title + "): ", Value{t.cost.comm.data.bytes.num(), Unit::Traffic}, " a step, ", Value{t.cost.comm.data.seconds.num(), Unit::Time}, " at link rate, ", Value{t.cost.step.exposed_data.num(), Unit::Time}, " exposed"});
  }

  /// Full sharding over data parallel ranks, pp 1, the smallest tp that `accepts` takes.
  std::optional<Trial> full_sharding(const Trial& chosen, Recompute recompute, auto accepts) {
    if (run().sharding || run().pp || chosen.plan.sharding == Sharding::Zero3) return std::nullopt;
    if (planner_.problem().profile().rows(Sharding::Zero3) == nullptr) return std::nullopt;
    for (std::int64_t t : tp_candidates()) {
      Choice c = base();
      c.tp = t;
      c.cp = chosen.plan.cp;
      c.vpp = 1;
      c.sharding = Sharding::Zero3;
      c.recompute = run().recompute.value_or(recompute);
      const auto trial = planner_.attempt(c);
      if (trial && accepts(*trial)) return trial;
    }
    return std::nullopt;
  }

  /// In place of tp or pp where its traffic hides behind the compute of a step.
  std::optional<Trial> hidden_sharding(const Trial& chosen) {
    return full_sharding(chosen, chosen.plan.recompute == Recompute::Layers ? Recompute::Full : chosen.plan.recompute, [&](const Trial& t) {
      const bool saves = t.plan.tp < chosen.plan.tp || (t.plan.tp == chosen.plan.tp && chosen.plan.pp > 1);
      return saves && t.device() <= t.limit() && t.cost.comm.data.seconds <= t.cost.compute.ideal;
    });
  }

  /// Where nothing else passes the gate, whatever its traffic costs.
  std::optional<Trial> last_resort(const Trial& chosen) {
    for (const Recompute r : {Recompute::None, Recompute::Full})
      if (const auto t = full_sharding(chosen, r, [](const Trial& x) { return x.device() <= x.gate(); })) return t;
    return std::nullopt;
  }

  void finish(Trial chosen) {
    if (chosen.device() > chosen.gate()) {
      if (const auto full = last_resort(chosen)) {
        dp_.reasons.push_back({"no pp passes the gate, full sharding does: its ", Value{full->cost.comm.data.seconds.num(), Unit::Time}, " at link rate are the price"});
        chosen = *full;
      }
    } else if (const auto full = hidden_sharding(chosen)) {
      dp_.reasons.push_back({"full sharding saves tp " + num(chosen.plan.tp) + " x pp " + num(chosen.plan.pp) + ": its ", Value{full->cost.comm.data.seconds.num(), Unit::Time}, " at link rate hide behind the ideal ", Value{full->cost.compute.ideal.num(), Unit::Time}});
      tp_.reasons.push_back({"replaced by full sharding over dp, see dp"});
      chosen = *full;
    }
    tell_pp(chosen);
    tell_dp(chosen);
    tell_recompute(chosen);
    tp_.value = num(chosen.plan.tp);
    pp_.value = num(chosen.plan.pp);
    dp_.value = num(chosen.plan.dp);
    cp_.value = num(chosen.plan.cp);
    out_->chosen = std::move(chosen);
    out_->decisions = {tp_, pp_, dp_, cp_};
  }

  // Alternatives -------------------------------------------------------------------------------------------------

  void add(std::string key, std::string name, const std::optional<Trial>& t) {
    if (!t || t->plan == out_->chosen.plan) return;
    for (const Alternative& a : out_->alternatives)
      if (a.trial.plan == t->plan && &a.trial.problem.profile() == &t->problem.profile()) return;
    out_->alternatives.push_back({std::move(key), std::move(name), *t, judge(*t)});
  }

  Sentence judge(const Trial& t) const {
    if (t.verdict() == Verdict::DoesNotFit) return {"does not fit: ", Value{t.device() - t.gate(), Unit::Memory}, " over the gate"};
    const double traffic = t.cost.comm.data.seconds.num(), ideal = t.cost.compute.ideal_full.num();
    if (t.plan.sharding == Sharding::Zero3 && traffic > ideal)
      return {"rejected: ", Value{t.cost.comm.data.bytes.num(), Unit::Traffic}, " take ", Value{traffic, Unit::Time}, " at link rate, more than the ideal ", Value{ideal, Unit::Time}};
    if (t.verdict() == Verdict::Tight) return {"fits, without the planning margin"};
    const double step = t.cost.step.step.num(), own = out_->chosen.cost.step.step.num();
    return {step < own ? "fits; step shorter by " : "fits; step longer by ", Value{std::abs(step - own), Unit::Time}};
  }

  void alternatives(Choice c, double budget) {
    const Plan& plan = out_->chosen.plan;
    c.tp = plan.tp;
    c.cp = plan.cp;
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
      return attempt(o, budget);
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
    add("micro_batch_" + num(*two.micro_batch), "micro-batch " + num(*two.micro_batch), attempt(two, budget));
    if (fsdp_ == nullptr) return;
    for (bool each : {false, true}) {
      Choice f;
      f.tp = plan.tp;
      f.cp = plan.cp;
      f.vpp = 1;
      f.sharding = Sharding::Zero3;
      f.sync_each_micro_batch = each;
      f.recompute = plan.recompute == Recompute::Layers ? Recompute::Full : plan.recompute;
      add(each ? "fsdp_sync_each" : "fsdp", std::string("FSDP, ") + (each ? "reduced every micro-batch" : "reduced once a step"), fsdp_->attempt(f));
    }
  }

 public:
  Deriver(const Planner& planner, const Planner* fsdp) : planner_(planner), fsdp_(fsdp) {}

  bool derive(std::optional<Derivation>& result) {
    Choice c = base();
    c.tp = choose_tp();
    c.pp = run().pp.value_or(1);
    const double budget = tame_activations(c);
    auto chosen = choose_pp(c, budget);
    if ((!chosen || chosen->device() > chosen->gate()) && !run().recompute && c.recompute == Recompute::None) {
      Choice again = c;
      again.recompute = Recompute::Layers;
      const auto kept = tried_;
      tried_.clear();
      const auto rescued = choose_pp(again, budget);
      if (rescued && (!chosen || rescued->device() < chosen->device())) {
        cp_.reasons.push_back({"no pp passes the gate without recompute, so layers are recomputed"});
        chosen = rescued;
        c = again;
      } else {
        tried_ = kept;
      }
    }
    if (!chosen) return false;
    result.emplace(Derivation{*chosen, {}, {}});
    out_ = &*result;
    finish(*chosen);
    alternatives(c, budget);
    return true;
  }
};

}  // namespace detail

/// Nothing when no legal plan exists. fsdp: the planner of a fully sharded framework for comparison, or nullptr.
inline std::optional<Derivation> derive(const Planner& planner, const Planner* fsdp) {
  std::optional<Derivation> result;
  detail::Deriver(planner, fsdp).derive(result);
  return result;
}

}  // namespace trainplan
