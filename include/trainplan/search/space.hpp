/// Every legal plan of a question, numbered.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "trainplan/derive/trial.hpp"
#include "trainplan/plan/sharding_modes.hpp"
#include "trainplan/search/shapes.hpp"

namespace trainplan {

/// Degrees, micro-batch and sharding. variant: index of the recipe. first: number of its first plan.
struct Arrangement {
  Plan plan;
  std::uint32_t variant = 0, interior = 0;
  std::uint64_t first = 0;
};

/// A larger micro-batch fills no kernel better.
inline constexpr std::int64_t kLargestMicroBatch = 16;

/// All share one global batch. Fields that the run gives have that value alone.
class PlanSpace {
  std::vector<Problem> variants_;
  std::vector<Interior> interiors_;
  std::vector<Arrangement> arrangements_;
  Refusals refused_ = no_refusals();
  std::uint64_t size_ = 0, offered_ = 0;

  friend class SpaceBuilder;

 public:
  std::uint64_t size() const { return size_; }
  /// Combinations of degrees, micro-batch and sharding that were looked at.
  std::uint64_t offered() const { return offered_; }
  /// Those of them, by rule, that have no legal plan.
  const Refusals& refused() const { return refused_; }
  const std::vector<Arrangement>& arrangements() const { return arrangements_; }
  const Interior& interior(const Arrangement& a) const { return interiors_[a.interior]; }
  const Problem& problem(const Arrangement& a) const { return variants_[a.variant]; }

  const Arrangement& arrangement_of(std::uint64_t index) const {
    const auto after = std::ranges::upper_bound(arrangements_, index, {}, &Arrangement::first);
    return *std::prev(after);
  }
  /// The plan of that number, below size().
  Plan at(std::uint64_t index) const {
    const Arrangement& a = arrangement_of(index);
    const Interior& inside = interior(a);
    const auto r = static_cast<std::uint32_t>(index - a.first);
    const auto shape = std::ranges::upper_bound(inside.shapes, r, {}, &Shape::last);
    Plan plan = a.plan;
    take(*shape, plan);
    take(inside.rebuilt[r], plan);
    return plan;
  }
};

/// Numbers the plans: recipe, tp, pp, cp, ep, etp, sharding with its modes, shard group, micro-batch, and
/// inside of those schedule, virtual stages, split of the layers, recompute.
class SpaceBuilder {
  using Key = std::tuple<std::uint32_t, std::int64_t, std::int64_t, Sharding>;

  const Planner& planner_;
  std::int64_t batch_;
  PlanSpace out_{};
  std::map<Key, std::pair<std::uint32_t, Refusals>> known_{};

  const RunSpec& run() const { return planner_.run(); }
  const ModelSpec& model() const { return planner_.problem().model(); }
  std::int64_t gpus() const { return planner_.problem().cluster().gpus(); }

  static std::vector<std::int64_t> divisors(std::int64_t n) {
    std::vector<std::int64_t> low, high;
    for (std::int64_t d = 1; d * d <= n; ++d) {
      if (n % d != 0) continue;
      low.push_back(d);
      if (d * d != n) high.push_back(n / d);
    }
    low.insert(low.end(), high.rbegin(), high.rend());
    return low;
  }
  /// The pinned value, or those up to the largest.
  static std::vector<std::int64_t> open(const std::optional<std::int64_t>& pinned,
                                        std::vector<std::int64_t> all, std::int64_t most = kMaxDegree) {
    if (pinned) return {*pinned};
    std::erase_if(all, [&](std::int64_t v) { return v > most; });
    return all;
  }

  /// The number of the interior of an arrangement, made at its first use.
  std::pair<std::uint32_t, Refusals>& interior_of(const Problem& problem, const Plan& plan,
                                                  std::uint32_t variant) {
    const Key key{variant, plan.pp, micro_batches(problem, plan), plan.sharding};
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    Refusals refused = no_refusals();
    Interior inside = detail::InteriorBuilder(problem, run(), plan, refused).build();
    out_.interiors_.push_back(std::move(inside));
    const auto index = static_cast<std::uint32_t>(out_.interiors_.size() - 1);
    return known_.emplace(key, std::pair(index, std::move(refused))).first->second;
  }

  void add(const Problem& problem, std::uint32_t variant, const Plan& plan) {
    ++out_.offered_;
    if (const Rule* broken = first_broken(problem, plan, Subject::Arrangement)) {
      count(broken, out_.refused_);
      return;
    }
    const auto& [index, refused] = interior_of(problem, plan, variant);
    const std::uint64_t size = out_.interiors_[index].rebuilt.size();
    if (size == 0) {
      if (const Rule* broken = first_broken(problem, plan))
        count(broken, out_.refused_);
      else
        ++out_.refused_[static_cast<std::size_t>(std::ranges::max_element(refused) - refused.begin())];
      return;
    }
    out_.arrangements_.push_back({plan, variant, index, out_.size_});
    out_.size_ += size;
  }

  void add_micro_batches(const Problem& problem, std::uint32_t variant, Plan plan) {
    const std::int64_t share = std::max<std::int64_t>(1, batch_ / plan.dp);
    for (const std::int64_t b : open(run().micro_batch, divisors(share), kLargestMicroBatch)) {
      plan.micro_batch = static_cast<std::uint16_t>(b);
      add(problem, variant, plan);
    }
  }

  /// Shard groups smaller than all data parallel ranks, where the mode has them.
  std::vector<std::int64_t> shard_sizes(const Plan& plan) const {
    const std::int64_t all = std::int64_t{plan.dp} * plan.cp;
    if (plan.sharding != Sharding::Hsdp || run().shard_size) return {plan.shard};
    std::vector<std::int64_t> sizes = divisors(all);
    std::erase_if(sizes, [&](std::int64_t n) { return n == 1 || n == all; });
    return sizes;
  }

  void add_modes(const Problem& problem, std::uint32_t variant, Plan plan) {
    const auto values = [&](bool choice, const std::optional<bool>& given, bool own) {
      return choice && !given ? std::vector<bool>{true, false} : std::vector<bool>{own};
    };
    const auto reshards = values(may_keep_gathered(problem, plan), run().reshard_after_forward, plan.reshard);
    const auto reductions =
        values(may_put_off_reduction(problem, plan), run().sync_each_micro_batch, plan.sync_each_micro_batch);
    for (const std::int64_t shard : shard_sizes(plan))
      for (const bool reshard : reshards)
        for (const bool each : reductions) {
          plan.shard = static_cast<std::uint32_t>(shard);
          plan.reshard = reshard;
          plan.sync_each_micro_batch = each;
          add_micro_batches(problem, variant, plan);
        }
  }

  void add_shardings(const Planner& planner, std::uint32_t variant, Choice c) {
    for (const ShardingRows& rows : planner.problem().profile().shardings) {
      if (run().sharding.value_or(rows.mode) != rows.mode) continue;
      c.sharding = rows.mode;
      auto [problem, plan] = planner.complete(c);
      problem.recipe.global_batch = batch_;
      add_modes(problem, variant, plan);
    }
  }

  void add_experts(const Planner& planner, std::uint32_t variant, Choice c) {
    const bool sparse = model().is_sparse();
    const std::int64_t rest = gpus() / c.pp;
    for (const std::int64_t e : open(run().ep, divisors(sparse ? model().experts.count : 1), rest))
      for (const std::int64_t x : open(run().etp, sparse && c.tp > 1 ? std::vector<std::int64_t>{1, c.tp}
                                                                     : std::vector<std::int64_t>{1})) {
        c.ep = e;
        c.etp = x;
        add_shardings(planner, variant, c);
      }
  }

  void add_recipe(const Planner& planner, std::uint32_t variant) {
    Choice c;
    c.vpp = 1;
    c.schedule = run().schedule.value_or(Schedule::OneFOneB);
    for (const std::int64_t t : open(run().tp, divisors(gpus()), model().heads))
      for (const std::int64_t p : open(run().pp, divisors(gpus() / t), model().layers))
        for (const std::int64_t x :
             open(run().cp, divisors(gpus() / t / p), planner.problem().recipe.sequence)) {
          c.tp = t;
          c.pp = p;
          c.cp = x;
          add_experts(planner, variant, c);
        }
  }

  /// The recipe as it is, and with what the run leaves open the other way.
  std::vector<Recipe> recipes() const {
    const Recipe& own = planner_.problem().recipe;
    std::vector<Recipe> all{own};
    const Problem& p = planner_.problem();
    const bool host =
        p.cluster().host_link.known && p.cluster().host_bandwidth.known && !p.profile().host.together;
    const bool offered = std::ranges::any_of(
        p.profile().shardings, [](const ShardingRows& rows) { return !rows.host.optimizer.empty(); });
    if (host && offered && !own.offload.any() && !run().offload_optimizer) {
      all.push_back(own);
      all.back().offload.optimizer = 1;
    }
    return all;
  }

 public:
  /// batch: sequences of a step, the same for every plan.
  SpaceBuilder(const Planner& planner, std::int64_t batch) : planner_(planner), batch_(batch) {}

  PlanSpace build() {
    for (const Recipe& recipe : recipes()) {
      Problem problem = planner_.problem();
      problem.recipe = recipe;
      problem.recipe.global_batch = batch_;
      const auto variant = static_cast<std::uint32_t>(out_.variants_.size());
      out_.variants_.push_back(problem);
      add_recipe(planner_.with(problem), variant);
    }
    return std::move(out_);
  }
};

inline PlanSpace plan_space(const Planner& planner, std::int64_t batch) {
  return SpaceBuilder(planner, batch).build();
}

}  // namespace trainplan
