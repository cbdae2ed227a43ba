/// The times of slots from their definition alone, without a queue or a clock: each value asks for those that
/// it depends on. Only for stages with one sequence each.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "pipelines.hpp"

namespace property {

class Recursion {
  using Key = std::tuple<int, int, bool>;  // virtual stage, micro-batch, gradient
  const Pipe& pipe_;
  Map map_;
  std::vector<std::vector<Ticks>> ends_;
  std::map<Key, std::pair<int, int>> makers_;              // stage and place in its sequence
  std::map<std::pair<int, int>, std::vector<Key>> links_;  // what a link carries, in the order of its sender
  std::map<Key, Ticks> arrivals_;

  static bool gradient(Work work) { return work == Work::Backward || work == Work::InputGradient; }
  const Sequence& sequence(int stage) const { return pipe_.orders[static_cast<std::size_t>(stage)].front(); }

  int receiver(Key made) const { return std::get<0>(made) + (std::get<2>(made) ? -1 : 1); }
  bool goes_on(Key made) const {
    return std::get<2>(made) ? !map_.first(std::get<0>(made)) : !map_.last(std::get<0>(made));
  }

  void note(int stage, int place, const Pass& p) {
    if (p.work == Work::WeightGradient) return;
    const Key made{map_.virtual_stage(stage, p.chunk), p.micro_batch, gradient(p.work)};
    makers_[made] = {stage, place};
    if (goes_on(made) && !map_.local(std::get<0>(made), receiver(made)))
      links_[{stage, map_.seat(receiver(made)).stage}].push_back(made);
  }

  Ticks end(Key made) { return end(makers_.at(made).first, makers_.at(made).second); }

  Ticks arrival(Key made) {
    const auto found = arrivals_.find(made);
    if (found != arrivals_.end()) return found->second;
    const int from = map_.seat(std::get<0>(made)).stage, to = map_.seat(receiver(made)).stage;
    Ticks out = end(made);
    if (from != to) {
      const auto& carried = links_.at({from, to});
      const auto at = std::find(carried.begin(), carried.end(), made);
      if (at != carried.begin()) out = std::max(out, arrival(*(at - 1)));
      const auto& lengths = std::get<2>(made) ? pipe_.times.gradient : pipe_.times.activation;
      out += lengths[static_cast<std::size_t>(map_.boundary(from, to))];
    }
    return arrivals_[made] = out;
  }

  Ticks inputs(int stage, const Pass& p) {
    const int q = map_.virtual_stage(stage, p.chunk);
    if (p.work == Work::Forward) return map_.first(q) ? 0 : arrival({q - 1, p.micro_batch, false});
    const Ticks own = end(Key{q, p.micro_batch, p.work == Work::WeightGradient});
    if (p.work == Work::WeightGradient || map_.last(q)) return own;
    return std::max(own, arrival({q + 1, p.micro_batch, true}));
  }

 public:
  explicit Recursion(const Pipe& pipe) : pipe_(pipe), map_(pipe.map()) {
    for (int g = 0; g < map_.stages(); ++g) {
      ends_.emplace_back(sequence(g).size(), -1);
      for (int i = 0; i < static_cast<int>(sequence(g).size()); ++i) {
        const Slot& slot = sequence(g)[static_cast<std::size_t>(i)];
        // Of a pair, the activation is sent first.
        const bool swapped = slot.second && slot.second->work == Work::Forward;
        if (swapped) note(g, i, *slot.second);
        note(g, i, slot.first);
        if (slot.second && !swapped) note(g, i, *slot.second);
      }
    }
  }

  Ticks end(int stage, int place) {
    Ticks& known = ends_[static_cast<std::size_t>(stage)][static_cast<std::size_t>(place)];
    if (known >= 0) return known;
    const Slot& slot = sequence(stage)[static_cast<std::size_t>(place)];
    Ticks start = std::max(place == 0 ? 0 : end(stage, place - 1), inputs(stage, slot.first));
    if (slot.second) start = std::max(start, inputs(stage, *slot.second));
    return known = start + pipe_.times.of(stage, slot);
  }
};

}  // namespace property
