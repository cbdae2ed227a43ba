#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "found.hpp"
#include "trainplan/io/load.hpp"

using namespace trainplan;

namespace {

FrameworkProfile profile(std::string_view name) {
  Issues issues;
  const auto f = load_framework(name, issues);
  CAPTURE(listed(issues));
  REQUIRE(f);
  return **f;
}

/// Bytes per parameter that a mode keeps through the backward pass: whole on every rank, and shared by a
/// group.
struct Widths {
  double whole = 0, shared = 0;
};
struct Choice {
  double gradient = 4;
  bool deferred = false, reshard = true;
};

bool applies(When when, Choice c) {
  switch (when) {
    case When::Always: return true;
    case When::Reshard: return c.reshard;
    case When::NoReshard: return !c.reshard;
    case When::DeferredSync: return c.deferred;
    case When::SyncEachMicroBatch: return !c.deferred;
    case When::Gradient16Bit: return c.gradient == 2;
    case When::Moments16Bit: return false;
    case When::GatheredOnce: return c.deferred && !c.reshard;
    case When::GatheredEachMicroBatch: return !c.deferred || c.reshard;
  }
  return false;
}

Widths widths(const FrameworkProfile& f, Sharding mode, Choice c, Phase phase = Phase::LayerBackward) {
  const ShardingRows* rows = f.rows(mode);
  REQUIRE(rows != nullptr);
  Widths w;
  for (const StateRow& row : rows->state) {
    if (!applies(row.when, c) || (row.alive & bit(phase)) == 0) continue;
    const double bytes = row.width == Width::Fixed ? row.bytes_per_param : c.gradient;
    (row.sharded_over == Group::None ? w.whole : w.shared) += bytes;
  }
  return w;
}

void check(Widths w, double whole, double shared) {
  CHECK(w.whole == whole);
  CHECK(w.shared == shared);
}

/// Elements per parameter and step that a group exchanges, all-reduce counted twice; m micro-batches.
double elements(const FrameworkProfile& f, Sharding mode, Choice c, int m, Group group) {
  double sum = 0;
  for (const CommRow& row : f.rows(mode)->traffic) {
    if (!applies(row.when, c) || row.group != group) continue;
    sum += (row.collective == Collective::AllReduce ? 2 : 1) * (row.times == Times::PerMicroBatch ? m : 1);
  }
  return sum;
}

}  // namespace

TEST_CASE("Megatron-LM: 18, 6 + 12/d and 18/d bytes per parameter") {
  const FrameworkProfile f = profile("megatron-lm");
  check(widths(f, Sharding::None, {}), 18, 0);
  check(widths(f, Sharding::None, {.gradient = 2}), 16, 0);
  check(widths(f, Sharding::Zero1, {}), 6, 12);
  check(widths(f, Sharding::Zero1, {.gradient = 2}), 4, 12);
  check(widths(f, Sharding::Zero1, {.gradient = 2}, Phase::Optimizer), 4, 16);
  check(widths(f, Sharding::Zero3, {}), 0, 18);
  check(widths(f, Sharding::Zero3, {.gradient = 2}), 0, 16);
  CHECK(f.rows(Sharding::Zero3)->gathered_units == 2);
  CHECK(f.rows(Sharding::Zero3)->gradient_units == 2);
  CHECK(f.rows(Sharding::Zero2) == nullptr);
}

TEST_CASE("Megatron-LM: moments appear with the first step, its gradient buffer is there all the time") {
  const FrameworkProfile f = profile("megatron-lm");
  check(widths(f, Sharding::Zero1, {}, Phase::Load), 6, 4);
  check(widths(f, Sharding::Zero1, {}, Phase::Evaluation), 6, 12);
}

TEST_CASE("Megatron-LM: defaults, padding and one reduction a step") {
  const FrameworkProfile f = profile("megatron-lm");
  CHECK(f.id == "megatron-lm");
  CHECK(f.origin == "shipped:frameworks/megatron-lm.json");
  CHECK(f.version.find("0.20.0") != std::string::npos);
  CHECK(f.default_sharding == Sharding::Zero1);
  CHECK(f.default_gradient == DType::Fp32);
  CHECK(f.vocabulary_multiple == 128);
  CHECK(f.vocabulary_times_tp);
  CHECK(f.uneven_stages == UnevenStages::Counted);
  CHECK(f.interleaves());
  CHECK(f.causal_flops);
  CHECK(f.default_loss == LossKind::Native);
  REQUIRE(f.loss(LossKind::Te) != nullptr);
  CHECK(f.loss(LossKind::Te)->beside == 0);
  CHECK(f.loss(LossKind::Native)->beside == 4);
  CHECK(f.loss(LossKind::Eager) == nullptr);
  CHECK(f.scratch_gradients);
  CHECK(f.head_gather);
  CHECK(f.selective == SelectivePolicy::Modules);
  CHECK(f.workspace.base.value == 34 * 0x1p20);
  CHECK(f.workspace.last_stage.assumed);
  CHECK(f.checkpoint_bytes_per_param == 14);
  CHECK(elements(f, Sharding::Zero1, {}, 16, Group::DataParallel) == 2);
  CHECK(elements(f, Sharding::None, {}, 16, Group::DataParallel) == 2);
  CHECK(elements(f, Sharding::Zero3, {}, 16, Group::DataParallel) == 48);
}

TEST_CASE("DeepSpeed: 16, 4 + 12/d, 2 + 14/d and 16/d") {
  const FrameworkProfile f = profile("deepspeed");
  check(widths(f, Sharding::None, {.gradient = 2}), 16, 0);
  check(widths(f, Sharding::Zero1, {.gradient = 2}), 4, 12);
  check(widths(f, Sharding::Zero2, {.gradient = 2}), 2, 14);
  check(widths(f, Sharding::Zero3, {.gradient = 2}), 0, 16);
  check(widths(f, Sharding::Zero1, {.gradient = 2}, Phase::Evaluation), 2, 12);
  CHECK(f.default_gradient == DType::Bf16);
  CHECK(f.vocabulary_multiple == 1);
  CHECK_FALSE(f.vocabulary_times_tp);
  CHECK_FALSE(f.interleaves());
  CHECK(f.default_loss == LossKind::Eager);
  CHECK(f.loss(LossKind::Eager)->beside == 12);
  CHECK_FALSE(f.scratch_gradients);
  CHECK(f.weights_expert_output);
  CHECK(f.checkpoint_bytes_per_param == 14);
  CHECK(elements(f, Sharding::Zero1, {}, 16, Group::DataParallel) == 2);
  CHECK(elements(f, Sharding::Zero2, {}, 16, Group::DataParallel) == 17);
  CHECK(elements(f, Sharding::Zero3, {}, 16, Group::DataParallel) == 48);
}

TEST_CASE("torchtitan: 16/d, whole gradients when the reduction waits, whole weights without resharding") {
  const FrameworkProfile f = profile("torchtitan");
  check(widths(f, Sharding::Zero3, {}), 0, 16);
  check(widths(f, Sharding::Zero3, {.deferred = true}), 4, 16);
  check(widths(f, Sharding::Zero3, {.reshard = false}), 2, 16);
  check(widths(f, Sharding::Zero3, {.gradient = 2, .reshard = false}), 2, 14);
  check(widths(f, Sharding::Hsdp, {}), 0, 16);
  CHECK(f.rows(Sharding::Zero3)->gathered_units == 2);
  CHECK(f.rows(Sharding::Zero3)->gradient_units == 1);
  CHECK_FALSE(f.causal_flops);
  CHECK(f.default_loss == LossKind::Chunked);
  CHECK(f.loss(LossKind::Chunked)->chunks == 8);
  CHECK(f.loss(LossKind::Eager)->beside_tp == 16);
  CHECK(f.loss(LossKind::Eager)->frees_logits);
  CHECK(f.selective == SelectivePolicy::EverySecondMatmul);
  CHECK(f.pipeline_buffers == PipelineBuffers::Torch);
  CHECK(f.compiles);
  CHECK(f.checkpoint_bytes_per_param == 12);
}

TEST_CASE("torchtitan: traffic with and without resharding, per micro-batch and per step") {
  const FrameworkProfile f = profile("torchtitan");
  CHECK(elements(f, Sharding::Zero3, {}, 1, Group::DataParallel) == 3);
  CHECK(elements(f, Sharding::Zero3, {.reshard = false}, 1, Group::DataParallel) == 2);
  CHECK(elements(f, Sharding::Zero3, {}, 4, Group::DataParallel) == 12);
  CHECK(elements(f, Sharding::Zero3, {.deferred = true}, 4, Group::DataParallel) == 9);
  CHECK(elements(f, Sharding::Hsdp, {}, 1, Group::Shard) == 3);
  CHECK(elements(f, Sharding::Hsdp, {}, 1, Group::Replicate) == 2);
  for (const StateRow& row : f.rows(Sharding::Hsdp)->state) CHECK(row.sharded_over != Group::DataParallel);
}

TEST_CASE("every row of a shipped profile has an id, a symbol, a title and a source; symbols differ") {
  for (const char* name : {"megatron-lm", "deepspeed", "torchtitan"})
    for (const ShardingRows& rows : profile(name).shardings) {
      std::map<std::string, std::string> id_of;
      const auto row = [&](const auto& r) {
        CAPTURE(name, rows.title, r.id);
        CHECK_FALSE(r.symbol.empty());
        CHECK_FALSE(r.title.empty());
        CHECK_FALSE(r.source.empty());
        CHECK(id_of.try_emplace(r.symbol, r.id).first->second == r.id);
      };
      for (const StateRow& r : rows.state) row(r);
      for (const CommRow& r : rows.traffic) row(r);
    }
}

TEST_CASE("flags: a text that the value follows, or a setting for each value, in the order of the plan") {
  const auto flag = [](const FrameworkProfile& f, std::string_view field) {
    for (const LaunchFlag& x : f.flags)
      if (x.field == field) return x;
    return LaunchFlag{};
  };
  const FrameworkProfile f = profile("megatron-lm");
  CHECK(f.flags.front().field == "precision");
  CHECK(flag(f, "tp").flag == "--tensor-model-parallel-size");
  CHECK(flag(f, "recompute").flag.empty());
  CHECK(flag(f, "recompute").settings.size() == 3);
  using Settings = std::vector<std::pair<std::string, std::string>>;
  CHECK(flag(f, "gradient_dtype").settings == Settings{{"bf16", "--grad-reduce-in-bf16"}});

  Issues issues;
  CHECK_FALSE(load_framework_text(R"({
  "name": "x", "version": "1", "default_sharding": "zero1",
  "shardings": [{"mode": "zero1", "title": "t", "state": [
      {"id": "weights", "symbol": "a", "title": "t", "bytes_per_param": 2}]}],
  "flags": {
    "tpp": "--tp",
    "recompute": {"full": 1}
  }
})",
                                  "f.json", issues));
  CAPTURE(listed(issues));
  REQUIRE(issues.all().size() == 2);
  CHECK(issues.all()[0].pointer == "/flags/tpp");
  CHECK(issues.all()[0].line == 6);
  CHECK(issues.all()[1].pointer == "/flags/recompute/full");
  CHECK(issues.all()[1].line == 7);
}

TEST_CASE("a profile without a loss has a native one; kernels appear once, the default among them") {
  const std::string head = R"({"name": "x", "version": "1", "default_sharding": "zero1",
  "shardings": [{"mode": "zero1", "title": "t", "state": [
      {"id": "weights", "symbol": "a", "title": "t", "bytes_per_param": 2, "group": "largest"}]}])";
  Issues issues;
  const auto plain = load_framework_text(head + "}", "f.json", issues);
  REQUIRE(plain);
  CHECK((*plain)->loss((*plain)->default_loss)->beside == 4);
  CHECK((*plain)->shardings[0].state[0].largest_group);
  CHECK_FALSE((*plain)->has_moment_type());
  CHECK_FALSE(load_framework_text(head + R"(,
  "loss": {"default": "te", "kernels": [
    {"kind": "native", "beside_logits": 400},
    {"kind": "native", "beside_logits": 4, "chunks": 0}]},
  "workspace": {"base": "-1 MiB", "grouped": "3 s"}})",
                                  "f.json", issues));
  CAPTURE(listed(issues));
  CHECK(complete(issues));
  CHECK(find_issue(issues, "default-loss", "/loss/default") != nullptr);
  CHECK(find_issue(issues, "range", "/loss/kernels/0/beside_logits") != nullptr);
  CHECK(find_issue(issues, "loss-twice", "/loss/kernels/1/kind") != nullptr);
  CHECK(find_issue(issues, "range", "/loss/kernels/1/chunks") != nullptr);
  CHECK(find_issue(issues, "quantity", "/workspace/grouped") != nullptr);
}

TEST_CASE("rules: what differs between frameworks, and a source for ids that exist") {
  CHECK(profile("megatron-lm").rules.expert_mesh == ExpertMesh::Gpus);
  CHECK(profile("torchtitan").rules.expert_mesh == ExpertMesh::ShardRanks);
  const FrameworkRules deepspeed = profile("deepspeed").rules;
  CHECK(deepspeed.expert_mesh == ExpertMesh::DataParallel);
  CHECK_FALSE(deepspeed.ring);
  CHECK(deepspeed.all_to_all);
  CHECK(deepspeed.chunks_per_cp_rank == 1);
  CHECK(deepspeed.source("ep-divides-dp") == "deepspeed/utils/groups.py");
  CHECK(deepspeed.source("micro-batches-cover-stages").empty());

  Issues issues;
  CHECK_FALSE(load_framework_text(R"({
  "name": "x", "version": "1", "default_sharding": "zero1",
  "shardings": [{"mode": "zero1", "title": "t", "state": [
      {"id": "weights", "symbol": "a", "title": "t", "bytes_per_param": 2}]}],
  "rules": {
    "expert_mesh": "gpu", "chunks_per_cp_rank": 3,
    "rings": false,
    "sources": {"tp-divides-head": "a.py"}
  }
})",
                                  "f.json", issues));
  CAPTURE(listed(issues));
  REQUIRE(issues.all().size() == 4);
  for (const char* pointer :
       {"/rules/expert_mesh", "/rules/chunks_per_cp_rank", "/rules/rings", "/rules/sources/tp-divides-head"})
    CHECK(std::any_of(issues.all().begin(), issues.all().end(),
                      [&](const Issue& i) { return i.pointer == pointer && i.line > 0; }));
}

TEST_CASE("mistakes of a profile are reported at their place") {
  Issues issues;
  CHECK_FALSE(load_framework_text(R"({
  "name": "x", "version": "1", "default_sharding": "zero2", "rank_order": "tp-dp-pp",
  "shardings": [
    {"mode": "zero1", "title": "t", "state": [
      {"id": "wieghts", "symbol": "a", "title": "t", "bytes_per_param": 2},
      {"id": "gradient", "symbol": "", "title": "t", "bytes_per_param": "gradient_type"},
      {"id": "master", "symbol": "c", "title": "t", "bytes_per_param": 400, "sharded_over": "shard"},
      {"id": "moment1", "symbol": "d", "title": "t", "bytes_per_param": 4, "when": "reshard"},
      {"id": "moment1", "symbol": "d", "title": "t", "bytes_per_param": 4, "alive": "now"}
    ], "traffic": [{"id": "x", "symbol": "e", "title": "t", "bytes_per_param": 2, "times": "steps"}]}
  ]
})",
                                  "f.json", issues));
  CAPTURE(listed(issues));
  CHECK(complete(issues));
  const auto line = [&](const char* rule, const char* pointer) {
    const Issue* i = find_issue(issues, rule, pointer);
    return i == nullptr ? 0 : i->line;
  };
  CHECK(line("default-sharding", "/default_sharding") == 2);
  CHECK(line("rank-order", "/rank_order") == 2);
  CHECK(line("state-id", "/shardings/0/state/0/id") == 5);
  CHECK(line("empty-text", "/shardings/0/state/1/symbol") == 6);
  CHECK(line("choice", "/shardings/0/state/1/bytes_per_param") == 6);
  CHECK(line("range", "/shardings/0/state/2/bytes_per_param") == 7);
  CHECK(line("group-needs-hsdp", "/shardings/0/state/2/sharded_over") == 7);
  CHECK(line("choice", "/shardings/0/state/4/alive") == 9);
  CHECK(line("state-twice", "/shardings/0/state/4/id") == 9);
  CHECK(line("missing-key", "/shardings/0/traffic/0/collective") == 10);
  CHECK(line("choice", "/shardings/0/traffic/0/times") == 10);
  CHECK(issues.all().size() == 11);
}

TEST_CASE("the life of a weight is told whole or not at all") {
  const auto load = [](const std::string& weight, Issues& issues) {
    return load_framework_text(R"({"name": "x", "version": "1", "default_sharding": "zero1",
  "shardings": [{"mode": "zero1", "title": "t", "state": [
      {"id": "weights", "symbol": "a", "title": "t", "bytes_per_param": 2}])" +
                                   weight + "}]}",
                               "f.json", issues);
  };
  Issues none;
  const auto silent = load("", none);
  REQUIRE(silent);
  CHECK((*silent)->shardings[0].weight.kept.empty());
  Issues good;
  const auto whole = load(
      R"(, "weight": {"kept": "k", "gathered": "g", "released": "r", "master": "m", "source": "s"})", good);
  REQUIRE(whole);
  const WeightLife& w = (*whole)->shardings[0].weight;
  CHECK(w.kept + w.gathered + w.released + w.master + w.source == "kgrms");
  Issues bad;
  CHECK_FALSE(load(R"(, "weight": {"kept": "k", "gathered": 1, "masters": "m", "source": "s"})", bad));
  CAPTURE(listed(bad));
  CHECK(complete(bad));
  CHECK(find_issue(bad, "unknown-key", "/shardings/0/weight/masters") != nullptr);
  CHECK(find_issue(bad, "missing-key", "/shardings/0/weight/released") != nullptr);
  CHECK(find_issue(bad, "missing-key", "/shardings/0/weight/master") != nullptr);
  CHECK(bad.all().size() == 4);  // and a text that is a number
}
