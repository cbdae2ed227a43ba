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
  return activation_cost(rec, in, problem, plan, stage, params_cost(rec, in, problem, plan, stage));
}

/// Bytes of a layer for each token of the micro-batch on one GPU.
double per_token(Draft& draft, const Plan& plan) {
  const auto a = activations_of(draft.problem(), plan);
  return a.layer.num() / a.tokens.num();
}

constexpr double h = 8192, q = 8192, kv = 1024, f = 28672;  // llama70b
constexpr double kWhole = 8 * h, kSplit = 4 * q + 4 * kv + 6 * f;

}  // namespace

TEST_CASE("a Llama layer saves 8h + 4q + 4kv + 6f bytes a token, 8f without the fused SwiGLU") {
  Draft draft;
  CHECK(per_token(draft, {}) == 8 * h + 4 * q + 4 * kv + 6 * f);
  CHECK(per_token(draft, {}) == 274'432);  // 33.5 h
  draft.recipe.fused_mlp = false;
  CHECK(per_token(draft, {}) == 8 * h + 4 * q + 4 * kv + 8 * f);
}

TEST_CASE("a plain MLP saves its hidden layer before and after the activation") {
  Draft draft({.model = "gpt3-175b", .sequence = 2048});
  // 8h + 4q + 4kv + 4f with q = kv = h and f = 4h
  CHECK(per_token(draft, {}) == 32 * 12288);
  draft.recipe.fused_mlp = false;
  CHECK(per_token(draft, {}) == 32 * 12288);
}

TEST_CASE("tensor parallelism cuts the wide tensors, sequence parallelism the others too") {
  Draft draft;
  CHECK(per_token(draft, completed({.tp = 8})) == (kWhole + kSplit) / 8);
  Plan without = completed({.tp = 8});
  without.sequence_parallel = false;
  CHECK(per_token(draft, without) == kWhole + kSplit / 8);
}

TEST_CASE("an unfused kernel adds 5 a s bytes a token; selective recompute takes them away again") {
  Draft draft;
  draft.recipe.attention = Attention::Unfused;
  const double matrix = 5 * 64.0 * 8192;
  CHECK(per_token(draft, {}) == kWhole + kSplit + matrix);
  CHECK(per_token(draft, completed({.tp = 8})) == (kWhole + kSplit + matrix) / 8);
  // Each of 4 context parallel ranks has its queries against a quarter of the keys at a time.
  CHECK(per_token(draft, completed({.cp = 4})) == kWhole + kSplit + matrix / 4);
  CHECK(per_token(draft, {.recompute = Recompute::Selective}) == kWhole + kSplit);
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
  const double layer = 274'432.0 * 8192 / 8;
  CHECK(activations_of(problem, problems::main_plan(), 0).saved.num() == 4.75 * 20 * layer);
  CHECK(activations_of(problem, problems::main_plan(), 3).saved.num() == 3.25 * 20 * layer);
  const Plan deep = completed({.tp = 8, .pp = 8, .dp = 16}), flat = completed({.tp = 8, .dp = 128});
  CHECK(activations_of(problem, deep, 0).saved.num() == activations_of(problem, flat, 0).saved.num());
}

TEST_CASE("recomputed layers keep their input, 2h bytes a token") {
  Draft draft;
  const Problem problem = draft.problem();
  const double layer = 274'432.0 * 8192 / 8, kept = 2 * h * 8192 / 8;
  Plan plan = completed({.tp = 8, .pp = 4, .dp = 32});
  plan.recompute = Recompute::Full;
  CHECK(activations_of(problem, plan, 0).saved.num() == 4 * 20 * kept);
  CHECK(activations_of(problem, plan, 0).recomputed.num() == 20);
  plan.recompute = Recompute::Layers;
  plan.recompute_layers = 6;
  CHECK(activations_of(problem, plan, 0).saved.num() == 4 * (14 * layer + 6 * kept));
  CHECK(activations_of(problem, plan, 1).saved.num() == 3 * (14 * layer + 6 * kept));
  plan.recompute = Recompute::Selective;
  CHECK(activations_of(problem, plan, 0).saved.num() == 4 * 20 * layer);
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
  plan.recompute = Recompute::Selective;
  const auto dropped = activations_of(draft.problem(), plan);
  const double matrix = 5.0 * 64 * 8192 * 8192 / 8;  // 5 a s^2 b / t
  CHECK(kept.layer.num() - dropped.layer.num() == matrix);
  CHECK(dropped.running.num() == kept.running.num());
}
