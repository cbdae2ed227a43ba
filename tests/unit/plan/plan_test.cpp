#include "trainplan/plan/plan.hpp"

#include <numeric>
#include <vector>

#include "catch.hpp"
#include "problems.hpp"

using namespace trainplan;
using problems::completed;
using problems::Draft;

namespace {

std::vector<std::int64_t> layers_of(const ModelSpec& model, const Plan& plan) {
  std::vector<std::int64_t> layers;
  for (int s = 0; s < plan.pp; ++s) layers.push_back(stage_layers(model, plan, s));
  return layers;
}

}  // namespace

TEST_CASE("stages share the layers equally, or with one less on both ends") {
  const ModelSpec& llama70b = *problems::model("llama70b");
  CHECK(layers_of(llama70b, {.pp = 4}) == std::vector<std::int64_t>{20, 20, 20, 20});
  CHECK(layers_of(llama70b, {.pp = 1}) == std::vector<std::int64_t>{80});

  // 126 layers + embedding + loss = 128 slots: 8 a stage of 16
  const auto uneven =
      layers_of(*problems::model("llama405b"), {.pp = 16, .layout = Layout::EmbeddingAndLoss});
  REQUIRE(uneven.size() == 16);
  CHECK(uneven.front() == 7);
  CHECK(uneven.back() == 7);
  CHECK(std::vector<std::int64_t>(uneven.begin() + 1, uneven.end() - 1) == std::vector<std::int64_t>(14, 8));
  CHECK(std::accumulate(uneven.begin(), uneven.end(), std::int64_t{0}) == 126);
}

TEST_CASE("micro-batches of a step: sequences / (dp x micro-batch)") {
  Draft draft;
  const Problem problem = draft.problem();
  CHECK(micro_batches(problem, completed({.tp = 8, .pp = 4, .dp = 32})) == 16);
  CHECK(micro_batches(problem, completed({.tp = 8, .pp = 4, .dp = 32, .micro_batch = 2})) == 8);
  CHECK(micro_batches(problem, completed({.tp = 8, .dp = 128})) == 4);
  CHECK(micro_batches(problem, {.dp = 0}) == 0);
}

TEST_CASE("plans order and compare by their fields") {
  const Plan plan = problems::main_plan();
  CHECK(plan == problems::main_plan());
  Plan other = plan;
  other.sync_each_micro_batch = false;
  CHECK(plan != other);
  other = plan;
  other.pp = 8;
  CHECK(plan < other);
}

TEST_CASE("the same question can be put to another framework") {
  Draft draft;
  const Problem megatron = draft.problem();
  const Problem torchtitan = megatron.with(problems::framework("torchtitan"));
  CHECK(megatron.profile().id == "megatron-lm");
  CHECK(torchtitan.profile().id == "torchtitan");
  CHECK(&torchtitan.model() == &megatron.model());
  CHECK(torchtitan.recipe.global_batch == 512);
}
