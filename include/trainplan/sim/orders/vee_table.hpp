/// A block of unit slots, repeated for every micro-batch of a V, reordered and squeezed into an order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "trainplan/sim/slot.hpp"

namespace trainplan::sim::vee {

/// Work in the order in which a micro-batch meets it on a stage; the digit is the chunk.
enum Kind : std::int8_t { kF0, kF1, kX1, kX0, kW1, kW0, kEmpty };

inline constexpr int kPeriod = 6;

/// First slot of F0, F1, X1 and X0 on each stage; every further micro-batch starts a period later.
using Block = std::array<std::vector<int>, 4>;

struct Entry {
  Kind kind = kEmpty;
  int micro_batch = 0;
};

inline bool is_forward(Kind kind) { return kind == kF0 || kind == kF1; }
inline bool is_input_gradient(Kind kind) { return kind == kX0 || kind == kX1; }
inline bool is_weight_gradient(Kind kind) { return kind == kW0 || kind == kW1; }
inline Kind weight_gradient_of(Kind input_gradient) { return input_gradient == kX1 ? kW1 : kW0; }
inline Kind input_gradient_of(Kind weight_gradient) { return weight_gradient == kW1 ? kX1 : kX0; }

/// What a stage holds after a slot.
struct Held {
  int sets = 0;  ///< forwards whose weight gradient has not run
  int owed = 0;  ///< weight gradients that could run

  friend bool operator==(const Held&, const Held&) = default;
};

/// Slots of every stage, and where each pass is.
class Table {
 public:
  Table(const Block& block, int micro_batches)
      : micro_batches_(micro_batches), rows_(block.front().size()), slots_(6) {
    for (auto& of_kind : slots_)
      of_kind.assign(rows_.size(), std::vector<int>(static_cast<std::size_t>(micro_batches), -1));
    for (const Kind kind : {kF0, kF1, kX1, kX0})
      for (std::size_t g = 0; g < rows_.size(); ++g)
        for (int i = 0; i < micro_batches; ++i)
          put({kind, i}, g, block[static_cast<std::size_t>(kind)][g] + kPeriod * i);
  }

  std::size_t stages() const { return rows_.size(); }
  int micro_batches() const { return micro_batches_; }
  const std::vector<Entry>& row(std::size_t stage) const { return rows_[stage]; }
  int length(std::size_t stage) const { return static_cast<int>(rows_[stage].size()); }
  Entry at(std::size_t stage, int slot) const { return rows_[stage][static_cast<std::size_t>(slot)]; }

  void put(Entry entry, std::size_t stage, int slot) {
    if (slot >= length(stage)) rows_[stage].resize(static_cast<std::size_t>(slot) + 1);
    rows_[stage][static_cast<std::size_t>(slot)] = entry;
    if (entry.kind != kEmpty) slot_of(entry, stage) = slot;
  }

  void swap(std::size_t stage, int a, int b) {
    const Entry first = at(stage, a), second = at(stage, b);
    put(second, stage, a);
    put(first, stage, b);
  }

  /// Last slot of what `entry` needs; -1 when it needs nothing.
  int after(Entry entry, std::size_t stage) const {
    if (is_weight_gradient(entry.kind))
      return slot_of({input_gradient_of(entry.kind), entry.micro_batch}, stage);
    int last = -1;
    if (entry.kind != kF0) last = slot_of({static_cast<Kind>(entry.kind - 1), entry.micro_batch}, stage);
    if (entry.micro_batch > 0) last = std::max(last, slot_of({entry.kind, entry.micro_batch - 1}, stage));
    const bool descends = entry.kind == kF0 || entry.kind == kX1;
    if (descends && stage > 0) last = std::max(last, slot_of(entry, stage - 1));
    if (!descends && stage + 1 < stages()) last = std::max(last, slot_of(entry, stage + 1));
    return last;
  }

  /// Calls visit(entry, stage, slot) by slot, then by stage, of the table as it is now.
  template <class Visit>
  void for_each(Visit visit) const {
    const std::vector<std::vector<Entry>> now = rows_;
    std::size_t longest = 0;
    for (const auto& row : now) longest = std::max(longest, row.size());
    for (std::size_t slot = 0; slot < longest; ++slot)
      for (std::size_t g = 0; g < now.size(); ++g)
        if (slot < now[g].size() && now[g][slot].kind != kEmpty)
          visit(now[g][slot], g, static_cast<int>(slot));
  }

  /// Every empty slot runs the weight gradient that has waited longest; the rest run at the end.
  void add_weight_gradients() {
    for (std::size_t g = 0; g < stages(); ++g) {
      std::deque<Entry> owed;
      for (int slot = 0; slot < length(g) || !owed.empty(); ++slot) {
        const Entry entry = slot < length(g) ? at(g, slot) : Entry{};
        if (is_input_gradient(entry.kind))
          owed.push_back({weight_gradient_of(entry.kind), entry.micro_batch});
        if (entry.kind != kEmpty || owed.empty()) continue;
        put(owed.front(), g, slot);
        owed.pop_front();
      }
    }
  }

  void remove_weight_gradients() {
    for (auto& row : rows_) {
      for (Entry& entry : row)
        if (is_weight_gradient(entry.kind)) entry = {};
      while (!row.empty() && row.back().kind == kEmpty) row.pop_back();
    }
  }

  /// Every pass starts as soon as its stage and its inputs allow, in the order of the table.
  void squeeze() {
    Table out = *this;
    for (auto& row : out.rows_) row.clear();
    for_each([&](Entry entry, std::size_t stage, int) {
      out.put(entry, stage, std::max(out.length(stage), out.after(entry, stage) + 1));
    });
    *this = std::move(out);
  }

 private:
  int slot_of(Entry entry, std::size_t stage) const {
    return slots_[static_cast<std::size_t>(entry.kind)][stage][static_cast<std::size_t>(entry.micro_batch)];
  }
  int& slot_of(Entry entry, std::size_t stage) {
    return slots_[static_cast<std::size_t>(entry.kind)][stage][static_cast<std::size_t>(entry.micro_batch)];
  }

  int micro_batches_;
  std::vector<std::vector<Entry>> rows_;
  std::vector<std::vector<std::vector<int>>> slots_;  // of a kind, a stage and a micro-batch
};

}  // namespace trainplan::sim::vee
