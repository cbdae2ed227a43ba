// What a forecast is held against: deadline, budget, limits, and all of them without a failure rate.
#include <cmath>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "catch.hpp"
#include "sample_forecast.hpp"

using namespace trainplan;
using namespace forecasts;

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
  const problems::Asked question("llama8b", "h100x64");
  const auto derivation = question.derived();
  REQUIRE(derivation);
  const Trial& t = derivation->chosen;
  const auto told = [&](const ForecastAnswer& a) {
    std::string all;
    for (const Gate& g : promise_gates(t, a, spec)) all += g.id + (g.holds() ? " yes; " : " no; ");
    return all;
  };
  CHECK(told(asked(1024, {kC}, spec)) == "forecast.calendar no; forecast.money yes; ");
  spec.gpu_mtbf = Figure{};
  CHECK(told(asked(1024, {kC}, spec)) == "forecast.least no; forecast.least_money yes; ");
  spec.gpu_mtbf = known(1000.0 * 16384);
  const ForecastAnswer never = asked(16384, {kA, kC}, spec);
  CHECK(told(never) == "forecast.calendar no; forecast.money no; ");
  CHECK(std::get<std::string>(promise_gates(t, never, spec)[0].cell()) == "never finishes");
}

TEST_CASE("with a confidence deadline and budget are held against the worse end of the step") {
  const problems::Asked question("llama8b", "h100x64", {{"confidence", "80 %"}});
  const auto derivation = question.derived();
  REQUIRE(derivation);
  const Trial& t = derivation->chosen;
  const double slower = t.cost.range.time_high.num() / t.cost.step.step.num();
  REQUIRE(slower > 1.01);
  const ForecastAnswer a = asked(1024, {kC});
  const double days = a.first().run->calendar.num(), money = a.first().run->money.num();
  ForecastSpec spec;
  spec.deadline = known(days * (1 + slower) / 2);
  spec.budget = known(money * (1 + slower) / 2);
  const auto gates = promise_gates(t, a, spec);
  REQUIRE(gates.size() == 2);
  CHECK(gates[0].id == "forecast.calendar_high");
  CHECK(gates[0].value.number == Approx(days * slower).epsilon(1e-9));
  CHECK_FALSE(gates[0].holds());
  CHECK_FALSE(gates[1].holds());
  ForecastLimits limits;
  limits.deadline = deadline_answer(a.plan, a.first(), spec.deadline->value);
  limits.budget = budget_answer(a.plan, a.first(), spec.budget->value);
  CHECK(limits.deadline->holds);
  CHECK(limits.budget->holds);
  hold_worse_end(at_worse_end(t, a), limits);
  CHECK_FALSE(limits.deadline->holds);
  CHECK_FALSE(limits.budget->holds);
  ForecastSpec blind = spec;
  blind.gpu_mtbf = Figure{.origin = "option --gpu-mtbf"};
  const ForecastAnswer unknown = asked(1024, {kC}, blind);
  blind.deadline = known(*least_run(unknown).time * (1 + slower) / 2);
  CHECK(unknown_forecast_report(t, unknown, unknown_run(unknown, blind), {}, {}).verdict == Verdict::Failed);
}

TEST_CASE(
    "with loss spikes, whose cost goes with the step, the least efficiency and the step still keep it") {
  ForecastSpec spec;
  spec.spike_every = known(86400);
  const ForecastAnswer a = asked(1024, {kB}, spec);
  const RunFigures& f = a.first().figures;
  const double deadline = 0.8 * a.first().run->calendar.num();
  const DeadlineAnswer d = deadline_answer(a.plan, a.first(), deadline);
  REQUIRE(d.efficiency);
  const auto calendar = [&](double efficiency) {
    PlannedRun p = a.plan;
    RunFigures figures = f;
    detail::set_efficiency(p, figures, efficiency);
    return evaluate_run(p, figures).calendar.num();
  };
  CHECK(calendar(*d.efficiency) <= deadline);
  CHECK(calendar(*d.efficiency * (1 - 1e-9)) > deadline);
  CHECK(detail::calendar_at_step(a.plan, f, d.cap) <= deadline);
  CHECK(detail::calendar_at_step(a.plan, f, d.cap * (1 + 1e-9)) > deadline);
}

TEST_CASE("without a failure rate spikes, repairs and alarms count all the same") {
  ForecastSpec spec;
  spec.gpu_mtbf = Figure{.origin = "option --gpu-mtbf"};
  spec.detect = {known(600), known(100)};
  spec.deadline = known(600 * 86400.0);
  const ForecastAnswer plain = asked(1024, {kA}, spec);
  spec.spike_every = known(86400);
  spec.repair = known(3600);
  const ForecastAnswer a = asked(1024, {kA}, spec);
  REQUIRE(a.alarms.size() == 1);
  CHECK(a.alarms[0].gpu_time == Approx(500.0 * 1024));
  CHECK(a.alarms[0].gpu_time_of_day == 0);
  const auto before = unknown_run(plain, spec).rows, rows = unknown_run(a, spec).rows;
  REQUIRE_FALSE(rows.empty());
  CHECK(rows.size() < before.size());  // beside a spike a day the longest intervals never win
  CHECK(rows.back().to == 0);
  CHECK(rows[1].from > before[1].from);
  const Seconds<> joint = joint_mtbf(Seconds<>{rows[0].to}, Seconds<>{86400});
  CHECK(joint.num() ==
        Approx(
            break_even_mtbf(Seconds<>{300}, Seconds<>{rows[0].interval}, Seconds<>{rows[1].interval}).num()));
  RunFigures f = a.first().figures;
  REQUIRE(rows[1].deadline_from);
  f.gpu_mtbf = known(*rows[1].deadline_from * 1024);
  CHECK(evaluate_run(a.plan, f, rows[1].interval).calendar.num() == Approx(600 * 86400.0).epsilon(1e-9));
}

TEST_CASE("intervals that are recommended without a failure rate are no shorter than a write") {
  ForecastSpec spec;
  spec.gpu_mtbf = Figure{.origin = "option --gpu-mtbf"};
  spec.saving = Saving::Async;
  spec.save_time = known(1000);
  spec.copy_time = known(2);
  const UnknownRun u = unknown_run(asked(1024, {kA}, spec), spec);
  REQUIRE_FALSE(u.rows.empty());
  CHECK(u.rows.front().interval == 1800);
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
  REQUIRE(half.params);  // 6 N D at the speed and goodput of this run; attention has no parameters
  const double flops = cost / 2 / (1024 * 2.5 / 3600) * a.first().run->goodput.num() * 0.38 * 989e12 * 1024;
  CHECK(*half.params == Approx(flops / (6 * 15e12)).epsilon(1e-9));
  CHECK(*budget_answer(a.plan, a.first(), cost).params == Approx(a.plan.params).epsilon(1e-6));
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
