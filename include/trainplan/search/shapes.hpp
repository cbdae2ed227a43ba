/// What a plan has beside its degrees: how its layers are split over the stages, the schedule, recompute.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "trainplan/plan/problem.hpp"
#include "trainplan/plan/rules.hpp"

namespace trainplan {

/// Layers of each virtual stage that an end of the pipeline may hold more or less than the others.
inline constexpr std::int64_t kEndsMoved = 2;

/// What is rebuilt in the backward pass.
struct Rebuilt {
  Recompute recompute = Recompute::None;
  Modules modules = Plan{}.modules;
  std::uint16_t layers = 0;
};

/// The split of a pipeline with its schedule. [first, last): its part of Interior::rebuilt.
struct Shape {
  Schedule schedule = Schedule::OneFOneB;
  Layout layout = Layout::Equal;
  std::uint16_t vpp = 1, first_layers = 0, last_layers = 0;
  std::uint32_t first = 0, last = 0;
};

/// All that is legal inside one arrangement of degrees, the same for all with as many stages and
/// micro-batches. Of a shape comes first what is fastest (nothing rebuilt), then modules, all layers, and
/// numbers of layers in ascending order.
struct Interior {
  std::vector<Shape> shapes;
  std::vector<Rebuilt> rebuilt;
};

inline void take(const Shape& s, Plan& plan) {
  plan.schedule = s.schedule;
  plan.layout = s.layout;
  plan.vpp = s.vpp;
  plan.first_layers = s.first_layers;
  plan.last_layers = s.last_layers;
}
inline void take(const Rebuilt& r, Plan& plan) {
  plan.recompute = r.recompute;
  plan.modules = r.modules;
  plan.recompute_layers = r.layers;
}

/// What a rule can refuse: an arrangement of degrees as such, a shape inside it, or what is rebuilt there.
enum class Subject : std::uint8_t { Arrangement, Shape, Rebuilt };
constexpr Subject subject_of(const Rule& rule) {
  constexpr std::string_view kShape[] = {"pp-divides-layers", "micro-batches-cover-stages"};
  constexpr std::string_view kRebuilt[] = {"ep-overlap-needs-stages", "offload-layers-without-recompute",
                                           "offload-layers-leave-one", "offload-layers-are-recomputed"};
  const auto is_in = [](std::string_view name, const auto& names) {
    return std::ranges::find(names, name) != std::end(names);
  };
  if (rule.field == "recompute" || rule.field == "recompute_layers" || is_in(rule.id, kRebuilt))
    return Subject::Rebuilt;
  if (rule.field == "vpp" || rule.field == "schedule" || rule.field == "first_layers" ||
      is_in(rule.id, kShape) || rule.id == "ep-overlap-is-offered")
    return Subject::Shape;
  return Subject::Arrangement;
}

/// The first broken rule about that subject, or nullptr.
inline const Rule* first_broken(const Problem& problem, const Plan& plan, Subject subject) {
  static const std::array<std::vector<const Rule*>, 3> kBySubject = [] {
    std::array<std::vector<const Rule*>, 3> sorted;
    for (const Rule& rule : rules()) sorted[static_cast<std::size_t>(subject_of(rule))].push_back(&rule);
    return sorted;
  }();
  for (const Rule* rule : kBySubject[static_cast<std::size_t>(subject)])
    if (!rule->holds(problem, plan)) return rule;
  return nullptr;
}

/// How often each rule, by its place in rules(), was the first to refuse something.
using Refusals = std::vector<std::uint64_t>;
inline Refusals no_refusals() { return Refusals(rules().size()); }
inline void count(const Rule* rule, Refusals& refusals) {
  ++refusals[static_cast<std::size_t>(rule - rules().data())];
}

namespace detail {

class InteriorBuilder {
  const Problem& problem_;
  const RunSpec& run_;
  Plan plan_;
  Refusals& refused_;
  Interior out_{};

  bool is_legal(const Plan& plan, Subject subject) {
    const Rule* broken = first_broken(problem_, plan, subject);
    if (broken != nullptr) count(broken, refused_);
    return broken == nullptr;
  }

  void add(Plan plan, const Rebuilt& r) {
    take(r, plan);
    if (is_legal(plan, Subject::Rebuilt)) out_.rebuilt.push_back(r);
  }

  /// Sets of modules that are worth a look of their own.
  std::vector<Modules> module_sets() const {
    if (run_.recompute_modules) return {*run_.recompute_modules};
    const ModelSpec& model = problem_.model();
    std::vector<Modules> sets;
    if (problem_.profile().selective != SelectivePolicy::Modules ||
        problem_.recipe.attention != Attention::Flash)
      sets.push_back(bit(Module::CoreAttention));
    if (problem_.profile().selective != SelectivePolicy::Modules) return sets;
    sets.push_back(bit(Module::LayerNorm));
    sets.push_back(bit(Module::Mlp));
    if (!model.is_sparse()) return sets;
    const Modules light = bit(Module::MoeAct) | bit(Module::LayerNorm);
    sets.push_back(bit(Module::MoeAct));
    sets.push_back(model.is_latent() ? light | bit(Module::MlaUpProj) : light);
    sets.push_back(bit(Module::Moe));
    return sets;
  }

  void add_recompute(const Plan& plan) {
    const auto open = [&](Recompute r) { return run_.recompute.value_or(r) == r; };
    if (open(Recompute::None)) add(plan, {});
    if (open(Recompute::Selective))
      for (const Modules m : module_sets()) add(plan, {Recompute::Selective, m});
    if (open(Recompute::Full)) add(plan, {Recompute::Full});
    if (!open(Recompute::Layers)) return;
    const std::int64_t most = stage_layers(problem_.model(), plan, plan.pp / 2);
    for (std::int64_t k = plan.vpp; k <= most; k += plan.vpp)
      if (run_.recompute_layers.value_or(k) == k && (k < most || run_.recompute_layers))
        add(plan, {Recompute::Layers, Plan{}.modules, static_cast<std::uint16_t>(k)});
  }

  void add_shape(Shape s) {
    Plan plan = plan_;
    take(s, plan);
    s.first = static_cast<std::uint32_t>(out_.rebuilt.size());
    if (is_legal(plan, Subject::Shape)) add_recompute(plan);
    s.last = static_cast<std::uint32_t>(out_.rebuilt.size());
    if (s.first < s.last) out_.shapes.push_back(s);
  }

  void add_layouts(Shape s) {
    const auto layout = [&](Layout l, std::int64_t first, std::int64_t last) {
      s.layout = l;
      s.first_layers = static_cast<std::uint16_t>(first);
      s.last_layers = static_cast<std::uint16_t>(last);
      add_shape(s);
    };
    const bool given = run_.first_layers || run_.last_layers;
    if (plan_.layout == Layout::FirstAndLast) layout(plan_.layout, plan_.first_layers, plan_.last_layers);
    if (given && plan_.layout == Layout::FirstAndLast) return;
    const auto& uneven = run_.uneven_stages;
    if (plan_.pp == 1 || !uneven.value_or(false)) layout(Layout::Equal, 0, 0);
    if (plan_.pp == 1 || problem_.profile().uneven_stages == UnevenStages::None) return;
    const bool as_equal = plan_.pp * s.vpp == 2 && problem_.model().layers % 2 == 0;
    if (uneven.value_or(!as_equal)) layout(Layout::EmbeddingAndLoss, 0, 0);
    if (uneven || problem_.profile().uneven_stages != UnevenStages::Counted) return;
    const std::int64_t layers = problem_.model().layers, v = s.vpp, even = layers / plan_.pp / v * v,
                       least = std::max(v, even - kEndsMoved * v), most = even + kEndsMoved * v;
    for (std::int64_t first = least; first <= most; first += v)
      for (std::int64_t last = least; last <= most; last += v) {
        const bool as_before =
            plan_.layout == Layout::FirstAndLast && first == plan_.first_layers && last == plan_.last_layers;
        const bool equal = first == last && first * plan_.pp == layers;
        if (!as_before && !equal) layout(Layout::FirstAndLast, first, last);
      }
  }

 public:
  /// plan: the arrangement; a layout with given ends stays.
  InteriorBuilder(const Problem& problem, const RunSpec& run, const Plan& plan, Refusals& refused)
      : problem_(problem), run_(run), plan_(plan), refused_(refused) {}

  Interior build() {
    const std::int64_t slots = problem_.model().layers / plan_.pp + 2;
    const auto fixed = run_.schedule;
    for (std::size_t i = 0; i < kScheduleCount; ++i) {
      const auto s = static_cast<Schedule>(i);
      if (plan_.pp == 1 ? s != fixed.value_or(Schedule::OneFOneB)
                        : fixed.value_or(s) != s || !problem_.profile().offers(s))
        continue;
      for (std::int64_t v = 1; v <= (is_loop(s) || is_vee(s) ? slots : 1); ++v)
        if (chunks_fit(s, v) && run_.vpp.value_or(v) == v)
          add_layouts({.schedule = s, .vpp = static_cast<std::uint16_t>(v)});
    }
    return std::move(out_);
  }
};

}  // namespace detail

}  // namespace trainplan
