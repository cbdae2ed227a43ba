/// `study straggler`: what waiting for the slowest rank costs, and when to do something about it.
#pragma once

#include <array>
#include <optional>
#include <utility>

#include "trainplan/base/slow_rank.hpp"
#include "trainplan/cost/checkpoint.hpp"
#include "trainplan/cost/failures.hpp"
#include "trainplan/cost/gap_norms.hpp"
#include "trainplan/cost/straggler.hpp"
#include "trainplan/study/of_plan.hpp"
#include "trainplan/study/parts.hpp"
#include "trainplan/study/topic.hpp"

namespace trainplan::study {
namespace detail::straggler {

/// A plan's step has a wait for the slowest node in it.
inline std::optional<double> without_stragglers(const Planned& p) {
  const auto step = p.item("step.time");
  return step ? std::optional(*step - p.item("step.straggler").value_or(0)) : std::nullopt;
}

inline constexpr Input<kSeconds> kMean{{"mean", "mu", "mean time of a rank in a step", 1e-6, 1e9},
                                       {.example = "52.2s",
                                        .required = true,
                                        .of_plan = [](const Planned& p) { return without_stragglers(p); },
                                        .unit = Unit::StepTime}};
inline constexpr Input<kCount> kSpread{
    {"spread", "x_sigma", "standard deviation of a rank's time, as a share of the mean", 1e-9, 1},
    {.example = "2%", .required = true, .unit = Unit::Share}};
inline constexpr Input<kCount> kRanks{{"ranks", "n", "ranks that wait for each other", 2, 1e9},
                                      {.example = "48", .required = true, .of_plan = &gpus_of}};
inline constexpr Input<kSeconds> kOverhead{
    {"overhead", "T_0", "what every rank adds to the mean, communication", 0, 1e9},
    {.example = "0.58s", .otherwise = 0, .why = "it is in the mean", .unit = Unit::StepTime}};
inline constexpr Input<kCount> kSlow{
    {"slow", "k", "standard deviations by which one rank is always slow", 0, 1e6},
    {.example = "3", .otherwise = 3, .why = "a rank that stands out"}};
inline constexpr Input<kSeconds> kInterval{
    {"interval", "tau", "interval between saves", 1e-6, 1e9},
    {.example = "600s", .of_plan = [](const Planned& p) { return p.item("checkpoint.interval"); }}};
inline constexpr Input<kSeconds> kRecovery{
    {"recovery", "T_rec", "time to restart without the rank and to load", 0, 1e9},
    {.example = "120s", .of_plan = &recovery_of}};

inline constexpr std::array<const Field*, 7> kFields{&kMean, &kSpread,   &kRanks,   &kOverhead,
                                                     &kSlow, &kInterval, &kRecovery};

inline constexpr std::array<const Field*, 1> kWhole{&kRanks};
inline constexpr std::array<const Field*, 2> kByInterval{&kInterval, &kRecovery},
    kByRecovery{&kRecovery, &kInterval}, kEvictFields = kByInterval;
inline constexpr std::array kEvict{Part{"a restart without the rank", kByInterval},
                                   Part{"a restart without the rank", kByRecovery}};

inline void judge(const Given& given, Issues& issues) {
  judge_whole(given, kWhole, issues);
  // Of no use alone; but one that is said to be unknown is no mistake.
  if (given.find(kInterval) == nullptr || given.find(kRecovery) == nullptr)
    judge_asked(kEvict, kEvictFields, given, issues);
}

struct Steps {
  Seconds<Sym> step, slow, redistributed;
};

/// What a restart without the rank costs, once; it pays when the rank costs more in the steps to come.
inline void add_eviction(Explain& rec, const Given& given, const Steps& s, Table& table) {
  const auto interval = given.maybe(rec, kInterval), recovery = given.maybe(rec, kRecovery);
  if (!interval || !recovery) return;
  const auto once = rec.apply(failure_cost, {"straggler.evict", "T_evict", "time that a restart costs"},
                              *interval, *recovery);
  const auto steps =
      rec.apply(periods_in_time, {"straggler.evict_steps", "n_evict", "that, in steps"}, once, s.step);
  Cell after{};
  if (value_of(s.slow) > 0)
    after = Value{value_of(rec.apply(periods_in_time,
                                     {"straggler.evict_after", "n_pays", "steps from which a restart pays"},
                                     once, s.slow)),
                  Unit::Count};
  const Value step{value_of(s.step), Unit::StepTime}, none{0, Unit::StepTime};
  table.rows.push_back({std::string("evict"), step, none, Value{value_of(once), Unit::Time},
                        Value{value_of(steps), Unit::Count}, Cell{}, std::move(after)});
}

inline Table ways(Explain& rec, const Given& given, const Steps& s, Count<Sym> limit) {
  Table t{"ways",
          "One rank that is always slow",
          {{"way", "way"},
           {"step", "step"},
           {"slow_adds", "slow rank adds"},
           {"once", "once"},
           {"once_steps", "in steps"},
           {"from_deviations", "pays from deviations"},
           {"after_steps", "pays after steps"}},
          {}};
  const auto step = [](double seconds) { return Value{seconds, Unit::StepTime}; };
  t.rows.push_back(
      {std::string("wait"), step(value_of(s.step)), step(value_of(s.slow)), Cell{}, Cell{}, Cell{}, Cell{}});
  t.rows.push_back({std::string("redistribute"), step(value_of(s.redistributed)), step(0), Cell{}, Cell{},
                    Value{value_of(limit), Unit::Count}, Cell{}});
  add_eviction(rec, given, s, t);
  return t;
}

inline Notes notes() {
  return {
      "notes",
      {{"times of ranks are taken as independent and normal; noise that ranks share, such as one switch or "
        "one long sequence for all, is not modelled"},
       {"the slow rank adds what the expected largest of all ranks exceeds that of the others by; its own "
        "time has the same noise"},
       {"pays from deviations: by max(0, k - E_max), which is below what the rank adds, so that handing over "
        "its work pays a little sooner"}}};
}

inline Report answer(Explain& rec, const Given& given, const Planned*) {
  const auto mean = given.in(rec, kMean), overhead = given.in(rec, kOverhead);
  const auto ranks = given.in(rec, kRanks), slow = given.in(rec, kSlow);
  const auto sigma =
      rec.apply(share_time, {"straggler.sigma", "sigma", "standard deviation"}, given.in(rec, kSpread), mean);
  rec.apply(slowest_rank, {"straggler.deviations", "E_max", ""}, ranks);
  const auto noise = rec.apply(noise_wait, {"straggler.noise", "t_noise", ""}, sigma, ranks);
  Steps s;
  s.step = rec.apply(synchronous_step, {"straggler.step", "T_step", ""}, mean, sigma, ranks, overhead);
  const auto excess = rec.in<Count<Sym>>(
      {"E_slow", "standard deviations that the slow rank adds, k of --slow and n of --ranks",
       "integral of 1 - Phi(z - k) over the law of the largest of n - 1"},
      slow_rank_excess(value_of(slow), value_of(ranks)));
  s.slow = rec.item({"straggler.slow", "t_slow", "what one rank that is always slow adds to a step"},
                    excess * sigma);
  s.redistributed =
      rec.apply(redistributed_step, {"straggler.redistributed", "T_re", ""}, mean, sigma, ranks, overhead);
  const auto limit = rec.apply(redistribution_limit, {"straggler.limit", "k_re", ""}, mean, sigma, ranks);

  Report r{"", "Stragglers", Verdict::None, {}, {}};
  r.headline = {Value{value_of(s.step), Unit::StepTime}, " a step, of which ",
                Value{value_of(noise), Unit::StepTime}, " wait for the slowest rank"};
  Facts facts{"", {}};
  const auto add = [&](const char* id, const char* key, Unit unit) {
    facts.facts.push_back(fact(rec.ledger(), id, key, unit));
  };
  add("straggler.sigma", "sigma", Unit::StepTime);
  add("straggler.deviations", "deviations", Unit::Count);
  add("straggler.noise", "noise", Unit::StepTime);
  add("straggler.step", "step", Unit::StepTime);
  add("straggler.slow", "slow", Unit::StepTime);
  r.sections.push_back({"step", "Step", {std::move(facts)}});
  r.sections.push_back({"ways", "What to do", {ways(rec, given, s, limit), notes()}});
  return r;
}

}  // namespace detail::straggler

inline constexpr Topic kStraggler{"straggler",
                                  "what waiting for the slowest rank costs: wait, redistribute or evict",
                                  "step = mean + sigma E_max(n) + overhead, of n independent normal ranks",
                                  detail::straggler::kFields,
                                  &detail::straggler::judge,
                                  &detail::straggler::answer};

}  // namespace trainplan::study
