/// The derivation of a plan, told in the order TP, PP, DP, CP, with the numbers that forced each degree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/derive/alternatives.hpp"
#include "trainplan/derive/derivation.hpp"
#include "trainplan/derive/derive_joint.hpp"
#include "trainplan/derive/schedules.hpp"
#include "trainplan/derive/story.hpp"

namespace trainplan {

namespace detail {

class Deriver {
  const Planner& planner_;
  const Planner* fsdp_;
  Decision tp_{"tp", "", {}}, pp_{"pp", "", {}}, dp_{"dp", "", {}}, cp_{"cp", "", {}},
      recompute_{"recompute", "", {}};
  std::vector<Trial> tried_;

  const RunSpec& run() const { return planner_.run(); }
  const ClusterSpec& cluster() const { return planner_.problem().cluster(); }

  Choice base() const {
    Choice c;
    c.cp = run().cp.value_or(1);
    c.ep = run().ep.value_or(1);
    c.etp = run().etp.value_or(1);
    c.vpp = run().vpp;
    c.recompute = counts_layers() ? Recompute::None : run().recompute.value_or(Recompute::None);
    c.recompute_layers = run().recompute_layers.value_or(0);
    return c;
  }

  /// The user wants layers recomputed and leaves to us how many.
  bool counts_layers() const { return run().recompute == Recompute::Layers && !run().recompute_layers; }

  std::vector<std::int64_t> tp_candidates() const {
    if (run().tp) return {*run().tp};
    std::vector<std::int64_t> all;
    for (std::int64_t t : {1, 2, 4, 8}) {
      if (t > 1 && t > cluster().scale_up_domain) break;
      Choice c = base();
      c.tp = t;
      const auto [problem, plan] = planner_.complete(c);
      bool ok = cluster().gpus() % (t * c.cp * run().dp.value_or(1)) == 0;
      for (const Rule& rule : rules())
        if ((rule.field == "tp" || rule.also == "tp") && !rule.holds(problem, plan)) ok = false;
      if (ok) all.push_back(t);
    }
    return all;
  }

 public:
  Deriver(const Planner& planner, const Planner* fsdp) : planner_(planner), fsdp_(fsdp) {}

  /// The largest tp that nothing about the model, the cluster and the pinned fields forbids.
  std::int64_t largest_tp() const {
    const auto all = tp_candidates();
    return all.empty() ? 1 : all.back();
  }

 private:
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
      if (!trial) {
        tell_broken(tp_, planner_, c);
        continue;
      }
      const bool fits = trial->device() <= trial->limit();
      tp_.reasons.push_back({"tp " + num(t) + ", pp " + num(c.pp) + " needs ", memory(trial->device()),
                             fits ? ", within the planning limit of " : ", above the planning limit of ",
                             memory(trial->limit())});
      if (fits) return t;
    }
    tp_.reasons.push_back(
        {"no legal plan with pp 1 fits, so the largest tp up to 8 that the model and the scale-up domain (" +
         num(cluster().scale_up_domain) + (cluster().scale_up_domain == 1 ? " GPU)" : " GPUs)") +
         " allow; its collectives are on the critical path and stay inside the domain"});
    return largest_tp();
  }

  /// The shallowest legal plan, without interleaving: it keeps the activations of all layers.
  std::optional<Trial> probe_activations(Choice c) const {
    c.vpp = 1;
    for (c.pp = 1; c.pp <= planner_.problem().model().layers; ++c.pp)
      if (auto trial = planner_.attempt(c)) return trial;
    return std::nullopt;
  }

  /// Sets cp or recompute when the activations of all layers exceed half of the gate. Returns their budget.
  double tame_activations(Choice& c) {
    const auto trial = probe_activations(c);
    if (!trial) return 0;
    const double half = trial->gate() / 2;
    const double all = trial->cost.memory.activations.saved.num();
    const Sentence size{"activations of all layers in flight: ", memory(all),
                        all > half ? ", more than half of the gate (" : ", at most half of the gate (",
                        memory(half), ")"};
    pp_.reasons.push_back(
        {"activations in flight do not shrink with pp: 1F1B keeps pp micro-batches of layers / pp each"});
    cp_.reasons.push_back(size);
    if (run().cp) cp_.reasons.push_back({"cp pinned by the user"});
    if (all <= half) return half;
    if (!run().cp && trial->problem.recipe.sequence >= 16384) return raise_cp(c, half);
    if (!run().recompute) turn_on_recompute(c, half);
    return half;
  }

  double raise_cp(Choice& c, double half) {
    Choice probe = c;
    for (probe.cp = 2; probe.cp <= cluster().gpus(); probe.cp *= 2) {
      const auto trial = probe_activations(probe);
      if (!trial) continue;
      c.cp = probe.cp;
      const double left = trial->cost.memory.activations.saved.num();
      if (left > half) continue;
      cp_.reasons.push_back({"cp " + num(c.cp) + " is the smallest power of two that brings them under it: ",
                             memory(left), "; its GPUs come out of dp"});
      break;
    }
    return half;
  }

  void turn_on_recompute(Choice& c, double half) {
    recompute_.reasons.push_back({"the activations of all layers in flight exceed half of the gate"});
    Choice probe = c;
    probe.recompute = Recompute::Selective;
    if (const auto selective = probe_activations(probe)) {
      const double left = selective->cost.memory.activations.saved.num();
      recompute_.reasons.push_back({"selective recompute leaves ", memory(left),
                                    planner_.problem().recipe.attention == Attention::Flash
                                        ? " (flash attention keeps no score matrix to drop)"
                                        : ""});
      if (left <= half) {
        c.recompute = Recompute::Selective;
        return;
      }
    }
    c.recompute = Recompute::Layers;
    recompute_.reasons.push_back(
        {"so whole layers are recomputed, as few of each virtual stage as bring them under it"});
  }

  /// Tries every legal pp in ascending order; the first within the planning limit, else the deepest within
  /// the gate. few: also stages that outnumber the micro-batches, which wait more than they work.
  std::optional<Trial> choose_pp(const Choice& c, double budget, bool few = false) {
    std::optional<Trial> deepest;
    tried_.clear();
    for (std::int64_t p = 1; p <= planner_.problem().model().layers; ++p) {
      if (run().pp && p != *run().pp) continue;
      Choice candidate = c;
      candidate.pp = p;
      if (p == 1 && !run().vpp) candidate.vpp = 1;
      const auto trial = attempt(planner_, candidate, budget);
      if (!trial) continue;
      if (p > 1 && micro_batches(trial->problem, trial->plan) < p && !few && !run().pp) continue;
      tried_.push_back(*trial);
      if (trial->device() <= trial->limit()) return trial;
      if (!deepest || trial->device() <= trial->gate() || trial->device() < deepest->device())
        deepest = trial;
    }
    return deepest;
  }

  /// Full sharding over data parallel ranks, pp 1, the smallest tp that `accepts` takes.
  std::optional<Trial> full_sharding(const Trial& chosen, Recompute recompute, auto accepts) {
    if (run().sharding || run().pp || run().vpp.value_or(1) > 1) return std::nullopt;
    if (chosen.plan.sharding == Sharding::Zero3) return std::nullopt;
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
    return full_sharding(chosen, without_layers(chosen.plan.recompute), [&](const Trial& t) {
      const bool saves = t.plan.tp < chosen.plan.tp || (t.plan.tp == chosen.plan.tp && chosen.plan.pp > 1);
      return saves && t.device() <= t.limit() && t.cost.comm.data.seconds <= t.cost.compute.ideal;
    });
  }

  /// Where nothing else passes the gate, whatever its traffic costs.
  std::optional<Trial> last_resort(const Trial& chosen) {
    for (const Recompute r : {Recompute::None, Recompute::Full})
      if (const auto t = full_sharding(chosen, r, [](const Trial& x) { return x.device() <= x.gate(); }))
        return t;
    return std::nullopt;
  }

  /// A plan with full sharding in place of the one of the pipeline, and why.
  void replace(Trial& chosen, const Trial& full, Sentence why) {
    if (full.plan.tp != chosen.plan.tp)
      tp_.reasons.push_back({"full sharding over dp takes its place, see dp"});
    pp_.reasons = {{"full sharding over dp needs no pipeline, see dp"}};
    why.push_back(Value{full.cost.comm.data.seconds.num(), Unit::Time});
    why.push_back(" at link rate, against an ideal step of ");
    why.push_back(Value{full.cost.compute.ideal.num(), Unit::Time});
    dp_.reasons.push_back(std::move(why));
    chosen = full;
    tried_.clear();
  }

  /// Full sharding where it is better or the last resort, then the story of what was chosen.
  Derivation finish(Trial chosen) {
    if (chosen.device() > chosen.gate()) {
      if (const auto full = last_resort(chosen))
        replace(chosen, *full, {"no pp passes the gate, full sharding does; its traffic takes "});
    } else if (const auto full = hidden_sharding(chosen)) {
      replace(chosen, *full,
              {"full sharding saves tp " + num(chosen.plan.tp) + " x pp " + num(chosen.plan.pp) +
               " and its traffic hides: "});
    }
    if (!tried_.empty()) tell_pp(pp_, tried_, chosen, run());
    tell_dp(dp_, chosen);
    if (chosen.plan.recompute == Recompute::None) recompute_.reasons = {{"not needed"}};
    if (run().recompute) recompute_.reasons = {{"pinned by the user"}};
    tell_recompute(recompute_, planner_, chosen);
    tp_.value = num(chosen.plan.tp);
    pp_.value = num(chosen.plan.pp);
    dp_.value = num(chosen.plan.dp);
    cp_.value = num(chosen.plan.cp);
    recompute_.value = name_of(chosen.plan.recompute);
    return {std::move(chosen), {tp_, pp_, dp_, cp_, recompute_}, {}};
  }

  /// Takes another way of choosing pp when it comes closer to the gate than what was found so far.
  void rescue(std::optional<Trial>& chosen, Choice& c, const Choice& other, double budget, bool few,
              const char* why) {
    // A pinned pp is judged as it is, but for more of the recompute that it has already.
    const bool judged = run().pp && (few || c.recompute == Recompute::None);
    if (judged || (chosen && chosen->device() <= chosen->gate())) return;
    std::vector<Trial> before = tried_;
    const auto found = choose_pp(other, budget, few);
    if (!found || (chosen && found->device() >= chosen->device())) {
      tried_ = std::move(before);
      return;
    }
    (few ? pp_ : recompute_).reasons.push_back({why});
    chosen = found;
    c = other;
  }

 public:
  std::optional<Derivation> derive() {
    Choice c = base();
    c.tp = choose_tp();
    c.pp = run().pp.value_or(1);
    const double budget = tame_activations(c);
    if (counts_layers()) c.recompute = Recompute::Layers;
    auto chosen = choose_pp(c, budget);
    for (const bool few : {false, true}) {
      if (few)
        rescue(chosen, c, c, budget, few, "no pp with as many micro-batches as stages passes the gate");
      for (const Recompute more : {Recompute::Layers, Recompute::Full}) {
        if (run().recompute || more <= c.recompute) continue;
        Choice other = c;
        other.recompute = more;
        rescue(chosen, c, other, budget, few, "no pp passes the gate otherwise");
      }
    }
    if (!chosen) return std::nullopt;
    Derivation out = finish(*chosen);
    Alternatives(planner_, fsdp_, out).collect(c, budget);
    return out;
  }
};

/// Calls visit(field) for what a run may give of degrees, micro-batch, schedule and recompute.
template <class Run>
void for_each_plan_field(Run& r, auto visit) {
  for (auto* field : {&r.tp, &r.pp, &r.vpp, &r.cp, &r.dp, &r.shard_size, &r.first_layers, &r.last_layers,
                      &r.micro_batch, &r.recompute_layers})
    visit(*field);
  visit(r.uneven_stages);
  visit(r.schedule);
  visit(r.recompute);
  visit(r.recompute_modules);
}

/// The run leaves all of that to the derivation. Where it gives one of them, the rules complete it axis by
/// axis.
inline bool leaves_all_open(const RunSpec& r) {
  bool given = r.offload_layers.has_value();
  for_each_plan_field(r, [&](const auto& field) { given = given || field.has_value(); });
  return !given;
}

/// With the schedule chosen, where the run wants any.
inline std::optional<Derivation> scheduled(const Planner& planner, const Planner* fsdp,
                                           std::optional<Derivation> d) {
  if (!d || !planner.run().any_schedule) return d;
  choose_any_schedule(*d);
  Alternatives(planner, fsdp, *d).judge_again();
  return d;
}

/// Of a dense model: axis by axis, or together where that is better.
inline std::optional<Derivation> derive_dense(const Planner& planner, const Planner* fsdp) {
  auto by_rules = scheduled(planner, fsdp, Deriver(planner, fsdp).derive());
  if (!leaves_all_open(planner.run())) return by_rules;
  const JointDeriver joint(planner, fsdp);
  auto together = by_rules ? joint.derive_beyond(by_rules->chosen) : joint.derive();
  return together ? scheduled(planner, fsdp, std::move(together)) : std::move(by_rules);
}

}  // namespace detail

/// The largest tp that nothing about the model, the cluster and the pinned fields forbids.
inline std::int64_t largest_tp(const Planner& planner) {
  return detail::Deriver(planner, nullptr).largest_tp();
}

/// Nothing when no legal plan exists. fsdp: the planner of a fully sharded framework for comparison, or
/// nullptr.
inline std::optional<Derivation> derive(const Planner& planner, const Planner* fsdp) {
  if (!planner.problem().model().is_sparse()) return detail::derive_dense(planner, fsdp);
  return detail::scheduled(planner, fsdp, detail::JointDeriver(planner, fsdp).derive());
}

}  // namespace trainplan
