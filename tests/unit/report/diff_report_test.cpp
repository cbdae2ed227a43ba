// Two plans side by side: what differs, in which order, and what is too much.
#include "trainplan/report/diff_report.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "asked.hpp"
#include "catch.hpp"
#include "trainplan/report/derived_plan.hpp"

using namespace trainplan;
using problems::Asked;

namespace {

ReportedPlan plan_of(const Asked& asked, const Choice& choice) {
  const Trial t = *asked.planner().attempt(choice);
  return reported_plan(t, explain(t.problem, t.plan, t.cost.stage), asked.resolved().settings, "run");
}

const Table* table_of(const Report& r, std::string_view key) {
  for (const Section& s : r.sections)
    for (const Block& b : s.blocks)
      if (const Table* t = std::get_if<Table>(&b); t != nullptr && t->key == key) return t;
  return nullptr;
}

std::vector<std::string> ids_of(const Table& table) {
  std::vector<std::string> out;
  for (const auto& row : table.rows)
    for (std::size_t c = 0; c < row.size(); ++c)
      if (table.columns[c].key == "id") out.push_back(std::get<Code>(row[c]).text);
  return out;
}

ReportedPlan sample(double step, double mfu) {
  return {"s",
          "m on c",
          0,
          {},
          {{"step.time", "step", {step, Unit::Time}}, {"step.mfu", "MFU", {mfu, Unit::Share}}}};
}

bool fails(const ReportedPlan& a, const ReportedPlan& b, const Threshold& t) {
  return diff_report(a, b, {t}).verdict == Verdict::Failed;
}

}  // namespace

TEST_CASE("bf16 gradients change the gradient, its reduction and what depends on them, and nothing else") {
  const Asked fp32("llama70b", "h100x1024"), bf16("llama70b", "h100x1024", {{"gradient_dtype", "bf16"}});
  const ReportedPlan a = plan_of(fp32, {.tp = 8, .pp = 4}), b = plan_of(bf16, {.tp = 8, .pp = 4});
  const Report r = diff_report(a, b, {});
  CHECK(r.verdict == Verdict::None);
  const auto ids = ids_of(*table_of(r, "changes"));
  REQUIRE(ids.size() > 20);
  CHECK(ids[0] == "memory.state.gradient");  // a half, as the reduction: first of the ledger
  for (const std::string& id : ids) {
    CAPTURE(id);
    const bool may_change = id.starts_with("memory.") || id.starts_with("comm.dp") ||
                            id.starts_with("step.") || id.starts_with("cost.");
    CHECK(may_change);
  }
  const std::set<std::string> changed(ids.begin(), ids.end());
  for (const char* id : {"memory.state", "memory.device", "comm.dp", "comm.dp.reduce_scatter",
                         "step.exposed_dp", "step.time", "step.mfu"})
    CHECK(changed.count(id) == 1);
  for (const char* id : {"memory.state.weights", "memory.state.master", "memory.activations",
                         "comm.dp.all_gather", "comm.tp", "step.bubble", "checkpoint.bytes", "memory.gate"})
    CHECK(changed.count(id) == 0);
  const Table& settings = *table_of(r, "settings");
  REQUIRE(settings.rows.size() == 2);
  CHECK(std::get<std::string>(settings.rows[0][0]) == "gradient_dtype");
  CHECK(std::get<std::string>(settings.rows[1][0]) == "reduce_dtype");
  const Table& only = *table_of(r, "only");
  REQUIRE(only.rows.size() == 1);
  CHECK(std::get<std::string>(only.rows[0][0]) == "B");
  CHECK(std::get<Code>(only.rows[0].back()).text == "memory.state.step_gradient");
}

TEST_CASE("a plan does not differ from itself") {
  const Asked asked("llama70b", "h100x1024");
  const ReportedPlan plan = plan_of(asked, {.tp = 8, .pp = 4});
  const Report r = diff_report(plan, plan, {});
  CHECK(std::get<std::string>(r.headline[0]) == "no number differs; ");
  CHECK(table_of(r, "changes") == nullptr);
  CHECK(table_of(r, "settings") == nullptr);
  CHECK(table_of(r, "only") == nullptr);
  CHECK_FALSE(table_of(r, "totals")->rows.empty());
}

TEST_CASE("the largest relative change stands first, whatever its sign; from 0 on it is infinite") {
  ReportedPlan a = sample(4, 0.4), b = sample(4.4, 0.3);
  a.items.push_back({"step.bubble", "bubble", {0, Unit::Time}});
  b.items.push_back({"step.bubble", "bubble", {1, Unit::Time}});
  const Report r = diff_report(a, b, {});
  CHECK(ids_of(*table_of(r, "changes")) == std::vector<std::string>{"step.bubble", "step.mfu", "step.time"});
  const auto& step = table_of(r, "changes")->rows[2];
  CHECK(std::get<Value>(step[3]).number == Approx(0.4));
  CHECK(std::get<Value>(step[4]).number == Approx(0.1));
  const auto& mfu_row = table_of(r, "changes")->rows[1];
  CHECK(std::get<Value>(mfu_row[3]).unit == Unit::Points);
  CHECK(std::get<Value>(mfu_row[4]).number == Approx(-0.25));
}

TEST_CASE("a difference is in the unit of its numbers") {
  const auto unit_of = [](double x, double y) {
    const Report r = diff_report(sample(x, 0.4), sample(y, 0.4), {});
    return std::get<Value>(table_of(r, "changes")->rows[0][3]).unit;
  };
  constexpr double kDay = 86400;
  CHECK(unit_of(34.5 * kDay, 32.9 * kDay) == Unit::Days);
  CHECK(unit_of(6.23, 5.95) == Unit::StepTime);
  CHECK(unit_of(0.3, 0.2) == Unit::Time);
}

TEST_CASE("a threshold fails beyond it and in the bad direction only") {
  const Threshold step{"step=10%", "step.time", 0.1}, of_mfu{"mfu=10%", "step.mfu", 0.1};
  CHECK_FALSE(fails(sample(4, 0.4), sample(4, 0.4), {"step=0%", "step.time", 0}));
  CHECK_FALSE(fails(sample(4, 0.4), sample(4.39, 0.4), step));
  CHECK(fails(sample(4, 0.4), sample(4.41, 0.4), step));
  CHECK_FALSE(fails(sample(4, 0.4), sample(1, 0.4), step));
  CHECK_FALSE(fails(sample(4, 0.4), sample(4, 0.8), of_mfu));
  CHECK_FALSE(fails(sample(4, 0.4), sample(4, 0.361), of_mfu));
  CHECK(fails(sample(4, 0.4), sample(4, 0.359), of_mfu));
  CHECK(diff_report(sample(4, 0.4), sample(4, 0.4), {step}).verdict == Verdict::Passed);
}

TEST_CASE("settings: what one lacks, other texts, other numbers, another fullest stage") {
  ReportedPlan a = sample(4, 0.4), b = a;
  a.settings = {
      {"tp", Value{8}}, {"recompute", std::string("none")}, {"compile", true}, {"shard_size", Value{4}}};
  b.settings = {{"tp", Value{4}}, {"recompute", std::string("full")}, {"compile", true}, {"ep", Value{2}}};
  b.stage = 3;
  const Report r = diff_report(a, b, {});
  const Table& table = *table_of(r, "settings");
  std::vector<std::string> keys;
  for (const auto& row : table.rows) keys.push_back(std::get<std::string>(row[0]));
  CHECK(keys == std::vector<std::string>{"tp", "recompute", "shard_size", "ep", "fullest_stage"});
}

TEST_CASE("short words are ids of the ledger") {
  const Asked asked("llama70b", "h100x1024", {{"tokens", "1T"}});
  const ReportedPlan plan = plan_of(asked, {.tp = 8, .pp = 4});
  for (const Headliner& h : kHeadliners) {
    CAPTURE(h.id);
    CHECK(plan.find(h.id) != nullptr);
  }
}
