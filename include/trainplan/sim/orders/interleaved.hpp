/// Several chunks on a stage, visited a group of micro-batches at a time.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "trainplan/sim/orders/pairs.hpp"
#include "trainplan/sim/schedule.hpp"

namespace trainplan::sim {

/// The group that torch takes: as many rounds as the micro-batches fill, of equal length.
inline int group_of_rounds(int stages, int micro_batches) {
  return micro_batches / std::max(1, micro_batches / stages);
}

/// A group visits all chunks before the next group starts; backwards from the last chunk to the first.
inline std::vector<Pass> visits(const Shape& s, Work work) {
  std::vector<Pass> out;
  for (int from = 0; from < s.micro_batches; from += s.group)
    for (int c = 0; c < s.chunks; ++c)
      for (int i = from; i < std::min(from + s.group, s.micro_batches); ++i)
        out.push_back({work, i, work == Work::Forward ? c : s.chunks - 1 - c});
  return out;
}

/// Group p is depth-first; a group of all micro-batches hides the transfers.
inline Orders interleaved(const Shape& s) {
  const auto forwards = visits(s, Work::Forward), backwards = visits(s, Work::Backward);
  return one_sequence_each(s, [&](int g) {
    return pairs(forwards, backwards, 2 * (s.stages - 1 - g) + (s.chunks - 1) * s.group + s.lead);
  });
}

/// Half the warm-up; what it saves is paid by gradients of weights that come later.
inline Orders interleaved_zb(const Shape& s) {
  const auto forwards = visits(s, Work::Forward), backwards = visits(s, Work::Backward);
  return one_sequence_each(s, [&](int g) {
    return split(pairs(forwards, backwards, s.stages - 1 - g + (s.chunks - 1) * s.group), g);
  });
}

/// A group shorter than the pipeline would wait for its own first micro-batch to come round.
inline std::optional<Refusal> groups_fill(const Shape& s) {
  if (auto refusal = at_least_stages(s)) return refusal;
  if (s.group < s.stages || s.group > s.micro_batches)
    return Refusal{"group", s.group,
                   "lie between the stages, " + std::to_string(s.stages) + ", and the micro-batches, " +
                       std::to_string(s.micro_batches),
                   std::clamp(s.group, s.stages, s.micro_batches)};
  const int rest = s.micro_batches % s.group;
  if (rest == 0 || rest >= s.stages) return {};
  return Refusal{
      "micro_batches", s.micro_batches,
      "leave a last group of none or at least " + std::to_string(s.stages) + ", not " + std::to_string(rest),
      rest <= s.stages - rest ? s.micro_batches - rest : s.micro_batches - rest + s.stages};
}

}  // namespace trainplan::sim
