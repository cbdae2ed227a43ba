/// `study phases`: the peak of memory when training and generation take turns on the same GPUs.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainplan/cost/phases.hpp"
#include "trainplan/study/kv_cache.hpp"
#include "trainplan/study/phase_order.hpp"
#include "trainplan/study/topic.hpp"

namespace trainplan::study {
namespace detail::phases {

/// In bf16, cut as the plan cuts its layers, without its pipeline: dense parts over tp, routed experts over
/// etp x ep.
inline std::optional<double> weights_of(const Planned& p) {
  const auto dense = p.item("params.per_gpu_average");
  if (!dense) return std::nullopt;
  const double experts = p.item("params.experts_per_gpu_average").value_or(0);
  return bytes_of(DType::Bf16) * (*dense + experts) * p.trial().plan.pp;
}

inline constexpr Input<kBytes> kTrain{
    {"train", "M_train", "training state and activations of a GPU", 0, 1e15},
    {.example = "40GiB", .required = true, .of_plan = [](const Planned& p) {
       return p.item("memory.reserved");
     }}};
inline constexpr Input<kBytes> kWeights{
    {"weights", "M_w", "weights of a GPU in the layout of generation", 0, 1e15},
    {.example = "15.3GiB", .required = true, .of_plan = &weights_of}};
inline constexpr Input<kBytes> kCache{{"cache", "M_kv", "cache of keys and values of a GPU", 0, 1e15},
                                      {.example = "24GiB"}};
inline constexpr Input<kBytes> kShared{
    {"shared", "M_shared", "what both phases keep on a GPU: context, communicators", 0, 1e15},
    {.example = "4GiB",
     .otherwise = 0.0,
     .why = "nothing",
     .of_plan = [](const Planned& p) -> std::optional<double> {
       const auto device = p.item("memory.device"), reserved = p.item("memory.reserved");
       return device && reserved ? std::optional(*device - *reserved) : std::nullopt;
     }}};
inline constexpr Input<kBytes> kMemory{
    {"memory", "C_gpu", "memory of a GPU that may be used", 1, 1e15},
    {.example = "80GB", .of_plan = [](const Planned& p) { return p.item("memory.gate"); }}};
inline constexpr InputWord kOrder{{"order", "", "an order of your own"},
                                  {.example = "+shared,+train,+weights,-train,+cache"}};

inline constexpr std::array<const Field*, 11> kFields{
    &kTrain,        &kWeights,      &kCache,  &kCachedTokens, &kCacheLayers, &kCacheHeads,
    &kCacheHeadDim, &kCacheElement, &kShared, &kMemory,       &kOrder};

inline constexpr std::array<std::string_view, 4> kNames{"train", "weights", "cache", "shared"};

struct Order {
  std::string_view key, title, changes;
};
/// Those that hold everything for a moment, and those that free first.
inline constexpr std::array kOrders{
    Order{"to_generation", "to generation, allocate before freeing", "+shared,+train,+weights,+cache,-train"},
    Order{"to_generation_staged", "to generation, free before the cache",
          "+shared,+train,+weights,-train,+cache"},
    Order{"to_training", "to training, allocate before freeing",
          "+shared,+weights,+cache,+train,-cache,-weights"},
    Order{"to_training_staged", "to training, free the cache first",
          "+shared,+weights,+cache,-cache,+train,-weights"}};

inline void judge(const Given& given, Issues& issues) {
  if (given.has(kCache) && is_asked(given, kCachedTokens))
    refuse(issues, given, kCachedTokens, "exclusive", "",
           "be left out where --cache gives the size of the cache", "leave out one of them");
  else if (!given.has(kCache) && !given.has(kCachedTokens))
    issues.add({.rule = "missing",
                .pointer = option_of(kCache.arg.name),
                .must = "be given, or --cached-tokens with the shape of the model",
                .hint = to_try(kCache)});
  else if (!given.has(kCache))
    judge_part(kCachePart, given, issues);
  if (given.has(kOrder) && !read_order(given.word(kOrder), kNames))
    refuse(issues, given, kOrder, "order", std::string(given.word(kOrder)),
           "name train, weights, cache or shared with + when it comes and - when it leaves", to_try(kOrder));
}

using Sizes = std::array<Bytes<Sym>, kNames.size()>;

inline std::string names_of(const std::vector<bool>& there) {
  std::string out;
  for (std::size_t i = 0; i < there.size(); ++i)
    if (there[i]) out.append(out.empty() ? "" : ", ").append(kNames[i]);
  return out;
}

inline Bytes<Sym> total(const Sizes& sizes, const std::vector<bool>& there) {
  Sum<Bytes<Sym>> sum;
  for (std::size_t i = 0; i < there.size(); ++i)
    if (there[i]) sum.add(sizes[i]);
  return sum.empty() ? Bytes<Sym>{Sym(0.0)} : sum.total();
}

/// The moments of one order, and its peak as item phases.<key>.
struct Course {
  Table moments;
  Bytes<Sym> peak;
};

inline Course course_of(Explain& rec, const Order& order, const Sizes& sizes) {
  Course out{{std::string(order.key),
              std::string(order.title),
              {{"change", "change"}, {"there", "in memory"}, {"bytes", "memory"}},
              {}},
             {}};
  const auto changes = *read_order(order.changes, kNames);
  const auto moments = moments_of(changes, kNames.size());
  Bytes<Sym> peak = total(sizes, moments.front());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Bytes<Sym> bytes = total(sizes, moments[i]);
    if (i > 0) peak = max(peak, bytes);
    out.moments.rows.push_back(
        {std::string(kNames[changes[i].what]) + (changes[i].comes ? " comes" : " leaves"),
         names_of(moments[i]), shown_as(bytes, Unit::Memory)});
  }
  const std::string id = "phases." + std::string(order.key), symbol = "M_" + std::string(order.key),
                    title = "peak " + std::string(order.title);
  out.peak = rec.item({id, symbol, title}, peak);
  return out;
}

inline Verdict verdict_of(const Given& given, double peak) {
  const auto memory = given.number(kMemory);
  return !memory ? Verdict::None : peak <= *memory ? Verdict::Fits : Verdict::DoesNotFit;
}

inline Report answer(Explain& rec, const Given& given, const Planned*) {
  const Sizes sizes{given.in(rec, kTrain), given.in(rec, kWeights),
                    given.has(kCache) ? given.in(rec, kCache) : cache_bytes(rec, given),
                    given.in(rec, kShared)};
  std::vector<Order> orders(kOrders.begin(), kOrders.end());
  if (given.has(kOrder)) orders = {{"own", "in your order", given.word(kOrder)}};
  Table peaks{"peaks", "", {{"order", "order"}, {"peak", "peak"}}, {}};
  const auto memory = given.maybe(rec, kMemory);
  if (memory) peaks.columns.push_back({"left", "left of the GPU"});
  std::vector<Block> courses;
  double least = 0;
  for (const Order& order : orders) {
    Course course = course_of(rec, order, sizes);
    const double peak = value_of(course.peak);
    least = courses.empty() ? peak : std::min(least, peak);
    std::vector<Cell> row{std::string(order.title), shown_as(course.peak, Unit::MemoryBoth)};
    if (memory) row.push_back(shown_as(memory_left(*memory, course.peak), Unit::Memory));
    peaks.rows.push_back(std::move(row));
    courses.push_back(std::move(course.moments));
  }
  Report r{"", "Memory of phases in a row", verdict_of(given, least), {}, {}};
  r.headline = {"least peak ", Value{least, Unit::Memory}};
  if (memory) r.headline.insert(r.headline.end(), {" of ", shown_as(*memory, Unit::Memory)});
  r.sections.push_back({"peaks", "Peaks", {std::move(peaks)}});
  r.sections.push_back({"moments", "Moments", std::move(courses)});
  return r;
}

}  // namespace detail::phases

inline constexpr Topic kPhases{"phases",
                               "the peak of memory when training and generation take turns on the same GPUs",
                               "What is alive together adds. Freeing the training state before the cache of "
                               "keys and values comes, and the\n"
                               "cache before the training state comes back, saves the smaller of the two.",
                               detail::phases::kFields,
                               &detail::phases::judge,
                               &detail::phases::answer};

}  // namespace trainplan::study
