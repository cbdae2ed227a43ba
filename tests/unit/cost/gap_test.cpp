// A measured step against its budget: the published example, and what is not measured.
#include "trainplan/cost/gap.hpp"

#include <cstddef>
#include <string>

#include "catch.hpp"
#include "trainplan/cost/gap_norms.hpp"
#include "trainplan/cost/gap_repair.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/report/gap_answer.hpp"

using namespace trainplan;

namespace {

constexpr double kIdeal = 1.993922485468538;  // 70B, 4Mi tokens, 1,024 H100, full matrix

/// A plan that predicts other times than the example's budget.
GapPrediction prediction() {
  GapPrediction p;
  p.ideal = kIdeal;
  p.ideal_id = "compute.ideal_full";
  p.predicted = {0.2, 0.3, 0.0, 0.0, 1.0, 0.1, 0.05};
  p.step = kIdeal + 1.65;
  for (std::size_t i = 0; i < kLossItems; ++i) p.ids[i] = kLossLedgerIds[i];
  return p;
}

GapSpec example() {
  Issues issues;
  const auto run = load_run("gap-example", issues);
  REQUIRE(run);
  REQUIRE(issues.all().empty());
  return run->gap;
}

GapCost<double> cost_of(const GapSpec& gap) {
  Eval rec;
  return gap_cost(rec, gap, prediction(), "run.json");
}

double points(const GapCost<double>& c, Repair repair) {
  double sum = 0;
  for (const LossItem i : kAllLossItems)
    if (repair_of(i) == repair) sum += c.rows[index_of(i)].points->num();
  return sum;
}

PointWorth<double> a_day_and_a_thousand_dollars() {
  PointWorth<double> worth;
  worth.timed = true;
  worth.money.mfu_point_time = Seconds<>{86400};
  worth.gpus = Count<>{1};
  worth.price = UsdPerSec<>{1000.0 / 86400};
  return worth;
}

}  // namespace

TEST_CASE("the published example: 1.46 s and ten points in four classes") {
  const GapCost<double> c = cost_of(example());
  CHECK(c.excess.num() == Approx(1.46).epsilon(1e-9));
  CHECK(c.quoted);
  CHECK(c.points.num() == 10);
  CHECK(c.exact.num() == Approx(9.84).epsilon(1e-4));
  CHECK(points(c, Repair::Configuration) == Approx(6.712).epsilon(1e-4));
  CHECK(points(c, Repair::Hardware) == Approx(2.397).epsilon(1e-3));
  CHECK(points(c, Repair::Structure) == Approx(0.5479).epsilon(1e-4));
  CHECK(points(c, Repair::Data) == Approx(0.3425).epsilon(1e-4));
  CHECK(c.residual.num() == Approx(0.69).epsilon(1e-9));
  CHECK(c.target_residual.num() == Approx(0.697).epsilon(1e-3));
  CHECK(c.target.num() == Approx(kIdeal / 0.42));
  CHECK(c.unknown.num() == 0);
  CHECK(c.all_measured());
}

TEST_CASE("points add to the gap, whatever was measured") {
  for (std::size_t left_out = 0; left_out <= kLossItems; ++left_out) {
    GapSpec gap = example();
    for (std::size_t i = 0; i < left_out; ++i) gap.items[i].reset();
    const GapCost<double> c = cost_of(gap);
    double sum = c.unknown_points.num();
    for (const auto& row : c.rows)
      if (row.points) sum += row.points->num();
    CAPTURE(left_out);
    CHECK(sum == Approx(c.points.num()).epsilon(1e-9));
    CHECK(c.all_measured() == (left_out == 0));
  }
}

TEST_CASE("what is not measured is the residual, held against its own budget") {
  GapSpec gap = example();
  gap.items = {};
  gap.items[index_of(LossItem::ExposedComm)] = Stated{0.8};
  const GapCost<double> c = cost_of(gap);
  CHECK(c.residual.num() == Approx(5.4));
  CHECK(c.residual_budget.num() == Approx(4.05 - 0.4 + kIdeal / 0.42 - 4.05));
  CHECK(c.unknown.num() == Approx(c.residual.num() - c.residual_budget.num()));
  CHECK(c.excess.num() == Approx(0.4 + c.unknown.num()));
  CHECK_FALSE(c.rows[index_of(LossItem::Kernel)].measured);
  CHECK_FALSE(c.rows[index_of(LossItem::Kernel)].points);
}

TEST_CASE("budgets come from the plan; its kernel time has the ideal in it") {
  GapSpec gap;
  gap.measured = Stated{6.2};
  const GapCost<double> c = cost_of(gap);
  CHECK(c.rows[index_of(LossItem::Bubble)].budget.num() == 0.2);
  CHECK(c.rows[index_of(LossItem::Kernel)].budget.num() == Approx(kIdeal + 1.0));
  CHECK(c.target.num() == Approx(kIdeal + 1.65));
  CHECK(c.target_residual.num() == Approx(0).margin(1e-12));
  CHECK_FALSE(c.quoted);
  CHECK(c.points.num() == c.exact.num());
}

TEST_CASE("a budget of one's own moves the planned step by the difference") {
  GapSpec gap;
  gap.measured = Stated{6.2};
  gap.budget[index_of(LossItem::ExposedComm)] = Stated{0.4};
  gap.budget[index_of(LossItem::Kernel)] = Stated{3.2};
  const GapCost<double> c = cost_of(gap);
  CHECK(c.target.num() == Approx(kIdeal + 1.65 + 0.1 + (3.2 - kIdeal - 1.0)));
  CHECK(c.target_residual.num() == Approx(0).margin(1e-12));
}

TEST_CASE("a step within its plan has no points to distribute") {
  GapSpec gap;
  gap.measured = Stated{3.0};
  const GapCost<double> c = cost_of(gap);
  CHECK(c.exact.num() == Approx(100 * (c.target_mfu.num() - c.mfu.num())));
  CHECK(c.exact.num() < 0);
  CHECK(c.points.num() == 0);
  CHECK(c.excess.num() == 0);
  CHECK(c.unknown_points.num() == 0);
}

TEST_CASE("quoted points are used only where they round the exact ones") {
  GapSpec gap = example();
  gap.points = Stated{10.4};
  CHECK_FALSE(cost_of(gap).quoted);
  CHECK(cost_of(gap).points.num() == Approx(9.84).epsilon(1e-4));
  gap.points = Stated{9.4};
  CHECK(cost_of(gap).points.num() == 9.4);
}

TEST_CASE("the traced gap is the plain one, bit by bit") {
  const GapSpec gap = example();
  const GapCost<double> plain = cost_of(gap);
  Explain rec;
  const auto traced = gap_cost(rec, gap, prediction(), "run.json");
  CHECK(value_of(traced.excess) == plain.excess.num());
  CHECK(value_of(traced.target) == plain.target.num());
  for (std::size_t i = 0; i < kLossItems; ++i)
    CHECK(value_of(*traced.rows[i].points) == plain.rows[i].points->num());
  const LineItem* excess = rec.ledger().find("gap.excess.exposed_comm");
  REQUIRE(excess != nullptr);
  CHECK(excess->formula == "time_excess");
}

TEST_CASE("repairs come cheapest first, each with its price") {
  Eval rec;
  const auto repairs = repair_costs(rec, cost_of(example()), a_day_and_a_thousand_dollars());
  REQUIRE(repairs.size() == 5);
  CHECK(name_of(kRepairs[0]) == "configuration");
  CHECK(name_of(kRepairs[1]) == "hardware");
  CHECK(name_of(kRepairs[2]) == "data");
  CHECK(name_of(kRepairs[3]) == "structure");
  CHECK(repairs[0].excess.num() == Approx(0.98));
  CHECK(repairs[0].time.num() == Approx(6.712 * 86400).epsilon(1e-3));
  CHECK(repairs[1].money.num() == Approx(2397).epsilon(1e-3));
}

TEST_CASE("a class without a measurement is not known") {
  GapSpec gap = example();
  gap.items[index_of(LossItem::Straggler)].reset();
  Eval rec;
  const auto repairs = repair_costs(rec, cost_of(gap), a_day_and_a_thousand_dollars());
  CHECK(repairs[0].known);
  CHECK_FALSE(repairs[1].known);
  CHECK(repairs[4].points.num() > 0);
}

TEST_CASE("of a token budget every step pays its excess, however long the measured step is") {
  PointWorth<double> worth = a_day_and_a_thousand_dollars();
  worth.steps = {Tokens<>{1e9}, Tokens<>{1e6}, Count<>{0.5}};
  for (const double measured : {6.2, 12.0}) {
    GapSpec gap = example();
    gap.measured = Stated{measured};
    Eval rec;
    const auto repairs = repair_costs(rec, cost_of(gap), worth);
    CAPTURE(measured);
    CHECK(repairs[0].time.num() == Approx(1000 * 0.98 / 0.5));
    CHECK(repairs[0].money.num() == Approx(1000 * 0.98 / 0.5 * 1000 / 86400));
  }
}
