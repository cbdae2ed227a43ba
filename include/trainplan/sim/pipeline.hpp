/// Runs the orders of a pipeline on a clock of whole ticks.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "trainplan/sim/complete.hpp"
#include "trainplan/sim/fault.hpp"
#include "trainplan/sim/placement.hpp"
#include "trainplan/sim/slot.hpp"
#include "trainplan/sim/timeline.hpp"
#include "trainplan/sim/times.hpp"

namespace trainplan::sim {

using Outcome = std::variant<Timeline, Fault>;

namespace detail {

/// The head of a sequence whose inputs all have a time.
struct Candidate {
  Ticks start;
  int rank, letter, virtual_stage, micro_batch;
  int stage, sequence;

  auto key() const { return std::tie(start, rank, letter, virtual_stage, micro_batch); }
  friend bool operator>(const Candidate& a, const Candidate& b) { return a.key() > b.key(); }
};

/// List scheduling without preemption: of all heads that can be given a time, the earliest starts next; at
/// the same moment gradients of inputs go before forwards and gradients of weights come last.
///
/// A link is fed by one stage, whose slots end one after the other; so first come, first served is the order
/// in which they are sent, and a message gets its times together with the pass that makes it.
class Run {
  static constexpr Ticks kUnknown = -1;
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  struct Head {
    std::size_t next = 0;
    bool queued = false;
  };
  /// Of one micro-batch in one virtual stage.
  struct State {
    Ticks forward_end = kUnknown, input_gradient_end = kUnknown;
    Ticks activation = kUnknown, gradient = kUnknown;  // when the inputs are there
    std::size_t activation_message = kNone, gradient_message = kNone;
  };

  const Orders& orders_;
  const Map map_;
  const Times& times_;
  std::vector<State> states_;
  std::vector<std::vector<Head>> heads_;
  std::vector<Ticks> stage_free_;
  std::vector<std::array<Ticks, 2>> link_free_;  // to the next stage and to the one before
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue_;
  Timeline out_;

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  State& state(int virtual_stage, int micro_batch) { return states_[map_.index(virtual_stage, micro_batch)]; }

  /// When the inputs of a pass are there; unknown while one of them is.
  Ticks ready(int stage, const Pass& p) {
    const int q = map_.virtual_stage(stage, p.chunk);
    const State& s = state(q, p.micro_batch);
    const auto both = [](Ticks a, Ticks b) {
      return a == kUnknown || b == kUnknown ? kUnknown : std::max(a, b);
    };
    switch (p.work) {
      case Work::Forward: return map_.first(q) ? 0 : s.activation;
      case Work::Backward:
      case Work::InputGradient: return map_.last(q) ? s.forward_end : both(s.forward_end, s.gradient);
      case Work::WeightGradient: return s.input_gradient_end;
    }
    return kUnknown;
  }

  Ticks ready(int stage, const Slot& slot) {
    const Ticks first = ready(stage, slot.first);
    if (!slot.second || first == kUnknown) return first;
    const Ticks second = ready(stage, *slot.second);
    return second == kUnknown ? kUnknown : std::max(first, second);
  }

  Candidate candidate(int stage, int sequence, const Pass& p, Ticks start) const {
    constexpr int kRank[] = {3, 2, 2, 4};  // of Work
    constexpr int kLetter[] = {'F', 'B', 'X', 'W'};
    const auto work = static_cast<std::size_t>(p.work);
    return {start,         kRank[work], kLetter[work], map_.virtual_stage(stage, p.chunk),
            p.micro_batch, stage,       sequence};
  }

  /// Queues the heads of a stage that have come to be ready.
  void offer(int stage) {
    for (std::size_t i = 0; i < heads_[at(stage)].size(); ++i) {
      Head& head = heads_[at(stage)][i];
      const Sequence& sequence = orders_[at(stage)][i];
      if (head.queued || head.next == sequence.size()) continue;
      const Slot& slot = sequence[head.next];
      const Ticks inputs = ready(stage, slot);
      if (inputs == kUnknown) continue;
      head.queued = true;
      queue_.push(
          candidate(stage, static_cast<int>(i), slot.first, std::max(inputs, stage_free_[at(stage)])));
    }
  }

  /// Hands a result to a neighbour of the flow: at once on the same stage, else by a message.
  void send(Carried carried, int from, int to, int micro_batch, Ticks end) {
    State& receiver = state(to, micro_batch);
    const bool forward = carried == Carried::Activation;
    Ticks& arrival = forward ? receiver.activation : receiver.gradient;
    const Seat sender = map_.seat(from), seat = map_.seat(to);
    arrival = end;
    if (sender.stage == seat.stage) return;

    const bool up = seat.stage == (sender.stage + 1) % map_.stages();
    Ticks& free = link_free_[at(sender.stage)][up ? 0 : 1];
    const std::size_t boundary = at(map_.boundary(sender.stage, seat.stage));
    const Ticks start = std::max(free, end);
    free = arrival = start + (forward ? times_.activation : times_.gradient)[boundary];
    (forward ? receiver.activation_message : receiver.gradient_message) = out_.messages.size();
    out_.messages.push_back(
        {carried, sender.stage, seat.stage, seat.chunk, micro_batch, end, start, arrival, arrival});
    offer(seat.stage);
  }

  void take(std::size_t message, Ticks start) {
    if (message != kNone) out_.messages[message].taken = start;
  }

  void finish(int stage, const Pass& p, Ticks start, Ticks end) {
    const int q = map_.virtual_stage(stage, p.chunk);
    State& s = state(q, p.micro_batch);
    switch (p.work) {
      case Work::Forward:
        s.forward_end = end;
        take(s.activation_message, start);
        if (!map_.last(q)) send(Carried::Activation, q, q + 1, p.micro_batch, end);
        break;
      case Work::Backward:
      case Work::InputGradient:
        s.input_gradient_end = end;
        take(s.gradient_message, start);
        if (!map_.first(q)) send(Carried::Gradient, q, q - 1, p.micro_batch, end);
        break;
      case Work::WeightGradient: break;
    }
  }

  void start(const Candidate& c) {
    const Slot& slot = orders_[at(c.stage)][at(c.sequence)][heads_[at(c.stage)][at(c.sequence)].next];
    const Ticks length = times_.of(c.stage, slot), end = c.start + length;
    stage_free_[at(c.stage)] = end;
    out_.busy[at(c.stage)] += length;
    out_.gradient_ready = std::max(out_.gradient_ready, end);
    out_.stages[at(c.stage)].push_back({slot, c.start, end, c.sequence});
    ++heads_[at(c.stage)][at(c.sequence)].next;
    heads_[at(c.stage)][at(c.sequence)].queued = false;

    // Of a pair, the activations leave before the gradients.
    const bool swapped = slot.second && slot.second->work == Work::Forward;
    if (swapped) finish(c.stage, *slot.second, c.start, end);
    finish(c.stage, slot.first, c.start, end);
    if (slot.second && !swapped) finish(c.stage, *slot.second, c.start, end);
    offer(c.stage);
  }

  std::optional<Fault> blocked() const {
    for (std::size_t g = 0; g < heads_.size(); ++g)
      for (std::size_t i = 0; i < heads_[g].size(); ++i)
        if (heads_[g][i].next < orders_[g][i].size())
          return Fault{FaultKind::Blocked, static_cast<int>(g), orders_[g][i][heads_[g][i].next].first};
    return {};
  }

  void reserve() {
    for (std::size_t g = 0; g < orders_.size(); ++g) {
      heads_.emplace_back(orders_[g].size());
      std::size_t slots = 0;
      for (const Sequence& sequence : orders_[g]) slots += sequence.size();
      out_.stages[g].reserve(slots);
    }
    out_.messages.reserve(2 * map_.size());
  }

 public:
  Run(const Orders& orders, const Map& map, const Times& times)
      : orders_(orders),
        map_(map),
        times_(times),
        states_(map.size()),
        stage_free_(orders.size(), 0),
        link_free_(orders.size(), {0, 0}) {
    out_.stages.resize(orders.size());
    out_.busy.resize(orders.size(), 0);
    reserve();
  }

  Outcome operator()() {
    for (int g = 0; g < map_.stages(); ++g) offer(g);
    while (!queue_.empty()) {
      Candidate next = queue_.top();
      queue_.pop();
      const Ticks free = stage_free_[at(next.stage)];
      if (next.start < free) {  // another sequence of the stage was first
        next.start = free;
        queue_.push(next);
        continue;
      }
      start(next);
    }
    if (auto fault = blocked()) return *fault;
    out_.makespan = out_.gradient_ready + times_.update;
    return std::move(out_);
  }
};

}  // namespace detail

/// The timeline, or why there is none.
inline Outcome simulate(const Orders& orders, Placement placement, const Shape& shape, const Times& times) {
  const Map map(placement, shape);
  if (!detail::sizes_agree(orders, map, times)) return Fault{FaultKind::Mismatch};
  if (auto fault = detail::incomplete(orders, map)) return *fault;
  return detail::Run(orders, map, times)();
}

/// Chunks of equal size, with the durations of the shape.
inline Outcome simulate(const Orders& orders, Placement placement, const Shape& shape) {
  return simulate(orders, placement, shape, times_of(shape, placement));
}

}  // namespace trainplan::sim
