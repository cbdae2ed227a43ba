#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "found.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/run_fields.hpp"

using namespace trainplan;

namespace {

RunSpec run_of(const std::string& text) {
  Issues issues;
  const auto run = load_run_text(text, "run.json", issues);
  CAPTURE(listed(issues));
  REQUIRE(run);
  CHECK(issues.all().empty());
  return *run;
}

Issue field_mistake(std::string_view key, std::string_view text) {
  RunSpec run;
  Issues issues;
  CAPTURE(key, text);
  CHECK_FALSE(set_field(run, key, text, issues));
  REQUIRE(issues.all().size() == 1);
  return issues.all().front();
}

}  // namespace

TEST_CASE("values of a run file arrive in base units") {
  const RunSpec r = run_of(R"({
    "model": "llama70b", "cluster": "h100x1024", "framework": "torchtitan",
    "sequence": "32Ki", "global_batch": "4Mi tokens", "micro_batch": 2, "tp": 8, "pp": 4, "vpp": 5, "cp": 2, "dp": 16,
    "shard_size": 8, "sharding": "hsdp", "sequence_parallel": true, "reshard_after_forward": false,
    "gradient_sync": "micro-batch", "schedule": "interleaved", "recompute": "layers", "recompute_layers": 3,
    "gradient_dtype": "bf16", "reduce_dtype": "fp32", "attention": "unfused", "flop_convention": "full",
    "cp_mode": "all-to-all", "tp_overlap": "on", "dp_overlap": "off", "gather_overlap": "off", "fused_mlp": false, "memory_margin": "25%",
    "tokens": "15T", "min_mfu": 0.4, "max_step_time": "5s", "max_memory": "70 GiB", "_comment": "x"})");
  CHECK(r.origin == "run.json");
  CHECK(r.model == "llama70b");
  CHECK(r.framework == "torchtitan");
  CHECK(r.sequence == 32768);
  CHECK(r.global_batch->amount == 4194304);
  CHECK(r.global_batch->in_tokens);
  CHECK(r.micro_batch == 2);
  CHECK(r.tp == 8);
  CHECK(r.pp == 4);
  CHECK(r.vpp == 5);
  CHECK(r.cp == 2);
  CHECK(r.dp == 16);
  CHECK(r.shard_size == 8);
  CHECK(r.sharding == Sharding::Hsdp);
  CHECK(r.sequence_parallel == true);
  CHECK(r.reshard_after_forward == false);
  CHECK(r.sync_each_micro_batch == true);
  CHECK(r.schedule == Schedule::Interleaved);
  CHECK(r.recompute == Recompute::Layers);
  CHECK(r.recompute_layers == 3);
  CHECK(r.gradient_dtype == DType::Bf16);
  CHECK(r.reduce_dtype == DType::Fp32);
  CHECK(r.attention == Attention::Unfused);
  CHECK(r.flop_convention == FlopConvention::Full);
  CHECK(r.cp_mode == CpMode::AllToAll);
  CHECK(r.tp_overlap == true);
  CHECK(r.dp_overlap == false);
  CHECK(r.gather_overlap == false);
  CHECK(r.fused_mlp == false);
  CHECK(r.memory_margin == 0.25);
  CHECK(r.tokens == 15e12);
  CHECK(r.limits.min_mfu == 0.4);
  CHECK(r.limits.max_step_time == 5);
  CHECK(r.limits.max_memory == 70 * 0x1p30);
}

TEST_CASE("all mistakes of a run file come at once, and the good fields are still set") {
  Issues issues;
  const auto run = load_run_text(R"({
  "model": "llama70b",
  "tp": 6, "sequence": "x",
  "pp": 7.9, "dp": -1, "cp": true,
  "sharding": "zero9", "recompute": ["full"], "tokns": 5,
  "sequence-parallel": true, "max_step_time": 5
})",
                                 "run.json", issues);
  CAPTURE(listed(issues));
  CHECK(complete(issues));
  REQUIRE(run);
  CHECK(run->model == "llama70b");
  CHECK(run->tp == 6);
  CHECK_FALSE(run->sequence);
  CHECK_FALSE(run->pp);
  const auto at = [&](const char* rule, const char* pointer, int line, int column, const char* hint) {
    const Issue* i = find_issue(issues, rule, pointer);
    CAPTURE(rule, pointer);
    REQUIRE(i != nullptr);
    CHECK(i->file == "run.json");
    CHECK(i->line == line);
    CHECK(i->column == column);
    CHECK(i->hint == hint);
  };
  at("integer", "/sequence", 3, 24, "try 8192");
  at("integer", "/pp", 4, 9, "try 7 or 8");
  at("range", "/dp", 4, 20, "try 1");
  at("integer", "/cp", 4, 30, "try 8");
  at("choice", "/sharding", 5, 15, "did you mean \"zero1\"?");
  at("scalar", "/recompute", 5, 37, "try selective");
  at("unknown-key", "/tokns", 5, 47, "did you mean \"tokens\"?");
  at("unknown-key", "/sequence-parallel", 6, 3, "did you mean \"sequence_parallel\"?");
  at("quantity", "/max_step_time", 6, 47, "try 5s");
  CHECK(issues.all().size() == 9);
}

TEST_CASE("integers are integers") {
  for (const char* text :
       {"7.9", "-1", "0", "true", "x", "", "8 GB", "8%", "8 sequences", "nan", "1e7", "99999999999999999999"})
    for (const char* key : {"tp", "micro-batch", "shard_size"}) {
      const Issue i = field_mistake(key, text);
      CHECK((i.rule == "integer" || i.rule == "range"));
      CHECK(i.must == "be an integer from 1 to 65535");
      CHECK(i.hint.substr(0, 4) == "try ");
    }
  RunSpec run;
  Issues issues;
  CHECK(set_field(run, "tp", "8", issues));
  CHECK(set_field(run, "sequence", "128Ki tokens", issues));
  CHECK(run.tp == 8);
  CHECK(run.sequence == 131072);
}

TEST_CASE("the global batch is sequences unless it says tokens") {
  const auto batch = [](std::string_view text) {
    RunSpec run;
    Issues issues;
    REQUIRE(set_field(run, "global-batch", text, issues));
    return *run.global_batch;
  };
  CHECK(batch("512").amount == 512);
  CHECK_FALSE(batch("512").in_tokens);
  CHECK_FALSE(batch("512 sequences").in_tokens);
  CHECK(batch("4Mi-tokens").amount == 4194304);
  CHECK(batch("4Mi-tokens").in_tokens);
  CHECK(field_mistake("global_batch", "512.5").hint == "try 512 or 513 sequences");
  CHECK(field_mistake("global_batch", "4 GB").hint == "try 512 sequences or 4Mi-tokens");
  CHECK(field_mistake("global_batch", "50%").rule == "quantity");
}

TEST_CASE("choices have aliases; a wrong one gets the usual names") {
  RunSpec run;
  Issues issues;
  CHECK(set_field(run, "sharding", "FSDP", issues));
  CHECK(run.sharding == Sharding::Zero3);
  CHECK(set_field(run, "sharding", "distributed-optimizer", issues));
  CHECK(run.sharding == Sharding::Zero1);
  CHECK(set_field(run, "gradient-sync", "step", issues));
  CHECK(run.sync_each_micro_batch == false);
  CHECK(field_mistake("gradient_dtype", "fp8").must == "be fp32, bf16 or fp16");
  CHECK(field_mistake("schedule", "1f1").hint == "did you mean \"1f1b\"?");
  CHECK(field_mistake("sequence_parallel", "maybe").must == "be true or false");
}

TEST_CASE("shares, times and sizes need their unit and their range") {
  CHECK(field_mistake("memory_margin", "130%").must == "be from 0 to 0.99");
  CHECK(field_mistake("min_mfu", "40").hint == "try 40%");
  CHECK(field_mistake("max_step_time", "5").must == "be a time; it has no unit");
  CHECK(field_mistake("max_memory", "70").hint == "try 70GiB");
  CHECK(field_mistake("tokens", "1e400").rule == "quantity");
}

TEST_CASE("an option names itself where there is no file") {
  CHECK(field_mistake("micro_batch", "x").pointer == "--micro-batch");
  const Issue unknown = field_mistake("micro_bach", "1");
  CHECK(unknown.rule == "unknown-key");
  CHECK(unknown.pointer == "--micro-bach");
  CHECK(unknown.hint == "did you mean \"micro_batch\"?");
}

TEST_CASE("pins set several fields and report every bad part") {
  RunSpec run;
  Issues issues;
  CHECK(set_pins(run, "tp=8, pp=16,gradient-dtype=bf16", issues));
  CHECK(run.tp == 8);
  CHECK(run.pp == 16);
  CHECK(run.gradient_dtype == DType::Bf16);
  CHECK_FALSE(set_pins(run, "tp=x,pp,cp=2,foo=1", issues));
  CHECK(run.cp == 2);
  CHECK(issues.all().size() == 3);
  CHECK(find_issue(issues, "integer", "--tp") != nullptr);
  CHECK(find_issue(issues, "pin", "--pin") != nullptr);
  CHECK(find_issue(issues, "unknown-key", "--foo") != nullptr);
}

TEST_CASE("layers to recompute imply that mode") {
  const RunSpec r = run_of(R"({"recompute_layers": 4})");
  CHECK(r.recompute == Recompute::Layers);
  Issues issues;
  CHECK(load_run_text(R"({"recompute": "full", "recompute_layers": 4})", "run.json", issues));
  CHECK(issues.all().empty());  // of no effect, which a plan tells
  Issues alone;
  CHECK(load_run_text(R"({"recompute": "layers"})", "run.json", alone));
  CHECK(find_issue(alone, "recompute-layers", "/recompute") != nullptr);
}

TEST_CASE("the example of every field is legal, and the field finds itself in both spellings") {
  for (const RunField& f : run_fields()) {
    CAPTURE(f.key);
    RunSpec run;
    Issues issues;
    CHECK(set_field(run, f.key, f.example, issues));
    CHECK(issues.all().empty());
    CHECK_FALSE(f.help.empty());
    CHECK_FALSE(f.type.empty());
    std::string dashed(f.key);
    std::replace(dashed.begin(), dashed.end(), '_', '-');
    CHECK(find_run_field(dashed) == &f);
  }
  CHECK(find_run_field("none") == nullptr);
}

TEST_CASE("a run file names the files that lie beside it") {
  namespace fs = std::filesystem;
  const fs::path here = fs::temp_directory_path() / "trainplan_run_test";
  fs::create_directories(here);
  std::ofstream(here / "mine.json") << "{}";
  std::ofstream(here / "run.json") << R"({"model": "mine", "cluster": "h100x1024"})";
  Issues issues;
  const auto run = load_run((here / "run.json").string(), issues);
  fs::remove_all(here);
  REQUIRE(run);
  CHECK(run->model == (here / "mine.json").string());
  CHECK(run->cluster == "h100x1024");
}
