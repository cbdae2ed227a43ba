/// How a plan is executed: what the time of a step depends on and its memory does not.
#pragma once

#include <cstdint>
#include <string_view>

namespace trainplan {

/// Number formats of the matrix products. Wide: the type of weights and activations. Fp8: one scale for a
/// tensor, delayed or current.
enum class Matmul : std::uint8_t { Wide, Fp8, Fp8Rowwise, Fp8Blockwise, Mxfp8, Nvfp4 };
inline constexpr std::string_view kMatmulNames[] = {"as-precision",  "fp8",   "fp8-rowwise",
                                                    "fp8-blockwise", "mxfp8", "nvfp4"};
constexpr std::string_view name_of(Matmul m) { return kMatmulNames[static_cast<int>(m)]; }
/// One scale for some ten to hundred elements.
constexpr bool is_block_scaled(Matmul m) {
  return m == Matmul::Fp8Blockwise || m == Matmul::Mxfp8 || m == Matmul::Nvfp4;
}

/// How tokens travel to their experts, in Megatron-LM's words. DeepEp and HybridEp send one copy to a rank.
enum class Dispatcher : std::uint8_t { AllToAll, DeepEp, HybridEp };
inline constexpr std::string_view kDispatcherNames[] = {"alltoall", "deepep", "hybridep"};
constexpr std::string_view name_of(Dispatcher d) { return kDispatcherNames[static_cast<int>(d)]; }

/// What is captured in CUDA graphs: nothing, parts of a layer, or the whole iteration.
enum class Graphs : std::uint8_t { None, Layer, Full };
inline constexpr std::string_view kGraphsNames[] = {"none", "layer", "full"};
constexpr std::string_view name_of(Graphs g) { return kGraphsNames[static_cast<int>(g)]; }

/// Software whose time constants apply. MegatronCore: Megatron-LM, NeMo and Megatron-Bridge since 2023.
/// Megatron2022: the eager Megatron-LM of 2021 and 2022. Torchtitan: FSDP2 without compilation.
enum class Stack : std::uint8_t {
  MegatronCore,
  Megatron2022,
  MegatronDeepSpeed,
  Torchtitan,
  TorchtitanCompiled,
  LlmFoundry,
  Jax,
  Unknown
};
inline constexpr std::string_view kStackNames[] = {"megatron-core",
                                                   "megatron-lm-2022",
                                                   "megatron-deepspeed",
                                                   "torchtitan",
                                                   "torchtitan-compiled",
                                                   "llm-foundry",
                                                   "jax",
                                                   "unknown"};
constexpr std::string_view name_of(Stack s) { return kStackNames[static_cast<int>(s)]; }

}  // namespace trainplan
