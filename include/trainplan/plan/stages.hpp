/// Which layers a pipeline stage holds.
#pragma once

#include <algorithm>
#include <array>
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

/// Chunk `chunk` of `stage`, of the vpp chunks that each stage holds. Left-over slots go to the first chunks.
inline LayerRange chunk_layers(std::int64_t layers, const Plan& plan, int stage, int chunk) {
  const std::int64_t p = plan.pp, v = plan.vpp,
                     k = is_vee(plan.schedule) && chunk == 1 ? 2 * p - 1 - stage : chunk * p + stage;
  if (plan.layout == Layout::FirstAndLast) {
    const auto of_chunk = [v](std::int64_t all) { return v == 1 ? all : all / v; };
    const std::int64_t first = of_chunk(plan.first_layers), last = of_chunk(plan.last_layers),
                       round = of_chunk(layers);
    const std::int64_t middle = p > 2 ? (round - first - last) / (p - 2) : 0;
    const std::int64_t begin = chunk * round + (stage == 0 ? 0 : first + (stage - 1) * middle);
    return {begin, begin + (stage == 0 ? first : stage == p - 1 ? last : middle)};
  }
  const std::int64_t slots = layer_slots(layers, plan.layout), base = slots / (p * v),
                     extra = slots % (p * v);
  const std::int64_t begin = k * base + std::min(k, extra), end = begin + base + (k < extra ? 1 : 0);
  if (plan.layout == Layout::Equal) return {begin, std::min(end, layers)};
  return {std::max<std::int64_t>(begin - 1, 0), std::min(end - 1, layers)};
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
  std::int64_t all = 0, sparse = 0;
};
inline StageLayers layers_of(const ModelSpec& model, const Plan& plan, int stage) {
  const bool by_ends = plan.layout == Layout::FirstAndLast;
  const std::int64_t slots = layer_slots(model.layers, plan.layout);
  if (model.pattern.empty() && by_ends) return {end_layers(model.layers, plan, stage), 0};
  if (model.pattern.empty() && slots % (std::int64_t{plan.pp} * plan.vpp) == 0) {
    const int taken = slots == model.layers ? 0 : (stage == 0 ? 1 : 0) + (stage == head_stage(plan) ? 1 : 0);
    return {slots / plan.pp - taken, 0};
  }
  StageLayers out;
  for (int chunk = 0; chunk < plan.vpp; ++chunk) {
    const LayerRange r = chunk_layers(model.layers, plan, stage, chunk);
    out.all += r.size();
    out.sparse += model.sparse_layers(r.first, r.last);
  }
  return out;
}

/// All stages between the first and the last hold the same number of layers, of one kind.
inline bool middle_is_even(const ModelSpec& model, const Plan& plan) {
  return model.pattern.empty() &&
         (plan.layout == Layout::FirstAndLast ||
          layer_slots(model.layers, plan.layout) % (std::int64_t{plan.pp} * plan.vpp) == 0);
}

/// Tells the stages of a plan apart by what they hold; the first and the last are always kinds of their own.
class StageKinds {
  const ModelSpec& model_;
  const Plan& plan_;
  bool even_;
  std::array<StageLayers, 8> seen_;
  std::size_t size_ = 0;

 public:
  StageKinds(const ModelSpec& model, const Plan& plan)
      : model_(model), plan_(plan), even_(middle_is_even(model, plan)) {}

  /// Later stages that hold as much are not new. True when this one is.
  bool see(int stage) {
    const StageLayers held = layers_of(model_, plan_, stage);
    for (std::size_t i = 0; i < size_; ++i)
      if (seen_[i].all == held.all && seen_[i].sparse == held.sparse) return false;
    if (size_ < seen_.size()) seen_[size_++] = held;
    return true;
  }
  /// True for the first stage of its kind; also for one of more kinds than are kept.
  bool is_new(int stage) {
    if (stage == 0 || stage == plan_.pp - 1) return true;
    return (!even_ || stage == 1) && see(stage);
  }
};

/// Transformer layers on one pipeline stage.
inline std::int64_t stage_layers(const ModelSpec& model, const Plan& plan, int stage) {
  return layers_of(model, plan, stage).all;
}

}  // namespace trainplan
