/// Constants of the time and memory model, each with its source; configs/calibration/baseline.json.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "trainplan/spec/error_class.hpp"
#include "trainplan/spec/execution.hpp"
#include "trainplan/spec/figure.hpp"

namespace trainplan {

/// Constants of the time model that hold on every accelerator and stack.
struct TimeConstants {
  Figure memory_rate;            // share of the memory's peak that element-wise kernels reach
  Figure gemm_half_depth;        // depth at which a matrix product runs at half its best rate
  Figure kernel_start;           // seconds that each kernel of a matrix product loses
  Figure attention_half_length;  // positions at which an attention kernel runs at half its best rate
  Figure scale_up_rate;          // share of a scale-up link that collectives reach
  Figure nic_rate;               // share of a NIC that collectives reach
  Figure host_link_rate;         // share of the link to the host that copies reach
  Figure host_memory_rate;       // share of the host's memory bandwidth that an optimizer step there reaches
  Figure ring_step;              // seconds of one hop of a ring inside a scale-up domain
  Figure tp_overlap_hidden;      // share of tensor-parallel traffic that overlap hides
  Figure ep_overlap_hidden;      // share of expert-parallel traffic that overlap hides
  Figure overlap_slowdown;       // compute time lost for each second of traffic behind it
  Figure step_fixed;             // seconds of a step that do not depend on the work
  Figure straggler_growth;       // share of the step for each doubling of the nodes
};

/// What one accelerator (SKU and power limit) sustains, as shares of its dense peaks.
struct AcceleratorConstants {
  std::string id{};           // empty: an accelerator that nobody measured
  Figure gemm{}, low_gemm{};  // best rate of matrix products in 16 bits and in fp8
  Figure attention{};         // best rate of its best attention kernel in 16 bits
  std::string same_as{};      // the accelerator whose constants these are
};

/// Which generation of attention kernels a stack runs. Best: written for the accelerator.
enum class AttentionKernel : std::uint8_t { Best, Flash2, Triton };
inline constexpr std::string_view kAttentionKernelNames[] = {"best", "flash-attention-2", "triton"};
constexpr std::string_view name_of(AttentionKernel k) { return kAttentionKernelNames[static_cast<int>(k)]; }

/// What a software stack adds.
struct StackConstants {
  Figure host_per_layer;   // seconds in which the host issues one layer: forward, recompute, backward
  Figure slowdown;         // step over what the model of an ideal stack gives
  Figure expert_overhead;  // seconds of each routed expert, forward and backward, with low-precision products
  AttentionKernel attention = AttentionKernel::Best;
  bool eager = false;       // element-wise kernels are not fused
  bool early_stop = false;  // recompute ends before the last product of a block
};
inline constexpr std::size_t kStackCount = std::size(kStackNames);

struct Calibration {
  std::string overlay{};               // the file that was laid over the shipped constants, if any
  Figure cuda_context, communicators;  // bytes
  Figure allocator_slack;              // reserved = allocated x (1 + slack)
  Figure capacity_gate;                // share of usable memory that a plan may use
  Figure planning_margin;              // share of the gate that a derived plan leaves free
  Figure interleave_bubble_target;     // share of ideal time
  Figure plan_difference;              // share by which two plans must differ to be told apart
  TimeConstants time;
  AcceleratorConstants other_accelerator;
  std::vector<AcceleratorConstants> accelerators;
  std::array<StackConstants, kStackCount> stacks;
  ErrorRanges ranges;

 private:
  /// Of constants that may be changed, or may not.
  template <class Self>
  static auto& find(Self& self, std::string_view accelerator) {
    for (auto& a : self.accelerators)
      if (a.id == accelerator) return a;
    return self.other_accelerator;
  }

 public:
  const AcceleratorConstants& of(std::string_view accelerator) const { return find(*this, accelerator); }
  AcceleratorConstants& of(std::string_view accelerator) { return find(*this, accelerator); }
  /// Accelerators that share the constants of another one take them over, through any number of such names.
  void follow() {
    for (AcceleratorConstants& a : accelerators) {
      if (a.same_as.empty()) continue;
      while (!of(a.same_as).same_as.empty()) a.same_as = of(a.same_as).same_as;
      const AcceleratorConstants& base = of(a.same_as);
      a.gemm = base.gemm;
      a.low_gemm = base.low_gemm;
      a.attention = base.attention;
    }
  }
  const StackConstants& of(Stack stack) const { return stacks[static_cast<std::size_t>(stack)]; }
  StackConstants& of(Stack stack) { return stacks[static_cast<std::size_t>(stack)]; }
};

}  // namespace trainplan
