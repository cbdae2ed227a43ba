#include "trainplan/cost/goodput.hpp"

#include <cmath>

#include "catch.hpp"
#include "problems.hpp"
#include "trainplan/cost/plan_cost.hpp"

using namespace trainplan;
using problems::Draft;

namespace {

/// One save, noticing, restarting, loading, in seconds; the goodput at 1,024 and 16,384 GPUs of 50,000 h
/// each.
struct SaveTimes {
  const char* name;
  double delta, detect, restart, load, at_1k, at_16k;
};
const SaveTimes kScenarios[] = {{"A: synchronous saves", 300, 600, 300, 120, 0.938, 0.708},
                                {"B: asynchronous saves", 10, 600, 300, 120, 0.984, 0.867},
                                {"C: and fast recovery", 10, 60, 30, 60, 0.989, 0.945}};

PlanCost<double> with(const SaveTimes& s, double gpus) {
  Draft draft;
  draft.cluster.nodes = static_cast<std::int64_t>(gpus) / 8;
  draft.cluster.detect.value = s.detect;
  draft.cluster.restart.value = s.restart;
  draft.cluster.load.value = s.load;
  draft.cluster.storage_write.value = 70'553'706'496 * 14 / s.delta;  // so that one save takes delta
  return evaluate(draft.problem(), problems::main_plan());
}

}  // namespace

TEST_CASE("goodput of the published scenarios at 1,024 and 16,384 GPUs") {
  for (const SaveTimes& s : kScenarios) {
    CAPTURE(s.name);
    CHECK(with(s, 1024).goodput.mtbf.num() == Approx(50000.0 * 3600 / 1024));  // 48.8 h
    CHECK(with(s, 1024).goodput.goodput.num() == Approx(s.at_1k).margin(0.0005));
    CHECK(with(s, 16384).goodput.goodput.num() == Approx(s.at_16k).margin(0.0005));
  }
}

TEST_CASE(
    "goodput's own terms: interval sqrt(2 delta M), waste sqrt(2 delta / M), half an interval a failure") {
  const auto g = with(kScenarios[0], 1024).goodput;
  const double M = 50000.0 * 3600 / 1024, tau = std::sqrt(2 * 300 * M);
  CHECK(g.interval.num() == Approx(tau).epsilon(1e-14));
  CHECK(g.waste.num() == Approx(std::sqrt(2 * 300 / M)).epsilon(1e-14));
  CHECK(g.goodput.num() == Approx((1 - (600 + 300 + 120 + tau / 2) / M) / (1 + 300 / tau)).epsilon(1e-14));
}

TEST_CASE("the five shares and the goodput make up the whole") {
  Draft draft;
  const Ledger ledger = explain(draft.problem(), problems::main_plan(), 0);
  const auto value = [&](const char* id) { return ledger.find(id)->value; };
  const double lost = value("goodput.saving") + value("goodput.detect") + value("goodput.restart") +
                      value("goodput.load") + value("goodput.rollback");
  CHECK(value("goodput") + lost == Approx(1).epsilon(1e-12));
  CHECK(value("goodput.detect") == Approx(600 / (50000.0 * 3600 / 1024)).epsilon(1e-14));
}

TEST_CASE("an unknown failure rate gives no goodput, and time is not stretched") {
  Draft draft;
  draft.recipe.tokens = 15e12;
  const auto known = evaluate(draft.problem(), problems::main_plan());
  draft.cluster.gpu_mtbf = {};
  const Problem problem = draft.problem();
  const auto unknown = evaluate(problem, problems::main_plan());
  CHECK(unknown.goodput.goodput.num() == 0);
  CHECK(explain(problem, problems::main_plan(), 0).find("goodput") == nullptr);
  CHECK(unknown.money.run_time.num() == Approx(15e12 / 4'194'304 * unknown.step.step.num()).epsilon(1e-14));
  CHECK(known.money.run_time.num() ==
        Approx(unknown.money.run_time.num() / known.goodput.goodput.num()).epsilon(1e-14));
}

TEST_CASE("a checkpoint has the profile's bytes a parameter, whatever the plan") {
  Draft draft;
  const auto c = evaluate(draft.problem(), problems::main_plan()).checkpoint;
  CHECK(c.bytes.num() == 14 * 70'553'706'496.0);
  CHECK(c.per_gpu.num() == 14 * 70'553'706'496.0 / 1024);
  CHECK(c.staging.num() == 2 * c.per_gpu.num());
  CHECK(c.write.num() == Approx(14 * 70'553'706'496.0 / 50e9).epsilon(1e-14));
  Draft fsdp({.framework = "torchtitan"});
  const Plan sharded = problems::completed({.dp = 1024, .sharding = Sharding::Zero3});
  CHECK(evaluate(fsdp.problem(), sharded).checkpoint.bytes.num() == 12 * 70'553'706'496.0);
}

TEST_CASE("days and dollars") {
  Draft draft;
  const auto month = evaluate(draft.problem(), problems::main_plan());
  CHECK(month.money.day.num() == Approx(61'440).epsilon(1e-12));  // 1,024 GPUs x 24 h x 2.5 USD/h
  CHECK(explain(draft.problem(), problems::main_plan(), 0).find("cost.day_gpu_time")->value ==
        86400.0 * 1024);
  CHECK(month.money.run_time.num() == 30 * 86400);
  CHECK(month.money.run.num() == Approx(30 * 61'440).epsilon(1e-12));
  CHECK(month.money.run_gpu_time.num() == 30 * 86400.0 * 1024);
  CHECK(month.money.mfu_point_time.num() == Approx(30 * 86400 / (100 * month.step.mfu.num())).epsilon(1e-14));
  CHECK(month.money.mfu_point.num() ==
        Approx(month.money.mfu_point_time.num() / 86400 * 61'440).epsilon(1e-12));
}
