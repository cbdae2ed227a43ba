/// Inputs of `study checkpoint`.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainplan/study/of_plan.hpp"
#include "trainplan/study/parts.hpp"
#include "trainplan/study/topic.hpp"

namespace trainplan::study::detail::checkpoint {

inline constexpr InputWord kFramework{{"framework", "", "framework whose checkpoints are meant"},
                                      {.example = "megatron-lm"}};
/// What the framework that a word names writes for each parameter.
inline std::optional<Follows> width_of(const Given& given, const InputWord& field) {
  const FrameworkProfile* f =
      given.has(field) && given.shelf != nullptr ? given.shelf->framework(given.word(field)) : nullptr;
  if (f == nullptr) return std::nullopt;
  return Follows{f->checkpoint_bytes_per_param, "--framework " + f->id};
}

inline constexpr Input<kParams> kParamsOfModel{
    {"params", "N", "parameters of the model", 1, 1e16},
    {.example = "8.19B", .of_plan = [](const Planned& p) { return p.item("params.total"); }}};
inline constexpr Input<kBytes - kParams> kWidth{
    {"width", "w_ckpt", "bytes of a checkpoint for each parameter", 0.1, 64},
    {.example = "14B/param",
     .otherwise = 14,
     .why = "bf16 weights, fp32 master, two moments",
     .of_plan =
         [](const Planned& p) {
           return std::optional(p.trial().problem.profile().checkpoint_bytes_per_param);
         },
     .of_given = [](const Given& given) { return width_of(given, kFramework); }}};
inline constexpr Input<kBytes> kBytesSaved{
    {"bytes", "K", "bytes of a checkpoint, in place of parameters and width", 1, 1e18},
    {.example = "112GB", .unit = Unit::Traffic}};
inline constexpr Input<kCount> kGpus{{"gpus", "G", "GPUs of the job", 1, 1e7},
                                     {.example = "1024", .of_plan = &gpus_of}};
inline constexpr Input<kCount> kCopies{
    {"copies", "n_copy", "copies of its share that a GPU keeps in host memory", 1, 4},
    {.example = "2", .otherwise = 2, .why = "one is written while the next is taken"}};
inline constexpr Input<kCount> kNodes{{"nodes", "n_node", "nodes that write", 1, 1e6},
                                      {.example = "128", .of_plan = [](const Planned& p) {
                                         return std::optional(static_cast<double>(cluster_of(p).nodes));
                                       }}};
inline constexpr Input<kBytes - kSeconds> kNic{{"nic", "W_node", "rate of a node into the storage", 1, 1e15},
                                               {.example = "50GB/s"}};
inline constexpr Input<kBytes - kSeconds> kStorage{
    {"storage", "W_store", "rate of the storage", 1, 1e16},
    {.example = "7GB/s", .of_plan = [](const Planned& p) { return known(cluster_of(p).storage_write); }}};
inline constexpr Input<kBytes - kSeconds> kWriter{
    {"writer", "W_file", "rate of one process that writes one file", 1, 1e15}, {.example = "1GB/s"}};
inline constexpr Input<kSeconds> kInterval{
    {"interval", "tau", "interval between saves", 1e-3, 1e7},
    {.example = "210s", .of_plan = [](const Planned& p) { return p.item("checkpoint.interval"); }}};
inline constexpr Input<kCount> kKeepLast{{"keep_last", "n_last", "newest checkpoints that are kept", 1, 1e6},
                                         {.example = "5"}};
inline constexpr Input<kSeconds> kKeepEvery{
    {"keep_every", "tau_keep", "interval from which one checkpoint is kept for good", 1, 1e9},
    {.example = "1d"}};
inline constexpr Input<kSeconds> kTime{
    {"time", "T", "wall-clock time of the run", 1, 1e12},
    {.example = "30d", .otherwise = 30 * 86400.0, .why = "a month", .unit = Unit::Days}};
inline constexpr Input<kSeconds> kCopy{
    {"copy", "t_copy", "time to copy a snapshot, in which training stands still", 0, 1e6},
    {.example = "0.5s"}};
inline constexpr Input<kCount> kBuffers{
    {"buffers", "n_buf", "snapshots that host memory holds at a time; the next waits", 1, 1024},
    {.example = "2"}};
inline constexpr Input<kSeconds> kFailure{{"failure", "t_f", "moment of a failure", 0, 8e6},
                                          {.example = "50s"}};

inline constexpr std::array<const Field*, 17> kFields{
    &kParamsOfModel, &kWidth,    &kBytesSaved, &kFramework, &kGpus, &kCopies, &kNodes,   &kNic,    &kStorage,
    &kWriter,        &kInterval, &kKeepLast,   &kKeepEvery, &kTime, &kCopy,   &kBuffers, &kFailure};

/// Asynchronous saving is asked about, and everything for it is known.
inline bool knows_events(const Given& g) { return g.has(kCopy) && g.has(kInterval) && g.has(kStorage); }

/// A word that names a shipped framework, or none.
inline void judge_framework(const Given& given, const InputWord& field, Issues& issues) {
  if (!given.has(field) || given.shelf == nullptr || given.shelf->framework(given.word(field)) != nullptr)
    return;
  std::string all;
  for (const FrameworkProfile& f : given.shelf->frameworks) all.append(all.empty() ? "" : ", ").append(f.id);
  refuse(issues, given, field, "choice", "be " + all, "see trainplan list frameworks");
}

/// The profiles that are asked about: the one that is named or planned with, else all.
inline std::vector<const FrameworkProfile*> profiles_asked(const Given& given, const InputWord& field,
                                                           const Planned* plan) {
  std::vector<const FrameworkProfile*> out;
  if (given.shelf == nullptr) return out;
  std::string_view named = given.word(field);
  if (named.empty() && plan != nullptr) named = plan->trial().problem.profile().id;
  for (const FrameworkProfile& f : given.shelf->frameworks)
    if (named.empty() || f.id == named) out.push_back(&f);
  return out;
}

inline constexpr std::array<const Field*, 5> kWhole{&kGpus, &kCopies, &kNodes, &kKeepLast, &kBuffers};

inline constexpr std::array<const Field*, 3> kSharesNeeds{&kNodes, &kNic, &kStorage},
    kEventNeeds{&kCopy, &kInterval, &kStorage};
inline constexpr std::array<const Field*, 2> kLastNeeds{&kKeepLast, &kInterval},
    kEveryNeeds{&kKeepEvery, &kInterval}, kFailureNeeds{&kFailure, &kCopy}, kBufferNeeds{&kBuffers, &kCopy},
    kStagingNeeds{&kCopies, &kGpus};
inline constexpr std::array<const Field*, 1> kEveryExtra{&kTime};
/// Size and time to write stand beside them in any case.
inline constexpr std::array kParts{
    Part{"every node its share", kSharesNeeds}, Part{"asynchronous saving", kEventNeeds},
    Part{"what is kept", kLastNeeds},           Part{"what is kept for good", kEveryNeeds, kEveryExtra},
    Part{"a failure", kFailureNeeds},           Part{"buffers of snapshots", kBufferNeeds},
    Part{"staging memory", kStagingNeeds}};
/// Of use in these parts alone.
inline constexpr std::array<const Field*, 1> kOfParts{&kTime};

/// A checkpoint is so large, or so many bytes for each of so many parameters.
inline void judge_size(const Given& given, Issues& issues) {
  judge_either(given, kParamsOfModel, kBytesSaved, issues);
  judge_either(given, kWidth, kBytesSaved, issues);
  if (!given.has_or_refused(kBytesSaved) && !given.has_or_refused(kParamsOfModel))
    refuse(issues, given, kParamsOfModel, "missing",
           "be given: parameters of the model, or --bytes of a checkpoint",
           "try --params 8.19B, or name a model and a cluster");
}

inline void judge(const Given& given, Issues& issues) {
  constexpr double kMostSaves = 1e5;
  judge_size(given, issues);
  judge_asked(kParts, kOfParts, given, issues);
  judge_whole(given, kWhole, issues);
  judge_framework(given, kFramework, issues);
  if (!given.has(kInterval)) return;
  const double interval = *given.number(kInterval);
  if (given.has(kCopy) && interval <= *given.number(kCopy))
    refuse(issues, given, kInterval, "interval", "be longer than the copy of a snapshot", "try a longer one");
  if (given.has(kKeepEvery) && *given.number(kKeepEvery) < interval)
    refuse(issues, given, kKeepEvery, "keep-what-is-written",
           "be at least the interval between saves, --interval = " + shown(interval) +
               " s: no more can be kept than is written",
           "try " + shown(interval) + "s or more");
  if (given.has(kFailure) && *given.number(kFailure) / interval > kMostSaves)
    refuse(issues, given, kFailure, "range", "come within 100,000 intervals",
           "try a failure in the first days");
}

}  // namespace trainplan::study::detail::checkpoint
