/// Inputs of `study rl` and the rules between them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "trainplan/cost/goodput.hpp"
#include "trainplan/cost/reinforcement.hpp"
#include "trainplan/spec/validator.hpp"
#include "trainplan/study/kv_cache.hpp"
#include "trainplan/study/of_plan.hpp"
#include "trainplan/study/parts.hpp"

namespace trainplan::study::detail::rl {

inline constexpr Dim kPerSecond = kCount - kSeconds;

inline std::optional<double> sparse(const Planned& p, std::int64_t value) {
  return p.trial().problem.model().is_sparse() ? std::optional(static_cast<double>(value)) : std::nullopt;
}

inline constexpr Input<kPerSecond> kGenerate{
    {"generate", "r_g", "trajectories that are generated in a second", 1e-9, 1e9}, {.example = "12/s"}};
inline constexpr Input<kPerSecond> kVerify{
    {"verify", "r_v", "trajectories that are verified in a second", 1e-9, 1e9}, {.example = "6/s"}};
inline constexpr Input<kPerSecond> kLearn{
    {"learn", "r_l", "trajectories that the learner can take in a second", 1e-9, 1e9}, {.example = "8/s"}};
inline constexpr Input<kCount> kKeep{
    {"keep", "q_v", "share that is kept after verification", 0, 1},
    {.example = "75%", .otherwise = 1.0, .why = "all of them", .unit = Unit::Share}};

inline constexpr Input<kSeconds> kGenerateTime{{"generate_time", "T_g", "generation of a batch", 0, 1e9},
                                               {.example = "40s"}};
inline constexpr Input<kSeconds> kLearnTime{{"learn_time", "T_l", "learning of a batch", 0, 1e9},
                                            {.example = "16s"}};
inline constexpr Input<kSeconds> kSyncTime{
    {"sync_time", "T_s", "transfer of weights to the generators", 0, 1e9}, {.example = "4s"}};
inline constexpr InputList<kCount> kRetention{
    {"retention", "q", "shares of samples that stay usable although their weights are old", 0, 1},
    {.example = "80%,70%", .unit = Unit::Share}};
inline constexpr InputList<kSeconds> kTrajectory{
    {"trajectory_time", "t", "times that trajectories take", 0, 1e9}, {.example = "30s,100s,3600s"}};
inline constexpr Input<kCount> kQueued{
    {"queued", "n_q", "finished batches that wait before the learner", 0, 1e6},
    {.example = "1", .otherwise = 0.0, .why = "none waits"}};

inline constexpr Input<kSeconds> kGpuMtbf{
    {"gpu_mtbf", "M_gpu", "mean time between failures of one GPU", 1, 1e12},
    {.example = "50000h", .of_plan = &gpu_mtbf_of}};
inline constexpr Input<kCount> kGeneratorGpus{
    {"generator_gpus", "G_g", "GPUs of one generator, of which each failure ends its trajectories", 1, 1e7},
    {.example = "8"}};

inline constexpr Input<kParams> kWeightsParams{
    {"params", "N", "parameters that go to the generators", 1, 1e18},
    {.example = "235B", .of_plan = [](const Planned& p) { return p.item("params.total"); }}};
inline constexpr Input<kBytes - kParams> kWeightWidth{
    {"weight_width", "w", "bytes of a weight", 0.5, 8},
    {.example = "2B/param", .otherwise = 2.0, .why = "bf16"}};
inline constexpr Input<kCount> kReceivers{{"receivers", "n", "ranks that receive weights", 1, 1e7},
                                          {.example = "16"}};
inline constexpr Input<kCount> kSplit{
    {"split", "n_w", "receivers that share one copy of the weights", 1, 1e7}, {.example = "16"}};
inline constexpr Input<kBytes - kSeconds> kBandwidth{
    {"bandwidth", "W", "rate of the link of a receiver", 1, 1e15},
    {.example = "400Gbit/s", .of_plan = [](const Planned& p) { return known(cluster_of(p).nic_per_gpu); }}};

inline constexpr Input<kTokens> kRoutedTokens{
    {"routed_tokens", "T", "tokens whose choice of experts is recorded", 1, 1e15}, {.example = "8192"}};
inline constexpr Input<kCount> kSparseLayers{{"sparse_layers", "L_e", "layers with routed experts", 1, 4096},
                                             {.example = "48", .of_plan = [](const Planned& p) {
                                                return sparse(p, p.trial().problem.model().sparse_layers());
                                              }}};
inline constexpr Input<kCount> kTopK{{"top_k", "k_top", "experts that a token visits", 1, 1024},
                                     {.example = "8", .of_plan = [](const Planned& p) {
                                        return sparse(p, p.trial().problem.model().experts.per_token);
                                      }}};
inline constexpr InputList<kBytes - kTokens> kId{
    {"id_bytes", "w_id", "bytes of the id of an expert", 1, 8},
    {.example = "2B/token,4B/token", .otherwise = 2.0, .why = "uint16"}};
inline constexpr InputList<kCount> kScores{{"scores", "s", "scores of the experts for one token", -1e9, 1e9},
                                           {.example = "0.5,0.301,0.3"}};

inline constexpr Input<kCount> kPolicy{
    {"logprob", "log_pi", "log-probability of a token under the weights that learn", -500, 0},
    {.example = "-3"}};
inline constexpr InputList<kCount> kBehaviour{
    {"recorded_logprob", "log_mu", "log-probabilities of the same token as they were recorded", -500, 0},
    {.example = "-3,-3.25"}};

inline constexpr std::array<const Field*, 29> kFields{
    &kGenerate,      &kVerify,      &kLearn,        &kKeep,         &kGenerateTime, &kLearnTime,
    &kSyncTime,      &kRetention,   &kTrajectory,   &kQueued,       &kGpuMtbf,      &kGeneratorGpus,
    &kWeightsParams, &kWeightWidth, &kReceivers,    &kSplit,        &kBandwidth,    &kCachedTokens,
    &kCacheLayers,   &kCacheHeads,  &kCacheHeadDim, &kCacheElement, &kRoutedTokens, &kSparseLayers,
    &kTopK,          &kId,          &kScores,       &kPolicy,       &kBehaviour};

inline constexpr std::array<const Field*, 3> kStageNeeds{&kGenerate, &kVerify, &kLearn},
    kPeriodNeeds{&kGenerateTime, &kLearnTime, &kSyncTime}, kPeriodExtra{&kRetention, &kTrajectory, &kQueued},
    kSurvivalNeeds{&kGeneratorGpus, &kGpuMtbf, &kTrajectory},
    kRecordNeeds{&kRoutedTokens, &kSparseLayers, &kTopK};
inline constexpr std::array<const Field*, 1> kStageExtra{&kKeep}, kRecordExtra{&kId};
inline constexpr std::array<const Field*, 2> kSyncNeeds{&kReceivers, &kWeightsParams},
    kChoiceNeeds{&kScores, &kTopK}, kRatioNeeds{&kPolicy, &kBehaviour};
inline constexpr std::array<const Field*, 3> kSyncExtra{&kWeightWidth, &kSplit, &kBandwidth};
inline constexpr std::array<const Field*, 5> kWhole{&kTopK, &kSparseLayers, &kReceivers, &kSplit,
                                                    &kGeneratorGpus};
/// In the order of the sections.
inline constexpr std::array kParts{Part{"the rate of the loop", kStageNeeds, kStageExtra},
                                   Part{"synchronous and asynchronous periods", kPeriodNeeds, kPeriodExtra},
                                   Part{"trajectories that survive", kSurvivalNeeds},
                                   Part{"the transfer of weights", kSyncNeeds, kSyncExtra},
                                   kCachePart,
                                   Part{"the record of routing", kRecordNeeds, kRecordExtra},
                                   Part{"the choice of experts", kChoiceNeeds},
                                   Part{"the weight of a token", kRatioNeeds}};

inline void judge_at_most(const Given& given, const Field& field, double limit, const std::string& of,
                          Issues& issues) {
  const auto v = given.number(field);
  if (v && *v > limit)
    refuse(issues, given, field, "range", shown(*v), "be at most " + of + " = " + shown(limit),
           "try " + shown(limit));
}

inline void judge(const Given& given, Issues& issues) {
  judge_parts(kParts, kFields, given, issues);
  judge_whole(given, kWhole, issues);
  if (const auto n = given.number(kReceivers)) judge_at_most(given, kSplit, *n, "--receivers", issues);
  if (given.has(kScores) && is_asked(given, kTopK))
    judge_at_most(given, kTopK, static_cast<double>(given.find(kScores)->values.size()),
                  "the number of scores", issues);
  if (given.number(kGenerateTime) == 0.0 && given.number(kLearnTime) == 0.0 && given.number(kSyncTime) == 0.0)
    refuse(issues, given, kGenerateTime, "positive", "0", "be above zero where the other times are zero",
           to_try(kGenerateTime));
}

}  // namespace trainplan::study::detail::rl
