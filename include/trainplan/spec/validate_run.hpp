/// Rules of a run that need no model and no cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trainplan/spec/run.hpp"
#include "trainplan/spec/validator.hpp"

namespace trainplan {

inline bool validate(const RunSpec& r, Issues& issues) {
  Validator v{issues, r.origin};
  const auto degree = [&](const char* pointer, const std::optional<std::int64_t>& n) {
    if (n) v.range(pointer, *n, 1, kMaxDegree);
  };
  degree("/micro_batch", r.micro_batch);
  degree("/tp", r.tp);
  degree("/pp", r.pp);
  degree("/vpp", r.vpp);
  degree("/cp", r.cp);
  if (r.dp) v.range("/dp", *r.dp, 1, kMaxRanks);
  degree("/shard_size", r.shard_size);
  if (r.sequence) v.range("/sequence", *r.sequence, 1, kMaxSequence);
  if (r.global_batch) v.range("/global_batch", r.global_batch->amount, 1, kMaxSequence);
  if (r.recompute_layers) v.range("/recompute_layers", *r.recompute_layers, 1, kMaxLayers);
  if (r.recompute == Recompute::Layers && !r.recompute_layers)
    v.fail({.rule = "recompute-layers",
            .pointer = "/recompute",
            .got = "layers",
            .must = "come with recompute_layers, the layers of a stage that are recomputed",
            .hint = "add recompute_layers = 1"});
  if (r.offload_optimizer) v.real("/offload_optimizer", *r.offload_optimizer, 0.0, 1.0);
  if (r.offload_layers) v.range("/offload_layers", *r.offload_layers, 1, kMaxLayers);
  if (r.memory_margin) v.real("/memory_margin", *r.memory_margin, 0.0, 0.99);
  if (r.tokens) v.real("/tokens", *r.tokens, 1.0, 1e18);
  if (r.limits.min_mfu) v.real("/min_mfu", *r.limits.min_mfu, 0.0, 1.0);
  if (r.limits.max_step_time) v.real("/max_step_time", *r.limits.max_step_time, 1e-6, 1e9);
  if (r.limits.max_memory) v.real("/max_memory", *r.limits.max_memory, 1.0, 1e15);
  return v.ok();
}

}  // namespace trainplan
