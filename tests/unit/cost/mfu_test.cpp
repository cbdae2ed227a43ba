// MFU and HFU of a measured step, without a plan.
#include "trainplan/cost/mfu.hpp"

#include "catch.hpp"
#include "problems.hpp"
#include "trainplan/cost/plan_cost.hpp"

using namespace trainplan;
using problems::Draft;

namespace {

const Figure kGood{.value = 0.4, .origin = "test", .known = true};

MfuCost<double> cost_of(Draft& draft, const MfuQuestion& question) {
  Eval rec;
  return mfu_cost(rec, draft.problem(), question, kGood);
}

}  // namespace

TEST_CASE("4.5 s of 70B on 1,024 H100: the published shares") {
  Draft draft;
  const auto c = cost_of(draft, {.step = 4.5});
  CHECK(c.causal.mfu.num() == Approx(0.413).margin(0.0005));
  CHECK(c.causal.selective.num() == Approx(0.423).epsilon(0.001));
  CHECK(c.causal.full.num() == Approx(0.551).epsilon(0.001));
  CHECK(c.whole.mfu.num() == Approx(0.443).epsilon(0.001));
  CHECK(c.causal.ideal.num() == Approx(1.86).epsilon(0.001));
  CHECK(c.whole.ideal.num() == Approx(1.994).epsilon(0.001));
  CHECK(c.rate.num() == Approx(932e3).epsilon(0.001));
  CHECK(c.good_step.num() == Approx(4.65).epsilon(0.001));
}

TEST_CASE("full recompute counts a third more, selective the attention once more") {
  Draft draft;
  const auto c = cost_of(draft, {.step = 4.5});
  CHECK(c.causal.full.num() == Approx(c.causal.mfu.num() * 4 / 3));
  CHECK(c.whole.full.num() == Approx(c.whole.mfu.num() * 4 / 3));
  const double attention = 2.0 * 80 * 8192 * 8192;  // 2 L s h, causal
  CHECK(c.causal.selective.num() == Approx(c.causal.mfu.num() * (1 + attention / c.causal.flops.num())));
}

TEST_CASE("a rate is the step that it means") {
  Draft draft;
  const auto step = cost_of(draft, {.step = 4.5});
  const auto rate = cost_of(draft, {.rate = 4194304 / 4.5});
  CHECK(rate.step.num() == Approx(4.5));
  CHECK(rate.causal.mfu.num() == Approx(step.causal.mfu.num()));
  CHECK(rate.gpu_rate.num() == Approx(4194304 / 4.5 / 1024));
}

TEST_CASE("the MFU of a rate does not depend on the batch") {
  Draft draft;
  const double before = cost_of(draft, {.rate = 9e5}).causal.mfu.num();
  draft.recipe.global_batch = 64;
  CHECK(cost_of(draft, {.rate = 9e5}).causal.mfu.num() == Approx(before));
}

TEST_CASE("a peak of one's own is the denominator") {
  Draft draft;
  const auto c = cost_of(draft, {.step = 4.5, .peak = 494.5e12});
  CHECK(c.causal.mfu.num() == Approx(2 * cost_of(draft, {.step = 4.5}).causal.mfu.num()));
}

TEST_CASE("what a point is worth is taken at the measured step") {
  Draft draft;
  const auto c = cost_of(draft, {.step = 4.5});
  CHECK(c.money.mfu_point_time.num() == Approx(30 * 86400 / (100 * c.causal.mfu.num())));
  draft.recipe.tokens = 15e12;
  const auto run = cost_of(draft, {.step = 4.5});
  CHECK(run.money.run_time.num() == Approx(15e12 / 4194304 * 4.5));
}

TEST_CASE("the plan's own MFU is found again from its step") {
  Draft draft;
  const Problem problem = draft.problem();
  const Ledger plan = explain(problem, problems::main_plan(), 0);
  const auto c = cost_of(draft, {.step = plan.find("step.time")->value});
  CHECK(c.causal.mfu.num() == Approx(plan.find("step.mfu")->value));
  CHECK(c.whole.mfu.num() == Approx(plan.find("step.mfu_full")->value));
}

TEST_CASE("the traced answer is the plain one") {
  Draft draft;
  const Problem problem = draft.problem();
  Explain rec;
  const auto traced = mfu_cost(rec, problem, {.step = 4.5}, kGood);
  Eval plain;
  const auto c = mfu_cost(plain, problem, {.step = 4.5}, kGood);
  CHECK(value_of(traced.causal.selective) == c.causal.selective.num());
  REQUIRE(rec.ledger().find("mfu.hfu_full") != nullptr);
  CHECK(rec.ledger().find("mfu.hfu_full")->value == c.causal.full.num());
}
