#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "../../../src/io/measured_cluster.hpp"
#include "../../../src/io/measured_rules.hpp"
#include "../../../src/io/measured_run.hpp"
#include "catch.hpp"
#include "loading.hpp"
#include "trainplan/cost/plan_cost.hpp"
#include "trainplan/io/load_measured.hpp"

using namespace trainplan;

namespace {

const std::string kHeader =
    "id,source,model,layers,hidden,heads,kv_heads,ffn,vocab,moe_experts,moe_topk,moe_ffn,gpu,gpus,"
    "interconnect,seq,gbs_sequences,mbs,tp,pp,vp,ep,zero_or_fsdp,precision,recompute,step_time_s,"
    "tokens_per_s_per_gpu,peak_mem_gib,notes\n";

std::optional<MeasuredTable> load(const std::string& text, Issues& issues) {
  return load_measured_text(text, "runs.csv", issues);
}
MeasuredTable loaded(const std::string& text) { return loaded_by(load, text); }
MeasuredRun only(const std::string& row) { return loaded(kHeader + row + "\n").rows.at(0); }
Issues mistakes(const std::string& text) { return mistakes_by(load, text); }

bool has(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

const MeasuredTable& shipped_rows() {
  static const MeasuredTable table = [] {
    Issues issues;
    auto t = load_measured("measured", issues);
    REQUIRE(t);
    CHECK(issues.all().empty());
    return std::move(*t);
  }();
  return table;
}
const MeasuredRun& shipped_row(std::string_view id) {
  for (const MeasuredRun& row : shipped_rows().rows)
    if (row.id == id) return row;
  FAIL(id);
  return shipped_rows().rows.front();
}

}  // namespace

TEST_CASE("a row of an unknown source and model works from its columns") {
  const MeasuredRun row = only(
      "mine,lab,our-13b,40,5120,40,8,13824,32000,,,,H100,64,400 Gb/s per GPU,8192,256,2,4,2,2,,distopt,fp8,"
      "selective,3.5,,61.5,recompute modules layernorm+mlp");
  REQUIRE(row.run != nullptr);
  CHECK(row.skipped.empty());
  CHECK(row.step_time == 3.5);
  CHECK(row.peak == 61.5 * 0x1p30);
  const Problem& x = row.run->problem();
  const Plan& p = row.run->plan();
  CHECK(x.model().kv_heads == 8);
  CHECK(x.cluster().accelerator.id == "h100-sxm");
  CHECK(x.cluster().nodes == 8);
  CHECK(x.cluster().nic_per_gpu.value == 50e9);
  CHECK(x.profile().id == "megatron-lm");
  CHECK(x.recipe.stack == Stack::MegatronCore);
  CHECK(x.recipe.matmul == Matmul::Fp8);
  CHECK(p.tp == 4);
  CHECK(p.pp == 2);
  CHECK(p.vpp == 2);
  CHECK(p.dp == 8);
  CHECK(p.modules == (bit(Module::LayerNorm) | bit(Module::Mlp)));
  CHECK(micro_batches(x, p) == 16);
  CHECK_FALSE(row.remarks.empty());  // says what shape was taken
}

TEST_CASE("a mixture of an unknown source") {
  const MeasuredRun row = only(
      "moe,lab,our-moe,24,2048,16,4,,64000,64,6,1024,B200,8,,4096,64,1,1,1,,8,distopt,bf16,,,12000,,"
      "HybridEP");
  REQUIRE(row.run != nullptr);
  CHECK(row.sparse);
  CHECK(row.step_time == 64 * 4096 / (12000.0 * 8));
  CHECK(row.run->problem().model().experts.count == 64);
  CHECK(row.run->problem().recipe.dispatcher == Dispatcher::HybridEp);
  CHECK(row.run->plan().ep == 8);
  CHECK(has(row.assumed, "recompute none"));
}

TEST_CASE("the sharding of an unknown source names the profile and the stack") {
  const auto problem = [](const std::string& sharding) {
    return only("a,lab,llama3-8b,,,,,,,,,,H100,16,,8192,64,1,1,1,,," + sharding + ",bf16,none,2,,,").run;
  };
  CHECK(problem("fsdp2")->problem().recipe.stack == Stack::TorchtitanCompiled);
  CHECK(problem("fsdp")->problem().recipe.stack == Stack::Unknown);
  CHECK(problem("\"hsdp(shard 8)\"")->plan().shard == 8);
  CHECK(problem("\"fsdp(megatron, shard 16)\"")->problem().profile().id == "megatron-lm");
  CHECK(problem("zero2")->problem().profile().id == "deepspeed");
  CHECK(problem("")->problem().recipe.stack == Stack::Unknown);
}

TEST_CASE("a row without what is needed is skipped with the reason") {
  CHECK(only("a,lab,our-13b,,,,,,,,,,H100,8,,8192,64,,,,,,,,,1,,,").skipped ==
        "no shape: layers, hidden and heads not stated");
  CHECK(only("a,lab,llama3-8b,,,,,,,,,,Z9000,8,,8192,64,,,,,,,,,1,,,").skipped == "no accelerator Z9000");
  CHECK(only("a,lab,llama3-8b,,,,,,,,,,TPUv4,8,,8192,64,,,,,,,,,1,,,").skipped == "not a GPU");
  CHECK(only("a,lab,llama3-8b,,,,,,,,,,H100,8,,,64,,,,,,,,,1,,,").skipped == "seq not stated");
  CHECK(only("a,lab,llama3-8b,,,,,,,,,,H100,8,,8192,64,,,,,,,,,,,,").skipped ==
        "neither its step time nor its memory is given");
  const MeasuredRun grid = only("a,lab,llama3-8b,,,,,,,,,,H100,8,,8192,64,,3,,,,,,,1,,,");
  CHECK(grid.run == nullptr);
  CHECK(grid.skipped.find("tp-divides-gpus") != std::string::npos);
}

TEST_CASE("a run that took place may break rules about even cuts") {
  const MeasuredRun row =
      only("a,lab,deepseek-v3,,,,,,,,,,GB300,256,,4096,4096,1,1,2,8,32,distopt,fp8-mx,none,10,,,");
  REQUIRE(row.run != nullptr);
  CHECK(has(row.broken, "pp-divides-layers"));
  CHECK(row.run->problem().cluster().scale_up_domain == 64);  // of 72, so that domains are alike
  std::int64_t layers = 0;
  for (int s = 0; s < 2; ++s) layers += stage_layers(row.run->problem().model(), row.run->plan(), s);
  CHECK(layers == 61);
}

TEST_CASE("micro-batches that do not divide the batch come near to the ones that ran") {
  CHECK(fitting_micro_batch(32, 12) == 8);  // 12, 12 and 8 sequences: 4 for 3 micro-batches
  CHECK(fitting_micro_batch(64, 24) == 16);
  CHECK(fitting_micro_batch(7, 4) == 7);  // one for 4 and 3, nearer than seven
  const MeasuredRun row = only("a,lab,llama3-8b,,,,,,,,,,H100,8,,8192,256,12,1,1,,,fsdp2,bf16,none,2,,,");
  REQUIRE(row.run != nullptr);
  CHECK(row.run->plan().micro_batch == 8);
  CHECK(row.run->problem().recipe.global_batch == 256);
  CHECK(row.assumed.size() == 1);
}

TEST_CASE("words that are not understood are told, not taken for something") {
  const MeasuredRun row = only("a,lab,llama3-8b,,,,,,,,,,H100,8,,8192,64,1,1,1,,,distopt,int4,some,2,,,");
  REQUIRE(row.run != nullptr);
  CHECK(has(row.assumed, "precision left out: \"int4\" is not understood"));
  CHECK(has(row.assumed, "recompute left out: \"some\" is not understood"));
}

TEST_CASE("a shipped model may be named, and cut to fewer layers") {
  const MeasuredRun whole =
      only("a,lab,qwen2.5-72b,,,,,,,,,,H100,32,,4096,64,1,8,4,,,distopt,bf16,none,2,,,");
  REQUIRE(whole.run != nullptr);
  CHECK(whole.run->problem().model().layers == 80);
  const MeasuredRun cut =
      only("a,lab,gpt-oss-20b,6,2880,64,8,,,32,4,2880,H100,8,,4096,64,1,1,1,,8,distopt,bf16,none,2,,,");
  INFO(cut.skipped);
  REQUIRE(cut.run != nullptr);
  CHECK(cut.run->problem().model().layers == 6);
  CHECK(cut.sparse);
}

TEST_CASE("damaged tables are refused or read, and every mistake has a place") {
  const std::string text = [] {
    std::string out = kHeader;
    for (const char* model : {"llama3-8b", "deepseek-v3", "gpt-oss-20b", "mpt-7b", "our-13b"})
      out += std::string(model) + "-row,lab," + model +
             ",24,2048,16,16,8192,32000,,,,H100,64,400 Gb/s per "
             "GPU,2048,128,2,2,2,2,,distopt,bf16,full,2,100,40,"
             "\"x; y\"\n";
    return out;
  }();
  std::uint64_t state = 1;
  const auto below = [&](std::size_t n) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(state >> 33) % n;
  };
  constexpr std::string_view kLetters = ",\"\n\r0123456789.-e*;\x01\xff";
  for (int round = 0; round < 400; ++round) {
    std::string damaged = text;
    for (std::size_t i = 0; i <= below(4); ++i) {
      const std::size_t at = kHeader.size() / 2 + below(damaged.size() - kHeader.size() / 2);
      if (below(2) == 0)
        damaged[at] = kLetters[below(kLetters.size())];
      else
        damaged.erase(at, 1 + below(3));
    }
    Issues issues;
    const auto table = load_measured_text(damaged, "runs.csv", issues);
    CHECK(complete(issues));
    CHECK((table.has_value() || issues.has_errors()));
    for (const Issue& i : issues.all()) CHECK(i.line > 0);
    if (!table) continue;
    for (const MeasuredRun& row : table->rows) CHECK((row.run != nullptr || !row.skipped.empty()));
  }
}

TEST_CASE("mistakes of a table come at once, with line and column") {
  const Issues header = mistakes("id,model,gpu\na,llama3-8b,H100\n");
  std::set<std::string> missing;
  for (const Issue& i : header.all()) missing.insert(i.pointer);
  CHECK(missing == std::set<std::string>{"gpus", "seq", "gbs_sequences"});
  const Issues cells = mistakes(
      "id,model,gpu,gpus,seq,gbs_sequences,step_time_s\n"
      "a,llama3-8b,H100,8,8192,64,fast\n"
      "a,llama3-8b,H100,8.5,8192,64,1\n"
      "b,llama3-8b,H100,8,8192\n"
      ",llama3-8b,H100,8,8192,0,1\n");
  const auto found = [&](int line, std::string_view rule, std::string_view column) {
    return std::any_of(cells.all().begin(), cells.all().end(), [&](const Issue& i) {
      return i.line == line && i.rule == rule && i.pointer == column;
    });
  };
  CHECK(found(2, "number", "step_time_s"));
  CHECK(found(3, "integer", "gpus"));
  CHECK(found(3, "twice", "id"));
  CHECK(found(4, "cells", ""));
  CHECK(found(5, "missing-id", "id"));
  CHECK(found(5, "integer", "gbs_sequences"));
  CHECK(cells.all().size() == 6);
  CHECK(mistakes("").all().at(0).rule == "empty");
  CHECK(mistakes("id,model,gpu,gpus,seq,gbs_sequences\n").all().at(0).rule == "no-rows");
  CHECK(mistakes("id,model,gpu,gpus,seq,gbs_sequences,tp\na,llama3-8b,H100,8,8192,64,1000000\n")
            .all()
            .at(0)
            .rule == "integer");
}

TEST_CASE("a column that is not read is warned about") {
  Issues issues;
  CHECK(load_measured_text("id,model,gpu,gpus,seq,gbs_sequences,colour\na,llama3-8b,H100,8,8192,64,red\n",
                           "runs.csv", issues));
  REQUIRE(issues.all().size() == 1);
  CHECK(issues.all()[0].level == Severity::Warning);
}

TEST_CASE("network rates as people write them") {
  CHECK(nic_bits_of("NVLink 8-GPU node; 4x100 Gb/s RoCE per node", 8) == 50e9);
  CHECK(nic_bits_of("NVLink; 800 Gb/s per node (value in the configs)", 8) == 100e9);
  CHECK(nic_bits_of("RDMA 400 Gb/s per GPU", 8) == 400e9);
  CHECK(nic_bits_of("InfiniBand 8x400 Gb/s class", 8) == 400e9);
  CHECK(nic_bits_of("NVLink (400 GB/s class) + 8x200 Gb/s IB per node", 8) == 200e9);
  CHECK_FALSE(nic_bits_of("NVLink node + 400 Gb/s InfiniBand", 8));  // of what is not said
  CHECK_FALSE(nic_bits_of("InfiniBand", 8));
}

TEST_CASE("GPU names find their accelerator, with the memory where that decides") {
  CHECK(accelerator_of("A100", "40")->id == "a100-sxm-40");
  CHECK(accelerator_of("A100", "")->id == "a100-sxm-80");
  CHECK(accelerator_of("gb200", "186")->id == "gb200");
  CHECK(accelerator_of("GB300", "288")->domain == 72);
  CHECK_FALSE(accelerator_of("", ""));
}

TEST_CASE("names that are no alias are taken for the accelerator that they contain") {
  const auto accelerator = [](const std::string& gpu) {
    const MeasuredRun row =
        only("a,lab,Llama-3.1-70B,,,,,,,,,," + gpu + ",64,,8192,64,1,8,,,,distopt,bf16,none,2,,,");
    return row.run == nullptr ? row.skipped : row.run->problem().cluster().accelerator.id;
  };
  CHECK(accelerator("NVIDIA H100 80GB HBM3") == "h100-sxm");
  CHECK(accelerator("A100-SXM4-40GB") == "a100-sxm-40");
  CHECK(accelerator("H200 SXM") == "h200-sxm");
  CHECK(accelerator("GH200") == "gh200");
  CHECK(accelerator("MI300X") == "mi300x");
  CHECK(accelerator("RTX 4090 D") == "rtx-4090");
  CHECK(accelerator("V100") == "no accelerator V100");
  CHECK(has(only("a,lab,llama3-8b,,,,,,,,,,H200 SXM,8,,8192,64,1,8,,,,distopt,bf16,none,2,,,").assumed,
            "gpu taken as h200-sxm"));
}

TEST_CASE("patterns") {
  CHECK(matches("llama3*", "Llama3-8b"));
  CHECK(matches("*EP overlap on*", "HybridEP, EP overlap on, tuned"));
  CHECK(matches("", ""));
  CHECK_FALSE(matches("", "x"));
  CHECK_FALSE(matches("fsdp", "fsdp2"));
}

TEST_CASE("every standard row of the shipped table that has a figure is a run") {
  const MeasuredTable& table = shipped_rows();
  CHECK(table.rows.size() == 667);
  int standard = 0, ready = 0;
  for (const MeasuredRun& row : table.rows) {
    INFO(row.id << ": " << row.skipped);
    if (row.standing == Standing::Standard && (row.step_time || row.peak)) {
      ++standard;
      ready += row.run != nullptr && row.skipped.empty() ? 1 : 0;
    }
    if (row.run == nullptr) continue;
    const auto cost = evaluate(row.run->problem(), row.run->plan());
    CHECK(std::isfinite(cost.step.step.num()));
    CHECK(cost.step.step.num() > 0);
    std::int64_t layers = 0;
    for (int s = 0; s < row.run->plan().pp; ++s)
      layers += stage_layers(row.run->problem().model(), row.run->plan(), s);
    CHECK(layers == row.run->problem().model().layers);
  }
  CHECK(standard > 600);
  CHECK(ready == standard);
}

TEST_CASE("facts of a source reach its rows") {
  const MeasuredRun& full = shipped_row(
      "megatron-bridge/deepseek-v3_GB300_256_fp8-mx_s4096_gbs4096_mbs1_tp1_pp2_cp1_vp8_ep32_f0@26.08");
  CHECK(full.release == "26.08");
  CHECK(full.run->problem().recipe.graphs == Graphs::Full);
  CHECK(full.run->problem().recipe.mtp_layers == 1);
  const MeasuredRun& vtrain = *std::find_if(shipped_rows().rows.begin(), shipped_rows().rows.end(),
                                            [](const MeasuredRun& r) { return r.source == "vtrain-multi"; });
  CHECK(vtrain.run->problem().recipe.stack == Stack::MegatronDeepSpeed);
  CHECK(has(vtrain.assumed, "vocab 51200"));
  const MeasuredRun& proxy = shipped_row("simumax-b200/llama3.1-405b-l4_tp2_pp1_cp1_ep1_s4096@mbc4");
  CHECK(proxy.run->problem().model().layers == 4);
  CHECK(proxy.run->problem().model().kv_heads == 16);
  CHECK(shipped_row("papers-misc/palm-540b-tpu").standing == Standing::Nonstandard);
}
