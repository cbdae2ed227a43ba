/// Plans of degrees that are tried together, and the best of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "trainplan/derive/pinned.hpp"
#include "trainplan/derive/trial.hpp"

namespace trainplan::detail {

/// tp, cp, ep, pp and, of dense models, the sharding mode, where the run leaves them open.
class JointTrials {
  const Planner& planner_;

  const RunSpec& run() const { return planner_.run(); }
  const ModelSpec& model() const { return planner_.problem().model(); }
  const ClusterSpec& cluster() const { return planner_.problem().cluster(); }

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

  /// The mode of the run or the profile; of dense models all that share something.
  std::vector<std::optional<Sharding>> shardings() const {
    std::vector<std::optional<Sharding>> all{std::nullopt};
    if (model().is_sparse() || run().sharding) return all;
    const FrameworkProfile& f = planner_.problem().profile();
    for (const ShardingRows& rows : f.shardings)
      if (rows.mode != f.default_sharding && rows.mode != Sharding::None) all.push_back(rows.mode);
    return all;
  }

  /// Calls visit(choice) for all degrees and modes that are open. slow: as tensor_degrees.
  void for_each_choice(bool slow, auto visit) const {
    Choice c = base();
    for (const std::optional<Sharding>& mode : shardings())
      for (const std::int64_t t : open(run().tp, tensor_degrees(slow)))
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

  /// What a plan with that verdict must reach to be better than `rules`.
  double least_rate(const Trial& rules, Verdict v) const {
    if (rules.verdict() == Verdict::DoesNotFit) return 0;
    return (v < rules.verdict() ? 1 - alike() : 1 + alike()) * rules.cost.step.rate.num();
  }

 public:
  explicit JointTrials(const Planner& planner) : planner_(planner) {}

  /// Rates that differ by a smaller share are taken as equal.
  double alike() const { return planner_.problem().calibration().plan_difference.value; }

  /// Inside the scale-up domain; with `slow` inside a node, over whatever links its GPUs have.
  std::vector<std::int64_t> tensor_degrees(bool slow = false) const {
    const std::int64_t domain = cluster().scale_up_domain,
                       most = slow ? std::max(domain, cluster().gpus_per_node) : domain;
    std::vector<std::int64_t> all;
    for (const std::int64_t t : {1, 2, 4, 8})
      if (t == 1 || t <= most) all.push_back(t);
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

  Choice choice_of(const Trial& t) const {
    Choice c = base();
    take_degrees(t.plan, c);
    if (t.plan.pp == 1 && !run().vpp) c.vpp = 1;
    return c;
  }

  /// Every legal plan of the degrees that are open.
  std::vector<Trial> candidates() const {
    std::vector<Trial> all;
    for_each_choice(false, [&](const Choice& c) {
      if (auto trial = least_recompute(c)) all.push_back(std::move(*trial));
    });
    return all;
  }

  /// Those that may take the place of `rules`: better by more than can be told apart, or keeping a margin
  /// that it does not without being slower by that much. Limits that it keeps are kept, and where the batch
  /// follows the data parallel degree a larger one is no better plan. Recompute takes time, so what is too
  /// slow without needs no trial.
  std::vector<Trial> candidates_beyond(const Trial& rules) const {
    const Recipe& r = rules.problem.recipe;
    const std::int64_t batch = std::max(r.global_batch, r.batch_target);
    const Verdict worst = std::min(rules.verdict(), Verdict::Tight);
    const bool limited = rules.keeps(run().limits);
    double fastest = 0;
    const auto needed = [&](Verdict v) { return std::max(least_rate(rules, v), (1 - alike()) * fastest); };
    std::vector<Trial> all;
    for_each_choice(rules.verdict() == Verdict::DoesNotFit, [&](Choice c) {
      auto trial = planner_.attempt(c);
      if (!trial || trial->problem.recipe.global_batch > batch) return;
      if (trial->cost.step.rate.num() < needed(Verdict::Fits)) return;
      if (trial->device() > trial->limit()) {
        c.recompute = Recompute::Full;
        if (const auto least = planner_.attempt(c); least && least->verdict() > worst) return;
        trial = least_recompute(c);
      }
      if (!trial || trial->verdict() > worst) return;
      if (trial->cost.step.rate.num() < needed(trial->verdict())) return;
      if (limited && !trial->keeps(run().limits)) return;
      if (trial->verdict() == Verdict::Fits) fastest = std::max(fastest, trial->cost.step.rate.num());
      all.push_back(std::move(*trial));
    });
    return all;
  }

  const Trial* fastest_of(const std::vector<Trial>& all) const {
    const auto rate = [](const Trial& t) { return t.cost.step.rate.num(); };
    const auto found = std::ranges::max_element(all, {}, rate);
    return found == all.end() ? nullptr : &*found;
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
};

}  // namespace trainplan::detail
