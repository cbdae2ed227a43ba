#include "trainplan/cost/step.hpp"

#include <algorithm>

#include "catch.hpp"
#include "round.hpp"

using namespace by_hand;
using problems::Draft;

namespace {

// llama70b: 6 x (parameters without the input embedding) + 6 or 12 L q s
constexpr double kCausal = 6 * 69'503'033'344.0 + 6 * 80.0 * 8192 * 8192;
constexpr double kFull = 6 * 69'503'033'344.0 + 12 * 80.0 * 8192 * 8192;
constexpr double kTokens4Mi = 4'194'304;
constexpr double kPeak = 1024 * 1000e12, kH100 = 1024 * 989e12;

/// What hides behind a window, with what that costs the work: a quarter of it, in Round's constants.
double shown(double time, double window, double pieces) {
  return std::max(time / pieces, time - window) + 0.25 * std::min(time, window);
}

}  // namespace

TEST_CASE("FLOPs of a token and the ideal step under both attention conventions") {
  Draft draft;
  const auto c = evaluate(draft.problem(), problems::main_plan()).compute;
  CHECK(c.causal.num() == kCausal);
  CHECK(c.full.num() == kFull);
  CHECK(c.tokens.num() == kTokens4Mi);
  CHECK(c.ideal_causal.num() == Approx(kTokens4Mi * kCausal / kH100).epsilon(1e-14));
  CHECK(c.ideal_full.num() == Approx(kTokens4Mi * kFull / kH100).epsilon(1e-14));
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
  Round draft;
  const auto cost = draft.cost(problems::main_plan());
  const auto& s = cost.step;
  const auto& p = cost.pipeline;
  const double ideal = kTokens4Mi * kCausal / kPeak;
  CHECK(cost.compute.ideal.num() == Approx(ideal).epsilon(1e-14));
  CHECK(s.compute.num() == Approx(16 * p.kernels.num() / 4).epsilon(1e-14));
  CHECK(s.recompute.num() == 0);
  CHECK(s.data_wait.num() == 0);
  CHECK(s.bubble.num() == Approx(p.step.num() - 16 * p.all.num() / 4).epsilon(1e-12));
  CHECK(s.launch.num() == Approx(16 * p.wait.num() / 4 + 0.01).epsilon(1e-14));
  // 70.55e9 parameters on 32 GPUs of a replica, shared by 32: gradient 2 x 4, master 8, moments 16, weight 2
  const double update = cost.memory.params.average.num() / 32 * 34 / kMemory;
  CHECK(s.optimizer.num() == Approx(update).epsilon(1e-14));

  CHECK(s.exposed_tensor.num() == Approx(16 * p.tensor.num() / 4).epsilon(1e-14));
  CHECK(s.exposed_context.num() == 0);
  CHECK(s.exposed_pipeline.num() == 0);  // interleaved stages send behind other chunks
  CHECK(s.exposed_experts.num() == 0);
  // 20 layers of fp32 gradients and bf16 weights over 32 nodes; one layer always shows
  const double hops = 20 * 31 * kFarHop;
  const double scatter = 8'802'230'272 / kNic + hops, gather = 8'802'230'272 / 2 / kNic + hops;
  const double data = shown(scatter, p.slowest.num() * 2 / 3, 20) + shown(gather, p.slowest.num() / 3, 20);
  CHECK(s.exposed_data.num() == Approx(data).epsilon(1e-12));
  CHECK(s.exposed.num() == Approx(s.exposed_tensor.num() + data).epsilon(1e-14));

  const double modelled = s.compute.num() + update + s.bubble.num() + s.exposed.num() + s.launch.num();
  CHECK(s.unmodelled.num() == Approx(0.1 * modelled).epsilon(1e-12));
  CHECK(s.kernel.num() == Approx(s.compute.num() + update + 0.1 * modelled - ideal).epsilon(1e-12));
  CHECK(s.straggler.num() == Approx(7 * 0.005 * 1.1 * modelled).epsilon(1e-12));  // 128 nodes
  const double step = 1.035 * 1.1 * modelled;
  CHECK(s.step.num() == Approx(step).epsilon(1e-12));
  CHECK(s.mfu.num() == Approx(ideal / step).epsilon(1e-12));
  CHECK(s.mfu_full.num() == Approx(ideal * kFull / kCausal / step).epsilon(1e-12));
  CHECK(s.hfu.num() == Approx(s.mfu.num()).epsilon(1e-14));
  CHECK(s.rate.num() == Approx(kTokens4Mi / step).epsilon(1e-12));
}

TEST_CASE("recompute counts in HFU only") {
  Round draft;
  Plan plan = problems::main_plan();
  plan.recompute = Recompute::Full;
  const auto cost = draft.cost(plan);
  CHECK(cost.step.recompute.num() == Approx(16 * cost.pipeline.again.num() / 4).epsilon(1e-14));
  CHECK(cost.step.recompute.num() > 0);
  CHECK(cost.step.hfu.num() == Approx(cost.step.mfu.num() * 4 / 3).epsilon(1e-14));
}

TEST_CASE("the optimizer reads and writes the state that a rank holds") {
  Round draft;
  const auto width = [&](const Plan& plan) {
    const auto cost = draft.cost(plan);
    return cost.step.optimizer.num() * kMemory / cost.memory.params.average.num();
  };
  Plan plan = problems::main_plan();
  CHECK(width(plan) == Approx(34.0 / 32).epsilon(1e-12));
  plan.sharding = Sharding::None;
  CHECK(width(plan) == Approx(34).epsilon(1e-12));
  plan.sharding = Sharding::Hsdp;
  plan.shard = 8;
  draft.framework = *problems::framework("torchtitan");
  CHECK(width(plan) == Approx(34.0 / 8).epsilon(1e-12));
  draft.recipe.gradient = DType::Bf16;
  CHECK(width(plan) == Approx(30.0 / 8).epsilon(1e-12));
  draft.recipe.moments = DType::Bf16;
  CHECK(width(plan) == Approx(22.0 / 8).epsilon(1e-12));
  draft.recipe.matmul = Matmul::Fp8;  // and casts of all weights of the rank
  CHECK(width(plan) == Approx(22.0 / 8 + 4).epsilon(1e-12));

  Round sparse({.model = "mixtral-8x7b", .cluster = "h100x64", .sequence = 4096, .batch = 64});
  const auto cost = sparse.cost(completed({.tp = 1, .ep = 8, .dp = 64}));
  const auto& n = cost.memory.params;
  CHECK(cost.step.optimizer.num() ==
        Approx(34 * (n.average.num() / 64 + n.average_experts.num() / 8) / kMemory).epsilon(1e-12));
}

TEST_CASE("data parallel traffic: all of it shows without overlap") {
  Round draft;
  draft.recipe.dp_overlap = false;
  const double hops = 20 * 31 * kFarHop;
  CHECK(draft.cost(problems::main_plan()).step.exposed_data.num() ==
        Approx(1.5 * 8'802'230'272 / kNic + 2 * hops).epsilon(1e-12));
}

TEST_CASE("gathers of updated weights show when they alone are not overlapped") {
  Round draft;
  const auto with = draft.cost(problems::main_plan());
  draft.recipe.gather_overlap = false;
  const auto shown = draft.cost(problems::main_plan());
  const auto gathers = shown.comm.data_behind[static_cast<std::size_t>(HidesBehind::NextForward)].num();
  REQUIRE(gathers > 0);
  draft.recipe.dp_overlap = false;
  const auto all = draft.cost(problems::main_plan()).step.exposed_data.num();
  CHECK(shown.step.exposed_data.num() > with.step.exposed_data.num());
  CHECK(shown.step.exposed_data.num() >= gathers);
  CHECK(shown.step.exposed_data.num() < all);
}

TEST_CASE("traffic behind all of the work gets what the other windows leave") {
  Round draft({.framework = "torchtitan", .batch = 1024});
  Plan plan = completed({.tp = 8, .dp = 128, .sharding = Sharding::Zero3});
  plan.sync_each_micro_batch =
      false;  // gathers behind all of the work, the reduction behind the last backward
  for (const double nic : {50e9, 5e9}) {
    draft.cluster.nic_per_gpu.value = nic;
    const auto cost = draft.cost(plan);
    const auto behind = [&](HidesBehind h) {
      return cost.comm.data_behind[static_cast<std::size_t>(h)].num();
    };
    const double m = cost.schedule.micro_batches.num(), w = cost.pipeline.all.num();
    const double reduction = behind(HidesBehind::LastBackward), gathers = behind(HidesBehind::Compute);
    REQUIRE(m == 8);
    REQUIRE(reduction > 0);
    REQUIRE(gathers > 0);
    REQUIRE(behind(HidesBehind::NextForward) == 0);
    const double left = m * w - std::min(reduction, w * 2 / 3);
    CHECK(cost.step.exposed_data.num() ==
          Approx(shown(reduction, w * 2 / 3, 80) + shown(gathers, left, 80 * m)).epsilon(1e-12));
  }
}

TEST_CASE("plain schedules wait for the messages between stages, there and back") {
  Round draft;
  const double message = 8192.0 * 8192 * 2 / 8 / kNic + kFarHop;
  CHECK(draft.cost(completed({.tp = 8, .pp = 4, .dp = 32})).step.exposed_pipeline.num() ==
        Approx(2 * 16 * message).epsilon(1e-12));
  CHECK(draft.cost(completed({.tp = 8, .dp = 128})).step.exposed_pipeline.num() == 0);
}

TEST_CASE("a tied table is reduced once a step, whichever stage is looked at") {
  Round draft({.model = "gemma-3-27b", .cluster = "h100x64", .sequence = 4096, .batch = 64});
  const Problem problem = draft.problem();
  const Plan plan = completed({.tp = 4, .pp = 4, .dp = 4});
  // 262,656 padded rows of 5376 by 4 ranks, in fp32
  for (int stage = 0; stage < 4; ++stage)
    CHECK(evaluate_stage(problem, plan, stage).step.exposed_tied.num() ==
          Approx(262'656.0 * 5376 / 4 * 4 / kNic).epsilon(1e-12));
  CHECK(evaluate(problem, completed({.tp = 4, .dp = 16})).step.exposed_tied.num() == 0);
  Round untied;
  CHECK(untied.cost(problems::main_plan()).step.exposed_tied.num() == 0);
}

TEST_CASE("a window hides what fits and never the first piece") {
  CHECK(exposed_window(Seconds<>{1}, Seconds<>{5}, Count<>{4}).num() == 0.25);
  CHECK(exposed_window(Seconds<>{8}, Seconds<>{5}, Count<>{4}).num() == 3);
  CHECK(exposed_window(Seconds<>{0}, Seconds<>{5}, Count<>{4}).num() == 0);
}
