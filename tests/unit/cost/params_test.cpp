#include "trainplan/cost/params.hpp"

#include <string>

#include "catch.hpp"
#include "problems.hpp"

using namespace trainplan;
using problems::completed;
using problems::Draft;

namespace {

ParamsCost<double> params_of(const Problem& problem, const Plan& plan, int stage = 0) {
  Eval rec;
  return params_cost(rec, bind(rec, problem, plan), problem, plan, stage);
}

ModelParams<double> model_of(const Problem& problem) {
  Eval rec;
  return model_params(rec, bind(rec, problem, {}), problem.model(), 0);
}

double total_of(const char* model) {
  Draft draft({.model = model});
  return params_of(draft.problem(), {}).total.num();
}

/// Parameters of one GPU of each stage are counted once: split parts on every tp rank, whole parts on one.
double once_over_all_gpus(const Problem& problem, const Plan& plan) {
  const ModelSpec& m = problem.model();
  const auto h = static_cast<double>(m.hidden);
  double sum = 0;
  for (int s = 0; s < plan.pp; ++s) {
    const auto stage = params_of(problem, plan, s);
    double whole = stage.stage_layers.num() * model_of(problem).dense.whole.num();
    if (s == 0) whole += static_cast<double>(m.learned_positions) * h;
    if (s == plan.pp - 1) whole += m.norm_vectors * h;
    sum += plan.tp * stage.stage.num() - (plan.tp - 1) * whole;
  }
  const bool second_table = m.tied && plan.pp > 1;
  return second_table ? sum - static_cast<double>(m.vocab) * h : sum;
}

}  // namespace

TEST_CASE("parameters of whole models, by hand") {
  // llama: L (2 h q + 2 h kv + 3 h f + 2 h) + 2 V h + h
  CHECK(total_of("llama8b") == 8'030'261'248);
  CHECK(total_of("llama70b") == 70'553'706'496);
  CHECK(total_of("llama405b") == 405'853'388'800);
  CHECK(total_of("llama2-7b") == 6'738'415'616);
  // 36 x (2 4096 4096 + 2 4096 1024 + 3 4096 12288 + 2 4096 + 2 128) + 2 x 151936 x 4096 + 4096:
  // queries and keys have a norm of the head size
  CHECK(total_of("qwen3-8b") == 36.0 * 192'946'432 + 1'244'659'712 + 4096);
  // 96 x (4 h^2 + 2 h 4h + biases 3h + 4h + h + h + two LayerNorms 4h) + (50257 + 2048) h + 2h, tied, h =
  // 12288
  CHECK(total_of("gpt3-175b") == 96.0 * 1'812'099'072 + 617'558'016 + 25'165'824 + 24'576);
  CHECK(total_of("gpt3-175b") == 174'604'259'328);
  CHECK(total_of("gpt2") == 124'439'808);
}

TEST_CASE("parameters that take part in matrix products leave the look-ups out") {
  Draft llama, gpt2({.model = "gpt2"});
  CHECK(params_of(llama.problem(), {}).gemm.num() == 70'553'706'496 - 128256.0 * 8192);
  // A tied table is the head's matrix; only the positions are looked up.
  CHECK(params_of(gpt2.problem(), {}).gemm.num() == 124'439'808 - 1024.0 * 768);
}

TEST_CASE("one layer on one GPU: norms and row-wise biases are whole, the rest is cut") {
  struct Row {
    const char* model;
    std::uint16_t tp;
    double split, whole;
  };
  const Row rows[] = {
      {"llama70b", 8, 2 * 8192.0 * 8192 + 2 * 8192.0 * 1024 + 3 * 8192.0 * 28672, 2 * 8192.0},
      {"qwen3-8b", 4, 41'943'040.0 + 150'994'944, 2 * 4096.0 + 2 * 128},
      {"gpt3-175b", 8, 603'979'776.0 + 1'207'959'552 + 3 * 12288 + 4 * 12288, 4 * 12288.0 + 2 * 12288},
  };
  for (const Row& row : rows) {
    Draft draft({.model = row.model});
    const auto p = params_of(draft.problem(), {.tp = row.tp});
    CAPTURE(row.model);
    CHECK(model_of(draft.problem()).dense.split.num() == row.split);
    CHECK(model_of(draft.problem()).dense.whole.num() == row.whole);
    CHECK(p.dense_layer.num() == row.split / row.tp + row.whole);
  }
}

TEST_CASE("llama70b on TP 8 x PP 4, stage by stage") {
  Draft draft;
  const Problem problem = draft.problem();
  const Plan plan = problems::main_plan();
  // 20 layers x ((150994944 + 704643072) / 8 + 16384)
  const double layers = 20 * 106'971'136.0;
  // 128256 is padded to 126 x 1024 = 129024 rows of 8192, an eighth on each GPU
  const double table = 129024.0 * 8192 / 8;
  const double want[] = {layers + table, layers, layers, layers + table + 8192};
  for (int s = 0; s < 4; ++s) {
    CAPTURE(s);
    CHECK(params_of(problem, plan, s).stage.num() == want[s]);
    CHECK(params_of(problem, plan, s).stage_layers.num() == 20);
  }
  CHECK(params_of(problem, plan, 0).tables_local.num() == table);
  CHECK(params_of(problem, plan, 1).tables_local.num() == 0);
  CHECK(params_of(problem, plan, 0).average.num() == 70'553'706'496 / 32.0);
}

TEST_CASE("llama405b on TP 8 x PP 16: embedding and loss count as a layer") {
  Draft draft({.model = "llama405b", .cluster = "h100x16384"});
  const Problem problem = draft.problem();
  Plan plan = completed({.tp = 8, .pp = 16, .dp = 128});
  plan.layout = Layout::EmbeddingAndLoss;
  // (570425344 + 2617245696) / 8 + 32768 a layer; tables of 129024 x 16384 / 8
  const double layer = 398'491'648.0, table = 264'241'152.0;
  for (int s = 0; s < 16; ++s) {
    CAPTURE(s);
    const double want = s == 0 ? 7 * layer + table : s == 15 ? 7 * layer + table + 16384 : 8 * layer;
    CHECK(params_of(problem, plan, s).stage.num() == want);
  }
}

TEST_CASE("a tied model has its table on both ends of a pipeline, once without one") {
  Draft draft({.model = "gpt2"});
  const Problem problem = draft.problem();
  const double layers = 12 * 7'087'872.0, table = 50304.0 * 768;  // 50257 padded to 393 x 128
  CHECK(params_of(problem, {}, 0).stage.num() == layers + table + 1024 * 768 + 2 * 768);
  CHECK(params_of(problem, {.pp = 2}, 0).stage.num() == layers / 2 + table + 1024 * 768);
  CHECK(params_of(problem, {.pp = 2}, 1).stage.num() == layers / 2 + table + 2 * 768);
  CHECK(params_of(problem, {.pp = 3}, 1).stage.num() == layers / 3);
}

TEST_CASE("the vocabulary is padded as the profile says") {
  struct Row {
    const char *framework, *model;
    std::uint16_t tp;
    double rows;
  };
  const Row rows[] = {{"megatron-lm", "llama70b", 1, 128256},  // 1002 x 128
                      {"megatron-lm", "llama70b", 8, 129024},  // 126 x 1024
                      {"megatron-lm", "gpt3-175b", 8, 51200},  // 50 x 1024
                      {"deepspeed", "gpt3-175b", 8, 50257},
                      {"torchtitan", "llama70b", 8, 128256}};
  for (const Row& row : rows) {
    Draft draft({.model = row.model, .framework = row.framework});
    const Problem problem = draft.problem();
    CAPTURE(row.framework, row.model);
    const auto p = params_of(problem, {.tp = row.tp, .pp = 4}, 3);
    CHECK(p.tables_local.num() == row.rows * static_cast<double>(problem.model().hidden) / row.tp);
  }
}

TEST_CASE("stages and tp ranks add up to the model when nothing is padded") {
  struct Row {
    const char* model;
    Plan plan;
  };
  const Row rows[] = {{"llama70b", {.tp = 8, .pp = 4}},
                      {"llama70b", {.tp = 1, .pp = 1}},
                      {"llama8b", {.tp = 2, .pp = 8}},
                      {"llama405b", {.tp = 8, .pp = 16, .layout = Layout::EmbeddingAndLoss}},
                      {"qwen3-8b", {.tp = 4, .pp = 4}},
                      {"gpt3-175b", {.tp = 8, .pp = 8}},
                      {"gpt2", {.tp = 1, .pp = 2}},
                      {"gpt2", {.tp = 4, .pp = 1}}};
  for (const Row& row : rows) {
    Draft draft({.model = row.model});
    draft.framework.vocabulary_multiple = 1;
    draft.framework.vocabulary_times_tp = false;
    const Problem problem = draft.problem();
    CAPTURE(row.model, row.plan.tp, row.plan.pp);
    CHECK(once_over_all_gpus(problem, row.plan) == params_of(problem, row.plan).total.num());
  }
}
