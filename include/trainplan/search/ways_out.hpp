/// What would make a run fit that does not: each change is worked out anew, and shown with what it then
/// needs.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/derive/derive.hpp"
#include "trainplan/derive/whatif.hpp"
#include "trainplan/spec/resize.hpp"

namespace trainplan {

/// trial: the plan of the changed question.
struct WayOut {
  std::string key, name;
  Trial trial;
};

/// ways: those that fit, least change first. failed: names of changes that do not help. clusters: what trials
/// refer to.
struct WaysOut {
  std::deque<Checked<ClusterSpec>> clusters;
  std::vector<WayOut> ways;
  std::vector<std::string> failed;
};

namespace detail {

class WaysOutFinder {
  const Planner& planner_;
  const Planner* fsdp_;
  const Trial& nearest_;
  WaysOut out_{};

  bool add(std::string key, std::string name, const std::optional<Trial>& t) {
    if (t && t->verdict() != Verdict::DoesNotFit) {
      out_.ways.push_back({std::move(key), std::move(name), *t});
      return true;
    }
    out_.failed.push_back(std::move(name));
    return false;
  }

  /// The question with another recipe or cluster, put to the derivation.
  static std::optional<Trial> derived(const Planner& planner, const Problem& problem) {
    if (auto d = derive(planner.with(problem), nullptr)) return std::move(d->chosen);
    return std::nullopt;
  }
  std::optional<Trial> derived(const Problem& problem) const { return derived(planner_, problem); }

  void add_recipes() {
    const Problem& p = planner_.problem();
    if (p.recipe.gradient == DType::Fp32) {
      Problem changed = p;
      changed.recipe.gradient = changed.recipe.reduce = DType::Bf16;
      add("gradient_bf16", "gradients in bf16", derived(changed));
    }
    for (std::int64_t n = p.recipe.sequence / 2; n >= kShortest; n /= 2) {
      Problem changed = p;
      changed.recipe.sequence = n;
      if (add("sequence_" + num(n), "sequences of " + num(n) + " tokens", derived(changed))) break;
    }
  }

  /// The run without what it gives of the plan.
  RunSpec opened() const {
    RunSpec open = planner_.run();
    for_each_plan_field(open, [](auto& field) { field.reset(); });
    open.ep.reset();
    open.etp.reset();
    open.sharding.reset();
    return open;
  }
  bool gives_some() const {
    const RunSpec& r = planner_.run();
    return !leaves_all_open(r) || r.sharding || r.ep || r.etp;
  }

  /// The plan left open, on more nodes where that alone is not enough.
  void add_opened() {
    if (!gives_some()) return;
    const RunSpec open = opened();
    const Problem& p = planner_.problem();
    const Planner planner(p, open, p.recipe.batch_target);
    constexpr auto kName = "degrees, schedule, sharding and recompute left open";
    if (!add("opened", kName, derived(planner, p)))
      add_clusters(planner, "opened_", std::string(kName) + ", ");
  }

  void add_what_ifs() {
    for (const WhatIf& w : what_ifs(nearest_).rows)
      if (w.trial && w.trial->verdict() != Verdict::DoesNotFit) add(w.key, w.name, w.trial);
  }

  /// The same node, more of them.
  void add_clusters(const Planner& planner, const std::string& key, const std::string& change) {
    constexpr int kDoublings = 7;
    const ClusterSpec& own = planner_.problem().cluster();
    std::int64_t nodes = own.nodes;
    for (int i = 0; i < kDoublings; ++i) {
      nodes *= 2;
      Issues issues;
      auto checked = with_nodes(own, nodes, issues);
      if (!checked) return;
      out_.clusters.push_back(std::move(*checked));
      const std::string name = num(nodes) + " nodes (" + num(out_.clusters.back()->gpus()) + " GPUs)";
      const auto trial = derived(planner, planner_.problem().with(out_.clusters.back()));
      add(key + "nodes_" + num(nodes), change + name, trial);
      if (trial && trial->verdict() == Verdict::Fits && out_.ways.size() >= kWanted) return;
    }
  }

  static constexpr std::int64_t kShortest = 1024;
  static constexpr std::size_t kWanted = 2;  // ways out

 public:
  WaysOutFinder(const Planner& planner, const Planner* fsdp, const Trial& nearest)
      : planner_(planner), fsdp_(fsdp), nearest_(nearest) {}

  WaysOut find(const std::optional<Trial>& other) {
    if (other) add("other_plan", "another legal plan", other);
    add_what_ifs();
    add_recipes();
    if (fsdp_ != nullptr)
      if (auto d = derive(*fsdp_, nullptr))
        add("framework", "on " + fsdp_->problem().profile().id, std::move(d->chosen));
    add_clusters(planner_, "", "");
    add_opened();
    return std::move(out_);
  }
};

}  // namespace detail

/// nearest: the plan that does not fit. other: one of the same question that does.
inline WaysOut ways_out(const Planner& planner, const Planner* fsdp, const Trial& nearest,
                        const std::optional<Trial>& other) {
  return detail::WaysOutFinder(planner, fsdp, nearest).find(other);
}

}  // namespace trainplan
