#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "found.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/load_failures.hpp"
#include "trainplan/io/shipped.hpp"

using namespace trainplan;

namespace {

ClusterSpec cluster(const std::string& text) {
  Issues issues;
  const auto c = load_cluster_text(text, "c.json", issues);
  CAPTURE(listed(issues));
  REQUIRE(c);
  return **c;
}

Issues mistakes(const std::string& text) {
  Issues issues;
  CHECK_FALSE(load_cluster_text(text, "c.json", issues));
  CHECK(complete(issues));
  return issues;
}

}  // namespace

TEST_CASE("the shipped cluster of 1,024 H100") {
  Issues issues;
  const auto c = load_cluster("h100x1024", issues);
  CAPTURE(listed(issues));
  REQUIRE(c);
  CHECK((*c)->origin == "shipped:clusters/h100x1024.json");
  CHECK((*c)->name == "h100x1024");
  CHECK((*c)->gpus() == 1024);
  CHECK((*c)->scale_up_domain == 8);
  const Accelerator& a = (*c)->accelerator;
  CHECK(a.id == "h100-sxm");
  CHECK(a.bf16_dense.value == 989e12);
  CHECK(a.bf16_dense.origin == "h100-sxm.json /bf16_dense");
  CHECK_FALSE(a.bf16_dense.source.empty());
  CHECK_FALSE(a.fp4_dense.known);
  CHECK(a.usable_memory.value == 79.6 * 0x1p30);
  CHECK(a.scale_up_bandwidth.value == 450e9);
  CHECK(a.scale_up_domain == 8);
  CHECK(a.tdp.value == 700);
  CHECK((*c)->nic_per_gpu.value == 50e9);
  CHECK((*c)->gpu_mtbf.value == 50000.0 * 3600);
  CHECK((*c)->gpu_mtbf.origin == "h100x1024.json /reliability/gpu_mtbf");
  CHECK((*c)->price.value == 2.5 / 3600);
  CHECK((*c)->price.assumed);
}

TEST_CASE("unknown reliability stays unknown") {
  Issues issues;
  const auto c = load_cluster("a100x384", issues);
  REQUIRE(c);
  CHECK_FALSE((*c)->gpu_mtbf.known);
  CHECK((*c)->gpu_mtbf.origin == "a100x384.json /reliability/gpu_mtbf");
}

TEST_CASE("every shipped config loads without an error") {
  for (const Shipped& s : shipped()) {
    Issues issues;
    const std::string name(s.name);
    bool ok = true;
    if (s.kind == "models") ok = load_model(name, issues).has_value();
    if (s.kind == "clusters") ok = load_cluster(name, issues).has_value();
    if (s.kind == "frameworks") ok = load_framework(name, issues).has_value();
    if (s.kind == "calibration") ok = load_calibration(issues, name).has_value();
    if (s.name == "anchors") ok = !anchors(issues).empty();
    if (s.name == "failures") ok = !failure_records(issues).empty();
    if (s.kind == "runs") ok = load_run(name, issues).has_value();
    if (s.kind == "accelerators") {
      const std::string text =
          R"({"accelerator": ")" + name + R"(", "nodes": 8, "gpus_per_node": 8, "scale_up_domain": 1,
                                   "nic_per_gpu": {"value": "1 GB/s", "source": "test"},
                                   "pcie": {"value": "32 GB/s", "source": "test"}})";
      ok = load_cluster_text(text, "c.json", issues).has_value();
    }
    CAPTURE(s.kind, s.name, listed(issues));
    CHECK(ok);
    CHECK_FALSE(issues.has_errors());
  }
}

TEST_CASE("an accelerator may be changed figure by figure") {
  const ClusterSpec c = cluster(R"({"accelerator": {"base": "h100-sxm", "memory": "96 GB", "fp8_dense": null,
      "scale_up": {"bandwidth": "200 GB/s"}}, "nodes": 2, "gpus_per_node": 8})");
  CHECK(c.accelerator.id == "h100-sxm");
  CHECK(c.accelerator.memory.value == 96e9);
  CHECK(c.accelerator.memory.origin == "c.json /accelerator/memory");
  CHECK_FALSE(c.accelerator.fp8_dense.known);
  CHECK(c.accelerator.scale_up_bandwidth.value == 200e9);
  CHECK(c.accelerator.scale_up_domain == 8);
  CHECK(c.accelerator.bf16_dense.origin == "h100-sxm.json /bf16_dense");
  CHECK(c.nic_per_gpu.value == 50e9);  // the accelerator's, where the cluster says nothing
  CHECK(c.scale_up_domain == 8);
  CHECK_FALSE(c.pcie.known);
  CHECK(c.pcie.origin == "c.json /pcie");  // what is missing has a place too
  CHECK(c.detect.origin == "c.json /reliability/detect");
}

TEST_CASE("an accelerator file is found beside the cluster file") {
  namespace fs = std::filesystem;
  const fs::path here = fs::temp_directory_path() / "trainplan_cluster_test";
  fs::create_directories(here);
  std::ofstream(here / "mine.json") << R"({"name": "mine", "bf16_dense": "1 PFLOP/s", "memory": "100 GB",
      "usable_memory": "99 GB", "memory_bandwidth": "2 TB/s", "nic": "100 Gbit/s"})";
  std::ofstream(here / "c.json") << R"({"accelerator": "mine.json", "pcie": "64 GB/s",
      "nodes": 2, "gpus_per_node": 8})";
  Issues issues;
  const auto c = load_cluster((here / "c.json").string(), issues);
  std::ofstream(here / "mine.json") << "{\n\"memory\": \"100 G\", \"bf16\": 1}";
  Issues broken;
  CHECK_FALSE(load_cluster((here / "c.json").string(), broken));
  const std::string mine = (here / "mine.json").string();
  fs::remove_all(here);
  CAPTURE(listed(issues), listed(broken));
  REQUIRE(c);
  CHECK((*c)->accelerator.id == "mine");
  CHECK((*c)->accelerator.bf16_dense.value == 1e15);
  CHECK((*c)->accelerator.bf16_dense.origin == mine + " /bf16_dense");
  const Issue* unit = find_issue(broken, "quantity", "/memory");
  REQUIRE(unit != nullptr);
  CHECK(unit->file == mine);
  CHECK(unit->line == 2);
  CHECK(unit->column == 11);
  CHECK(find_issue(broken, "unknown-key", "/bf16")->hint == "did you mean \"bf16_dense\"?");
}

TEST_CASE("every mistake of a cluster file is reported at its place") {
  const Issues issues = mistakes(R"({
  "accelerator": {"base": "h100-sxm", "memry": "96 GB"},
  "nodes": 7.9,
  "gpus_per_node": "8",
  "nic_per_gpu": {"value": "400", "source": "x"},
  "storage": {"write": "50 GB", "read": {"value": "-5 GB/s"}},
  "reliability": 5,
  "price": {"source": "x"},
  "nodez": 3,
  "_note": {"anything": 1}
})");
  CAPTURE(listed(issues));
  const auto at = [&](const char* rule, const char* pointer, int line, int column, const char* hint) {
    const Issue* i = find_issue(issues, rule, pointer);
    CAPTURE(rule, pointer);
    REQUIRE(i != nullptr);
    CHECK(i->line == line);
    CHECK(i->column == column);
    CHECK(i->hint == hint);
  };
  at("unknown-key", "/accelerator/memry", 2, 39, "did you mean \"memory\"?");
  at("integer", "/nodes", 3, 12, "try 8");
  at("integer", "/gpus_per_node", 4, 20, "try 8");
  at("quantity", "/nic_per_gpu/value", 5, 28, "give a data rate such as 450 GB/s or 400 Gbit/s");
  at("quantity", "/storage/write", 6, 24, "give a data rate such as 450 GB/s or 400 Gbit/s");
  at("positive", "/storage/read", 6, 41, "give a positive value, or \"unknown\" where that is allowed");
  at("object", "/reliability", 7, 18, "write { ... }");
  at("missing-key", "/price/value", 8, 12, "add \"value\": \"...\", or null when it is not known");
  at("unknown-key", "/nodez", 9, 3, "did you mean \"nodes\"?");
  CHECK(issues.all().size() == 9);
  for (std::size_t i = 1; i < issues.all().size(); ++i)
    CHECK(issues.all()[i - 1].line <= issues.all()[i].line);
}

TEST_CASE("what hangs on an accelerator that is not there is not reported too") {
  const Issues issues = mistakes(R"({"accelerator": "h100-smx", "nodes": 2, "gpus_per_node": 8})");
  REQUIRE(issues.all().size() == 1);
  CHECK(issues.all()[0].rule == "not-found");
  CHECK(issues.all()[0].pointer == "/accelerator");
  CHECK(issues.all()[0].column == 17);
  CHECK(issues.all()[0].hint == "did you mean \"h100-sxm\"?");
}

TEST_CASE("rules between the fields of a cluster") {
  const std::string head = R"({"accelerator": "h100-sxm", "nodes": 12, "gpus_per_node": 8, )";
  const Issues domain = mistakes(head + R"("scale_up_domain": 5})");
  REQUIRE(find_issue(domain, "scale-up-domain", "/scale_up_domain") != nullptr);
  CHECK(find_issue(domain, "scale-up-domain", "/scale_up_domain")->hint == "try 8");
  const Issues link =
      mistakes(R"({"accelerator": "rtx-4090", "nodes": 1, "gpus_per_node": 8, "scale_up_domain": 8,
                                   "nic_per_gpu": "1 GB/s"})");
  CHECK(find_issue(link, "positive", "/scale_up/bandwidth") != nullptr);
  const Issues network = mistakes(R"({"accelerator": "rtx-4090", "nodes": 2, "gpus_per_node": 1})");
  CHECK(find_issue(network, "figure-required", "/nic_per_gpu") != nullptr);
  const Issues memory =
      mistakes(R"({"accelerator": {"base": "h100-sxm", "usable_memory": "96 GB"}, "nodes": 1,
                                     "gpus_per_node": 8})");
  REQUIRE(find_issue(memory, "usable-memory", "/accelerator/usable_memory") != nullptr);
  CHECK(find_issue(memory, "usable-memory", "/accelerator/usable_memory")->column == 55);
}

TEST_CASE("every shipped figure has a source") {
  for (const Shipped& s : shipped()) {
    if (s.kind != "clusters") continue;
    Issues issues;
    const auto c = load_cluster(s.name, issues);
    REQUIRE(c);
    const Accelerator& a = (*c)->accelerator;
    for (const Figure* f :
         {&a.bf16_dense, &a.fp8_dense, &a.fp4_dense, &a.memory, &a.usable_memory, &a.memory_bandwidth,
          &a.scale_up_bandwidth, &a.nic, &a.tdp, &(*c)->nic_per_gpu, &(*c)->pcie, &(*c)->storage_write,
          &(*c)->storage_read, &(*c)->gpu_mtbf, &(*c)->detect, &(*c)->restart, &(*c)->load, &(*c)->price}) {
      CAPTURE(f->origin);
      CHECK((!f->known || !f->source.empty()));
    }
  }
}

TEST_CASE("calibration and anchors") {
  Issues issues;
  const auto c = load_calibration(issues);
  CAPTURE(listed(issues));
  REQUIRE(c);
  CHECK((*c)->capacity_gate.value == 0.9);
  CHECK((*c)->planning_margin.value == 0.3);
  CHECK((*c)->time.ring_step.value == 3e-6);
  CHECK((*c)->time.scale_up_rate.value == 0.8);
  CHECK((*c)->cuda_context.origin == "baseline.json /cuda_context");
  CHECK_FALSE(load_calibration_text(R"({"capacity_gate": "130 %"})", "x.json", issues));
  CHECK(find_issue(issues, "share", "/capacity_gate") != nullptr);
  CHECK(find_issue(issues, "figure-required", "/cuda_context") != nullptr);

  Issues odd;
  const auto list = load_anchors_text(R"([{"id": "a", "title": "t", "value": "70 GiB", "source": "s"},
 {"id": "b", "value": "5 parsecs"}])",
                                      "a.json", odd);
  REQUIRE(list.size() == 2);
  CHECK(list[0].dim == kBytes);
  CHECK(list[0].value.value == 70 * 0x1p30);
  CHECK(list[0].value.source == "s");
  CHECK(find_issue(odd, "quantity", "/1/value") != nullptr);
}

TEST_CASE("the list of shipped configs has names, titles and aliases") {
  const auto models = list_shipped("models");
  const auto llama =
      std::find_if(models.begin(), models.end(), [](const Listed& l) { return l.name == "llama70b"; });
  REQUIRE(llama != models.end());
  CHECK(std::find(llama->aliases.begin(), llama->aliases.end(), "llama-3-70b") != llama->aliases.end());
  const auto gpus = list_shipped("accelerators");
  CHECK(std::any_of(gpus.begin(), gpus.end(),
                    [](const Listed& l) { return l.name == "h100-sxm" && !l.title.empty(); }));
}

TEST_CASE("links that the traffic of a cluster needs are required") {
  // 8 GPUs of a node without a scale-up link talk over PCIe, nodes over NICs.
  Issues issues;
  CHECK_FALSE(load_cluster_text(
      R"({"accelerator": "rtx-4090", "nodes": 2, "gpus_per_node": 8, "scale_up_domain": 1})", "c.json",
      issues));
  CHECK(listed(issues).find("/pcie") != std::string::npos);
  CHECK(listed(issues).find("/nic_per_gpu") != std::string::npos);
  Issues one_gpu;
  CHECK(load_cluster_text(
      R"({"accelerator": "rtx-4090", "nodes": 1, "gpus_per_node": 1, "scale_up_domain": 1})", "c.json",
      one_gpu));
}

TEST_CASE("the doubled sparse peak of a known device is refused, by the dense figure") {
  const char* const doubled[] = {
      R"({"accelerator": {"base": "h100-sxm", "bf16_dense": "1979 TFLOP/s"}, "nodes": 2, "gpus_per_node": 8})",
      R"({"accelerator": {"base": "a100-sxm-80", "bf16_dense": "624 TFLOP/s"}, "nodes": 2, "gpus_per_node": 8})",
      R"({"accelerator": {"base": "h100-pcie", "bf16_dense": "1513 TFLOP/s"}, "nodes": 2, "gpus_per_node": 8})"};
  for (const char* text : doubled) {
    CAPTURE(text);
    const Issues issues = mistakes(text);
    const Issue* issue = find_issue(issues, "sparse-peak", "/accelerator/bf16_dense");
    REQUIRE(issue);
    CHECK(issue->must.find("TFLOP/s") != std::string::npos);
    CHECK(issue->line == 1);
  }
}

TEST_CASE("a device of one's own is known by its name") {
  const std::string rest =
      R"("memory": "80 GB", "usable_memory": "79 GiB", "memory_bandwidth": "3 TB/s", "nic": "50 GB/s",
         "scale_up": {"bandwidth": "450 GB/s", "domain": 8}}, "nodes": 2, "gpus_per_node": 8})";
  const auto own = [&](const char* name, const char* peak) {
    return std::string(R"({"accelerator": {"name": ")") + name + R"(", "bf16_dense": ")" + peak + "\", " +
           rest;
  };
  const Issues issues = mistakes(own("H100", "1979 TFLOP/s"));
  const Issue* issue = find_issue(issues, "sparse-peak", "/accelerator/bf16_dense");
  REQUIRE(issue);
  CHECK(issue->must.find("989 TFLOP/s") != std::string::npos);
  CHECK(cluster(own("H100", "989 TFLOP/s")).accelerator.bf16_dense.value == 989e12);
  // Another device may well have twice the peak of one that is shipped.
  CHECK(cluster(own("TPU v6e", "918 TFLOP/s")).accelerator.bf16_dense.value == 918e12);
  CHECK(cluster(own("own chip", "1979 TFLOP/s")).accelerator.bf16_dense.value == 1979e12);
}
