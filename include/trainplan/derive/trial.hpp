/// One candidate on the way to a plan: a completed plan with the numbers that judge it.
#pragma once

#include <algorithm>
#include <optional>

#include "trainplan/base/value.hpp"
#include "trainplan/cost/plan_cost.hpp"
#include "trainplan/derive/resolve.hpp"
#include "trainplan/plan/rules.hpp"
#include "trainplan/plan/sharding_modes.hpp"
#include "trainplan/spec/validator.hpp"

namespace trainplan {

/// problem carries the batch that fits this plan's dp.
struct Trial {
  Problem problem;
  Plan plan;
  PlanCost<double> cost;

  double device() const { return cost.memory.device.num(); }
  double gate() const { return cost.gate.num(); }
  /// What a derived plan may use: the gate less the planning margin.
  double limit() const { return cost.limit.num(); }
  /// A node needs more of its host than there is.
  bool host_is_full() const { return trainplan::host_is_full(problem, cost.host.node.num()); }
  Verdict verdict() const {
    if (host_is_full()) return Verdict::DoesNotFit;
    return device() <= limit() ? Verdict::Fits : device() <= gate() ? Verdict::Tight : Verdict::DoesNotFit;
  }
  /// Within what the run limits; with a confidence the end of the range that is worse.
  bool keeps(const Limits& limits) const {
    const bool ends = problem.recipe.confidence.has_value(),
               causal = problem.recipe.convention == FlopConvention::Causal;
    const auto utilisation = causal ? (ends ? cost.range.mfu_low : cost.step.mfu)
                                    : (ends ? cost.range.mfu_full_low : cost.step.mfu_full);
    const auto step = ends ? cost.range.time_high : cost.step.step;
    const auto most = ends ? cost.range.device_high : cost.memory.device;
    return (!limits.min_mfu || utilisation.num() >= *limits.min_mfu) &&
           (!limits.max_step_time || step.num() <= *limits.max_step_time) &&
           (!limits.max_memory || most.num() <= *limits.max_memory);
  }
};

/// The degrees that a derivation chooses; everything else follows from them, the run and the profile.
struct Choice {
  std::int64_t tp = 1, pp = 1, cp = 1, ep = 1, etp = 1;
  std::optional<std::int64_t> vpp{}, micro_batch{};  // braces: may be left out of an initialiser
  Recompute recompute = Recompute::None;
  std::int64_t recompute_layers = 0;
  std::optional<Modules> modules{};
  std::optional<Schedule> schedule{};
  std::optional<Sharding> sharding{};
  std::optional<bool> sync_each_micro_batch{};
};

/// Gives a choice the degrees and the sharding of a plan.
inline void take_degrees(const Plan& p, Choice& c) {
  c.tp = p.tp;
  c.pp = p.pp;
  c.cp = p.cp;
  c.ep = p.ep;
  c.etp = p.etp;
  c.sharding = p.sharding;
}

inline constexpr std::int64_t kUsualShard = 8;

/// Completes choices into legal plans.
class Planner {
  Problem problem_;
  const RunSpec& run_;
  std::int64_t batch_target_;

  /// The smallest v whose bubble is within the target, else the largest legal one. `over`: the schedule of v
  /// above 1; without `flat` there is none of v 1.
  std::int64_t choose_vpp(Problem& problem, Plan plan, Schedule over = Schedule::Interleaved,
                          bool flat = true) const {
    const std::int64_t slots = layer_slots(problem.model().layers, plan.layout) / plan.pp;
    const double target = problem.calibration().interleave_bubble_target.value;
    std::int64_t best = flat ? 1 : 2;
    for (std::int64_t v = best; v <= slots; ++v) {
      plan.vpp = static_cast<std::uint16_t>(v);
      plan.schedule = v > 1 ? over : Schedule::OneFOneB;
      if (!legal(problem, plan)) continue;
      best = v;
      const double m = static_cast<double>(micro_batches(problem, plan));
      if (bubble_of_ideal(Count<>{static_cast<double>(plan.pp)}, Count<>{static_cast<double>(v)}, Count<>{m})
              .num() <= target)
        break;
    }
    return best;
  }

  void pin_layout(Plan& plan) const {
    const bool counted =
        *run_.uneven_stages && plan.pp > 1 && problem_.profile().uneven_stages != UnevenStages::None;
    plan.layout = counted ? Layout::EmbeddingAndLoss : Layout::Equal;
    plan.first_layers = plan.last_layers = 0;
  }

  /// Layers of the first and the last stage as the user gives them; one that is left out is as the other.
  void pin_layers(std::int64_t layers, Plan& plan) const {
    if (plan.pp == 1) return;
    plan.layout = Layout::FirstAndLast;
    const std::int64_t one = run_.first_layers.value_or(run_.last_layers.value_or(0));
    const std::int64_t last = plan.pp == 2 ? layers - one : run_.last_layers.value_or(one);
    plan.first_layers = static_cast<std::uint16_t>(one);
    plan.last_layers =
        static_cast<std::uint16_t>(std::clamp<std::int64_t>(run_.last_layers.value_or(last), 0, kMaxLayers));
  }

  /// Schedule and virtual stages. One that needs a number of virtual stages gets it, unless the user gives
  /// another.
  void choose_schedule(Problem& problem, const Choice& c, Plan& plan) const {
    const std::optional<Schedule> wanted = c.schedule ? c.schedule : run_.schedule;
    const bool further = wanted && has_chunks(*wanted) && *wanted != Schedule::Interleaved;
    const auto set = [&](std::int64_t v, Schedule s) {
      plan.vpp = static_cast<std::uint16_t>(v);
      plan.schedule = s;
    };
    if (further && plan.pp > 1 && !run_.vpp && c.vpp.value_or(1) == 1)
      return set(is_vee(*wanted) ? 2 : choose_vpp(problem, plan, *wanted, false), *wanted);
    const bool free_schedule = !wanted || *wanted == Schedule::Interleaved;
    const std::int64_t v = c.vpp ? *c.vpp : free_schedule && plan.pp > 1 ? choose_vpp(problem, plan) : 1;
    set(v, wanted.value_or(v > 1 ? Schedule::Interleaved : Schedule::OneFOneB));
  }

  Sharding sharding_of(const Choice& c) const {
    return c.sharding ? *c.sharding : run_.sharding.value_or(problem_.profile().default_sharding);
  }

  std::uint32_t shard_of(const Plan& plan) const {
    const std::int64_t all = std::int64_t{plan.dp} * plan.cp;
    const ShardingRows* rows = problem_.profile().rows(plan.sharding);
    if (rows != nullptr && rows->shard_groups && run_.shard_size)
      return static_cast<std::uint32_t>(*run_.shard_size);
    if (plan.sharding != Sharding::Hsdp) return static_cast<std::uint32_t>(all);
    // A group inside the scale-up domain where tp leaves room in it, else one of a usual node.
    const std::int64_t domain = problem_.cluster().scale_up_domain / plan.tp;
    return static_cast<std::uint32_t>(
        run_.shard_size.value_or(std::min(all, domain > 1 ? domain : kUsualShard)));
  }

 public:
  Planner(const Problem& problem, const RunSpec& run, std::int64_t batch_target)
      : problem_(problem), run_(run), batch_target_(batch_target) {}

  const Problem& problem() const { return problem_; }
  const RunSpec& run() const { return run_; }
  Planner with(const Problem& problem) const { return {problem, run_, batch_target_}; }

  /// The plan of a choice and the problem with its batch; it may break rules.
  std::pair<Problem, Plan> complete(const Choice& c) const {
    Problem problem = problem_;
    Plan plan;
    plan.tp = static_cast<std::uint16_t>(c.tp);
    plan.pp = static_cast<std::uint16_t>(c.pp);
    plan.cp = static_cast<std::uint16_t>(c.cp);
    const std::int64_t rest = problem.cluster().gpus() / (c.tp * c.pp * c.cp);
    plan.dp = static_cast<std::uint32_t>(run_.dp.value_or(std::max<std::int64_t>(1, rest)));
    plan.micro_batch = static_cast<std::uint16_t>(c.micro_batch.value_or(run_.micro_batch.value_or(1)));
    plan.sharding = sharding_of(c);
    plan.shard = shard_of(plan);
    plan.sequence_parallel =
        run_.sequence_parallel.value_or(problem.profile().rules.sequence_parallel) && plan.tp > 1;
    plan.ep = static_cast<std::uint16_t>(c.ep);
    plan.etp = static_cast<std::uint16_t>(c.etp);
    plan.recompute = c.recompute;
    plan.modules = run_.recompute_modules.value_or(c.modules.value_or(plan.modules));
    plan.recompute_layers = static_cast<std::uint16_t>(c.recompute_layers);
    const ShardingRows* rows = problem.profile().rows(plan.sharding);
    const bool whole = rows != nullptr && rows->pipeline_keeps_whole && plan.pp > 1;
    plan.reshard = plan.sync_each_micro_batch = !whole;
    if (may_keep_gathered(problem, plan)) plan.reshard = run_.reshard_after_forward.value_or(plan.reshard);
    if (may_put_off_reduction(problem, plan))
      plan.sync_each_micro_batch =
          c.sync_each_micro_batch.value_or(run_.sync_each_micro_batch.value_or(plan.sync_each_micro_batch));
    choose_layout(problem.model().layers, problem.profile().uneven_stages, plan);
    if (run_.uneven_stages) pin_layout(plan);
    if (run_.first_layers || run_.last_layers) pin_layers(problem.model().layers, plan);
    if (batch_target_ > 0)
      problem.recipe.global_batch = nearest_multiple(batch_target_, std::int64_t{plan.dp} * plan.micro_batch);
    choose_schedule(problem, c, plan);
    return {problem, plan};
  }

  /// Nothing when the choice breaks a rule.
  std::optional<Trial> attempt(const Choice& c) const {
    auto [problem, plan] = complete(c);
    if (!legal(problem, plan)) return std::nullopt;
    return Trial{problem, plan, evaluate(problem, plan)};
  }

  /// As attempt, with as few recomputed layers as `accepts` asks for; then all of them. They count for each
  /// virtual stage, so they come in multiples of the v that is chosen without recompute.
  template <class Accepts>
  std::optional<Trial> attempt_recomputing(Choice c, Accepts accepts) const {
    c.recompute = Recompute::None;
    const auto plain = attempt(c);
    if (!plain) return std::nullopt;
    c.vpp = plain->plan.vpp;
    c.recompute = Recompute::Layers;
    const std::int64_t layers = stage_layers(plain->problem.model(), plain->plan, plain->plan.pp / 2);
    for (c.recompute_layers = *c.vpp; c.recompute_layers < layers; c.recompute_layers += *c.vpp) {
      const auto trial = attempt(c);
      if (trial && accepts(*trial)) return trial;
    }
    c.recompute = Recompute::Full;
    c.recompute_layers = 0;
    return attempt(c);
  }
};

}  // namespace trainplan
