#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "asked.hpp"
#include "catch.hpp"
#include "trainplan/report/forecast_report.hpp"
#include "trainplan/report/forecast_unknown.hpp"
#include "trainplan/report/waste_curve.hpp"

using namespace trainplan;

namespace {

Figure known(double value) { return {.value = value, .origin = "option --x", .known = true}; }

/// So many GPUs in nodes of 8, a step of 5 s at 40 % MFU.
PlannedRun planned(double gpus) {
  PlannedRun p;
  p.ideal = 2;
  p.ideal_id = "compute.ideal_causal";
  p.step = 5;
  p.mfu = 0.4;
  p.tokens_per_step = 4194304;
  p.checkpoint = 1e12;
  p.per_gpu = 1e12 / gpus;
  p.layers = 32;
  p.micro_batches = 8;
  p.nodes = gpus / 8;
  p.gpus_per_node = 8;
  p.peak = known(989e12);
  p.tokens = 15e12;
  return p;
}

Scenario scenario(const char* name, double save, double detect, double restart, double load) {
  Scenario s;
  s.name = name;
  s.save_time = known(save);
  s.detect = known(detect);
  s.restart = known(restart);
  s.load = known(load);
  return s;
}
const Scenario kA = scenario("A", 300, 600, 300, 120), kB = scenario("B", 10, 600, 300, 120),
               kC = scenario("C", 10, 60, 30, 60);

ClusterSpec cluster() {
  ClusterSpec c;
  c.gpu_mtbf = known(50000.0 * 3600);
  c.price = known(2.5 / 3600);
  return c;
}

ForecastAnswer asked(double gpus, const std::vector<Scenario>& scenarios, const ForecastSpec& spec = {}) {
  return answer_forecast(planned(gpus), spec, scenarios, scenarios.back(), cluster());
}

}  // namespace

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

TEST_CASE("what the deadline asks for keeps it, and no less does") {
  ForecastSpec spec;
  spec.planned_stop = known(5 * 86400);
  const ForecastAnswer a = asked(1024, {kB}, spec);
  const double run = a.first().run->calendar.num();
  const DeadlineAnswer late = deadline_answer(a.plan, a.first(), 0.8 * run);
  CHECK_FALSE(late.holds);
  REQUIRE(late.nodes.nodes);
  CHECK_FALSE(late.nodes.planned);
  const auto calendar = [&](double nodes) {
    return evaluate_run(a.plan.on_nodes(nodes), a.first().figures).calendar.num();
  };
  CHECK(calendar(*late.nodes.nodes) <= 0.8 * run);
  CHECK(calendar(*late.nodes.nodes - 1) > 0.8 * run);
  REQUIRE(late.efficiency);
  PlannedRun faster = a.plan;
  faster.step *= 0.4 / *late.efficiency;
  RunFigures f = a.first().figures;
  f.interval = known(a.first().run->interval.num());
  CHECK(evaluate_run(faster, f).calendar.num() == Approx(0.8 * run).epsilon(1e-6));
  CHECK(late.margin < 0);
  CHECK(deadline_answer(a.plan, a.first(), 1.01 * run).holds);
  CHECK_FALSE(deadline_answer(a.plan, a.first(), 0.2 * run).efficiency);      // above 100 %
  CHECK_FALSE(deadline_answer(a.plan, a.first(), 5.01 * 86400).nodes.nodes);  // more nodes fail more often
}

TEST_CASE("a deadline that few numbers of nodes keep is not missed between powers of two") {
  const ForecastAnswer a = asked(1024, {kA});
  const auto calendar = [&](double n) { return detail::calendar_of(a.plan.on_nodes(n), a.first().figures); };
  double quickest = 1;
  for (double n = 1; n <= 1 << 14; ++n)
    if (calendar(n) < calendar(quickest)) quickest = n;
  CHECK(detail::nodes_at_mfu(a.plan, a.first().figures, 1).quickest == quickest);
  for (const double slack : {1.0, 1.00001, 1.001, 1.1}) {
    CAPTURE(slack, quickest);
    const double deadline = slack * calendar(quickest);
    double least = 1;
    while (calendar(least) > deadline) ++least;
    CHECK(detail::nodes_at_mfu(a.plan, a.first().figures, deadline).nodes == std::optional(least));
  }
  CHECK_FALSE(detail::nodes_at_mfu(a.plan, a.first().figures, 0.999 * calendar(quickest)).nodes);
}

TEST_CASE("numbers of nodes that no plan takes are passed over, and the answer says what was planned") {
  const ForecastAnswer a = asked(64, {kB});
  const double run = a.first().run->calendar.num();
  std::vector<double> tried;
  const auto thirds = [&](double n) -> std::optional<PlannedRun> {
    tried.push_back(n);
    return std::fmod(n, 3) == 0 ? std::optional(a.plan.on_nodes(n)) : std::nullopt;
  };
  const NodesAnswer some = nodes_for(a.plan, a.first().figures, 0.9 * run, thirds);
  CHECK(nodes_for(a.plan, a.first().figures, 0.9 * run, {}).nodes == std::optional(9.0));
  CHECK(some.nodes == std::optional(9.0));
  const NodesAnswer more = nodes_for(a.plan, a.first().figures, 0.8 * run, thirds);  // 10.1 nodes at this MFU
  CHECK(more.nodes == std::optional(12.0));
  CHECK(more.planned);
  CHECK(more.stride == 1);
  CHECK(more.low == 5);
  CHECK(more.high == 12);
  CHECK(tried.back() == 12);
  const auto never = [](double) { return std::optional<PlannedRun>(); };
  const NodesAnswer none = nodes_for(a.plan, a.first().figures, 0.8 * run, never);
  CHECK_FALSE(none.nodes);
  CHECK(detail::nodes_text(none).starts_with("none of 5 to "));
  const ForecastAnswer large = asked(8192, {kC});
  tried.clear();
  const NodesAnswer coarse =
      nodes_for(large.plan, large.first().figures, large.first().run->calendar.num(), thirds);
  CHECK(coarse.stride == 32);
  CHECK(std::fmod(tried.front(), 32) == 0);  // 1,024 nodes, the run's own, are on the way
}

TEST_CASE("a plan on other numbers of nodes divides the batch and fits") {
  const problems::Asked question("llama70b", "h100x1024", {{"global_batch", "512"}, {"dp", "32"}});
  const Replan replan = replan_with(question.planner());
  CHECK_FALSE(replan(3));  // 24 GPUs are no 32 replicas
  CHECK_FALSE(replan(4));  // one GPU each does not hold the model
  const auto more = replan(256);
  REQUIRE(more);
  CHECK(more->nodes == 256);
  CHECK(more->tokens_per_step == 512.0 * 8192);
}

TEST_CASE("limits of a run are held against the step of the forecast") {
  const problems::Asked question("llama8b", "h100x64");
  const auto derivation = question.derived();
  REQUIRE(derivation);
  const Trial& t = derivation->chosen;
  ForecastSpec spec;
  spec.input_wait = known(100);
  spec.gpu_mtbf = known(1e9);
  const PlannedRun plan = planned_run(t, explain(t.problem, t.plan, t.cost.stage));
  const ForecastAnswer a = answer_forecast(plan, spec, {kC}, kC, cluster());
  CHECK(forecast_gates(t, {}, a).empty());
  Limits limits;
  limits.max_step_time = 50;
  limits.min_mfu = 0.01;
  limits.max_memory = 1e15;
  const auto gates = forecast_gates(t, limits, a);
  std::string all;
  for (const Gate& g : gates) all += g.id + (g.holds() ? " yes; " : " no; ");
  CHECK(all == "memory.device yes; memory.device yes; forecast.mfu yes; forecast.step no; ");
  ForecastLimits held;
  held.gates = gates;
  CHECK(detail::forecast_verdict(t, a, held) == Verdict::Failed);
  limits.max_step_time = 500;
  held.gates = forecast_gates(t, limits, a);
  CHECK(detail::forecast_verdict(t, a, held) == Verdict::Passed);
}

TEST_CASE("deadline and budget are gates, with and without a failure rate, and when nothing is left") {
  ForecastSpec spec;
  spec.deadline = known(86400);
  spec.budget = known(1e12);
  const auto told = [&](const ForecastAnswer& a) {
    std::string all;
    for (const Gate& g : promise_gates(a, spec)) all += g.id + (g.holds() ? " yes; " : " no; ");
    return all;
  };
  CHECK(told(asked(1024, {kC}, spec)) == "forecast.calendar no; forecast.money yes; ");
  spec.gpu_mtbf = Figure{};
  CHECK(told(asked(1024, {kC}, spec)) == "forecast.least no; forecast.least_money yes; ");
  spec.gpu_mtbf = known(1000.0 * 16384);
  const ForecastAnswer never = asked(16384, {kA, kC}, spec);
  CHECK(told(never) == "forecast.calendar no; forecast.money no; ");
  CHECK(std::get<std::string>(promise_gates(never, spec)[0].cell()) == "never finishes");
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

TEST_CASE("without a failure rate the scenarios and the time of a save are printed") {
  const problems::Asked question("llama8b", "h100x64");
  const auto plan = question.derived();
  REQUIRE(plan);
  ForecastSpec spec;
  spec.gpu_mtbf = Figure{.origin = "option --gpu-mtbf"};
  const ForecastAnswer a = asked(1024, {kA, kC}, spec);
  const Report r = unknown_forecast_report(plan->chosen, a, unknown_run(a, spec), {}, {});
  bool scenarios = false, save = false;
  for (const Section& s : r.sections)
    for (const Block& b : s.blocks) {
      if (const auto* t = std::get_if<Table>(&b); t != nullptr && t->key == "scenarios")
        scenarios = t->rows.size() == 2 && std::get<Value>(t->rows[1][1]).number == 10 &&
                    std::holds_alternative<std::monostate>(t->rows[1][6]);
      if (const auto* f = std::get_if<Facts>(&b))
        for (const Fact& fact : f->facts)
          if (fact.key == "save") save = std::get<Value>(fact.cell).number == 300;
    }
  CHECK(scenarios);
  CHECK(save);
}

TEST_CASE("the budget buys so many tokens, and they cost no more") {
  const ForecastAnswer a = asked(1024, {kB});
  const double cost = a.first().run->money.num();
  CHECK(budget_answer(a.plan, a.first(), cost).holds);
  const BudgetAnswer half = budget_answer(a.plan, a.first(), cost / 2);
  CHECK_FALSE(half.holds);
  PlannedRun p = a.plan;
  p.tokens = half.tokens;
  CHECK(evaluate_run(p, a.first().figures).money.num() <= cost / 2);
  p.tokens = half.tokens + p.tokens_per_step;
  CHECK(evaluate_run(p, a.first().figures).money.num() > cost / 2);
  REQUIRE(half.params);  // 6 N D at the MFU and goodput of this run
  const double flops = cost / 2 / (1024 * 2.5 / 3600) * a.first().run->goodput.num() * 0.4 * 989e12 * 1024;
  CHECK(*half.params == Approx(flops / (6 * 15e12)).epsilon(1e-9));
}

TEST_CASE("of neighbouring intervals the longer one wins from their break-even on") {
  ForecastSpec spec;
  spec.gpu_mtbf = Figure{};
  spec.save_time = known(45);
  spec.detect = {known(600)};
  spec.restart = known(300);
  spec.load = known(120);
  spec.deadline = known(400 * 86400.0);
  const ForecastAnswer a = answer_forecast(planned(1024), spec, {}, kC, cluster());
  CHECK_FALSE(a.known());
  const UnknownRun u = unknown_run(a, spec);
  REQUIRE(u.rows.size() > 3);
  CHECK(u.missing == "gpu_mtbf");
  CHECK(u.rows.front().from == 0);
  CHECK(u.rows.back().to == 0);
  for (std::size_t i = 0; i + 1 < u.rows.size(); ++i) {
    const Seconds<> m{u.rows[i].to}, delta{45};
    CHECK(u.rows[i].to == u.rows[i + 1].from);
    const auto waste = [&](std::size_t k, Seconds<> mtbf) {
      return interval_waste(delta, Seconds<>{u.rows[k].interval}, mtbf).num();
    };
    CHECK(waste(i, m) == Approx(waste(i + 1, m)).epsilon(1e-12));
    CHECK(waste(i, 0.9 * m) < waste(i + 1, 0.9 * m));
    CHECK(waste(i, 1.1 * m) > waste(i + 1, 1.1 * m));
    RunFigures f = a.first().figures;
    REQUIRE(u.rows[i].deadline_from);
    f.gpu_mtbf = known(*u.rows[i].deadline_from * 1024);
    CHECK(evaluate_run(a.plan, f, u.rows[i].interval).calendar.num() == Approx(400 * 86400.0).epsilon(1e-9));
  }
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
  for (const WasteMark& m : c.marks) {
    CHECK(m.at.waste <= c.top);
    CHECK(m.at.interval >= c.shortest());
    CHECK(m.at.interval <= c.longest());
  }
}
