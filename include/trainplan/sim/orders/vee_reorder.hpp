/// Moves the passes of warm-up and drain forward without holding more sets than the steady part does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainplan/sim/orders/vee_table.hpp"

namespace trainplan::sim::vee {

/// Whether weight gradients stand in the table or are taken to run in its empty slots.
enum class WeightGradients : std::uint8_t { Placed, Implied };

/// What moves; the steady part between warm-up and drain stays as it is.
enum class Part : std::uint8_t { WarmUpAndDrain, Drain };

class Reorder {
 public:
  Reorder(Table& table, WeightGradients weight_gradients)
      : table_(table), weight_gradients_(weight_gradients), held_(table.stages()) {
    for (std::size_t g = 0; g < table.stages(); ++g) {
      held_[g].resize(static_cast<std::size_t>(table.length(g)));
      remember(g, 0, table.length(g));
      for (const Held& held : held_[g]) cap_ = std::max(cap_, held.sets);
    }
  }

  /// The steady part reaches from the first X0 of stage 0 to the first visit of a last F0. In the drain the
  /// weight gradients keep their places; what they leave to win is won when they are placed anew.
  void run(Part part) {
    bool warm_up = true, drain = false;
    table_.for_each([&](Entry entry, std::size_t stage, int slot) {
      if (entry.kind == kX0 && stage == 0) warm_up = false;
      const bool moves = drain ? !is_weight_gradient(entry.kind) : warm_up && part == Part::WarmUpAndDrain;
      if (moves) move_forward(entry, stage, slot);
      if (entry.kind == kF0 && entry.micro_batch == table_.micro_batches() - 1) drain = true;
    });
  }

 private:
  void move_forward(Entry entry, std::size_t stage, int slot) {
    for (int to = table_.after(entry, stage) + 1; to < slot; ++to) {
      if (table_.at(stage, to).kind != kEmpty) continue;
      table_.swap(stage, to, slot);
      if (fits(stage, to, slot)) return remember(stage, to, slot);
      table_.swap(stage, to, slot);
    }
  }

  /// Past the slot that the pass came from, an unchanged state means that nothing changes any more.
  bool fits(std::size_t stage, int from, int old_slot) const {
    Held held = before(stage, from);
    for (int slot = from; slot < table_.length(stage); ++slot) {
      held = next(held, table_.at(stage, slot).kind);
      if (held.sets > cap_) return false;
      if (slot >= old_slot && held == held_[stage][static_cast<std::size_t>(slot)]) return true;
    }
    return true;
  }

  void remember(std::size_t stage, int from, int old_slot) {
    Held held = before(stage, from);
    for (int slot = from; slot < table_.length(stage); ++slot) {
      held = next(held, table_.at(stage, slot).kind);
      Held& was = held_[stage][static_cast<std::size_t>(slot)];
      if (slot >= old_slot && held == was) return;
      was = held;
    }
  }

  Held before(std::size_t stage, int slot) const {
    return slot == 0 ? Held{} : held_[stage][static_cast<std::size_t>(slot) - 1];
  }

  Held next(Held held, Kind kind) const {
    if (is_forward(kind)) ++held.sets;
    if (is_input_gradient(kind)) ++held.owed;
    const bool implied = weight_gradients_ == WeightGradients::Implied && kind == kEmpty && held.owed > 0;
    if (is_weight_gradient(kind) || implied) {
      --held.sets;
      --held.owed;
    }
    return held;
  }

  Table& table_;
  WeightGradients weight_gradients_;
  int cap_ = 0;
  std::vector<std::vector<Held>> held_;  // after each slot of a stage
};

}  // namespace trainplan::sim::vee
