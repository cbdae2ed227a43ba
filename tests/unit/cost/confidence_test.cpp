#include "trainplan/cost/confidence.hpp"

#include <cmath>

#include "catch.hpp"
#include "problems.hpp"
#include "trainplan/cost/plan_cost.hpp"

using namespace trainplan;
using problems::completed;
using problems::Draft;
using problems::Names;

namespace {

TimeClass class_of(Draft& draft, const Plan& plan) { return time_class(draft.problem(), plan); }

Draft dense(std::int64_t nodes) {
  Draft draft;
  draft.cluster.nodes = nodes;
  draft.recipe.stack = Stack::MegatronCore;
  return draft;
}

Draft sparse(std::int64_t nodes) {
  Draft draft(Names{.model = "deepseek-v3"});
  draft.cluster.nodes = nodes;
  draft.recipe.stack = Stack::MegatronCore;
  return draft;
}

MemoryClass memory_of(const char* framework, Stack stack, Reading reading) {
  Draft draft(Names{.framework = framework});
  draft.recipe.stack = stack;
  return memory_class(draft.problem(), reading);
}

const Plan kData{.dp = 8}, kTensor = completed({.tp = 8});

}  // namespace

TEST_CASE("a dense step is judged by how it is cut and where it runs") {
  Draft small = dense(1), large = dense(128);
  CHECK(class_of(small, kData) == TimeClass::DataParallel);
  CHECK(class_of(large, kData) == TimeClass::DataParallel);
  CHECK(class_of(small, kTensor) == TimeClass::OneNode);
  CHECK(class_of(large, kTensor) == TimeClass::ModelParallel);
  CHECK(class_of(small, {.pp = 8}) == TimeClass::OneNode);
  CHECK(class_of(small, {.cp = 8}) == TimeClass::OneNode);
  small.recipe.stack = Stack::MegatronDeepSpeed;  // eager: the host matters even on one node
  CHECK(class_of(small, kTensor) == TimeClass::ModelParallel);
  CHECK(class_of(small, kData) == TimeClass::DataParallel);
}

TEST_CASE("fp8 has classes of its own: by the number of nodes, or by its blocks of scales") {
  for (const Matmul m : {Matmul::Fp8, Matmul::Fp8Rowwise}) {
    Draft few = dense(kFewNodes), many = dense(kFewNodes + 1);
    few.recipe.matmul = many.recipe.matmul = m;
    CHECK(class_of(few, kTensor) == TimeClass::Fp8FewNodes);
    CHECK(class_of(few, kData) == TimeClass::Fp8FewNodes);
    CHECK(class_of(many, kTensor) == TimeClass::Fp8ManyNodes);
  }
  for (const Matmul m : {Matmul::Fp8Blockwise, Matmul::Mxfp8, Matmul::Nvfp4}) {
    Draft few = dense(1), many = dense(128);
    few.recipe.matmul = many.recipe.matmul = m;
    CHECK(class_of(few, kData) == TimeClass::BlockScaled);
    CHECK(class_of(many, kTensor) == TimeClass::BlockScaled);
  }
}

TEST_CASE("mixtures of experts: by nodes, and narrow ones without graphs apart") {
  Draft few = sparse(kFewNodes), many = sparse(kFewNodes + 1);
  CHECK(class_of(few, kData) == TimeClass::ExpertsFewNodes);
  CHECK(class_of(many, kData) == TimeClass::ExpertsManyNodes);
  many.recipe.matmul = Matmul::Fp8;
  CHECK(class_of(many, kData) == TimeClass::ExpertsManyNodes);
  Draft narrow(Names{.model = "qwen3-30b-a3b"});
  narrow.recipe.stack = Stack::MegatronCore;
  narrow.cluster.nodes = 1;
  REQUIRE(narrow.model.hidden == kNarrowExperts);
  CHECK(class_of(narrow, kData) == TimeClass::SmallExperts);
  narrow.recipe.graphs = Graphs::Layer;
  CHECK(class_of(narrow, kData) == TimeClass::ExpertsFewNodes);
}

TEST_CASE("an unknown stack is a guess, whatever else is known") {
  Draft d = dense(1), s = sparse(64);
  d.recipe.stack = s.recipe.stack = Stack::Unknown;
  d.recipe.matmul = Matmul::Fp8;
  CHECK(class_of(d, kData) == TimeClass::UnknownStack);
  CHECK(class_of(s, kData) == TimeClass::UnknownStackExperts);
}

TEST_CASE("memory is judged by the profile, its own stack and the reading") {
  CHECK(memory_of("megatron-lm", Stack::MegatronCore, Reading::Allocated) == MemoryClass::Megatron);
  CHECK(memory_of("megatron-lm", Stack::MegatronCore, Reading::Reserved) == MemoryClass::Megatron);
  CHECK(memory_of("megatron-lm", Stack::MegatronCore, Reading::Device) == MemoryClass::MegatronDevice);
  CHECK(memory_of("megatron-lm", Stack::Unknown, Reading::Allocated) == MemoryClass::Other);
  CHECK(memory_of("torchtitan", Stack::Torchtitan, Reading::Reserved) == MemoryClass::Torchtitan);
  CHECK(memory_of("torchtitan", Stack::TorchtitanCompiled, Reading::Device) == MemoryClass::Torchtitan);
  CHECK(memory_of("torchtitan", Stack::LlmFoundry, Reading::Reserved) == MemoryClass::Other);
  CHECK(memory_of("deepspeed", Stack::MegatronDeepSpeed, Reading::Device) == MemoryClass::Other);
  CHECK(memory_of("deepspeed", Stack::MegatronCore, Reading::Device) == MemoryClass::Other);
}

TEST_CASE("the ends of a range are the prediction times the factors of its class") {
  Draft draft = dense(128);
  ErrorRanges& r = draft.calibration.ranges;
  r.time[static_cast<std::size_t>(TimeClass::ModelParallel)] = {{.value = 0.5, .known = true},
                                                                {.value = 1.5, .known = true}};
  r.memory[static_cast<std::size_t>(MemoryClass::MegatronDevice)] = {{.value = 0.75, .known = true},
                                                                     {.value = 1.25, .known = true}};
  const auto c = evaluate(draft.problem(), problems::main_plan());
  CHECK(c.range.time_low.num() == 0.5 * c.step.step.num());
  CHECK(c.range.time_high.num() == 1.5 * c.step.step.num());
  CHECK(c.range.mfu_low.num() == Approx(c.step.mfu.num() / 1.5));
  CHECK(c.range.mfu_full_low.num() == Approx(c.step.mfu_full.num() / 1.5));
  CHECK(c.range.device_low.num() == 0.75 * c.memory.device.num());
  CHECK(c.range.device_high.num() == 1.25 * c.memory.device.num());
}

TEST_CASE("an accelerator without constants moves the middle and adds to the width") {
  Draft draft = dense(128);
  draft.cluster.accelerator.id = "nobody-measured";
  ErrorRanges& r = draft.calibration.ranges;
  // Half widths of 3 and 4 doublings make 5; the middles 1 and 2 multiply.
  r.time[static_cast<std::size_t>(TimeClass::ModelParallel)] = {{.value = 1.0 / 8, .known = true},
                                                                {.value = 8, .known = true}};
  r.accelerator = {{.value = 2.0 / 16, .known = true}, {.value = 2.0 * 16, .known = true}};
  REQUIRE_FALSE(accelerator_is_known(draft.problem()));
  Eval rec;
  const auto f = time_factors(rec, draft.problem(), problems::main_plan());
  CHECK(f.low.num() == Approx(2.0 / 32));
  CHECK(f.high.num() == Approx(2.0 * 32));
}

TEST_CASE("another confidence scales the width as a normal distribution does") {
  CHECK(deviations_of(0.682689492137) == Approx(1).epsilon(1e-9));
  CHECK(deviations_of(0.954499736104) == Approx(2).epsilon(1e-9));
  Draft draft = dense(128);
  Eval rec;
  const auto plain = time_factors(rec, draft.problem(), problems::main_plan());
  draft.recipe.confidence = draft.calibration.ranges.confidence.value;
  const auto same = time_factors(rec, draft.problem(), problems::main_plan());
  CHECK(same.low.num() == Approx(plain.low.num()).epsilon(1e-12));
  CHECK(same.high.num() == Approx(plain.high.num()).epsilon(1e-12));
  draft.recipe.confidence = 0.95;
  const auto wide = time_factors(rec, draft.problem(), problems::main_plan());
  const double scale = 1.959963984540 / 1.281551565545;
  CHECK(std::log(wide.high.num() / wide.low.num()) ==
        Approx(scale * std::log(plain.high.num() / plain.low.num())).epsilon(1e-9));
  CHECK(wide.high.num() * wide.low.num() == Approx(plain.high.num() * plain.low.num()).epsilon(1e-9));
}

TEST_CASE("both ends can be explained, down to the file of the constants") {
  Draft draft = dense(128);
  const Ledger ledger = explain(draft.problem(), problems::main_plan(), 0);
  for (const char* id : {"step.time_low", "step.time_high", "step.mfu_low", "step.mfu_full_low",
                         "memory.device_low", "memory.device_high"}) {
    CAPTURE(id);
    REQUIRE(ledger.find(id) != nullptr);
  }
  bool from_file = false;
  const LineItem& high = *ledger.find("step.time_high");
  for (const std::uint32_t node : ledger.operands(high)) {
    const Label& label = ledger.tape().label(ledger.tape().node(node));
    from_file = from_file || label.origin.ends_with("/ranges/time/dense-model-parallel/high");
  }
  CHECK(from_file);
}
