/// Orders of a V with two chunks a stage that trade activation memory for bubble by one repeated block.
#pragma once

#include <cstddef>
#include <deque>

#include "trainplan/sim/orders/vee_reorder.hpp"

namespace trainplan::sim {

namespace vee {

/// Start slots from one expression for each of F0, F1, X1 and X0.
template <class F0, class F1, class X1, class X0>
Block block(int stages, F0 f0, F1 f1, X1 x1, X0 x0) {
  Block starts;
  for (int g = 0; g < stages; ++g) {
    starts[kF0].push_back(f0(g));
    starts[kF1].push_back(f1(g));
    starts[kX1].push_back(x1(g));
    starts[kX0].push_back(x0(g));
  }
  return starts;
}

/// Weight gradients go where the table is empty, those of chunk 1 first: their sets have waited longer.
inline Sequence sequence(const std::vector<Entry>& row) {
  Sequence out;
  std::deque<Pass> owed[2];
  const auto pay = [&] {
    auto& from = owed[1].empty() ? owed[0] : owed[1];
    if (from.empty()) return false;
    out.push_back({from.front(), {}});
    from.pop_front();
    return true;
  };
  for (const Entry& entry : row) {
    if (entry.kind == kEmpty) {
      pay();
      continue;
    }
    const int chunk = entry.kind == kF1 || entry.kind == kX1 ? 1 : 0;
    const Work work = is_forward(entry.kind) ? Work::Forward : Work::InputGradient;
    out.push_back({{work, entry.micro_batch, chunk}, {}});
    if (work == Work::InputGradient) owed[chunk].push_back({Work::WeightGradient, entry.micro_batch, chunk});
  }
  while (pay()) {
  }
  return out;
}

/// First with the weight gradients in place; then the drain once more without them, since where they stand
/// after the first round keeps other passes from moving.
inline Table reordered(const Block& block, int micro_batches) {
  Table table(block, micro_batches);
  table.add_weight_gradients();
  Reorder(table, WeightGradients::Placed).run(Part::WarmUpAndDrain);
  table.squeeze();
  table.remove_weight_gradients();
  Reorder(table, WeightGradients::Implied).run(Part::Drain);
  table.add_weight_gradients();
  table.squeeze();
  table.remove_weight_gradients();
  return table;
}

inline Orders orders(const Block& block, int micro_batches) {
  const Table table = reordered(block, micro_batches);
  Orders out;
  for (std::size_t g = 0; g < table.stages(); ++g) out.push_back({sequence(table.row(g))});
  return out;
}

inline Block min_block(int p) {
  const int delay = p % 3 == 0 ? 2 : 0;  // without it the residues of two passes coincide
  return block(
      p, [](int g) { return g; }, [=](int g) { return 2 * p - 1 - g; },
      [=](int g) { return 2 * p + delay + g; }, [=](int g) { return 4 * p + delay - 1 - g; });
}

inline Block half_block(int p) {
  const int delay = p % 2 == 0 ? 3 : 0;  // without it the residues of two passes coincide
  return block(
      p, [](int g) { return 2 * g; }, [=](int g) { return 3 * p - 2 - g; },
      [=](int g) { return 3 * p - 1 + delay + 2 * g; }, [=](int g) { return 6 * p - 2 + delay - g; });
}

inline Block zero_bubble_block(int p) {
  const int turn = 4 * (p - 1) + 1, gradient = 6 * (p - 1) + 2, back = gradient + turn;
  return block(
      p, [](int g) { return 4 * g; }, [=](int g) { return turn + 2 * (p - 1 - g); },
      [=](int g) { return gradient + 4 * g; }, [=](int g) { return back + 2 * (p - 1 - g); });
}

}  // namespace vee

/// 2405.15362: a third of the activation memory of 1F1B.
inline Orders v_min(const Shape& shape) {
  return vee::orders(vee::min_block(shape.stages), shape.micro_batches);
}

/// 2405.15362: half of the activation memory of 1F1B.
inline Orders v_half(const Shape& shape) {
  return vee::orders(vee::half_block(shape.stages), shape.micro_batches);
}

/// 2405.15362: the activation memory of 1F1B, and no bubble when F, X and W take the same time.
inline Orders v_zb(const Shape& shape) {
  return vee::orders(vee::zero_bubble_block(shape.stages), shape.micro_batches);
}

}  // namespace trainplan::sim
