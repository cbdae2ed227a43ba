/// The chosen plan with one thing changed: format of products, recompute, overlap, micro-batch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/cost/losses.hpp"
#include "trainplan/cost/rules_of_thumb.hpp"
#include "trainplan/cost/sensitivity.hpp"
#include "trainplan/derive/derivation.hpp"
#include "trainplan/derive/trial.hpp"
#include "trainplan/plan/rules/pipeline.hpp"

namespace trainplan {

/// trial: nothing when the change breaks a rule; broken and refusal say which. minor: shown in detail only.
struct WhatIf {
  std::string key, name;
  bool minor = false;
  std::optional<Trial> trial{};
  std::string broken{}, refusal{};
};

/// What products in a narrower format save. step_cut: share of the step times cut of the products; evaluated:
/// of the whole step worked out anew, with casts, bubble and the rest.
struct ProductCut {
  std::string_view format;
  Count<> of_kernels, of_step, cut, step_cut, evaluated;
};

/// What recompute of so many layers of a stage does, compared with none. The shares that go by the number of
/// layers stand beside those of the plan.
struct RecomputeGain {
  Count<> layers, all;
  Bytes<> saved, saved_of_layer;
  Count<> share, share_pro_rata, flops, flops_pro_rata;
  Seconds<> step;
};

struct WhatIfs {
  std::vector<WhatIf> rows;
  std::optional<ProductCut> products;
  std::vector<RecomputeGain> recompute;
  std::string layout;  // settings of the split in the row "layers"
};

namespace detail {

/// Layers of each virtual stage that an end of the pipeline may hold more or less than the others.
inline constexpr std::int64_t kLayersMoved = 6;
/// Share of the step that another split must save to stand among the first rows.
inline constexpr double kGainShown = 0.02;

/// "--decoder-first-pipeline-num-layers 19 ...": the split in the framework's words.
inline std::string layout_settings(const FrameworkProfile& f, const Plan& p) {
  std::string out;
  const auto add = [&](const std::string& setting) { out += (out.empty() ? "" : " ") + setting; };
  for (const LaunchFlag& flag : f.flags) {
    if (p.layout == Layout::EmbeddingAndLoss && flag.field == "uneven_stages")
      for (const auto& [value, setting] : flag.settings)
        if (value == "true") add(setting);
    if (p.layout != Layout::FirstAndLast || flag.flag.empty()) continue;
    if (flag.field == "first_layers") add(flag.flag + " " + num(p.first_layers));
    if (flag.field == "last_layers") add(flag.flag + " " + num(p.last_layers));
  }
  return out;
}

class WhatIfFinder {
  const Trial& chosen_;
  WhatIfs out_{};

  const Plan& plan() const { return chosen_.plan; }
  const Recipe& recipe() const { return chosen_.problem.recipe; }

  /// One more row; `change` gets copies of the recipe and of the plan.
  const WhatIf& add(std::string key, std::string name, bool minor, auto change) {
    Problem problem = chosen_.problem;
    Plan plan = chosen_.plan;
    change(problem.recipe, plan);
    WhatIf row{std::move(key), std::move(name), minor};
    if (const Rule* rule = first_broken(problem, plan)) {
      row.broken = rule->id;
      row.refusal = std::string(rule->field) + " must " + std::string(rule->sentence(problem.profile())) +
                    " (" + rule->numbers(problem, plan) + ")";
    } else {
      row.trial = Trial{problem, plan, evaluate(problem, plan)};
    }
    out_.rows.push_back(std::move(row));
    return out_.rows.back();
  }

  /// Products in that format, where the accelerator has it.
  void add_format(Matmul format, bool minor) {
    Problem low = chosen_.problem;
    low.recipe.matmul = format;
    if (!low_peak(low).known || !low.accelerator().low_gemm.known) return;
    const std::string name(name_of(format));
    const auto& row = add(name, name + " products", minor, [&](Recipe& r, Plan&) { r.matmul = format; });
    if (!minor && row.trial) out_.products = cut_of(*row.trial);
  }
  ProductCut cut_of(const Trial& low) const {
    const auto &wide = chosen_.cost, &narrow = low.cost;
    ProductCut out{name_of(low.problem.recipe.matmul), {}, {}, {}, {}, {}};
    out.of_kernels = wide.pipeline.products / wide.pipeline.kernels;
    out.of_step = share_of_step(out.of_kernels, wide.step.compute, wide.step.step);
    out.cut = time_cut(wide.pipeline.products, narrow.pipeline.products);
    out.step_cut = fp8_step_cut(out.of_step, out.cut);
    out.evaluated = time_cut(wide.step.step, narrow.step.step);
    return out;
  }
  void add_formats() {
    if (recipe().matmul != Matmul::Wide) {
      add("wide_products", "products in " + std::string(name_of(recipe().precision)), false,
          [](Recipe& r, Plan&) { r.matmul = Matmul::Wide; });
      return;
    }
    const bool fp4 = chosen_.problem.cluster().accelerator.fp4_dense.known;
    add_format(fp4 ? Matmul::Mxfp8 : Matmul::Fp8, false);
    if (fp4) add_format(Matmul::Nvfp4, true);
  }

  /// As few recomputed layers as the rules allow, half of a stage and all; less the plan's own number.
  std::vector<std::int64_t> recompute_steps(std::int64_t all) const {
    const std::int64_t unit = plan().vpp,
                       own = plan().recompute == Recompute::Layers ? plan().recompute_layers : 0;
    std::vector<std::int64_t> steps{unit};
    if (chosen_.problem.profile().rules.recompute_layers) steps.push_back(all / 2 / unit * unit);
    std::erase_if(steps, [&](std::int64_t k) { return k < 1 || k >= all || k == own; });
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    return steps;
  }
  void add_recompute(bool few) {
    const auto set = [](Recompute kind, std::int64_t layers) {
      return [=](Recipe&, Plan& p) {
        p.recompute = kind;
        p.recompute_layers = static_cast<std::uint16_t>(layers);
      };
    };
    const std::int64_t all = stage_layers(chosen_.problem.model(), plan(), plan().pp / 2);
    if (plan().recompute != Recompute::None)
      add("no_recompute", "no recompute", false, set(Recompute::None, 0));
    const auto steps = recompute_steps(all);
    for (const std::int64_t k : steps) {
      const bool half = k != steps.front();
      const auto& row = add("recompute_" + std::to_string(k),
                            "recompute " + std::to_string(k) + " of " + std::to_string(all) + " layers",
                            few && half, set(Recompute::Layers, k));
      if (row.trial) add_gain(row.trial->plan);
    }
    if (plan().recompute == Recompute::Full) return;
    const auto& row = add("recompute_all", "recompute all layers", false, set(Recompute::Full, 0));
    if (row.trial) add_gain(row.trial->plan);
  }
  /// On the stage of the chosen plan, so that both sides are of one GPU; its layers may be more or fewer than
  /// those of a stage between.
  void add_gain(const Plan& with) {
    Plan plain = with;
    plain.recompute = Recompute::None;
    plain.recompute_layers = 0;
    const auto none = evaluate_stage(chosen_.problem, plain, chosen_.cost.stage),
               some = evaluate_stage(chosen_.problem, with, chosen_.cost.stage);
    const auto &before = none.memory.activations, &after = some.memory.activations;
    const auto model = some.compute.causal;
    RecomputeGain g;
    g.layers = after.recomputed;
    g.all = some.memory.params.blocks;
    g.saved = before.saved - after.saved;
    g.saved_of_layer = g.saved / g.layers;
    g.share = recompute_saving(after.saved, before.saved);
    g.share_pro_rata = pro_rata(g.layers, g.all, recompute_saving(before.kept, before.layer));
    g.flops = some.compute.recomputed / model;
    g.flops_pro_rata = pro_rata(g.layers, g.all, recompute_flops_full(model, Count<>{1}) / model);
    g.step = some.step.step - none.step.step;
    out_.recompute.push_back(g);
  }

  /// Overlap the other way, with what the default is.
  void add_overlap(std::string key, const std::string& what, bool minor, bool Recipe::*overlap,
                   bool by_default) {
    const bool on = !(recipe().*overlap);
    add(std::move(key), what + (on ? " on" : " off") + " (default " + (by_default ? "on)" : "off)"), minor,
        [=](Recipe& r, Plan&) { r.*overlap = on; });
  }
  void add_overlaps() {
    if (plan().tp > 1 && plan().sequence_parallel)
      add_overlap("tp_overlap", "TP overlap", false, &Recipe::tp_overlap,
                  chosen_.problem.profile().rules.tp_overlap);
    if (has_expert_traffic()) add_overlap("ep_overlap", "EP overlap", false, &Recipe::ep_overlap, false);
    if (std::int64_t{plan().dp} * plan().cp > 1)
      add_overlap("dp_overlap", "DP overlap", true, &Recipe::dp_overlap, true);
  }
  bool has_expert_traffic() const { return chosen_.problem.model().is_sparse() && plan().ep > 1; }

  /// Where the plan does not fit, what the framework can move to the host.
  void add_offload() {
    const Problem& x = chosen_.problem;
    const HostRows& host = x.profile().rows(plan().sharding)->host;
    if (!x.cluster().host_link.known || recipe().offload.any() || chosen_.device() <= chosen_.gate()) return;
    const bool optimizer = !host.optimizer.empty() && x.cluster().host_bandwidth.known;
    if (optimizer && !x.profile().host.together)
      add("offload_optimizer", "optimizer on the host", false,
          [](Recipe& r, Plan&) { r.offload.optimizer = 1; });
    if (optimizer && !host.weights.empty())
      add("offload_weights", "weights and optimizer on the host", false, [](Recipe& r, Plan&) {
        r.offload.optimizer = 1;
        r.offload.weights = true;
      });
    const std::int64_t all = stage_layers(x.model(), plan(), plan().pp / 2);
    if (x.profile().host.layers == LayerOffload::Saved && plan().pp == 1 && all > 1)
      add("offload_layers", "activations of " + std::to_string(all - 1) + " layers on the host", false,
          [=](Recipe& r, Plan& p) {
            p.recompute = Recompute::None;
            r.offload.layers = all - 1;
          });
    if (x.profile().host.layers == LayerOffload::Kept && plan().recompute == Recompute::Full)
      add("offload_layers", "kept activations on the host", false,
          [=](Recipe& r, Plan&) { r.offload.layers = all; });
  }

  /// Of the splits that the framework makes, the one with the shortest step: the embedding counted with the
  /// loss, and ends that hold fewer or more layers than the stages between them.
  void add_layout() {
    const Plan& own = plan();
    if (own.pp < 2 || is_vee(own.schedule) ||
        chosen_.problem.profile().uneven_stages != UnevenStages::Counted)
      return;
    std::optional<Plan> best;
    double shortest = chosen_.cost.step.step.num();
    const auto consider = [&](Layout layout, std::int64_t first, std::int64_t last) {
      Plan p = own;
      p.layout = layout;
      p.first_layers = static_cast<std::uint16_t>(first);
      p.last_layers = static_cast<std::uint16_t>(last);
      if (p == own || first_broken(chosen_.problem, p) != nullptr) return;
      const PlanCost<double> cost = evaluate(chosen_.problem, p);
      if (cost.step.step.num() >= shortest || (cost.memory.device > cost.gate)) return;
      shortest = cost.step.step.num();
      best = p;
    };
    consider(Layout::EmbeddingAndLoss, 0, 0);
    const std::int64_t even = chosen_.problem.model().layers / own.pp, v = own.vpp;
    const std::int64_t most = even + kLayersMoved * v,
                       least = std::max<std::int64_t>(v, even - kLayersMoved * v);
    for (std::int64_t first = least / v * v; first <= most; first += v)
      for (std::int64_t last = least / v * v; last <= most; last += v)
        consider(Layout::FirstAndLast, first, last);
    if (!best) return;
    const Plan found = *best;
    const bool small = shortest > (1 - kGainShown) * chosen_.cost.step.step.num();
    add("layers", "stages of " + split_text(chosen_.problem.model(), found) + " layers", small,
        [=](Recipe&, Plan& p) { p = found; });
    out_.layout = layout_settings(chosen_.problem.profile(), found);
  }

  void add_micro_batch(std::int64_t b, bool minor) {
    add("micro_batch_" + std::to_string(b), "micro-batch " + std::to_string(b), minor,
        [=](Recipe&, Plan& p) { p.micro_batch = static_cast<std::uint16_t>(b); });
  }

 public:
  explicit WhatIfFinder(const Trial& chosen) : chosen_(chosen) {}

  WhatIfs find() {
    add_layout();
    add_formats();
    add_recompute(has_expert_traffic() || plan().recompute != Recompute::None);
    add_overlaps();
    add_offload();
    if (plan().micro_batch <= kMaxDegree / 2) add_micro_batch(std::int64_t{plan().micro_batch} * 2, false);
    if (plan().micro_batch % 2 == 0) add_micro_batch(plan().micro_batch / 2, true);
    return std::move(out_);
  }
};

}  // namespace detail

/// Degrees, batch and cluster stay as they are; the rows come in the order of what users ask for.
inline WhatIfs what_ifs(const Trial& chosen) { return detail::WhatIfFinder(chosen).find(); }

}  // namespace trainplan
