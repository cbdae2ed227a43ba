/// What no forecast can be asked: figures that exclude each other, intervals that no save fits into, failures
/// that come faster than a restart.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainplan/cost/forecast.hpp"
#include "trainplan/spec/validate_gap.hpp"
#include "trainplan/spec/validator.hpp"

namespace trainplan {

namespace detail {

/// "90 s", "2 h", "30 d".
inline std::string duration_text(double s) {
  const auto in = [s](double unit, const char* name) {
    return rounded(s / unit, std::chars_format::general, 4) + name;
  };
  return s < 120 ? in(1, " s") : s < 7200 ? in(60, " min") : s < 172800 ? in(3600, " h") : in(86400, " d");
}

/// Records a mistake where the figure was said: an option, or a place in a file.
class ForecastJudge {
  Issues& issues_;

 public:
  explicit ForecastJudge(Issues& issues) : issues_(issues) {}

  void add(const Figure& f, std::string_view key, std::string got, std::string rule, std::string must,
           std::string hint, Severity level = Severity::Error) {
    Issue issue{.level = level,
                .rule = std::move(rule),
                .got = std::move(got),
                .must = std::move(must),
                .hint = std::move(hint)};
    const auto cut = f.origin.rfind(" /");
    if (cut == std::string::npos) {
      issue.pointer = option_of(key);
    } else {
      issue.file = f.origin.substr(0, cut);
      issue.pointer = f.origin.substr(cut + 1);
    }
    issues_.add(std::move(issue));
  }
  void not_both(const ForecastSpec::Said& one, std::string_view key, bool other, std::string_view name) {
    if (one && other)
      add(*one, key, duration_text(one->value), "twice", "stand without " + std::string(name),
          "leave one of them out");
  }
};

}  // namespace detail

/// Rules that need neither plan nor cluster.
inline void judge_forecast(const ForecastSpec& f, Issues& issues) {
  detail::ForecastJudge judge(issues);
  const bool parts = !f.detect.empty() || f.restart || f.load;
  judge.not_both(f.recovery, "recovery", parts, "detect, restart and load, which it is the sum of");
  judge.not_both(f.save_time, "save_time", f.save_bandwidth.has_value(), "save_bandwidth, which gives it");
  if (f.copy_time && f.saving.value_or(Saving::Sync) == Saving::Sync)
    judge.add(
        *f.copy_time, "copy_time", detail::duration_text(f.copy_time->value), "copy-needs-async",
        "come with saving = async: with synchronous saving (saving = sync, the default) the whole write "
        "stops training",
        "try --saving async, or --save-time in place of --copy-time");
  for (auto s = f.scenarios.begin(); s != f.scenarios.end(); ++s)
    if (std::count(f.scenarios.begin(), s, *s) == 1)
      judge.add({.origin = f.scenarios_origin}, "scenario", *s + " and " + *s, "twice",
                "name each scenario once", "leave one of them out");
  if (f.deadline && f.planned_stop && f.planned_stop->value >= f.deadline->value)
    judge.add(*f.planned_stop, "planned_stop", detail::duration_text(f.planned_stop->value),
              "stop-within-deadline", "be below the deadline of " + detail::duration_text(f.deadline->value),
              "give a later deadline");
  if (f.spares && f.spares->value > 0 && !f.repair)
    judge.add(*f.spares, "spares", shown(f.spares->value), "spares-need-repair",
              "come with repair, the time until a failed node is back", "try --repair 24h");
  if (f.spares && f.spares->value != std::floor(f.spares->value))
    judge.add(*f.spares, "spares", shown(f.spares->value), "integer", "be a whole number of nodes",
              "try " + shown(std::ceil(f.spares->value)));
  if (!f.spike_every)
    for (const auto& [said, key] :
         {std::pair{&f.spike_back, "spike_back"}, {&f.spike_noticed, "spike_noticed"}})
      if (*said)
        judge.add(**said, key, shown((*said)->value), "spikes-need-rate",
                  "come with spike_every, the time between loss spikes", "try --spike-every 7d");
}

/// An asynchronous save needs to know for how long it stops the GPUs.
inline void judge_saving(const PlannedRun& p, const RunFigures& f, Issues& issues) {
  if (f.saving == Saving::Sync || f.copy_time.known || p.host_link.known) return;
  issues.add({.rule = "missing",
              .pointer = "--copy-time",
              .must = "be given for asynchronous saves, or host/link in the cluster file",
              .hint = "try --copy-time 2s"});
}

/// Of every interval that was said, and of the time between failures. `work` of the same figures.
inline void judge_run(const PlannedRun& p, const RunFigures& f, const std::vector<Figure>& intervals,
                      const RunWork<double>& work, Issues& issues) {
  detail::ForecastJudge judge(issues);
  const double save = std::max(work.lag.num(), work.stop.num()), step = work.step.num();
  const bool writes = work.lag > work.stop;
  for (const Figure& i : intervals) {
    const auto refuse = [&](std::string rule, std::string must, double least) {
      judge.add(i, "interval", detail::duration_text(i.value), std::move(rule), std::move(must),
                "try " + detail::rounded(std::ceil(least), std::chars_format::general, 10) + "s or more");
    };
    if (f.can_save() && i.value < save)
      refuse("interval-above-save",
             std::string(writes ? "not be shorter than writing a checkpoint takes, "
                                : "not be shorter than one save, ") +
                 detail::duration_text(save),
             save);
    else if (i.value < step)
      refuse("interval-above-step", "not be shorter than one step, " + detail::duration_text(step), step);
  }
  if (!f.gpu_mtbf.known || !f.restart.known) return;
  const double mtbf = f.gpu_mtbf.value / p.gpus();
  if (mtbf < f.restart.value)
    judge.add(
        f.gpu_mtbf, "gpu_mtbf",
        detail::duration_text(f.gpu_mtbf.value) + ", for the job " + detail::duration_text(mtbf),
        "mtbf-above-restart",
        "leave a job of " + shown(p.gpus()) + " GPUs more time between failures than a restart takes, " +
            detail::duration_text(f.restart.value),
        "try " + detail::rounded(f.restart.value * p.gpus() * 10 / 3600, std::chars_format::general, 3) +
            "h, or fewer GPUs");
}

/// Where failures crowd, the five terms leave Daly's complete form. `name` of the scenario, if there are
/// several.
inline void judge_crowding(const RunFigures& f, const LongRun<double>& run, const std::string& name,
                           Issues& issues) {
  const double off = std::abs((run.complete - run.goodput).num());
  if (off <= kFirstOrderError) return;
  const std::string scenario = name.empty() ? "" : "scenario " + name + ": ";
  const auto percent = [](Count<> x, int digits) {
    return detail::rounded(100 * x.num(), std::chars_format::general, digits);
  };
  const bool some = run.goodput.num() > 0;
  detail::ForecastJudge(issues).add(
      f.gpu_mtbf, "gpu_mtbf",
      scenario + "a crowding of " + detail::rounded(run.crowding.num(), std::chars_format::general, 3) +
          (some ? ", a goodput of " + percent(run.goodput, 3) + " %" : ", no goodput at all") +
          " by the five terms",
      "failures-crowd",
      "leave the five terms within " + percent(Count<>{kFirstOrderError}, 1) +
          " points of Daly's complete form; they are of first order" +
          (some ? ", this is " + percent(Count<>{off}, 2) + " off" : ""),
      "read Daly's complete form instead, forecast.goodput_complete: " + percent(run.complete, 3) + " %",
      Severity::Warning);
}

}  // namespace trainplan
