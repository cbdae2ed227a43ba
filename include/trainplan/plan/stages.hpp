/// Which layers a pipeline stage holds.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "trainplan/plan/plan.hpp"
#include "trainplan/spec/model.hpp"

namespace trainplan {

/// Layers [first, last) of a model.
struct LayerRange {
  std::int64_t first = 0, last = 0;
  std::int64_t size() const { return last - first; }
};

/// Layers that a stage is counted by: with EmbeddingAndLoss both count as one.
constexpr std::int64_t layer_slots(std::int64_t layers, Layout layout) {
  return layers + (layout == Layout::EmbeddingAndLoss ? 2 : 0);
}

/// Where the layers of a model lie, chunk by chunk: each stage holds vpp of them.
class StageMap {
  const Plan& plan_;
  std::int64_t layers_;
  std::int64_t base_ = 0, extra_ = 0;  // slots of a chunk; how many chunks, the first ones, hold one more
  std::int64_t first_ = 0, middle_ = 0, round_ = 0, last_ = 0;  // of one chunk, with FirstAndLast

 public:
  /// The plan must outlive it.
  StageMap(std::int64_t layers, const Plan& plan) : plan_(plan), layers_(layers) {
    const std::int64_t p = plan.pp, v = plan.vpp;
    if (plan.layout == Layout::FirstAndLast) {
      const auto of_chunk = [v](std::int64_t all) { return v == 1 ? all : all / v; };
      first_ = of_chunk(plan.first_layers);
      last_ = of_chunk(plan.last_layers);
      round_ = of_chunk(layers);
      middle_ = p > 2 ? (round_ - first_ - last_) / (p - 2) : 0;
    } else {
      const std::int64_t slots = layer_slots(layers, plan.layout);
      base_ = slots / (p * v);
      extra_ = slots % (p * v);
    }
  }

  LayerRange chunk(int stage, int chunk) const {
    const std::int64_t p = plan_.pp;
    if (plan_.layout == Layout::FirstAndLast) {
      const std::int64_t begin = chunk * round_ + (stage == 0 ? 0 : first_ + (stage - 1) * middle_);
      return {begin, begin + (stage == 0 ? first_ : stage == p - 1 ? last_ : middle_)};
    }
    const std::int64_t k = is_vee(plan_.schedule) && chunk == 1 ? 2 * p - 1 - stage : chunk * p + stage;
    const std::int64_t begin = k * base_ + std::min(k, extra_), end = begin + base_ + (k < extra_ ? 1 : 0);
    if (plan_.layout == Layout::Equal) return {begin, std::min(end, layers_)};
    return {std::clamp<std::int64_t>(begin - 1, 0, layers_), std::clamp<std::int64_t>(end - 1, 0, layers_)};
  }
};

/// Chunk `chunk` of `stage`.
inline LayerRange chunk_layers(std::int64_t layers, const Plan& plan, int stage, int chunk) {
  return StageMap(layers, plan).chunk(stage, chunk);
}

/// How many layers the stages between the first and the last hold with FirstAndLast; 0 without such stages.
constexpr std::int64_t middle_layers(std::int64_t layers, const Plan& plan) {
  return plan.pp > 2 ? (layers - plan.first_layers - plan.last_layers) / (plan.pp - 2) : 0;
}

/// Equal stages where they divide, else what the framework offers for uneven ones. The loss counts more than
/// the embedding, so an odd layer goes to the first stage.
inline void choose_layout(std::int64_t layers, UnevenStages offers, Plan& plan) {
  plan.layout = Layout::Equal;
  plan.first_layers = plan.last_layers = 0;
  const std::int64_t p = plan.pp;
  if (layers % p == 0 || offers == UnevenStages::None) return;
  plan.layout = Layout::EmbeddingAndLoss;
  if (offers == UnevenStages::ByOne || (layers + 2) % p == 0) return;
  for (const std::int64_t middle : {(layers + p - 1) / p, layers / p}) {
    const std::int64_t rest = layers - (p - 2) * middle;
    if (rest < 2 || rest > 4 * middle) continue;  // an end with more than two stages' worth helps nobody
    plan.layout = Layout::FirstAndLast;
    plan.first_layers = static_cast<std::uint16_t>((rest + 1) / 2);
    plan.last_layers = static_cast<std::uint16_t>(rest / 2);
    return;
  }
}

/// How many layers a stage holds with FirstAndLast: all of its chunks, which are of one size.
constexpr std::int64_t end_layers(std::int64_t layers, const Plan& plan, int stage) {
  return stage == 0             ? plan.first_layers
         : stage == plan.pp - 1 ? plan.last_layers
                                : middle_layers(layers, plan);
}

/// Transformer layers of one stage, and those of them with routed experts.
struct StageLayers {
  std::int64_t all, sparse;
  friend bool operator==(const StageLayers&, const StageLayers&) = default;
};
inline StageLayers layers_of(const ModelSpec& model, const Plan& plan, const StageMap& map, int stage) {
  StageLayers out{0, 0};
  for (int chunk = 0; chunk < plan.vpp; ++chunk) {
    const LayerRange r = map.chunk(stage, chunk);
    out.all += r.size();
    out.sparse += model.sparse_layers(r.first, r.last);
  }
  return out;
}
/// The plan must be legal: its chunks lie within the model.
inline StageLayers layers_of(const ModelSpec& model, const Plan& plan, int stage) {
  if (model.pattern.empty() && plan.layout == Layout::FirstAndLast)
    return {end_layers(model.layers, plan, stage), 0};
  const std::int64_t slots = layer_slots(model.layers, plan.layout);
  if (model.pattern.empty() && slots % (std::int64_t{plan.pp} * plan.vpp) == 0) {
    const int taken = slots == model.layers ? 0 : (stage == 0 ? 1 : 0) + (stage == head_stage(plan) ? 1 : 0);
    return {slots / plan.pp - taken, 0};
  }
  return layers_of(model, plan, StageMap(model.layers, plan), stage);
}

/// All stages between the first and the last hold the same number of layers, of one kind.
inline bool middle_is_even(const ModelSpec& model, const Plan& plan) {
  return model.pattern.empty() &&
         (plan.layout == Layout::FirstAndLast ||
          layer_slots(model.layers, plan.layout) % (std::int64_t{plan.pp} * plan.vpp) == 0);
}

/// A stage, and what it and others hold.
struct StageKind {
  int stage;
  StageLayers held;
};

/// The stages of a plan that differ in what they hold, in their order: the first, the first of each kind
/// between, and the last; the ends are always kinds of their own.
class StageKinds {
  // Stages between hold L / p layers or one more, so there are at most about sqrt(2 L) kinds: 95 of
  // kMaxLayers.
  static constexpr std::size_t kMost = 256;
  std::array<StageKind, kMost> kinds_;  // the first size_ of them
  std::size_t size_ = 0;

  void add(int stage, StageLayers held) {
    assert(size_ < kMost);
    kinds_[size_++] = {stage, held};
  }
  bool has_between(StageLayers held) const {
    for (std::size_t i = 1; i < size_; ++i)
      if (kinds_[i].held == held) return true;
    return false;
  }
  void add_between(const ModelSpec& model, const Plan& plan) {
    const StageMap map(model.layers, plan);
    for (int s = 1; s < plan.pp - 1; ++s)
      if (const StageLayers held = layers_of(model, plan, map, s); !has_between(held)) add(s, held);
  }

 public:
  StageKinds(const ModelSpec& model, const Plan& plan) {
    add(0, layers_of(model, plan, 0));
    if (plan.pp > 2 && middle_is_even(model, plan))
      add(1, layers_of(model, plan, 1));
    else
      add_between(model, plan);
    if (plan.pp > 1) add(plan.pp - 1, layers_of(model, plan, plan.pp - 1));
  }

  const StageKind* begin() const { return kinds_.data(); }
  const StageKind* end() const { return kinds_.data() + size_; }
};

/// Transformer layers on one pipeline stage, also of a plan that breaks rules.
inline std::int64_t stage_layers(const ModelSpec& model, const Plan& plan, int stage) {
  if (plan.layout == Layout::FirstAndLast) return end_layers(model.layers, plan, stage);
  const StageMap map(model.layers, plan);
  std::int64_t all = 0;
  for (int chunk = 0; chunk < plan.vpp; ++chunk) all += map.chunk(stage, chunk).size();
  return all;
}

}  // namespace trainplan
