/// `study spike`: what going back behind a loss spike costs, and how often to save when there are spikes.
#pragma once

#include <array>
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

inline constexpr std::array<const Field*, 11> kFields{&kStep,    &kInterval,  &kIntervalSteps, &kBack,
                                                      &kNoticed, &kSpikes,    &kSteps,         &kSave,
                                                      &kMtbf,    &kSpikeMtbf, &kRecovery};

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
inline constexpr std::array<const Field*, 2> kRatesExtra{&kInterval, &kRecovery};
inline constexpr Part kOften{"the interval between saves", kRates, kRatesExtra};
/// The interval is said in steps, or in time with the time of a step.
inline constexpr std::array kPartsInSteps{Part{"the cost of a spike", kInSteps, kCostExtra},
                                          Part{"the share of the run", kShareInSteps}, kOften},
    kPartsInTimes{Part{"the cost of a spike", kInTimes, kCostExtra},
                  Part{"the share of the run", kShareInTimes}, kOften};

inline void judge(const Given& given, Issues& issues) {
  judge_either(given, kInterval, kIntervalSteps, issues);
  judge_parts(is_asked(given, kIntervalSteps) ? kPartsInSteps : kPartsInTimes, kFields, given, issues);
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
  if (const auto tau = given.maybe(rec, kInterval), recovery = given.maybe(rec, kRecovery); tau && recovery) {
    t.columns.push_back({"overhead", "adds to training at the interval given"});
    const auto share = [&](const char* id, Seconds<Sym> m) -> Cell {
      return Value{value_of(rec.apply(overhead_share, {id, "L", ""}, delta, *tau, m, *recovery)),
                   Unit::Share};
    };
    t.rows[0].push_back(share("spike.failures_overhead", failures));
    t.rows[1].push_back(share("spike.overhead", both));
  }
  return {"interval", "How often to save", {std::move(t)}};
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
