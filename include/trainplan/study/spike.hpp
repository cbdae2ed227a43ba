/// `study spike`: what going back behind a loss spike costs, and how often to save when there are spikes.
#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "trainplan/cost/checkpoint.hpp"
#include "trainplan/cost/failures.hpp"
#include "trainplan/cost/goodput.hpp"
#include "trainplan/cost/long_run.hpp"
#include "trainplan/cost/stability.hpp"
#include "trainplan/study/of_plan.hpp"
#include "trainplan/study/parts.hpp"
#include "trainplan/study/topic.hpp"

namespace trainplan::study {
namespace detail::spike {

inline constexpr Input<kSeconds> kStep{{"step", "T_step", "step time", 1e-6, 1e9},
                                       {.example = "4.75s",
                                        .of_plan = [](const Planned& p) { return p.item("step.time"); },
                                        .unit = Unit::StepTime}};
inline constexpr Input<kSeconds> kInterval{
    {"interval", "tau", "interval between saves", 1e-6, 1e9},
    {.example = "210s", .of_plan = [](const Planned& p) { return p.item("checkpoint.interval"); }}};
inline constexpr Input<kCount> kIntervalSteps{{"interval_steps", "tau", "steps between saves", 1, 1e9},
                                              {.example = "100"}};
inline constexpr Input<kCount> kBack{
    {"back", "k", "least age of the checkpoint that a run goes back to, in steps", 0, 1e9},
    {.example = "100", .otherwise = 100, .why = "PaLM, section 5.1: about 100 steps before the spike"}};
inline constexpr Input<kCount> kNoticed{{"noticed", "w", "steps until the spike is noticed", 0, 1e9},
                                        {.example = "50"}};
inline constexpr Input<kCount> kSpikes{{"spikes", "n", "loss spikes of the run", 0, 1e9}, {.example = "20"}};
inline constexpr Input<kCount> kSteps{{"steps", "n_step", "steps of the run", 1, 1e12},
                                      {.example = "1000000"}};
inline constexpr Input<kSeconds> kSave{
    {"save", "delta", "time that one save costs", 0, 1e9},
    {.example = "16.4s", .of_plan = [](const Planned& p) { return p.item("checkpoint.write"); }}};
inline constexpr Input<kSeconds> kMtbf{
    {"mtbf", "M", "mean time between failures of the job", 1, 1e12},
    {.example = "7.9h", .of_plan = [](const Planned& p) { return p.item("goodput.mtbf"); }}};
inline constexpr Input<kSeconds> kSpikeMtbf{
    {"spike_mtbf", "M_s", "mean time between loss spikes that need a rollback", 1, 1e12}, {.example = "7d"}};
inline constexpr Input<kSeconds> kRecovery{{"recovery", "T_rec", "time to restart and load", 0, 1e9},
                                           {.example = "120s", .of_plan = &recovery_of}};
inline constexpr Input<kSeconds> kDetect{
    {"detect", "T_d", "time to notice a failure; a spike is noticed after --noticed steps", 0, 1e9},
    {.example = "600s", .otherwise = 0, .why = "it is in --recovery", .of_plan = &detect_of}};

inline constexpr std::array<const Field*, 12> kFields{&kStep,    &kInterval,  &kIntervalSteps, &kBack,
                                                      &kNoticed, &kSpikes,    &kSteps,         &kSave,
                                                      &kMtbf,    &kSpikeMtbf, &kRecovery,      &kDetect};

inline bool knows_interval(const Given& given) {
  return given.has(kIntervalSteps) || (given.has(kInterval) && given.has(kStep));
}
inline bool knows_rates(const Given& given) {
  return given.has(kSave) && given.has(kMtbf) && given.has(kSpikeMtbf);
}

inline constexpr std::array<const Field*, 1> kInSteps{&kIntervalSteps};
inline constexpr std::array<const Field*, 2> kInTimes{&kStep, &kInterval};
inline constexpr std::array<const Field*, 4> kShareInSteps{&kSpikes, &kSteps, &kNoticed, &kIntervalSteps},
    kCostExtra{&kBack, &kNoticed, &kStep, &kInterval};
inline constexpr std::array<const Field*, 5> kShareInTimes{&kSpikes, &kSteps, &kNoticed, &kStep, &kInterval};
inline constexpr std::array<const Field*, 3> kRates{&kSpikeMtbf, &kSave, &kMtbf};
inline constexpr std::array<const Field*, 4> kRatesExtra{&kInterval, &kStep, &kBack, &kNoticed};
inline constexpr Part kOften{"the interval between saves", kRates, kRatesExtra};
inline constexpr std::array<const Field*, 5> kOverheadNeeds{&kRecovery, &kInterval, &kSpikeMtbf, &kSave,
                                                            &kMtbf};
inline constexpr std::array<const Field*, 6> kDetectNeeds{&kDetect,    &kRecovery, &kInterval,
                                                          &kSpikeMtbf, &kSave,     &kMtbf};
inline constexpr Part kOverhead{"what failures and spikes add to training", kOverheadNeeds},
    kNotice{"what failures add to training", kDetectNeeds};
/// The interval is said in steps, or in time with the time of a step.
inline constexpr std::array kPartsInSteps{Part{"the cost of a spike", kInSteps, kCostExtra},
                                          Part{"the share of the run", kShareInSteps}, kOften, kOverhead,
                                          kNotice},
    kPartsInTimes{Part{"the cost of a spike", kInTimes, kCostExtra},
                  Part{"the share of the run", kShareInTimes}, kOften, kOverhead, kNotice};

/// The rules of a forecast between an interval, a save, a step, failures and a restart.
inline void judge_times(const Given& given, Issues& issues) {
  const auto interval = given.number(kInterval), save = given.number(kSave), step = given.number(kStep);
  const Field& longer = is_asked(given, kInterval) ? static_cast<const Field&>(kInterval) : kSave;
  const bool asked = is_asked(given, kInterval) || is_asked(given, kSave);
  if (asked && interval && save && *interval < *save)
    refuse(
        issues, given, longer, "interval-above-save",
        "leave the interval, " + shown(*interval) + " s, not shorter than one save, " + shown(*save) + " s",
        "try --interval " + shown(std::ceil(*save)) + "s or more");
  if (is_asked(given, kInterval) && interval && step && *interval < *step)
    refuse(issues, given, kInterval, "interval-above-step",
           "not be shorter than one step, " + shown(*step) + " s",
           "try " + shown(std::ceil(*step)) + "s or more");
  const auto mtbf = given.number(kMtbf), recovery = given.number(kRecovery);
  if ((is_asked(given, kMtbf) || is_asked(given, kRecovery)) && mtbf && recovery && *mtbf < *recovery)
    refuse(issues, given, is_asked(given, kMtbf) ? static_cast<const Field&>(kMtbf) : kRecovery,
           "mtbf-above-restart",
           "leave the job more time between failures, " + shown(*mtbf) + " s, than a restart takes, " +
               shown(*recovery) + " s",
           "try --mtbf " + shown(10 * *recovery) + "s or a faster restart");
}

inline void judge(const Given& given, Issues& issues) {
  judge_either(given, kInterval, kIntervalSteps, issues);
  judge_parts(is_asked(given, kIntervalSteps) ? kPartsInSteps : kPartsInTimes, kFields, given, issues);
  judge_times(given, issues);
}

/// Steps between saves, said or from the two times.
inline Count<Sym> interval_steps(Explain& rec, const Given& given) {
  if (const auto said = given.maybe(rec, kIntervalSteps)) return *said;
  return rec.apply(periods_in_time, {"spike.interval_steps", "tau_steps", "steps between saves"},
                   given.in(rec, kInterval), given.in(rec, kStep));
}

inline Section cost_section(Explain& rec, const Given& given) {
  const auto tau = interval_steps(rec, given), back = given.in(rec, kBack);
  Facts f{"", {}};
  const auto add = [&](const char* id, const char* key, Unit unit) {
    add_fact(f, rec.ledger(), id, key, unit);
  };
  if (const auto noticed = given.maybe(rec, kNoticed)) {
    rec.apply(spike_cost_least, {"spike.least", "c_min", ""}, back, *noticed);
    rec.apply(spike_cost_worst, {"spike.most", "c_max", ""}, back, tau, *noticed);
    const auto mean = rec.apply(spike_cost_mean, {"spike.mean", "c", ""}, back, tau, *noticed);
    if (given.has(kStep))
      rec.item({"spike.time", "T_spike", "time of that, on average"}, mean * given.in(rec, kStep));
    if (given.has(kSpikes) && given.has(kSteps))
      rec.apply(spike_share, {"spike.share", "x_spike", ""}, given.in(rec, kSpikes), mean,
                given.in(rec, kSteps));
  }
  add("spike.interval_steps", "interval_steps", Unit::Count);
  add("spike.least", "least_steps", Unit::Count);
  add("spike.most", "most_steps", Unit::Count);
  add("spike.mean", "mean_steps", Unit::Count);
  add("spike.time", "mean_time", Unit::Time);
  add("spike.share", "share", Unit::Share);
  Notes notes{"cost_note", {}};
  notes.sentences.push_back(
      {"a run goes back to the newest checkpoint that is at least so old, skips the batches "
       "about the spike (PaLM: 200 to 500) and trains the steps in between again"});
  if (!given.has(kNoticed))
    notes.sentences.push_back({"--noticed, the steps until somebody notices, gives the cost of a spike"});
  return {"cost", "Cost of a spike", {std::move(f), std::move(notes)}};
}

/// What failures add to a second of training, and what they and spikes do. A spike goes back further than
/// half an interval where it is known how far.
struct Overheads {
  Count<Sym> failures, both;
  bool whole = false;
};
inline Overheads overheads(Explain& rec, const Given& given, Seconds<Sym> failures, Seconds<Sym> both) {
  const auto delta = given.in(rec, kSave), tau = given.in(rec, kInterval),
             recovery = given.in(rec, kRecovery), detect = given.in(rec, kDetect);
  Overheads out;
  out.failures = rec.apply(overhead_share, {"spike.failures_overhead", "L_f", ""}, delta, tau, failures,
                           detect + recovery);
  auto all = rec.apply(overhead_share, {"spike.rollback_overhead", "L_0", "of what both have in common"},
                       delta, tau, both, recovery) +
             rec.apply(failure_share, {"spike.detect_share", "x_d", "noticing failures"}, detect, failures);
  if (given.has(kStep) && given.has(kNoticed)) {
    out.whole = true;
    const auto steps = rec.apply(spike_cost_least, {"spike.fixed_steps", "c_fix", ""}, given.in(rec, kBack),
                                 given.in(rec, kNoticed));
    const auto time = rec.item({"spike.fixed_time", "T_fix", "time of that"}, steps * given.in(rec, kStep));
    all = all + rec.apply(failure_share, {"spike.back_share", "x_back", "going back k + w steps"}, time,
                          given.in(rec, kSpikeMtbf));
  }
  out.both = rec.item({"spike.overhead", "L", "failures and spikes add to training", {}, Unit::Share}, all);
  return out;
}

/// Spikes need the same rollback as failures, so that their rate adds to theirs.
inline Section interval_section(Explain& rec, const Given& given) {
  const auto delta = given.in(rec, kSave), failures = given.in(rec, kMtbf),
             spikes = given.in(rec, kSpikeMtbf);
  const auto both =
      rec.apply(joint_mtbf, {"spike.mtbf", "M_all", "mean time between rollbacks"}, failures, spikes);
  const auto alone =
      rec.apply(young_interval, {"spike.failures_interval", "tau_f", "best interval"}, delta, failures);
  const auto best =
      rec.apply(young_interval, {"spike.best_interval", "tau_all", "best interval"}, delta, both);
  Table t{"rates",
          "",
          {{"what", "rollbacks by"}, {"mtbf", "mean time between"}, {"interval", "best interval"}},
          {}};
  const auto time = [](const auto& q) { return Value{value_of(q), Unit::Time}; };
  const auto seconds = [](const auto& q) { return Value{value_of(q), Unit::StepTime}; };
  t.rows.push_back({std::string("failures"), time(failures), seconds(alone)});
  t.rows.push_back({std::string("failures and spikes"), time(both), seconds(best)});
  Section s{"interval", "How often to save", {}};
  bool whole = true;
  if (given.has(kInterval) && given.has(kRecovery)) {
    t.columns.push_back({"overhead", "adds to training at the interval given"});
    const Overheads o = overheads(rec, given, failures, both);
    whole = o.whole;
    t.rows[0].push_back(shown_as(o.failures, Unit::Share));
    t.rows[1].push_back(shown_as(o.both, Unit::Share));
  }
  s.blocks.push_back(std::move(t));
  if (!whole)
    s.blocks.push_back(Notes{
        "rates_note",
        {{"a spike counts as a failure here; it goes back k + w steps further: --step and --noticed add "
          "them"}}});
  return s;
}

inline Report answer(Explain& rec, const Given& given, const Planned*) {
  Report r{"", "Loss spikes", Verdict::None, {}, {}};
  if (knows_interval(given)) r.sections.push_back(cost_section(rec, given));
  if (knows_rates(given)) r.sections.push_back(interval_section(rec, given));
  return r;
}

}  // namespace detail::spike

inline constexpr Topic kSpike{
    "spike",
    "what going back behind a loss spike costs, and how often to save then",
    "cost = k + w to k + tau + w steps; interval = sqrt(2 delta M), rates of failures "
    "and spikes added",
    detail::spike::kFields,
    &detail::spike::judge,
    &detail::spike::answer};

}  // namespace trainplan::study
