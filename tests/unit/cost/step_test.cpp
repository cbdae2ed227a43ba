#include "trainplan/cost/step.hpp"

#include <algorithm>

#include "catch.hpp"
#include "problems.hpp"
#include "trainplan/cost/plan_cost.hpp"

using namespace trainplan;
using problems::completed;
using problems::Draft;

namespace {

// llama70b: 6 x (parameters without the input embedding) + 6 or 12 L q s
constexpr double kCausal = 6 * 69'503'033'344.0 + 6 * 80.0 * 8192 * 8192;
constexpr double kFull = 6 * 69'503'033'344.0 + 12 * 80.0 * 8192 * 8192;
constexpr double kTokens4Mi = 4'194'304;
constexpr double kPeak = 1024 * 989e12;

/// Round constants, so that every loss can be done by hand.
Draft round_draft() {
  Draft draft;
  draft.calibration.kernel_efficiency.value = 0.5;
  draft.calibration.launch_per_layer.value = 0.001;
  draft.calibration.straggler_share.value = 0.1;
  draft.calibration.tp_overlap_hidden.value = 0.75;
  return draft;
}

}  // namespace

TEST_CASE("FLOPs of a token and the ideal step under both attention conventions") {
  Draft draft;
  const auto c = evaluate(draft.problem(), problems::main_plan()).compute;
  CHECK(c.causal.num() == kCausal);
  CHECK(c.full.num() == kFull);
  CHECK(c.tokens.num() == kTokens4Mi);
  CHECK(c.ideal_causal.num() == Approx(kTokens4Mi * kCausal / kPeak).epsilon(1e-14));
  CHECK(c.ideal_full.num() == Approx(kTokens4Mi * kFull / kPeak).epsilon(1e-14));
  CHECK(c.ideal.num() == c.ideal_causal.num());
  draft.recipe.convention = FlopConvention::Full;
  CHECK(evaluate(draft.problem(), problems::main_plan()).compute.ideal.num() == c.ideal_full.num());
}

TEST_CASE("recomputed FLOPs: a third for whole layers, the attention's forward when selective") {
  Draft draft;
  const Problem problem = draft.problem();
  Plan plan = problems::main_plan();
  const auto recomputed = [&](Recompute r, std::uint16_t layers = 0) {
    plan.recompute = r;
    plan.recompute_layers = layers;
    return evaluate(problem, plan).compute.recomputed.num();
  };
  CHECK(recomputed(Recompute::None) == 0);
  CHECK(recomputed(Recompute::Selective) == Approx(6 * 80.0 * 8192 * 8192 / 3));
  CHECK(recomputed(Recompute::Full) == Approx(kCausal / 3));
  CHECK(recomputed(Recompute::Layers, 5) == Approx(kCausal / 3 * 5 / 20));
}

TEST_CASE("the bubble under both denominators") {
  struct Row {
    Plan plan;
    double ideal, total;
  };
  const Row rows[] = {{problems::main_plan(), 3 / 64.0, 0.75 / 16.75},
                      {completed({.tp = 8, .pp = 4, .dp = 32}), 3 / 16.0, 3 / 19.0},
                      {completed({.tp = 8, .pp = 2, .dp = 64}), 1 / 8.0, 1 / 9.0},
                      {completed({.tp = 8, .dp = 128}), 0, 0}};
  Draft draft;
  const Problem problem = draft.problem();
  for (const Row& row : rows) {
    const auto s = evaluate(problem, row.plan).schedule;
    CAPTURE(row.plan.pp, row.plan.vpp);
    CHECK(s.bubble_of_ideal.num() == Approx(row.ideal).epsilon(1e-14));
    CHECK(s.bubble_of_total.num() == Approx(row.total).epsilon(1e-14));
  }
}

TEST_CASE("the seven losses of the main job, by hand") {
  Draft draft = round_draft();
  const auto cost = evaluate(draft.problem(), problems::main_plan());
  const auto& s = cost.step;
  const double ideal = kTokens4Mi * kCausal / kPeak, compute = kTokens4Mi * kFull / kPeak / 0.5;
  CHECK(s.compute.num() == Approx(compute).epsilon(1e-14));
  CHECK(s.bubble.num() == Approx(3 / 64.0 * compute).epsilon(1e-14));
  CHECK(s.recompute.num() == 0);
  CHECK(s.data_wait.num() == 0);
  CHECK(s.kernel.num() == Approx(compute - ideal).epsilon(1e-14));
  CHECK(s.launch.num() == Approx(0.001 * 20 * 16).epsilon(1e-14));

  CHECK(s.exposed_tensor.num() == Approx(cost.comm.tensor.seconds.num() / 4).epsilon(1e-14));
  // Scatters hide behind the last backward (2/3 of a sixteenth), gathers behind the next forward (1/3); a
  // twentieth, the bucket of one layer, always shows.
  const double scatter = 8'802'230'272 / 50e9, gather = scatter / 2;
  const double exposed = std::max(scatter / 20, scatter - compute * 2 / 3 / 16) +
                         std::max(gather / 20, gather - compute / 3 / 16);
  CHECK(s.exposed_data.num() == Approx(exposed).epsilon(1e-12));
  CHECK(s.exposed_context.num() == 0);
  CHECK(s.exposed.num() == Approx(s.exposed_tensor.num() + exposed).epsilon(1e-14));

  const double rest = ideal + s.bubble.num() + s.exposed.num() + s.kernel.num() + s.launch.num();
  CHECK(s.straggler.num() == Approx(0.1 * rest).epsilon(1e-14));
  CHECK(s.step.num() == Approx(1.1 * rest).epsilon(1e-14));
  CHECK(s.mfu.num() == Approx(ideal / (1.1 * rest)).epsilon(1e-14));
  CHECK(s.mfu_full.num() == Approx(ideal * kFull / kCausal / (1.1 * rest)).epsilon(1e-14));
  CHECK(s.hfu.num() == Approx(s.mfu.num()).epsilon(1e-14));
  CHECK(s.rate.num() == Approx(kTokens4Mi / (1.1 * rest)).epsilon(1e-14));
}

TEST_CASE("recompute lengthens the kernels and the bubble, and counts in HFU only") {
  Draft draft = round_draft();
  Plan plan = problems::main_plan();
  plan.recompute = Recompute::Full;
  const auto s = evaluate(draft.problem(), plan).step;
  const double compute = kTokens4Mi * kFull / kPeak / 0.5;
  CHECK(s.recompute.num() == Approx(compute / 3).epsilon(1e-14));
  CHECK(s.bubble.num() == Approx(3 / 64.0 * compute * 4 / 3).epsilon(1e-14));
  CHECK(s.hfu.num() == Approx(s.mfu.num() * 4 / 3).epsilon(1e-14));
}

TEST_CASE("what overlap hides shows when it is off") {
  Draft draft = round_draft();
  const Plan plan = problems::main_plan();
  const auto on = evaluate(draft.problem(), plan);
  draft.recipe.tp_overlap = false;
  // the re-gather for the weight gradients is hidden by the same overlap
  CHECK(evaluate(draft.problem(), plan).step.exposed_tensor.num() ==
        on.comm.tensor.seconds.num() + on.comm.tensor_regather.seconds.num());
  draft.recipe.tp_overlap = true;
  Plan whole = plan;
  whole.sequence_parallel = false;  // chunked overlap needs it
  CHECK(evaluate(draft.problem(), whole).step.exposed_tensor.num() == on.comm.tensor.seconds.num());
  draft.recipe.dp_overlap = false;
  CHECK(evaluate(draft.problem(), plan).step.exposed_data.num() == on.comm.data.seconds.num());
}

TEST_CASE("a ring hides behind attention except for a first piece; all-to-alls do not") {
  Draft draft({.sequence = 32768, .batch = 128});
  const Plan plan = completed({.tp = 8, .pp = 4, .vpp = 4, .cp = 2, .dp = 16});
  const auto ring = evaluate(draft.problem(), plan);
  const double seconds = ring.comm.context.seconds.num();
  CHECK(seconds > 0);
  CHECK(ring.step.exposed_context.num() == Approx(seconds / (2 * 20 * 8)).epsilon(1e-14));
  draft.recipe.cp_mode = CpMode::AllToAll;
  const auto exchange = evaluate(draft.problem(), plan);
  CHECK(exchange.step.exposed_context.num() == exchange.comm.context.seconds.num());
}

TEST_CASE("a window hides what fits and never the first piece") {
  CHECK(exposed_window(Seconds<>{1}, Seconds<>{5}, Count<>{4}).num() == 0.25);
  CHECK(exposed_window(Seconds<>{8}, Seconds<>{5}, Count<>{4}).num() == 3);
  CHECK(exposed_window(Seconds<>{0}, Seconds<>{5}, Count<>{4}).num() == 0);
}
