// What holds for every schedule on every pipeline.
#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "catch.hpp"
#include "pipelines.hpp"
#include "recursion.hpp"
#include "trainplan/cost/schedule_bounds.hpp"
#include "trainplan/sim/retention.hpp"

using namespace property;

namespace {

#ifdef NDEBUG
constexpr int kCases = 1'000;
#else
constexpr int kCases = 100;
#endif

/// The search runs some hundred schedules for each of its own.
int cases(const Schedule& schedule) { return schedule.id == "v_search" ? kCases / 50 : kCases; }

template <class F>
void for_each_case(std::uint64_t seed, F check) {
  for (const Schedule& schedule : schedules()) {
    Pipes pipes(seed);
    for (int i = 0; i < cases(schedule); ++i) {
      const Pipe pipe = pipes.unequal(schedule);
      INFO(schedule.id << ", case " << i << ": " << pipe.shape.stages << " stages, "
                       << pipe.shape.micro_batches << " micro-batches, " << pipe.shape.chunks
                       << " chunks in groups of " << pipe.shape.group);
      check(pipe, timeline(pipe));
    }
  }
}

template <class F>
void for_each_pass(const Timeline& t, F visit) {
  for (std::size_t g = 0; g < t.stages.size(); ++g)
    for (const Ran& ran : t.stages[g]) {
      visit(static_cast<int>(g), ran.slot.first, ran);
      if (ran.slot.second) visit(static_cast<int>(g), *ran.slot.second, ran);
    }
}

/// Ends of a kind of result, by virtual stage and micro-batch.
using Ends = std::map<std::pair<int, int>, Ticks>;

struct Results {
  Ends forward, gradient;

  Results(const Map& map, const Timeline& t) {
    for_each_pass(t, [&](int stage, const Pass& p, const Ran& ran) {
      const std::pair at{map.virtual_stage(stage, p.chunk), p.micro_batch};
      if (p.work == Work::Forward) forward[at] = ran.end;
      if (p.work == Work::Backward || p.work == Work::InputGradient) gradient[at] = ran.end;
    });
  }
};

Ticks carried(const Pipe& pipe, int from, int to, bool gradient) {
  const Map map = pipe.map();
  if (map.local(from, to)) return 0;
  const auto boundary = static_cast<std::size_t>(map.boundary(map.seat(from).stage, map.seat(to).stage));
  return gradient ? pipe.times.gradient[boundary] : pipe.times.activation[boundary];
}

/// When the inputs of a pass are there at the earliest: a link may be busy, never faster.
Ticks inputs(const Pipe& pipe, const Results& results, int stage, const Pass& p) {
  const Map map = pipe.map();
  const int q = map.virtual_stage(stage, p.chunk), i = p.micro_batch;
  if (p.work == Work::Forward)
    return map.first(q) ? 0 : results.forward.at({q - 1, i}) + carried(pipe, q - 1, q, false);
  if (p.work == Work::WeightGradient) return results.gradient.at({q, i});
  const Ticks own = results.forward.at({q, i});
  return map.last(q) ? own : std::max(own, results.gradient.at({q + 1, i}) + carried(pipe, q + 1, q, true));
}

/// The way of one micro-batch there and back.
Ticks critical_path(const Pipe& pipe, int flow) {
  const Map map = pipe.map();
  Ticks out = 0;
  for (int q = flow * map.positions(); q < (flow + 1) * map.positions(); ++q) {
    const Seat seat = map.seat(q);
    const PassTicks& ticks =
        pipe.times.chunk[static_cast<std::size_t>(seat.stage)][static_cast<std::size_t>(seat.chunk)];
    out += ticks.forward + ticks.input_gradient + (map.first(q) ? ticks.weight_gradient : 0);
    if (!map.last(q)) out += carried(pipe, q, q + 1, false) + carried(pipe, q + 1, q, true);
  }
  return out;
}

bool one_sequence(const Pipe& pipe) {
  return std::ranges::all_of(pipe.orders, [](const auto& of_stage) { return of_stage.size() == 1; });
}

}  // namespace

TEST_CASE("no slot starts before its inputs are there") {
  for_each_case(1, [](const Pipe& pipe, const Timeline& t) {
    const Results results(pipe.map(), t);
    bool early = false;
    for_each_pass(t, [&](int stage, const Pass& p, const Ran& ran) {
      early = early || ran.start < inputs(pipe, results, stage, p);
    });
    CHECK_FALSE(early);
  });
}

TEST_CASE("no stage and no link does two things at a time") {
  for_each_case(2, [](const Pipe& pipe, const Timeline& t) {
    bool overlap = false;
    for (const std::vector<Ran>& of_stage : t.stages)
      for (std::size_t i = 1; i < of_stage.size(); ++i)
        overlap = overlap || of_stage[i].start < of_stage[i - 1].end;
    std::map<std::pair<int, int>, Ticks> free;
    for (const Message& m : t.messages) {
      Ticks& until = free[{m.from, m.to}];
      overlap = overlap || m.start < std::max(until, m.sent) || m.taken < m.end;
      until = m.end;
    }
    CHECK_FALSE(overlap);
    CHECK(t.makespan == t.gradient_ready + pipe.times.update);
  });
}

TEST_CASE("the work of a stage is that of its passes, each of them once") {
  for_each_case(3, [](const Pipe& pipe, const Timeline& t) {
    const Map map = pipe.map();
    for (std::size_t g = 0; g < t.stages.size(); ++g) {
      Ticks work = 0, ran = 0;
      for (const PassTicks& c : pipe.times.chunk[g])
        work += (c.forward + c.input_gradient + c.weight_gradient) * map.micro_batches();
      for (const Ran& r : t.stages[g]) {
        ran += r.end - r.start;
        if (!r.slot.second) continue;
        const auto alone = [&](const Pass& p) { return pipe.times.of(static_cast<int>(g), {p, {}}); };
        work -= alone(r.slot.first) + alone(*r.slot.second) - (r.end - r.start);
      }
      CHECK(t.busy[g] == ran);
      CHECK(ran == work);
    }
  });
}

TEST_CASE("no step is shorter than the way of one micro-batch or the work of one stage") {
  for_each_case(4, [](const Pipe& pipe, const Timeline& t) {
    // pass.
    const Map map = pipe.map();
    for (int flow = 0; flow < map.flows(); ++flow) CHECK(t.gradient_ready >= critical_path(pipe, flow));
    for (std::size_t g = 0; g < t.busy.size(); ++g) {
      CHECK(t.gradient_ready >= t.busy[g]);
      CHECK(t.idle(g) >= t.span_idle(g));
      CHECK(t.span_idle(g) >= 0);
    }
  });
}

TEST_CASE("every micro-batch crosses every boundary once in each direction") {
  for_each_case(5, [](const Pipe& pipe, const Timeline& t) {
    const Map map = pipe.map();
    int crossings = 0;
    for (int q = 0; q < map.virtual_stages(); ++q) crossings += !map.last(q) && !map.local(q, q + 1) ? 1 : 0;
    const auto expected = static_cast<std::size_t>(crossings * map.micro_batches());
    CHECK(t.count(Carried::Activation) == expected);
    CHECK(t.count(Carried::Gradient) == expected);
  });
}

TEST_CASE("a recursion over the definition gives the same times") {
  for_each_case(6, [](const Pipe& pipe, const Timeline& t) {
    if (!one_sequence(pipe)) return;
    Recursion recursion(pipe);
    int different = 0;
    for (int g = 0; g < pipe.shape.stages; ++g) {
      const std::vector<Ran>& ran = t.stages[static_cast<std::size_t>(g)];
      for (int i = 0; i < static_cast<int>(ran.size()); ++i)
        different += ran[static_cast<std::size_t>(i)].end == recursion.end(g, i) ? 0 : 1;
    }
    CHECK(different == 0);
  });
}

TEST_CASE("with its order kept, a longer pass or message never ends a step earlier") {
  Pipes pipes(7);
  for_each_case(7, [&](const Pipe& pipe, const Timeline& t) {
    if (!one_sequence(pipe)) return;  // competing heads may do better with a delay
    Pipe longer = pipe;
    const auto g = static_cast<std::size_t>(pipes.index(t.stages.size()));
    switch (pipes.index(4)) {
      case 0: longer.times.activation[g] += 7; break;
      case 1: longer.times.gradient[g] += 7; break;
      case 2: longer.times.chunk[g].front().forward += 7; break;
      default: longer.times.chunk[g].back().input_gradient += 7;
    }
    CHECK(timeline(longer).gradient_ready >= t.gradient_ready);
  });
}

TEST_CASE("an order with two slots exchanged runs, or says which pass is blocked") {
  Pipes pipes(8);
  int blocked = 0;
  for_each_case(8, [&](const Pipe& pipe, const Timeline&) {
    Pipe other = pipe;
    Sequence& slots = other.orders[static_cast<std::size_t>(pipes.index(other.orders.size()))].front();
    std::swap(slots[static_cast<std::size_t>(pipes.index(slots.size()))],
              slots[static_cast<std::size_t>(pipes.index(slots.size()))]);
    const Outcome out = other.run();
    const Fault* fault = std::get_if<Fault>(&out);
    CHECK((fault == nullptr || fault->kind == FaultKind::Blocked));
    blocked += fault == nullptr ? 0 : 1;
  });
  CHECK(blocked > 0);
}

TEST_CASE("1F1B keeps min(p - g, m) sets on stage g, GPipe all m, and memory is empty after the step") {
  for_each_case(9, [](const Pipe& pipe, const Timeline& t) {
    const Map map = pipe.map();
    const auto kept = residency(t, map, one_for_each(map, {1, 1}));
    for (int g = 0; g < map.stages(); ++g) {
      const Residency& of_stage = kept[static_cast<std::size_t>(g)];
      CHECK(of_stage.steps.back().total() == 0);
      CHECK(of_stage.peak_sets <= map.chunks() * map.micro_batches());
      CHECK(of_stage.peak.total() == of_stage.peak_sets);
      const int m = pipe.shape.micro_batches;
      if (pipe.schedule->id == "one_f1b") CHECK(of_stage.peak_sets == std::min(pipe.shape.stages - g, m));
      if (pipe.schedule->id == "gpipe") CHECK(of_stage.peak_sets == m);
    }
  });
}

TEST_CASE("buffers live from the pass that makes a message to the one that takes it") {
  for_each_case(10, [](const Pipe& pipe, const Timeline& t) {
    const Map map = pipe.map();
    Sizes sizes = one_for_each(map, {0, 0});
    sizes.activation_message = 2;
    sizes.gradient_message = 3;
    Ticks held = 0, expected = 0;  // bytes x ticks over all stages
    for (const Residency& r : residency(t, map, sizes))
      for (std::size_t i = 1; i < r.steps.size(); ++i)
        held += (r.steps[i].at - r.steps[i - 1].at) * r.steps[i - 1].total();
    for (const Message& m : t.messages)
      expected += (m.end - m.sent + m.taken - m.start) * (m.carried == Carried::Activation ? 2 : 3);
    CHECK(held == expected);
  });
}

namespace {

using trainplan::Count;
using trainplan::Seconds;

/// What the papers give for equal stages and no transfers, where they give it for every number of
/// micro-batches that is allowed; the idle time, or that of the longest span.
struct Bound {
  const char* schedule;
  bool span;
  bool least_stages;  // of micro-batches
  Seconds<> (*value)(Count<> p, Count<> v, Seconds<> f, Seconds<> x, Seconds<> w);
};

constexpr auto fill = [](auto p, auto v, auto f, auto x, auto w) {
  return trainplan::bubble_time(p, v, f, x, w);
};
constexpr auto split_fill = [](auto p, auto v, auto f, auto x, auto w) {
  return trainplan::bubble_time_zb_h1(p, v, f, x, w);
};
constexpr auto double_fill = [](auto p, auto, auto f, auto x, auto w) {
  return trainplan::bubble_time_zb_h2(p, f, x, w);
};

const Bound kBounds[] = {
    {"gpipe", false, false, fill},      {"fill_drain", false, false, fill}, {"one_f1b", false, false, fill},
    {"interleaved", false, true, fill}, {"looped_bfs", false, true, fill},  {"zb_h1", true, true, split_fill},
    {"zb_h2", true, true, double_fill},
};

}  // namespace

TEST_CASE("equal stages and no transfers reach the closed form") {
  for (const Bound& bound : kBounds) {
    const Schedule* schedule = find_schedule(bound.schedule);
    REQUIRE(schedule != nullptr);
    Pipes pipes(11);
    for (int i = 0; i < kCases; ++i) {
      const Pipe pipe = pipes.equal(*schedule);
      if (bound.least_stages && pipe.shape.micro_batches < pipe.shape.stages) continue;
      const Timeline t = timeline(pipe);
      const Durations& d = pipe.shape.durations;
      const auto seconds = [](Ticks ticks) { return Seconds<>{static_cast<double>(ticks)}; };
      const double expected =
          bound
              .value(Count<>{static_cast<double>(pipe.shape.stages)},
                     Count<>{static_cast<double>(pipe.map().chunks())}, seconds(d.forward[0]),
                     seconds(d.input_gradient[0]), seconds(d.weight_gradient[0]))
              .num();
      INFO(bound.schedule << ", " << pipe.shape.stages << " stages, " << pipe.shape.micro_batches
                          << " micro-batches, " << pipe.shape.chunks << " chunks");
      CHECK(static_cast<double>(bound.span ? t.longest_span() - t.busy[0] : t.idle(0)) == expected);
    }
  }
}
