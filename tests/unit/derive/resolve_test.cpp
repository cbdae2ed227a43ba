#include "trainplan/derive/resolve.hpp"

#include <algorithm>
#include <string>

#include "asked.hpp"
#include "catch.hpp"

using namespace trainplan;
using problems::Fields;

namespace {

struct Answer {
  Resolved resolved;
  Issues issues;

  const Setting* find(std::string_view key) const {
    const auto it = std::find_if(resolved.settings.begin(), resolved.settings.end(),
                                 [&](const Setting& s) { return s.key == key; });
    return it == resolved.settings.end() ? nullptr : &*it;
  }
  std::string origin(std::string_view key) const {
    return find(key) == nullptr ? "missing" : find(key)->origin;
  }
};

Answer answer(Fields fields, const char* model = "llama70b", const char* framework = "megatron-lm",
              const char* file = "") {
  RunSpec run = problems::run_of(fields);
  run.origin = file;
  Answer a;
  a.resolved = resolve(run, *problems::model(model), *problems::framework(framework),
                       *problems::calibration(), a.issues);
  return a;
}

}  // namespace

TEST_CASE("the defaults") {
  const Answer a = answer({});
  const Recipe& r = a.resolved.recipe;
  CHECK(a.issues.all().empty());
  CHECK(r.sequence == 8192);
  CHECK(r.global_batch == 512);  // 4 Mi tokens
  CHECK(a.resolved.batch_target == 512);
  CHECK(r.gradient == DType::Fp32);
  CHECK(r.reduce == DType::Fp32);
  CHECK(r.attention == Attention::Flash);
  CHECK(r.fused_mlp);
  CHECK(r.convention == FlopConvention::Causal);
  CHECK(r.tp_overlap);
  CHECK(r.dp_overlap);
  CHECK(r.cp_mode == CpMode::Ring);
  CHECK(r.margin == 0.3);
  CHECK_FALSE(r.tokens.has_value());
}

TEST_CASE("every default is shown with its reason") {
  const Answer a = answer({});
  struct Row {
    const char *key, *origin;
  };
  const Row rows[] = {{"sequence", "max_position_embeddings"},
                      {"gradient_dtype", "default of megatron-lm"},
                      {"reduce_dtype", "as the gradient"},
                      {"attention", "default"},
                      {"fused_mlp", "default"},
                      {"flop_convention", "default"},
                      {"tp_overlap", "default"},
                      {"dp_overlap", "default"},
                      {"cp_mode", "default"},
                      {"memory_margin", "default"}};
  for (const Row& row : rows) {
    CAPTURE(row.key, a.origin(row.key));
    CHECK(a.origin(row.key).find(row.origin) != std::string::npos);
  }
}

TEST_CASE("what the user gives wins, and says so") {
  const Answer a = answer({{"sequence", "4096"},
                           {"reduce_dtype", "bf16"},
                           {"attention", "unfused"},
                           {"fused_mlp", "off"},
                           {"flop_convention", "full"},
                           {"tp_overlap", "off"},
                           {"dp_overlap", "off"},
                           {"cp_mode", "all-to-all"},
                           {"memory_margin", "10%"},
                           {"tokens", "15T"},
                           {"global_batch", "1024 sequences"}});
  const Recipe& r = a.resolved.recipe;
  CHECK(r.sequence == 4096);
  CHECK(r.global_batch == 1024);
  CHECK(a.resolved.batch_target == 0);
  CHECK(r.gradient == DType::Fp32);
  CHECK(r.reduce == DType::Bf16);
  CHECK(r.attention == Attention::Unfused);
  CHECK_FALSE(r.fused_mlp);
  CHECK(r.convention == FlopConvention::Full);
  CHECK_FALSE(r.tp_overlap);
  CHECK_FALSE(r.dp_overlap);
  CHECK(r.cp_mode == CpMode::AllToAll);
  CHECK(r.margin == Approx(0.1));
  CHECK(r.tokens == 15e12);
  for (const char* key : {"sequence", "reduce_dtype", "attention", "fused_mlp", "flop_convention",
                          "tp_overlap", "dp_overlap", "cp_mode", "memory_margin"})
    CHECK(a.origin(key) == "option");
  CHECK(a.origin("gradient_dtype") == "default of megatron-lm");
  CHECK(answer({{"sequence", "4096"}}, "llama70b", "megatron-lm", "run.json").origin("sequence") ==
        "option or run.json");
}

TEST_CASE("the reduction follows the gradient, the gradient the profile") {
  CHECK(answer({{"gradient_dtype", "bf16"}}).resolved.recipe.reduce == DType::Bf16);
  CHECK(answer({}, "llama70b", "deepspeed").resolved.recipe.gradient == DType::Bf16);
  CHECK(answer({}, "llama70b", "torchtitan").resolved.recipe.gradient == DType::Fp32);
}

TEST_CASE("the sequence is at most 8192 and at most what the model knows") {
  CHECK(answer({}, "llama405b").resolved.recipe.sequence == 8192);  // 131072 positions
  CHECK(answer({}, "gpt3-175b").resolved.recipe.sequence == 2048);
  CHECK(answer({}, "gpt3-175b").resolved.recipe.global_batch == 2048);
  CHECK(answer({}, "gpt2").resolved.recipe.sequence == 1024);
}

TEST_CASE("a batch in tokens is whole sequences") {
  CHECK(answer({{"global_batch", "16Mi tokens"}}).resolved.recipe.global_batch == 2048);
  const Answer a = answer({{"global_batch", "4000000 tokens"}}, "llama70b", "megatron-lm", "run.json");
  REQUIRE(a.issues.all().size() == 1);
  const Issue& issue = a.issues.all().front();
  CHECK(issue.rule == "batch-in-whole-sequences");
  CHECK(issue.file == "run.json");
  CHECK(issue.pointer == "/global_batch");
  CHECK(issue.got == "4000000 tokens");
  CHECK(issue.must.find("8192") != std::string::npos);
  CHECK(issue.hint.find("3997696") != std::string::npos);  // 488 x 8192; 489 would be 4005888
}

TEST_CASE("the multiple nearest to a target, at least one") {
  struct Row {
    std::int64_t target, unit, want;
  };
  for (const Row& row :
       {Row{512, 32, 512}, Row{512, 48, 528}, Row{512, 100, 500}, Row{512, 2048, 2048}, Row{512, 1000, 1000},
        Row{150, 100, 100}, Row{151, 100, 200}, Row{1, 1, 1}, Row{0, 7, 7}}) {
    CAPTURE(row.target, row.unit);
    CHECK(nearest_multiple(row.target, row.unit) == row.want);
  }
}

TEST_CASE("the default batch is the multiple of dp x micro-batch nearest to 4 Mi tokens") {
  // 384 GPUs / (8 x 4) = dp 12: 43 x 12 = 516 is nearer to 512 than 504
  const problems::Asked a("llama70b", "a100x384");
  const auto [problem, plan] = a.planner().complete({.tp = 8, .pp = 4});
  CHECK(plan.dp == 12);
  CHECK(problem.recipe.global_batch == 516);
  const auto [two, double_batch] = a.planner().complete({.tp = 8, .pp = 4, .vpp = {}, .micro_batch = 2});
  CHECK(two.recipe.global_batch == 504);  // 21 x 24; 528 is as far as 16, 504 only 8
  CHECK(double_batch.micro_batch == 2);
}

TEST_CASE("a batch that can only have been meant as tokens is warned about") {
  const Answer odd = answer({{"global_batch", "4M"}});  // 4,000,000 sequences of 8,192 tokens
  REQUIRE(odd.issues.all().size() == 1);
  CHECK(odd.issues.all()[0].rule == "batch-in-sequences");
  CHECK(odd.issues.all()[0].level == Severity::Warning);
  CHECK(odd.resolved.recipe.global_batch == 4'000'000);
  CHECK(answer({{"global_batch", "131072"}}).issues.all().empty());  // 1 Gi tokens
}

TEST_CASE("loss, compilation and moments follow the framework") {
  CHECK(std::get<std::string>(answer({}).find("loss")->value) == "native");
  CHECK(std::get<std::string>(answer({}, "llama8b", "torchtitan").find("loss")->value) == "chunked");
  CHECK(answer({}, "llama8b", "torchtitan").resolved.recipe.compile);
  const Answer eager = answer({{"compile", "false"}, {"loss", "eager"}}, "llama8b", "torchtitan");
  CHECK(eager.issues.all().empty());
  CHECK_FALSE(eager.resolved.recipe.fused_mlp);
  CHECK(eager.resolved.recipe.loss == LossKind::Eager);
  CHECK(answer({{"compile", "false"}}).resolved.recipe.fused_mlp);  // Megatron-LM has a fused activation
  const Answer precise = answer({{"moment_dtype", "bf16"}}, "llama8b", "megatron-lm-precision-aware");
  CHECK(precise.issues.all().empty());
  CHECK(precise.resolved.recipe.moments == DType::Bf16);
}

TEST_CASE("the stack of time constants follows the framework and compilation") {
  CHECK(answer({}).resolved.recipe.stack == Stack::MegatronCore);
  CHECK(answer({}, "llama8b", "deepspeed").resolved.recipe.stack == Stack::MegatronDeepSpeed);
  CHECK(answer({}, "llama8b", "torchtitan").resolved.recipe.stack == Stack::TorchtitanCompiled);
  const Answer eager = answer({{"compile", "false"}}, "llama8b", "torchtitan");
  CHECK(eager.resolved.recipe.stack == Stack::Torchtitan);
  CHECK(eager.find("stack")->origin == "default of torchtitan");
  CHECK(answer({{"stack", "megatron-lm-2022"}}).resolved.recipe.stack == Stack::Megatron2022);
}

TEST_CASE("how a step is executed: defaults, and what a run says") {
  const Recipe plain = answer({}, "deepseek-v3").resolved.recipe;
  CHECK(plain.matmul == Matmul::Wide);
  CHECK(plain.dispatcher == Dispatcher::AllToAll);
  CHECK(plain.graphs == Graphs::None);
  const Recipe told =
      answer({{"matmul_precision", "mxfp8"}, {"moe_dispatcher", "HybridEP"}, {"cuda_graphs", "full"}},
             "deepseek-v3")
          .resolved.recipe;
  CHECK(told.matmul == Matmul::Mxfp8);
  CHECK(told.dispatcher == Dispatcher::HybridEp);
  CHECK(told.graphs == Graphs::Full);
  CHECK(answer({}).find("moe_dispatcher") == nullptr);  // a dense model has none
}

TEST_CASE("a loss and moments that the framework does not have are mistakes") {
  const Answer a =
      answer({{"loss", "eager"}, {"moment_dtype", "bf16"}}, "llama8b", "megatron-lm", "run.json");
  REQUIRE(a.issues.all().size() == 2);
  CHECK(a.issues.all()[0].rule == "loss-of-framework");
  CHECK(a.issues.all()[0].pointer == "/loss");
  CHECK(a.issues.all()[0].must == "be a loss of megatron-lm: te, native");
  CHECK(a.issues.all()[1].rule == "moments-of-framework");
  CHECK(a.issues.all()[1].hint == "try megatron-lm-precision-aware");
}
