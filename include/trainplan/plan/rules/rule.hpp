/// What a rule of a legal plan is, and the arithmetic that rules share.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>

#include "trainplan/plan/problem.hpp"
#include "trainplan/spec/validator.hpp"

namespace trainplan {

/// "<field> must <must>": field is the run field whose value breaks the rule, numbers() what it is judged on.
/// also: another field that the rule depends on; while that one is wrong, the rule says nothing.
struct Rule {
  std::string_view id{}, field{}, also{}, must{};
  bool (*keeps)(const Problem&, const Plan&) = nullptr;
  std::string (*numbers)(const Problem&, const Plan&) = nullptr;
  /// A way out besides other values of the field; empty where there is none.
  std::string (*repair)(const Problem&, const Plan&) = nullptr;
  /// Frameworks that have the rule; nullptr: all.
  bool (*applies)(const FrameworkProfile&) = nullptr;
  /// The sentence where it differs between frameworks.
  std::string_view (*wording)(const FrameworkProfile&) = nullptr;

  bool is_of(const FrameworkProfile& f) const { return applies == nullptr || applies(f); }
  bool holds(const Problem& x, const Plan& p) const { return !is_of(x.profile()) || keeps(x, p); }
  std::string_view sentence(const FrameworkProfile& f) const {
    return wording == nullptr ? must : wording(f);
  }
};

namespace detail {

inline std::string text(std::int64_t n) { return std::to_string(n); }
constexpr bool divides(std::int64_t divisor, std::int64_t n) { return divisor > 0 && n % divisor == 0; }

/// "87.5 %".
inline std::string percent(double share) { return shown(std::round(share * 1000) / 10) + " %"; }
/// A quotient as it is read: "15.625", "5.33".
inline std::string quotient(std::int64_t n, std::int64_t divisor) {
  return shown(std::round(static_cast<double>(n) / static_cast<double>(divisor) * 1000) / 1000);
}

/// GPUs of one replica of the dense layers, and of the routed experts.
constexpr std::int64_t model_grid(const Plan& p) { return std::int64_t{p.tp} * p.pp * p.cp; }
constexpr std::int64_t expert_grid(const Plan& p) { return std::int64_t{p.etp} * p.ep * p.pp; }

/// The numbers of GPUs, in whole nodes, nearest to the cluster's that `ranks` divides.
inline std::string fitting_clusters(const ClusterSpec& c, std::int64_t ranks) {
  const std::int64_t step = std::lcm(ranks, c.gpus_per_node), below = c.gpus() / step * step;
  return "run on " + (below > 0 ? text(below) + " or " : "") + text(below + step) + " GPUs";
}

/// The multiples of `unit` around n.
inline std::string neighbours(std::int64_t n, std::int64_t unit) {
  const std::int64_t below = n / unit * unit;
  return (below > 0 ? text(below) + " or " : "") + text(below + unit);
}

template <std::size_t... N>
constexpr auto concatenated(const std::array<Rule, N>&... parts) {
  std::array<Rule, (N + ...)> all{};
  std::size_t at = 0;
  const auto append = [&](const auto& part) {
    for (const Rule& rule : part) all[at++] = rule;
  };
  (append(parts), ...);
  return all;
}

}  // namespace detail

}  // namespace trainplan
