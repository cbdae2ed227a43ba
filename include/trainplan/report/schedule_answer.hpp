/// Schedules tried on one pipeline, and what of each is told.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainplan/report/report.hpp"
#include "trainplan/report/schedule_bound.hpp"
#include "trainplan/sim/cut.hpp"
#include "trainplan/sim/schedules.hpp"

namespace trainplan {

/// about: what the pipeline is and where its numbers are from. budget: of every stage, as somebody states it;
/// room: of a plan, for each placement. single: one schedule was asked for.
struct ScheduleAnswer {
  std::string title;
  Facts about;
  sim::Pipeline pipeline;
  MeanPasses passes;
  std::vector<sim::Attempt> attempts;
  std::optional<double> budget;
  bool single = false;
  std::optional<std::array<double, sim::kPlacements>> room{};

  double seconds(sim::Ticks t) const { return pipeline.clock.seconds(t); }
  const sim::Attempt* find(std::string_view id) const {
    for (const sim::Attempt& a : attempts)
      if (a.schedule->id == id && a.ran()) return &a;
    return nullptr;
  }
  /// What a stage may keep with that schedule: as stated, else what the plan leaves.
  std::optional<double> limit_of(const sim::Attempt& a) const {
    if (budget || !room) return budget;
    return (*room)[static_cast<std::size_t>(a.schedule->placement)];
  }
  bool limited() const { return budget || room; }
  /// Every stage is within its limit; without one everything is.
  bool fits(const sim::Attempt& a) const {
    const auto limit = limit_of(a);
    return a.ran() && (!limit || a.above(*limit).empty());
  }

  /// The best of the attempts that fit by a number, the first of equals; nullptr when none fits.
  template <class Key>
  const sim::Attempt* least(Key key) const {
    const sim::Attempt* best = nullptr;
    for (const sim::Attempt& a : attempts)
      if (fits(a) && (best == nullptr || key(a) < key(*best))) best = &a;
    return best;
  }

  /// With a stated budget: whether the schedule, or any of them, keeps to it.
  Verdict verdict() const {
    if (!budget) return Verdict::None;
    return std::ranges::any_of(attempts, [&](const sim::Attempt& a) { return fits(a); })
               ? Verdict::Fits
               : Verdict::DoesNotFit;
  }
};

/// A search over so many orders of so many stages takes minutes: then it runs only when it is asked for.
inline std::optional<sim::Refusal> too_long_among_all(const sim::Schedule& schedule, int stages) {
  constexpr int kMost = 32;
  if (schedule.id != "v_search" || stages <= kMost) return {};
  return sim::Refusal{
      "stages", stages,
      "be at most " + std::to_string(kMost) + " to be tried among all, which would take minutes", kMost};
}

/// id: empty or "all" for every schedule.
inline ScheduleAnswer answer_schedules(std::string title, Facts about, sim::Pipeline pipeline,
                                       std::optional<double> budget, std::string_view id) {
  ScheduleAnswer out{std::move(title), std::move(about),          std::move(pipeline), {}, {},
                     budget,           !id.empty() && id != "all"};
  out.passes = mean_passes(out.pipeline);
  const int stages = out.pipeline.cut(sim::Placement::Linear).shape.stages;
  for (const sim::Schedule& schedule : sim::schedules()) {
    if (out.single && schedule.id != id) continue;
    if (auto refusal = out.single ? std::nullopt : too_long_among_all(schedule, stages))
      out.attempts.push_back({.schedule = &schedule, .refusal = std::move(refusal)});
    else
      out.attempts.push_back(try_schedule(schedule, out.pipeline));
  }
  return out;
}

/// What is told of one schedule, in seconds and bytes.
struct ScheduleFigures {
  double step = 0, idle = 0, idle_share = 0, span_idle = 0, bubble_rate = 0;
  double bare_idle = 0, bare_span_idle = 0;
  double peak = 0, stage_sets = 0;
  std::size_t messages = 0;  ///< in each direction
  int copies = 1;            ///< of the parameters
};

inline ScheduleFigures figures_of(const ScheduleAnswer& a, const sim::Attempt& t) {
  const sim::Map map = t.map();
  ScheduleFigures out;
  const auto seconds = [&](sim::Ticks ticks) { return a.seconds(ticks); };
  out.step = seconds(t.timeline.makespan);
  out.idle = seconds(t.timeline.max_idle());
  out.idle_share = out.idle / seconds(t.timeline.gradient_ready);
  out.span_idle = seconds(t.timeline.max_span_idle());
  out.bubble_rate = out.span_idle / seconds(t.timeline.longest_span());
  out.bare_idle = seconds(t.bare.max_idle());
  out.bare_span_idle = seconds(t.bare.max_span_idle());
  out.peak = static_cast<double>(t.peak());
  out.stage_sets = static_cast<double>(t.peak_sets()) / map.chunks_of_copy();
  out.messages = t.timeline.count(sim::Carried::Activation);
  out.copies = map.flows();
  return out;
}

}  // namespace trainplan
