#include "trainplan/cost/forecast.hpp"

#include <cmath>

#include "catch.hpp"
#include "trainplan/base/lambert.hpp"
#include "trainplan/cost/forecast_rules.hpp"

using namespace trainplan;

namespace {

Figure known(double value, std::string origin = "option --x") {
  return {.value = value, .origin = std::move(origin), .known = true};
}

/// A step of 50 s on 16 nodes of 8 GPUs, without communication that shows.
PlannedRun planned() {
  PlannedRun p;
  p.ideal = 20;
  p.ideal_id = "compute.ideal_causal";
  p.step = 50;
  p.mfu = 0.4;
  p.tokens_per_step = 1e6;
  p.checkpoint = 1e12;
  p.per_gpu = 1e12 / 128;
  p.layers = 32;
  p.micro_batches = 8;
  p.nodes = 16;
  p.gpus_per_node = 8;
  p.tokens = 1e11;
  return p;
}

/// A failure of the job every 10,000 s, 100 s to save, 300 s to recover.
RunFigures figures() {
  ForecastSpec spec;
  spec.save_time = known(100);
  spec.gpu_mtbf = known(128 * 10000.0);
  spec.detect = {known(200)};
  spec.restart = known(60);
  spec.load = known(40);
  return run_figures(spec, nullptr, ClusterSpec{});
}

double total_share(const LongRun<double>& run) {
  double sum = run.goodput.num();
  for (const Count<>& x : run.share) sum += x.num();
  return sum;
}

}  // namespace

TEST_CASE("without anything else the goodput is that of the five terms at Young's interval") {
  const LongRun<double> run = evaluate_run(planned(), figures());
  const double tau = std::sqrt(2 * 100 * 10000.0);
  CHECK(run.mtbf.num() == 10000);
  CHECK(run.interval.num() == Approx(tau).epsilon(1e-14));
  CHECK(run.goodput.num() == Approx((1 - (300 + tau / 2) / 10000) / (1 + 100 / tau)).epsilon(1e-14));
  CHECK(run.finishes);
  CHECK(run.steps.num() == 100000);
  CHECK(run.calendar.num() == Approx(100000 * 50 / run.goodput.num()).epsilon(1e-12));
}

TEST_CASE("the shares and the goodput make up the whole, with every loss there is") {
  RunFigures f = figures();
  CHECK(total_share(evaluate_run(planned(), f)) == Approx(1).epsilon(1e-12));
  f.repair = known(3600);
  f.spares = known(1);
  f.spike_every = known(86400);
  f.spike_back = known(100);
  f.spike_noticed = known(5);
  f.saving = Saving::Async;
  f.copy_time = known(3);
  const LongRun<double> run = evaluate_run(planned(), f);
  CHECK(total_share(run) == Approx(1).epsilon(1e-12));
  for (const RunLoss loss : kAllRunLosses) {
    CAPTURE(index_of(loss));
    CHECK(run.share[index_of(loss)].num() > 0);
  }
}

TEST_CASE("the best interval is better than its neighbours, with spikes and spares too") {
  RunFigures f = figures();
  for (const bool more : {false, true}) {
    if (more) f.spike_every = known(50000), f.repair = known(2000);
    const LongRun<double> run = evaluate_run(planned(), f);
    const auto at = [&](double tau) { return evaluate_run(planned(), f, tau).goodput.num(); };
    const double best = at(run.best.num());
    CHECK(best > at(0.98 * run.best.num()));
    CHECK(best > at(1.02 * run.best.num()));
  }
}

TEST_CASE("the explained run is the evaluated one, bit for bit") {
  RunFigures f = figures();
  for (const bool more : {false, true}) {
    if (more) {
      f.efficiency = known(0.4);
      f.straggler_wait = known(1);
      f.spike_every = known(50000);
      f.repair = known(20000);
      f.spares = known(2);
    }
    Explain rec;
    const auto traced = long_run(rec, planned(), f);
    const LongRun<double> plain = evaluate_run(planned(), f);
    CHECK(value_of(traced.goodput) == plain.goodput.num());
    CHECK(value_of(traced.calendar) == plain.calendar.num());
    CHECK(value_of(traced.best) == plain.best.num());
    CHECK(rec.ledger().find("forecast.goodput")->value == plain.goodput.num());
  }
}

TEST_CASE("an assumed efficiency replaces the compute, and communication hides behind it") {
  PlannedRun p = planned();
  p.exposed = 3;
  p.used[static_cast<std::size_t>(HidesBehind::Compute)] = true;
  p.data_behind[static_cast<std::size_t>(HidesBehind::Compute)] = 25.6;
  RunFigures f = figures();
  f.efficiency = known(0.5);
  f.input_wait = known(0.5);
  const LongRun<double> run = evaluate_run(p, f);
  CHECK(run.compute.num() == Approx(40));
  // of 25.6 s behind 40 s the first of 32 x 8 pieces shows; what else the plan exposes is part of the
  // efficiency
  CHECK(run.rest.num() == Approx(0.1 + 0.5));
  f.efficiency = known(1);  // 20 s of compute: 5.6 s do not fit behind it
  CHECK(evaluate_run(p, f).rest.num() == Approx(5.6 + 0.5));
  p.overlap.traffic = false;
  CHECK(evaluate_run(p, f).rest.num() == Approx(25.6 + 0.5));
}

TEST_CASE("a straggler wait that is given takes the place of the plan's") {
  PlannedRun p = planned();
  p.straggler = 2;
  RunFigures f = figures();
  CHECK(evaluate_run(p, f).step.num() == 50);
  f.straggler_wait = known(5);
  CHECK(evaluate_run(p, f).step.num() == 53);
}

TEST_CASE("spare nodes shorten the wait for a node and are paid") {
  RunFigures f = figures();
  f.price = known(1.0 / 3600);
  f.repair = known(10000);
  const LongRun<double> none = evaluate_run(planned(), f);
  CHECK(none.share[index_of(RunLoss::Replacement)].num() == Approx(0.5));  // waits as long as it runs
  CHECK(none.finishes);
  f.spares = known(1);
  const LongRun<double> one = evaluate_run(planned(), f);
  CHECK(one.share[index_of(RunLoss::Replacement)].num() ==
        Approx(0.2));  // a half waits, for half of the time: 2,500 s beside 10,000 s
  CHECK(one.held.num() == 136);
  CHECK(one.money.num() == Approx(one.calendar.num() * 136 / 3600));
}

TEST_CASE("a wait for a node stops failures too: it divides the goodput and moves no interval") {
  RunFigures f = figures();
  const LongRun<double> without = evaluate_run(planned(), f);
  f.repair = known(86400);  // 8.64 times as long as failures are apart
  const LongRun<double> run = evaluate_run(planned(), f);
  CHECK(run.running.num() == Approx(1 / 9.64).epsilon(1e-12));
  CHECK(run.goodput.num() == Approx(without.goodput.num() / 9.64).epsilon(1e-12));
  CHECK(run.complete.num() == Approx(without.complete.num() / 9.64).epsilon(1e-12));
  CHECK(run.crowding == without.crowding);
  CHECK(run.best == without.best);
  CHECK(total_share(run) == Approx(1).epsilon(1e-12));
  CHECK(run.finishes);
  CHECK(largest_loss(run) != RunLoss::Replacement);
}

TEST_CASE("a run that loses more than it has never finishes, and has neither days nor dollars") {
  RunFigures f = figures();
  f.gpu_mtbf = known(128 * 250.0);
  const LongRun<double> run = evaluate_run(planned(), f);
  CHECK_FALSE(run.finishes);
  CHECK(run.calendar.num() == 0);
  CHECK(run.money.num() == 0);
}

TEST_CASE("Daly's complete form stands beside the five terms, with everything that a failure costs") {
  RunFigures f = figures();
  const LongRun<double> run = evaluate_run(planned(), f);
  const Seconds<> delta{100}, tau{std::sqrt(2 * 100 * 10000.0)}, mtbf{10000}, recovery{300};
  CHECK(run.complete.num() == Approx(retry_goodput(delta, tau, mtbf, recovery).num()).epsilon(1e-12));
  CHECK(run.crowding.num() == Approx((100 + tau.num() + 300) / 10000));
  CHECK(run.complete_calendar.num() == Approx(100000 * 50 / run.complete.num()).epsilon(1e-12));
  f.repair = known(1000);  // without a spare every failure waits for it, and none strikes meanwhile
  CHECK(evaluate_run(planned(), f).complete.num() ==
        Approx(retry_goodput(delta, tau, mtbf, recovery).num() / 1.1).epsilon(1e-12));
}

TEST_CASE("where only the five terms leave nothing, the complete form still has a goodput and a calendar") {
  RunFigures f = figures();
  f.gpu_mtbf = known(128 * 400.0);
  const LongRun<double> run = evaluate_run(planned(), f);
  CHECK_FALSE(run.finishes);
  CHECK(run.complete.num() > 0.2);
  CHECK(run.complete_calendar.num() == Approx(100000 * 50 / run.complete.num()).epsilon(1e-12));
  CHECK(run.crowding.num() > 0.45);
}

TEST_CASE("what takes most time is named, be it recovery, the interval or spikes") {
  RunFigures f = figures();
  f.detect = known(20000);
  CHECK(largest_loss(evaluate_run(planned(), f)) == RunLoss::Detect);
  f.interval = known(50000);
  CHECK(largest_loss(evaluate_run(planned(), f)) == RunLoss::Rollback);
  f = figures();
  f.spike_every = known(3000);
  f.spike_back = known(100);
  const LongRun<double> run = evaluate_run(planned(), f);
  CHECK_FALSE(run.finishes);
  CHECK(largest_loss(run) == RunLoss::Spikes);
}

TEST_CASE("the bound of the energy counts planned stops and spare nodes") {
  PlannedRun p = planned();
  p.tdp = known(700);
  RunFigures f = figures();
  const double bare = evaluate_run(p, f).energy.num();
  f.planned_stop = known(86400);
  CHECK(evaluate_run(p, f).energy.num() == Approx(bare + 86400.0 * 128 * 700).epsilon(1e-12));
  f.repair = known(0);
  f.spares = known(2);
  const LongRun<double> run = evaluate_run(p, f);
  CHECK(run.energy.num() == Approx(run.calendar.num() * 144 * 700).epsilon(1e-12));
}

TEST_CASE("a synchronous save that takes longer than Young's interval raises it") {
  RunFigures f = figures();
  f.save_time = known(50000);  // Young: 31,623 s
  const LongRun<double> run = evaluate_run(planned(), f);
  CHECK(run.least.num() == 50000);
  CHECK(run.interval.num() == 50000);
  CHECK(run.best.num() == 50000);
  Issues issues;
  judge_run(planned(), f, {run.interval.num() == 50000 ? known(50000) : known(1)}, run, issues);
  CHECK(issues.all().empty());
}

TEST_CASE("intervals are at least a step, and asynchronous ones a write") {
  RunFigures f = figures();
  f.save_time = known(0);
  CHECK(evaluate_run(planned(), f).young.num() == 50);
  f.save_time = known(5000);
  f.saving = Saving::Async;
  f.copy_time = known(1);
  const LongRun<double> run = evaluate_run(planned(), f);
  CHECK(run.young.num() == 5000);
  CHECK(run.best.num() == 5000);
}

TEST_CASE("options come before scenarios, scenarios before the cluster") {
  ClusterSpec c;
  c.detect = known(600);
  c.restart = known(300);
  c.storage_write = known(1e9);
  Scenario s;
  s.detect = known(60);
  s.save_time = known(10);
  ForecastSpec spec;
  CHECK(run_figures(spec, nullptr, c).detect.value == 600);
  CHECK(run_figures(spec, &s, c).detect.value == 60);
  CHECK(run_figures(spec, &s, c).restart.value == 300);
  CHECK(run_figures(spec, &s, c).save_time.value == 10);
  spec.detect = {known(5), known(1)};
  spec.save_bandwidth = known(7e9);
  const RunFigures f = run_figures(spec, &s, c);
  CHECK(f.detect.value == 5);
  CHECK_FALSE(f.save_time.known);  // a bandwidth on the command line says how long a save takes
  CHECK(f.save_bandwidth.value == 7e9);
  spec.recovery = known(120);
  CHECK(run_figures(spec, &s, c).restart.value == 120);
  CHECK(run_figures(spec, &s, c).detect.value == 0);
}

TEST_CASE("every mistake of a forecast is recorded where it was said") {
  ForecastSpec spec;
  spec.recovery = known(120, "option --recovery");
  spec.load = known(1, "option --load");
  spec.save_time = known(1, "run.json /forecast/save_time");
  spec.save_bandwidth = known(1, "option --save-bandwidth");
  spec.deadline = known(86400, "option --deadline");
  spec.planned_stop = known(86400, "option --planned-stop");
  spec.spares = known(1.5, "option --spares");
  spec.spike_back = known(100, "option --spike-back");
  Issues issues;
  judge_forecast(spec, issues);
  std::string all;
  for (const Issue& i : issues.all()) all += i.rule + " " + i.file + " " + i.pointer + "; ";
  CHECK(all ==
        "twice  --recovery; twice run.json /forecast/save_time; stop-within-deadline  --planned-stop; "
        "spares-need-repair  --spares; integer  --spares; spikes-need-rate  --spike-back; ");
}

TEST_CASE("intervals must hold a save and a step, and a job must outlive a restart") {
  const PlannedRun p = planned();
  RunFigures f = figures();
  f.gpu_mtbf = known(128 * 59.0, "option --gpu-mtbf");
  Eval rec;
  RunWork<double> work;
  run_work(rec, p, f, work);
  Issues issues;
  judge_run(p, f, {known(99, "option --interval"), known(100), known(1800)}, work, issues);
  REQUIRE(issues.all().size() == 2);
  CHECK(issues.all()[0].rule == "interval-above-save");
  CHECK(issues.all()[0].pointer == "--interval");
  CHECK(issues.all()[1].rule == "mtbf-above-restart");
  f.save_time = known(1);
  RunWork<double> quick;
  run_work(rec, p, f, quick);
  Issues steps;
  f.gpu_mtbf = known(128 * 61.0);
  judge_run(p, f, {known(49), known(50)}, quick, steps);
  REQUIRE(steps.all().size() == 1);
  CHECK(steps.all()[0].rule == "interval-above-step");
}

TEST_CASE("a time to copy and a scenario twice are refused, each with what it contradicts") {
  ForecastSpec spec;
  spec.copy_time = known(2, "run.json /forecast/copy_time");
  spec.scenarios = {"A", "B", "A", "A"};
  spec.scenarios_origin = "option --scenario";
  Issues issues;
  judge_forecast(spec, issues);
  REQUIRE(issues.all().size() == 2);
  CHECK(issues.all()[0].rule == "copy-needs-async");
  CHECK(issues.all()[0].pointer == "/forecast/copy_time");
  CHECK(issues.all()[0].must.find("saving = sync") != std::string::npos);
  CHECK(issues.all()[1].rule == "twice");
  CHECK(issues.all()[1].pointer == "--scenario");
  CHECK(issues.all()[1].got == "A and A");
  spec.saving = Saving::Async;
  spec.scenarios = {"A", "B"};
  Issues none;
  judge_forecast(spec, none);
  CHECK(none.all().empty());
}

TEST_CASE("a warning says that the five terms are far from the complete form, recovery alone or not") {
  RunFigures f = figures();
  f.gpu_mtbf = known(128 * 3000.0, "option --gpu-mtbf");
  Issues issues;
  judge_crowding(f, evaluate_run(planned(), f), "A", issues);
  REQUIRE(issues.all().size() == 1);
  CHECK(issues.all()[0].level == Severity::Warning);
  CHECK(issues.all()[0].pointer == "--gpu-mtbf");
  CHECK(issues.all()[0].got.starts_with("scenario A: a crowding of 0.392, a goodput of "));
  f = figures();  // a recovery of 1,600 s, hardly a save: a crowding of 0.15 alone does not tell
  f.save_time = known(0.1);
  f.detect = known(1000);
  f.restart = known(480);
  f.load = known(120);
  f.gpu_mtbf = known(128 * 10986.0);
  Issues recovery;
  judge_crowding(f, evaluate_run(planned(), f), "", recovery);
  CHECK(recovery.all().size() == 1);
  f = figures();  // both leave next to nothing, the five terms nothing at all
  f.interval = known(200000);
  Issues never;
  judge_crowding(f, evaluate_run(planned(), f), "", never);
  CHECK(never.all().size() == 1);
  f = figures();
  f.gpu_mtbf = known(128 * 20000.0);
  Issues none;
  judge_crowding(f, evaluate_run(planned(), f), "", none);
  CHECK(none.all().empty());
}

TEST_CASE("Lambert's W inverts w exp(w)") {
  for (const double w : {-0.999999, -0.99, -0.5, -0.1, 0.0, 0.5, 1.0, 3.0, 20.0}) {
    CAPTURE(w);
    CHECK(lambert_w(w * std::exp(w)) == Approx(w).margin(1e-9));
  }
  CHECK(lambert_w(-std::exp(-1.0)) == Approx(-1).margin(1e-7));
  CHECK(std::isnan(lambert_w(-1)));
}
