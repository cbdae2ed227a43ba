// What the stages of a plan have in common: the same numbers as worked out for each stage alone.
#include "catch.hpp"
#include "problems.hpp"
#include "trainplan/cost/plan_cost.hpp"

using namespace trainplan;
using problems::completed;
using problems::Draft;

namespace {

struct Case {
  problems::Names names;
  Plan plan;
  std::int64_t mtp = 0;
};

}  // namespace

TEST_CASE("memory of every stage, in any order, with what stages have in common and without") {
  const Case cases[] = {
      {{}, problems::main_plan()},
      {{.model = "llama405b", .cluster = "h100x16384", .batch = 2048},
       completed({.tp = 8, .pp = 16, .dp = 128, .layout = Layout::EmbeddingAndLoss})},
      {{.model = "deepseek-v3", .cluster = "h800x2048", .sequence = 4096, .batch = 15360},
       completed({.pp = 16,
                  .ep = 64,
                  .first_layers = 4,
                  .last_layers = 1,
                  .dp = 128,
                  .layout = Layout::FirstAndLast}),
       1},
      {{.model = "llama-4-scout", .cluster = "h100x512", .batch = 512},
       completed({.tp = 2, .pp = 16, .vpp = 3, .ep = 8, .dp = 16, .recompute = Recompute::Full})},
      {{.framework = "torchtitan"},
       completed({.tp = 8, .pp = 4, .vpp = 4, .dp = 32, .sharding = Sharding::Zero3})}};
  for (const Case& c : cases) {
    Draft draft(c.names);
    draft.recipe.mtp_layers = c.mtp;
    const Problem problem = draft.problem();
    Eval rec;
    const Inputs<double> in = bind(rec, problem, c.plan);
    for (const bool backwards : {false, true}) {
      CommonMemory<double> common;
      for (int i = 0; i < c.plan.pp; ++i) {
        const int stage = backwards ? c.plan.pp - 1 - i : i;
        CAPTURE(c.names.model, stage, backwards);
        const auto shared = memory_cost(rec, in, problem, c.plan, stage, common);
        const auto alone = memory_cost(rec, in, problem, c.plan, stage);
        CHECK(shared.device == alone.device);
        CHECK(shared.state == alone.state);
        CHECK(shared.phases == alone.phases);
        CHECK(shared.activations.saved == alone.activations.saved);
      }
    }
  }
}
