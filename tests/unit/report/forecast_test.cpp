// The answer of `forecast`: goodputs, intervals, levers, what is shown where nothing is left.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "catch.hpp"
#include "sample_forecast.hpp"
#include "trainplan/report/waste_curve.hpp"

using namespace trainplan;
using namespace forecasts;

TEST_CASE("the scenarios side by side have the published goodputs, and the exact optimum beside them") {
  const ForecastAnswer few = asked(1024, {kA, kB, kC}), many = asked(16384, {kA, kB, kC});
  const double at_1k[] = {0.938, 0.984, 0.989}, at_16k[] = {0.708, 0.867, 0.945};
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(few.scenarios[i].name);
    CHECK(few.scenarios[i].run->goodput.num() == Approx(at_1k[i]).margin(0.0005));
    CHECK(many.scenarios[i].run->goodput.num() == Approx(at_16k[i]).margin(0.0005));
  }
  CHECK(many.scenarios[0].best_goodput == Approx(0.710).margin(0.0005));
}

TEST_CASE("from B to C noticing comes first, then restarting, then loading") {
  const ForecastAnswer a = asked(16384, {kB, kC});
  std::vector<std::string> order;
  for (const LeverRow& r : a.levers)
    if (r.id.starts_with("T_")) order.push_back(r.id);
  CHECK(order == std::vector<std::string>{"T_d", "T_r", "T_l"});
  const auto row = [&](const char* id) {
    return *std::find_if(a.levers.begin(), a.levers.end(), [&](const LeverRow& r) { return r.id == id; });
  };
  CHECK(row("T_d").points == Approx(0.048).margin(0.0005));
  CHECK(row("T_r").points == Approx(0.024).margin(0.0005));
  CHECK(row("T_l").points == Approx(0.005).margin(0.0005));
  // 5 s at 40 % are 4.878 s at 41 %; with every lever the run is that of C in such steps
  CHECK(row("mfu_point").time == Approx(a.first().run->run.num() * (1 - 40.0 / 41)).epsilon(1e-9));
  const LongRun<double>& base = *a.first().run;
  const double all = base.run.num() - a.levers.back().all_time;
  CHECK(all == Approx(a.scenarios[1].run->run.num() * 40 / 41).epsilon(1e-9));
  CHECK(a.levers.back().all_goodput == Approx(a.scenarios[1].run->goodput.num()).epsilon(1e-12));
  CHECK(a.levers.back().all_money == Approx(a.levers.back().all_time * 16384 * 2.5 / 3600).epsilon(1e-9));
}

TEST_CASE("a shorter interval has a gross gain and a net one") {
  ForecastSpec spec;
  spec.save_time = known(45);
  spec.gpu_mtbf = known(3.0 * 3600 * 1024);
  spec.detect = {known(600), known(100)};
  spec.restart = known(300);
  spec.load = known(120);
  spec.interval = {known(24 * 60), known(16 * 60)};
  const ForecastAnswer a = answer_forecast(planned(1024), spec, {}, kC, cluster());
  REQUIRE(a.changes.size() == 3);
  CHECK(a.changes[0].gross / 3600 == Approx(546).margin(0.5));
  CHECK(a.changes[0].net / 3600 == Approx(162).margin(0.5));
  CHECK(a.changes[0].gross - a.changes[0].taken == Approx(a.changes[0].net));
  CHECK(a.changes[0].by_goodput / (86400.0 * 1024) ==
        Approx(a.changes[0].goodput - a.first().run->goodput.num()));
  REQUIRE(a.alarms.size() == 1);
  CHECK(a.alarms[0].gpu_time / 3600 == Approx(500.0 * 1024 / 3600));
  CHECK(a.alarms[0].gpu_time_of_day / 3600 == Approx(1138).margin(1));
  CHECK(a.alarms[0].money_of_day == Approx(a.alarms[0].gpu_time_of_day * 2.5 / 3600));
}

TEST_CASE("every recommended interval is near the best one, and none is better") {
  const ForecastAnswer a = asked(16384, {kA});
  REQUIRE(a.intervals.size() == 5);
  for (const IntervalRow& r : a.intervals) {
    CAPTURE(r.id);
    CHECK(r.goodput <= a.first().best_goodput);
    CHECK(r.goodput > a.first().best_goodput - 0.005);
    CHECK(r.steps == std::round(r.interval / 5));
  }
  for (const FlatBand& b : a.flat) {
    const auto at = [&](double tau) { return evaluate_run(a.plan, a.first().figures, tau).goodput.num(); };
    CHECK(at(b.low) == Approx(a.first().best_goodput - b.points).epsilon(1e-9));
    CHECK(at(b.high) == Approx(a.first().best_goodput - b.points).epsilon(1e-9));
  }
}

TEST_CASE("a spare node that costs more than it gives back is no lever") {
  ForecastSpec spec;
  spec.repair = known(3600);
  spec.spares = known(20);
  const ForecastAnswer a = asked(1024, {kB, kC}, spec);
  for (const LeverRow& r : a.levers) {
    CAPTURE(r.id);
    CHECK(r.money >= 0);
    CHECK(r.id != "spare");
  }
  REQUIRE(a.costly_spare);
  CHECK(a.costly_spare->money < 0);
}

TEST_CASE("a curve begins with the shortest interval that a save allows") {
  ForecastSpec spec;
  spec.save_time = known(2000);
  const ForecastAnswer a = asked(1024, {kA}, spec);
  CHECK(waste_curve(a, "a run").shortest() == 2000);
}

TEST_CASE("a run that never finishes says so and shows no goodput below zero") {
  const problems::Asked question("llama8b", "h100x64");
  const auto plan = question.derived();
  REQUIRE(plan);
  ForecastSpec spec;
  spec.gpu_mtbf = known(1000.0 * 16384);
  const ForecastAnswer a = asked(16384, {kA, kC}, spec);
  const Report r = forecast_report(plan->chosen, a, {}, Ledger{}, {}, false);
  CHECK(r.verdict == Verdict::Failed);
  CHECK(std::get<std::string>(r.headline.front()) == "never finishes by the five terms: ");
  CHECK(std::get<std::string>(r.headline[1]) == "most goes to noticing failures");
  for (const Section& s : r.sections)
    for (const Block& b : s.blocks) {
      const auto* table = std::get_if<Table>(&b);
      for (std::size_t i = 0; table != nullptr && i < table->rows.size(); ++i)
        for (const Cell& cell : table->rows[i])
          if (const auto* v = std::get_if<Value>(&cell)) {
            CAPTURE(s.key, v->number);
            CHECK(v->number >= 0);
          }
    }
}

TEST_CASE("the curve has its least waste at the exact optimum, and shows every mark") {
  ForecastSpec spec;
  spec.interval = {known(3600)};
  const ForecastAnswer a = asked(16384, {kA}, spec);
  const WasteCurve c = waste_curve(a, "a run");
  CHECK(c.points.size() == c.retried.size());
  CHECK(c.marks.size() == 3);
  for (const WastePoint& p : c.points) CHECK(p.waste >= 1 - a.first().best_goodput - 1e-12);
  CHECK(c.shortest() >= a.first().run->least.num());
  for (const WasteMark& m : c.marks) {
    CHECK(m.at.waste <= c.top);
    CHECK(m.at.interval >= c.shortest());
    CHECK(m.at.interval <= c.longest());
  }
}
