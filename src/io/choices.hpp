/// The spellings of the choices that runs and framework profiles share; the first of a value is its usual
/// one.
#pragma once

#include "reader.hpp"
#include "trainplan/spec/calibration.hpp"
#include "trainplan/spec/framework.hpp"
#include "trainplan/spec/run.hpp"

namespace trainplan {

inline constexpr Named<Sharding> kShardings[] = {
    {"none", Sharding::None},   {"zero1", Sharding::Zero1}, {"distributed-optimizer", Sharding::Zero1},
    {"zero2", Sharding::Zero2}, {"zero3", Sharding::Zero3}, {"fsdp", Sharding::Zero3},
    {"hsdp", Sharding::Hsdp}};
inline constexpr Named<DType> kDTypes[] = {{"fp32", DType::Fp32},     {"bf16", DType::Bf16},
                                           {"fp16", DType::Fp16},     {"float32", DType::Fp32},
                                           {"bfloat16", DType::Bf16}, {"float16", DType::Fp16}};
/// Types that a model is trained in; both have two bytes.
inline constexpr Named<DType> kPrecisions[] = {
    {"bf16", DType::Bf16}, {"fp16", DType::Fp16}, {"bfloat16", DType::Bf16}, {"float16", DType::Fp16}};
inline constexpr Named<FlopConvention> kConventions[] = {{"causal", FlopConvention::Causal},
                                                         {"full", FlopConvention::Full}};
inline constexpr Named<Schedule> kSchedules[] = {{"gpipe", Schedule::GPipe},
                                                 {"1f1b", Schedule::OneFOneB},
                                                 {"interleaved", Schedule::Interleaved},
                                                 {"looped-bfs", Schedule::LoopedBfs},
                                                 {"interleaved-zb", Schedule::InterleavedZb},
                                                 {"zbv", Schedule::ZbV},
                                                 {"dualpipev", Schedule::DualPipeV},
                                                 {"afab", Schedule::GPipe},
                                                 {"interleaved1f1b", Schedule::Interleaved},
                                                 {"loopedbfs", Schedule::LoopedBfs},
                                                 {"interleavedzerobubble", Schedule::InterleavedZb},
                                                 {"zbvzerobubble", Schedule::ZbV},
                                                 // As `list schedules` has them.
                                                 {"one_f1b", Schedule::OneFOneB},
                                                 {"looped_bfs", Schedule::LoopedBfs},
                                                 {"interleaved_zb", Schedule::InterleavedZb}};
inline constexpr Named<Recompute> kRecomputes[] = {{"none", Recompute::None},
                                                   {"selective", Recompute::Selective},
                                                   {"layers", Recompute::Layers},
                                                   {"full", Recompute::Full}};
inline constexpr Named<Attention> kAttentions[] = {{"flash", Attention::Flash},
                                                   {"unfused", Attention::Unfused}};
inline constexpr Named<LossKind> kLosses[] = {{"te", LossKind::Te},
                                              {"native", LossKind::Native},
                                              {"eager", LossKind::Eager},
                                              {"compiled", LossKind::Compiled},
                                              {"chunked", LossKind::Chunked}};
/// Types of Adam moments.
inline constexpr Named<DType> kMomentTypes[] = {{"fp32", DType::Fp32}, {"bf16", DType::Bf16}};
inline constexpr Named<Matmul> kMatmuls[] = {
    {"as-precision", Matmul::Wide},          {"fp8", Matmul::Fp8},     {"fp8-rowwise", Matmul::Fp8Rowwise},
    {"fp8-blockwise", Matmul::Fp8Blockwise}, {"mxfp8", Matmul::Mxfp8}, {"nvfp4", Matmul::Nvfp4}};
inline constexpr Named<Dispatcher> kDispatchers[] = {
    {"alltoall", Dispatcher::AllToAll}, {"deepep", Dispatcher::DeepEp}, {"hybridep", Dispatcher::HybridEp}};
inline constexpr Named<Graphs> kGraphModes[] = {
    {"none", Graphs::None}, {"layer", Graphs::Layer}, {"full", Graphs::Full}};
inline constexpr Named<Stack> kStacks[] = {{"megatron-core", Stack::MegatronCore},
                                           {"megatron-lm-2022", Stack::Megatron2022},
                                           {"megatron-deepspeed", Stack::MegatronDeepSpeed},
                                           {"torchtitan", Stack::Torchtitan},
                                           {"torchtitan-compiled", Stack::TorchtitanCompiled},
                                           {"llm-foundry", Stack::LlmFoundry},
                                           {"jax", Stack::Jax},
                                           {"unknown", Stack::Unknown}};
inline constexpr Named<AttentionKernel> kAttentionKernels[] = {{"best", AttentionKernel::Best},
                                                               {"flash-attention-2", AttentionKernel::Flash2},
                                                               {"triton", AttentionKernel::Triton}};
inline constexpr Named<CpMode> kCpModes[] = {
    {"ring", CpMode::Ring}, {"all-to-all", CpMode::AllToAll}, {"all-gather", CpMode::AllGather}};
/// When gradients are reduced; true: after every micro-batch.
inline constexpr Named<bool> kGradientSyncs[] = {{"step", false}, {"micro-batch", true}};
inline constexpr Named<bool> kSwitches[] = {{"true", true}, {"false", false}, {"on", true},
                                            {"off", false}, {"yes", true},    {"no", false}};

}  // namespace trainplan
