/// Pseudo-random pipelines, the same in every run: unequal stages, chunks and boundaries, messages of no
/// length and of several passes.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "catch.hpp"
#include "trainplan/sim/pipeline.hpp"
#include "trainplan/sim/schedules.hpp"

namespace property {

using namespace trainplan::sim;

struct Pipe {
  const Schedule* schedule = nullptr;
  Shape shape{};
  Times times{};
  Orders orders{};

  Placement placement() const { return schedule->placement; }
  Map map() const { return {placement(), shape}; }
  Outcome run() const { return simulate(orders, placement(), shape, times); }
};

/// A schedule's word on the nearest value is taken until it is content.
inline Shape allowed(const Schedule& schedule, Shape shape) {
  for (int repairs = 0; const auto refusal = schedule.refusal(shape); ++repairs) {
    INFO(schedule.id << ": " << refusal->field << " = " << refusal->got << " must " << refusal->must);
    REQUIRE(repairs < 4);
    int& field = refusal->field == "stages"   ? shape.stages
                 : refusal->field == "group"  ? shape.group
                 : refusal->field == "chunks" ? shape.chunks
                                              : shape.micro_batches;
    if (refusal->field == "memory") {
      shape.memory = refusal->nearest;
      continue;
    }
    REQUIRE(field != refusal->nearest);
    field = refusal->nearest;
  }
  return shape;
}

class Pipes {
  std::mt19937_64 engine_;

  /// The standard distributions differ between libraries.
  int between(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  std::vector<Ticks> draw(int n, int low, int high) {
    std::vector<Ticks> out;
    for (int i = 0; i < n; ++i) out.push_back(between(low, high));
    return out;
  }

 public:
  explicit Pipes(std::uint64_t seed) : engine_(seed) {}

  Shape shape(const Schedule& schedule) {
    Shape s;
    s.stages = between(1, 6);
    s.micro_batches = between(1, 16);
    s.chunks = schedule.placement == Placement::Linear ? 1
               : schedule.placement == Placement::Loop ? between(1, 3)
                                                       : 2;
    s.group = between(1, 12);
    s.lead = between(0, 1);
    s.memory = between(1, 2 * s.stages);
    s.after_x = between(0, 2) / 2.0;
    return allowed(schedule, s);
  }

  Pipe unequal(const Schedule& schedule) {
    Pipe out{.schedule = &schedule, .shape = shape(schedule)};
    const int p = out.shape.stages, longest = 3 * between(0, 20);
    out.shape.durations = {draw(p, 6, 30), draw(p, 6, 30), draw(p, 6, 30), between(0, longest)};
    out.times = times_of(out.shape, schedule.placement);
    out.times.activation = draw(p, 0, longest);
    out.times.gradient = draw(p, 0, longest);
    out.times.overlap = draw(p, 0, 10);
    out.times.update = between(0, 5);
    out.times.chunk.back().back().forward += between(0, 20);  // the head
    out.orders = schedule.orders(out.shape);
    return out;
  }

  /// Passes that take as long on every stage, and messages that take no time.
  Pipe equal(const Schedule& schedule) {
    Pipe out{.schedule = &schedule, .shape = shape(schedule)};
    const auto same = [&](int ticks) {
      return std::vector<Ticks>(static_cast<std::size_t>(out.shape.stages), ticks);
    };
    const int weight = between(1, 10), unit = 6;
    out.shape.durations = {same(unit * between(10, 20)), same(unit * between(10, 20)), same(unit * weight),
                           0};
    out.times = times_of(out.shape, schedule.placement);
    out.orders = schedule.orders(out.shape);
    return out;
  }

  int index(std::size_t size) { return between(0, static_cast<int>(size) - 1); }
};

inline Timeline timeline(const Pipe& pipe) {
  Outcome out = pipe.run();
  const Fault* fault = std::get_if<Fault>(&out);
  INFO(pipe.schedule->id << " on " << pipe.shape.stages << " stages, " << pipe.shape.micro_batches
                         << " micro-batches: " << (fault == nullptr ? "" : text(*fault)));
  REQUIRE(fault == nullptr);
  return std::get<Timeline>(std::move(out));
}

}  // namespace property
