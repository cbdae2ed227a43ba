/// How much an input must change until another plan is the fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainplan/derive/elasticity.hpp"
#include "trainplan/search/neighbours.hpp"

namespace trainplan {

/// at: the value where `wins` becomes as fast; nothing when that is nowhere between a quarter of the input
/// and four times of it.
struct Crossover {
  std::string_view input;
  Value now;
  bool more = false;
  std::optional<double> at{};
  std::optional<Trial> wins{};
};

namespace detail {

/// The inputs that decide between plans.
inline constexpr std::string_view kDeciding[] = {"NIC of a GPU", "scale-up bandwidth",
                                                 "rate of 16-bit products", "memory bandwidth"};
inline constexpr double kFarthest = 4, kGridStep = 1.189207115002721;  // four steps double
inline constexpr int kHalvings = 30;

class CrossoverFinder {
  const std::vector<Trial>& others_;
  double own_step_;
  Variation winner_;
  std::vector<Variation> variations_{};  // of the others

  static double step_with(Variation& v, const Input& input, double factor, double otherwise) {
    const auto out = v.with(input, factor);
    return out ? out->step.num() : otherwise;
  }

  /// The other plan that is faster than the winner by most, with the input at that factor.
  std::optional<std::size_t> faster(const Input& input, double factor) {
    double least = step_with(winner_, input, factor, own_step_) * (1 - kNoEffect);
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < others_.size(); ++i) {
      const double step = step_with(variations_[i], input, factor, others_[i].cost.step.step.num());
      if (step >= least) continue;
      least = step;
      best = i;
    }
    return best;
  }

 public:
  CrossoverFinder(const Trial& winner, const std::vector<Trial>& others)
      : others_(others), own_step_(winner.cost.step.step.num()), winner_(winner) {
    variations_.reserve(others.size());
    for (const Trial& t : others) variations_.emplace_back(t);
  }

  std::optional<Crossover> find(const Input& input, bool more) {
    const Place place = winner_.place(input);
    if (place.number == nullptr) return std::nullopt;
    const double now = *place.number;
    const bool share = input.unit == Unit::Share;
    Crossover out{input.name, {now, input.unit}, more};
    double near = 1;
    for (double g = kGridStep; g <= kFarthest * 1.001; g *= kGridStep) {
      const double far = more ? g : 1 / g;
      if (share && now * far > 1) break;
      const auto first = faster(input, far);
      if (!first) {
        near = far;
        continue;
      }
      double lose = near, win = far;
      std::size_t wins = *first;
      for (int i = 0; i < kHalvings; ++i) {
        const double middle = (lose + win) / 2;
        if (const auto at = faster(input, middle)) {
          win = middle;
          wins = *at;
        } else {
          lose = middle;
        }
      }
      out.at = now * win;
      out.wins = others_[wins];
      break;
    }
    return out;
  }
};

}  // namespace detail

/// Of one input after the other, less and more of it. others: plans that stand by to win.
inline std::vector<Crossover> crossovers(const Trial& winner, const std::vector<Trial>& others) {
  std::vector<Crossover> out;
  detail::CrossoverFinder finder(winner, others);
  for (const std::string_view name : detail::kDeciding)
    for (const detail::Input& input : detail::kInputs)
      if (input.name == name)
        for (const bool more : {false, true})
          if (auto c = finder.find(input, more)) out.push_back(std::move(*c));
  return out;
}

}  // namespace trainplan
