#include "trainplan/derive/legality.hpp"

#include <string>

#include "catch.hpp"
#include "problems.hpp"

using namespace trainplan;
using problems::completed;
using problems::Draft;

namespace {

Issues issues_of(Draft& draft, const Plan& plan, const std::vector<std::string>& skip = {}) {
  Issues issues;
  report_broken_rules(draft.problem(), plan, "run.json", skip, issues);
  return issues;
}

const Issue* at(const Issues& issues, std::string_view pointer) {
  const Issue* found = nullptr;
  for (const Issue& i : issues.all()) {
    if (i.pointer != pointer) continue;
    if (found != nullptr) return nullptr;  // one issue a field
    found = &i;
  }
  return found;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a legal plan gives no issue") {
  Draft draft;
  CHECK(issues_of(draft, problems::main_plan()).all().empty());
}

TEST_CASE("tp 6 is one issue that names every reason and the legal values") {
  Draft draft;
  const Issues issues = issues_of(draft, completed({.tp = 6, .dp = 170}));
  REQUIRE(issues.all().size() == 1);
  const Issue& issue = issues.all().front();
  CHECK(issue.level == Severity::Error);
  CHECK(issue.rule == "tp-divides-gpus");
  CHECK(issue.file == "run.json");
  CHECK(issue.pointer == "/tp");
  CHECK(issue.got == "6");
  CHECK(has(issue.must, "num_attention_heads (64 heads / tp 6)"));
  CHECK(has(issue.must, "num_key_value_heads"));
  CHECK(has(issue.must, "8 KV heads / tp 6 = 1.333 heads a rank"));
  CHECK(has(issue.must, "intermediate_size (28672 / tp 6)"));
  CHECK(has(issue.must, "hidden_size (8192 / tp 6)"));
  CHECK(issue.hint == "try 1, 2, 4 or 8 (tp 8 with dp 128)");
  CHECK(has(issue.source, "Megatron-LM core 0.20.0: megatron/training/arguments.py, megatron/core/"));
}

TEST_CASE("a hint holds the nearest values that keep every rule of the field") {
  struct Row {
    Plan plan;
    const char *pointer, *hint;
  };
  const Row rows[] = {
      // 80 layers and 128 GPUs: 5 and 10 stages hold equal layers, but do not divide the GPUs
      {completed({.tp = 8, .pp = 3, .dp = 42}), "/pp", "try 1, 2, 4, 8 or 16"},
      {completed({.tp = 8, .pp = 4, .vpp = 3, .dp = 32}), "/vpp", "try 1, 2, 4 or 5"},
      {completed({.tp = 8, .pp = 4, .dp = 31}), "/dp", "try 32; or run on 992 GPUs"},
  };
  for (const Row& row : rows) {
    Draft draft;
    const Issues issues = issues_of(draft, row.plan);
    const Issue* issue = at(issues, row.pointer);
    CAPTURE(row.pointer);
    REQUIRE(issue != nullptr);
    CHECK(issue->hint == row.hint);
  }
}

TEST_CASE("a batch and a sequence that do not divide get a neighbour that does") {
  Draft draft;
  draft.recipe.global_batch = 500;
  const Issues batch = issues_of(draft, completed({.tp = 8, .pp = 4, .dp = 32}));
  REQUIRE(at(batch, "/global_batch") != nullptr);
  CHECK(has(at(batch, "/global_batch")->hint, "480"));
  CHECK(has(at(batch, "/global_batch")->hint, "512"));
  Draft odd;
  odd.recipe.sequence = 8190;
  const Issues sequence = issues_of(odd, problems::main_plan());
  REQUIRE(at(sequence, "/sequence") != nullptr);
  CHECK(at(sequence, "/sequence")->got == "8190");
  CHECK(has(at(sequence, "/sequence")->hint, "8184"));
  CHECK(has(at(sequence, "/sequence")->hint, "8192"));
}

TEST_CASE("several fields at once give an issue each") {
  Draft draft;
  draft.recipe.global_batch = 500;
  draft.recipe.sequence = 8191;
  Plan plan = completed({.tp = 8, .pp = 4, .vpp = 3, .dp = 32});
  plan.recompute = Recompute::Layers;
  plan.recompute_layers = 99;
  const Issues issues = issues_of(draft, plan);
  for (const char* pointer : {"/vpp", "/global_batch", "/sequence", "/recompute_layers"}) {
    CAPTURE(pointer);
    CHECK(at(issues, pointer) != nullptr);
  }
  CHECK(issues.all().size() == 4);
  for (const Issue& i : issues.all()) {
    CHECK_FALSE(i.must.empty());
    CHECK_FALSE(i.hint.empty());
  }
}

TEST_CASE("rules say nothing while a field that they depend on is wrong") {
  Draft draft;
  draft.recipe.global_batch = 500;
  draft.recipe.sequence = 8191;
  // sequence: cut by tp; dp, batch and shard group: what the degrees leave; vpp and recompute: layers of a
  // stage
  Plan plan = completed({.tp = 6, .pp = 3, .vpp = 7, .dp = 31});
  plan.recompute = Recompute::Layers;
  plan.recompute_layers = 99;
  const Issues issues = issues_of(draft, plan);
  REQUIRE(issues.all().size() == 2);
  CHECK(at(issues, "/tp") != nullptr);
  CHECK(at(issues, "/pp") != nullptr);
  CHECK(issues_of(draft, plan, {"tp", "pp"}).all().empty());
}

TEST_CASE("without a run file the field is an option") {
  Draft draft;
  Plan plan = problems::main_plan();
  plan.recompute = Recompute::Layers;
  Issues issues;
  report_broken_rules(draft.problem(), plan, "", {}, issues);
  REQUIRE(issues.all().size() == 1);
  CHECK(issues.all().front().file.empty());
  CHECK(issues.all().front().pointer == "--recompute-layers");
}

TEST_CASE("a field with an issue of its own is skipped") {
  Draft draft;
  draft.recipe.sequence = 8191;
  draft.recipe.global_batch = 500;
  const Issues issues = issues_of(draft, problems::main_plan(), {"sequence"});
  CHECK(at(issues, "/sequence") == nullptr);
  CHECK(at(issues, "/global_batch") != nullptr);
}

TEST_CASE("a field that is no number shows its word and the profile") {
  Draft draft;
  Plan plan = problems::main_plan();
  plan.sharding = Sharding::Zero2;
  const Issues issues = issues_of(draft, plan);
  REQUIRE(issues.all().size() == 1);
  CHECK(issues.all().front().pointer == "/sharding");
  CHECK(issues.all().front().got == "zero2");
  CHECK(has(issues.all().front().must, "megatron-lm, sharding zero2"));
}
