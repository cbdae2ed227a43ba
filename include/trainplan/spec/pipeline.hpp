/// A pipeline in numbers, as a file or the command line gives it: stages, times of their passes, what is
/// kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainplan {

inline constexpr std::int64_t kMaxPipelineStages = 64, kMaxPipelineMicroBatches = 1024,
                              kMaxPipelineChunks = 32, kMaxPipelineLayers = 1024;

/// Times in seconds, one for all stages or one for each; sizes in bytes. What is not given has no value.
struct PipelineSpec {
  std::string origin{}, title{}, source{}, schedule{};
  std::vector<std::string> options{};  ///< keys that the command line gave
  std::optional<std::int64_t> stages{}, micro_batches{}, layers{}, chunks{}, group{}, lead{};
  std::vector<double> forward{}, backward{}, input_gradient{}, weight_gradient{};
  std::optional<double> weight_gradient_share{}, pair{}, transfer{}, update{};
  std::optional<double> saved_per_layer{}, saved_head{}, kept_for_weights{};
  std::optional<double> activation_message{}, gradient_message{};
  std::optional<double> memory_budget{}, memory_sets{};
};

}  // namespace trainplan
