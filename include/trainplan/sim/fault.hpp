/// Why an order cannot run.
#pragma once

#include <cstdint>
#include <string>

#include "trainplan/sim/slot.hpp"

namespace trainplan::sim {

enum class FaultKind : std::uint8_t {
  Mismatch,  ///< orders, durations and stages are not as many
  Unknown,   ///< a pass that the stage does not have
  Repeated,  ///< a pass that stands there twice, or a backward pass beside its two halves
  Missing,   ///< a pass that stands nowhere
  Blocked    ///< a pass whose inputs come after it
};

struct Fault {
  FaultKind kind = FaultKind::Mismatch;
  int stage = 0;
  Pass pass{};
};

/// As in "F3.1": micro-batch 3 of chunk 1.
inline std::string text(const Pass& pass) {
  constexpr char kLetters[] = {'F', 'B', 'X', 'W'};
  return kLetters[static_cast<int>(pass.work)] + std::to_string(pass.micro_batch) + "." +
         std::to_string(pass.chunk);
}

inline std::string text(const Fault& fault) {
  const std::string where = " on stage " + std::to_string(fault.stage), pass = text(fault.pass);
  switch (fault.kind) {
    case FaultKind::Mismatch: return "orders, durations and stages differ in number";
    case FaultKind::Unknown: return "no pass " + pass + where;
    case FaultKind::Repeated: return pass + " stands twice" + where;
    case FaultKind::Missing: return pass + " is missing" + where;
    case FaultKind::Blocked: return pass + where + " waits for what comes after it";
  }
  return {};
}

}  // namespace trainplan::sim
