/// Zero-bubble order of a V with two chunks a stage, laid out by hand for equal F, X and W.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "trainplan/sim/schedule.hpp"

namespace trainplan::sim {

namespace detail {

/// The sequence of one stage. Descending is chunk 0, which the forward meets first; ascending is chunk 1.
class ZbvStage {
 public:
  ZbvStage(const Shape& shape, int stage)
      : stages_(shape.stages),
        stage_(stage),
        micro_batches_(shape.micro_batches),
        planned_(std::max(shape.micro_batches, 2 * shape.stages - 1)) {}

  Sequence write() {
    warm_up();
    steady();
    drain();
    return sequence_;
  }

 private:
  static constexpr int kDescending = 0, kAscending = 1;

  void warm_up() {
    for (int i = 0; i < 2 * (stages_ - stage_) - 1; ++i) add(Work::Forward, kDescending);
    for (int i = 0; i < stage_; ++i) {
      add(Work::Forward, kAscending);
      add(Work::Forward, kDescending);
    }
    for (int i = 0; i < stages_ - stage_; ++i) whole_ascent();
  }

  void steady() {
    while (count(Work::Forward, kAscending) < count(Work::Forward, kDescending) ||
           count(Work::Forward, kDescending) < planned_) {
      if (count(Work::Forward, kDescending) < planned_) add(Work::Forward, kDescending);
      add(Work::InputGradient, kDescending);
      add(Work::WeightGradient, kDescending);
      whole_ascent();
    }
  }

  void drain() {
    for (int i = 0; i < stage_; ++i) {
      add(Work::InputGradient, kDescending);
      add(Work::InputGradient, kAscending);
    }
    for (int i = 0; i < stages_ - stage_; ++i) {
      add(Work::InputGradient, kDescending);
      add(Work::WeightGradient, kDescending);
    }
    for (const int chunk : {kAscending, kDescending})
      while (count(Work::WeightGradient, chunk) < count(Work::InputGradient, chunk))
        add(Work::WeightGradient, chunk);
  }

  void whole_ascent() {
    for (const Work work : {Work::Forward, Work::InputGradient, Work::WeightGradient}) add(work, kAscending);
  }

  /// The pattern needs 2p - 1 micro-batches; with fewer, the places of the missing ones stay out.
  void add(Work work, int chunk) {
    const int micro_batch = count(work, chunk)++;
    if (micro_batch < micro_batches_) sequence_.push_back({{work, micro_batch, chunk}, {}});
  }

  int& count(Work work, int chunk) {
    return counts_[static_cast<std::size_t>(work)][static_cast<std::size_t>(chunk)];
  }

  int stages_, stage_, micro_batches_, planned_;
  std::array<std::array<int, 2>, 4> counts_{};
  Sequence sequence_;
};

}  // namespace detail

/// 2401.10241, section 6: no bubble and p sets on every stage when F, X and W take the same time.
inline Orders zbv(const Shape& shape) {
  return one_sequence_each(shape, [&](int g) { return detail::ZbvStage(shape, g).write(); });
}

}  // namespace trainplan::sim
