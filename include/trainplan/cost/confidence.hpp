/// How sure a prediction is: the class of the run, and the range in which measured runs of that class lie.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "trainplan/cost/compute.hpp"
#include "trainplan/cost/inputs.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula time_range_end{
    "time_range_end", "end of the range of a step time",
    Source{"measured-runs", "held-out step times of the class"},
    std::array{Arg{"step", "T_step", "predicted step time"},
               Arg{"factor", "r_T", "measured over predicted at this end"}},
    []<class N>(Seconds<N> step, Count<N> factor) { return step * factor; }};

inline constexpr Formula memory_range_end{
    "memory_range_end", "end of the range of a memory peak", Source{"measured-runs", "peaks of the class"},
    std::array{Arg{"peak", "M", "predicted peak"},
               Arg{"factor", "r_M", "measured over predicted at this end"}},
    []<class N>(Bytes<N> peak, Count<N> factor) { return peak * factor; }};

inline constexpr Formula range_middle{"range_middle", "middle of a range of factors",
                                      Source{"identity", "geometric mean of the ends"},
                                      std::array{Arg{"low", "r_lo", "factor at the low end", 1e-3},
                                                 Arg{"high", "r_hi", "factor at the high end", 1e-3}},
                                      []<class N>(Count<N> low, Count<N> high) { return sqrt(low * high); }};

inline constexpr Formula range_width{"range_width", "width of a range of factors, in doublings",
                                     Source{"identity", "log2 of the ratio of its ends"},
                                     std::array{Arg{"low", "r_lo", "factor at the low end", 1e-3},
                                                Arg{"high", "r_hi", "factor at the high end", 1e-3}},
                                     []<class N>(Count<N> low, Count<N> high) { return log2(high / low); }};

inline constexpr Formula joint_width{
    "joint_width", "width of a range with two independent reasons to be wrong",
    Source{"identity", "variances of independent errors add"},
    std::array{Arg{"one", "w_1", "width that one reason gives, in doublings"},
               Arg{"other", "w_2", "width that the other gives"}},
    []<class N>(Count<N> one, Count<N> other) { return sqrt(one * one + other * other); }};

inline constexpr Formula scaled_width{
    "scaled_width", "width of a range at another confidence",
    Source{"identity", "errors of normal logarithms"},
    std::array{Arg{"width", "w", "width at the confidence of the data, in doublings"},
               Arg{"deviations", "z", "standard deviations on each side that are wanted"},
               Arg{"known", "z_0", "those of the data", 1e-3}},
    []<class N>(Count<N> width, Count<N> deviations, Count<N> known) { return width * deviations / known; }};

inline constexpr Formula range_low{
    "range_low", "factor at the low end of a range", Source{"identity", "half of its width below the middle"},
    std::array{Arg{"middle", "r_mid", "middle of the range"},
               Arg{"width", "w", "width, in doublings", 0, 100}},
    []<class N>(Count<N> middle, Count<N> width) { return middle / pow(Count<N>{2.0}, width / 2.0); }};

inline constexpr Formula range_high{
    "range_high", "factor at the high end of a range",
    Source{"identity", "half of its width above the middle"},
    std::array{Arg{"middle", "r_mid", "middle of the range"},
               Arg{"width", "w", "width, in doublings", 0, 100}},
    []<class N>(Count<N> middle, Count<N> width) { return middle * pow(Count<N>{2.0}, width / 2.0); }};

/// Nodes up to which a run is small, and the width up to which a mixture of experts is narrow.
inline constexpr std::int64_t kFewNodes = 16, kNarrowExperts = 2048;

inline bool accelerator_is_known(const Problem& p) { return !p.accelerator().id.empty(); }
inline bool stack_is_known(const Problem& p) { return p.recipe.stack != Stack::Unknown; }

inline TimeClass time_class(const Problem& p, const Plan& plan) {
  const bool sparse = p.model().is_sparse(), few = p.cluster().nodes <= kFewNodes;
  if (!stack_is_known(p)) return sparse ? TimeClass::UnknownStackExperts : TimeClass::UnknownStack;
  if (sparse) {
    if (p.model().hidden <= kNarrowExperts && p.recipe.graphs == Graphs::None) return TimeClass::SmallExperts;
    return few ? TimeClass::ExpertsFewNodes : TimeClass::ExpertsManyNodes;
  }
  if (is_block_scaled(p.recipe.matmul)) return TimeClass::BlockScaled;
  if (p.recipe.matmul != Matmul::Wide) return few ? TimeClass::Fp8FewNodes : TimeClass::Fp8ManyNodes;
  if (plan.tp == 1 && plan.pp == 1 && plan.cp == 1) return TimeClass::DataParallel;
  return p.cluster().nodes == 1 && !p.stack().eager ? TimeClass::OneNode : TimeClass::ModelParallel;
}

/// Memory is calibrated for the profile together with the stack that it describes.
inline MemoryClass memory_class(const Problem& p, Reading reading) {
  const auto runs = [&](Stack stack) { return p.profile().stack == stack && p.recipe.stack == stack; };
  if (runs(Stack::MegatronCore))
    return reading == Reading::Device ? MemoryClass::MegatronDevice : MemoryClass::Megatron;
  const bool compiled = p.profile().compiled_stack && p.recipe.stack == p.profile().compiled_stack;
  const bool torchtitan = p.profile().stack == Stack::Torchtitan;
  return torchtitan && (compiled || runs(Stack::Torchtitan)) ? MemoryClass::Torchtitan : MemoryClass::Other;
}

/// Standard deviations on each side of the mean of a normal distribution that hold a share of it.
inline double deviations_of(double share) {
  double low = 0, high = 10;
  for (int i = 0; i < 60; ++i) {
    const double z = (low + high) / 2;
    (std::erf(z / std::sqrt(2.0)) < share ? low : high) = z;
  }
  return (low + high) / 2;
}

/// Ends of the step time and of the device memory of the stage's GPU.
template <class N>
struct RangeCost {
  Seconds<N> time_low, time_high;
  Count<N> mfu_low, mfu_full_low;
  Bytes<N> device_low, device_high;
};

template <class N>
struct FactorRange {
  Count<N> low, high;
};

namespace detail {

/// Names of what the factors of one range go through.
struct RangeItems {
  std::string_view low_symbol, high_symbol;  // of the class
  Item middle, width, wanted, low, high;
};
inline constexpr RangeItems kTimeRange{"r_lo",
                                       "r_hi",
                                       {"step.range_middle", "r_mid", ""},
                                       {"step.range_width", "w_T", ""},
                                       {"step.range_wanted", "w_T'", ""},
                                       {"step.range_low", "r_lo'", ""},
                                       {"step.range_high", "r_hi'", ""}};
inline constexpr RangeItems kMemoryRange{"m_lo",
                                         "m_hi",
                                         {"memory.range_middle", "m_mid", ""},
                                         {"memory.range_width", "w_M", ""},
                                         {"memory.range_wanted", "w_M'", ""},
                                         {"memory.range_low", "m_lo'", ""},
                                         {"memory.range_high", "m_hi'", ""}};

template <Recorder R>
FactorRange<typename R::Num> class_range(R& rec, std::string_view low, std::string_view high,
                                         const ErrorClass& c) {
  using N = typename R::Num;
  return {figure<Count<N>>(rec, low, "measured over predicted, low end", c.low),
          figure<Count<N>>(rec, high, "measured over predicted, high end", c.high)};
}

/// The width at the confidence that the run wants.
template <Recorder R>
Count<typename R::Num> wanted_width(R& rec, const RangeItems& names, const Problem& p,
                                    Count<typename R::Num> width) {
  using N = typename R::Num;
  if (!p.recipe.confidence) return width;
  const Figure& known = p.calibration().ranges.confidence;
  return rec.apply(
      scaled_width, names.wanted, width,
      rec.template in<Count<N>>({"z", "deviations that hold the confidence", "run /confidence"},
                                deviations_of(*p.recipe.confidence)),
      rec.template in<Count<N>>({"z_0", "deviations that hold the one of the data", known.origin},
                                deviations_of(known.value)));
}

/// The factors of a class, with what an accelerator without constants adds and at the confidence that the run
/// wants. Without either they are those of the class.
template <Recorder R>
FactorRange<typename R::Num> factors_of(R& rec, const RangeItems& names, const Problem& p,
                                        const ErrorClass& c, bool accelerator_is_new) {
  using N = typename R::Num;
  const FactorRange<N> one = class_range(rec, names.low_symbol, names.high_symbol, c);
  if (!accelerator_is_new && !p.recipe.confidence) return one;
  Count<N> middle, width;
  if (accelerator_is_new) {
    const FactorRange<N> other = class_range(rec, "a_lo", "a_hi", p.calibration().ranges.accelerator);
    middle = rec.item(Item{names.middle.id, names.middle.symbol, "middle of both ranges"},
                      range_middle(one.low, one.high) * range_middle(other.low, other.high));
    width = rec.apply(joint_width, names.width, range_width(one.low, one.high),
                      range_width(other.low, other.high));
  } else {
    middle = rec.apply(range_middle, names.middle, one.low, one.high);
    width = rec.apply(range_width, names.width, one.low, one.high);
  }
  width = wanted_width(rec, names, p, width);
  return {rec.apply(range_low, names.low, middle, width), rec.apply(range_high, names.high, middle, width)};
}

}  // namespace detail

/// Measured over predicted at the ends of the range of a step time.
template <Recorder R>
FactorRange<typename R::Num> time_factors(R& rec, const Problem& p, const Plan& plan) {
  return detail::factors_of(rec, detail::kTimeRange, p, p.calibration().ranges.of(time_class(p, plan)),
                            !accelerator_is_known(p));
}

/// The same for one reading of the peak of memory.
template <Recorder R>
FactorRange<typename R::Num> memory_factors(R& rec, const Problem& p, Reading reading) {
  return detail::factors_of(rec, detail::kMemoryRange, p, p.calibration().ranges.of(memory_class(p, reading)),
                            false);
}

template <Recorder R>
RangeCost<typename R::Num> range_cost(R& rec, const Problem& p, const Plan& plan,
                                      const ComputeCost<typename R::Num>& compute,
                                      Seconds<typename R::Num> step, Bytes<typename R::Num> device) {
  const auto time = time_factors(rec, p, plan);
  const auto memory = memory_factors(rec, p, Reading::Device);
  const auto low = rec.apply(time_range_end, {"step.time_low", "T_low", "step time, low end of its range"},
                             step, time.low);
  const auto high = rec.apply(
      time_range_end, {"step.time_high", "T_high", "step time, high end of its range"}, step, time.high);
  return {low,
          high,
          rec.apply(mfu, {"step.mfu_low", "MFU_low", "MFU, causal, low end of its range"},
                    compute.ideal_causal, high),
          rec.apply(mfu, {"step.mfu_full_low", "MFU_full_low", "MFU, full matrix, low end of its range"},
                    compute.ideal_full, high),
          rec.apply(memory_range_end, {"memory.device_low", "M_low", "device total, low end of its range"},
                    device, memory.low),
          rec.apply(memory_range_end, {"memory.device_high", "M_high", "device total, high end of its range"},
                    device, memory.high)};
}

using ConfidenceFormulas = Chapter<time_range_end, memory_range_end, range_middle, range_width, joint_width,
                                   scaled_width, range_low, range_high>;

}  // namespace trainplan
