// Which layers the stages of a pipeline hold, held against counting one by one.
#include "trainplan/plan/stages.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "catch.hpp"

using namespace trainplan;

namespace {

std::vector<LayerKind> random_pattern(std::mt19937& random, std::int64_t layers) {
  std::vector<LayerKind> kinds(static_cast<std::size_t>(layers));
  const std::size_t every = 1 + random() % 3, dense = random() % 4;
  for (std::size_t i = dense; i < kinds.size(); ++i) kinds[i].sparse = i % every == 0;
  return kinds;
}

Plan random_plan(std::mt19937& random, std::int64_t layers) {
  Plan plan;
  plan.pp = static_cast<std::uint16_t>(1 + random() % 12);
  plan.vpp = static_cast<std::uint16_t>(1 + random() % 3);
  plan.layout = static_cast<Layout>(random() % 3);
  if (plan.vpp == 2 && random() % 2 == 0) plan.schedule = Schedule::ZbV;
  if (plan.layout == Layout::FirstAndLast && plan.pp > 1) {
    const std::int64_t middle = plan.vpp * (1 + static_cast<std::int64_t>(random() % 2)), v = plan.vpp;
    const std::int64_t ends = layers - (plan.pp - 2) * middle;
    plan.first_layers = static_cast<std::uint16_t>(std::max<std::int64_t>(0, ends / 2 / v * v));
    plan.last_layers = static_cast<std::uint16_t>(std::max<std::int64_t>(0, ends - plan.first_layers));
  }
  return plan;
}

}  // namespace

TEST_CASE("a pattern counts its sparse layers as one counts them one by one, and its spans") {
  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    const auto layers = static_cast<std::int64_t>(1 + random() % 40);
    const std::vector<LayerKind> kinds = random_pattern(random, layers);
    const LayerPattern pattern(kinds);
    const auto sparse = [](const LayerKind& k) { return k.sparse; };
    CHECK(pattern.sparse() == std::ranges::count_if(kinds, sparse));
    for (std::int64_t first = 0; first <= layers; ++first)
      for (std::int64_t last = first; last <= layers; ++last)
        REQUIRE(pattern.sparse(first, last) ==
                std::count_if(kinds.begin() + first, kinds.begin() + last, sparse));
    CHECK(pattern.spans()[0].layers == layers);
    CHECK(pattern.spans()[1].layers == 0);
  }
  CHECK(LayerPattern{}.sparse() == 0);
  const LayerPattern mixed(std::vector<LayerKind>{
      {}, {.span = Span::Window, .positions = 8}, {.span = Span::Window, .positions = 8}, {}});
  CHECK(mixed.spans()[0].layers == 2);
  CHECK(mixed.spans()[1].layers == 2);
  CHECK(mixed.spans()[1].positions == 8);
}

TEST_CASE("kinds of stages: the ends, and the first of each kind between them, in their order") {
  std::mt19937 random(2);
  int several = 0;
  for (int i = 0; i < 400; ++i) {
    ModelSpec model;
    model.layers = static_cast<std::int64_t>(12 + random() % 60);
    if (random() % 3 != 0) model.pattern = random_pattern(random, model.layers);
    const Plan plan = random_plan(random, model.layers);
    CAPTURE(i, model.layers, plan.pp, plan.vpp, plan.first_layers, plan.last_layers);
    std::int64_t all = 0;
    for (int s = 0; s < plan.pp; ++s) all += stage_layers(model, plan, s);
    const bool cut = plan.layout == Layout::FirstAndLast && model.layers % plan.vpp != 0;
    if (all != model.layers || cut) continue;  // a layout that the rules refuse
    std::vector<StageKind> wanted{{0, layers_of(model, plan, 0)}};
    for (int s = 1; s < plan.pp - 1; ++s) {
      const StageLayers held = layers_of(model, plan, s);
      CHECK(held.all == stage_layers(model, plan, s));
      const auto alike = [&](const StageKind& k) { return k.held == held; };
      if (std::none_of(wanted.begin() + 1, wanted.end(), alike)) wanted.push_back({s, held});
    }
    if (plan.pp > 1) wanted.push_back({plan.pp - 1, layers_of(model, plan, plan.pp - 1)});
    const StageKinds kinds(model, plan);
    REQUIRE(std::ranges::equal(kinds, wanted, [](const StageKind& a, const StageKind& b) {
      return a.stage == b.stage && a.held == b.held;
    }));
    several += wanted.size() > 3 ? 1 : 0;
  }
  CHECK(several > 20);
}

TEST_CASE("chunks of a plan that breaks rules still lie within the model") {
  // 61 layers with the embedding and the loss, on 80 chunks: some are empty.
  const Plan plan{.pp = 16, .vpp = 5, .layout = Layout::EmbeddingAndLoss};
  std::int64_t all = 0;
  for (int stage = 0; stage < plan.pp; ++stage)
    for (int chunk = 0; chunk < plan.vpp; ++chunk) {
      const LayerRange r = chunk_layers(61, plan, stage, chunk);
      CHECK(r.first >= 0);
      CHECK(r.first <= r.last);
      CHECK(r.last <= 61);
      all += r.size();
    }
  CHECK(all == 61);
}
