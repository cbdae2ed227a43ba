/// How far a number of a plan may get worse against another plan, and the short words for the usual numbers.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace trainplan {

/// The short word of a number that people ask for first, and what it is.
struct Headliner {
  std::string_view word, id, title;
};
inline constexpr Headliner kHeadliners[] = {
    {"memory", "memory.device", "device total"},
    {"state", "memory.state", "model state"},
    {"activations", "memory.activations", "activations in flight"},
    {"traffic", "comm.dp", "data parallel traffic"},
    {"step", "step.time", "step time"},
    {"mfu", "step.mfu", "MFU, causal"},
    {"tokens_per_second", "step.tokens_per_second", "tokens in a second"},
    {"checkpoint", "checkpoint.bytes", "checkpoint"},
    {"goodput", "goodput", "goodput"},
    {"days", "cost.run_time", "time of the run"},
    {"gpu_hours", "cost.run_gpu_time", "GPU time of the run"},
    {"dollars", "cost.run", "dollars of the run"},
};

/// "memory, state, ...".
inline std::string headliner_words() {
  std::string out;
  for (const Headliner& h : kHeadliners) out.append(out.empty() ? "" : ", ").append(h.word);
  return out;
}

/// Without a token budget these are of 30 days, whatever the plan.
inline bool needs_token_budget(std::string_view id) { return id == "cost.run_gpu_time" || id == "cost.run"; }

/// True where a smaller number is the worse one.
inline bool is_better_when_larger(std::string_view id) {
  static constexpr std::string_view kRates[] = {"goodput", "goodput.mtbf", "step.tokens_per_second"};
  return id.starts_with("step.mfu") || id.starts_with("step.hfu") ||
         std::find(std::begin(kRates), std::end(kRates), id) != std::end(kRates);
}

/// text: as it was typed. share: 0.02 where two per cent are allowed.
struct Threshold {
  std::string text, id;
  double share = 0;
};

}  // namespace trainplan
