/// The numbers of `forecast`: the run under every scenario, intervals, levers, and what an interval or an
/// alarm buys.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/cost/forecast.hpp"
#include "trainplan/derive/trial.hpp"
#include "trainplan/report/gap_answer.hpp"
#include "trainplan/spec/forecast.hpp"

namespace trainplan {

/// What a forecast takes from a plan. `ledger` is that of the trial.
inline PlannedRun planned_run(const Trial& t, const Ledger& ledger) {
  const auto value = [&](std::string_view id) { return detail::value_in(ledger, id); };
  const ClusterSpec& c = t.problem.cluster();
  const bool causal = t.problem.recipe.convention == FlopConvention::Causal;
  PlannedRun p;
  p.ideal_id = causal ? "compute.ideal_causal" : "compute.ideal_full";
  p.ideal = value(p.ideal_id);
  p.mfu = value(causal ? "step.mfu" : "step.mfu_full");
  p.step = value("step.time");
  p.straggler = value("step.straggler");
  p.exposed = value("step.exposed");
  p.tokens_per_step = value("compute.tokens_per_step");
  p.checkpoint = value("checkpoint.bytes");
  p.per_gpu = value("checkpoint.per_gpu");
  p.layers = t.cost.memory.params.blocks.num();
  p.params = value(ledger.find("params.active") != nullptr ? "params.active" : "params.total");
  p.micro_batches = t.cost.memory.activations.micro_batches.num();
  for (std::size_t i = 0; i < p.data_behind.size(); ++i) p.data_behind[i] = t.cost.comm.data_behind[i].num();
  p.used = t.cost.comm.used;
  p.overlap = data_overlap(t.problem.recipe);
  p.nodes = static_cast<double>(c.nodes);
  p.gpus_per_node = static_cast<double>(c.gpus_per_node);
  p.tdp = c.accelerator.tdp;
  p.host_link = c.host_link;
  p.tokens = t.problem.recipe.tokens;
  return p;
}

/// The run under one scenario, or under none; what the cluster and the command line say is the same.
/// own_save: the scenario says how long a save takes.
struct ScenarioRun {
  std::string name, title;
  RunFigures figures;
  RunWork<double> work;
  std::optional<LongRun<double>> run;  // not without the figures that a goodput needs
  double best_goodput = 0;
  bool own_save = false;
};

/// goodput of the five terms and of Daly's complete form at that interval.
struct IntervalRow {
  std::string id, method, note;
  double interval = 0, steps = 0, goodput = 0, complete = 0;
};

/// A stretch of intervals that are at most so many points below the best.
struct FlatBand {
  double points = 0, low = 0, high = 0;
};

/// Of a way of saving, at its best interval.
struct SavingRow {
  Saving saving = Saving::Sync;
  double stop = 0, lag = 0, interval = 0, goodput = 0;
};

/// What one change brings; cumulative with all rows above. time and money of the run; fewer are above zero.
struct LeverRow {
  std::string id, title;
  Value from, to;
  double points = 0, time = 0, money = 0;
  double all_goodput = 0, all_time = 0, all_money = 0;
};

/// GPU time of a day, first order: what the shorter rollback or the fewer saves give back, what the others
/// take. by_goodput: what the change of the goodput gives back.
struct IntervalChange {
  double interval = 0, gross = 0, taken = 0, net = 0, goodput = 0, by_goodput = 0;
  std::string name;
};

/// A failure noticed sooner. Of a day, and the goodput, only where the failure rate is known.
struct AlarmRow {
  double detect = 0, gpu_time = 0, gpu_time_of_day = 0, money = 0, money_of_day = 0, goodput = 0;
};

struct ForecastAnswer {
  PlannedRun plan;
  std::vector<ScenarioRun> scenarios;  // at least one; the first is the one that is priced
  std::vector<IntervalRow> intervals;
  std::vector<FlatBand> flat;
  std::vector<SavingRow> savings;
  std::vector<LeverRow> levers;
  std::string lever_target;
  std::optional<LeverRow> costly_spare;  // one more spare node, where it costs more than it gives back
  std::vector<IntervalChange> changes;
  std::vector<AlarmRow> alarms;

  const ScenarioRun& first() const { return scenarios.front(); }
  bool known() const { return first().run.has_value(); }
  bool finishes() const { return known() && first().run->finishes; }
};

/// The same where the step is at the worse end of its range; as it is without a confidence.
inline ForecastAnswer at_worse_end(const Trial& t, ForecastAnswer a) {
  if (!t.problem.recipe.confidence) return a;
  const double ratio = t.cost.range.time_high.num() / t.cost.step.step.num();
  a.plan.step *= ratio;
  a.plan.mfu /= ratio;
  ScenarioRun& s = a.scenarios.front();
  Eval rec;
  run_work(rec, a.plan, s.figures, s.work);
  if (s.run) s.run = evaluate_run(a.plan, s.figures);
  return a;
}

namespace detail {

/// The run with another efficiency of its compute; waits that are given beside it stay.
inline void set_efficiency(PlannedRun& p, RunFigures& f, double to) {
  if (f.efficiency.known) {
    f.efficiency.value = to;
    return;
  }
  const double waits = f.straggler_wait.known ? p.straggler : 0;
  p.step = (p.step - waits) * (p.mfu / to) + waits;
  p.mfu = to;
}

inline double goodput_of(const PlannedRun& p, const RunFigures& f, double interval) {
  return evaluate_run(p, f, interval).goodput.num();
}

inline ScenarioRun scenario_run(const PlannedRun& p, const ForecastSpec& spec, const Scenario* scenario,
                                const ClusterSpec& cluster) {
  ScenarioRun out;
  out.name = scenario != nullptr ? scenario->name : "as given";
  out.title = scenario != nullptr ? scenario->title : "";
  out.figures = run_figures(spec, scenario, cluster);
  out.own_save = scenario != nullptr && scenario->save_time && !spec.save_time && !spec.save_bandwidth;
  Eval rec;
  run_work(rec, p, out.figures, out.work);
  if (!out.figures.known()) return out;
  out.run = evaluate_run(p, out.figures);
  out.best_goodput = goodput_of(p, out.figures, out.run->best.num());
  return out;
}

/// "one save", "one write" or "one step": what an interval cannot be shorter than.
inline std::string least_text(const LongRun<double>& run) {
  return run.least == run.stop ? "one save" : run.least == run.lag ? "one write" : "one step";
}

/// Every interval that a formula recommends, raised to what is possible, and the one that was given, with the
/// goodput that it has.
inline std::vector<IntervalRow> interval_rows(const PlannedRun& p, const ScenarioRun& s) {
  const LongRun<double>& run = *s.run;
  const RunFigures& f = s.figures;
  const Seconds<> recovery{f.detect.value + f.restart.value + f.load.value};
  std::vector<IntervalRow> rows;
  const auto row = [&](std::string id, std::string method, Seconds<> tau, std::string note) {
    if (tau < run.least) {
      tau = run.least;
      note += "; raised to " + least_text(run);
    }
    const LongRun<double> at = evaluate_run(p, f, tau.num());
    rows.push_back({std::move(id), std::move(method), std::move(note), tau.num(),
                    std::max(1.0, std::round((tau / run.step).num())), at.goodput.num(), at.complete.num()});
  };
  const bool rare = run.stop.num() < 2 * run.joint.num();
  row("young", "Young, first order", young_interval(run.stop, run.joint), "sqrt(2 delta M)");
  row("restart", "first order, recovery beside it", restart_interval(run.stop, run.joint, recovery),
      "sqrt(2 delta (M + R)) - delta");
  row("daly", "Daly, higher order", daly_interval(run.stop, run.joint),
      rare ? "delta subtracted" : "a save takes 2 M and more: M");
  row("retry", "Poisson failures, retried", retry_interval(run.stop, run.joint),
      "y - 1 + exp(-y - delta/M) = 0");
  row("best", "exact, of this goodput", run.best, "zero of its derivative");
  if (f.interval.known) row("given", "as given", Seconds<>{f.interval.value}, f.interval.origin);
  return rows;
}

inline std::vector<FlatBand> flat_bands(const ScenarioRun& s) {
  std::vector<FlatBand> out;
  const LongRun<double>& run = *s.run;
  for (const double points : {0.001, 0.005}) {
    const Count<> g = Count<>{s.best_goodput - points} / run.running;
    if (g.num() <= 0 || run.fixed.num() >= 1) continue;
    out.push_back({points, std::max(flat_low(run.stop, run.joint, run.fixed, g), run.least).num(),
                   flat_high(run.stop, run.joint, run.fixed, g).num()});
  }
  return out;
}

inline std::vector<SavingRow> saving_rows(const PlannedRun& p, RunFigures f) {
  std::vector<SavingRow> out;
  f.interval = {};
  for (const Saving saving : {Saving::Sync, Saving::Async}) {
    if (saving == Saving::Async && !f.copy_time.known && !p.host_link.known) continue;
    f.saving = saving;
    const LongRun<double> run = evaluate_run(p, f);
    out.push_back({saving, run.stop.num(), run.lag.num(), run.best.num(), goodput_of(p, f, run.best.num())});
  }
  return out;
}

/// The current interval against the others that were named, and against Young's.
inline std::vector<IntervalChange> interval_changes(const PlannedRun& p, const ScenarioRun& s,
                                                    const std::vector<Figure>& said) {
  std::vector<IntervalChange> out;
  const LongRun<double>& run = *s.run;
  const Seconds<> day{86400};
  // Saves and failures are of the time that the job runs.
  const auto share = [&](Count<> x) { return share_of_gpu_time(x, day * run.running, run.gpus).num(); };
  const auto change = [&](std::string name, Seconds<> to) {
    const Seconds<> from = run.interval;
    const double back = share(rollback_share(from, run.joint) - rollback_share(to, run.joint)),
                 net = share(interval_waste(run.stop, from, run.joint) -
                             interval_waste(run.stop, to, run.joint)),
                 saves = net - back;
    const Count<> g{goodput_of(p, s.figures, to.num())};
    out.push_back({to.num(), std::max(back, saves), std::max(0.0, -std::min(back, saves)), net, g.num(),
                   share_of_gpu_time(g - run.goodput, day, run.gpus).num(), std::move(name)});
  };
  for (std::size_t i = 1; i < said.size(); ++i) change("as named", Seconds<>{said[i].value});
  if (!said.empty()) change("Young's", run.young);
  if (!said.empty()) change("exact optimum", run.best);
  return out;
}

inline std::vector<AlarmRow> alarm_rows(const PlannedRun& p, const ScenarioRun& s,
                                        const std::vector<Figure>& detect) {
  std::vector<AlarmRow> out;
  const Seconds<> day{86400};
  if (!s.figures.detect.known) return out;
  for (std::size_t i = 1; i < detect.size(); ++i) {
    const Seconds<> each = time_saved(Seconds<>{s.figures.detect.value}, Seconds<>{detect[i].value});
    RunFigures f = s.figures;
    f.detect = detect[i];
    const UsdPerSec<> price{f.price.known ? f.price.value : 0};
    AlarmRow row{.detect = detect[i].value,
                 .gpu_time = gpu_time(each, s.work.held).num(),
                 .money = cost_of_time(each, s.work.held, price).num()};
    if (s.run) {
      const Seconds<> of_day = incident_time(each, day * s.run->running, s.run->mtbf);
      row.gpu_time_of_day = gpu_time(of_day, s.work.held).num();
      row.money_of_day = cost_of_time(of_day, s.work.held, price).num();
      row.goodput = evaluate_run(p, f).goodput.num();
    }
    out.push_back(row);
  }
  return out;
}

}  // namespace detail

}  // namespace trainplan
