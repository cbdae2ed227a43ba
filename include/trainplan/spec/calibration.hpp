/// Constants of the time and memory model, each with its source; configs/calibration/baseline.json.
#pragma once

#include "trainplan/spec/figure.hpp"

namespace trainplan {

struct Calibration {
  Figure cuda_context, communicators;  // bytes
  Figure allocator_slack;              // reserved = allocated x (1 + slack)
  Figure kernel_efficiency;            // ideal (full attention) / compute time
  Figure tp_overlap_hidden;            // share of tensor-parallel traffic that overlap hides
  Figure ep_overlap_hidden;            // share of expert-parallel traffic that overlap hides
  Figure launch_per_layer;             // seconds per layer and micro-batch, not hidden
  Figure straggler_share;              // of the step without stragglers
  Figure capacity_gate;                // share of usable memory that a plan may use
  Figure planning_margin;              // share of the gate that a derived plan leaves free
  Figure interleave_bubble_target;     // share of ideal time
};

}  // namespace trainplan
