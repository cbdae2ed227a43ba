/// One step away from a plan: one axis has its next legal value, and inside the degrees the fastest plan is
/// taken.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainplan/search/search.hpp"

namespace trainplan {

/// value: of the axis. trial: the fastest plan that fits there, else the smallest.
struct Neighbour {
  std::string_view axis;
  std::string value;
  Trial trial;
};

namespace detail {

/// An axis of arrangements.
struct SpaceAxis {
  std::string_view name;
  std::int64_t (*value)(const Arrangement&);
  std::string (*word)(const Arrangement&);
};
template <auto Member>
std::int64_t member(const Arrangement& a) {
  return static_cast<std::int64_t>(a.plan.*Member);
}
template <auto Member>
std::string number_word(const Arrangement& a) {
  return std::to_string(a.plan.*Member);
}
inline constexpr SpaceAxis kAxes[] = {
    {"tp", member<&Plan::tp>, number_word<&Plan::tp>},
    {"pp", member<&Plan::pp>, number_word<&Plan::pp>},
    {"cp", member<&Plan::cp>, number_word<&Plan::cp>},
    {"ep", member<&Plan::ep>, number_word<&Plan::ep>},
    {"etp", member<&Plan::etp>, number_word<&Plan::etp>},
    {"micro-batch", member<&Plan::micro_batch>, number_word<&Plan::micro_batch>},
    {"sharding", member<&Plan::sharding>,
     [](const Arrangement& a) { return std::string(name_of(a.plan.sharding)); }},
};

/// Fields that belong to no axis above, or follow from the degrees, do not count.
inline bool differs_only_in(const SpaceAxis& axis, const Arrangement& a, const Arrangement& b) {
  if (a.variant != b.variant) return false;
  const bool modes =
      a.plan.reshard != b.plan.reshard || a.plan.sync_each_micro_batch != b.plan.sync_each_micro_batch;
  if (modes && axis.name != "sharding") return false;
  for (const SpaceAxis& other : kAxes)
    if ((other.value(a) != other.value(b)) != (other.name == axis.name)) return false;
  return true;
}

inline Trial trial_of(const PlanSpace& space, std::uint64_t index) {
  const Plan plan = space.at(index);
  const Problem& problem = space.problem(space.arrangement_of(index));
  return {problem, plan, evaluate(problem, plan)};
}

/// The fastest plan of one arrangement that keeps the margin, else fits, else the smallest.
inline Trial best_inside(const PlanSpace& space, std::uint32_t arrangement) {
  const SearchOptions options{.top = 1, .slower = 0, .over = 0};
  for (const Room room : {Room::Planned, Room::Gate, Room::None}) {
    Found found(options);
    Lane(space, options, room, found).visit({0, arrangement});
    const Best& kept = room == Room::None ? found.smallest : found.best;
    if (!kept.kept().empty()) return trial_of(space, kept.kept().front().index);
  }
  return trial_of(space, space.arrangements()[arrangement].first);
}

/// An arrangement that differs from another in one axis.
struct Beside {
  const SpaceAxis* axis;
  std::uint32_t arrangement;
};

class Neighbourhood {
  const PlanSpace& space_;
  const Trial& of_;
  const Arrangement& home_;
  std::vector<Neighbour> out_{};

  /// The next smaller and the next larger value; of a word every other.
  void add(const SpaceAxis& axis, std::vector<Beside>& out) const {
    const std::int64_t own = axis.value(home_);
    std::optional<std::uint32_t> below, above;
    const auto value = [&](std::uint32_t i) { return axis.value(space_.arrangements()[i]); };
    for (std::uint32_t i = 0; i < space_.arrangements().size(); ++i) {
      if (!differs_only_in(axis, space_.arrangements()[i], home_)) continue;
      if (axis.name == "sharding")
        out.push_back({&axis, i});
      else if (value(i) < own && (!below || value(i) > value(*below)))
        below = i;
      else if (value(i) > own && (!above || value(i) < value(*above)))
        above = i;
    }
    if (below) out.push_back({&axis, *below});
    if (above) out.push_back({&axis, *above});
  }
  /// Of equal values the better one stays.
  void add(const Beside& beside, Trial trial) {
    const SpaceAxis& axis = *beside.axis;
    const std::string word = axis.word(space_.arrangements()[beside.arrangement]);
    const auto same = [&](const Neighbour& n) { return n.axis == axis.name && n.value == word; };
    const auto seen = std::ranges::find_if(out_, same);
    if (seen == out_.end())
      out_.push_back({axis.name, word, std::move(trial)});
    else if (std::pair(trial.verdict(), trial.cost.step.step.num()) <
             std::pair(seen->trial.verdict(), seen->trial.cost.step.step.num()))
      seen->trial = std::move(trial);
  }

  /// Plans of the same degrees with another number of virtual stages, schedule or recompute.
  void add_inside() {
    const Interior& inside = space_.interior(home_);
    const auto consider = [&](std::string_view axis, const std::string& value, const Plan& plan) {
      for (const Neighbour& n : out_)
        if (n.axis == axis && n.value == value) return;
      out_.push_back({axis, value, {space_.problem(home_), plan, evaluate(space_.problem(home_), plan)}});
    };
    std::optional<Shape> fewer, more;
    for (const Shape& s : inside.shapes) {
      Plan plan = of_.plan;
      take(s, plan);
      const bool kept = std::any_of(
          inside.rebuilt.begin() + s.first, inside.rebuilt.begin() + s.last, [&](const Rebuilt& r) {
            return r.recompute == of_.plan.recompute && r.modules == of_.plan.modules &&
                   r.layers == of_.plan.recompute_layers;
          });
      const bool same_split = plan.layout == of_.plan.layout && plan.first_layers == of_.plan.first_layers &&
                              plan.last_layers == of_.plan.last_layers;
      if (!kept || !same_split) continue;
      if (s.schedule == of_.plan.schedule) {
        if (s.vpp < of_.plan.vpp && (!fewer || s.vpp > fewer->vpp)) fewer = s;
        if (s.vpp > of_.plan.vpp && (!more || s.vpp < more->vpp)) more = s;
      } else if (s.vpp == of_.plan.vpp || !is_loop(s.schedule)) {
        consider("schedule", std::string(name_of(s.schedule)), plan);
      }
    }
    for (const auto& s : {fewer, more}) {
      if (!s) continue;
      Plan plan = of_.plan;
      take(*s, plan);
      consider("vpp", std::to_string(s->vpp), plan);
    }
    const auto home = std::ranges::find_if(inside.shapes, [&](const Shape& s) {
      Plan plan = of_.plan;
      take(s, plan);
      return plan == of_.plan;
    });
    for (std::uint32_t r = home->first; r < home->last; ++r) {
      Plan plan = of_.plan;
      take(inside.rebuilt[r], plan);
      const Rebuilt& kind = inside.rebuilt[r];
      if (plan == of_.plan || (kind.recompute == Recompute::Layers && kind.layers > of_.plan.vpp)) continue;
      std::string value(name_of(kind.recompute));
      if (kind.recompute == Recompute::Layers) value += " " + std::to_string(kind.layers);
      if (kind.recompute == Recompute::Selective) value += " (" + names_of_modules(kind.modules) + ")";
      consider("recompute", value, plan);
    }
  }

 public:
  Neighbourhood(const PlanSpace& space, std::uint64_t index, const Trial& of)
      : space_(space), of_(of), home_(space.arrangement_of(index)) {}

  std::vector<Beside> arrangements() const {
    std::vector<Beside> out;
    for (const SpaceAxis& axis : kAxes) add(axis, out);
    return out;
  }
  std::vector<Neighbour> all(const ForAll& for_all) {
    const std::vector<Beside> beside = arrangements();
    std::vector<std::optional<Trial>> best(beside.size());
    for_all(beside.size(), [&](std::size_t i) { best[i] = best_inside(space_, beside[i].arrangement); });
    for (std::size_t i = 0; i < beside.size(); ++i) add(beside[i], std::move(*best[i]));
    add_inside();
    return std::move(out_);
  }
  /// Those within the same degrees.
  std::vector<Neighbour> inside() {
    add_inside();
    return std::move(out_);
  }
};

/// The fastest plan of those arrangements that keeps the margin, or fits.
inline std::optional<Neighbour> fastest_that_fits(const PlanSpace& space, const std::vector<Beside>& beside,
                                                  Room room) {
  const SearchOptions options{.top = 1, .slower = 0, .over = 0};
  Found found(options);
  Lane lane(space, options, room, found);
  for (const Beside& b : beside) lane.visit(bounded(space, b.arrangement));
  if (found.best.kept().empty()) return std::nullopt;
  const std::uint64_t index = found.best.kept().front().index;
  const Arrangement& home = space.arrangement_of(index);
  const auto at = std::ranges::find_if(
      beside, [&](const Beside& b) { return &space.arrangements()[b.arrangement] == &home; });
  return Neighbour{at->axis->name, at->axis->word(home), trial_of(space, index)};
}

}  // namespace detail

/// of: the plan of that number.
inline std::vector<Neighbour> neighbours(const PlanSpace& space, std::uint64_t index, const Trial& of,
                                         const ForAll& for_all) {
  return detail::Neighbourhood(space, index, of).all(for_all);
}

/// Of the changes one step away from a plan above the gate the one that keeps the margin, or else fits, with
/// the shortest step.
inline std::optional<Neighbour> cheapest_that_fits(const PlanSpace& space, std::uint64_t index,
                                                   const Trial& of) {
  detail::Neighbourhood around(space, index, of);
  const std::vector<detail::Beside> beside = around.arrangements();
  const std::vector<Neighbour> inside = around.inside();
  for (const auto& [room, verdict] :
       {std::pair(Room::Planned, Verdict::Fits), std::pair(Room::Gate, Verdict::Tight)}) {
    std::optional<Neighbour> best = detail::fastest_that_fits(space, beside, room);
    for (const Neighbour& n : inside)
      if (n.trial.verdict() == verdict && (!best || n.trial.cost.step.step < best->trial.cost.step.step))
        best = n;
    if (best) return best;
  }
  return std::nullopt;
}

}  // namespace trainplan
