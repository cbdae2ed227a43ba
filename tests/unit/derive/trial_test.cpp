#include "trainplan/derive/trial.hpp"

#include "asked.hpp"
#include "catch.hpp"

using namespace trainplan;
using problems::Asked;

TEST_CASE("a choice is completed by the run, the cluster and the profile") {
  const Asked a("llama70b", "h100x1024");
  const auto [problem, plan] = a.planner().complete({.tp = 8, .pp = 4});
  CHECK(plan.dp == 32);
  CHECK(plan.shard == 32);
  CHECK(plan.vpp == 4);
  CHECK(plan.schedule == Schedule::Interleaved);
  CHECK(plan.sequence_parallel);
  CHECK(plan.sharding == Sharding::Zero1);
  CHECK(plan.micro_batch == 1);
  CHECK(plan.layout == Layout::Equal);
  CHECK(plan == problems::main_plan());
  const auto [p2, flat] = a.planner().complete({.tp = 1, .pp = 1});
  CHECK(flat.vpp == 1);
  CHECK(flat.schedule == Schedule::OneFOneB);
  CHECK_FALSE(flat.sequence_parallel);
}

TEST_CASE("v is the smallest legal value within a bubble of 5 % of ideal, else the largest legal one") {
  struct Row {
    std::int64_t pp;
    const char* batch;
    std::uint16_t vpp;
  };
  const Row rows[] = {
      {4, "512", 4},   // 3/16 of ideal; 3/64 = 4.7 % with v 4; v 2 would be 9.4 %
      {2, "512", 4},   // m 8: 1/8, 1/16 = 6.3 % with 2, 1/32 with 4
      {4, "2048", 1},  // m 64: 3/64 already
      {4, "128", 20},  // m 4: even v 20, one layer a chunk, is 3.75 %; v 10 is 7.5 %
      {16, "256", 5},  // m 32: 15/32; v 5 (9.4 %) is the largest that divides 5 layers
      {4, "192", 1},   // m 6 does not come in groups of 4
  };
  for (const Row& row : rows) {
    const Asked a("llama70b", "h100x1024", {{"global_batch", row.batch}});
    CAPTURE(row.pp, row.batch);
    CHECK(a.planner().complete({.tp = 8, .pp = row.pp}).second.vpp == row.vpp);
  }
  const Asked pinned("llama70b", "h100x1024", {{"schedule", "1f1b"}});
  CHECK(pinned.planner().complete({.tp = 8, .pp = 4}).second.vpp == 1);
  CHECK(pinned.planner().complete({.tp = 8, .pp = 4}).second.schedule == Schedule::OneFOneB);
}

TEST_CASE("a split that counts the embedding and the loss is taken where the run asks for it") {
  const Asked even("llama70b", "h100x1024", {{"uneven_stages", "false"}});
  CHECK(even.planner().complete({.tp = 8, .pp = 4}).second.layout == Layout::Equal);
  const Asked counted("llama70b", "h100x1024", {{"uneven_stages", "true"}});
  const auto [problem, plan] = counted.planner().complete({.tp = 8, .pp = 2, .vpp = 41});
  CHECK(plan.layout == Layout::EmbeddingAndLoss);
  CHECK(stage_layers(problem.model(), plan, 0) == 40);
  CHECK(legal(problem, plan));
  CHECK(counted.planner().complete({.tp = 8, .pp = 1}).second.layout == Layout::Equal);
}

TEST_CASE("what a sharding leaves no choice in stays as the framework has it") {
  const Asked megatron(
      "llama70b", "h100x1024",
      {{"sharding", "zero3"}, {"reshard_after_forward", "false"}, {"gradient_sync", "step"}});
  const auto [problem, plan] = megatron.planner().complete({.tp = 8});
  CHECK_FALSE(may_keep_gathered(problem, plan));
  CHECK(plan.reshard);
  CHECK(plan.sync_each_micro_batch);
  const Asked torchtitan("llama70b", "h100x1024",
                         {{"framework", "torchtitan"},
                          {"sharding", "zero3"},
                          {"reshard_after_forward", "false"},
                          {"gradient_sync", "step"}});
  CHECK_FALSE(torchtitan.planner().complete({.tp = 8}).second.reshard);
  CHECK_FALSE(torchtitan.planner().complete({.tp = 8}).second.sync_each_micro_batch);
}

TEST_CASE("the shard group: all of dp x cp, or with HSDP what the run says or the scale-up domain holds") {
  const Asked zero1("llama70b", "h100x1024");
  CHECK(zero1.planner().complete({.tp = 8, .pp = 4, .cp = 2}).second.shard == 32);
  const Asked hsdp("llama8b", "h100x64", {{"framework", "torchtitan"}, {"sharding", "hsdp"}});
  CHECK(hsdp.planner().complete({}).second.shard == 8);
  CHECK(hsdp.planner().complete({.tp = 2}).second.shard == 4);
  const Asked pinned("llama8b", "h100x64",
                     {{"framework", "torchtitan"}, {"sharding", "hsdp"}, {"shard_size", "16"}});
  CHECK(pinned.planner().complete({}).second.shard == 16);
}

TEST_CASE("layers that pp does not divide count embedding and loss") {
  const Asked a("llama405b", "h100x16384");
  CHECK(a.planner().complete({.tp = 8, .pp = 16}).second.layout == Layout::EmbeddingAndLoss);
  CHECK(a.planner().complete({.tp = 8, .pp = 9}).second.layout == Layout::Equal);
}

TEST_CASE("an illegal choice is no trial") {
  const Asked a("llama70b", "h100x1024");
  CHECK_FALSE(a.planner().attempt({.tp = 6}).has_value());
  CHECK_FALSE(a.planner().attempt({.tp = 8, .pp = 3}).has_value());
  CHECK(a.planner().attempt({.tp = 8, .pp = 4}).has_value());
}

TEST_CASE("the verdict: within the planning limit, within the gate, or not") {
  const Asked a("llama70b", "h100x1024");
  CHECK(a.planner().attempt({.tp = 8, .pp = 4})->verdict() == Verdict::Fits);
  CHECK(a.planner().attempt({.tp = 8, .pp = 2})->verdict() == Verdict::Tight);
  CHECK(a.planner().attempt({.tp = 8, .pp = 1})->verdict() == Verdict::DoesNotFit);
}

TEST_CASE("as few layers are recomputed as bring the activations under the budget") {
  const Asked a("llama70b", "h100x1024", {{"schedule", "1f1b"}});
  const Choice choice{.tp = 8, .pp = 4};
  // 1F1B: 4 x ((20 - k) x 281280512 + k x 16777216); k 7 leaves 15.10 GB, k 8 14.04 GB
  const auto below = [](double budget) {
    return [=](const Trial& t) { return t.cost.memory.activations.saved.num() <= budget; };
  };
  const auto trial = a.planner().attempt_recomputing(choice, below(15e9));
  REQUIRE(trial);
  CHECK(trial->plan.recompute == Recompute::Layers);
  CHECK(trial->plan.recompute_layers == 8);
  CHECK(trial->cost.memory.activations.saved.num() == 4 * (12 * 281'280'512.0 + 8 * 16'777'216.0));
  const auto all = a.planner().attempt_recomputing(
      choice, below(1e9));  // 20 kept inputs are 1.34 GB: more than the budget
  REQUIRE(all);
  CHECK(all->plan.recompute == Recompute::Full);
}
