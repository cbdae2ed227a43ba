/// The closed form that belongs to a schedule, put beside what the simulation of it finds.
#pragma once

#include <optional>
#include <string_view>

#include "trainplan/cost/schedule_bounds.hpp"
#include "trainplan/sim/cut.hpp"

namespace trainplan {

/// What a bound speaks of: idle time up to an update that waits for all stages, or within the span of a
/// stage.
enum class BoundOf : bool { Idle, Span };

/// seconds: no transfers, every stage with the mean times.
struct ScheduleBound {
  std::string_view formula;
  BoundOf of = BoundOf::Idle;
  double seconds = 0;
};

/// Mean passes of a full stage.
struct MeanPasses {
  Seconds<double> forward{}, input_gradient{}, weight_gradient{};
  bool equal_stages = true;

  Seconds<double> backward() const { return input_gradient + weight_gradient; }
  Seconds<double> all() const { return forward + backward(); }
  /// All three passes take the same time.
  bool equal_passes() const { return forward == input_gradient && forward == weight_gradient; }
};

inline MeanPasses mean_passes(const sim::Pipeline& pipeline) {
  const sim::Durations& d = pipeline.cut(sim::Placement::Linear).shape.durations;
  const auto mean = [&](const std::vector<sim::Ticks>& of) {
    double sum = 0;
    for (const sim::Ticks t : of) sum += pipeline.clock.seconds(t);
    return Seconds<double>{sum / static_cast<double>(of.size())};
  };
  const auto equal = [](const std::vector<sim::Ticks>& of) {
    return std::ranges::all_of(of, [&](sim::Ticks t) { return t == of.front(); });
  };
  return {mean(d.forward), mean(d.input_gradient), mean(d.weight_gradient),
          equal(d.forward) && equal(d.input_gradient) && equal(d.weight_gradient)};
}

namespace detail {

/// Both passes of a pair; without an overlap their sum.
inline Seconds<double> pair_time(const sim::Pipeline& pipeline, const MeanPasses& t) {
  const sim::Times& times = pipeline.cut(sim::Placement::TwoDirections).times;
  if (times.overlap.empty()) return t.all();
  double saved = 0;
  for (const sim::Ticks of_stage : times.overlap) saved += pipeline.clock.seconds(of_stage);
  return t.all() - Seconds<double>{saved / static_cast<double>(times.overlap.size())};
}

/// Orders with a limit are no longer than the order by hand that needs the same memory.
inline std::optional<ScheduleBound> limited_bound(const sim::Shape& shape, const MeanPasses& t) {
  const Count<double> p{static_cast<double>(shape.stages)};
  if (shape.micro_batches <= shape.stages || shape.memory < shape.stages) return {};
  if (shape.memory < 2 * shape.stages - 1)
    return ScheduleBound{
        bubble_time_zb_h1.id, BoundOf::Span,
        bubble_time_zb_h1(p, Count<double>{1}, t.forward, t.input_gradient, t.weight_gradient).num()};
  return ScheduleBound{bubble_time_zb_h2.id, BoundOf::Span,
                       bubble_time_zb_h2(p, t.forward, t.input_gradient, t.weight_gradient).num()};
}

}  // namespace detail

/// Nothing where no paper gives a closed form for the case.
inline std::optional<ScheduleBound> bound_of(const sim::Schedule& schedule, const sim::Pipeline& pipeline,
                                             const MeanPasses& t) {
  const sim::Shape& shape = pipeline.cut(schedule.placement).shape;
  const std::string_view id = schedule.id;
  const Count<double> p{static_cast<double>(shape.stages)}, v{static_cast<double>(shape.chunks)}, one{1};
  const auto f = t.forward, x = t.input_gradient, w = t.weight_gradient;
  const auto made = [](const auto& formula, BoundOf of, Seconds<double> time) {
    return ScheduleBound{formula.id, of, std::max(0.0, time.num())};
  };
  if (id == "gpipe" || id == "fill_drain" || id == "one_f1b")
    return made(bubble_time, BoundOf::Idle, bubble_time(p, one, f, x, w));
  if (id == "interleaved" || id == "looped_bfs")
    return made(bubble_time, BoundOf::Idle, bubble_time(p, v, f, x, w));
  if (id == "interleaved_zb" || id == "zb_h1")
    return made(bubble_time_zb_h1, BoundOf::Span, bubble_time_zb_h1(p, id == "zb_h1" ? one : v, f, x, w));
  if (id == "zb_h2") return made(bubble_time_zb_h2, BoundOf::Span, bubble_time_zb_h2(p, f, x, w));
  if (id == "zb_auto") return detail::limited_bound(shape, t);
  if ((id == "zbv" || id == "v_zb") && t.equal_passes())
    return made(bubble_time_zb_h2, BoundOf::Span, bubble_time_zb_h2(p, f, x, w));
  if (id == "v_half") return made(bubble_time_v_half, BoundOf::Idle, bubble_time_v_half(p, f, x, w));
  if (id == "v_min") return made(bubble_time_v_min, BoundOf::Idle, bubble_time_v_min(p, f, x, w));
  const auto pair = detail::pair_time(pipeline, t);
  if (id == "dualpipe" || id == "dualpipe_book")
    return made(bubble_time_dualpipe, BoundOf::Idle, bubble_time_dualpipe(p, pair, x + w, w));
  if (id == "dualpipev")
    return made(bubble_time_dualpipe, BoundOf::Idle,
                bubble_time_dualpipe(2.0 * p, pair / 2.0, (x + w) / 2.0, w / 2.0));
  return {};
}

}  // namespace trainplan
