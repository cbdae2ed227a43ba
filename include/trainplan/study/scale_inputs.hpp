/// Inputs of `study scale` and the rules between them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "trainplan/cost/scaling.hpp"
#include "trainplan/cost/state.hpp"
#include "trainplan/spec/validator.hpp"
#include "trainplan/study/of_plan.hpp"
#include "trainplan/study/parts.hpp"

namespace trainplan::study::detail::scale {

inline const Accelerator& device_of(const Planned& p) { return cluster_of(p).accelerator; }

inline constexpr InputList<kParams> kParamsOfRun{
    {"params", "N", "parameters of models; of a mixture of experts those that a token visits", 1, 1e18},
    {.example = "1T,2T,5T", .of_plan = [](const Planned& p) {
       const auto active = p.item("params.active");
       return active ? active : p.item("params.total");
     }}};
/// Memory holds all experts, also those that a token does not visit.
inline constexpr InputList<kParams> kStored{
    {"stored_params", "N_all", "parameters that memory holds, one for each model; without them as --params",
     1, 1e18},
    {.example = "671B", .of_plan = [](const Planned& p) { return p.item("params.total"); }}};
inline constexpr Input<kTokens> kTokensOfRun{{"tokens", "D", "tokens of the run", 1, 1e18},
                                             {.example = "20T"}};
inline constexpr Input<kCount> kTokensPerParam{
    {"tokens_per_param", "r_D", "tokens for each parameter, in place of --tokens", 1e-3, 1e6},
    {.example = "20"}};
inline constexpr InputList<kFlops - kSeconds> kPeak{
    {"peak", "P", "dense peaks of devices, or names of accelerators", 1, 1e18},
    {.example = "a100-sxm-80,h100-sxm,2250TFLOP/s",
     .of_plan = [](const Planned& p) { return known(device_of(p).bf16_dense); },
     .device = &Accelerator::bf16_dense}};
/// That of 6 N D: the plan's own MFU counts attention too.
inline std::optional<double> dense_mfu_of(const Planned& p) {
  const auto params = p.item("params.active") ? p.item("params.active") : p.item("params.total");
  const auto tokens = p.item("compute.tokens_per_step"), step = p.item("step.time"), gpus = gpus_of(p);
  const Figure& peak = device_of(p).bf16_dense;
  if (!params || !tokens || !step || !gpus || !peak.known) return std::nullopt;
  const Seconds<> ideal =
      dense_time(Params<>{*params}, Tokens<>{*tokens}, Count<>{*gpus}, FlopsPerSec<>{peak.value}, Count<>{1});
  return part_of_time(ideal, Seconds<>{*step}).num();
}
inline constexpr InputList<kCount> kMfu{
    {"mfu", "u", "model FLOPs utilisations, of 6 N D: attention and recompute not counted", 1e-6, 1},
    {.example = "40%", .of_plan = &dense_mfu_of, .unit = Unit::Share}};
inline constexpr InputList<kCount> kGpus{{"gpus", "G", "numbers of GPUs", 1, 1e9},
                                         {.example = "16384", .of_plan = &gpus_of}};
inline constexpr Input<kSeconds> kDeadline{{"deadline", "T_max", "time that the run may take", 1, 1e12},
                                           {.example = "90d", .unit = Unit::Days}};
inline constexpr InputList<kBytes> kMemory{
    {"memory", "M_gpu", "memory of the devices: one for all, or one for each peak", 1, 1e15},
    {.example = "80GB",
     .of_plan = [](const Planned& p) { return known(device_of(p).memory); },
     .device = &Accelerator::memory}};
inline constexpr Input<kBytes - kParams> kStateWidth{
    {"state_width", "w_state", "training state of a parameter", 0.5, 64},
    {.example = "16B/param",
     .otherwise = 16.0,
     .why = "bf16 weights and gradients, fp32 master and moments"}};

inline constexpr Input<kTokens> kNoise{
    {"noise", "B_noise", "critical batch: the gradient noise scale in tokens", 1, 1e15}, {.example = "2M"}};
inline constexpr Input<kTokens> kBatch{
    {"batch", "B", "tokens of a step of the reference run", 1, 1e15},
    {.example = "3Mi-tokens", .of_plan = [](const Planned& p) { return p.item("compute.tokens_per_step"); }}};
inline constexpr Input<kCount> kSteps{{"steps", "S", "steps of the reference run", 1, 1e12},
                                      {.example = "31790"}};
inline constexpr Input<kCount> kReference{{"reference", "G_0", "GPUs of the reference run", 1, 1e9},
                                          {.example = "48", .of_plan = &gpus_of}};
inline constexpr Input<kSeconds> kStep{
    {"step", "t_step", "step time of the reference run", 1e-9, 1e9},
    {.example = "52.8s", .of_plan = [](const Planned& p) { return p.item("step.time"); }}};
inline constexpr Input<kSeconds> kFixed{
    {"fixed", "T_fix", "time of a step that more GPUs do not shorten: what shows of communication, input", 0,
     1e9},
    {.example = "0.58s", .otherwise = 0.0, .why = "all of it is compute", .of_plan = [](const Planned& p) {
       return std::optional(p.item("step.exposed").value_or(0) + p.item("step.data_wait").value_or(0));
     }}};

inline constexpr Input<kSeconds> kBefore{{"before", "T_1", "measured step on fewer GPUs", 1e-9, 1e9},
                                         {.example = "23.66s"}};
inline constexpr Input<kSeconds> kAfter{
    {"after", "T_2", "measured step on more GPUs, the same batch", 1e-9, 1e9}, {.example = "6.34s"}};
inline constexpr Input<kCount> kFew{{"few", "G_1", "fewer GPUs", 1, 1e9}, {.example = "3072"}};
inline constexpr Input<kCount> kMany{{"many", "G_2", "more GPUs", 1, 1e9}, {.example = "12288"}};
inline constexpr InputList<kCount> kFraction{
    {"fraction", "f", "shares of the step that use a capability", 0, 1},
    {.example = "5%,50%", .unit = Unit::Share}};
inline constexpr InputList<kCount> kRatio{{"ratio", "r", "new capability over the old one", 1e-6, 1e6},
                                          {.example = "0.5,2"}};

inline constexpr std::array<const Field*, 22> kFields{
    &kParamsOfRun, &kStored,     &kTokensOfRun, &kTokensPerParam, &kPeak,     &kMfu,       &kGpus, &kDeadline,
    &kMemory,      &kStateWidth, &kNoise,       &kBatch,          &kSteps,    &kReference, &kStep, &kFixed,
    &kBefore,      &kAfter,      &kFew,         &kMany,           &kFraction, &kRatio};

inline constexpr std::array<const Field*, 4> kRunNeeds{&kParamsOfRun, &kPeak, &kMfu, &kGpus},
    kMeasuredNeeds{&kBefore, &kAfter, &kFew, &kMany};
inline constexpr std::array<const Field*, 3> kRunExtra{&kTokensOfRun, &kTokensPerParam, &kDeadline};
inline constexpr std::array<const Field*, 3> kBatchNeeds{&kNoise, &kBatch, &kSteps},
    kAmdahlNeeds{&kFraction, &kRatio, &kStep};
inline constexpr std::array<const Field*, 6> kGrowthNeeds{&kReference, &kGpus,  &kNoise,
                                                          &kBatch,     &kSteps, &kStep};
inline constexpr std::array<const Field*, 1> kGrowthExtra{&kFixed};
inline constexpr std::array<const Field*, 4> kWhole{&kGpus, &kReference, &kFew, &kMany};
/// GPUs that hold the state stand beside those that are in time.
inline constexpr std::array<const Field*, 1> kNeedNeeds{&kDeadline};
inline constexpr std::array<const Field*, 3> kNeedFields{&kMemory, &kStateWidth, &kStored};
inline constexpr std::array kNeedParts{
    Part{"GPUs by memory against GPUs by compute", kNeedNeeds, kNeedFields}};
/// In the order of the sections.
inline constexpr std::array kParts{
    Part{"training runs", kRunNeeds, kRunExtra}, Part{"the critical batch", kBatchNeeds},
    Part{"weak and strong scaling", kGrowthNeeds, kGrowthExtra}, Part{"scaling efficiency", kMeasuredNeeds},
    Part{"a change of one capability", kAmdahlNeeds}};

/// A plan gives all of a run but its tokens.
inline bool knows_runs(const Given& given) {
  return kParts[0].whole(given) && (given.has(kTokensOfRun) || given.has(kTokensPerParam));
}

inline void judge_tokens(const Given& given, Issues& issues) {
  if (given.has(kTokensOfRun) && given.has(kTokensPerParam))
    refuse(issues, given, kTokensPerParam, "exclusive", shown(*given.number(kTokensPerParam)),
           "be left out where --tokens is given", "leave out one of them");
  const bool other =
      std::any_of(kParts.begin() + 1, kParts.end(), [&](const Part& p) { return p.whole(given); });
  if (kParts[0].whole(given) && !knows_runs(given) && (!other || is_asked(given, kParamsOfRun)))
    issues.add({.rule = "missing",
                .pointer = option_of(kTokensOfRun.arg.name),
                .must = "be given with the parameters, or --tokens-per-param",
                .hint = to_try(kTokensOfRun)});
}

/// Stored parameters count where they are those of the models that are asked about, and others than --params.
inline bool knows_stored(const Given& given) {
  return given.has(kStored) && given.has(kParamsOfRun) &&
         (is_asked(given, kStored) || !is_asked(given, kParamsOfRun)) &&
         given.find(kStored)->values != given.find(kParamsOfRun)->values;
}

inline void judge_stored(const Given& given, Issues& issues) {
  if (!is_asked(given, kStored) || !given.has(kStored) || !given.has(kParamsOfRun)) return;
  const std::vector<double>&stored = given.find(kStored)->values, &params = given.find(kParamsOfRun)->values;
  if (stored.size() != params.size())
    return refuse(issues, given, kStored, "one-each", std::to_string(stored.size()) + " values",
                  "be one value for each of the " + std::to_string(params.size()) + " of --params",
                  to_try(kStored));
  for (std::size_t i = 0; i < stored.size(); ++i)
    if (stored[i] < params[i])
      refuse(issues, given, kStored, "range-order", shown(stored[i]),
             "be at least the --params = " + shown(params[i]) + " that a token visits", "exchange the two");
}

inline void judge_order(const Given& given, const Field& larger, const Field& smaller, Issues& issues) {
  if (!is_asked(given, smaller)) return;
  const auto a = given.number(larger), b = given.number(smaller);
  if (a && b && *a < *b)
    refuse(issues, given, larger, "range-order", shown(*a),
           "be at least " + option_of(smaller.arg.name) + " = " + shown(*b), "exchange the two");
}

inline void judge(const Given& given, Issues& issues) {
  judge_parts(kParts, kFields, given, issues);
  judge_asked(kNeedParts, kNeedFields, given, issues);
  judge_whole(given, kWhole, issues);
  judge_tokens(given, issues);
  judge_stored(given, issues);
  judge_order(given, kStep, kFixed, issues);
  judge_order(given, kMany, kFew, issues);
  if (!given.has(kMemory) || !given.has(kPeak)) return;
  const std::size_t sizes = given.find(kMemory)->values.size(), peaks = given.find(kPeak)->values.size();
  if (sizes != 1 && sizes != peaks)
    refuse(issues, given, kMemory, "one-each", std::to_string(sizes) + " values",
           "be one value, or one for each of the " + std::to_string(peaks) + " peaks", to_try(kMemory));
}

}  // namespace trainplan::study::detail::scale
