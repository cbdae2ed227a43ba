/// From the ledgers of a plan to a pipeline on which schedules are tried: times and bytes of every chunk.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "trainplan/cost/passes.hpp"
#include "trainplan/plan/stages.hpp"
#include "trainplan/sim/cut.hpp"
#include "trainplan/spec/pipeline.hpp"

namespace trainplan {

/// room: what activations may take on the tightest stage below the gate, for each placement; a second copy of
/// the parameters takes its state from it. head_saved: kept from a forward pass of the head on.
struct PlannedPipeline {
  sim::Pipeline pipeline{};
  std::array<double, sim::kPlacements> room{};
  double transfer = 0, update = 0, message = 0, head_saved = 0;
};

namespace detail {

class PlannedCuts {
  using Layers = std::vector<LayerRange>;

  /// A chunk of the model, in the order of the flow.
  struct Position {
    PassSeconds passes{};
    double bytes = 0;
  };

  const Problem& problem_;
  Plan plan_;
  const PipelineSpec& options_;
  Eval rec_{};
  Inputs<double> in_;
  PlanCost<double> cost_;
  std::vector<MemoryCost<double>> memory_;  // of each stage
  BlockPasses blocks_{};
  double dense_ = 0, sparse_ = 0, kept_ = 0, further_saved_ = 0, head_saved_ = 0, message_ = 0;

  /// Every kind of block that a cut of this model may hold.
  StageBlocks every_block() const {
    const ModelSpec& m = problem_.model();
    const double sparse = m.is_sparse() ? 1 : 0, dense = sparse == 0 || m.sparse_layers() < m.layers ? 1 : 0;
    return {.blocks = {dense, dense, sparse, sparse}, .heads = 1, .further = 1};
  }

  /// A layer of either kind, from the stages that hold it.
  void make_sizes() {
    for (int g = 0; g < plan_.pp; ++g) {
      const MemoryCost<double>& memory = memory_[static_cast<std::size_t>(g)];
      const auto& act = memory.activations;
      const LayerMix mix = memory.params.mix;
      const double all = memory.params.stage_layers.num(), of_sparse = memory.params.stage_sparse.num();
      if (mix.sparse) sparse_ = act.sparse_layer.num();
      if (mix.dense && !mix.sparse) dense_ = act.layer.num();
      if (mix.dense && mix.sparse && all > of_sparse)
        dense_ = (all * act.layer.num() - of_sparse * sparse_) / (all - of_sparse);
      kept_ = act.kept.num();
      if (g + 1 < plan_.pp) continue;
      const auto again = plan_.recompute == Recompute::Full ? memory.params.stage_layers
                                                            : min(act.recomputed, memory.params.stage_layers);
      further_saved_ = std::max(0.0, (act.saved - saved_activations(act.in_flight, memory.params.stage_layers,
                                                                    again, act.layer, act.kept))
                                         .num());
      if (problem_.recipe.mtp_layers == 0) further_saved_ = 0;
      const double norm =
          activation_tensor(act.tokens, 2.0 * in_.hidden, in_.element, hidden_ways(in_, plan_)).num();
      head_saved_ =
          norm + logits_bytes(act.tokens, memory.params.padded_vocabulary, in_.element, in_.tp).num();
    }
    message_ = (layer_message_bytes(cost_.memory.activations.tokens, in_.hidden, in_.element) / in_.tp).num();
  }

  int chunks() const { return static_cast<int>(options_.chunks.value_or(plan_.vpp > 1 ? plan_.vpp : 2)); }

  /// How a placement cuts the layers; the embedding and the loss count as the plan has it.
  Layers layers(sim::Placement placement) const {
    const std::int64_t all = problem_.model().layers;
    Plan cut = plan_;
    cut.vpp = placement == sim::Placement::Loop ? static_cast<std::uint16_t>(chunks()) : 1;
    if (placement == sim::Placement::Vee) {
      cut.pp = static_cast<std::uint16_t>(2 * plan_.pp);
      if (cut.layout == Layout::FirstAndLast) cut.layout = Layout::Equal;
    }
    Layers out;
    for (int chunk = 0; chunk < cut.vpp; ++chunk)
      for (int stage = 0; stage < cut.pp; ++stage) out.push_back(chunk_layers(all, cut, stage, chunk));
    return out;
  }

  Position position(const LayerRange& held, bool last, double again) const {
    const ModelSpec& m = problem_.model();
    const double of_sparse = static_cast<double>(m.sparse_layers(held.first, held.last)),
                 of_dense = static_cast<double>(held.size()) - of_sparse;
    Position out;
    const auto layers_of_kind = [&](double dense, double sparse) {
      out.passes.add(dense * (1 - again), blocks_.of[0]);
      out.passes.add(dense * again, blocks_.of[1]);
      out.passes.add(sparse * (1 - again), blocks_.of[2]);
      out.passes.add(sparse * again, blocks_.of[3]);
    };
    layers_of_kind(of_dense, of_sparse);
    out.bytes =
        (1 - again) * (of_dense * dense_ + of_sparse * sparse_) + again * (of_dense + of_sparse) * kept_;
    if (!last) return out;
    const auto further = static_cast<double>(problem_.recipe.mtp_layers);
    const bool last_sparse = m.kind(m.layers - 1).sparse;
    layers_of_kind(last_sparse ? 0 : further, last_sparse ? further : 0);
    out.passes.add(further, blocks_.further);
    out.passes.add(1 + further, blocks_.head);
    out.bytes += further_saved_ + (1 + further) * head_saved_;
    return out;
  }

  /// Share of the layers of each stage that are recomputed as a whole.
  std::vector<double> again(const sim::Map& map, const Layers& held) const {
    std::vector<double> out(static_cast<std::size_t>(map.stages()),
                            plan_.recompute == Recompute::Full ? 1 : 0);
    if (plan_.recompute != Recompute::Layers) return out;
    std::vector<double> all(out.size());
    for (int q = 0; q < map.positions(); ++q)
      all[static_cast<std::size_t>(map.seat(q).stage)] +=
          static_cast<double>(held[static_cast<std::size_t>(q)].size()) +
          (map.last(q) ? static_cast<double>(problem_.recipe.mtp_layers) : 0);
    for (std::size_t g = 0; g < out.size(); ++g)
      out[g] = all[g] > 0 ? std::min<double>(plan_.recompute_layers, all[g]) / all[g] : 0;
    return out;
  }

  std::optional<sim::Refusal> refusal(sim::Placement placement, const Layers& held) const {
    const int each = static_cast<int>(problem_.model().layers / plan_.pp);
    const bool empty = std::ranges::any_of(held, [](const LayerRange& r) { return r.size() < 1; });
    const bool uneven = plan_.layout == Layout::FirstAndLast &&
                        (plan_.first_layers % chunks() != 0 || plan_.last_layers % chunks() != 0 ||
                         middle_layers(problem_.model().layers, plan_) % chunks() != 0);
    if (placement == sim::Placement::Loop && uneven)
      return sim::Refusal{"chunks", chunks(), "divide the layers of every stage", 1};
    if (!empty) return {};
    if (placement == sim::Placement::Loop)
      return sim::Refusal{"chunks", chunks(), "leave a layer for every chunk of a stage", std::max(1, each)};
    return sim::Refusal{"layers", static_cast<int>(problem_.model().layers),
                        "be two for each stage, at least", 2 * plan_.pp};
  }

  sim::Shape shape(sim::Placement placement) const {
    sim::Shape out;
    out.stages = plan_.pp;
    out.micro_batches = static_cast<int>(micro_batches(problem_, plan_));
    out.chunks = sim::chunks_of(placement, chunks());
    out.group = static_cast<int>(options_.group.value_or(plan_.pp));
    out.lead = static_cast<int>(options_.lead.value_or(0));
    out.after_x = options_.kept_for_weights.value_or(1);
    return out;
  }

 public:
  PlannedCuts(const Problem& problem, const Plan& plan, const PipelineSpec& options)
      : problem_(problem),
        plan_(plan),
        options_(options),
        in_(bind(rec_, problem, plan)),
        cost_(evaluate(problem, plan)) {
    for (int g = 0; g < plan_.pp; ++g) memory_.push_back(memory_cost(rec_, in_, problem_, plan_, g));
    blocks_ = block_passes(problem, plan, every_block());
    make_sizes();
  }

  double message() const { return message_; }
  double transfer() const { return options_.transfer.value_or(blocks_.message); }
  double head_saved() const { return head_saved_; }
  /// After the last gradient: what shows of the gradients' and weights' traffic, then the optimizer.
  double update() const {
    return options_.update.value_or(
        (cost_.step.optimizer + cost_.step.exposed_data + cost_.step.exposed_tied).num());
  }

  /// Below the gate on the tightest stage, beside everything that is no activation. A phase of the step that
  /// holds none may leave more.
  double room() const {
    double out = 0;
    const double slack = 1 + problem_.calibration().allocator_slack.value;
    for (std::size_t g = 0; g < memory_.size(); ++g) {
      const MemoryCost<double>& memory = memory_[g];
      const double here = memory.activations.saved.num() + (cost_.gate - memory.device).num() / slack +
                          (g + 1 == memory_.size() ? head_saved_ : 0);
      out = g == 0 ? here : std::min(out, here);
    }
    return std::max(0.0, out);
  }
  double state() const { return cost_.memory.state.num(); }

  sim::Cut cut(sim::Placement placement) const {
    sim::Cut out{.shape = shape(placement)};
    const sim::Map map(placement, out.shape);
    const Layers held = layers(placement);
    if ((out.refusal = refusal(placement, held))) return out;
    const std::vector<double> recomputed = again(map, held);
    const auto stages = static_cast<std::size_t>(map.stages()),
               chunks = static_cast<std::size_t>(map.chunks());
    const sim::Ticks sent = sim::whole_picoseconds(transfer());
    out.times.chunk.assign(stages, std::vector<sim::PassTicks>(chunks));
    out.times.activation.assign(stages, sent);
    out.times.gradient.assign(stages, sent);
    out.times.overlap.assign(stages, 0);
    out.times.update = sim::whole_picoseconds(update());
    out.sizes = sim::one_for_each(map, {});
    out.sizes.activation_message = out.sizes.gradient_message =
        static_cast<sim::Size>(std::llround(message_));
    for (int q = 0; q < map.virtual_stages(); ++q) {
      const sim::Seat seat = map.seat(q);
      const auto stage = static_cast<std::size_t>(seat.stage), chunk = static_cast<std::size_t>(seat.chunk);
      const int at = q % map.positions();
      const Position p = position(held[static_cast<std::size_t>(at)], map.last(q),
                                  recomputed[static_cast<std::size_t>(map.seat(at).stage)]);
      out.times.chunk[stage][chunk] = {sim::whole_picoseconds(p.passes.forward),
                                       sim::whole_picoseconds(p.passes.input_gradient),
                                       sim::whole_picoseconds(p.passes.weight_gradient)};
      out.sizes.saved[stage][chunk] = {static_cast<sim::Size>(std::llround(p.bytes)),
                                       static_cast<sim::Size>(std::llround(p.bytes * out.shape.after_x))};
    }
    set_durations(map, sent, out);
    set_overlap(map, out);
    return out;
  }

 private:
  /// What a pair saves of the passes of a full stage; a chunk has its part of it.
  void set_overlap(const sim::Map& map, sim::Cut& out) const {
    if (!options_.pair) return;
    const sim::Durations& d = out.shape.durations;
    for (std::size_t g = 0; g < out.times.overlap.size(); ++g) {
      const sim::Ticks alone = d.forward[g] + d.input_gradient[g] + d.weight_gradient[g];
      out.times.overlap[g] =
          std::max(sim::Ticks{0}, alone - sim::whole_picoseconds(*options_.pair)) / map.chunks_of_copy();
    }
  }

  /// Of full stages, for orders that look at them; of two copies one counts.
  void set_durations(const sim::Map& map, sim::Ticks sent, sim::Cut& out) const {
    sim::Durations& d = out.shape.durations;
    d.transfer = sent;
    double largest = 0;
    for (std::size_t g = 0; g < out.times.chunk.size(); ++g) {
      sim::PassTicks all;
      double bytes = 0;
      for (std::size_t c = 0; c < static_cast<std::size_t>(map.chunks_of_copy()); ++c) {
        all.forward += out.times.chunk[g][c].forward;
        all.input_gradient += out.times.chunk[g][c].input_gradient;
        all.weight_gradient += out.times.chunk[g][c].weight_gradient;
        bytes += static_cast<double>(out.sizes.saved[g][c].whole);
      }
      d.forward.push_back(all.forward);
      d.input_gradient.push_back(all.input_gradient);
      d.weight_gradient.push_back(all.weight_gradient);
      largest = std::max(largest, bytes);
    }
    out.shape.memory = options_.memory_sets.value_or(
        options_.memory_budget && largest > 0
            ? std::clamp((*options_.memory_budget - 4 * message_) / largest, 0.0, 1e6)
            : static_cast<double>(plan_.pp));
  }
};

}  // namespace detail

/// The plan has more than one stage. options: chunks, group, lead, limits, and what lies over the ledgers.
inline PlannedPipeline planned_pipeline(const Problem& problem, const Plan& plan,
                                        const PipelineSpec& options) {
  const detail::PlannedCuts cuts(problem, plan, options);
  PlannedPipeline out;
  out.pipeline.sized = true;
  for (const sim::Placement p : sim::kEveryPlacement) out.pipeline.cut(p) = cuts.cut(p);
  const double room = cuts.room();
  out.room.fill(room);
  out.room[static_cast<std::size_t>(sim::Placement::TwoDirections)] = std::max(0.0, room - cuts.state());
  out.transfer = cuts.transfer();
  out.update = cuts.update();
  out.message = cuts.message();
  out.head_saved = cuts.head_saved();
  return out;
}

}  // namespace trainplan
