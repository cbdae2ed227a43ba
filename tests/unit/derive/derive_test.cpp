#include "trainplan/derive/derive.hpp"

#include <string>

#include "asked.hpp"
#include "catch.hpp"

using namespace trainplan;
using problems::Asked;
using problems::Fields;

namespace {

struct Want {
  int tp, pp, vpp, cp, dp, m;
  Recompute recompute;
  Verdict verdict;
};

void check(const Derivation& d, const Want& want) {
  const Trial& t = d.chosen;
  CHECK(t.plan.tp == want.tp);
  CHECK(t.plan.pp == want.pp);
  CHECK(t.plan.vpp == want.vpp);
  CHECK(t.plan.cp == want.cp);
  CHECK(static_cast<int>(t.plan.dp) == want.dp);
  CHECK(micro_batches(t.problem, t.plan) == want.m);
  CHECK(t.plan.recompute == want.recompute);
  CHECK(t.verdict() == want.verdict);
  CHECK(legal(t.problem, t.plan));
}

Derivation derived(const char* model, const char* cluster, Fields fields, std::optional<Asked>& keep) {
  keep.emplace(model, cluster, fields);
  auto d = keep->derived();
  REQUIRE(d.has_value());
  return *d;
}

const Alternative* find(const Derivation& d, std::string_view key) {
  for (const Alternative& a : d.alternatives)
    if (a.key == key) return &a;
  return nullptr;
}
double device_gb(const Alternative& a) { return a.trial.device() / 1e9; }

std::string words(const Sentence& s) {
  std::string text;
  for (const auto& part : s)
    text += std::holds_alternative<std::string>(part) ? std::get<std::string>(part) : "#";
  return text;
}

}  // namespace

TEST_CASE("what is derived") {
  struct Row {
    const char *model, *cluster;
    Fields fields;
    Want want;
  };
  const Row rows[] = {
      {"llama70b", "h100x1024", {}, {8, 4, 4, 1, 32, 16, Recompute::None, Verdict::Fits}},
      {"llama70b",
       "h100x1024",
       {{"memory_margin", "0%"}, {"tp", "8"}},
       {8, 2, 4, 1, 64, 8, Recompute::None, Verdict::Fits}},
      {"llama70b",
       "h100x1024",
       {{"memory_margin", "45%"}},
       {8, 8, 5, 1, 16, 32, Recompute::None, Verdict::Fits}},
      {"llama70b", "h100x1024", {{"sequence", "32768"}}, {8, 4, 4, 4, 8, 16, Recompute::None, Verdict::Fits}},
      {"llama70b", "h100x1024", {{"pp", "2"}}, {8, 2, 4, 1, 64, 8, Recompute::None, Verdict::Tight}},
      {"llama70b", "h100x1024", {{"vpp", "5"}}, {8, 4, 5, 1, 32, 16, Recompute::None, Verdict::Fits}},
      // a pinned dp or batch is derived around, also where it leaves fewer micro-batches than stages
      {"llama405b", "h100x16384", {{"dp", "128"}}, {8, 16, 1, 1, 128, 4, Recompute::None, Verdict::Fits}},
      {"llama405b",
       "h100x16384",
       {{"global_batch", "512"}, {"tp", "8"}},
       {8, 16, 1, 1, 128, 4, Recompute::None, Verdict::Fits}},
      // a sequence that 8 ranks cannot cut is cut by 4
      {"llama70b", "h100x1024", {{"sequence", "4100"}}, {4, 8, 5, 1, 32, 32, Recompute::None, Verdict::Fits}},
      {"llama8b", "h100x64", {}, {2, 1, 1, 1, 32, 16, Recompute::None, Verdict::Fits}},
      {"llama8b", "gb200x576", {}, {1, 2, 16, 1, 288, 2, Recompute::None, Verdict::Fits}},
      {"llama70b", "gb200x576", {}, {8, 1, 1, 1, 72, 7, Recompute::None, Verdict::Fits}},
      {"gpt3-175b", "a100x1024", {{"tp", "8"}}, {8, 4, 1, 1, 32, 64, Recompute::None, Verdict::Fits}},
      // with everything open the degrees are tried together too
      {"gpt3-175b", "a100x1024", {}, {4, 16, 3, 1, 16, 128, Recompute::None, Verdict::Fits}},
      {"llama405b",
       "h100x16384",
       {{"global_batch", "512"}},
       {8, 16, 8, 4, 32, 16, Recompute::None, Verdict::Fits}},
      {"llama405b",
       "h100x16384",
       {{"global_batch", "16Mi tokens"}, {"tp", "8"}, {"pp", "16"}},
       {8, 16, 8, 1, 128, 16, Recompute::Full, Verdict::Fits}},
  };
  for (const Row& row : rows) {
    std::optional<Asked> keep;
    CAPTURE(row.model, row.cluster, row.fields.size());
    check(derived(row.model, row.cluster, row.fields, keep), row.want);
  }
}

TEST_CASE("degrees tried together replace those of the rules only where they are clearly better") {
  struct Question {
    const char* model;
    Fields fields;
  };
  const Question questions[] = {{"llama70b", {{"framework", "torchtitan"}}},
                                {"llama70b", {{"framework", "deepspeed"}}},
                                {"llama70b", {{"sequence", "8191"}}},
                                {"llama70b", {}},
                                {"llama8b", {}},
                                {"qwen3-32b", {{"memory_margin", "60%"}}}};
  int replaced = 0;
  for (const auto& [model, fields] : questions) {
    std::optional<Asked> keep;
    const Derivation d = derived(model, "h100x1024", fields, keep);
    CAPTURE(model, fields.size());
    const Alternative* rules = find(d, "by_rules");
    if (rules == nullptr) continue;
    ++replaced;
    const Trial &own = d.chosen, &other = rules->trial;
    const double alike = own.problem.calibration().plan_difference.value;
    CHECK(own.verdict() == Verdict::Fits);
    if (other.verdict() == Verdict::Fits)
      CHECK(own.cost.step.rate.num() > (1 + alike) * other.cost.step.rate.num());
    CHECK(own.problem.recipe.global_batch <= other.problem.recipe.global_batch);
    CHECK(words(d.decisions[0].reasons[0]).starts_with("axis by axis the rules lead to tp "));
    CHECK(words(d.decisions[0].reasons[1]).find("tried together") != std::string::npos);
  }
  CHECK(replaced >= 3);
}

TEST_CASE("degrees tried together: memory first, limits kept, and an answer where the rules have none") {
  std::optional<Asked> keep;
  // The rules' plan is above the gate and none keeps the margin, but one passes the gate.
  const Derivation small =
      derived("gemma-3-27b", "rtx4090x32", {{"sequence", "2048"}, {"framework", "deepspeed"}}, keep);
  CHECK(small.chosen.verdict() == Verdict::Tight);
  REQUIRE(find(small, "by_rules") != nullptr);
  CHECK(find(small, "by_rules")->trial.verdict() == Verdict::DoesNotFit);
  // A plan within the gate does not give way to one that keeps the margin and takes far longer.
  const Derivation tight =
      derived("llama405b", "h100x256", {{"sequence", "2048"}, {"framework", "deepspeed"}}, keep);
  CHECK(tight.chosen.verdict() == Verdict::Tight);
  CHECK(find(tight, "by_rules") == nullptr);
  // What the rules' plan keeps is kept.
  const Fields limited{{"sequence", "2048"}, {"max_memory", "40GiB"}};
  const Derivation within = derived("qwen3-32b", "h100x512", limited, keep);
  CHECK(within.chosen.device() <= 40 * 1024.0 * 1024 * 1024);
  const Derivation free = derived("qwen3-32b", "h100x512", {{"sequence", "2048"}}, keep);
  CHECK(free.chosen.device() > 40 * 1024.0 * 1024 * 1024);
  // One sequence for 1,024 GPUs needs cp, which the rules give to long sequences only.
  const Derivation one = derived("llama8b", "h100x1024", {{"global_batch", "1"}}, keep);
  CHECK(one.chosen.plan.cp > 1);
}

TEST_CASE("the main job keeps the framework's sharding and fits with 45 to 50 GB") {
  std::optional<Asked> keep;
  const Derivation d = derived("llama70b", "h100x1024", {}, keep);
  CHECK(d.chosen.plan == problems::main_plan());
  CHECK(d.chosen.cost.stage == 0);
  CHECK(d.chosen.device() / 1e9 == Approx(47.5).margin(2.5).epsilon(0));
}

TEST_CASE("a decision for each axis, in the order that they are told, with its reasons") {
  std::optional<Asked> keep;
  const Derivation d = derived("llama70b", "h100x1024", {}, keep);
  REQUIRE(d.decisions.size() == 5);
  const char* axes[] = {"tp", "pp", "dp", "cp", "recompute"};
  const char* values[] = {"8", "4", "32", "1", "none"};
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(d.decisions[i].axis == axes[i]);
    CHECK(d.decisions[i].value == values[i]);
    CHECK_FALSE(d.decisions[i].reasons.empty());
  }
  REQUIRE(d.decisions[0].reasons.size() == 5);  // TP 1, 2, 4 and 8 at PP 1, and why 8 after all
}

TEST_CASE("the alternatives of the main job and the numbers that decided") {
  std::optional<Asked> keep;
  const Derivation d = derived("llama70b", "h100x1024", {}, keep);

  const Alternative* pp2 = find(d, "pp2");
  REQUIRE(pp2 != nullptr);
  CHECK(pp2->trial.verdict() == Verdict::Tight);
  CHECK(pp2->trial.plan.vpp == 4);
  CHECK(device_gb(*pp2) == Approx(58.5).margin(2.5).epsilon(0));  // 56 to 61 GB

  const Alternative* pp1 = find(d, "pp1");
  REQUIRE(pp1 != nullptr);
  CHECK(pp1->trial.verdict() == Verdict::DoesNotFit);
  CHECK(device_gb(*pp1) == Approx(82.5).margin(2.5).epsilon(0));  // 80 to 85 GB
  CHECK(words(pp1->why).find("does not fit") != std::string::npos);

  REQUIRE(find(d, "pp8") != nullptr);
  CHECK(find(d, "pp8")->trial.plan.pp == 8);
  REQUIRE(find(d, "micro_batch_2") != nullptr);
  CHECK(find(d, "micro_batch_2")->trial.plan.micro_batch == 2);
  CHECK(micro_batches(find(d, "micro_batch_2")->trial.problem, find(d, "micro_batch_2")->trial.plan) == 8);
}

TEST_CASE("full sharding on the main job: 175 GB and 3.5 s against the ideal 1.99 s") {
  std::optional<Asked> keep;
  const Derivation d = derived("llama70b", "h100x1024", {}, keep);
  const Alternative* once = find(d, "fsdp");
  REQUIRE(once != nullptr);
  const Trial& t = once->trial;
  CHECK(t.problem.profile().id == "torchtitan");
  CHECK(t.plan.tp == 8);
  CHECK(t.plan.dp == 128);
  CHECK(micro_batches(t.problem, t.plan) == 4);
  CHECK(t.cost.comm.data.bytes.num() / 1e9 == Approx(175).margin(0.5).epsilon(0));
  CHECK(t.cost.comm.data.seconds.num() == Approx(3.5).margin(0.05).epsilon(0));
  CHECK(words(once->why).find("rejected") == 0);
  // 4 bytes of unsharded gradient a parameter: 35.3 GB, and the sharded rest 12 / 128
  const double n = t.cost.memory.params.stage.num();
  CHECK(4 * n / 1e9 == Approx(35.3).margin(0.05).epsilon(0));
  CHECK(t.cost.memory.state.num() == Approx(4 * n + 16 * n / 128).epsilon(1e-12));

  const Alternative* each = find(d, "fsdp_sync_each");
  REQUIRE(each != nullptr);
  // 4 x (2 + 2 + 4) bytes x 127/128: 280 GB (282 without the last factor)
  CHECK(each->trial.cost.comm.data.bytes.num() / 1e9 == Approx(280).margin(0.5).epsilon(0));
  CHECK(each->trial.cost.comm.data.seconds.num() == Approx(5.6).margin(0.05).epsilon(0));
  CHECK(each->trial.cost.memory.state.num() == Approx(16 * n / 128).epsilon(1e-12));
  CHECK(words(each->why).find("rejected") == 0);
}

TEST_CASE("what is faster than the chosen plan is not rejected for its traffic") {
  std::optional<Asked> keep;
  Derivation d = derived("llama70b", "h100x1024", {}, keep);
  const double ideal = find(d, "fsdp")->trial.cost.compute.ideal_full.num();
  REQUIRE(find(d, "fsdp")->trial.cost.comm.data.seconds.num() > ideal);
  d.chosen.cost.step.step = d.chosen.cost.step.step * 10.0;
  detail::Alternatives(keep->planner(), nullptr, d).judge_again();
  CHECK(words(find(d, "fsdp")->why).find("rejected") == std::string::npos);
}

TEST_CASE("a small model needs no pipeline and less than TP 8") {
  std::optional<Asked> keep;
  const Derivation d = derived("llama8b", "h100x64", {}, keep);
  CHECK(d.chosen.plan.tp == 2);
  const auto smaller = keep->planner().attempt({.tp = 1});  // the next smaller TP is above the planning limit
  REQUIRE(smaller);
  CHECK(smaller->device() > smaller->limit());
}

TEST_CASE("a domain of 72 GPUs is no reason to go beyond TP 8") {
  for (const char* model : {"llama8b", "llama70b", "llama405b", "gpt3-175b"}) {
    std::optional<Asked> keep;
    CAPTURE(model);
    CHECK(derived(model, "gb200x576", {}, keep).chosen.plan.tp <= 8);
  }
}

TEST_CASE("TP goes over slow links only where nothing passes the gate without, and stays inside a node") {
  std::optional<Asked> keep;
  CHECK(derived("llama8b", "rtx4090x32", {}, keep).chosen.plan.tp == 1);
  const Derivation large = derived("qwen3-32b", "rtx4090x48", {}, keep);
  CHECK(large.chosen.verdict() != Verdict::DoesNotFit);
  CHECK(large.chosen.plan.tp > 1);
  CHECK(large.chosen.plan.tp <= 8);
}

TEST_CASE("long sequences bring context parallelism") {
  std::optional<Asked> keep;
  const Derivation d = derived("llama70b", "h100x1024", {{"sequence", "32768"}}, keep);
  const Plan& p = d.chosen.plan;
  CHECK(p.cp >= 2);
  CHECK(p.recompute == Recompute::None);
  CHECK(p.tp * p.pp * p.cp * static_cast<int>(p.dp) == 1024);
  CHECK(d.chosen.problem.recipe.global_batch == 128);
  // Half of the cp would leave the activations of all layers above half of the gate.
  const auto less = keep->planner().attempt({.tp = p.tp, .pp = 1, .cp = p.cp / 2, .vpp = 1});
  REQUIRE(less);
  CHECK(less->cost.memory.activations.saved.num() > less->gate() / 2);
  const auto enough = keep->planner().attempt({.tp = p.tp, .pp = 1, .cp = p.cp, .vpp = 1});
  REQUIRE(enough);
  CHECK(enough->cost.memory.activations.saved.num() <= enough->gate() / 2);
}

TEST_CASE("llama405b with TP 8 and PP 16 on 16,384 GPUs: v 8, recompute, and what it is without") {
  std::optional<Asked> keep;
  const Derivation d =
      derived("llama405b", "h100x16384", {{"global_batch", "16Mi tokens"}, {"tp", "8"}, {"pp", "16"}}, keep);
  const Trial& t = d.chosen;
  CHECK(t.plan.layout == Layout::EmbeddingAndLoss);
  // Bubble of ideal and of total: 15/16 and 15/31 with v 1; x/(m + x), x = 15/8, with v 8
  CHECK(bubble_of_ideal(Count<>{16}, Count<>{1}, Count<>{16}).num() == Approx(0.94).margin(0.005));
  CHECK(bubble_of_total(Count<>{16}, Count<>{1}, Count<>{16}).num() == Approx(0.48).margin(0.005));
  CHECK(t.cost.schedule.bubble_of_total.num() == Approx(0.105).margin(0.0005));

  const Alternative* without = find(d, "no_recompute");
  REQUIRE(without != nullptr);
  CHECK(without->trial.verdict() == Verdict::DoesNotFit);
  const auto& m = without->trial.cost.memory;
  CHECK(m.state_average.num() / 1e9 == Approx(19.3).margin(0.05).epsilon(0));
  // A layer saves 8h + 4q + 4kv + 6f + 4a = 520704 bytes a token, x 8192 / 8; interleaving would hold
  // (2 x 14 + 7 x 16 + 1) / 8 micro-batches of stage 1, but there are only 16; 8 layers of each
  const double layer = 520'704.0 * 8192 / 8;
  CHECK(without->trial.cost.stage == 1);
  CHECK(m.activations.saved.num() == Approx(16 * 8 * layer).epsilon(1e-12));
  CHECK(m.activations.saved.num() > 67e9);
}

TEST_CASE("what is pinned stays") {
  const auto plan_with = [](Fields fields) {
    std::optional<Asked> keep;
    return derived("llama70b", "h100x1024", fields, keep).chosen.plan;
  };
  CHECK(plan_with({{"pp", "1"}}).pp == 1);
  CHECK(plan_with({{"tp", "4"}}).tp == 4);
  CHECK(plan_with({{"cp", "2"}}).cp == 2);
  CHECK(plan_with({{"micro_batch", "2"}}).micro_batch == 2);
  CHECK(plan_with({{"recompute", "full"}}).recompute == Recompute::Full);
  CHECK(plan_with({{"sharding", "none"}}).sharding == Sharding::None);
  CHECK(plan_with({{"schedule", "1f1b"}}).vpp == 1);
  CHECK_FALSE(plan_with({{"sequence_parallel", "off"}}).sequence_parallel);
}

TEST_CASE("nothing is derived where nothing is legal") {
  const Asked a("llama70b", "h100x1024", {{"tp", "6"}});
  CHECK_FALSE(a.derived().has_value());
}

TEST_CASE("how many layers are recomputed is derived when only the mode is given") {
  std::optional<Asked> keep;
  const Derivation d = derived("llama70b", "h100x1024", {{"recompute", "layers"}}, keep);
  CHECK(d.chosen.plan.recompute != Recompute::None);
  CHECK(d.chosen.verdict() != Verdict::DoesNotFit);
}

TEST_CASE("a pinned number of virtual stages stays") {
  std::optional<Asked> keep;
  const Derivation d = derived("llama70b", "h100x1024", {{"vpp", "2"}}, keep);
  CHECK(d.chosen.plan.vpp == 2);
  CHECK(d.chosen.plan.pp > 1);
}

TEST_CASE("fully sharded pipeline stages gather and reduce once a step and keep both whole") {
  std::optional<Asked> keep;
  const Derivation d =
      derived("llama70b", "h100x1024", {{"framework", "torchtitan"}, {"tp", "8"}, {"pp", "4"}}, keep);
  const Trial& t = d.chosen;
  CHECK_FALSE(t.plan.reshard);
  CHECK_FALSE(t.plan.sync_each_micro_batch);
  // 16/d sharded fp32 state without the gradient (12/d), 2 B of gathered weights and a 4 B gradient
  CHECK(t.cost.memory.state_per_param.num() == Approx(16.0 / 32 + 2 + 4));
  // one bf16 gather and one fp32 reduce-scatter of the stage
  CHECK(t.cost.comm.data.bytes.num() == Approx(t.cost.memory.params.stage.num() * 6 * 31 / 32));
}
