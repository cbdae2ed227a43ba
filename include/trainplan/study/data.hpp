/// `study data`: whether workers keep up, the queue that rides out a pause, and what unequal lengths cost.
#pragma once

#include <array>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/cost/packing.hpp"
#include "trainplan/cost/supply.hpp"
#include "trainplan/study/parts.hpp"
#include "trainplan/study/topic.hpp"

namespace trainplan::study {
namespace detail::data {

inline constexpr Input<kTokens> kTokensOfRun{
    {"tokens", "D", "tokens of the run", 1, 1e18},
    {.example = "100B", .of_plan = [](const Planned& p) { return p.trial().problem.recipe.tokens; }}};
inline constexpr Input<kSeconds> kTime{{"time", "T", "time for the tokens", 1, 1e12}, {.example = "25d"}};
inline constexpr Input<kTokens> kSequence{
    {"sequence", "s", "sequence length", 1, 1e9},
    {.example = "8192", .of_plan = [](const Planned& p) {
       return std::optional(static_cast<double>(p.trial().problem.recipe.sequence));
     }}};
inline constexpr Input<kCount> kBatch{
    {"global_batch", "B", "sequences of a step", 1, 1e9},
    {.example = "384", .of_plan = [](const Planned& p) {
       return std::optional(static_cast<double>(p.trial().problem.recipe.global_batch));
     }}};
inline constexpr Input<kSeconds> kStep{{"step", "T_step", "step time", 1e-6, 1e9},
                                       {.example = "52.8s",
                                        .of_plan = [](const Planned& p) { return p.item("step.time"); },
                                        .unit = Unit::StepTime}};
inline constexpr Input<kCount> kWorkers{{"workers", "n_w", "workers that prepare data, of all nodes", 1, 1e9},
                                        {.example = "4"}};
inline constexpr Input<Dim{} - kSeconds> kRate{
    {"rate", "r_w", "sequences that one worker prepares in a second", 1e-9, 1e9}, {.example = "2/s"}};
inline constexpr Input<kCount> kPaused{{"paused", "n_p", "workers that pause", 0, 1e9}, {.example = "1"}};
inline constexpr Input<kSeconds> kPause{{"pause", "T_0", "time of the pause", 0, 1e9}, {.example = "60s"}};
inline constexpr Input<kBytes - kTokens> kIdWidth{
    {"id_width", "w_id", "bytes of a token id", 1, 16},
    {.example = "8B/token", .otherwise = 8, .why = "torch.int64"}};
inline constexpr Input<kTokens> kKept{
    {"kept", "n_kept", "tokens that the packer has kept for the next sequence", 0, 1e9}, {.example = "2000"}};
inline constexpr Input<kCount> kHandedOut{
    {"handed_out", "n_out", "batches that the loader has handed out", 0, 1e12}, {.example = "108"}};
inline constexpr Input<kCount> kTrained{{"trained", "n", "batches that training has finished", 0, 1e12},
                                        {.example = "100"}};
inline constexpr InputList<kTokens> kLengths{
    {"lengths", "s_i", "lengths of the documents of a batch, separated by ','", 1, 1e9},
    {.example = "7168,1024"}};
inline constexpr Input<kCount> kRanks{{"ranks", "d", "data parallel ranks that share them", 1, 1e6},
                                      {.example = "2"}};

inline constexpr std::array<const Field*, 15> kFields{
    &kTokensOfRun, &kTime,    &kSequence, &kBatch,     &kStep,    &kWorkers, &kRate, &kPaused,
    &kPause,       &kIdWidth, &kKept,     &kHandedOut, &kTrained, &kLengths, &kRanks};

inline bool knows_step(const Given& g) { return g.has(kBatch) && g.has(kStep); }
inline bool knows_deadline(const Given& g) { return g.has(kTokensOfRun) && g.has(kTime) && g.has(kSequence); }

inline constexpr std::array<const Field*, 7> kWhole{&kBatch,   &kWorkers, &kPaused, &kHandedOut,
                                                    &kTrained, &kRanks,   &kLengths};

inline constexpr std::array<const Field*, 2> kStepNeeds{&kStep, &kBatch}, kWorkerNeeds{&kWorkers, &kRate},
    kKeptNeeds{&kKept, &kSequence}, kSkipNeeds{&kHandedOut, &kTrained}, kLengthExtra{&kSequence, &kRanks};
inline constexpr std::array<const Field*, 3> kTimeNeeds{&kTime, &kTokensOfRun, &kSequence};
inline constexpr std::array<const Field*, 4> kPauseNeeds{&kPause, &kPaused, &kWorkers, &kRate},
    kPausedNeeds{&kPaused, &kPause, &kWorkers, &kRate};
inline constexpr std::array<const Field*, 1> kLengthNeeds{&kLengths}, kStepExtra{&kRate},
    kTimeExtra{&kIdWidth};
inline constexpr std::array kParts{Part{"what training takes", kStepNeeds, kStepExtra},
                                   Part{"what a deadline asks for", kTimeNeeds, kTimeExtra},
                                   Part{"the place in a packed sequence", kKeptNeeds},
                                   Part{"batches that a restart leaves out", kSkipNeeds},
                                   Part{"lengths of documents", kLengthNeeds, kLengthExtra}};
/// Of use beside what training takes or a deadline asks for.
inline constexpr std::array kSupplyParts{Part{"the supply of workers", kWorkerNeeds},
                                         Part{"a pause", kPauseNeeds}, Part{"a pause", kPausedNeeds}};
inline constexpr std::array<const Field*, 11> kOfParts{&kTokensOfRun, &kTime,    &kSequence, &kBatch,
                                                       &kStep,        &kIdWidth, &kKept,     &kHandedOut,
                                                       &kTrained,     &kLengths, &kRanks};

/// Workers and their rate are held against a demand; true when it is told that there is none.
inline bool lacks_demand(const Given& given, Issues& issues) {
  for (const Field* field : {static_cast<const Field*>(&kWorkers), static_cast<const Field*>(&kRate)}) {
    if (!is_asked(given, *field) || given.has_or_refused(kStep) || given.has_or_refused(kTime)) continue;
    issues.add(
        {.rule = "missing",
         .pointer = option_of(kStep.arg.name),
         .must = "be given with " + option_of(field->arg.name) +
                 ", and --global-batch: what training takes; or --tokens, --time and --sequence: what a "
                 "deadline asks for",
         .hint = "try --global-batch 384 --step 52.8s"});
    return true;
  }
  return false;
}

inline void judge(const Given& given, Issues& issues) {
  judge_either(given, kStep, kTime, issues);
  judge_asked(kSupplyParts, {}, given, issues);
  if (lacks_demand(given, issues))
    judge_asked(kParts, kOfParts, given, issues);
  else
    judge_parts(kParts, kOfParts, given, issues);
  judge_whole(given, kWhole, issues);
  if (given.has(kPaused) && given.has(kWorkers) && *given.number(kPaused) > *given.number(kWorkers))
    refuse(issues, given, kPaused, "range", "be at most --workers = " + shown(*given.number(kWorkers)),
           "try --paused 1");
  if (given.has(kKept) && given.has(kSequence) && *given.number(kKept) >= *given.number(kSequence))
    refuse(issues, given, kKept, "range", "be below the sequence length", "try --kept 2000");
  if (given.has(kHandedOut) && given.has(kTrained) && *given.number(kTrained) > *given.number(kHandedOut))
    refuse(issues, given, kTrained, "range", "be at most --handed-out", "try a batch that was handed out");
}

/// What training takes: by the step where it is known, else by the deadline. late: the step takes less than
/// the deadline asks for.
struct Demand {
  PerSec<Sym> needed;
  bool late = false;
};
inline Demand demand(Explain& rec, const Given& given, Facts& f) {
  PerSec<Sym> out;
  double asked = 0;
  if (knows_deadline(given)) {
    const auto tokens = given.in(rec, kTokensOfRun);
    const auto time = given.in(rec, kTime);
    out = rec.apply(deadline_demand, {"data.deadline_demand", "r_T", "sequences/s that the deadline needs"},
                    tokens, time, given.in(rec, kSequence));
    rec.apply(token_traffic, {"data.traffic", "W_id", "token ids"}, tokens, time, given.in(rec, kIdWidth));
    asked = value_of(out);
    add_fact(f, rec.ledger(), "data.deadline_demand", "deadline_demand", Unit::Count);
    add_fact(f, rec.ledger(), "data.traffic", "traffic", Unit::ByteRate);
  }
  if (knows_step(given)) {
    out = rec.apply(sequence_demand, {"data.demand", "r", "sequences/s that training takes"},
                    given.in(rec, kBatch), given.in(rec, kStep));
    add_fact(f, rec.ledger(), "data.demand", "demand", Unit::Count);
  }
  return {out, value_of(out) < asked};
}

/// The queue that hides a pause of some workers, and how long it takes to fill again.
inline void add_pause(Explain& rec, const Given& given, PerSec<Sym> needed, PerSec<Sym> supply, Facts& f) {
  const auto paused = given.maybe(rec, kPaused);
  const auto pause = given.maybe(rec, kPause);
  if (!paused || !pause) return;
  const auto left = rec.apply(worker_supply, {"data.supply_left", "r_0", "sequences/s during the pause"},
                              given.in(rec, kWorkers) - *paused, given.in(rec, kRate));
  rec.apply(prefetch_depth, {"data.prefetch", "n_q", "sequences to keep ready"}, needed, left, *pause);
  add_fact(f, rec.ledger(), "data.supply_left", "supply_left", Unit::Count);
  add_fact(f, rec.ledger(), "data.prefetch", "prefetch_sequences", Unit::Whole);
  if (value_of(supply) <= value_of(needed)) {
    f.facts.push_back({"refill", "full again", std::string("never: no worker to spare"), "", ""});
    return;
  }
  const auto spare = rec.apply(spare_supply, {"data.spare", "r_1", "sequences/s to spare"}, supply, needed);
  rec.apply(refill_time, {"data.refill", "T_q", "full again after"}, needed, left, *pause, spare);
  add_fact(f, rec.ledger(), "data.refill", "refill", Unit::Time);
}

/// Demand and workers; judged when both are known.
inline Section supply_section(Explain& rec, const Given& given, Report& r) {
  Facts f{"", {}};
  const auto [needed, late] = demand(rec, given, f);
  Section s{"supply", "Supply", {}};
  if (const auto each = given.maybe(rec, kRate)) {
    const auto least = rec.apply(workers_needed, {"data.workers_needed", "n_least", ""}, needed, *each);
    add_fact(f, rec.ledger(), "data.workers_needed", "workers_needed", Unit::Whole);
    if (const auto workers = given.maybe(rec, kWorkers)) {
      const auto supply = rec.apply(worker_supply, {"data.supply", "r_a", "sequences/s that workers prepare"},
                                    *workers, *each);
      add_fact(f, rec.ledger(), "data.supply", "supply", Unit::Count);
      const bool enough = value_of(*workers) >= value_of(least);
      r.verdict = enough ? Verdict::Fits : Verdict::DoesNotFit;
      const bool one = value_of(*workers) == 1;
      r.headline = {Value{value_of(*workers), Unit::Whole},
                    enough ? (one ? " worker keeps up; " : " workers keep up; ")
                           : (one ? " worker is too few; " : " workers are too few; "),
                    Value{value_of(least), Unit::Whole}, " needed"};
      add_pause(rec, given, needed, supply, f);
    }
  }
  if (late) {
    r.verdict = Verdict::DoesNotFit;
    r.headline.insert(r.headline.begin(), r.headline.empty()
                                              ? "the step is too slow for the deadline"
                                              : "the step is too slow for the deadline; at it ");
  }
  s.blocks.push_back(std::move(f));
  return s;
}

/// What a restart loses where a checkpoint leaves something out.
inline Section position_section(Explain& rec, const Given& given) {
  Facts f{"", {}};
  if (given.has(kKept) && given.has(kSequence)) {
    rec.apply(tokens_to_fill, {"data.to_fill", "n_fill", ""}, given.in(rec, kSequence), given.in(rec, kKept));
    add_fact(f, rec.ledger(), "data.to_fill", "tokens_to_fill", Unit::Tokens,
             "without what the packer has kept, every later sequence begins elsewhere");
  }
  if (given.has(kHandedOut) && given.has(kTrained)) {
    rec.apply(skipped_batches, {"data.skipped", "n_skip", ""}, given.in(rec, kHandedOut),
              given.in(rec, kTrained));
    add_fact(f, rec.ledger(), "data.skipped", "skipped_batches", Unit::Whole,
             "save the position of training, not that of the loader");
  }
  return {"position", "Position in the data", {std::move(f)}};
}

/// Of a document; one that is longer than a sequence is cut as it is packed.
inline Count<Sym> pairs_of(Explain& rec, const Given& given, const Item& item, Tokens<Sym> length) {
  const auto s = given.maybe(rec, kSequence);
  return s ? rec.apply(cut_pairs, item, length, *s) : rec.apply(causal_pairs, item, length);
}

/// How many sequences hold them, and how evenly ranks share their work.
inline void add_packing(const Given& given, std::vector<double> sizes, const std::vector<double>& work,
                        Facts& f) {
  if (const auto s = given.number(kSequence)) {
    const double used = std::accumulate(sizes.begin(), sizes.end(), 0.0);
    const double packed = static_cast<double>(packed_sequences(std::move(sizes), *s));
    f.facts.push_back({"packed_sequences", "packed sequences", Value{packed, Unit::Whole},
                       "first fit, the longest first", ""});
    f.facts.push_back({"padding", "of them padding", Value{1 - used / (packed * *s), Unit::Share}, "", ""});
  }
  const auto ranks = given.number(kRanks);
  if (!ranks) return;
  const auto d = static_cast<std::size_t>(*ranks);
  f.facts.push_back({"imbalance_in_turn", "busiest rank over the mean, in turn",
                     Value{imbalance_in_turn(work, d), Unit::Count}, "", ""});
  f.facts.push_back({"imbalance_by_work", "busiest rank over the mean, longest first",
                     Value{imbalance_by_work(work, d), Unit::Count}, "", ""});
}

/// Pairs of each document, and of documents of equal length with as many tokens.
inline Section length_section(Explain& rec, const Given& given) {
  const auto lengths = given.in(rec, kLengths);
  Table table{"documents", "", {{"tokens", "tokens"}, {"pairs", "pairs of positions"}}, {}};
  Sum<Count<Sym>> sum;
  Sum<Tokens<Sym>> tokens;
  std::vector<double> work, sizes;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::string id = "data.pairs." + std::to_string(i + 1), symbol = "n_" + std::to_string(i + 1);
    const auto pairs = pairs_of(rec, given, {id, symbol, ""}, lengths[i]);
    table.rows.push_back({Value{value_of(lengths[i]), Unit::Whole}, Value{value_of(pairs), Unit::Whole}});
    sum.add(pairs);
    tokens.add(lengths[i]);
    work.push_back(value_of(pairs));
    sizes.push_back(value_of(lengths[i]));
  }
  const double n = static_cast<double>(lengths.size());
  const auto all =
      rec.item({"data.pairs", "n_pairs", "pairs of positions", {}, Unit::Whole}, 1.0 * sum.total());
  const auto mean = rec.item({"data.mean_length", "s_mean", "mean length"}, tokens.total() / n);
  const auto even = rec.item({"data.even_pairs", "n_even", "pairs if all were equally long", {}, Unit::Whole},
                             n * pairs_of(rec, given, {"data.mean_pairs", "n_mean", ""}, mean));
  rec.item({"data.more_pairs", "x_pairs", "more than with equal lengths", {}, Unit::Share}, all / even - 1.0);
  Facts f{"", {}};
  add_fact(f, rec.ledger(), "data.pairs", "pairs", Unit::Whole);
  add_fact(f, rec.ledger(), "data.even_pairs", "even_pairs", Unit::Whole);
  add_fact(f, rec.ledger(), "data.more_pairs", "more_pairs", Unit::Share,
           "attention; products of weights do not change");
  add_packing(given, std::move(sizes), work, f);
  return {"lengths", "Lengths of documents", {std::move(table), std::move(f)}};
}

inline Report answer(Explain& rec, const Given& given, const Planned*) {
  Report r{"", "Data", Verdict::None, {}, {}};
  if (knows_step(given) || knows_deadline(given)) r.sections.push_back(supply_section(rec, given, r));
  if ((given.has(kKept) && given.has(kSequence)) || given.has(kHandedOut))
    r.sections.push_back(position_section(rec, given));
  if (given.has(kLengths)) r.sections.push_back(length_section(rec, given));
  return r;
}

}  // namespace detail::data

inline constexpr Topic kData{
    "data",
    "whether workers keep up, queues for pauses, and unequal lengths",
    "demand = batch / step; queue = (demand - supply) x pause; pairs = s (s + 1) / 2",
    detail::data::kFields,
    &detail::data::judge,
    &detail::data::answer};

}  // namespace trainplan::study
