#include "trainplan/cost/comm.hpp"

#include <string>

#include "catch.hpp"
#include "problems.hpp"
#include "trainplan/cost/plan_cost.hpp"

using namespace trainplan;
using problems::completed;
using problems::Draft;

namespace {

CommCost<double> comm_of(Draft& draft, const Plan& plan, int stage = 0) {
  return evaluate_stage(draft.problem(), plan, stage).comm;
}
double behind(const CommCost<double>& c, HidesBehind h) {
  return c.data_behind[static_cast<std::size_t>(h)].num();
}

/// Seconds at the rate that rings between nodes reach, with `hops` of theirs.
double reached(const Draft& draft, double bytes, double nics, double hops) {
  const TimeConstants& t = draft.calibration.time;
  return bytes / (nics * 50e9 * t.nic_rate.value) + hops * 3 * t.ring_step.value;
}

constexpr double kMessage = 8192.0 * 8192 * 2;  // hidden states of one sequence of llama70b, bf16
constexpr double kStage0 = 2'271'543'296.0;     // parameters of a GPU of stage 0, see params_test

/// llama8b on 64 GPUs, one micro-batch of each: bytes divided by 2 are elements.
Draft small(std::int64_t batch = 64) {
  return Draft({.model = "llama8b", .cluster = "h100x64", .framework = "torchtitan", .batch = batch});
}
constexpr double kParams8b = 8'030'261'248.0;

}  // namespace

TEST_CASE(
    "tensor parallel traffic: 8 collectives of (t - 1)/t, and 2 gathers more for the weight gradients") {
  Draft draft;
  const auto c = comm_of(draft, problems::main_plan());
  CHECK(c.tensor.bytes.num() == 8 * 7.0 / 8 * kMessage * 20 * 16);
  CHECK(c.tensor_regather.bytes.num() == 2 * 7.0 / 8 * kMessage * 20 * 16);
  CHECK(c.tensor.seconds.num() == c.tensor.bytes.num() / 450e9);
  CHECK(c.tensor_regather.seconds.num() == c.tensor_regather.bytes.num() / 450e9);

  const auto half = comm_of(draft, completed({.tp = 4, .pp = 4, .vpp = 4, .dp = 64}));
  CHECK(half.tensor.bytes.num() == 8 * 3.0 / 4 * kMessage * 20 * 8);

  Plan without = problems::main_plan();
  without.sequence_parallel = false;  // an all-reduce moves what a gather and a scatter move
  CHECK(comm_of(draft, without).tensor.bytes.num() == c.tensor.bytes.num());
  CHECK(comm_of(draft, without).tensor_regather.bytes.num() == 0);
  CHECK(comm_of(draft, completed({.pp = 4, .dp = 256})).tensor.bytes.num() == 0);
}

TEST_CASE("the distributed optimizer scatters gradients and gathers weights once a step") {
  Draft draft;
  const auto fp32 = comm_of(draft, problems::main_plan());
  CHECK(fp32.data.bytes.num() == (4 + 2) * kStage0 * 31 / 32);
  CHECK(fp32.data.seconds.num() == Approx(fp32.data.bytes.num() / 50e9).epsilon(1e-14));
  // one rank of each node, and a collective for each of 20 layers
  CHECK(behind(fp32, HidesBehind::LastBackward) ==
        Approx(reached(draft, 4 * kStage0 * 31 / 32, 1, 20 * 31)).epsilon(1e-13));
  CHECK(behind(fp32, HidesBehind::NextForward) ==
        Approx(reached(draft, 2 * kStage0 * 31 / 32, 1, 20 * 31)).epsilon(1e-13));
  draft.recipe.reduce = DType::Bf16;
  CHECK(comm_of(draft, problems::main_plan()).data.bytes.num() == (2 + 2) * kStage0 * 31 / 32);
}

TEST_CASE("without sharding the gradients are all-reduced: 2 (n - 1)/n") {
  Draft draft;
  Plan plan = problems::main_plan();
  plan.sharding = Sharding::None;
  CHECK(comm_of(draft, plan).data.bytes.num() == 2 * 4 * kStage0 * 31 / 32);
  CHECK(comm_of(draft, completed({.tp = 8, .pp = 4, .vpp = 4, .dp = 1})).data.bytes.num() == 0);
}

TEST_CASE("context parallel ranks take part in data parallel traffic") {
  Draft draft({.sequence = 32768, .batch = 128});
  const auto c = comm_of(draft, completed({.tp = 8, .pp = 4, .cp = 2, .dp = 16}));
  CHECK(c.data.bytes.num() == 6 * kStage0 * 31 / 32);
}

TEST_CASE("pipeline traffic: a chunk sends forward and backward, except at the ends") {
  Draft draft;
  // v 4, 16 micro-batches, an eighth of the message: stage 0 receives no gradient request from before it
  const double one = kMessage / 8;
  CHECK(comm_of(draft, problems::main_plan(), 0).pipeline.bytes.num() == (4 + 3) * 16 * one);
  CHECK(comm_of(draft, problems::main_plan(), 1).pipeline.bytes.num() == (4 + 4) * 16 * one);
  CHECK(comm_of(draft, problems::main_plan(), 3).pipeline.bytes.num() == (3 + 4) * 16 * one);
  CHECK(comm_of(draft, problems::main_plan(), 1).pipeline.seconds.num() == 8 * 16 * one / 50e9);

  const Plan plain = completed({.tp = 8, .pp = 4, .dp = 32});
  CHECK(comm_of(draft, plain, 0).pipeline.bytes.num() == 16 * one);
  CHECK(comm_of(draft, plain, 1).pipeline.bytes.num() == 2 * 16 * one);
  Plan whole = plain;
  whole.sequence_parallel = false;
  CHECK(comm_of(draft, whole, 1).pipeline.bytes.num() == 2 * 16 * kMessage);
  CHECK(comm_of(draft, completed({.tp = 8, .dp = 128})).pipeline.bytes.num() == 0);
}

TEST_CASE("context parallel traffic: a ring of keys and values, or four all-to-alls and their backward") {
  Draft draft({.sequence = 32768, .batch = 128});
  const Plan plan = completed({.tp = 4, .pp = 4, .vpp = 4, .cp = 2, .dp = 32});
  // 16384 tokens of a rank; keys and values 2 x 1024 / 4 wide, bf16; 20 layers, 4 micro-batches;
  // once forward, twice backward
  const auto ring = comm_of(draft, plan).context;
  CHECK(ring.bytes.num() == 3 * 1 * 16384.0 * (2 * 1024 / 4) * 2 * 20 * 4);
  CHECK(ring.seconds.num() == ring.bytes.num() / 450e9);  // 2 ranks 4 apart stay in the node
  draft.recipe.cp_mode = CpMode::AllToAll;
  // queries and outputs 8192 / 4, keys and values 1024 / 4 each; half of it leaves the rank, there and back
  CHECK(comm_of(draft, plan).context.bytes.num() ==
        2 * 0.5 * 16384.0 * ((2 * 8192 + 2 * 1024) / 4) * 2 * 20 * 4);

  draft.recipe.cp_mode = CpMode::Ring;
  const auto wide = comm_of(draft, completed({.tp = 8, .pp = 4, .vpp = 4, .cp = 2, .dp = 16})).context;
  CHECK(wide.seconds.num() == wide.bytes.num() / 50e9);  // 8 apart: across nodes
  CHECK(comm_of(draft, completed({.tp = 8, .pp = 4, .vpp = 4, .dp = 32})).context.bytes.num() == 0);
}

TEST_CASE("full sharding gathers the weights for each pass: 3N elements, 2N when they stay gathered") {
  Draft draft = small();
  draft.recipe.reduce = DType::Bf16;
  Plan plan = completed({.dp = 64, .sharding = Sharding::Zero3});
  CHECK(comm_of(draft, plan).data.bytes.num() / 2 == Approx(3 * kParams8b * 63 / 64).epsilon(1e-14));
  plan.reshard = false;
  CHECK(comm_of(draft, plan).data.bytes.num() / 2 == Approx(2 * kParams8b * 63 / 64).epsilon(1e-14));
}

TEST_CASE("gathers come with every micro-batch, the reduction with every micro-batch or once a step") {
  Draft draft = small(4 * 64);
  Plan plan = completed({.dp = 64, .sharding = Sharding::Zero3});
  const auto each = comm_of(draft, plan);
  CHECK(each.data.bytes.num() == Approx(4 * (2 + 2 + 4) * kParams8b * 63 / 64).epsilon(1e-14));
  // all 8 ranks of a node; 3 rows of 32 layers in 4 micro-batches
  CHECK(behind(each, HidesBehind::Compute) ==
        Approx(reached(draft, each.data.bytes.num(), 8, 3 * 32 * 4 * 63)).epsilon(1e-13));
  plan.sync_each_micro_batch = false;
  const auto once = comm_of(draft, plan);
  CHECK(once.data.bytes.num() == Approx((4 * (2 + 2) + 4) * kParams8b * 63 / 64).epsilon(1e-14));
  CHECK(behind(once, HidesBehind::LastBackward) ==
        Approx(reached(draft, 4 * kParams8b * 63 / 64, 8, 32 * 63)).epsilon(1e-13));
}

TEST_CASE("hybrid sharding gathers inside the shard group and all-reduces a shard between groups") {
  Draft draft = small();
  draft.recipe.reduce = DType::Bf16;
  const Plan plan = completed({.dp = 64, .shard = 8, .sharding = Sharding::Hsdp});
  const auto c = comm_of(draft, plan);
  const double inside = 3 * kParams8b * 7 / 8, between = 2 * (kParams8b / 8) * 7 / 8;  // 8 shards, 8 replicas
  CHECK(c.data.bytes.num() / 2 == Approx(inside + between).epsilon(1e-14));
  CHECK(c.data.seconds.num() == Approx(2 * inside / 450e9 + 2 * between / 50e9).epsilon(1e-14));
}

TEST_CASE("ZeRO-2 reduces every micro-batch, ZeRO-1 once a step") {
  Draft draft({.model = "llama8b", .cluster = "h100x64", .framework = "deepspeed", .batch = 4 * 64});
  Plan plan = completed({.dp = 64, .sharding = Sharding::Zero1});
  CHECK(comm_of(draft, plan).data.bytes.num() == Approx((2 + 2) * kParams8b * 63 / 64).epsilon(1e-14));
  plan.sharding = Sharding::Zero2;
  CHECK(comm_of(draft, plan).data.bytes.num() == Approx((4 * 2 + 2) * kParams8b * 63 / 64).epsilon(1e-14));
}

TEST_CASE("recomputed layers run their forward collectives again") {
  Draft draft;
  Plan plan = problems::main_plan();
  plan.recompute = Recompute::Full;
  CHECK(comm_of(draft, plan).tensor.bytes.num() == 12 * 7.0 / 8 * kMessage * 20 * 16);
  plan.recompute = Recompute::Layers;
  plan.recompute_layers = 8;  // 8 of 20 layers: 4 more collectives in 40 % of them
  CHECK(comm_of(draft, plan).tensor.bytes.num() == Approx((8 + 4 * 0.4) * 7.0 / 8 * kMessage * 20 * 16));
}

TEST_CASE("a tied table is reduced between the first and the last stage") {
  Draft draft({.model = "gemma-3-27b", .cluster = "h100x64", .sequence = 4096, .batch = 64});
  const Problem problem = draft.problem();
  const Plan plan = completed({.tp = 4, .pp = 2, .dp = 8});
  // 262208 rows are padded to 262656 = 513 x 512; an all-reduce of two ranks sends the payload once, in fp32
  const double bytes = 262'656.0 * 5376 / 4 * 4;
  for (const int stage : {0, 1}) {
    const auto comm = evaluate_stage(problem, plan, stage).comm;
    CHECK(comm.tied.bytes.num() == bytes);
    CHECK(comm.tied.seconds.num() > 0);
  }
  CHECK(evaluate(problem, completed({.tp = 4, .dp = 16})).comm.tied.bytes.num() == 0);
  Draft untied;
  CHECK(evaluate(untied.problem(), problems::main_plan()).comm.tied.bytes.num() == 0);
}

TEST_CASE("weights of low products are gathered in 8 bits where the framework does so") {
  Draft draft = small(4 * 64);
  const Plan plan = completed({.dp = 64, .sharding = Sharding::Zero3});
  draft.recipe.matmul = Matmul::Fp8;  // two gathers of a byte, a reduction of 4
  CHECK(comm_of(draft, plan).data.bytes.num() ==
        Approx(4 * (1 + 1 + 4) * kParams8b * 63 / 64).epsilon(1e-14));
  draft.framework.low_gathers = false;
  CHECK(comm_of(draft, plan).data.bytes.num() ==
        Approx(4 * (2 + 2 + 4) * kParams8b * 63 / 64).epsilon(1e-14));
}
