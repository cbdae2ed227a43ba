/// Sections of a forecast about the run itself: its step, what saving and failing cost, days and dollars,
/// limits.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trainplan/report/build.hpp"
#include "trainplan/report/forecast_limits.hpp"
#include "trainplan/report/plan_report.hpp"

namespace trainplan {

namespace detail {

inline Value days_value(double s) { return {s, Unit::Days}; }
inline Cell money_cell(const Figure& price, double usd) {
  return price.known ? Cell(Value{usd, Unit::Usd}) : Cell{};
}

/// A goodput of zero or less is no number: the job does not get on.
inline Cell goodput_cell(double g) {
  return g > 0 ? Cell(Value{g, Unit::Share}) : Cell(std::string("never finishes"));
}

/// Where a figure was said; a scenario, a cluster and an option are places of one kind.
inline std::string note_of(const Figure& f) { return (f.assumed ? "assumed; " : "") + f.origin; }

inline Section forecast_step_section(const Trial& t, const ForecastAnswer& a, const RunWork<double>& work) {
  const PlannedRun& p = a.plan;
  const RunFigures& f = a.first().figures;
  Section s{"step", "Step", {}};
  Facts out{"", {}};
  out.add("plan", "plan", degrees_text(t.plan));
  out.facts.push_back(constants_fact(t.problem.calibration()));
  if (f.efficiency.known)
    out.add("efficiency", "efficiency of the compute", Value{f.efficiency.value, Unit::Share},
            "assumed, " + f.efficiency.origin +
                "; recompute, kernels, launches, bubble and messages within a replica are part of it");
  else
    out.add("mfu", "MFU of the plan", Value{p.mfu, Unit::Share}, "predicted");
  out.add("compute", f.efficiency.known ? "compute" : "step of the plan", time_value(work.compute.num()),
          f.efficiency.known ? "ideal step / efficiency" : "predicted, with what it waits for");
  if (f.efficiency.known)
    out.add("exposed", "data-parallel traffic that shows",
            time_value(work.rest.num() - f.input_wait.value -
                       (f.straggler_wait.known ? f.straggler_wait.value : 0)),
            "the rest hides behind that compute");
  out.add("input_wait", "wait for input", time_value(f.input_wait.value), note_of(f.input_wait));
  if (f.straggler_wait.known)
    out.add("straggler_wait", "wait for the slowest GPU", time_value(f.straggler_wait.value),
            note_of(f.straggler_wait));
  out.add("step", "step", time_value(work.step.num()));
  out.add("tokens_per_step", "tokens of a step", Value{p.tokens_per_step, Unit::Tokens});
  if (p.tokens) {
    out.add("tokens", "tokens", Value{*p.tokens, Unit::Tokens});
    out.add("steps", "steps", Value{work.steps.num(), Unit::Whole});
  }
  s.blocks.push_back(std::move(out));
  return s;
}

/// What a scenario's save time counts, where it has one.
inline std::string scenario_save_text(Saving saving) {
  return saving == Saving::Sync
             ? "priced is the time that a save stops training, not what is lost while a copy is not yet on "
               "storage: --saving async with --copy-time and --save-time prices that too"
             : "the scenario's save time counts as the write in the background";
}

/// What a save stops and how it is said; nothing where no save time is known.
inline void add_saving(Facts& out, const ScenarioRun& s) {
  const RunFigures& f = s.figures;
  out.add("saving", "saving", std::string(name_of(f.saving)), s.own_save ? scenario_save_text(f.saving) : "");
  if (!f.can_save()) return;
  out.add("save", "one save stops training for", time_value(s.work.stop.num()),
          f.saving == Saving::Async ? "copy to the host"
          : f.save_time.known       ? note_of(f.save_time)
                                    : "checkpoint / " + note_of(f.save_bandwidth));
  if (f.saving == Saving::Async) out.add("lag", "until it is on storage", time_value(s.work.lag.num()));
}

inline void add_recovery(Facts& out, const RunFigures& f) {
  const auto add = [&](const char* key, const char* label, const Figure& x) {
    if (x.known)
      out.add(key, label, time_value(x.value), note_of(x));
    else
      out.add(key, label, std::string("unknown"), x.origin);
  };
  if (f.one_recovery) return add("recovery", "whole recovery", f.restart);
  add("detect", "time to notice", f.detect);
  add("restart", "time to restart", f.restart);
  add("load", "time to load", f.load);
}

/// The goodput of the five terms, Daly's beside it, and how far the five hold.
inline Facts goodput_facts(const ForecastAnswer& a) {
  const LongRun<double>& run = *a.first().run;
  Facts out{"", {}};
  const auto add = [&](const char* key, const char* label, Cell cell, std::string note, const char* id) {
    out.facts.push_back({key, label, std::move(cell), std::move(note), id});
  };
  add("goodput", "goodput", goodput_cell(run.goodput.num()), "five terms, first order", "forecast.goodput");
  if (run.finishes)
    add("overhead", "overhead", Value{run.overhead.num(), Unit::FineShare}, "time beside training / training",
        "forecast.overhead");
  add("goodput_complete", "goodput, complete form", goodput_cell(run.complete.num()),
      "Daly's: failures strike saves too", "forecast.goodput_complete");
  if (a.plan.tokens && run.complete.num() > 0)
    add("calendar_complete", "calendar time by that", days_value(run.complete_calendar.num()), "",
        "forecast.calendar_complete");
  add("crowding", "crowding of failures", Value{run.crowding.num(), Unit::Count},
      "interval, save and recovery over the time between failures", "forecast.crowding");
  return out;
}

inline std::string title_of(RunLoss loss, bool one_recovery) {
  switch (loss) {
    case RunLoss::Saving: return "saving";
    case RunLoss::Detect: return "noticing failures";
    case RunLoss::Restart: return one_recovery ? "recovering" : "restarting";
    case RunLoss::Load: return "loading checkpoints";
    case RunLoss::Rollback: return "computing twice";
    case RunLoss::Lag: return "work newer than what is on storage";
    case RunLoss::Replacement: return "waiting for a node";
    case RunLoss::Spikes: return "loss spikes";
  }
  return "";
}

/// "most goes to noticing failures, 91 % of the time".
inline Sentence blame(const ForecastAnswer& a) {
  const LongRun<double>& run = *a.first().run;
  const RunLoss most = largest_loss(run);
  Sentence s{"most goes to " + title_of(most, a.first().figures.one_recovery)};
  if (most == RunLoss::Rollback) {
    s.push_back(", half an interval of ");
    s.push_back(time_value(run.interval.num()));
    s.push_back(" for each failure");
  }
  s.push_back(", ");
  s.push_back(Value{run.share[index_of(most)].num(), Unit::Share});
  s.push_back(" of the time");
  return s;
}

inline Section forecast_failure_section(const ForecastAnswer& a) {
  const ScenarioRun& first = a.first();
  const RunFigures& f = first.figures;
  const LongRun<double>& run = *first.run;
  Section s{"goodput", "Saving and failing", {}};
  Facts out{"", {}};
  add_saving(out, first);
  out.add("gpu_mtbf", "time between failures of a GPU", time_value(f.gpu_mtbf.value), note_of(f.gpu_mtbf));
  out.add("mtbf", "of the job", time_value(run.mtbf.num()));
  if (f.spike_every.known) {
    out.add("spike_every", "time between loss spikes", time_value(f.spike_every.value),
            note_of(f.spike_every));
    out.add("joint_mtbf", "failures and spikes", time_value(run.joint.num()));
  }
  add_recovery(out, f);
  const bool raised = run.young > young_interval(run.stop, run.joint);
  out.add("interval", "interval between saves", time_value(run.interval.num()),
          f.interval.known ? note_of(f.interval)
          : raised         ? "Young's, raised to " + least_text(run)
                           : "Young's");
  s.blocks.push_back(std::move(out));
  s.blocks.push_back(goodput_facts(a));
  if (!run.finishes)
    s.blocks.push_back(
        Notes{"goodput_note", {prefixed("by the five terms no time is left for training: ", blame(a))}});
  return s;
}

inline Section forecast_calendar_section(const ForecastAnswer& a) {
  const RunFigures& f = a.first().figures;
  const LongRun<double>& run = *a.first().run;
  Section s{"calendar", "Calendar, GPU-hours, money", {}};
  Table parts{"parts",
              a.plan.tokens ? "" : "a run of 30 days: no --tokens given",
              {{"part", "time for"}, {"share", "share of the run"}, {"time", "time"}, {"money", "money"}},
              {}};
  const auto row = [&](std::string name, Cell share, double seconds) {
    const double usd = cost_of_time(Seconds<>{seconds}, run.held, UsdPerSec<>{f.price.value}).num();
    parts.rows.push_back({std::move(name), std::move(share), days_value(seconds), money_cell(f.price, usd)});
  };
  row("training", Value{run.goodput.num(), Unit::FineShare}, run.goodput.num() * run.run.num());
  for (const RunLoss loss : kAllRunLosses) {
    const double share = run.share[index_of(loss)].num();
    if (share > 0) row(title_of(loss, f.one_recovery), Value{share, Unit::FineShare}, share * run.run.num());
  }
  row("run", Value{1, Unit::FineShare}, run.run.num());
  if (f.planned_stop.value > 0) row("planned stops", Cell{}, f.planned_stop.value);
  row("calendar", Cell{}, run.calendar.num());
  s.blocks.push_back(std::move(parts));
  Facts out{"totals", {}};
  out.add("calendar", "calendar time", days_value(run.calendar.num()));
  out.add("gpus", "GPUs held", Value{run.held.num(), Unit::Whole},
          f.spares.value > 0 ? "with spare nodes" : "");
  out.add("gpu_time", "GPU time", Value{run.gpu_time.num(), Unit::GpuTime},
          "planned stops are held and paid");
  if (f.price.known) {
    out.add("price", "price of a GPU", Value{f.price.value, Unit::UsdPerHour}, note_of(f.price));
    out.add("money", "money", Value{run.money.num(), Unit::Usd});
  }
  if (a.plan.tdp.known)
    out.add("energy", f.pue.known ? "energy, at most" : "energy of the GPUs, at most",
            Value{run.energy.num(), Unit::Energy},
            f.pue.known ? "TDP x PUE of all GPUs held, as if always busy; a bound"
                        : "TDP of all GPUs held, as if always busy; hosts, network and cooling not in it");
  s.blocks.push_back(std::move(out));
  if (!f.price.known) s.blocks.push_back(Notes{"cost_note", {{"no dollars: no price is known"}}});
  return s;
}

/// What the least nodes rest on.
inline std::string nodes_text(const NodesAnswer& n) {
  if (!n.planned)
    return n.nodes ? "at the same MFU; batch and memory not checked"
                   : "no number of nodes does it at this MFU";
  return std::string(n.nodes ? "the first" : "none") + " of " + shown(n.low) + " to " + shown(n.high) +
         (n.stride > 1 ? " in steps of " + shown(n.stride) : "") +
         (n.nodes ? " that keeps it" : " keeps it") + "; each planned anew, so that batch and memory fit";
}

inline Cell or_none(const std::optional<double>& v, Unit unit) { return v ? Cell(Value{*v, unit}) : Cell{}; }

inline Section deadline_section(const ForecastAnswer& a, const DeadlineAnswer& d) {
  Section s{"deadline", "Deadline", {}};
  Facts out{"", {}};
  out.add("limit", "deadline", days_value(d.limit));
  out.add("step_budget", "step that it allows without failures", time_value(d.budget_step),
          "planned stops taken off");
  out.add("step_cap", "step that it allows", time_value(d.cap), "with the overhead");
  out.add("margin", "left in a step", time_value(d.margin));
  out.add("left", "left of the calendar", days_value(d.left));
  if (d.worst)
    out.add("worst", "calendar at the worse end", days_value(*d.worst), "of the step's range; it must hold");
  out.add("holds", "holds", d.holds);
  out.add("efficiency", a.first().figures.efficiency.known ? "least efficiency" : "least MFU",
          or_none(d.efficiency, Unit::Share), d.efficiency ? "all else as it is" : "not even 100 % would do");
  out.add("nodes", "least nodes", or_none(d.nodes.nodes, Unit::Whole), nodes_text(d.nodes));
  if (d.nodes.nodes) out.add("gpus", "least GPUs", Value{*d.nodes.nodes * a.plan.gpus_per_node, Unit::Whole});
  s.blocks.push_back(std::move(out));
  return s;
}

inline Section budget_section(const ForecastAnswer& a, const BudgetAnswer& b) {
  Section s{"budget", "Budget", {}};
  Facts out{"", {}};
  out.add("limit", "budget", Value{b.limit, Unit::Usd});
  if (a.plan.tokens) {
    out.add("left", "left", Value{b.left, Unit::Usd});
    if (b.worst)
      out.add("worst", "money at the worse end", Value{*b.worst, Unit::Usd},
              "of the step's range; it must hold");
    out.add("holds", "holds", b.holds);
  }
  out.add("tokens", "most tokens", Value{b.tokens, Unit::Tokens}, "of this model on these GPUs");
  if (b.params)
    out.add("params", "largest model", Value{*b.params, Unit::Params},
            "dense, 6 N D FLOPs for the token budget, at the speed of this run");
  s.blocks.push_back(std::move(out));
  return s;
}

}  // namespace detail

}  // namespace trainplan
