// Routed experts and latent attention: DeepSeek-V3 in its published layout, worked out by hand.
#include "trainplan/cost/experts.hpp"

#include <string>

#include "catch.hpp"
#include "round.hpp"
#include "trainplan/cost/plan_cost.hpp"
#include "trainplan/plan/rules.hpp"

using namespace trainplan;
using problems::completed;
using problems::Draft;

namespace {

// h 7168, 128 heads of 128 + 64 and 128, ranks 1536 and 512
constexpr double kUp = 1536.0 * 24576 + 512.0 * (16384 + 16384) + 16384.0 * 7168;
constexpr double kDown = 7168.0 * 1536 + 1536 + 7168.0 * 576 + 512;
constexpr double kExpert = 3 * 7168.0 * 2048, kRouter = 7168.0 * 256, kNorms = 2 * 7168.0;
constexpr double kSparse = kUp + kDown + kRouter + kExpert + kNorms;  // with one shared expert
constexpr double kDense = kUp + kDown + 3 * 7168.0 * 18432 + kNorms;
constexpr double kTable = 129280.0 * 7168;  // 1010 x 128: nothing is padded

/// 2,048 GPUs: PP 16, EP 64, DP 128, distributed optimizer; 3 layers on the first stage and 2 on the last.
Plan published() {
  Plan p = completed({.pp = 16, .ep = 64, .first_layers = 3, .last_layers = 2, .dp = 128});
  p.layout = Layout::FirstAndLast;
  return p;
}

Draft deepseek() {
  Draft draft({.model = "deepseek-v3", .cluster = "h800x2048", .sequence = 4096, .batch = 15360});
  draft.recipe.mtp_layers = 1;
  return draft;
}

}  // namespace

TEST_CASE("DeepSeek-V3: the parameters of every class") {
  Draft draft = deepseek();
  const Problem problem = draft.problem();
  Eval rec;
  const auto in = bind(rec, problem, published());
  const auto m = model_params(rec, in, problem.model(), 1);
  CHECK(m.dense.total.num() == kDense);
  CHECK(m.sparse.total.num() == kSparse + 256 * kExpert);
  CHECK(m.sparse.experts.num() == 256 * kExpert);
  CHECK(m.sparse.whole.num() == kDown + kRouter + kNorms);
  CHECK(m.total.num() == 671'026'404'352);
  CHECK(m.active.num() == 37'552'282'624);
  CHECK(m.mtp.total.num() == 11'610'067'968);
}

TEST_CASE("DeepSeek-V3 on PP 16, EP 64, ZeRO-1: the state of every stage by hand") {
  Draft draft = deepseek();
  const Problem problem = draft.problem();
  const Plan plan = published();
  REQUIRE(legal(problem, plan));
  CHECK(expert_dp(plan) == 2);
  // bf16 weights 2 and fp32 gradient 4 are whole; 12 bytes of optimizer are shared by 128 and by 2 ranks
  const double dense_bytes = 6 + 12.0 / 128, expert_bytes = 6 + 12.0 / 2;
  const double mtp = kSparse + 2 * 7168.0 * 7168 + 3 * 7168;
  for (int s = 0; s < 16; ++s) {
    const double dense = s == 0    ? 3 * kDense + kTable
                         : s == 15 ? 2 * kSparse + mtp + 2 * kTable + 7168
                                   : 4 * kSparse;
    const double experts = (s == 0 ? 0 : s == 15 ? 3 : 4) * 4 * kExpert;  // 256 / 64 experts of a layer
    const auto memory = evaluate_stage(problem, plan, s).memory;
    CAPTURE(s);
    CHECK(memory.params.stage_dense.num() == dense);
    CHECK(memory.params.stage_experts.num() == experts);
    CHECK(memory.state.num() == Approx(dense * dense_bytes + experts * expert_bytes).epsilon(1e-14));
  }
  // 4 x 232,996,864 x 6.09375 + 16 x 44,040,192 x 12
  CHECK(evaluate_stage(problem, plan, 1).memory.state.num() == Approx(14'135'015'424).epsilon(1e-12));
}

TEST_CASE("with one expert data parallel rank the optimizer state of experts is whole") {
  Draft draft = deepseek();
  const Problem problem = draft.problem();
  Plan plan = published();
  plan.ep = 128;
  REQUIRE(legal(problem, plan));
  CHECK(expert_dp(plan) == 1);
  const auto memory = evaluate_stage(problem, plan, 1).memory;
  CHECK(memory.state_per_expert_param.num() == 18);
  CHECK(memory.state_per_param.num() == 6 + 12.0 / 128);
}

TEST_CASE("tokens travel to their experts four times a layer and micro-batch") {
  Draft draft = deepseek();
  const Problem problem = draft.problem();
  const auto comm = evaluate_stage(problem, published(), 1).comm;
  // 4 layers x 120 micro-batches x 4 x 4096 tokens x 8 copies x 7168 x 2 bytes, 63 of 64 leave the rank
  const double bytes = 4 * 120 * 4 * 4096.0 * 8 * 7168 * 2 * 63 / 64;
  CHECK(comm.expert_all_to_all.bytes.num() == Approx(bytes).epsilon(1e-14));
  // 8 of 64 ranks are in a node: 56 of 63 parts at 50 GB/s outlast 7 of 63 at the NVLink rate
  CHECK(comm.expert_all_to_all.seconds.num() == Approx(bytes * 56 / 63 / 50e9).epsilon(1e-12));
  CHECK(comm.expert_tensor.bytes.num() == 0);
}

TEST_CASE("a busier rank and a capacity factor scale the rows of a rank") {
  Draft draft = deepseek();
  const double balanced = evaluate_stage(draft.problem(), published(), 1).comm.expert_all_to_all.bytes.num();
  draft.recipe.imbalance = 1.5;
  CHECK(evaluate_stage(draft.problem(), published(), 1).comm.expert_all_to_all.bytes.num() ==
        Approx(1.5 * balanced).epsilon(1e-14));
  draft.recipe.capacity_factor = 2;
  CHECK(evaluate_stage(draft.problem(), published(), 1).comm.expert_all_to_all.bytes.num() ==
        Approx(2 * balanced).epsilon(1e-14));
}

TEST_CASE("expert tensor parallelism gathers rows and divides experts") {
  Draft draft({.model = "mixtral-8x7b", .cluster = "h100x64", .sequence = 4096, .batch = 64});
  const Problem problem = draft.problem();
  const Plan one = completed({.tp = 4, .ep = 4, .dp = 16}),
             two = completed({.tp = 4, .ep = 4, .etp = 2, .dp = 16});
  REQUIRE(legal(problem, one));
  REQUIRE(legal(problem, two));
  const auto a = evaluate(problem, one), b = evaluate(problem, two);
  CHECK(a.memory.params.stage_experts.num() == 32.0 * 8 / 4 * 3 * 4096 * 14336);
  CHECK(b.memory.params.stage_experts.num() == a.memory.params.stage_experts.num() / 2);
  // 32 layers x 4 micro-batches x 4 collectives; 4096 / 4 tokens x 2 copies x 2 ranks, half from the other
  // rank
  CHECK(b.comm.expert_tensor.bytes.num() == 32 * 4 * 4 * (4096.0 / 4 * 2 * 2) * 4096 * 2 / 2);
  CHECK(expert_dp(one) == 16);
  CHECK(expert_dp(two) == 8);
}

TEST_CASE("sliding windows and chunks are what attention FLOPs count") {
  Draft draft({.model = "gemma-3-27b", .cluster = "h100x64", .sequence = 8192, .batch = 64});
  const Problem problem = draft.problem();
  const auto spans = problem.model().spans();
  // every sixth of 62 layers attends to all positions, the others to 1024
  const double all = 10, some = 52, q = 32 * 128, s = 8192, w = 1024;
  REQUIRE(spans[0].layers + spans[1].layers == 62);
  const auto c = evaluate(problem, completed({.tp = 8, .dp = 8}));
  const double attention = 12 * q * (all * s / 2 + some * w * (1 - w / (2 * s)));
  CHECK(c.compute.causal.num() == Approx(6 * c.memory.params.gemm.num() + attention).epsilon(1e-12));
  CHECK(c.compute.full.num() ==
        Approx(6 * c.memory.params.gemm.num() + 12 * q * (all * s + some * w)).epsilon(1e-12));
}

TEST_CASE("a busier rank computes longer, unless it holds all experts") {
  by_hand::Round draft({.model = "mixtral-8x7b", .cluster = "h100x64", .sequence = 4096, .batch = 256});
  const Plan spread = completed({.tp = 1, .ep = 8, .dp = 64}),
             whole = completed({.tp = 1, .ep = 1, .dp = 64});
  const double balanced = draft.cost(spread).step.compute.num(), alone = draft.cost(whole).step.compute.num();
  draft.recipe.imbalance = 1.5;
  // 4096 rows more on 8192: three passes of three products, the activation, two permutations
  const double rows = 4096, products = 3 * 2 * rows * 3 * 4096 * 14336 / by_hand::kWide,
               moved = (6 + 10) * rows * 14336 / by_hand::kMemory,
               permuted = 2 * 6 * rows * 2 * 4096 / (0.58 * by_hand::kMemory);
  CHECK(draft.cost(spread).step.compute.num() ==
        Approx(balanced + 4 * 32 * (products + moved + permuted)).epsilon(1e-12));
  CHECK(draft.cost(whole).step.compute.num() == alone);
}

TEST_CASE("blocks for further tokens are saved where they are trained") {
  Draft draft = deepseek();
  CHECK(evaluate(draft.problem(), published()).checkpoint.bytes.num() ==
        14 * (671'026'404'352.0 + 11'610'067'968.0));
  draft.recipe.mtp_layers = 0;
  CHECK(evaluate(draft.problem(), published()).checkpoint.bytes.num() == 14 * 671'026'404'352.0);
}
