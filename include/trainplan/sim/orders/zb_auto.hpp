/// Zero-bubble order of a linear pipeline that keeps a memory limit and follows the durations of the stages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "trainplan/sim/schedule.hpp"

namespace trainplan::sim {

namespace detail {

/// Choices for which no rule is best everywhere; all combinations are tried.
struct ZbAutoSwitches {
  bool early = false;  ///< warm-up forwards end before the first gradient arrives, not only start before it
  bool keep_lead = false;  ///< a stage that is ahead of the next one may leave out a forward
  bool greedy = false;     ///< a hole shorter than W always takes one
};

class ZbAutoRun {
 public:
  ZbAutoRun(const Shape& shape, ZbAutoSwitches switches)
      : shape_(shape), switches_(switches), stages_(static_cast<std::size_t>(shape.stages)) {}

  void run() {
    warm_up();
    for (int i = 1; i < shape_.micro_batches; ++i) next_micro_batch();
    for (std::size_t g = 0; g < stages_.size(); ++g)
      while (owed(g) > 0) weight_gradient(g);
  }

  Ticks longest_span() const {
    Ticks span = 0;
    for (const Stage& s : stages_) span = std::max(span, s.clock - s.start);
    return span;
  }

  Orders orders() const {
    Orders out;
    for (const Stage& s : stages_) out.push_back({s.sequence});
    return out;
  }

 private:
  struct Stage {
    Ticks clock = 0, start = 0, idle = 0;
    std::vector<Ticks> forward_end, gradient_end;  // of each micro-batch so far
    int weight_gradients = 0;
    Sequence sequence;
  };

  Ticks t_f(std::size_t g) const { return shape_.durations.forward[g]; }
  Ticks t_x(std::size_t g) const { return shape_.durations.input_gradient[g]; }
  Ticks t_w(std::size_t g) const { return shape_.durations.weight_gradient[g]; }
  Ticks t_c() const { return shape_.durations.transfer; }
  std::size_t last() const { return stages_.size() - 1; }

  int forwards(std::size_t g) const { return static_cast<int>(stages_[g].forward_end.size()); }
  int gradients(std::size_t g) const { return static_cast<int>(stages_[g].gradient_end.size()); }
  int owed(std::size_t g) const { return gradients(g) - stages_[g].weight_gradients; }

  /// Whole sets and rests of sets, counted apart so that no rounding adds up.
  bool over_limit(int sets, int rests) const { return sets + shape_.after_x * rests > shape_.memory + 1e-9; }

  // ---- warm-up ----

  void warm_up() {
    for (std::size_t g = 0; g <= last(); ++g) forward(g);
    const std::vector<int> further = further_forwards();
    for (std::size_t g = 0; g <= last(); ++g)
      for (int i = 0; i < further[g]; ++i) forward(g);
    for (std::size_t g = stages_.size(); g-- > 0;) input_gradient(g);
  }

  /// Forwards beyond the first that a stage runs while it waits for the first gradient.
  std::vector<int> further_forwards() const {
    std::vector<int> further(stages_.size(), 0);
    Ticks busy_until = stages_[last()].clock, arrival = busy_until;
    for (std::size_t g = last(); g-- > 0;) {
      arrival = t_c() + std::max(busy_until, arrival) + t_x(g + 1);
      busy_until = stages_[g].clock;
      while (fits_in_warm_up(g, further[g] + 1, busy_until, arrival)) {
        busy_until += t_f(g);
        ++further[g];
      }
    }
    // A stage that is as far as the one before it would only wait; with all forwards out there is no wait.
    for (std::size_t g = 1; g <= last(); ++g)
      if (further[g - 1] + 1 < shape_.micro_batches)
        further[g] = std::clamp(further[g - 1] - 1, 0, further[g]);
    return further;
  }

  bool fits_in_warm_up(std::size_t g, int forwards, Ticks start, Ticks arrival) const {
    if (forwards >= shape_.micro_batches || over_limit(forwards + 1, 0)) return false;
    return switches_.early ? start + t_f(g) <= arrival : start < arrival;
  }

  // ---- after it ----

  void next_micro_batch() {
    const std::vector<bool> wanted = wanted_forwards();
    for (std::size_t g = 0; g <= last(); ++g)
      if (wanted[g]) forward(g);
    for (std::size_t g = stages_.size(); g-- > 0;) input_gradient(g);
  }

  std::vector<bool> wanted_forwards() const {
    std::vector<bool> wanted(stages_.size());
    for (std::size_t g = stages_.size(); g-- > 0;)
      wanted[g] = forwards(g) < shape_.micro_batches && (g == last() || wanted[g + 1]) && !keeps_lead(g);
    return wanted;
  }

  /// Whether the next stage has work enough until this one can come back after an input gradient.
  bool keeps_lead(std::size_t g) const {
    if (!switches_.keep_lead || g == last() || forwards(g) - forwards(g + 1) < 2) return false;
    const Ticks clock = stages_[g].clock;
    const Ticks after = stages_[g + 1].clock + t_f(g + 1) + t_x(g + 1) + t_c();
    if (clock >= after) return true;
    return clock + forced(g) * t_w(g) + t_f(g) > after && after - clock <= spare_idle(g);
  }

  /// Weight gradients that must run before the next forward fits.
  int forced(std::size_t g) const {
    int count = 0;
    while (count < owed(g) && over_limit(forwards(g) + 1 - gradients(g), owed(g) - count)) ++count;
    return count;
  }

  /// Idle time that makes no stage idler than the idlest.
  Ticks spare_idle(std::size_t g) const {
    Ticks most = 0;
    for (const Stage& s : stages_) most = std::max(most, s.idle);
    return most - stages_[g].idle;
  }

  // ---- passes ----

  void forward(std::size_t g) {
    Stage& s = stages_[g];
    const int i = forwards(g);
    const Ticks arrival = g > 0 ? stages_[g - 1].forward_end[static_cast<std::size_t>(i)] + t_c() : s.clock;
    fill_until(g, arrival);
    while (owed(g) > 0 && over_limit(forwards(g) + 1 - gradients(g), owed(g))) weight_gradient(g);
    wait_until(g, arrival);
    if (i == 0) first_start(s);
    s.clock += t_f(g);
    s.forward_end.push_back(s.clock);
    s.sequence.push_back({{Work::Forward, i, 0}, {}});
  }

  /// Idle time counts from here, as the span does.
  static void first_start(Stage& s) {
    s.start = s.clock;
    s.idle = 0;
  }

  /// Nobody waits for the gradients of stage 0, so that its weight gradients can go first.
  void input_gradient(std::size_t g) {
    Stage& s = stages_[g];
    const int i = gradients(g);
    const Ticks arrival =
        g < last() ? stages_[g + 1].gradient_end[static_cast<std::size_t>(i)] + t_c() : s.clock;
    if (g == 0 && forwards(g) == shape_.micro_batches)
      while (owed(g) > 0) weight_gradient(g);
    fill_until(g, arrival);
    while (owed(g) > 0 && over_limit(forwards(g) - gradients(g) - 1, owed(g) + 1)) weight_gradient(g);
    wait_until(g, arrival);
    s.clock += t_x(g);
    s.gradient_end.push_back(s.clock);
    s.sequence.push_back({{Work::InputGradient, i, 0}, {}});
  }

  void weight_gradient(std::size_t g) {
    Stage& s = stages_[g];
    s.clock += t_w(g);
    s.sequence.push_back({{Work::WeightGradient, s.weight_gradients++, 0}, {}});
  }

  /// A weight gradient that is longer than the hole is worth its delay on a stage with no idle time to spare.
  void fill_until(std::size_t g, Ticks arrival) {
    Stage& s = stages_[g];
    while (owed(g) > 0 && s.clock + t_w(g) <= arrival) weight_gradient(g);
    const Ticks hole = arrival - s.clock;
    if (owed(g) > 0 && hole > 0 && (switches_.greedy || hole > spare_idle(g))) weight_gradient(g);
  }

  void wait_until(std::size_t g, Ticks arrival) {
    Stage& s = stages_[g];
    if (arrival <= s.clock) return;
    s.idle += arrival - s.clock;
    s.clock = arrival;
  }

  const Shape& shape_;
  ZbAutoSwitches switches_;
  std::vector<Stage> stages_;
};

}  // namespace detail

/// 2401.10241, section 3.1: the shortest span of eight runs. Shape::memory is the limit.
inline Orders zb_auto(const Shape& shape) {
  Orders best;
  Ticks shortest = std::numeric_limits<Ticks>::max();
  for (int bits = 0; bits < 8; ++bits) {
    detail::ZbAutoRun run(
        shape, {.early = (bits & 4) != 0, .keep_lead = (bits & 2) != 0, .greedy = (bits & 1) != 0});
    run.run();
    if (run.longest_span() > shortest) continue;  // of equal spans the last one, which is greedier
    shortest = run.longest_span();
    best = run.orders();
  }
  return best;
}

inline std::optional<Refusal> holds_a_set(const Shape& s) {
  if (s.memory >= 1) return {};
  return Refusal{"memory", static_cast<int>(s.memory), "hold at least one activation set", 1};
}

}  // namespace trainplan::sim
