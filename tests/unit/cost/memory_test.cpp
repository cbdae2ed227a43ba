#include "trainplan/cost/memory.hpp"

#include <algorithm>

#include "catch.hpp"
#include "problems.hpp"

using namespace trainplan;
using problems::completed;
using problems::Draft;

namespace {

constexpr double GiB = 1024.0 * 1024 * 1024;

double peak(const Lifetimes<double>& items) {
  double most = 0;
  for (int p = 0; p < kPhases; ++p) most = std::max(most, items.phase_sum(static_cast<Phase>(p)).num());
  return most;
}

MemoryCost<double> memory_of(const Problem& problem, const Plan& plan, int stage = 0) {
  Eval rec;
  return memory_cost(rec, bind(rec, problem, plan), problem, plan, stage);
}
double at(const MemoryCost<double>& m, Phase p) { return m.phases[static_cast<std::size_t>(p)].num(); }

}  // namespace

TEST_CASE("8 GiB and 4 GiB need 12 when alive together and 8 when not") {
  Lifetimes<double> together, apart;
  together.add(Bytes<>{8 * GiB}, bit(Phase::ForwardEnd) | bit(Phase::Loss));
  together.add(Bytes<>{4 * GiB}, bit(Phase::Loss) | bit(Phase::Optimizer));
  apart.add(Bytes<>{8 * GiB}, bit(Phase::ForwardEnd) | bit(Phase::Loss));
  apart.add(Bytes<>{4 * GiB}, bit(Phase::BackwardEnd) | bit(Phase::Optimizer));
  CHECK(peak(together) == 12 * GiB);
  CHECK(peak(apart) == 8 * GiB);
  CHECK(apart.phase_sum(Phase::Optimizer).num() == 4 * GiB);
  CHECK(apart.phase_sum(Phase::Load).num() == 0);
}

TEST_CASE("the phases of the main job's first stage, by hand") {
  Draft draft;
  draft.calibration.workspace.value = 1000;
  const Problem problem = draft.problem();
  const auto m = memory_of(problem, problems::main_plan());
  const double n = 2'271'543'296.0;                      // parameters, see params_test
  const double layer = 281'018'368, saved = 95 * layer;  // 4.75 x 20 layers
  const double buffers = 4 * 8192.0 * 8192 * 2 / 8;      // two sends and two receives
  CHECK(m.state.num() == Approx(6.375 * n).epsilon(1e-14));
  CHECK(at(m, Phase::Load) == Approx((6 + 4.0 / 32) * n).epsilon(1e-14));  // no moments before the first step
  CHECK(at(m, Phase::ForwardEnd) == Approx(6.375 * n + saved + buffers + 1000).epsilon(1e-14));
  CHECK(at(m, Phase::Loss) == at(m, Phase::ForwardEnd));  // logits are on the last stage
  CHECK(at(m, Phase::BackwardEnd) == Approx(6.375 * n + layer + buffers + 1000).epsilon(1e-14));
  CHECK(at(m, Phase::Optimizer) == Approx(6.375 * n + 1000).epsilon(1e-14));
  CHECK(at(m, Phase::Evaluation) == Approx(6.375 * n + layer + buffers + 1000).epsilon(1e-14));
  CHECK(at(m, Phase::Save) == Approx(6.375 * n).epsilon(1e-14));
  CHECK(m.allocated.num() == at(m, Phase::ForwardEnd));
}

TEST_CASE("the three totals: allocated, reserved, device") {
  Draft draft;
  draft.calibration.allocator_slack.value = 0.05;
  draft.calibration.cuda_context.value = 7e8;
  draft.calibration.communicators.value = 2e9;
  const auto m = memory_of(draft.problem(), problems::main_plan());
  CHECK(m.reserved.num() == Approx(1.05 * m.allocated.num()).epsilon(1e-14));
  CHECK(m.device.num() == Approx(m.reserved.num() + 2.7e9).epsilon(1e-14));
  CHECK(m.state_average.num() == Approx(6.375 * 70'553'706'496 / 32).epsilon(1e-14));
}

TEST_CASE("logits are on the last stage, cut by tp, with the padded vocabulary") {
  Draft draft;
  const Problem problem = draft.problem();
  const auto last = memory_of(problem, problems::main_plan(), 3);
  CHECK(last.logits.num() == 8192.0 * 129024 * 8 / 8);  // 8 bytes an entry / TP 8
  CHECK(memory_of(problem, problems::main_plan(), 2).logits.num() == 0);
  CHECK(at(last, Phase::Loss) - at(last, Phase::ForwardEnd) == Approx(last.logits.num()));
  CHECK(at(last, Phase::Evaluation) - at(last, Phase::Optimizer) ==
        Approx(last.logits.num() + 281'018'368 + 4 * 16'777'216.0));
}

TEST_CASE("gathered layers and unsharded gradients of full sharding") {
  Draft draft({.framework = "torchtitan", .batch = 512});
  draft.calibration.workspace.value = 1000;
  const Problem problem = draft.problem();
  Plan plan = completed({.tp = 8, .dp = 128, .sharding = Sharding::Zero3});
  // Norms are whole on the tp ranks: (855638016 / 8 + 16384) a layer; tables of 2 x 128256 x 8192 / 8
  const double layer = 106'971'136, tables = 262'668'288, n = 80 * layer + tables + 8192;
  const double gathered = (2 * layer + tables) * 2, unit = (1 * layer + tables) * 4;
  const double saved = 80 * 281'018'368.0, logits = 8192.0 * 128256 * 5 / 8;

  SECTION("reduced every micro-batch") {
    const auto m = memory_of(problem, plan);
    CHECK(at(m, Phase::Save) == Approx(12 * n / 128).epsilon(1e-14));  // the gradient is gone after the step
    CHECK(at(m, Phase::ForwardEnd) == Approx(16 * n / 128 + saved + gathered + 1000).epsilon(1e-14));
    CHECK(at(m, Phase::Loss) ==
          Approx(16 * n / 128 + saved + logits + gathered + unit + 1000).epsilon(1e-14));
    CHECK(m.allocated.num() == at(m, Phase::Loss));
  }
  SECTION("reduced once a step: the unsharded gradient stays, 4 bytes a parameter") {
    plan.sync_each_micro_batch = false;
    const auto m = memory_of(problem, plan);
    CHECK(m.state.num() == Approx(12 * n / 128 + 4 * n).epsilon(1e-14));
    CHECK(at(m, Phase::Loss) ==
          Approx(12 * n / 128 + 4 * n + saved + logits + gathered + 1000).epsilon(1e-14));
  }
  SECTION("weights that stay gathered need no units") {
    plan.reshard = false;
    const auto m = memory_of(problem, plan);
    CHECK(at(m, Phase::ForwardEnd) == Approx(16 * n / 128 + 2 * n + saved + 1000).epsilon(1e-14));
  }
}

TEST_CASE("one recomputed layer is rebuilt in full while it runs backward") {
  Draft draft;
  const Problem problem = draft.problem();
  Plan plan = completed({.tp = 8, .pp = 4, .dp = 32});
  const auto none = memory_of(problem, plan);
  CHECK(at(none, Phase::Loss) == at(none, Phase::ForwardEnd));
  plan.recompute = Recompute::Full;
  const auto full = memory_of(problem, plan);
  CHECK(at(full, Phase::Loss) - at(full, Phase::ForwardEnd) == Approx(281'018'368));
}

TEST_CASE("send and receive buffers need a pipeline, and are whole without sequence parallelism") {
  Draft draft;
  const Problem problem = draft.problem();
  const auto buffers = [&](Plan plan) {
    const auto m = memory_of(problem, plan);
    return at(m, Phase::BackwardEnd) - at(m, Phase::Optimizer) - m.activations.layer.num();
  };
  CHECK(buffers(completed({.tp = 8, .dp = 128})) == Approx(0).margin(1e-3));
  CHECK(buffers(completed({.tp = 8, .pp = 4, .dp = 32})) == Approx(4 * 16'777'216.0));
  Plan whole = completed({.tp = 8, .pp = 4, .dp = 32});
  whole.sequence_parallel = false;
  CHECK(buffers(whole) == Approx(4 * 8 * 16'777'216.0));
}
