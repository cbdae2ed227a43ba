#include "trainplan/derive/schedules.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <variant>

#include "asked.hpp"
#include "catch.hpp"
#include "trainplan/derive/derive.hpp"
#include "trainplan/derive/schedule_advice.hpp"

using namespace trainplan;
using problems::Asked;

namespace {

/// Four stages, which torchtitan may run in any order unless they are compiled.
Asked in_torchtitan(const char* model, const char* schedule, const char* compile) {
  return Asked(model, "h100x64",
               {{"framework", "torchtitan"},
                {"compile", compile},
                {"tp", "1"},
                {"pp", "4"},
                {"schedule", schedule},
                {"global_batch", "256"}});
}

}  // namespace

TEST_CASE("any takes the schedule that simulating all of them finds") {
  const Asked asked = in_torchtitan("llama8b", "any", "false");
  const auto derivation = asked.derived();
  REQUIRE(derivation);
  REQUIRE(derivation->schedules);
  const ScheduleTrials& all = *derivation->schedules;
  REQUIRE(all.best < all.rows.size());
  const ScheduleTrial& best = all.rows[all.best];
  CHECK(derivation->chosen.plan.schedule == best.schedule);
  CHECK(derivation->chosen.plan.vpp == best.vpp);
  std::set<Schedule> seen;
  for (const ScheduleTrial& row : all.rows) {
    CAPTURE(name_of(row.schedule), row.vpp, row.refusal);
    if (!row.trial) continue;
    seen.insert(row.schedule);
    const auto run = simulate_plan(row.trial->problem, row.trial->plan);
    REQUIRE(run);
    const double step = simulated_step(row.trial->problem, row.trial->cost, *run);
    CHECK(row.least <= step * (1 + 1e-6));
    if (row.trial->verdict() == best.trial->verdict()) CHECK(best.step <= step * (1 + 1e-9));
    CHECK(row.trial->verdict() >= best.trial->verdict());
  }
  CHECK(seen.size() == kScheduleCount);
  CHECK(all.simulated <= all.rows.size());
}

TEST_CASE("schedules that a framework does not offer are no candidates; illegal ones say why") {
  const Asked megatron("llama8b", "h100x64", {{"tp", "1"}, {"pp", "4"}, {"schedule", "any"}});
  const auto plain = megatron.derived();
  REQUIRE(plain);
  for (const ScheduleTrial& row : plain->schedules->rows)
    CHECK((row.schedule == Schedule::OneFOneB || row.schedule == Schedule::Interleaved));
  const Asked compiled = in_torchtitan("llama8b", "any", "true");
  const auto whole = compiled.derived();
  REQUIRE(whole);
  for (const ScheduleTrial& row : whole->schedules->rows) {
    CAPTURE(name_of(row.schedule), row.refusal);
    CHECK(row.trial.has_value() != splits_backward(row.schedule));
    CHECK(row.trial.has_value() == row.refusal.empty());
  }
}

TEST_CASE("in a V both ends of the model lie on stage 0, and a tied table is held once") {
  const Asked asked = in_torchtitan("llama-3.2-1b", "zbv", "false");
  const auto derivation = asked.derived();
  REQUIRE(derivation);
  const Trial& t = derivation->chosen;
  CHECK(t.plan.vpp == 2);
  CHECK(head_stage(t.plan) == 0);
  CHECK(t.cost.comm.tied.bytes.num() == 0);
  CHECK(evaluate_stage(t.problem, t.plan, 0).memory.logits.num() > 0);
  CHECK(evaluate_stage(t.problem, t.plan, t.plan.pp - 1).memory.logits.num() == 0);
  std::int64_t layers = 0;
  for (int s = 0; s < t.plan.pp; ++s) layers += stage_layers(t.problem.model(), t.plan, s);
  CHECK(layers == t.problem.model().layers);
}

TEST_CASE("advice names what the plan's numbers call for") {
  const Asked few("llama70b", "h100x1024", {{"tp", "8"}, {"pp", "8"}, {"vpp", "1"}, {"global_batch", "64"}});
  const auto derivation = few.derived();
  REQUIRE(derivation);
  const auto advice = schedule_advice(derivation->chosen);
  REQUIRE_FALSE(advice.empty());
  CHECK(std::get<std::string>(advice.front().front()).starts_with("4 micro-batches for 8 stages"));
  const Asked flat("llama70b", "h100x1024", {{"tp", "8"}, {"pp", "8"}, {"vpp", "1"}});
  const auto interleave = schedule_advice(flat.derived()->chosen);
  REQUIRE_FALSE(interleave.empty());
  CHECK(std::get<std::string>(interleave.front().front()) == "1f1b idles ");
}
