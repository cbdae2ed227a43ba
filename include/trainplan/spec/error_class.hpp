/// Kinds of runs by how far measured ones lie from what is predicted; configs/calibration/baseline.json,
/// ranges.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "trainplan/spec/figure.hpp"

namespace trainplan {

/// Where the peak of memory is read: live tensors, the allocator's pool, or all that the driver sees.
enum class Reading : std::uint8_t { Allocated, Reserved, Device };
inline constexpr std::string_view kReadingNames[] = {"allocated", "reserved", "device"};
constexpr std::string_view name_of(Reading r) { return kReadingNames[static_cast<int>(r)]; }

/// Runs whose step times are known alike. Few nodes: at most kFewNodes. Small experts: a narrow model whose
/// kernels no CUDA graph launches.
enum class TimeClass : std::uint8_t {
  DataParallel,
  OneNode,
  ModelParallel,
  Fp8FewNodes,
  Fp8ManyNodes,
  BlockScaled,
  ExpertsFewNodes,
  ExpertsManyNodes,
  SmallExperts,
  UnknownStack,
  UnknownStackExperts
};
inline constexpr std::string_view kTimeClassNames[] = {
    "dense-data-parallel", "dense-one-node",       "dense-model-parallel",
    "dense-fp8-few-nodes", "dense-fp8-many-nodes", "dense-block-scaled",
    "moe-few-nodes",       "moe-many-nodes",       "moe-small",
    "unknown-stack-dense", "unknown-stack-moe"};
inline constexpr std::string_view kTimeClassTitles[] = {
    "dense, 16-bit products, data parallel alone",
    "dense, 16-bit products, model parallel inside one node, fused kernels",
    "dense, 16-bit products, tensor, pipeline or context parallel",
    "dense, fp8 products scaled by tensor or row, up to 16 nodes",
    "dense, fp8 products scaled by tensor or row, more than 16 nodes",
    "dense, products scaled by block: fp8-blockwise, mxfp8, nvfp4",
    "mixture of experts, up to 16 nodes",
    "mixture of experts, more than 16 nodes",
    "narrow mixture of experts without CUDA graphs, which the host may hold up",
    "dense, on a software stack that is not calibrated",
    "mixture of experts, on a software stack that is not calibrated"};
inline constexpr std::size_t kTimeClasses = std::size(kTimeClassNames);
constexpr std::string_view name_of(TimeClass c) { return kTimeClassNames[static_cast<int>(c)]; }
constexpr std::string_view title_of(TimeClass c) { return kTimeClassTitles[static_cast<int>(c)]; }

/// Predictions of memory that are known alike.
enum class MemoryClass : std::uint8_t { Megatron, MegatronDevice, Torchtitan, Other };
inline constexpr std::string_view kMemoryClassNames[] = {"megatron", "megatron-device", "torchtitan",
                                                         "other"};
inline constexpr std::string_view kMemoryClassTitles[] = {
    "Megatron-LM, allocated or reserved", "Megatron-LM, as the driver sees it", "torchtitan",
    "a framework or stack whose memory is not calibrated"};
inline constexpr std::size_t kMemoryClasses = std::size(kMemoryClassNames);
constexpr std::string_view name_of(MemoryClass c) { return kMemoryClassNames[static_cast<int>(c)]; }
constexpr std::string_view title_of(MemoryClass c) { return kMemoryClassTitles[static_cast<int>(c)]; }

/// Levels that ranges can be asked for. Beyond, errors are more frequent than the normal distribution says.
inline constexpr double kLeastConfidence = 0.5, kMostConfidence = 0.95;

/// Measured over predicted at the ends of the range.
struct ErrorClass {
  Figure low{}, high{};
};

/// Ranges that hold a share `confidence` of the runs of each class. accelerator: what an accelerator without
/// constants of its own adds.
struct ErrorRanges {
  Figure confidence{};
  std::array<ErrorClass, kTimeClasses> time{};
  ErrorClass accelerator{};
  std::array<ErrorClass, kMemoryClasses> memory{};

  const ErrorClass& of(TimeClass c) const { return time[static_cast<std::size_t>(c)]; }
  const ErrorClass& of(MemoryClass c) const { return memory[static_cast<std::size_t>(c)]; }
};

}  // namespace trainplan
