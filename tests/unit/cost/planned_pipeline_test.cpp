// The chunks of a plan's pipeline add up to what its ledgers say.
#include "trainplan/cost/planned_pipeline.hpp"

#include <algorithm>
#include <string>

#include "catch.hpp"
#include "problems.hpp"
#include "trainplan/sim/schedules.hpp"

using namespace problems;
using sim::Placement;

namespace {

struct Case {
  const char* name;
  Names names;
  Plan plan;
  int mtp = 0;
};

std::vector<Case> cases() {
  Plan uneven = completed({.pp = 16, .ep = 64, .first_layers = 3, .last_layers = 2, .dp = 128});
  uneven.layout = Layout::FirstAndLast;
  Plan again = completed({.tp = 8, .pp = 4, .dp = 32});
  again.recompute = Recompute::Layers;
  again.recompute_layers = 7;
  Plan full = again;
  full.recompute = Recompute::Full;
  const Names sparse{.model = "deepseek-v3", .cluster = "h800x2048", .sequence = 4096, .batch = 15360};
  return {{"dense", {}, completed({.tp = 8, .pp = 4, .dp = 32})},
          {"some layers recomputed", {}, again},
          {"all layers recomputed", {}, full},
          {"experts, uneven stages", sparse, uneven},
          {"experts, a further token", sparse, uneven, 1}};
}

double stage_seconds(const sim::Cut& cut, std::size_t stage) {
  double out = 0;
  for (const sim::PassTicks& t : cut.times.chunk[stage])
    out += static_cast<double>(t.forward + t.input_gradient + t.weight_gradient) * 1e-12;
  return out;
}

}  // namespace

TEST_CASE("the passes of all stages are the pipeline of the ledger, in a row, in loops and in a V") {
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    Draft draft(c.names);
    draft.recipe.mtp_layers = c.mtp;
    const Problem problem = draft.problem();
    const auto cost = evaluate(problem, c.plan);
    PipelineSpec options;
    options.chunks = 1;
    const PlannedPipeline p = planned_pipeline(problem, c.plan, options);
    const sim::Cut& row = p.pipeline.cut(Placement::Linear);
    REQUIRE_FALSE(row.refusal);
    double sum = 0, slowest = 0;
    for (std::size_t g = 0; g < row.times.chunk.size(); ++g) {
      sum += stage_seconds(row, g);
      slowest = std::max(slowest, stage_seconds(row, g));
    }
    CHECK(sum == Approx(cost.pipeline.all.num()).epsilon(1e-9));
    CHECK(slowest == Approx(cost.pipeline.slowest.num()).epsilon(1e-9));
    for (const auto placement : {Placement::Loop, Placement::Vee}) {
      const sim::Cut& cut = p.pipeline.cut(placement);
      if (cut.refusal) continue;
      double all = 0;
      for (std::size_t g = 0; g < cut.times.chunk.size(); ++g) all += stage_seconds(cut, g);
      if (c.plan.recompute == Recompute::None) CHECK(all == Approx(sum).epsilon(1e-9));
    }
  }
}

TEST_CASE("the sets that 1F1B keeps on the first stage are the activations of the ledger") {
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    Draft draft(c.names);
    draft.recipe.mtp_layers = c.mtp;
    const Problem problem = draft.problem();
    const PlannedPipeline p = planned_pipeline(problem, c.plan, {});
    Eval rec;
    const auto memory = memory_cost(rec, bind(rec, problem, c.plan), problem, c.plan, 0);
    const sim::Size set = p.pipeline.cut(Placement::Linear).sizes.saved[0][0].whole;
    CHECK(static_cast<double>(set) * memory.activations.in_flight.num() ==
          Approx(memory.activations.saved.num()).epsilon(1e-6));
  }
}

TEST_CASE("every schedule that a plan's pipeline allows can run") {
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    Draft draft(c.names);
    const PlannedPipeline p = planned_pipeline(draft.problem(), c.plan, {});
    int ran = 0;
    for (const char* id : {"gpipe", "one_f1b", "interleaved", "zb_h1", "zbv", "dualpipe"}) {
      const sim::Attempt t = try_schedule(*sim::find_schedule(id), p.pipeline);
      CAPTURE(id);
      CHECK_FALSE(t.fault);
      ran += t.ran() ? 1 : 0;
    }
    CHECK(ran >= 3);
  }
}

TEST_CASE("what an option gives lies over the ledger; a second copy leaves less room") {
  Draft draft;
  const Problem problem = draft.problem();
  const Plan plan = completed({.tp = 8, .pp = 4, .dp = 32});
  PipelineSpec options;
  options.transfer = 0;
  options.update = 0.5;
  const PlannedPipeline p = planned_pipeline(problem, plan, options);
  CHECK(p.pipeline.cut(Placement::Linear).times.activation[0] == 0);
  CHECK(p.pipeline.cut(Placement::Linear).times.update == 500'000'000'000);
  const PlannedPipeline own = planned_pipeline(problem, plan, {});
  CHECK(own.transfer > 0);
  CHECK(own.update > 0);
  CHECK(own.room[static_cast<std::size_t>(Placement::TwoDirections)] < own.room[0]);
}
