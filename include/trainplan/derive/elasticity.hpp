/// What 1 % of each continuous input does to the step and to the memory that is left.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainplan/base/value.hpp"
#include "trainplan/cost/sensitivity.hpp"
#include "trainplan/derive/trial.hpp"
#include "trainplan/spec/validate.hpp"

namespace trainplan {

/// step: per cent that the step changes by for 1 % more of the input. room: bytes that 1 % more adds to what
/// is left under the gate. one_sided: 1 % less or more is no legal value.
struct Elasticity {
  std::string_view name;
  Value value;
  std::string origin;
  double step = 0, room = 0;
  bool one_sided = false;
};

namespace detail {

/// Copies of what an input may stand in, to be changed.
struct Varied {
  ClusterSpec cluster;
  Calibration calibration;
  Recipe recipe;
  bool sparse;

  explicit Varied(const Problem& p)
      : cluster(p.cluster()), calibration(p.calibration()), recipe(p.recipe), sparse(p.model().is_sparse()) {}
};

/// Where an input stands. number: nullptr where the problem does not know it.
struct Place {
  double* number = nullptr;
  std::string_view origin{};
};
inline Place place(Figure& f) { return f.known && f.value > 0 ? Place{&f.value, f.origin} : Place{}; }

enum class Part : std::uint8_t { Cluster, Calibration, Recipe };

struct Input {
  std::string_view name;
  Unit unit;
  Part part;
  Place (*place)(Varied&);
};

template <Figure Accelerator::*F>
Place of_accelerator(Varied& v) {
  return place(v.cluster.accelerator.*F);
}
template <Figure ClusterSpec::*F>
Place of_cluster(Varied& v) {
  return place(v.cluster.*F);
}
template <Figure Calibration::*F>
Place of_calibration(Varied& v) {
  return place(v.calibration.*F);
}
template <Figure TimeConstants::*F>
Place of_time(Varied& v) {
  return place(v.calibration.time.*F);
}
template <Figure AcceleratorConstants::*F>
Place of_constants(Varied& v) {
  return place(v.calibration.of(v.cluster.accelerator.id).*F);
}
template <Figure StackConstants::*F>
Place of_stack(Varied& v) {
  return place(v.calibration.of(v.recipe.stack).*F);
}
template <Figure ClusterSpec::*F>
Place of_host(Varied& v) {
  return v.recipe.offload.any() ? place(v.cluster.*F) : Place{};
}
inline Place of_imbalance(Varied& v) {
  return v.sparse ? Place{&v.recipe.imbalance, "run /expert_imbalance"} : Place{};
}
inline Place of_capacity(Varied& v) {
  return v.sparse && v.recipe.capacity_factor > 0 ? Place{&v.recipe.capacity_factor, "run /capacity_factor"}
                                                  : Place{};
}

/// Every number of cluster, constants and run that is no integer and that step or memory depend on.
inline constexpr Input kInputs[] = {
    {"dense bf16 peak", Unit::FlopRate, Part::Cluster, of_accelerator<&Accelerator::bf16_dense>},
    {"dense fp8 peak", Unit::FlopRate, Part::Cluster, of_accelerator<&Accelerator::fp8_dense>},
    {"dense fp4 peak", Unit::FlopRate, Part::Cluster, of_accelerator<&Accelerator::fp4_dense>},
    {"memory bandwidth", Unit::ByteRate, Part::Cluster, of_accelerator<&Accelerator::memory_bandwidth>},
    {"scale-up bandwidth", Unit::ByteRate, Part::Cluster, of_accelerator<&Accelerator::scale_up_bandwidth>},
    {"NIC of a GPU", Unit::ByteRate, Part::Cluster, of_cluster<&ClusterSpec::nic_per_gpu>},
    {"PCI Express", Unit::ByteRate, Part::Cluster, of_cluster<&ClusterSpec::pcie>},
    {"link to the host", Unit::ByteRate, Part::Cluster, of_host<&ClusterSpec::host_link>},
    {"memory bandwidth of the host", Unit::ByteRate, Part::Cluster, of_host<&ClusterSpec::host_bandwidth>},
    {"usable memory", Unit::Memory, Part::Cluster, of_accelerator<&Accelerator::usable_memory>},
    {"rate of 16-bit products", Unit::Share, Part::Calibration, of_constants<&AcceleratorConstants::gemm>},
    {"rate of fp8 products", Unit::Share, Part::Calibration, of_constants<&AcceleratorConstants::low_gemm>},
    {"rate of attention", Unit::Share, Part::Calibration, of_constants<&AcceleratorConstants::attention>},
    {"depth of half that rate", Unit::Count, Part::Calibration, of_time<&TimeConstants::gemm_half_depth>},
    {"start of a product", Unit::Time, Part::Calibration, of_time<&TimeConstants::kernel_start>},
    {"positions of half the attention rate", Unit::Count, Part::Calibration,
     of_time<&TimeConstants::attention_half_length>},
    {"reached share of memory bandwidth", Unit::Share, Part::Calibration,
     of_time<&TimeConstants::memory_rate>},
    {"reached share of scale-up", Unit::Share, Part::Calibration, of_time<&TimeConstants::scale_up_rate>},
    {"reached share of a NIC", Unit::Share, Part::Calibration, of_time<&TimeConstants::nic_rate>},
    {"hop of a ring", Unit::Time, Part::Calibration, of_time<&TimeConstants::ring_step>},
    {"hidden share of TP traffic", Unit::Share, Part::Calibration,
     of_time<&TimeConstants::tp_overlap_hidden>},
    {"hidden share of EP traffic", Unit::Share, Part::Calibration,
     of_time<&TimeConstants::ep_overlap_hidden>},
    {"slowdown by overlapped traffic", Unit::Share, Part::Calibration,
     of_time<&TimeConstants::overlap_slowdown>},
    {"fixed time of a step", Unit::Time, Part::Calibration, of_time<&TimeConstants::step_fixed>},
    {"stragglers, for each doubling of nodes", Unit::Share, Part::Calibration,
     of_time<&TimeConstants::straggler_growth>},
    {"host time of a layer", Unit::Time, Part::Calibration, of_stack<&StackConstants::host_per_layer>},
    {"step of the stack over the model", Unit::Count, Part::Calibration, of_stack<&StackConstants::slowdown>},
    {"overhead of an expert", Unit::Time, Part::Calibration, of_stack<&StackConstants::expert_overhead>},
    {"gate, share of usable memory", Unit::Share, Part::Calibration,
     of_calibration<&Calibration::capacity_gate>},
    {"allocator slack", Unit::Share, Part::Calibration, of_calibration<&Calibration::allocator_slack>},
    {"CUDA context", Unit::Memory, Part::Calibration, of_calibration<&Calibration::cuda_context>},
    {"communicators", Unit::Memory, Part::Calibration, of_calibration<&Calibration::communicators>},
    {"busiest expert rank over the mean", Unit::Count, Part::Recipe, of_imbalance},
    {"expert capacity factor", Unit::Count, Part::Recipe, of_capacity},
};

/// A question with one input changed, and the step of a plan then, on the stage that its trial looked at.
class Variation {
  const Trial& trial_;
  Varied varied_;

 public:
  struct Outcome {
    Seconds<> step;
    double room = 0;
  };

  explicit Variation(const Trial& t) : trial_(t), varied_(t.problem) {}

  Place place(const Input& input) { return input.place(varied_); }

  /// Calls use(problem) with the changed question; not when the value is no legal one.
  template <class Use>
  void change(const Input& input, double factor, Use use) {
    double& number = *input.place(varied_).number;
    const double before = number;
    number *= factor;
    ask(input.part, use);
    number = before;
  }
  /// Nothing when the value is no legal one.
  std::optional<Outcome> with(const Input& input, double factor) {
    std::optional<Outcome> out;
    change(input, factor, [&](const Problem& problem) {
      const auto c = evaluate_stage(problem, trial_.plan, trial_.cost.stage);
      out = {c.step.step, c.gate.num() - c.memory.device.num()};
    });
    return out;
  }

 private:
  template <class Use>
  void ask(Part part, Use use) const {
    Issues issues;
    if (part == Part::Cluster) {
      if (const auto checked = Checked<ClusterSpec>::make(varied_.cluster, issues))
        use(trial_.problem.with(*checked));
    } else if (part == Part::Calibration) {
      if (const auto checked = Checked<Calibration>::make(varied_.calibration, issues))
        use(trial_.problem.with(*checked));
    } else if (varied_.recipe.imbalance >= 1) {
      Problem problem = trial_.problem;
      problem.recipe = varied_.recipe;
      use(problem);
    }
  }
};

/// Inputs are moved by 1 %; where one side is no legal value, by 1 % to the other.
inline constexpr double kInputStep = 0.01;

inline std::optional<Elasticity> elasticity(Variation& variation, const Input& input) {
  const Place at = variation.place(input);
  if (at.number == nullptr) return std::nullopt;
  const auto more = variation.with(input, 1 + kInputStep), less = variation.with(input, 1 - kInputStep),
             same = variation.with(input, 1);
  if (!same || (!more && !less)) return std::nullopt;
  const auto& above = more ? *more : *same;
  const auto& below = less ? *less : *same;
  const double up = more ? 1 + kInputStep : 1, down = less ? 1 - kInputStep : 1;
  return Elasticity{input.name,
                    {*at.number, input.unit},
                    std::string(at.origin),
                    time_elasticity(above.step, below.step, Count<>{up / down}).num(),
                    (above.room - below.room) / (up - down) * kInputStep,
                    !more || !less};
}

}  // namespace detail

/// A change below this is rounding.
inline constexpr double kNoEffect = 1e-9;

/// Every input that the problem knows, the largest effect on the step first. Integers are no part of it: a
/// degree, a batch or a size of the model cannot change by 1 %.
inline std::vector<Elasticity> elasticities(const Trial& t) {
  std::vector<Elasticity> out;
  if (!std::isfinite(t.cost.step.step.num())) return out;
  detail::Variation variation(t);
  for (const detail::Input& input : detail::kInputs)
    if (auto e = detail::elasticity(variation, input)) out.push_back(std::move(*e));
  std::stable_sort(out.begin(), out.end(), [](const Elasticity& a, const Elasticity& b) {
    return std::abs(a.step) > std::abs(b.step);
  });
  return out;
}

}  // namespace trainplan
