#include "trainplan/cost/pipeline.hpp"

#include "catch.hpp"
#include "round.hpp"

using namespace by_hand;

namespace {

using Counts = std::array<double, kBlockKinds>;

StageBlocks held(Round& draft, const Plan& plan, int stage) {
  const Problem problem = draft.problem();
  return stage_blocks(problem, plan, stage);
}

}  // namespace

TEST_CASE("the blocks of a stage by kind; the last one works out logits") {
  Round draft;
  Plan plan = problems::main_plan();
  CHECK(held(draft, plan, 0).blocks == Counts{20, 0, 0, 0});
  CHECK(held(draft, plan, 0).heads == 0);
  CHECK(held(draft, plan, 3).heads == 1);
  CHECK(held(draft, plan, 3).further == 0);
  plan.recompute = Recompute::Layers;
  plan.recompute_layers = 8;
  CHECK(held(draft, plan, 1).blocks == Counts{12, 8, 0, 0});
  plan.recompute_layers = 24;  // more than there are
  CHECK(held(draft, plan, 1).blocks == Counts{0, 20, 0, 0});
  plan.recompute = Recompute::Full;
  CHECK(held(draft, plan, 1).blocks == Counts{0, 20, 0, 0});
  plan.recompute = Recompute::Selective;
  CHECK(held(draft, plan, 1).blocks == Counts{20, 0, 0, 0});
}

TEST_CASE("dense and sparse layers, and a block for further tokens beside the last ones") {
  Round draft({.model = "deepseek-v3", .cluster = "h800x2048", .sequence = 4096, .batch = 15360});
  Plan plan = completed({.pp = 16, .ep = 64, .first_layers = 3, .last_layers = 2, .dp = 128});
  plan.layout = Layout::FirstAndLast;
  CHECK(held(draft, plan, 0).blocks == Counts{3, 0, 0, 0});
  CHECK(held(draft, plan, 1).blocks == Counts{0, 0, 4, 0});
  CHECK(held(draft, plan, 15).blocks == Counts{0, 0, 2, 0});
  draft.recipe.mtp_layers = 1;
  CHECK(held(draft, plan, 15).blocks == Counts{0, 0, 3, 0});
  CHECK(held(draft, plan, 15).heads == 2);
  CHECK(held(draft, plan, 15).further == 1);
  CHECK(held(draft, plan, 14).heads == 0);
  plan.recompute = Recompute::Layers;
  plan.recompute_layers = 1;
  CHECK(held(draft, plan, 1).blocks == Counts{0, 0, 3, 1});
}

TEST_CASE("a mixed stage recomputes dense and sparse layers in proportion") {
  Round draft({.model = "deepseek-v3", .cluster = "h800x2048", .sequence = 4096, .batch = 4096});
  Plan plan = completed({.tp = 8, .ep = 64, .dp = 256});
  plan.recompute = Recompute::Layers;
  plan.recompute_layers = 61 / 2;
  const Counts blocks = held(draft, plan, 0).blocks;
  CHECK(blocks[0] == Approx(3 * 31 / 61.0).epsilon(1e-14));
  CHECK(blocks[1] == Approx(3 * 30 / 61.0).epsilon(1e-14));
  CHECK(blocks[3] == Approx(58 * 30 / 61.0).epsilon(1e-14));
}

TEST_CASE("the slowest stage works without a break, the others fill and drain") {
  Round draft;
  const Plan plan = problems::main_plan();
  const Ledger l = draft.ledger(plan);
  const double block = at(l, "block.dense"), head = at(l, "block.head");
  const auto p = draft.cost(plan).pipeline;
  CHECK(p.slowest_stage == 3);
  CHECK(p.slowest.num() == Approx(20 * block + head).epsilon(1e-12));
  CHECK(p.all.num() == Approx(80 * block + head).epsilon(1e-12));
  CHECK(p.step.num() == Approx(16 * (20 * block + head) + 60 * block / 4).epsilon(1e-12));
  CHECK(p.kernels.num() == Approx(80 * at(l, "block.dense.kernels") + head).epsilon(1e-12));

  const Plan one = completed({.tp = 8, .dp = 128});
  const auto alone = draft.cost(one).pipeline;
  CHECK(alone.slowest.num() == alone.all.num());
  CHECK(alone.step.num() == Approx(4 * alone.all.num()).epsilon(1e-14));
}

TEST_CASE("further tokens take a head of their own and their projection") {
  Round draft({.model = "deepseek-v3", .cluster = "h800x2048", .sequence = 4096, .batch = 15360});
  draft.recipe.mtp_layers = 1;
  Plan plan = completed({.pp = 16, .ep = 64, .first_layers = 3, .last_layers = 2, .dp = 128});
  plan.layout = Layout::FirstAndLast;
  const Ledger l = draft.ledger(plan);
  const double further = at(l, "work.further.forward") + at(l, "work.further.backward");
  CHECK(at(l, "block.further") == Approx(further).epsilon(1e-12));
  CHECK(at(l, "pipeline.kernels") ==
        Approx(3 * at(l, "block.dense.kernels") + 59 * at(l, "block.sparse.kernels") +
               2 * at(l, "block.head") + further)
            .epsilon(1e-12));
}
