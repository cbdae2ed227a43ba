/// Round rates and constants, so that every kernel, message and loss of a step can be worked out by hand.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

#include "problems.hpp"
#include "trainplan/cost/plan_cost.hpp"

namespace by_hand {

using namespace trainplan;
using problems::completed;

inline constexpr double kWide = 1000e12 * 0.6, kLow = 2000e12 * 0.5, kAttention = 1000e12 * 0.5,
                        kMemory = 3000e9 * 0.8, kHalf = 1000, kStart = 10e-6;
inline constexpr double kUp = 500e9 * 0.8, kNic = 50e9 * 0.9, kHop = 3e-6, kFarHop = 9e-6;

/// 1,000 TFLOP/s in 16 bits and 2,000 in fp8, 3,000 GB/s of memory, 500 GB/s inside a node and 50 between
/// nodes.
struct Round : problems::Draft {
  explicit Round(const problems::Names& names = {}) : Draft(names) {
    Accelerator& a = cluster.accelerator;
    a.bf16_dense.value = 1000e12;
    if (a.fp8_dense.known) a.fp8_dense.value = 2000e12;
    if (a.fp4_dense.known) a.fp4_dense.value = 4000e12;
    a.memory_bandwidth.value = 3000e9;
    a.scale_up_bandwidth.value = 500e9;
    cluster.nic_per_gpu.value = 50e9;
    TimeConstants& t = calibration.time;
    t.memory_rate.value = 0.8;
    t.gemm_half_depth.value = t.attention_half_length.value = kHalf;
    t.kernel_start.value = kStart;
    t.scale_up_rate.value = 0.8;
    t.nic_rate.value = 0.9;
    t.ring_step.value = kHop;
    t.tp_overlap_hidden.value = 0.75;
    t.ep_overlap_hidden.value = 0.25;
    t.overlap_slowdown.value = 0.25;
    t.step_fixed.value = 0.01;
    t.straggler_growth.value = 0.005;
    for (AcceleratorConstants& c : calibration.accelerators) round(c);
    round(calibration.other_accelerator);
    for (StackConstants& s : calibration.stacks) {
      s = {};
      s.host_per_layer = figure(0.001);
      s.slowdown = figure(1.1);
      s.expert_overhead = figure(0.0003);
    }
  }

  StackConstants& stack() { return calibration.of(recipe.stack); }
  PlanCost<double> cost(const Plan& plan) { return evaluate(problem(), plan); }
  Ledger ledger(const Plan& plan) {
    const Problem asked = problem();  // a second call would replace its specs
    return explain(asked, plan, fullest_stage(asked, plan));
  }

 private:
  static Figure figure(double v) {
    Figure f;
    f.value = v;
    f.known = true;
    return f;
  }
  static void round(AcceleratorConstants& c) {
    c.gemm = figure(0.6);
    c.low_gemm = c.attention = figure(0.5);
  }
};

/// Value of an item; a test fails without it.
inline double at(const Ledger& ledger, const std::string& id) {
  const LineItem* item = ledger.find(id);
  if (item == nullptr) throw std::runtime_error("no item " + id);
  return item->value;
}

/// rows x width from rows x depth, forward: 2 FLOPs an entry at a rate that the depth limits.
inline double product(double rows, double width, double depth, double rate = kWide, double half = kHalf) {
  const double flops = 2 * rows * width * depth, bytes = 2 * (rows * (width + depth) + width * depth);
  return std::max(flops / (rate * depth / (depth + half)), bytes / kMemory) + kStart;
}
/// Backward: gradients of the input, and of the weights with four bytes written and four read for each.
inline double product_back(double rows, double width, double depth, double rate = kWide,
                           double half = kHalf) {
  const double flops = 2 * rows * width * depth, ends = 2 * rows * (width + depth),
               weights = 2 * width * depth;
  const auto one = [&](double k, double bytes) {
    return std::max(flops / (rate * k / (k + half)), bytes / kMemory) + kStart;
  };
  return one(width, ends + weights) + one(rows, ends + 4 * weights);
}

}  // namespace by_hand
