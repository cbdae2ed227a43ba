// Llama-3-70B on 1,024 H100s with 4 Mi tokens a step: the published figures, to the digits that are printed.
#include <string>

#include "catch.hpp"
#include "problems.hpp"
#include "trainplan/cost/plan_cost.hpp"

using namespace trainplan;
using problems::Draft;

namespace {

/// value of an item of a stage in `unit`, within `slack` of the printed digits.
struct Row {
  const char* id;
  int stage;
  double printed, unit, slack;
};

const Row kRows[] = {
    {"params.total", 0, 70.55, 1e9, 0.005},
    {"memory.state_per_param", 0, 6.375, 1, 1e-12},
    {"memory.state_average", 0, 14.06, 1e9, 0.005},
    {"memory.state", 0, 14.48, 1e9, 0.005},
    {"memory.activations", 0, 26.7, 1e9, 0.03 * 26.7},
    {"memory.activations", 0, 26.72, 1e9, 0.005},
    {"memory.device", 0, 47.5, 1e9, 2.5},  // 45 to 50 GB
    {"memory.gate", 0, 71.6, 1073741824, 0.05},
    {"memory.gate", 0, 76.9, 1e9, 0.05},
    {"compute.flops_per_token_causal", 0, 449, 1e9, 0.5},
    {"compute.flops_per_token_full", 0, 481, 1e9, 0.5},
    {"compute.ideal_causal", 0, 1.86, 1, 0.005},
    {"compute.ideal_full", 0, 1.99, 1, 0.005},
    {"comm.tp", 0, 300.6, 1e9, 0.05},
    {"comm.tp_regather", 0, 75.2, 1e9, 0.05},
    {"comm.dp", 0, 13.2, 1e9, 0.05},
    {"comm.pp", 0, 1.88, 1e9, 0.005},
    {"comm.pp", 1, 2.15, 1e9, 0.005},
    {"comm.pp", 2, 2.15, 1e9, 0.005},
    {"schedule.micro_batches", 0, 16, 1, 0},
    {"schedule.bubble_of_ideal", 0, 4.7, 0.01, 0.05},
    {"checkpoint.bytes", 0, 988, 1e9, 0.5},
};

double state_of_stage_0(Draft& draft) {
  return evaluate_stage(draft.problem(), problems::main_plan(), 0).memory.state.num();
}

}  // namespace

TEST_CASE("the main job's figures") {
  Draft draft;
  const Problem problem = draft.problem();
  const Ledger ledgers[] = {explain(problem, problems::main_plan(), 0),
                            explain(problem, problems::main_plan(), 1),
                            explain(problem, problems::main_plan(), 2)};
  for (const Row& row : kRows) {
    CAPTURE(row.id, row.stage);
    const LineItem* item = ledgers[row.stage].find(row.id);
    REQUIRE(item != nullptr);
    CHECK(item->value / row.unit == Approx(row.printed).margin(row.slack).epsilon(0));
  }
}

TEST_CASE("a step takes 3.8 to 4.6 s with tensor parallel overlap and 4.4 to 5.6 s without") {
  Draft draft;
  draft.recipe.stack = Stack::MegatronCore;
  const double on = evaluate(draft.problem(), problems::main_plan()).step.step.num();
  draft.recipe.tp_overlap = false;
  const double off = evaluate(draft.problem(), problems::main_plan()).step.step.num();
  CHECK(on > 3.8);
  CHECK(on < 4.6);
  CHECK(off > 4.4);
  CHECK(off < 5.6);
}

TEST_CASE("the first stage is the fullest") {
  Draft draft;
  const Problem problem = draft.problem();
  CHECK(fullest_stage(problem, problems::main_plan()) == 0);
  CHECK(evaluate(problem, problems::main_plan()).stage == 0);
  CHECK(evaluate_stage(problem, problems::main_plan(), 3).stage == 3);
  double last = 1e30;
  for (int s = 0; s < 4; ++s) {
    const double device = evaluate_stage(problem, problems::main_plan(), s).memory.device.num();
    CHECK(device < last);
    last = device;
  }
  // GPipe: as many micro-batches on every stage, so the logits decide.
  Plan gpipe = problems::completed({.tp = 8, .pp = 4, .dp = 32});
  gpipe.schedule = Schedule::GPipe;
  CHECK(fullest_stage(problem, gpipe) == 3);
}

TEST_CASE("without vocabulary padding the first stage's state is 14.47 GB") {
  Draft draft;
  draft.framework.vocabulary_multiple = 1;
  draft.framework.vocabulary_times_tp = false;
  // (20 x 106971136 + 128256 x 8192 / 8) x 6.375; norms divided by tp as well would give 14.474
  CHECK(state_of_stage_0(draft) == Approx(6.375 * 2'270'756'864.0).epsilon(1e-14));
  CHECK(state_of_stage_0(draft) / 1e9 == Approx(14.47).margin(0.01).epsilon(0));
}

TEST_CASE("a bf16 reduction moves 8.8 GB") {
  Draft draft;
  draft.recipe.reduce = DType::Bf16;
  const auto cost = evaluate(draft.problem(), problems::main_plan());
  CHECK(cost.comm.data.bytes.num() / 1e9 == Approx(8.8).margin(0.05).epsilon(0));
  CHECK(cost.memory.state.num() / 1e9 == Approx(14.48).margin(0.005).epsilon(0));  // the gradient stays fp32
}

TEST_CASE("evaluate and explain of a stage agree on what both give") {
  Draft draft;
  const Problem problem = draft.problem();
  for (int s = 0; s < 4; ++s) {
    const auto cost = evaluate_stage(problem, problems::main_plan(), s);
    const Ledger ledger = explain(problem, problems::main_plan(), s);
    CHECK(cost.memory.device.num() == ledger.find("memory.device")->value);
    CHECK(cost.step.step.num() == ledger.find("step.time")->value);
    CHECK(cost.comm.pipeline.bytes.num() == ledger.find("comm.pp")->value);
  }
}

TEST_CASE("a planning limit is the gate less the margin") {
  Draft draft;
  draft.recipe.margin = 0.25;
  const auto cost = evaluate(draft.problem(), problems::main_plan());
  CHECK(cost.capacity.num() == Approx(79.6 * 1073741824).epsilon(1e-12));
  CHECK(cost.gate.num() == Approx(0.9 * 79.6 * 1073741824).epsilon(1e-12));
  CHECK(cost.limit.num() == Approx(0.75 * 0.9 * 79.6 * 1073741824).epsilon(1e-12));
}
