/// How much an input must change until another plan is the fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

/// The inputs that decide between plans. None is part of a recipe, in which the plans may differ.
inline constexpr std::string_view kDeciding[] = {"NIC of a GPU", "scale-up bandwidth",
                                                 "rate of 16-bit products", "memory bandwidth"};
inline constexpr double kFarthest = 4, kGridStep = 1.189207115002721;  // four steps double
inline constexpr int kHalvings = 16;  // of a step of the grid: to 3e-6 of the value

class CrossoverFinder {
  const Trial& winner_;
  const std::vector<Trial>& others_;
  Variation variation_;

  static double step_of(const Problem& changed, const Trial& t) {
    Problem problem = changed;
    problem.recipe = t.problem.recipe;
    return evaluate_stage(problem, t.plan, t.cost.stage).step.step.num();
  }

  /// The other plan that is faster than the winner by most, with the input at that factor; none where that is
  /// no legal value.
  std::optional<std::size_t> faster(const Input& input, double factor) {
    std::optional<std::size_t> best;
    variation_.change(input, factor, [&](const Problem& changed) {
      double least = step_of(changed, winner_) * (1 - kNoEffect);
      for (std::size_t i = 0; i < others_.size(); ++i) {
        const double step = step_of(changed, others_[i]);
        if (step >= least) continue;
        least = step;
        best = i;
      }
    });
    return best;
  }

 public:
  CrossoverFinder(const Trial& winner, const std::vector<Trial>& others)
      : winner_(winner), others_(others), variation_(winner) {}

  std::optional<Crossover> find(const Input& input, bool more) {
    const Place place = variation_.place(input);
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
inline std::vector<Crossover> crossovers(const Trial& winner, const std::vector<Trial>& others,
                                         const ForAll& for_all) {
  std::vector<std::pair<const detail::Input*, bool>> asked;
  for (const std::string_view name : detail::kDeciding)
    for (const detail::Input& input : detail::kInputs)
      if (input.name == name)
        for (const bool more : {false, true}) asked.emplace_back(&input, more);
  std::vector<std::optional<Crossover>> found(asked.size());
  for_all(asked.size(), [&](std::size_t i) {
    found[i] = detail::CrossoverFinder(winner, others).find(*asked[i].first, asked[i].second);
  });
  std::vector<Crossover> out;
  for (auto& c : found)
    if (c) out.push_back(std::move(*c));
  return out;
}

}  // namespace trainplan
