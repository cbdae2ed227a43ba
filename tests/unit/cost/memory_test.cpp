#include "trainplan/cost/memory.hpp"

#include <algorithm>

#include "catch.hpp"
#include "problems.hpp"

using namespace trainplan;
using problems::completed;
using problems::Draft;

namespace {

constexpr double GiB = 1024.0 * 1024 * 1024;

double peak(const Lifetimes<double>& items) {
  double most = 0;
  for (int p = 0; p < kPhases; ++p) most = std::max(most, items.phase_sum(static_cast<Phase>(p)).num());
  return most;
}

MemoryCost<double> memory_of(const Problem& problem, const Plan& plan, int stage = 0) {
  Eval rec;
  return memory_cost(rec, bind(rec, problem, plan), problem, plan, stage);
}
double at(const MemoryCost<double>& m, Phase p) { return m.phases[static_cast<std::size_t>(p)].num(); }

}  // namespace

TEST_CASE("8 GiB and 4 GiB need 12 when alive together and 8 when not") {
  Lifetimes<double> together, apart;
  together.add(Bytes<>{8 * GiB}, bit(Phase::ForwardEnd) | bit(Phase::Loss));
  together.add(Bytes<>{4 * GiB}, bit(Phase::Loss) | bit(Phase::Optimizer));
  apart.add(Bytes<>{8 * GiB}, bit(Phase::ForwardEnd) | bit(Phase::Loss));
  apart.add(Bytes<>{4 * GiB}, bit(Phase::LayerBackward) | bit(Phase::Optimizer));
  CHECK(peak(together) == 12 * GiB);
  CHECK(peak(apart) == 8 * GiB);
  CHECK(apart.phase_sum(Phase::Optimizer).num() == 4 * GiB);
  CHECK(apart.phase_sum(Phase::Load).num() == 0);
}

TEST_CASE("a block without use in a phase is idle there, unless another tensor takes it") {
  Lifetimes<double> items;
  items.add(Bytes<>{1}, bit(Phase::Loss));
  CHECK(items.idle_sum(Phase::LayerBackward).empty());
  items.add_transient(Bytes<>{10}, bit(Phase::Loss));
  items.add(Bytes<>{100}, bit(Phase::HeadBackward), bit(Phase::HeadBackward) | bit(Phase::Loss));
  CHECK(items.idle_sum(Phase::LayerBackward).total().num() == 110);
  CHECK(items.idle_sum(Phase::Loss).empty());
  CHECK(items.phase_sum(Phase::Loss).num() == 11);
}

namespace {

constexpr double MiB = 1024.0 * 1024;
constexpr double kHidden = 8192.0 * 8192 * 2 / 8;  // a hidden tensor of the main job on one of 8 tp ranks
constexpr double kLayer = 281'280'512;             // 34,336 bytes of a token and tp rank

}  // namespace

TEST_CASE("the phases of the main job's first stage, by hand") {
  Draft draft;
  const Problem problem = draft.problem();
  const auto m = memory_of(problem, problems::main_plan());
  const double n = 2'271'543'296.0;  // parameters, see params_test
  const double saved = 95 * kLayer;  // 4.75 x 20 layers
  // one buffer for the shapes of QKV, projection, up and down projections
  const double scratch = 2.0 * 8192 * (1280 + 1024 + 7168 + 3584);
  const double held = 6.375 * n + scratch, running = held + 34 * MiB;
  CHECK(m.state.num() == Approx(6.375 * n).epsilon(1e-14));
  CHECK(at(m, Phase::Load) == Approx((6 + 4.0 / 32) * n).epsilon(1e-14));  // no moments before the first step
  CHECK(at(m, Phase::ForwardEnd) == Approx(running + saved).epsilon(1e-14));
  CHECK(at(m, Phase::Loss) == at(m, Phase::ForwardEnd));  // logits are on the last stage
  CHECK(at(m, Phase::HeadBackward) == at(m, Phase::ForwardEnd));
  // at the up projection: its gathered input and the whole gradient, less the input of the down projection
  const double mlp = 2.0 * 8192 * (2 * 8192 + 1024 - 3584);
  CHECK(at(m, Phase::LayerBackward) == Approx(running + saved + mlp).epsilon(1e-14));
  const double table = 2.0 * 129024 * 8192 / 8;
  CHECK(at(m, Phase::EmbeddingBackward) ==
        Approx(running + saved - 5 * kLayer + table + 2 * kHidden).epsilon(1e-14));  // a quarter of 20 layers
  CHECK(at(m, Phase::Optimizer) == Approx(running).epsilon(1e-14));
  CHECK(at(m, Phase::Evaluation) == Approx(running + kLayer).epsilon(1e-14));
  CHECK(at(m, Phase::Save) == Approx(held).epsilon(1e-14));
  CHECK(m.allocated.num() == at(m, Phase::LayerBackward));
  CHECK(m.idle.num() == Approx(table).epsilon(1e-14));
}

TEST_CASE("the last stage: norm, logits, loss, the head's gradients") {
  Draft draft;
  draft.recipe.loss = LossKind::Te;
  const auto te = memory_of(draft.problem(), problems::main_plan(), 3);
  const double logits = 2.0 * 8192 * 129024 / 8;  // padded vocabulary, cut by TP 8
  CHECK(te.logits.num() == logits);
  CHECK(at(te, Phase::Loss) - at(te, Phase::ForwardEnd) == Approx(logits + 2 * kHidden));
  // the gradient of the logits in their place; of the head's input whole and split; sent to the stage before
  CHECK(at(te, Phase::HeadBackward) - at(te, Phase::Loss) == Approx(8 * kHidden + kHidden + kHidden));
  draft.recipe.loss = LossKind::Native;
  const auto native = memory_of(draft.problem(), problems::main_plan(), 3);
  CHECK(native.logits.num() == 3 * logits);  // fp32 softmax beside bf16 logits
  CHECK(at(native, Phase::HeadBackward) == at(te, Phase::HeadBackward));
  CHECK(memory_of(draft.problem(), problems::main_plan(), 2).logits.num() == 0);
  // without the buffers of the main gradient's fusion the head's gradient stands alone
  draft.recipe.accumulation_fusion = false;
  const auto alone = memory_of(draft.problem(), problems::main_plan(), 3);
  CHECK(at(alone, Phase::HeadBackward) - at(alone, Phase::ForwardEnd) ==
        Approx(12 * kHidden + logits + 2.0 * 129024 * 8192 / 8));
  CHECK(at(alone, Phase::LayerBackward) - at(alone, Phase::ForwardEnd) ==
        Approx(2.0 * 8192 * (2 * 8192 + 1024 - 3584) + 2.0 * 7168 * 8192));
}

TEST_CASE("the totals: allocated, reserved, device; idle blocks are a matter of the log") {
  Draft draft;
  draft.calibration.allocator_slack.value = 0.05;
  draft.calibration.cuda_context.value = 7e8;
  draft.calibration.communicators.value = 2e9;
  const auto m = memory_of(draft.problem(), problems::main_plan());
  CHECK(m.idle.num() < 0.05 * m.allocated.num());
  CHECK(m.reserved.num() == Approx(1.05 * m.allocated.num()).epsilon(1e-14));
  CHECK(m.device.num() == Approx(1.05 * m.allocated.num() + 2.7e9).epsilon(1e-14));
  CHECK(m.state_average.num() == Approx(6.375 * 70'553'706'496 / 32).epsilon(1e-14));
  draft.calibration.allocator_slack.value = 0;
  const auto idle = memory_of(draft.problem(), problems::main_plan());
  CHECK(idle.reserved.num() == Approx(idle.allocated.num() + m.idle.num()).epsilon(1e-14));
  CHECK(idle.device.num() == Approx(idle.allocated.num() + 2.7e9).epsilon(1e-14));
  draft.recipe.expandable_segments = true;
  const auto mapped = memory_of(draft.problem(), problems::main_plan());
  CHECK(mapped.reserved.num() == mapped.allocated.num());
  CHECK(mapped.idle.num() == 0);
}

TEST_CASE("gathered layers and unsharded gradients of full sharding") {
  Draft draft({.framework = "torchtitan", .batch = 512});
  draft.recipe.loss = LossKind::Compiled;
  draft.recipe.compile = true;
  const Problem problem = draft.problem();
  Plan plan = completed({.tp = 8, .dp = 128, .sharding = Sharding::Zero3});
  // Norms are whole on the tp ranks: (855638016 / 8 + 16384) a layer; tables of 2 x 128256 x 8192 / 8
  const double layer = 106'971'136, tables = 262'668'288, n = 80 * layer + tables + 8192;
  const double gathered = (2 * layer + tables) * 2, unit = layer * (2 + 4);
  const double saved = 80 * kLayer, logits = 8192.0 * 128256 * 2 / 8;
  const double mlp = 2.0 * 8192 * (2 * 8192 + 1024 - 3584);

  SECTION("reduced every micro-batch") {
    const auto m = memory_of(problem, plan);
    CHECK(at(m, Phase::Save) == Approx(12 * n / 128).epsilon(1e-14));  // the gradient is gone after the step
    // four micro-batches: the gradient of the first stands in the forward pass of the others
    CHECK(at(m, Phase::ForwardEnd) == Approx(16 * n / 128 + saved + gathered).epsilon(1e-14));
    CHECK(at(m, Phase::Loss) ==
          Approx(16 * n / 128 + saved + 2 * logits + 2 * kHidden + gathered).epsilon(1e-14));
    CHECK(at(m, Phase::HeadBackward) ==
          Approx(16 * n / 128 + saved + logits + 11 * kHidden + tables + gathered).epsilon(1e-14));
    CHECK(at(m, Phase::LayerBackward) == Approx(16 * n / 128 + saved + gathered + unit + mlp).epsilon(1e-14));
  }
  SECTION("the only micro-batch has no gradient before its backward pass") {
    draft.recipe.global_batch = 128;
    const auto m = memory_of(draft.problem(), plan);
    CHECK(at(m, Phase::ForwardEnd) == Approx(12 * n / 128 + saved + gathered).epsilon(1e-14));
    CHECK(at(m, Phase::LayerBackward) == Approx(16 * n / 128 + saved + gathered + unit + mlp).epsilon(1e-14));
  }
  SECTION("reduced once a step: the unsharded gradient stays, 4 bytes a parameter") {
    plan.sync_each_micro_batch = false;
    const auto m = memory_of(problem, plan);
    CHECK(m.state.num() == Approx(16 * n / 128 + 4 * n).epsilon(1e-14));
    CHECK(at(m, Phase::ForwardEnd) == Approx(12 * n / 128 + 4 * n + saved + gathered).epsilon(1e-14));
  }
  SECTION("weights that stay gathered need no units") {
    plan.reshard = false;
    const auto m = memory_of(problem, plan);
    CHECK(at(m, Phase::ForwardEnd) == Approx(16 * n / 128 + 2 * n + saved).epsilon(1e-14));
  }
  SECTION("a rebuilt block has all its tensors, two gathered inputs and the gradient of its up projections") {
    plan.recompute = Recompute::Full;
    const auto m = memory_of(problem, plan);
    const double block = kLayer + 16 * kHidden + 4.0 * 8192 * 28672 / 8 + kHidden;
    CHECK(at(m, Phase::LayerBackward) ==
          Approx(16 * n / 128 + 80 * kHidden + gathered + unit + block).epsilon(1e-14));
  }
  SECTION("an eager loss has fp32 tensors, and leaves the block of the logits idle") {
    draft.recipe.loss = LossKind::Eager;
    const auto m = memory_of(draft.problem(), plan);
    CHECK(m.logits.num() == 8 * logits);  // 16 bytes an entry with tp
    CHECK(at(m, Phase::Loss) ==
          Approx(16 * n / 128 + saved + 8 * logits + 2 * kHidden + gathered).epsilon(1e-14));
    CHECK(m.allocated.num() == at(m, Phase::Loss));
    CHECK(m.idle.num() == Approx(logits + 9 * kHidden + tables + unit + mlp).epsilon(1e-14));
  }
  SECTION("a chunked loss holds a part at a time, and the hidden gradient") {
    draft.recipe.loss = LossKind::Chunked;
    const auto m = memory_of(draft.problem(), plan);
    CHECK(m.logits.num() == 2 * logits / 8);
    CHECK(at(m, Phase::Loss) - at(m, Phase::ForwardEnd) == Approx(2 * logits / 8 + 4 * kHidden));
  }
}

TEST_CASE("pipelines of torch have a receive buffer for each micro-batch and keep their outputs") {
  Draft draft({.framework = "torchtitan", .batch = 512});
  Plan plan = completed({.tp = 8, .pp = 4, .dp = 32, .sharding = Sharding::Zero3});
  plan.reshard = plan.sync_each_micro_batch = false;
  const Problem problem = draft.problem();
  const auto buffers = [&](int stage) {
    const auto m = memory_of(problem, plan, stage);
    return at(m, Phase::ForwardEnd) - m.activations.saved.num() -
           (6 + 12.0 / 32) * m.params.stage.num();  // the shard of the gradient is yet to come
  };
  CHECK(buffers(0) == Approx(16 * kHidden + 4 * kHidden));
  CHECK(buffers(1) == Approx(2 * 16 * kHidden + 3 * kHidden));
  CHECK(buffers(3) == Approx(16 * kHidden + 16 * 2.0 * 8192 * 128256 / 8));
}

TEST_CASE("one recomputed layer is rebuilt while it runs backward") {
  Draft draft;
  Plan plan = completed({.tp = 8, .pp = 4, .dp = 32});
  plan.recompute = Recompute::Full;
  const auto full = memory_of(draft.problem(), plan);
  const double up = 2.0 * 8192 * 57344 / 8;
  CHECK(at(full, Phase::LayerBackward) - at(full, Phase::ForwardEnd) ==
        Approx(kLayer - kHidden + up + kHidden));
  // gradients of probabilities and scores, 4 a s^2 b / t, and the incoming gradient
  draft.recipe.attention = Attention::Unfused;
  plan.recompute = Recompute::None;
  const auto unfused = memory_of(draft.problem(), plan);
  CHECK(at(unfused, Phase::LayerBackward) - at(unfused, Phase::ForwardEnd) ==
        Approx(4.0 * 64 * 8192 * 8192 / 8 + kHidden));
}

TEST_CASE("layers with experts: rows in flight, one buffer for the shapes of an expert, overlap") {
  Draft draft({.model = "deepseek-v3", .cluster = "h100x64", .sequence = 4096, .batch = 64});
  draft.recipe.loss = LossKind::Te;
  const Plan plan = completed({.ep = 8, .dp = 64});
  const auto m = memory_of(draft.problem(), plan);
  const double hidden = 2.0 * 4096 * 7168, rows = 8;
  CHECK(at(m, Phase::ForwardEnd) - m.activations.saved.num() - m.state.num() ==
        Approx(4 * rows * hidden + 3 * hidden + (34 + 16 + 128) * MiB +
               2.0 * (1536 * 7168 + 24576 * 1536 + 576 * 7168 + 32768 * 512 + 7168 * 16384 +  // attention
                      2 * 18432 * 7168 + 18432 * 7168 +                                       // dense MLP
                      2 * 2048 * 7168 + 2048 * 7168 +  // an expert, and the shared one of the same shape
                      129280.0 * 7168)));
  draft.recipe.ep_overlap = true;
  const auto overlapped = memory_of(draft.problem(), plan);
  CHECK(at(overlapped, Phase::ForwardEnd) - at(m, Phase::ForwardEnd) ==
        Approx(m.activations.sparse_layer.num() + 4 * rows * hidden + 3 * hidden));
}
