/// Small random questions for searches: a shrunk model on a few GPUs of a framework, with some fields pinned.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "problems.hpp"
#include "trainplan/derive/trial.hpp"

namespace cases {

using namespace trainplan;

struct Case {
  std::unique_ptr<problems::Draft> draft;
  RunSpec run;
  std::int64_t batch = 0;
  std::optional<Problem> problem;

  Planner planner() const { return {*problem, run, 0}; }
};

/// The same seed makes the same question.
inline Case make(unsigned seed) {
  std::mt19937 random(seed);
  const auto any = [&](auto... options) {
    const std::common_type_t<decltype(options)...> all[] = {options...};
    return all[random() % sizeof...(options)];
  };
  Case c;
  problems::Names names;
  const bool sparse = random() % 3 == 0;
  names.model =
      sparse ? any("qwen3-30b-a3b", "deepseek-v2-lite") : any("llama8b", "qwen2.5-7b", "llama2-13b");
  names.cluster = any("h100x64", "b200x512", "rtx4090x32");
  names.framework = any("megatron-lm", "deepspeed", "torchtitan", "megatron-lm-precision-aware");
  names.sequence = any(2048, 4096, 8192);
  names.batch = c.batch = any(8, 12, 16, 24, 32);
  c.draft = std::make_unique<problems::Draft>(names);
  problems::Draft& d = *c.draft;
  d.cluster.nodes = any(1, 1, 2);
  d.model.layers = any(3, 4, 6);
  if (const auto whole = d.model.pattern; sparse)
    d.model.pattern = std::vector(whole.begin(), whole.begin() + d.model.layers);
  if (sparse) d.model.experts.count = 8;
  d.recipe.tp_overlap = d.framework.rules.tp_overlap;
  d.recipe.cp_mode = default_cp_mode(d.framework);
  if (random() % 4 == 0) c.run.tp = any(1, 2, 4);
  if (random() % 4 == 0) c.run.micro_batch = 1;
  if (random() % 6 == 0) c.run.recompute = any(Recompute::None, Recompute::Full);
  if (sparse || random() % 5 == 0) c.run.pp = any(1, 2, 4);
  if (random() % 8 == 0) c.run.cp = 1;
  // A GPU as small as asked for makes memory decide.
  d.cluster.accelerator.usable_memory.value *= any(0.1, 0.15, 0.2, 0.3, 0.5, 1.0);
  c.problem.emplace(d.problem());
  return c;
}

}  // namespace cases
