/// `study rl`: the loop of reinforcement learning: its slowest stage, asynchrony, and what it moves and
/// keeps.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "trainplan/study/chosen_experts.hpp"
#include "trainplan/study/rl_inputs.hpp"
#include "trainplan/study/topic.hpp"

namespace trainplan::study {
namespace detail::rl {

/// The stages with their rates; factors double one of them.
struct Stages {
  Quantity<kPerSecond, Sym> generate, verify, learn;
  Count<Sym> keep;
};

inline const char* slowest(const Stages& s) {
  const double offered = value_of(accepted_rate(s.keep, s.generate, s.verify));
  if (value_of(s.learn) <= offered) return "learn";
  return value_of(s.verify) <= value_of(s.generate) ? "verify" : "generate";
}

inline std::vector<Cell> stage_row(Explain& rec, const Stages& s, const char* key, const std::string& title,
                                   double before) {
  const std::string id = "rl.rate." + std::string(key), offered_id = "rl.accepted." + std::string(key),
                    rate_title = "trajectories learned from in a second, " + title,
                    offered_title = "trajectories that reach the learner, " + title;
  const auto offered =
      rec.apply(accepted_rate, {offered_id, "r_a", offered_title}, s.keep, s.generate, s.verify);
  const auto rate = rec.apply(loop_rate, {id, "r_eff", rate_title}, s.learn, s.keep, s.generate, s.verify);
  std::vector<Cell> row{title, shown_as(offered), shown_as(rate), std::string(slowest(s))};
  row.push_back(before > 0 ? Cell{Value{value_of(rate) / before - 1, Unit::Share}} : Cell{});
  return row;
}

inline Section stage_section(Explain& rec, const Given& given) {
  Table table{"stages",
              "",
              {{"case", ""},
               {"accepted_per_second", "reach the learner / s"},
               {"rate_per_second", "learned from / s"},
               {"slowest", "slowest stage"},
               {"gain", "gain"}},
              {}};
  const Stages s{given.in(rec, kGenerate), given.in(rec, kVerify), given.in(rec, kLearn),
                 given.in(rec, kKeep)};
  const double now = value_of(loop_rate(s.learn, s.keep, s.generate, s.verify));
  table.rows = {
      stage_row(rec, s, "now", "as it is", 0),
      stage_row(rec, {2.0 * s.generate, s.verify, s.learn, s.keep}, "generate", "twice the generation", now),
      stage_row(rec, {s.generate, 2.0 * s.verify, s.learn, s.keep}, "verify", "twice the verification", now),
      stage_row(rec, {s.generate, s.verify, 2.0 * s.learn, s.keep}, "learn", "twice the learning", now)};
  return {"stages", "Stages", {std::move(table)}};
}

/// Gains at the shares that stay usable, and how old the weights of trajectories are.
inline void add_retention(Explain& rec, const Given& given, Seconds<Sym> sync, Seconds<Sym> async,
                          Section& section) {
  Table gains{"gains",
              "Usable samples",
              {{"retention", "stay usable"}, {"gain", "throughput against synchronous"}},
              {}};
  for (const auto q : given.in(rec, kRetention)) {
    const std::string id = "rl.gain." + std::to_string(gains.rows.size() + 1);
    gains.rows.push_back(
        {shown_as(q, Unit::Share),
         shown_as(rec.apply(asynchronous_gain, {id, "f_gain", ""}, q, sync, async), Unit::Share)});
  }
  Table ages{"ages", "Age of weights", {{"duration", "trajectory"}, {"updates", "updates behind"}}, {}};
  for (const auto t : given.in(rec, kTrajectory)) {
    const std::string id = "rl.staleness." + std::to_string(ages.rows.size() + 1);
    ages.rows.push_back({shown_as(t), shown_as(rec.apply(policy_staleness, {id, "n_old", ""}, t, async,
                                                         given.in(rec, kQueued)))});
  }
  for (Table* table : {&gains, &ages})
    if (!table->rows.empty()) section.blocks.emplace_back(std::move(*table));
}

inline Section period_section(Explain& rec, const Given& given) {
  const auto g = given.in(rec, kGenerateTime), l = given.in(rec, kLearnTime), s = given.in(rec, kSyncTime);
  const auto sync = rec.apply(synchronous_period, {"rl.synchronous", "T_sync", ""}, g, l, s);
  const auto async = rec.apply(asynchronous_period, {"rl.asynchronous", "T_async", ""}, g, l, s);
  rec.apply(break_even_retention, {"rl.break_even", "q_min", ""}, async, sync);
  Facts facts{"", {}};
  facts.facts = {fact(rec.ledger(), "rl.synchronous", "synchronous", Unit::Time),
                 fact(rec.ledger(), "rl.asynchronous", "asynchronous", Unit::Time),
                 fact(rec.ledger(), "rl.break_even", "break_even", Unit::Share)};
  Section section{"periods", "Synchronous or asynchronous", {std::move(facts)}};
  add_retention(rec, given, sync, async, section);
  return section;
}

inline Section survival_section(Explain& rec, const Given& given) {
  const auto mtbf = rec.apply(cluster_mtbf, {"rl.mtbf", "M", "mean time between failures of a generator"},
                              given.in(rec, kGpuMtbf), given.in(rec, kGeneratorGpus));
  Facts facts{"", {fact(rec.ledger(), "rl.mtbf", "mtbf", Unit::Time)}};
  Table table{
      "survival", "", {{"duration", "trajectory"}, {"survives", "ends undisturbed"}, {"lost", "lost"}}, {}};
  for (const auto t : given.in(rec, kTrajectory)) {
    const std::string id = "rl.survival." + std::to_string(table.rows.size() + 1);
    const auto p = rec.apply(trajectory_survival, {id, "p_t", ""}, t, mtbf);
    table.rows.push_back({shown_as(t), shown_as(p, Unit::Share), shown_as(1.0 - p, Unit::Share)});
  }
  Notes notes{
      "notes",
      {{std::string("Long trajectories are lost more often than short ones: what is learned from leans to "
                    "the short, unless progress is recorded and resumed.")}}};
  return {"survival", "Trajectories and failures", {std::move(facts), std::move(table), std::move(notes)}};
}

inline Section sync_section(Explain& rec, const Given& given) {
  const auto weights = rec.apply(parameter_bytes, {"rl.weights", "M_w", "weights"},
                                 given.in(rec, kWeightsParams), given.in(rec, kWeightWidth));
  const auto receivers = given.in(rec, kReceivers);
  rec.apply(broadcast_bytes, {"rl.broadcast", "V_all", ""}, weights, receivers);
  Facts facts{"",
              {fact(rec.ledger(), "rl.weights", "weights", Unit::MemoryBoth),
               fact(rec.ledger(), "rl.broadcast", "broadcast", Unit::MemoryBoth)}};
  const auto bandwidth = given.maybe(rec, kBandwidth);
  if (bandwidth) {
    rec.apply(transfer_time, {"rl.broadcast_time", "t_all", "all weights over the link of a receiver"},
              weights, *bandwidth);
    facts.facts.push_back(fact(rec.ledger(), "rl.broadcast_time", "broadcast_time", Unit::Time));
  }
  const auto split = given.maybe(rec, kSplit);
  if (!split) return {"transfer", "Transfer of weights", {std::move(facts)}};
  const auto share = rec.apply(weight_share, {"rl.weight_share", "V_own", ""}, weights, *split);
  rec.apply(broadcast_bytes,
            {"rl.own_parts", "V_parts", "bytes that arrive when each receiver takes its part"}, share,
            receivers);
  facts.facts.push_back(fact(rec.ledger(), "rl.weight_share", "share", Unit::MemoryBoth));
  facts.facts.push_back(fact(rec.ledger(), "rl.own_parts", "own_parts", Unit::MemoryBoth));
  if (bandwidth) {
    rec.apply(transfer_time, {"rl.share_time", "t_own", "its part over the link of a receiver"}, share,
              *bandwidth);
    facts.facts.push_back(fact(rec.ledger(), "rl.share_time", "share_time", Unit::Time));
  }
  return {"transfer", "Transfer of weights", {std::move(facts)}};
}

inline Section cache_section(Explain& rec, const Given& given) {
  cache_bytes(rec, given);
  return {"cache",
          "Keys and values",
          {Facts{"", {fact(rec.ledger(), "cache.bytes", "bytes", Unit::MemoryBoth)}}}};
}

inline Section record_section(Explain& rec, const Given& given) {
  Table table{"records", "", {{"id", "bytes of an id"}, {"record", "record"}}, {}};
  for (const auto id : given.in(rec, kId)) {
    const std::string name = "rl.record." + shown(value_of(id));
    table.rows.push_back({Value{value_of(id), Unit::Count},
                          shown_as(rec.apply(routing_record, {name, "M_id", ""}, given.in(rec, kRoutedTokens),
                                             given.in(rec, kSparseLayers), given.in(rec, kTopK), id),
                                   Unit::Request)});
  }
  return {"record", "Record of routing", {std::move(table)}};
}

inline Section choice_section(Explain&, const Given& given) {
  const std::vector<double>& scores = given.find(kScores)->values;
  const auto k = static_cast<std::size_t>(*given.number(kTopK));
  Table table{"chosen", "", {{"expert", "expert"}, {"score", "score"}}, {}};
  for (const std::size_t i : chosen_experts(scores, k))
    table.rows.push_back({Value{static_cast<double>(i + 1), Unit::Whole}, Value{scores[i], Unit::Count}});
  Facts facts{"", {}};
  if (k < scores.size())
    facts.facts.push_back({"margin", "score above the first expert that is left out",
                           Value{routing_margin(scores, k), Unit::Count},
                           "another order of sums may exceed it", ""});
  return {"choice", "Chosen experts, counted from 1", {std::move(table), std::move(facts)}};
}

inline Section ratio_section(Explain& rec, const Given& given) {
  Table table{
      "ratios", "", {{"recorded", "recorded"}, {"ratio", "weight of the token"}, {"excess", "beyond 1"}}, {}};
  for (const auto mu : given.in(rec, kBehaviour)) {
    const std::string id = "rl.ratio." + std::to_string(table.rows.size() + 1);
    const auto ratio = rec.apply(probability_ratio, {id, "rho", ""}, given.in(rec, kPolicy), mu);
    table.rows.push_back({shown_as(mu), shown_as(ratio), shown_as(ratio - 1.0, Unit::Share)});
  }
  return {"ratio", "Weight of a token", {std::move(table)}};
}

inline Report answer(Explain& rec, const Given& given, const Planned*) {
  constexpr std::array kSections{&stage_section, &period_section, &survival_section, &sync_section,
                                 &cache_section, &record_section, &choice_section,   &ratio_section};
  static_assert(kSections.size() == kParts.size());
  Report r{"", "Loop of reinforcement learning", Verdict::None, {}, {}};
  for (std::size_t i = 0; i < kParts.size(); ++i)
    if (kParts[i].whole(given)) r.sections.push_back(kSections[i](rec, given));
  return r;
}

}  // namespace detail::rl

inline constexpr Topic kRl{
    "rl",
    "the loop of reinforcement learning: its slowest stage, asynchrony, what it moves and keeps",
    "Stages need --generate, --verify and --learn; periods --generate-time, --learn-time and --sync-time. "
    "Updates\n"
    "behind count those while a trajectory is generated and while it waits, the learner taking the oldest "
    "batch.\n"
    "Failures of generators are a Poisson process. For the memory of both phases see trainplan study phases.",
    detail::rl::kFields,
    &detail::rl::judge,
    &detail::rl::answer};

}  // namespace trainplan::study
