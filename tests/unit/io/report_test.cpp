// Reports of plans read back, and thresholds.
#include "trainplan/io/load_report.hpp"

#include <string>

#include "catch.hpp"
#include "found.hpp"
#include "trainplan/io/read_thresholds.hpp"

using namespace trainplan;

namespace {

constexpr const char* kText = R"({
  "schema": "trainplan.plan/1", "title": "m on c", "new_key": [1],
  "inputs": {"files": {"model": "m", "model_note": "m.json", "sequence_tokens": 4096, "compile": false}},
  "plan": {"degrees": {"tp": 8, "tp_note": "with sequence parallelism", "shard_size": 16}},
  "ledger": {"stage": 3, "items": [
    {"id": "memory.device", "title": "device total", "value_bytes": 45708174295.04, "depth": 0},
    {"id": "comm.dp", "title": "data parallel", "value_bytes": 13203345408, "depth": 0},
    {"id": "step.mfu", "title": "MFU", "value_ratio": 0.4, "depth": 0},
    {"id": "step.tokens_per_second", "title": "rate", "value_tokens_per_second": 9e5, "depth": 0},
    {"id": "goodput", "value_ratio": 0.9}, {"id": "cost.run", "value_usd": 5, "depth": 0},
    {"id": "schedule.micro_batches", "title": "m", "value": 16, "depth": 0}]}})";

ReportedPlan read(const std::string& text) {
  Issues issues;
  auto plan = load_report_text(text, "r.json", issues);
  CAPTURE(listed(issues));
  REQUIRE(plan);
  return *plan;
}

std::vector<std::string> rules(std::string_view text) {
  Issues issues;
  const ReportedPlan plan = read(kText);
  std::vector<std::string> out;
  CHECK(read_thresholds(text, &plan, &plan, issues).empty());
  for (const Issue& i : issues.all()) {
    CHECK(i.pointer == "--fail-above");
    CHECK_FALSE(i.hint.empty());
    out.push_back(i.rule);
  }
  return out;
}

}  // namespace

TEST_CASE("a report of a plan gives its settings and items with their units") {
  const ReportedPlan plan = read(kText);
  CHECK(plan.title == "m on c");
  CHECK(plan.stage == 3);
  REQUIRE(plan.items.size() == 7);
  CHECK(plan.find("memory.device")->value.number == 45708174295.04);
  CHECK(plan.find("memory.device")->value.unit == Unit::Memory);
  CHECK(plan.find("comm.dp")->value.unit == Unit::Traffic);
  CHECK(plan.find("step.mfu")->value.unit == Unit::Share);
  CHECK(plan.find("step.tokens_per_second")->value.unit == Unit::TokenRate);
  CHECK(plan.find("schedule.micro_batches")->value.unit == Unit::Count);
  CHECK(plan.find("goodput")->title == "goodput");
  CHECK(std::get<std::string>(plan.setting("model")->value) == "m");
  CHECK(std::get<Value>(plan.setting("sequence")->value).unit == Unit::Tokens);
  CHECK_FALSE(std::get<bool>(plan.setting("compile")->value));
  CHECK(std::get<Value>(plan.setting("shard_size")->value).number == 16);
  CHECK(plan.setting("tp_note") != nullptr);     // how a degree is used
  CHECK(plan.setting("model_note") == nullptr);  // where an input is from
}

TEST_CASE("the best plan of a search is read like any other") {
  const std::string text = kText, plan = "trainplan.plan/1", search = "trainplan.search/1";
  CHECK(read(std::string(text).replace(text.find(plan), plan.size(), search)).items.size() == 7);
}

TEST_CASE("what is no report of a plan is refused with its place") {
  const auto refused = [](const std::string& text, const std::string& rule, const std::string& pointer) {
    Issues issues;
    CAPTURE(text);
    CHECK_FALSE(load_report_text(text, "r.json", issues));
    REQUIRE(issues.all().size() == 1);
    CAPTURE(listed(issues));
    CHECK(issues.all()[0].rule == rule);
    CHECK(issues.all()[0].pointer == pointer);
    CHECK(issues.all()[0].line == 1);
  };
  const std::string plan = R"({"schema": "trainplan.plan/1")";
  refused(R"({"title": "x"})", "missing-key", "/schema");
  refused(R"({"schema": "trainplan.items/1"})", "report-schema", "/schema");
  refused(plan + "}", "report-ledger", "/ledger");
  refused(plan + R"(, "ledger": {}})", "missing-key", "/ledger/items");
  refused(plan + R"(, "ledger": {"items": [{"id": "a", "value": "1"}]}})", "number", "/ledger/items/0/value");
  std::string many = R"({"id": "a", "value": 1})";
  for (int i = 0; i < 5000; ++i) many += R"(, {"id": "a", "value": 1})";
  refused(plan + R"(, "ledger": {"items": [)" + many + "]}}", "range", "/ledger/items");
  refused(plan + R"(, "ledger": {"items": [{"id": "a"}]}})", "missing-key", "/ledger/items/0/value");
  refused(plan + R"(, "ledger": {"items": [{"id": "a", "value": 1}, {"id": "a", "value": 1}]}})",
          "item-twice", "/ledger/items/1/id");
}

TEST_CASE("thresholds: short words, ids, and a percentage each") {
  const ReportedPlan plan = read(kText);
  Issues issues;
  const auto all = read_thresholds("memory=2%,step.mfu=0.5%,traffic=0%", &plan, &plan, issues);
  CAPTURE(listed(issues));
  REQUIRE(all.size() == 3);
  CHECK(all[0].id == "memory.device");
  CHECK(all[0].share == 0.02);
  CHECK(all[0].text == "memory=2%");
  CHECK(all[1].id == "step.mfu");
  CHECK(all[1].share == 0.005);
  CHECK(all[2].share == 0);
}

TEST_CASE("every bad threshold is told, with what could stand there") {
  using List = std::vector<std::string>;
  CHECK(rules("memory=2") == List{"threshold"});
  CHECK(rules("memory=-2%") == List{"threshold"});
  CHECK(rules("memory") == List{"threshold"});
  CHECK(rules("memory=1e9%") == List{"threshold"});
  CHECK(rules("memry=2%") == List{"unknown-item"});
  CHECK(rules("memry=x,=1%") == List{"threshold", "unknown-item", "unknown-item"});
  CHECK(rules("step=5%") == List{"absent-item"});      // no step in this file
  CHECK(rules("dollars=1%") == List{"token-budget"});  // of 30 days, whatever the plan
  CHECK(rules("days=1%") == List{"token-budget"});
  Issues issues;
  const ReportedPlan a = read(kText);
  ReportedPlan b = a;
  b.items.erase(b.items.begin());
  CHECK(read_thresholds("memory=1%", &a, &b, issues).empty());
  REQUIRE(issues.all().size() == 1);
  CHECK(issues.all()[0].must.find("only A has it") != std::string::npos);
  Issues unknown;
  CHECK(read_thresholds("memry=2%", nullptr, nullptr, unknown).size() == 1);  // names wait for the plans
  CHECK(unknown.all().empty());
}
