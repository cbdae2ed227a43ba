/// The keys of constants in their files.
#pragma once

#include <string_view>

#include "trainplan/base/quantity.hpp"
#include "trainplan/spec/calibration.hpp"

namespace trainplan {

/// A figure, the key it has in a file, and its dimension. share: it is written in per cent.
template <class T>
struct FigureKey {
  std::string_view key;
  Dim dim;
  Figure T::*figure;
  bool share = false;
};

inline constexpr FigureKey<Calibration> kCommonKeys[] = {
    {"cuda_context", kBytes, &Calibration::cuda_context},
    {"communicators", kBytes, &Calibration::communicators},
    {"allocator_slack", kCount, &Calibration::allocator_slack, true},
    {"capacity_gate", kCount, &Calibration::capacity_gate, true},
    {"planning_margin", kCount, &Calibration::planning_margin, true},
    {"plan_difference", kCount, &Calibration::plan_difference, true},
    {"interleave_bubble_target", kCount, &Calibration::interleave_bubble_target, true},
};
inline constexpr FigureKey<TimeConstants> kTimeKeys[] = {
    {"memory_rate", kCount, &TimeConstants::memory_rate, true},
    {"gemm_half_depth", kCount, &TimeConstants::gemm_half_depth},
    {"kernel_start", kSeconds, &TimeConstants::kernel_start},
    {"attention_half_length", kCount, &TimeConstants::attention_half_length},
    {"scale_up_rate", kCount, &TimeConstants::scale_up_rate, true},
    {"nic_rate", kCount, &TimeConstants::nic_rate, true},
    {"host_link_rate", kCount, &TimeConstants::host_link_rate, true},
    {"host_memory_rate", kCount, &TimeConstants::host_memory_rate, true},
    {"ring_step", kSeconds, &TimeConstants::ring_step},
    {"tp_overlap_hidden", kCount, &TimeConstants::tp_overlap_hidden, true},
    {"ep_overlap_hidden", kCount, &TimeConstants::ep_overlap_hidden, true},
    {"overlap_slowdown", kCount, &TimeConstants::overlap_slowdown},
    {"step_fixed", kSeconds, &TimeConstants::step_fixed},
    {"straggler_growth", kCount, &TimeConstants::straggler_growth, true},
};
inline constexpr FigureKey<AcceleratorConstants> kAcceleratorKeys[] = {
    {"gemm", kCount, &AcceleratorConstants::gemm, true},
    {"low_gemm", kCount, &AcceleratorConstants::low_gemm, true},
    {"attention", kCount, &AcceleratorConstants::attention, true},
};
inline constexpr FigureKey<StackConstants> kStackKeys[] = {
    {"host_per_layer", kSeconds, &StackConstants::host_per_layer},
    {"slowdown", kCount, &StackConstants::slowdown},
    {"expert_overhead", kSeconds, &StackConstants::expert_overhead},
};
}  // namespace trainplan
