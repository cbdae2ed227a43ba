/// Constants of the time model that a fit may change.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/fit/observation.hpp"
#include "trainplan/spec/calibration_keys.hpp"
#include "trainplan/spec/validate.hpp"

namespace trainplan {

/// A figure of the time model: of all runs, of one accelerator, or of one stack.
struct FreeConstant {
  enum class Scope : std::uint8_t { Global, Accelerator, Stack };
  Scope scope = Scope::Global;
  std::string accelerator{};
  Stack stack = Stack::Unknown;
  Figure TimeConstants::*of_time = nullptr;
  Figure AcceleratorConstants::*of_accelerator = nullptr;
  Figure StackConstants::*of_stack = nullptr;
  bool only_low = false;  // moves runs with products in fp8 or fp4 only

  /// The figure; accelerators that share it follow only when the constants are told to.
  Figure& in(Calibration& c) const {
    if (scope == Scope::Global) return c.time.*of_time;
    if (scope == Scope::Stack) return c.of(stack).*of_stack;
    return c.of(accelerator).*of_accelerator;
  }
  const Figure& in(const Calibration& c) const {
    if (scope == Scope::Global) return c.time.*of_time;
    if (scope == Scope::Stack) return c.of(stack).*of_stack;
    return c.of(accelerator).*of_accelerator;
  }
  /// Whether the observation's prediction depends on it.
  bool moves(const Observation& o) const {
    if (only_low && !o.is_low()) return false;
    if (scope == Scope::Stack) return o.stack() == stack;
    return scope == Scope::Global || o.accelerator() == accelerator;
  }
};

/// The constants with one moved by a step of its logarithm, where that is legal.
inline std::optional<Checked<Calibration>> moved(const Calibration& c, const FreeConstant& constant,
                                                 double step) {
  Calibration trial = c;
  constant.in(trial).value *= std::exp(step);
  trial.follow();
  Issues ignored;
  return Checked<Calibration>::make(std::move(trial), ignored);
}

/// The stack that others are slower than: its slowdown is 1, since only products with shares of peak count.
inline constexpr Stack kReferenceStack = Stack::MegatronCore;

/// Of the accelerators and stacks that the observations have: shares of peak, host time and slowdown.
inline std::vector<FreeConstant> local_constants(std::span<const Observation> observations) {
  using Scope = FreeConstant::Scope;
  std::vector<FreeConstant> out;
  std::vector<std::string> accelerators;
  std::vector<Stack> stacks;
  for (const Observation& o : observations) {
    if (std::find(accelerators.begin(), accelerators.end(), o.accelerator()) == accelerators.end())
      accelerators.push_back(o.accelerator());
    if (std::find(stacks.begin(), stacks.end(), o.stack()) == stacks.end()) stacks.push_back(o.stack());
  }
  for (const std::string& id : accelerators) {
    const auto add = [&](Figure AcceleratorConstants::*figure, bool low) {
      out.push_back(
          {.scope = Scope::Accelerator, .accelerator = id, .of_accelerator = figure, .only_low = low});
    };
    const auto any = [&](bool low) {
      return std::any_of(observations.begin(), observations.end(),
                         [&](const Observation& o) { return o.accelerator() == id && o.is_low() == low; });
    };
    if (any(false)) add(&AcceleratorConstants::gemm, false);
    if (any(true)) add(&AcceleratorConstants::low_gemm, true);
    add(&AcceleratorConstants::attention, false);
  }
  for (const Stack s : stacks)
    for (const auto figure : {&StackConstants::host_per_layer, &StackConstants::slowdown})
      if (s != kReferenceStack || figure != &StackConstants::slowdown)
        out.push_back({.scope = Scope::Stack, .stack = s, .of_stack = figure});
  return out;
}

/// Constants of all runs that published figures leave open.
inline std::vector<FreeConstant> global_constants() {
  std::vector<FreeConstant> out;
  for (const auto figure :
       {&TimeConstants::memory_rate, &TimeConstants::gemm_half_depth, &TimeConstants::kernel_start,
        &TimeConstants::nic_rate, &TimeConstants::tp_overlap_hidden, &TimeConstants::overlap_slowdown,
        &TimeConstants::step_fixed, &TimeConstants::straggler_growth})
    out.push_back({.of_time = figure});
  return out;
}

/// Where a constant stands in a file of constants, "stacks", "jax", "slowdown", and how it is written there.
struct ConstantPlace {
  std::vector<std::string> keys;
  Dim dim{};
  bool share = false;

  std::string pointer() const {
    std::string out;
    for (const std::string& key : keys) out += "/" + key;
    return out;
  }
};

inline ConstantPlace place_of(const FreeConstant& c) {
  for (const FigureKey<TimeConstants>& k : kTimeKeys)
    if (c.of_time != nullptr && k.figure == c.of_time) return {{"time", std::string(k.key)}, k.dim, k.share};
  for (const FigureKey<AcceleratorConstants>& k : kAcceleratorKeys)
    if (c.of_accelerator != nullptr && k.figure == c.of_accelerator)
      return {{"accelerators", c.accelerator.empty() ? "other" : c.accelerator, std::string(k.key)},
              k.dim,
              k.share};
  for (const FigureKey<StackConstants>& k : kStackKeys)
    if (c.of_stack != nullptr && k.figure == c.of_stack)
      return {{"stacks", std::string(name_of(c.stack)), std::string(k.key)}, k.dim, k.share};
  return {};
}
inline std::string key_of(const FreeConstant& c) { return place_of(c).keys.back(); }

}  // namespace trainplan
