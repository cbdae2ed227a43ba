/// Questions that users of the frameworks asked in public, with the answer that a planner owes them.
#include <algorithm>
#include <string>
#include <vector>

#include "catch.hpp"
#include "problems.hpp"
#include "trainplan/cost/plan_cost.hpp"
#include "trainplan/derive/legality.hpp"
#include "trainplan/derive/resolve.hpp"

using namespace trainplan;
using problems::completed;
using problems::Draft;

namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

Draft asked(const char* framework, std::int64_t nodes, std::int64_t batch) {
  Draft d({.framework = framework, .batch = batch});
  d.cluster.nodes = nodes;
  return d;
}
void on_gpus(Draft& d, std::int64_t gpus) {
  d.cluster.nodes = 1;
  d.cluster.gpus_per_node = d.cluster.scale_up_domain = gpus;
}

Issues issues_of(Draft& draft, const Plan& plan) {
  Issues issues;
  report_broken_rules(draft.problem(), plan, "run.json", {}, issues);
  return issues;
}

/// The issue of a rule; the test fails without one.
Issue issue_of(Draft& draft, const Plan& plan, std::string_view rule) {
  const Issues issues = issues_of(draft, plan);
  for (const Issue& i : issues.all())
    if (i.rule == rule) return i;
  FAIL("no issue of " << rule);
  return {};
}

std::vector<std::int64_t> stages(const ModelSpec& m, const Plan& plan) {
  std::vector<std::int64_t> out;
  for (int s = 0; s < plan.pp; ++s) out.push_back(stage_layers(m, plan, s));
  return out;
}

Plan with_own_layout(const Draft& d, Plan plan) {
  choose_layout(d.model.layers, d.framework.uneven_stages, plan);
  return plan;
}

void qwen3_30b_a3b(Draft& d) {
  d.model.heads = 32;
  d.model.kv_heads = 4;
  d.model.head_dim = 128;
  d.model.hidden = 2048;
  d.model.layers = 48;
  d.model.experts = {.count = 128, .per_token = 8, .width = 768};
  d.model.pattern = std::vector(48, LayerKind{.sparse = true});
}

}  // namespace

TEST_CASE("30 layers on 4 stages: legal pp, or a stated uneven split (NVIDIA/Megatron-LM issue 1304)") {
  Draft plain = asked("deepspeed", 30, 240);  // 240 GPUs: pp decides by layers alone
  plain.model.layers = 30;
  const Issue issue = issue_of(plain, completed({.pp = 4, .dp = 60}), "pp-divides-layers");
  CHECK(has(issue.must, "30 layers / pp 4 leaves 2"));
  CHECK(issue.hint == "try 1, 2, 3, 5, 6, 10, 15 or 30");
  Draft counted = asked("megatron-lm", 30, 240);
  counted.model.layers = 30;
  const Plan own = with_own_layout(counted, completed({.pp = 4, .dp = 60}));
  CHECK(issues_of(counted, own).all().empty());
  CHECK(stages(counted.model, own) == std::vector<std::int64_t>{7, 8, 8, 7});
  Plan given = own;  // 6/8/8/8
  given.layout = Layout::FirstAndLast;
  given.first_layers = 6;
  given.last_layers = 8;
  CHECK(issues_of(counted, given).all().empty());
  CHECK(stages(counted.model, given) == std::vector<std::int64_t>{6, 8, 8, 8});
}

TEST_CASE("46 layers on 4 stages are 11/12/12/11 (modelscope/ms-swift issue 5737)") {
  Draft d = asked("megatron-lm", 8, 16);
  d.model.layers = 46;
  const Plan own = with_own_layout(d, completed({.tp = 8, .pp = 4, .dp = 2, .micro_batch = 2}));
  CHECK(issues_of(d, own).all().empty());
  CHECK(stages(d.model, own) == std::vector<std::int64_t>{11, 12, 12, 11});
  Plan wrong = own;
  wrong.layout = Layout::FirstAndLast;
  wrong.first_layers = 10;
  wrong.last_layers = 11;
  const Issue issue = issue_of(d, wrong, "first-and-last-layers-fit");
  CHECK(issue.pointer == "/first_layers");
  CHECK(has(issue.must, "(46 layers - first 10 - last 11) / 2 stages between"));
  CHECK(has(issue.hint, "9 or 11"));
  CHECK(has(issue.hint, "stages of 11/12/12/11 layers"));
}

TEST_CASE("3 micro-batches on 6 interleaved stages (NVIDIA-NeMo/Speech issue 14288)") {
  Draft d = asked("megatron-lm", 6, 3);
  d.model.layers = 48;
  d.cluster.nodes = 6;
  const Issue issue = issue_of(d, completed({.tp = 8, .pp = 6, .vpp = 2, .dp = 1}), "interleaving-groups");
  CHECK(has(issue.must, "m = 3 / (dp 1 x 1) = 3, fewer than pp 6"));
  CHECK(has(issue.hint, "try 1"));
  CHECK(has(issue.hint, "global_batch 6"));
}

TEST_CASE("interleaving at pp 2 depends on release and flags (NVIDIA/Megatron-LM issue 750)") {
  Draft d = asked("megatron-lm", 128, 512);
  const Plan plan = completed({.tp = 8, .pp = 2, .vpp = 4, .dp = 64});
  CHECK(issues_of(d, plan).all().empty());
  CHECK(has(std::string(d.framework.rules.source("vpp-needs-interleaving")), "before 2024-05"));
  d.framework.rules.interleaving_stages = 3;
  const Issue issue = issue_of(d, plan, "vpp-needs-interleaving");
  CHECK(has(issue.must, "be 1 unless pp is above 2"));
  CHECK(has(issue.source, "--no-overlap-p2p-communication"));
}

TEST_CASE("tp 4, ep 4, etp 1 is legal on 4 GPUs, etp 4 is not (NVIDIA-NeMo/Megatron-Bridge issue 546)") {
  Draft d = asked("megatron-lm", 1, 8);
  qwen3_30b_a3b(d);
  on_gpus(d, 4);
  const Plan good = completed({.tp = 4, .ep = 4, .dp = 1});
  CHECK(issues_of(d, good).all().empty());
  CHECK(expert_dp(good) == 1);
  Plan bad = good;
  bad.etp = 4;
  const Issue issue = issue_of(d, bad, "expert-grid-divides-gpus");
  CHECK(has(issue.must, "dense tp 4 x cp 1 x dp 1 x pp 1 = 4"));
  CHECK(has(issue.must, "experts etp 4 x ep 4 x pp 1 = 16"));
  CHECK(has(issue.hint, "etp 1"));
}

TEST_CASE("151,669 tokens at tp 4 (NVIDIA-NeMo/Megatron-Bridge issue 1331)") {
  Draft d = asked("megatron-lm", 1, 8);
  d.model.vocab = 151669;
  const Plan plan = completed({.tp = 4, .dp = 2});
  const Problem problem = d.problem();
  CHECK(legal(problem, plan));
  CHECK(detail::padded_to(d.framework, 151669, 4) == 152064);
  CHECK(evaluate(problem, plan).memory.params.padded_vocabulary.num() == 152064);
  CHECK(detail::padded_to(d.framework, 50257, 1) == 50304);
  CHECK(detail::padded_to(d.framework, 50257, 8) == 51200);
  Draft plain = asked("deepspeed", 1, 8);
  plain.model.vocab = 151669;
  const Issue issue = issue_of(plain, plan, "tp-divides-vocabulary");
  CHECK(has(issue.must, "151669, not padded, / tp 4"));
  CHECK(has(issue.hint, "pad vocab_size to 151672, a multiple of 4"));
}

TEST_CASE("2 KV heads: tp 2 at most in torchtitan, copies in Megatron-LM (pytorch/torchtitan issue 2574)") {
  const Plan plan = completed({.tp = 4, .dp = 2});
  Draft titan = asked("torchtitan", 1, 8);
  titan.model.kv_heads = 2;
  Plan sharded = plan;
  sharded.sharding = Sharding::Zero3;
  const Issue issue = issue_of(titan, sharded, "tp-fits-kv-heads");
  CHECK(has(issue.must, "2 KV heads / tp 4 = 0.5 heads a rank"));
  CHECK(has(issue.hint, "try 1 or 2"));
  CHECK(has(issue.source, "torchtitan 0.2.2 + development: torchtitan/models/common/decoder.py"));
  Draft megatron = asked("megatron-lm", 1, 8);
  megatron.model.kv_heads = 2;
  CHECK(issues_of(megatron, plan).all().empty());
}

TEST_CASE("4 KV heads at tp 8: tp 4 with dp 2 (huggingface/transformers issue 48307)") {
  Draft d = asked("torchtitan", 1, 8);
  qwen3_30b_a3b(d);
  Plan plan = completed({.tp = 8, .dp = 1});
  plan.sharding = Sharding::Zero3;
  CHECK(issue_of(d, plan, "tp-fits-kv-heads").hint == "try 1, 2 or 4 (tp 4 with dp 2)");
}

TEST_CASE("52 heads at tp 8 (deepspeedai/DeepSpeed issue 3634)") {
  Draft d = asked("deepspeed", 1, 8);
  d.model.heads = d.model.kv_heads = 52;
  d.model.head_dim = 128;
  d.model.hidden = 6656;
  d.model.ffn = 17920;
  const Issue issue = issue_of(d, completed({.tp = 8, .dp = 1}), "tp-divides-heads");
  CHECK(has(issue.must, "52 heads / tp 8"));
  CHECK(issue.hint == "try 1, 2 or 4 (tp 4 with dp 2)");
  CHECK(has(issue.source, "DeepSpeed 0.19.6"));
}

TEST_CASE("fewer micro-batches than stages, with the bubble as reason (pytorch/torchtitan issue 775)") {
  Draft d = asked("torchtitan", 8, 8);
  Plan plan = completed({.pp = 8, .dp = 8});
  plan.sharding = Sharding::Zero3;
  const Issue issue = issue_of(d, plan, "micro-batches-cover-stages");
  CHECK(has(issue.must, "m = 8 / (dp 8 x 1) = 1 < pp 8"));
  CHECK(has(issue.must, "87.5 %"));
  CHECK(has(issue.hint, "64"));
  CHECK(has(issue.hint, "cp"));
  Draft megatron = asked("megatron-lm", 8, 8);
  CHECK(issues_of(megatron, completed({.pp = 8, .dp = 8})).all().empty());
}

TEST_CASE("sharding over one rank saves nothing (deepspeedai/DeepSpeed issue 237)") {
  Draft d = asked("deepspeed", 1, 8);
  Plan plan = completed({.tp = 8, .dp = 1});
  plan.sharding = Sharding::Zero2;
  Issues issues;
  RunSpec run;
  run.sharding = Sharding::Zero2;
  report_warnings(d.problem(), plan, run, issues);
  const auto& all = issues.all();
  const auto found =
      std::find_if(all.begin(), all.end(), [](const Issue& i) { return i.rule == "sharding-without-ranks"; });
  REQUIRE(found != all.end());
  CHECK(found->level == Severity::Warning);
  CHECK(found->got == "zero2");
  CHECK(has(found->must, "dp 1 x cp 1 = 1"));
  CHECK_FALSE(issues.has_errors());
}

TEST_CASE("4 micro-batches on 4 stages idle for 43 % (marin-community/marin issue 7024)") {
  Draft d = asked("megatron-lm", 4, 32);
  Issues issues;
  RunSpec run;
  run.pp = 4;
  report_warnings(d.problem(), completed({.pp = 4, .dp = 8}), run, issues);
  REQUIRE(issues.all().size() == 1);
  CHECK(issues.all().front().rule == "few-micro-batches");
  CHECK(has(issues.all().front().must, "m = 32 / (dp 8 x 1) = 4, pp 4: bubble 42.9 %"));
}

TEST_CASE("a batch that does not divide names neighbours of every factor") {
  Draft d = asked("megatron-lm", 1, 256);
  on_gpus(d, 7);
  const Issue issue = issue_of(d, completed({.dp = 7}), "batch-divides");
  CHECK(has(issue.must, "m = 256 / (dp 7 x 1) = 36.571"));
  CHECK(has(issue.hint, "try 252 or 259"));
  CHECK(has(issue.hint, "dp 4 (4 GPUs) or 8 (8 GPUs)"));
}

TEST_CASE("each framework has its own divisor of a sequence") {
  struct Row {
    const char *framework, *hint;
  };
  // cp 2 x lcm(2, tp 4) = 8; 2 x cp 2 x tp 4 = 16; cp 2
  for (const Row& row : {Row{"megatron-lm", "try 8184 or 8192"}, Row{"torchtitan", "try 8176 or 8192"},
                         Row{"deepspeed", "try 8188 or 8190"}}) {
    Draft d = asked(row.framework, 128, 512);
    d.recipe.sequence = 8189;
    d.recipe.cp_mode = default_cp_mode(d.framework);
    Plan plan = completed({.tp = 4, .cp = 2, .dp = 128});
    plan.sharding = d.framework.default_sharding;
    CAPTURE(row.framework);
    CHECK(issue_of(d, plan, "cp-divides-sequence").hint == row.hint);
  }
}
