/// Every pass of an order stands on its stage, and once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "trainplan/sim/fault.hpp"
#include "trainplan/sim/placement.hpp"
#include "trainplan/sim/times.hpp"

namespace trainplan::sim::detail {

inline bool sizes_agree(const Orders& orders, const Map& map, const Times& times) {
  const auto stages = static_cast<std::size_t>(map.stages()), chunks = static_cast<std::size_t>(map.chunks());
  if (map.stages() < 1 || map.chunks() < 1 || map.micro_batches() < 0) return false;
  for (const auto& of_stage : times.chunk)
    if (of_stage.size() != chunks) return false;
  return orders.size() == stages && times.chunk.size() == stages && times.activation.size() == stages &&
         times.gradient.size() == stages && times.overlap.size() == stages;
}

/// Ticks off the passes; a backward pass is both of its halves.
class PassList {
  static constexpr std::uint8_t kForward = 1, kInput = 2, kWeight = 4, kAll = 7;
  const Map& map_;
  std::vector<std::uint8_t> seen_;

  static std::uint8_t bits(Work work) {
    switch (work) {
      case Work::Forward: return kForward;
      case Work::Backward: return kInput | kWeight;
      case Work::InputGradient: return kInput;
      case Work::WeightGradient: return kWeight;
    }
    return 0;
  }

 public:
  explicit PassList(const Map& map) : map_(map), seen_(map.size()) {}

  std::optional<Fault> add(int stage, const Pass& p) {
    if (p.chunk < 0 || p.chunk >= map_.chunks() || p.micro_batch < 0 || p.micro_batch >= map_.micro_batches())
      return Fault{FaultKind::Unknown, stage, p};
    std::uint8_t& seen = seen_[map_.index(map_.virtual_stage(stage, p.chunk), p.micro_batch)];
    if ((seen & bits(p.work)) != 0) return Fault{FaultKind::Repeated, stage, p};
    seen = static_cast<std::uint8_t>(seen | bits(p.work));
    return {};
  }

  std::optional<Fault> missing() const {
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      if (seen_[i] == kAll) continue;
      const int per_stage = map_.micro_batches(), at = static_cast<int>(i);
      const Seat seat = map_.seat(at / per_stage);
      const Work work = (seen_[i] & kForward) == 0 ? Work::Forward
                        : (seen_[i] & kInput) == 0 ? Work::InputGradient
                                                   : Work::WeightGradient;
      return Fault{FaultKind::Missing, seat.stage, {work, at % per_stage, seat.chunk}};
    }
    return {};
  }
};

inline std::optional<Fault> incomplete(const Orders& orders, const Map& map) {
  PassList list(map);
  for (std::size_t g = 0; g < orders.size(); ++g)
    for (const Sequence& sequence : orders[g])
      for (const Slot& slot : sequence) {
        const int stage = static_cast<int>(g);
        if (auto fault = list.add(stage, slot.first)) return fault;
        if (slot.second)
          if (auto fault = list.add(stage, *slot.second)) return fault;
      }
  return list.missing();
}

}  // namespace trainplan::sim::detail
