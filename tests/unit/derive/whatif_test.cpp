#include "trainplan/derive/whatif.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "asked.hpp"
#include "catch.hpp"
#include "trainplan/derive/derive.hpp"

using namespace trainplan;
using problems::Asked;

namespace {

/// A derived plan with its variants.
struct Answer {
  Asked asked;
  Trial chosen;
  WhatIfs all;

  Answer(const char* model, const char* cluster, problems::Fields fields = {})
      : asked(model, cluster, fields), chosen(asked.derived()->chosen), all(what_ifs(chosen)) {}

  const WhatIf* find(std::string_view key) const {
    const auto it =
        std::find_if(all.rows.begin(), all.rows.end(), [&](const WhatIf& w) { return w.key == key; });
    return it == all.rows.end() ? nullptr : &*it;
  }
  const Trial& trial(std::string_view key) const {
    const WhatIf* row = find(key);
    REQUIRE(row != nullptr);
    REQUIRE(row->trial);
    return *row->trial;
  }
};

double item(const Ledger& ledger, std::string_view id) { return ledger.find(id)->value; }

}  // namespace

TEST_CASE("fp8 is the plan evaluated with fp8 products") {
  const Answer a("llama70b", "h100x1024");
  const Trial& fp8 = a.trial("fp8");
  CHECK(fp8.plan == a.chosen.plan);
  Problem by_hand = a.chosen.problem;
  by_hand.recipe.matmul = Matmul::Fp8;
  const auto cost = evaluate(by_hand, a.chosen.plan);
  CHECK(fp8.cost.step.step.num() == cost.step.step.num());
  CHECK(fp8.device() == cost.memory.device.num());
  CHECK(fp8.cost.step.step < a.chosen.cost.step.step);
  // What a run that says fp8 gets.
  const Asked said("llama70b", "h100x1024", {{"matmul_precision", "fp8"}, {"tp", "8"}, {"pp", "4"}});
  CHECK(said.derived()->chosen.cost.step.step.num() == fp8.cost.step.step.num());
}

TEST_CASE("the time of matrix products is that of the projections, the MLP and the head of every layer") {
  const Answer a("llama70b", "h100x1024");
  const Ledger ledger = explain(a.chosen.problem, a.chosen.plan, a.chosen.cost.stage);
  double layer = 0;
  for (const char* id : {"work.qkv", "work.output", "work.mlp_up", "work.mlp_down"})
    for (const char* pass : {".forward", ".backward"}) layer += item(ledger, std::string(id) + pass);
  const double head = item(ledger, "work.head.forward") + item(ledger, "work.head.backward");
  CHECK(a.chosen.cost.pipeline.products.num() == Approx(80 * layer + head).epsilon(1e-12));
  CHECK(item(ledger, "step.products") == Approx(16 * (80 * layer + head) / 4).epsilon(1e-12));
  CHECK(item(ledger, "step.products_of_kernels") ==
        Approx(item(ledger, "step.products") / item(ledger, "step.compute")).epsilon(1e-12));
  CHECK(item(ledger, "step.products_of_step") ==
        Approx(item(ledger, "step.products") / item(ledger, "step.time")).epsilon(1e-12));
}

TEST_CASE("products of routed and shared experts and of the router count as matrix products") {
  const Answer a("deepseek-v3", "h800x2048");
  const Ledger ledger = explain(a.chosen.problem, a.chosen.plan, a.chosen.cost.stage);
  double sparse = 0;
  for (const char* id :
       {"work.q_down", "work.q_up", "work.kv_down", "work.kv_up", "work.output", "work.router",
        "work.shared_up", "work.shared_down", "work.experts_up", "work.experts_down"})
    for (const char* pass : {".forward", ".backward"}) sparse += item(ledger, std::string(id) + pass);
  CHECK(item(ledger, "block.sparse.products") == Approx(sparse).epsilon(1e-12));
  CHECK(item(ledger, "block.sparse.products") < item(ledger, "block.sparse.kernels"));
}

TEST_CASE("share of the step x cut of the products is what the products save of it") {
  const Answer a("llama70b", "h100x1024");
  REQUIRE(a.all.products);
  const ProductCut& p = *a.all.products;
  const auto &wide = a.chosen.cost, &fp8 = a.trial("fp8").cost;
  CHECK(p.format == "fp8");
  CHECK(p.step_cut.num() == p.of_step.num() * p.cut.num());
  const double saved = 16 * (wide.pipeline.products.num() - fp8.pipeline.products.num()) / 4;
  CHECK(p.step_cut.num() * wide.step.step.num() == Approx(saved).epsilon(1e-12));
  CHECK(p.evaluated.num() == Approx(1 - fp8.step.step.num() / wide.step.step.num()).epsilon(1e-12));
  // Casts cost something, and the bubble shrinks less than the products do.
  CHECK(p.evaluated < p.step_cut);
  CHECK(p.of_kernels > p.of_step);
}

TEST_CASE("formats are those that the accelerator has") {
  const Answer a100("llama70b", "a100x1024");
  CHECK(a100.find("fp8") == nullptr);
  CHECK(a100.find("mxfp8") == nullptr);
  CHECK_FALSE(a100.all.products);
  const Answer b200("llama405b", "b200x512");
  CHECK(b200.find("fp8") == nullptr);
  CHECK_FALSE(b200.find("mxfp8")->minor);
  CHECK(b200.find("nvfp4")->minor);
  CHECK(b200.all.products->format == "mxfp8");
  const Answer already("llama70b", "h100x1024", {{"matmul_precision", "fp8"}});
  CHECK(already.find("fp8") == nullptr);
  CHECK(already.find("wide_products")->name == "products in bf16");
  CHECK(already.trial("wide_products").cost.step.step > already.chosen.cost.step.step);
  CHECK_FALSE(already.all.products);
}

TEST_CASE("recomputed layers come in multiples of vpp; what they save and cost goes by their number") {
  const Answer a("llama70b", "h100x1024");
  REQUIRE(a.chosen.plan.vpp == 4);
  for (const char* key : {"recompute_4", "recompute_8", "recompute_all"}) CHECK(a.find(key)->trial);
  REQUIRE(a.all.recompute.size() == 3);
  const std::int64_t layers[] = {4, 8, 20};
  const double layer_bytes = 1.17 * 1024 * 1024 * 1024;
  for (std::size_t i = 0; i < 3; ++i) {
    const RecomputeGain& g = a.all.recompute[i];
    CHECK(g.layers.num() == static_cast<double>(layers[i]));
    CHECK(g.all.num() == 20);
    const double part = static_cast<double>(layers[i]) / 20;
    CHECK(g.share.num() == Approx(0.94 * part).epsilon(0.001));  // all but the input of the layer
    CHECK(g.share_pro_rata.num() == Approx(g.share.num()).epsilon(1e-12));
    CHECK(g.flops.num() == Approx(part / 3).epsilon(1e-12));
    CHECK(g.flops_pro_rata.num() == Approx(part / 3).epsilon(1e-12));
    CHECK(g.saved_of_layer.num() == Approx(layer_bytes).epsilon(0.01));
    CHECK(g.saved.num() == Approx(g.saved_of_layer.num() * static_cast<double>(layers[i])).epsilon(1e-12));
    CHECK(g.step.num() > 0);
  }
  CHECK(a.trial("recompute_8").device() < a.trial("recompute_4").device());
  CHECK(a.trial("recompute_8").cost.step.step > a.trial("recompute_4").cost.step.step);
}

TEST_CASE(
    "what recompute saves is of the stage that the report is about, however many layers the others have") {
  const Answer a("deepseek-v3", "h800x2048");  // 30 layers on one stage, 31 on the other, and a block more
  REQUIRE(a.all.recompute.size() == 3);
  for (const RecomputeGain& g : a.all.recompute) {
    CAPTURE(g.layers.num());
    CHECK(g.all.num() == a.chosen.cost.memory.params.blocks.num());
    CHECK(g.flops.num() == Approx(g.flops_pro_rata.num()).epsilon(1e-12));
    CHECK(g.share.num() == Approx(g.share_pro_rata.num()).epsilon(0.01));  // dense layers among sparse ones
  }
  CHECK(a.all.recompute.back().layers == a.all.recompute.back().all);
}

TEST_CASE("a plan that recomputes is shown without it") {
  const Answer full("llama70b", "h100x64", {{"recompute", "full"}});
  CHECK(full.trial("no_recompute").device() > full.chosen.device());
  CHECK(full.trial("no_recompute").cost.step.step < full.chosen.cost.step.step);
  CHECK(full.find("recompute_all") == nullptr);
  const Answer some(
      "llama70b", "h100x1024",
      {{"recompute", "layers"}, {"recompute_layers", "4"}, {"tp", "8"}, {"pp", "4"}, {"vpp", "4"}});
  CHECK(some.find("recompute_4") == nullptr);  // the plan itself
  CHECK(some.trial("recompute_8").device() < some.chosen.device());
  CHECK(some.trial("no_recompute").device() > some.chosen.device());
}

TEST_CASE("overlap is turned the other way, and the default is named") {
  const Answer on("llama70b", "h100x1024");
  CHECK(on.find("tp_overlap")->name == "TP overlap off (default on)");
  CHECK(on.trial("tp_overlap").cost.step.step > on.chosen.cost.step.step);
  CHECK(on.trial("tp_overlap").device() == on.chosen.device());
  CHECK(on.find("dp_overlap")->minor);
  CHECK(on.trial("dp_overlap").cost.step.step > on.chosen.cost.step.step);
  const Answer off("llama70b", "h100x1024", {{"tp_overlap", "false"}, {"tp", "8"}});
  CHECK(off.find("tp_overlap")->name == "TP overlap on (default on)");
  CHECK(off.trial("tp_overlap").cost.step.step.num() == on.chosen.cost.step.step.num());
  CHECK(Answer("llama8b", "h100x64", {{"tp", "1"}}).find("tp_overlap") == nullptr);
  CHECK(on.find("ep_overlap") == nullptr);
}

TEST_CASE("a change that breaks a rule is named with it") {
  // 160 sequences over dp 32: micro-batches of two would leave half a one.
  const Answer odd("llama70b", "h100x1024", {{"global_batch", "160"}, {"tp", "8"}, {"pp", "4"}});
  const WhatIf* two = odd.find("micro_batch_2");
  REQUIRE(two != nullptr);
  CHECK_FALSE(two->trial);
  CHECK(two->broken == "batch-divides");
  CHECK(two->refusal.find("160") != std::string::npos);
  const Answer torch("llama8b", "h100x64", {{"framework", "torchtitan"}});
  const auto broken = std::count_if(torch.all.rows.begin(), torch.all.rows.end(),
                                    [](const WhatIf& w) { return w.broken == "recompute-is-offered"; });
  CHECK(broken == 1);
  CHECK(torch.find("recompute_all")->trial);
}

TEST_CASE("the micro-batch is doubled, and halved where it is even") {
  const Answer a("llama70b", "h100x1024", {{"micro_batch", "2"}});
  CHECK(a.trial("micro_batch_4").plan.micro_batch == 4);
  CHECK(a.trial("micro_batch_4").device() > a.chosen.device());
  CHECK(a.find("micro_batch_1")->minor);
  CHECK(a.trial("micro_batch_1").device() < a.chosen.device());
}

TEST_CASE("at most six variants that are not minor for a dense model, seven for a mixture of experts") {
  const auto shown = [](const Answer& a) {
    return std::count_if(a.all.rows.begin(), a.all.rows.end(), [](const WhatIf& w) { return !w.minor; });
  };
  for (const char* model : {"llama8b", "llama70b", "llama405b"}) {
    CAPTURE(model);
    CHECK(shown(Answer(model, "h100x1024")) <= 6);
  }
  CHECK(shown(Answer("mixtral-8x7b", "h100x64")) <= 6);
  CHECK(shown(Answer("deepseek-v3", "h800x2048")) <= 7);
}

TEST_CASE("ends with fewer layers are proposed where embedding and loss make the pipeline wait") {
  const Answer flat("llama8b", "h100x64",
                    {{"tp", "2"}, {"pp", "4"}, {"schedule", "1f1b"}, {"global_batch", "512"}});
  const Trial& uneven = flat.trial("layers");
  CHECK(uneven.cost.step.step < flat.chosen.cost.step.step);
  CHECK(stage_layers(uneven.problem.model(), uneven.plan, 3) < 8);
  CHECK(uneven.cost.memory.device <= uneven.cost.gate);
  CHECK(flat.all.layout.starts_with("--"));
  const Answer torchtitan("llama8b", "h100x64",
                          {{"framework", "torchtitan"}, {"tp", "2"}, {"pp", "4"}, {"schedule", "1f1b"}});
  CHECK(torchtitan.find("layers") == nullptr);
  CHECK(torchtitan.all.layout.empty());
}
