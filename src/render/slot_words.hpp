/// A pipeline and its slots as all pictures name them.
#pragma once

#include <string>
#include <string_view>

#include "time_axis.hpp"
#include "trainplan/report/pipeline_picture.hpp"
#include "trainplan/sim/fault.hpp"
#include "trainplan/sim/slot.hpp"

namespace trainplan {

constexpr char letter_of(sim::Work work) {
  switch (work) {
    case sim::Work::Forward: return 'F';
    case sim::Work::Backward: return 'B';
    case sim::Work::InputGradient: return 'X';
    case sim::Work::WeightGradient: return 'W';
  }
  return '?';
}

constexpr std::string_view words_of(sim::Work work) {
  switch (work) {
    case sim::Work::Forward: return "forward";
    case sim::Work::Backward: return "backward";
    case sim::Work::InputGradient: return "gradients of inputs";
    case sim::Work::WeightGradient: return "gradients of weights";
  }
  return "";
}

/// "4 stages, 8 micro-batches, 2 chunks of a stage".
inline std::string size_words(const PipelinePicture& p) {
  std::string out = counted(p.stages(), "stage") + ", " + counted(p.micro_batches(), "micro-batch");
  if (p.map.flows() == 2) out += ", 2 directions";
  if (p.map.flows() == 1 && p.map.chunks() > 1)
    out += ", " + std::to_string(p.map.chunks()) + " chunks of a stage";
  return out;
}

/// "F3.1", "F3.0+B1.1"; a chunk is a direction where there are two.
inline std::string name_of(const sim::Slot& slot) {
  return slot.second ? text(slot.first) + "+" + text(*slot.second) : text(slot.first);
}

}  // namespace trainplan
