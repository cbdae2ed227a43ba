// The rules of the trace event format, and that nothing of the timeline is lost.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "sample_pipeline.hpp"
#include "trainplan/render/pictures.hpp"

using namespace trainplan;
using nlohmann::json;
using sample::pipeline;

namespace {

json events_of(const PipelinePicture& p) { return json::parse(render_trace(p)).at("traceEvents"); }

using Track = std::pair<int, int>;
Track track_of(const json& event) { return {event.at("pid").get<int>(), event.at("tid").get<int>()}; }
std::string phase_of(const json& event) { return event.at("ph").get<std::string>(); }

/// Whole nanoseconds; exact, since a trace has three decimals.
long long nanoseconds(const json& microseconds) {
  const double ns = 1e3 * microseconds.get<double>();
  CHECK(std::abs(ns - std::round(ns)) < 1e-3);
  return std::llround(ns);
}

/// What every event of a phase must have.
void check_keys(const json& event) {
  static const std::map<std::string, std::vector<std::string>> required{{"M", {"args"}},
                                                                        {"X", {"ts", "dur", "cat"}},
                                                                        {"C", {"ts", "args"}},
                                                                        {"s", {"ts", "id", "cat"}},
                                                                        {"f", {"ts", "id", "cat", "bp"}}};
  INFO(event.dump());
  for (const char* key : {"name", "ph", "pid", "tid"}) REQUIRE(event.contains(key));
  REQUIRE(required.contains(phase_of(event)));
  for (const std::string& key : required.at(phase_of(event))) REQUIRE(event.contains(key));
  if (event.contains("ts")) REQUIRE(event.at("ts").get<double>() >= 0);
  if (event.contains("dur")) REQUIRE(event.at("dur").get<double>() >= 0);
  if (phase_of(event) == "C")
    for (const auto& [key, value] : event.at("args").items()) REQUIRE(value.is_number());
}

/// Every schedule, with times that are no round number of microseconds; two stages share links around a loop.
template <class F>
void for_each_pipeline(F check) {
  for (const sim::Schedule& schedule : sim::schedules())
    for (const int stages : {2, 4}) {
      const bool one_chunk = schedule.placement == sim::Placement::Linear;
      PipelinePicture p = pipeline(schedule.id, {.stages = stages,
                                                 .micro_batches = 12,
                                                 .chunks = one_chunk ? 1 : 2,
                                                 .forward = 14,
                                                 .input_gradient = 16,
                                                 .weight_gradient = 10,
                                                 .transfer = 3,
                                                 .update = 5});
      p.seconds_per_tick = 1e-3 / 3;
      INFO(schedule.id << ", " << stages << " stages");
      check(p, events_of(p));
    }
}

}  // namespace

TEST_CASE("every event of a trace has the keys of its phase") {
  for_each_pipeline([](const PipelinePicture&, const json& events) {
    for (const json& event : events) check_keys(event);
  });
}

TEST_CASE("times of a track never go back, and its slots do not overlap") {
  for_each_pipeline([](const PipelinePicture&, const json& events) {
    std::map<std::pair<Track, std::string>, long long> last;
    std::map<Track, long long> free;
    for (const json& event : events) {
      if (phase_of(event) == "M") continue;
      const long long at = nanoseconds(event.at("ts"));
      const bool counter = phase_of(event) == "C";
      long long& before = last[{track_of(event), counter ? event.at("name").get<std::string>() : ""}];
      REQUIRE(at >= before);
      before = at;
      if (phase_of(event) != "X") continue;
      REQUIRE(at >= free[track_of(event)]);
      free[track_of(event)] = at + nanoseconds(event.at("dur"));
    }
  });
}

TEST_CASE("a trace has the slots and the messages of the timeline") {
  for_each_pipeline([](const PipelinePicture& p, const json& events) {
    std::map<std::string, std::size_t> phases, slots;
    for (const json& event : events) {
      ++phases[phase_of(event)];
      if (phase_of(event) != "X") continue;
      const auto [process, thread] = track_of(event);
      ++slots[process == p.stages() ? "link" : event.at("name") == "update" ? "update" : "stage"];
    }
    std::size_t ran = 0;
    for (const auto& of_stage : p.timeline.stages) ran += of_stage.size();
    CHECK(slots["stage"] == ran);
    CHECK(slots["update"] == p.timeline.stages.size());
    CHECK(slots["link"] == p.timeline.messages.size());
    CHECK(phases["s"] == p.timeline.messages.size());
    CHECK(phases["f"] == p.timeline.messages.size());
  });
}

TEST_CASE("an arrow leaves the slot that made its message and reaches the one that takes it") {
  for_each_pipeline([](const PipelinePicture& p, const json& events) {
    std::map<std::pair<int, long long>, std::string> starts;  // of slots, by process
    for (const json& event : events)
      if (phase_of(event) == "X" && event.at("pid") != p.stages())
        starts[{event.at("pid").get<int>(), nanoseconds(event.at("ts"))}] =
            event.at("name").get<std::string>();
    for (const json& event : events) {
      if (phase_of(event) != "s" && phase_of(event) != "f") continue;
      const sim::Message& m = p.timeline.messages.at(event.at("id").get<std::size_t>());
      const int stage = phase_of(event) == "s" ? m.from : m.to;
      REQUIRE(event.at("pid") == stage);
      const auto slot = starts.find({stage, nanoseconds(event.at("ts"))});
      REQUIRE(slot != starts.end());
      const bool forward = m.carried == sim::Carried::Activation;
      const std::string number = std::to_string(m.micro_batch) + ".";
      const bool named = forward ? slot->second.find("F" + number) != std::string::npos
                                 : slot->second.find("B" + number) != std::string::npos ||
                                       slot->second.find("X" + number) != std::string::npos;
      INFO(slot->second << " and " << event.dump());
      CHECK(named);
    }
  });
}

TEST_CASE("the highest counter of a stage is its peak") {
  for_each_pipeline([](const PipelinePicture& p, const json& events) {
    std::vector<double> highest(p.memory.size()), last(p.memory.size(), -1);
    for (const json& event : events) {
      if (phase_of(event) != "C") continue;
      const auto stage = event.at("pid").get<std::size_t>();
      double sum = 0;
      for (const auto& [key, value] : event.at("args").items()) sum += value.get<double>();
      highest.at(stage) = std::max(highest.at(stage), sum);
      last.at(stage) = sum;
    }
    for (std::size_t g = 0; g < highest.size(); ++g) {
      CHECK(highest[g] == p.peak(g));
      CHECK(last[g] == 0);
    }
  });
}

TEST_CASE("a slot says what it is") {
  const PipelinePicture p = pipeline("dualpipe", {.micro_batches = 8, .chunks = 2, .transfer = 1});
  std::set<std::string> names;
  for (const json& event : events_of(p)) {
    if (phase_of(event) == "M") names.insert(event.at("args").begin()->dump());
    if (event.at("name") == "F3.0+B1.1")
      CHECK(event.at("args") == json::parse(R"({"micro_batch": [3, 1], "direction": [0, 1]})"));
    if (event.at("name") == "F0.0")
      CHECK(event.at("args") == json::parse(R"({"micro_batch": 0, "direction": 0})"));
  }
  for (const char* name : {"\"stage 3\"", "\"links\"", "\"stage 0 to 1\"", "\"stage 3 to 2\""})
    CHECK(names.contains(name));
}

TEST_CASE("moments are rounded to nanoseconds before they are subtracted") {
  PipelinePicture p = pipeline(
      "gpipe", {.stages = 1, .micro_batches = 1, .forward = 1, .input_gradient = 1, .weight_gradient = 0});
  p.seconds_per_tick = 1e-6 / 3;
  const json events = events_of(p);
  std::vector<std::pair<double, double>> slots;
  for (const json& event : events)
    if (phase_of(event) == "X")
      slots.emplace_back(event.at("ts").get<double>(), event.at("dur").get<double>());
  CHECK(slots == std::vector<std::pair<double, double>>{{0, 0.333}, {0.333, 0.334}});
}
