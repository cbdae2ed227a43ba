#include "trainplan/report/ranges.hpp"

#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include "../io/found.hpp"
#include "asked.hpp"
#include "catch.hpp"
#include "trainplan/io/load_measured.hpp"
#include "trainplan/report/comparison.hpp"
#include "trainplan/report/gates.hpp"

using namespace trainplan;
using problems::Asked;

namespace {

Trial main_trial(const Asked& asked) { return *asked.planner().attempt({.tp = 8, .pp = 4}); }

const Gate& gate_of(const std::vector<Gate>& gates, std::string_view name) {
  for (const Gate& g : gates)
    if (g.name == name) return g;
  throw std::runtime_error("no gate " + std::string(name));
}

/// Rows with an error, and how many of them lie in their range.
struct Coverage {
  double rows = 0, inside = 0;
  double share() const { return inside / rows; }
};

const MeasuredTable& shipped() {
  static Issues issues;
  static const auto table = shipped_runs(issues);
  if (!table) throw std::runtime_error("no table of measured runs");
  return *table;
}

std::map<std::string, Coverage> coverage(Target target, std::string (*group)(const MeasuredRun&)) {
  std::map<std::string, Coverage> out;
  for (const MeasuredRun& row : shipped().rows) {
    const Comparison c = compared(row);
    if (row.standing != Standing::Standard || !c.error(target)) continue;
    Coverage& g = out[group(row)];
    ++g.rows;
    if (c.is_inside(target)) ++g.inside;
  }
  return out;
}

/// What loading an overlay of the constants gives.
std::optional<Checked<Calibration>> overlay(const std::string& text, Issues& issues) {
  const std::string path = "ranges_test_overlay.json";
  std::ofstream(path) << text;
  auto loaded = load_calibration(issues, path);
  std::remove(path.c_str());
  return loaded;
}

}  // namespace

TEST_CASE("80 % ranges hold about as many of the shipped rows that they were read off") {
  const auto all = coverage(Target::Time, [](const MeasuredRun&) { return std::string("all"); }).at("all");
  CHECK(all.rows >= 600);
  CHECK(all.share() >= 0.70);
  CHECK(all.share() <= 0.95);
  for (const auto& [kind, c] :
       coverage(Target::Time, [](const MeasuredRun& r) { return std::string(r.sparse ? "moe" : "dense"); })) {
    CAPTURE(kind);
    CHECK(c.share() >= 0.70);
    CHECK(c.share() <= 0.95);
  }
}

TEST_CASE("no class of step times promises what its rows do not keep") {
  const auto by_class = coverage(Target::Time, [](const MeasuredRun& r) {
    return std::string(name_of(time_class(r.run->problem(), r.run->plan())));
  });
  CHECK(by_class.size() == kTimeClasses);
  for (const auto& [name, c] : by_class) {
    CAPTURE(name, c.rows);
    CHECK(c.share() >= 0.70);
  }
}

TEST_CASE("ranges of memory hold, of calibrated frameworks and of others") {
  for (const auto& [name, c] : coverage(Target::Memory, [](const MeasuredRun& r) {
         return std::string(name_of(memory_class(r.run->problem(), r.reading)));
       })) {
    CAPTURE(name, c.rows);
    CHECK(c.share() >= 0.72);
  }
}

TEST_CASE("without a confidence limits are held against the prediction, with one against the worse end") {
  const Asked plain("llama70b", "h100x1024"), careful("llama70b", "h100x1024", {{"confidence", "80%"}});
  const Trial a = main_trial(plain), b = main_trial(careful);
  Limits limits;
  limits.min_mfu = a.cost.step.mfu.num() * 0.99;
  limits.max_step_time = a.cost.step.step.num() * 1.01;
  limits.max_memory = a.device() * 1.01;
  for (const Gate& g : gates_of(a, limits)) CHECK(g.holds());
  const auto gates = gates_of(b, limits);
  CHECK(gate_of(gates, "memory").holds());  // far below the capacity
  for (const auto& [name, id] :
       {std::pair{"min_mfu", "step.mfu_low"}, std::pair{"max_step_time", "step.time_high"},
        std::pair{"max_memory", "memory.device_high"}}) {
    CAPTURE(name);
    CHECK_FALSE(gate_of(gates, name).holds());
    CHECK(gate_of(gates, name).id == id);
  }
  CHECK(gate_of(gates, "max_step_time").value.number == Approx(b.cost.range.time_high.num()).epsilon(1e-12));
  CHECK(gate_of(gates, "min_mfu").value.number == Approx(b.cost.range.mfu_low.num()).epsilon(1e-12));
  CHECK(gate_of(gates, "max_memory").value.number == Approx(b.cost.range.device_high.num()).epsilon(1e-12));
}

TEST_CASE("the MFU gate of the full matrix names the low end of that MFU") {
  const Asked asked("llama70b", "h100x1024", {{"flop_convention", "full"}, {"confidence", "90%"}});
  const Trial t = main_trial(asked);
  Limits limits;
  limits.min_mfu = 0.1;
  const auto gates = gates_of(t, limits);
  CHECK(gate_of(gates, "min_mfu").id == "step.mfu_full_low");
  CHECK(gate_of(gates, "min_mfu").value.number == Approx(t.cost.range.mfu_full_low.num()).epsilon(1e-12));
}

TEST_CASE("a guess is called one") {
  const Asked known("llama70b", "h100x1024"), stack("llama70b", "h100x1024", {{"stack", "unknown"}}),
      accelerator("llama70b", "mi300xx512"), both("llama70b", "mi300xx512", {{"stack", "unknown"}});
  const auto text = [](const Asked& a) { return guess_text(a.planner().problem()); };
  CHECK(text(known).empty());
  CHECK(text(stack) == "a guess: no measured run of this software stack");
  CHECK(text(accelerator) == "a guess: no measured run of this accelerator");
  CHECK(text(both) == "a guess: no measured run of this accelerator or this software stack");
}

TEST_CASE("the main job's step stands beside the one with the other overlap") {
  const Asked asked("llama70b", "h100x1024");
  const Trial t = main_trial(asked);
  REQUIRE(t.problem.recipe.tp_overlap);
  const Estimate with = step_estimate(t.problem, t.cost), without = other_overlap(t);
  CHECK(without.value.number > with.value.number);
  CHECK(without.low / without.value.number == Approx(with.low / with.value.number));
  const Estimate rate = rate_estimate(t.problem, t.cost, {t.cost.step.rate.num(), Unit::TokenRate});
  CHECK(rate.low * with.high == Approx(rate.value.number * with.value.number));
  CHECK(rate.high * with.low == Approx(rate.value.number * with.value.number));
}

TEST_CASE("a file of constants can change single ranges") {
  Issues issues;
  const auto c =
      overlay(R"({"ranges": {"time": {"moe-small": {"high": "2", "source": "my runs"}}}})", issues);
  INFO(listed(issues));
  REQUIRE(c);
  const ErrorRanges &base = problems::calibration()->ranges, &ranges = (*c)->ranges;
  CHECK(ranges.of(TimeClass::SmallExperts).high.value == 2);
  CHECK(ranges.of(TimeClass::SmallExperts).high.source == "my runs");
  CHECK(ranges.of(TimeClass::SmallExperts).low.value == base.of(TimeClass::SmallExperts).low.value);
  CHECK(ranges.of(TimeClass::OneNode).high.value == base.of(TimeClass::OneNode).high.value);
}

TEST_CASE("mistakes in ranges: the order of the ends, the level, the names") {
  const auto mistakes = [](const std::string& ranges) {
    Issues issues;
    CHECK_FALSE(overlay("{\"ranges\": " + ranges + "}", issues));
    INFO(listed(issues));
    CHECK(complete(issues));
    return issues;
  };
  const auto order = mistakes(R"({"time": {"moe-small": {"low": "2", "high": "1.5"}}})");
  CHECK(find_issue(order, "range-order", "/ranges/time/moe-small/high") != nullptr);
  const auto level = mistakes(R"({"confidence": {"value": "99 %", "source": "me"}})");
  CHECK(find_issue(level, "range", "/ranges/confidence") != nullptr);
  const auto zero = mistakes(R"({"accelerator": {"low": "0"}})");
  CHECK(find_issue(zero, "positive", "/ranges/accelerator/low") != nullptr);
  const auto name = mistakes(R"({"memory": {"megatrn": {"low": "0.9"}}})");
  CHECK(find_issue(name, "unknown-key", "/ranges/memory/megatrn") != nullptr);
}
