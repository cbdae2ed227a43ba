#include "trainplan/report/check_report.hpp"

#include <string>

#include "asked.hpp"
#include "catch.hpp"
#include "trainplan/report/explain_report.hpp"

using namespace trainplan;
using problems::Asked;

namespace {

Trial trial_of(const Asked& asked, std::int64_t pp) { return *asked.planner().attempt({.tp = 8, .pp = pp}); }

std::string words(const Sentence& s) {
  std::string text;
  for (const auto& part : s)
    text += std::holds_alternative<std::string>(part) ? std::get<std::string>(part) : "#";
  return text;
}

const Gate* find(const std::vector<Gate>& gates, std::string_view name) {
  for (const Gate& g : gates)
    if (g.name == name) return &g;
  return nullptr;
}

}  // namespace

TEST_CASE("memory is always gated, the limits when they are set") {
  const Asked asked("llama70b", "h100x1024");
  const Trial t = trial_of(asked, 4);
  const auto bare = gates_of(t, {});
  REQUIRE(bare.size() == 1);
  CHECK(bare[0].name == "memory");
  CHECK(bare[0].id == "memory.device");
  CHECK(bare[0].value.number == t.device());
  CHECK(bare[0].limit.number == t.gate());
  CHECK(bare[0].holds());

  Limits limits;
  limits.min_mfu = 0.4;
  limits.max_step_time = 4.0;
  limits.max_memory = 40e9;
  const auto all = gates_of(t, limits);
  REQUIRE(all.size() == 4);
  CHECK(find(all, "min_mfu")->value.number == t.cost.step.mfu.num());
  CHECK(find(all, "min_mfu")->holds());
  CHECK(find(all, "max_step_time")->value.number == t.cost.step.step.num());
  CHECK_FALSE(find(all, "max_step_time")->holds());  // 4.04 s
  CHECK_FALSE(find(all, "max_memory")->holds());     // 45.6 GB
}

TEST_CASE("the MFU gate follows the run's FLOP convention") {
  const Asked asked("llama70b", "h100x1024", {{"flop_convention", "full"}});
  const Trial t = trial_of(asked, 4);
  Limits limits;
  limits.min_mfu = 0.44;
  CHECK(find(gates_of(t, limits), "min_mfu")->id == "step.mfu_full");
  CHECK(find(gates_of(t, limits), "min_mfu")->holds());  // 45 % with the full matrix, 42 % causal
}

TEST_CASE("a gate holds up to its limit, a floor from it on") {
  const Gate ceiling{"c", "id", {5, Unit::Time}, {5, Unit::Time}},
      floor{"f", "id", {5, Unit::Share}, {5, Unit::Share}, true};
  CHECK(ceiling.holds());
  CHECK(floor.holds());
  CHECK_FALSE(Gate{"c", "id", {5.1, Unit::Time}, {5, Unit::Time}}.holds());
  CHECK_FALSE(Gate{"f", "id", {4.9, Unit::Share}, {5, Unit::Share}, true}.holds());
}

TEST_CASE("a run that overflows fails, naming the run, the item, the overflow and the stage") {
  const Asked asked("llama70b", "h100x1024");
  const Trial fits = trial_of(asked, 4), over = trial_of(asked, 1);
  const Report passed = check_report({{"a.json", fits, gates_of(fits, {})}});
  CHECK(passed.command == "check");
  CHECK(passed.verdict == Verdict::Passed);
  CHECK(words(passed.headline) == "passed");

  const Report failed =
      check_report({{"a.json", fits, gates_of(fits, {})}, {"b.json", over, gates_of(over, {})}});
  CHECK(failed.verdict == Verdict::Failed);
  CHECK(words(failed.headline) == "failed: 1 gate");
  REQUIRE(failed.sections.size() == 1);
  REQUIRE(failed.sections[0].blocks.size() == 3);  // gates, failures, ranges
  CHECK(std::get<Table>(failed.sections[0].blocks[0]).rows.size() == 2);
  const auto& sentences = std::get<Notes>(failed.sections[0].blocks[1]).sentences;
  REQUIRE(sentences.size() == 1);
  CHECK(words(sentences[0]) == "b.json: memory.device = # exceeds the limit of # by # (stage 0)");
  const Value by = std::get<Value>(sentences[0][5]);
  CHECK(by.unit == Unit::Memory);
  CHECK(by.number == over.device() - over.gate());
}

TEST_CASE("shares differ by points") {
  const Gate gate{"min_mfu", "step.mfu", {0.46, Unit::Share}, {0.6, Unit::Share}, true};
  const Sentence s = failure_of("", gate, 0);
  CHECK(words(s) == "step.mfu = # is below the limit of # by #");
  const Value by = std::get<Value>(s[5]);
  CHECK(by.unit == Unit::Points);
  CHECK(by.number == Approx(0.14));
}

TEST_CASE("explaining an item: the formula, and its parts when it is a sum") {
  const Asked asked("llama70b", "h100x1024");
  const Trial t = trial_of(asked, 4);
  const Ledger ledger = explain(t.problem, t.plan, 0);
  const Report sum = explain_report(ledger, *ledger.find("memory.state"), "title");
  CHECK(sum.command == "explain");
  REQUIRE(sum.sections.size() == 1);
  REQUIRE(sum.sections[0].blocks.size() == 2);
  CHECK(std::get<Explanation>(sum.sections[0].blocks[0]).id == "memory.state");
  CHECK(std::get<Lines>(sum.sections[0].blocks[1]).lines.size() == 6);  // itself and five rows
  const Report product = explain_report(ledger, *ledger.find("memory.state.master"), "title");
  CHECK(product.sections[0].blocks.size() == 1);
}

TEST_CASE("the list of items has all of them") {
  const Asked asked("llama70b", "h100x1024");
  const Trial t = trial_of(asked, 4);
  const Ledger ledger = explain(t.problem, t.plan, 0);
  const Report r = item_list_report(ledger, "title", true);
  REQUIRE(r.sections.size() == 1);
  CHECK(std::get<Lines>(r.sections[0].blocks[0]).lines.size() == ledger.items().size());
}

TEST_CASE("the list of another stage than the fullest leaves out what belongs to the plan") {
  for (const char* id : {"step.time", "step.mfu", "pipeline.all", "goodput", "goodput.mtbf", "cost.day"})
    CHECK(belongs_to_plan(id));
  for (const char* id : {"memory.state", "comm.pp", "work.head.forward", "block.dense", "checkpoint.bytes"})
    CHECK_FALSE(belongs_to_plan(id));
  const Asked asked("llama70b", "h100x1024");
  const Trial t = trial_of(asked, 4);
  const Ledger ledger = explain(t.problem, t.plan, 1);
  std::size_t of_the_gpu = 0;
  for (const LineItem& item : ledger.items()) of_the_gpu += belongs_to_plan(item.id) ? 0 : 1;
  const Report r = item_list_report(ledger, "title", false);
  CHECK(std::get<Lines>(r.sections[0].blocks[0]).lines.size() == of_the_gpu);
  CHECK(of_the_gpu < ledger.items().size());
}
