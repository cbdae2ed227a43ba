// A file of constants lies over the shipped one, key by key.
#include <filesystem>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "found.hpp"
#include "trainplan/io/load.hpp"

using namespace trainplan;

namespace {

std::optional<Checked<Calibration>> laid(const std::string& text, Issues& issues) {
  const auto path = std::filesystem::temp_directory_path() / "trainplan_constants_test.json";
  std::ofstream(path) << text;
  auto c = load_calibration(issues, path.string());
  std::filesystem::remove(path);
  return c;
}

Calibration over_baseline(const std::string& text) {
  Issues issues;
  const auto c = laid(text, issues);
  INFO(listed(issues));
  REQUIRE(c);
  return **c;
}
Calibration baseline() {
  Issues issues;
  return **load_calibration(issues);
}

const std::string kHalf = R"({"gemm": {"value": "50 %", "source": "own runs"}})";

}  // namespace

TEST_CASE("what a file does not give keeps the shipped value and its origin") {
  const Calibration base = baseline(), c = over_baseline(R"({
    "capacity_gate": {"value": "80 %", "source": "s"},
    "time": {"nic_rate": {"value": "70 %", "source": "s"}},
    "stacks": {"torchtitan": {"host_per_layer": {"value": "2 ms", "source": "s"}, "attention": "best"}}})");
  CHECK(c.capacity_gate.value == 0.8);
  CHECK(c.planning_margin.value == base.planning_margin.value);
  CHECK(c.time.nic_rate.value == 0.7);
  CHECK(c.time.memory_rate.origin == "baseline.json /time/memory_rate");
  const StackConstants &own = c.of(Stack::Torchtitan), &shipped = base.of(Stack::Torchtitan);
  CHECK(own.host_per_layer.value == 0.002);
  CHECK(own.attention == AttentionKernel::Best);
  CHECK(shipped.attention == AttentionKernel::Flash2);
  CHECK(own.slowdown.value == shipped.slowdown.value);
  CHECK(own.eager);
  CHECK(own.early_stop);
}

TEST_CASE("an accelerator that shares constants follows the one it names, until it gives its own") {
  const Calibration base = baseline();
  REQUIRE(base.of("h200-sxm").same_as == "h100-sxm");
  CHECK(base.of("h200-sxm").gemm.value == base.of("h100-sxm").gemm.value);
  const Calibration both = over_baseline(R"({"accelerators": {"h100-sxm": )" + kHalf + "}}");
  CHECK(both.of("h100-sxm").gemm.value == 0.5);
  CHECK(both.of("h200-sxm").gemm.value == 0.5);
  CHECK(both.of("h200-sxm").attention.value == base.of("h100-sxm").attention.value);
  CHECK(both.of("b200-sxm").gemm.value == base.of("b200-sxm").gemm.value);
  const Calibration one = over_baseline(R"({"accelerators": {"h200-sxm": )" + kHalf + "}}");
  CHECK(one.of("h200-sxm").gemm.value == 0.5);
  CHECK(one.of("h200-sxm").same_as.empty());
  CHECK(one.of("h200-sxm").low_gemm.value == base.of("h100-sxm").low_gemm.value);
  CHECK(one.of("h100-sxm").gemm.value == base.of("h100-sxm").gemm.value);
}

TEST_CASE("constants are shared through a second name, and an unknown accelerator has those of other") {
  const Calibration base = baseline();
  const Calibration c = over_baseline(R"({"accelerators": {"h100-sxm": "b200-sxm", "mi300x": "b200-sxm"}})");
  for (const char* id : {"h100-sxm", "h200-sxm", "h800-sxm", "mi300x"}) {
    CAPTURE(id);
    CHECK(c.of(id).gemm.value == base.of("b200-sxm").gemm.value);
    CHECK(c.of(id).attention.value == base.of("b200-sxm").attention.value);
    CHECK(c.of(id).same_as == "b200-sxm");
  }
  CHECK(base.of("mi300x").gemm.value == base.other_accelerator.gemm.value);
  CHECK(base.of("mi300x").id.empty());
}

TEST_CASE("wrong sharing and unknown names are refused with their place") {
  for (const char* sharing : {R"("a100-sxm-80": "a100-sxm-80")", R"("b200-sxm": "h200-sxm")",
                              R"("mi300x": "nobody")", R"("other": "h100-sxm")"}) {
    Issues issues;
    CAPTURE(sharing);
    CHECK_FALSE(laid(std::string(R"({"accelerators": {)") + sharing + "}}", issues));
    CHECK(complete(issues));
    REQUIRE(issues.all().size() == 1);
    CHECK(issues.all()[0].rule == "same-accelerator");
    CHECK(issues.all()[0].line == 1);
  }
  Issues issues;
  CHECK_FALSE(laid(R"({"stacks": {"megatron": {}}, "time": {"nic": {"value": 1, "source": "s"}},
    "accelerators": {"h100-sxm": {"gem": {"value": "1 %", "source": "s"}, "attention": {"value": "120 %", "source": "s"}}}})",
                   issues));
  CHECK(complete(issues));
  CHECK(find_issue(issues, "unknown-key", "/stacks/megatron") != nullptr);
  CHECK(find_issue(issues, "unknown-key", "/time/nic") != nullptr);
  CHECK(find_issue(issues, "unknown-key", "/accelerators/h100-sxm/gem") != nullptr);
  CHECK(find_issue(issues, "share", "/accelerators/h100-sxm/attention") != nullptr);
}
