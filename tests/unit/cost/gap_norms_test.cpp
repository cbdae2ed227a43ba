// Normal ranges of the items of a step.
#include "trainplan/cost/gap_norms.hpp"

#include <algorithm>
#include <optional>

#include "catch.hpp"
#include "problems.hpp"
#include "trainplan/report/gap_answer.hpp"

using namespace trainplan;
using problems::Draft;

namespace {

using Ranges = std::array<NormalRange<double>, kLossItems>;

/// Of a step of 6.2 s with 3.4 s in kernels; the ideal is 2 s.
Ranges ranges_of(const Plan& plan, const std::optional<double>& predicted = {}) {
  Draft draft;
  GapCost<double> cost;
  for (GapRow<double>& row : cost.rows) {
    row.planned = predicted.has_value();
    row.budget = Seconds<>{predicted.value_or(0)};
  }
  cost.measured = Seconds<>{6.2};
  cost.rows[index_of(LossItem::Kernel)].measured = Seconds<>{3.4};
  Eval rec;
  return normal_ranges(rec, draft.problem(), plan, gap_norms(anchors()), 2.0, cost);
}

double low(const Ranges& r, LossItem i) { return r[index_of(i)].low.num(); }
double high(const Ranges& r, LossItem i) { return r[index_of(i)].high.num(); }

}  // namespace

TEST_CASE("ranges of the main plan") {
  const Ranges r = ranges_of(problems::main_plan());
  CHECK(high(r, LossItem::Bubble) == Approx(3.4 * 3 / 64));
  CHECK(low(r, LossItem::ExposedComm) == Approx(0.25));
  CHECK(high(r, LossItem::ExposedComm) == Approx(0.5));
  CHECK(high(r, LossItem::Recompute) == 0);
  CHECK(high(r, LossItem::DataWait) == Approx(0.05));
  CHECK(low(r, LossItem::Kernel) == Approx(2 / (0.75 * 0.85)));
  CHECK(high(r, LossItem::Kernel) == Approx(2 / (0.7 * 0.8)));
  CHECK(low(r, LossItem::Launch) == Approx(0.1));
  CHECK(high(r, LossItem::Launch) == Approx(0.3));
  CHECK(high(r, LossItem::Straggler) == Approx(0.124));
  for (const LossItem i : kAllLossItems) CHECK(low(r, i) <= high(r, i));
}

TEST_CASE("what the plan predicts for an item is normal, a stated budget is not") {
  const Ranges practice = ranges_of(problems::main_plan()), wide = ranges_of(problems::main_plan(), 0.2);
  for (const LossItem i : kAllLossItems) {
    CHECK(low(wide, i) == std::min(low(practice, i), 0.2));
    CHECK(high(wide, i) == std::max(high(practice, i), 0.2));
  }
}

TEST_CASE("what a plan does not do takes no time") {
  const Ranges one = ranges_of(problems::completed({.tp = 1, .pp = 1, .dp = 1}));
  CHECK(high(one, LossItem::Bubble) == 0);
  CHECK(high(one, LossItem::ExposedComm) == 0);
  const Ranges shared = ranges_of(problems::completed({.tp = 1, .pp = 1, .dp = 8}));
  CHECK(high(shared, LossItem::ExposedComm) == Approx(0.1));
}

TEST_CASE("recompute is normal where the plan recomputes") {
  Plan plan = problems::main_plan();
  plan.recompute = Recompute::Selective;
  CHECK(low(ranges_of(plan), LossItem::Recompute) == Approx(0.03 * 3.4));
  plan.recompute = Recompute::Full;
  CHECK(high(ranges_of(plan), LossItem::Recompute) == Approx(0.35 * 3.4));
  plan.recompute = Recompute::Layers;
  plan.recompute_layers = 5;  // of 20
  CHECK(high(ranges_of(plan), LossItem::Recompute) == Approx(0.35 * 3.4 / 4));
}
