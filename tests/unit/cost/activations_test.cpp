#include "trainplan/cost/activations.hpp"

#include <string>

#include "catch.hpp"
#include "problems.hpp"

using namespace trainplan;
using problems::completed;
using problems::Draft;

namespace {

ActivationCost<double> activations_of(const Problem& problem, const Plan& plan, int stage = 0) {
  Eval rec;
  const auto in = bind(rec, problem, plan);
  OfMix<detail::LayerTotals<double>> totals;
  return activation_cost(rec, in, problem, plan, stage, params_cost(rec, in, problem, plan, stage), totals);
}

/// Bytes of a layer for each token of the micro-batch on one GPU.
double per_token(Draft& draft, const Plan& plan) {
  const auto a = activations_of(draft.problem(), plan);
  return a.layer.num() / a.tokens.num();
}

constexpr double h = 8192, q = 8192, kv = 1024, f = 28672;  // llama70b
constexpr double kWhole = 8 * h, kStatistics = 4 * 64, kSplit = 4 * q + 4 * kv + 6 * f;

}  // namespace

TEST_CASE("a Llama layer saves 8h + 4q + 4kv + 6f + 4a bytes a token, 8f without the fused SwiGLU") {
  Draft draft;
  CHECK(per_token(draft, {}) == 8 * h + 4 * q + 4 * kv + 6 * f + 4 * 64);
  CHECK(per_token(draft, {}) == 274'688);  // 33.5 h
  draft.recipe.fused_mlp = false;
  CHECK(per_token(draft, {}) == 8 * h + 4 * q + 4 * kv + 8 * f + 4 * 64);
}

TEST_CASE("a plain MLP saves its hidden layer before and after the activation") {
  Draft draft({.model = "gpt3-175b", .sequence = 2048});
  // 8h + 4q + 4kv + 4f with q = kv = h and f = 4h
  CHECK(per_token(draft, {}) == 32 * 12288 + 4 * 96);
  draft.recipe.fused_mlp = false;
  CHECK(per_token(draft, {}) == 32 * 12288 + 4 * 96);
}

TEST_CASE("tensor parallelism cuts the wide tensors, sequence parallelism the others too") {
  Draft draft;
  CHECK(per_token(draft, completed({.tp = 8})) == (kWhole + kSplit + kStatistics) / 8);
  Plan without = completed({.tp = 8});
  without.sequence_parallel = false;
  CHECK(per_token(draft, without) == kWhole + (kSplit + kStatistics) / 8);
}

TEST_CASE(
    "an unfused kernel keeps 2 a s bytes a token, 5 with dropout; selective recompute takes them away") {
  Draft draft;
  draft.recipe.attention = Attention::Unfused;
  const double matrix = 2 * 64.0 * 8192;
  CHECK(per_token(draft, {}) == kWhole + kSplit + matrix);
  CHECK(per_token(draft, completed({.tp = 8})) == (kWhole + kSplit + matrix) / 8);
  // Each of 4 context parallel ranks has its queries against all keys in the end.
  CHECK(per_token(draft, completed({.cp = 4})) == kWhole + kSplit + matrix);
  CHECK(per_token(draft, {.recompute = Recompute::Selective}) == kWhole + kSplit);
  draft.recipe.attention_dropout = true;
  CHECK(per_token(draft, {}) == kWhole + kSplit + 2.5 * matrix);
}

TEST_CASE("context parallelism and the micro-batch change the tokens of a GPU") {
  Draft draft({.sequence = 32768});
  CHECK(activations_of(draft.problem(), {}).tokens.num() == 32768);
  CHECK(activations_of(draft.problem(), completed({.cp = 4})).tokens.num() == 8192);
  CHECK(activations_of(draft.problem(), completed({.cp = 4, .micro_batch = 2})).tokens.num() == 16384);
  const double one = activations_of(draft.problem(), {}).layer.num();
  CHECK(activations_of(draft.problem(), completed({.cp = 4})).layer.num() == one / 4);
}

TEST_CASE("micro-batches in flight") {
  struct Row {
    Schedule schedule;
    std::uint16_t pp, vpp;
    std::int64_t batch;  // dp 1, micro-batch 1: m
    double in_flight[4];
  };
  const Row rows[] = {
      {Schedule::GPipe, 4, 1, 16, {16, 16, 16, 16}},
      {Schedule::OneFOneB, 4, 1, 16, {4, 3, 2, 1}},
      {Schedule::OneFOneB, 4, 1, 2, {2, 2, 2, 1}},  // never more than there are
      // (2 (p - 1 - i) + (v - 1) p + 1) / v chunks of a v-th: 19, 17, 15, 13 quarters
      {Schedule::Interleaved, 4, 4, 16, {4.75, 4.25, 3.75, 3.25}},
      {Schedule::Interleaved, 4, 2, 16, {5.5, 4.5, 3.5, 2.5}},
      {Schedule::Interleaved, 4, 4, 4, {4, 4, 3.75, 3.25}},
  };
  for (const Row& row : rows) {
    Draft draft({.batch = row.batch});
    Plan plan{.pp = row.pp, .vpp = row.vpp};
    plan.schedule = row.schedule;
    const Problem problem = draft.problem();
    for (int s = 0; s < 4; ++s) {
      CAPTURE(name_of(row.schedule), row.vpp, row.batch, s);
      CHECK(activations_of(problem, plan, s).in_flight.num() == row.in_flight[s]);
    }
  }
}

TEST_CASE("activations in flight: layers x micro-batches x bytes of a layer") {
  Draft draft;
  const Problem problem = draft.problem();
  const double layer = 274'688.0 * 8192 / 8;
  CHECK(activations_of(problem, problems::main_plan(), 0).saved.num() == 4.75 * 20 * layer);
  CHECK(activations_of(problem, problems::main_plan(), 3).saved.num() == 3.25 * 20 * layer);
  const Plan deep = completed({.tp = 8, .pp = 8, .dp = 16}), flat = completed({.tp = 8, .dp = 128});
  CHECK(activations_of(problem, deep, 0).saved.num() == activations_of(problem, flat, 0).saved.num());
}

TEST_CASE("recomputed layers keep their input, 2h bytes a token") {
  Draft draft;
  const Problem problem = draft.problem();
  const double layer = 274'688.0 * 8192 / 8, kept = 2 * h * 8192 / 8;
  Plan plan = completed({.tp = 8, .pp = 4, .dp = 32});
  plan.recompute = Recompute::Full;
  CHECK(activations_of(problem, plan, 0).saved.num() == 4 * 20 * kept);
  CHECK(activations_of(problem, plan, 0).recomputed.num() == 20);
  plan.recompute = Recompute::Layers;
  plan.recompute_layers = 6;
  CHECK(activations_of(problem, plan, 0).saved.num() == 4 * (14 * layer + 6 * kept));
  CHECK(activations_of(problem, plan, 1).saved.num() == 3 * (14 * layer + 6 * kept));
  plan.recompute = Recompute::Selective;
  CHECK(activations_of(problem, plan, 0).saved.num() == 4 * 20 * (layer - 256.0 * 8192 / 8));
  plan.recompute = Recompute::Full;
  plan.sequence_parallel = false;
  CHECK(activations_of(problem, plan, 0).saved.num() == 4 * 20 * 8 * kept);
}

TEST_CASE("a stage with fewer layers than are recomputed recomputes all it has") {
  Draft draft({.model = "llama405b"});
  Plan plan = completed({.tp = 8, .pp = 16, .dp = 8});
  plan.layout = Layout::EmbeddingAndLoss;
  plan.recompute = Recompute::Layers;
  plan.recompute_layers = 8;
  const Problem problem = draft.problem();
  CHECK(activations_of(problem, plan, 0).recomputed.num() == 7);
  CHECK(activations_of(problem, plan, 5).recomputed.num() == 8);
}

TEST_CASE("selective recompute drops the attention matrix and rebuilds it for the layer that runs backward") {
  Draft draft;
  draft.recipe.attention = Attention::Unfused;
  Plan plan = completed({.tp = 8, .dp = 128});
  const auto kept = activations_of(draft.problem(), plan);
  CHECK(kept.rebuilt.num() == 0);
  plan.recompute = Recompute::Selective;
  const auto dropped = activations_of(draft.problem(), plan);
  const double matrix = 2.0 * 64 * 8192 * 8192 / 8;  // 2 a s^2 b / t
  CHECK(kept.layer.num() - dropped.layer.num() == matrix);
  CHECK(dropped.rebuilt.num() == matrix);
  CHECK(dropped.running.num() == kept.running.num());
}

namespace {

/// Bytes a token that a layer saves of DeepSeek-V3's kinds of layers, on one GPU.
double with_modules(Modules modules, int stage) {
  Draft draft({.model = "deepseek-v3", .sequence = 4096, .batch = 64});
  Plan plan = completed({.pp = 61, .dp = 1});  // one layer on each stage
  plan.recompute = Recompute::Selective;
  plan.modules = modules;
  const auto a = activations_of(draft.problem(), plan, stage);
  return a.layer.num() / a.tokens.num();
}

}  // namespace

TEST_CASE("modules of Megatron-LM drop what they rebuild, in the layers that have them") {
  const double hidden = 7168, rows = 8, rank = 1536 + 512;
  const int dense = 0, sparse = 10;
  const auto frees = [](Modules modules, int stage) {
    return with_modules(0, stage) - with_modules(modules, stage);
  };
  // latents, queries and keys of 24576, values and output of 16384, statistics of 128 heads
  CHECK(with_modules(0, dense) ==
        8 * hidden + 4 * rank + 2 * 64 + 4 * 24576 + 4 * 16384 + 4 * 128 + 6 * 18432);
  CHECK(with_modules(0, sparse) == 8 * hidden + 4 * rank + 2 * 64 + 4 * 24576 + 4 * 16384 + 4 * 128 +
                                       12 * 256 + rows * (2 * hidden + 6 * 2048) + 6 * 2048);
  CHECK(frees(bit(Module::CoreAttention), dense) == 4 * 128);
  CHECK(frees(bit(Module::MlaUpProj), sparse) == 2 * rank + 4 * 24576 + 2 * 16384);
  CHECK(frees(bit(Module::LayerNorm), dense) == 2 * hidden);       // the one before the latent projections
  CHECK(frees(bit(Module::LayerNorm), sparse) == 2 * 2 * hidden);  // and the one before the router
  CHECK(frees(bit(Module::Mlp), dense) == 2 * hidden + 6 * 18432);
  CHECK(frees(bit(Module::Mlp), sparse) == 0);
  CHECK(frees(bit(Module::MoeAct), sparse) == rows * 2 * 2048);
  CHECK(frees(bit(Module::Moe), sparse) == 12 * 256 + rows * (2 * hidden + 6 * 2048) + 6 * 2048);
  CHECK(frees(bit(Module::Moe), dense) == 0);
  CHECK(frees(bit(Module::SharedExperts), sparse) == 6 * 2048);
}

TEST_CASE("torchtitan keeps attention and every second product") {
  Draft draft({.model = "llama8b", .cluster = "h100x64", .framework = "torchtitan"});
  const double h8 = 4096, kv8 = 1024, f8 = 14336;
  Plan plan = completed({.dp = 64, .sharding = Sharding::Zero3});
  plan.recompute = Recompute::Selective;
  const double kept = 2 * h8 + 2 * h8 + 2 * kv8 + 2 * h8 + 4 * 32 + 2 * f8;
  draft.recipe.compile = true;
  CHECK(per_token(draft, plan) == kept);
  draft.recipe.compile = false;
  CHECK(per_token(draft, plan) == kept + 2 * h8);
  CHECK(activations_of(draft.problem(), plan).rebuilt.num() ==
        8192 * (2 * h8 + 2 * kv8 + 4 * h8 + 2 * f8 + 2 * f8));
}

TEST_CASE("dropout masks, query and key norms, the output before an all-to-all") {
  Draft draft;
  draft.recipe.hidden_dropout = true;
  CHECK(per_token(draft, {}) == kWhole + kSplit + kStatistics + 2 * h);
  Draft qwen({.model = "qwen3-8b"});
  CHECK(per_token(qwen, {}) == 8 * 4096 + 4 * 4096 + 4 * 1024 + 6 * 12288 + 4 * 32 + 2 * (4096 + 1024));
  Draft ring;
  ring.recipe.cp_mode = CpMode::AllToAll;
  CHECK(per_token(ring, completed({.cp = 4})) == kWhole + kSplit + kStatistics + 2 * q);
  CHECK(per_token(ring, {}) == kWhole + kSplit + kStatistics);
}

TEST_CASE("blocks for further tokens have one micro-batch in flight, and their joined inputs") {
  Draft draft({.model = "deepseek-v3", .sequence = 4096, .batch = 64});
  Plan plan = completed({.pp = 2, .dp = 1});
  plan.layout = Layout::FirstAndLast;
  plan.first_layers = 31;
  plan.last_layers = 30;
  plan.schedule = Schedule::GPipe;
  const auto without = activations_of(draft.problem(), plan, 1);
  draft.recipe.mtp_layers = 1;
  const auto with = activations_of(draft.problem(), plan, 1);
  CHECK(without.saved.num() == 64 * 30 * without.layer.num());
  CHECK(with.saved.num() - without.saved.num() == Approx(with.layer.num() + 4096 * 8 * 7168.0));
  CHECK(with.left.num() == 63 * 30 * with.layer.num());
}
