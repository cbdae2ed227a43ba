#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "catch.hpp"
#include "loading.hpp"
#include "trainplan/io/load_validation.hpp"

using namespace trainplan;

namespace {

std::optional<ValidationSet> load(const std::string& text, Issues& issues) {
  return load_validation_text(text, "v.json", issues);
}
ValidationSet loaded(const std::string& text) { return loaded_by(load, text); }
Issues mistakes(const std::string& text) { return mistakes_by(load, text); }

/// A file with one check.
std::string with_check(const std::string& check) {
  return R"({"kind": "cases", "title": "t", "rows": [
  {"id": "a", "source": {"repo": "r"}, "checks": [
    )" + check +
         "]}]}";
}
constexpr std::string_view kCheck = "/rows/0/checks/0";
std::string at(const char* below) { return std::string(kCheck) + below; }

}  // namespace

TEST_CASE("every shipped set can be read, and no two rows have one id") {
  std::set<std::string> ids;
  std::size_t cases = 0;
  for (const std::string& name : shipped_validation()) {
    Issues issues;
    const auto set = load_validation(name, issues);
    CAPTURE(name, listed(issues));
    REQUIRE(set);
    for (const CaseRow& row : set->cases) {
      CHECK(ids.insert(row.id).second);
      CHECK_FALSE(row.source.empty());
      ++cases;
    }
  }
  CHECK(cases == 80);
}

TEST_CASE("a row is laid over the defaults, its run key by key") {
  const ValidationSet set = loaded(R"({"kind": "measured", "title": "t", "in_sample": true,
    "bounds": [{"mean": "2 %"}, {"of": "moe", "worst": "10 %"}, {"scored": 8}],
    "defaults": {"gpu": "h100-sxm", "gpus": 16, "reading": "reserved", "stage": "last",
                 "run": {"sequence": 4096, "global_batch": 64, "tp": 4}},
    "rows": [{"id": "a", "model": {"base": "llama70b", "num_hidden_layers": 12}, "run": {"tp": 2, "pp": 2},
              "peak": "40 GiB", "step_time": "2 s", "tokens_per_s_per_gpu": 800},
             {"id": "b", "peak": "50 GiB", "missing": "the model"}]})");
  REQUIRE(set.measured.size() == 2);
  const MeasuredRow& row = set.measured[0];
  REQUIRE(row.run != nullptr);
  CHECK(row.reading == Reading::Reserved);
  CHECK(row.stage == kLastStage);
  CHECK(row.peak == 40 * 0x1p30);
  CHECK(row.in_sample);
  CHECK(row.step_time == 2.0);
  CHECK(row.token_rate == 800.0);
  CHECK(row.run->problem().model().layers == 12);
  CHECK(row.run->problem().model().hidden == 8192);
  CHECK(row.run->problem().cluster().gpus() == 16);
  CHECK(row.run->problem().recipe.sequence == 4096);
  CHECK(row.run->plan().tp == 2);
  CHECK(row.run->plan().pp == 2);
  CHECK(row.run->plan().dp == 4);
  CHECK(row.run->plan().recompute == Recompute::None);
  CHECK(row.run->is_legal());
  CHECK(set.measured[1].run == nullptr);
  CHECK(set.measured[1].missing == "the model");
  REQUIRE(set.bounds.size() == 3);
  CHECK(set.bounds[1].group == RowGroup::Sparse);
  CHECK(set.bounds[1].kind == BoundKind::Worst);
  CHECK(set.bounds[1].limit == 0.1);
  CHECK(set.bounds[2].limit == 8);
}

TEST_CASE("every mistake of measured rows is told with its place") {
  const Issues issues = mistakes(R"({"kind": "measured", "title": "t", "tilte": "t",
    "rows": [{"id": "a", "model": "llama9b", "gpu": "h100-sxm", "gpus": 8, "peak": "1 GiB"},
             {"id": "a", "model": {"base": "llama8b", "num_hidden_layers": 0}, "gpu": "h101", "gpus": 8,
              "run": {"tp": 3.5}, "peak": "fast"},
             {"id": "c", "model": "llama8b", "gpu": "h100-sxm", "gpus": 12, "stage": "middle"}]})");
  CAPTURE(listed(issues));
  CHECK(find_issue(issues, "unknown-key", "/tilte") != nullptr);
  CHECK(find_issue(issues, "not-found", "/rows/0/model") != nullptr);
  CHECK(find_issue(issues, "twice", "/rows/1/id") != nullptr);
  CHECK(find_issue(issues, "not-found", "/rows/1/gpu") != nullptr);
  CHECK(find_issue(issues, "integer", "/rows/1/run/tp") != nullptr);
  CHECK(find_issue(issues, "quantity", "/rows/1/peak") != nullptr);
  CHECK(find_issue(issues, "missing-key", "/rows/2/peak") != nullptr);
  CHECK(find_issue(issues, "choice", "/rows/2/stage") != nullptr);
  CHECK(find_issue(issues, "whole-nodes", "/rows/2/gpus") != nullptr);
}

TEST_CASE("a measured plan must be legal and have the stage") {
  const Issues issues = mistakes(R"({"kind": "measured", "title": "t",
    "defaults": {"gpu": "h100-sxm", "gpus": 8, "model": "llama8b"},
    "rows": [{"id": "a", "run": {"tp": 3}, "peak": "1 GiB"},
             {"id": "b", "run": {"pp": 2}, "stage": 2, "peak": "1 GiB"},
             {"id": "c", "run": {"pp": 2, "sharding": "hsdp"}, "peak": "1 GiB"}]})");
  CAPTURE(listed(issues));
  CHECK(find_issue(issues, "legal", "/rows/0/run") != nullptr);
  CHECK(find_issue(issues, "stage-range", "/rows/1/stage") != nullptr);
  CHECK(find_issue(issues, "legal", "/rows/2/run") != nullptr);
}

TEST_CASE("every mistake of a check is told with its place") {
  const auto issue = [](const std::string& check, const char* rule, const char* below) {
    const Issues issues = mistakes(with_check(check));
    CAPTURE(check, listed(issues));
    CHECK(find_issue(issues, rule, at(below)) != nullptr);
  };
  issue(R"({"calc": "mfux", "args": {}, "expect": 1})", "unknown-formula", "/calc");
  issue(R"({"calc": "in_flight_gpipe", "args": {}, "expect": 1})", "missing-key", "/args/m");
  issue(R"({"calc": "in_flight_gpipe", "args": {"m": 4}})", "missing-key", "/expect");
  issue(R"({"calc": "in_flight_gpipe", "args": {"m": "4 GiB"}, "expect": 4})", "quantity", "/args/m");
  issue(R"({"calc": "in_flight_gpipe", "args": {"m": {"value": "4 GiB"}}, "expect": 4})", "dimension",
        "/args/m");
  issue(R"({"calc": "in_flight_gpipe", "args": {"m": 4}, "expect": [5, 4]})", "range", "/expect");
  issue(R"({"peak": "h101", "expect": "1 TFLOP/s"})", "not-found", "/peak");
  issue(R"({"expect": 1})", "question", "/calc");
  issue(R"({"less": [{"value": 1}]})", "two-questions", "/less");
  issue(R"({"less": [{"value": 1}, {"value": "1 GiB"}]})", "dimension", "/less");
  issue(R"({"equal": [{"value": "1 s"}, {"value": "1 GiB"}]})", "dimension", "/equal");
  issue(R"({"legal": false, "model": "llama8b", "gpu": "h100-sxm", "gpus": 8})", "missing-key", "/rule");
  issue(R"({"item": "memory.stat", "expect": "1 GiB", "model": "llama8b", "gpu": "h100-sxm", "gpus": 8})",
        "unknown-item", "/item");
  issue(R"({"item": "memory.state", "expect": "1 GiB", "model": "llama8b", "gpu": "h100-sxm", "gpus": 8,
            "run": {"tp": 3}})",
        "legal", "/run");
}
