/// `study overlap`: buckets of gradients in the gaps of a link, the last reduction, and the ends of a sharded
/// step.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "trainplan/cost/overlap.hpp"
#include "trainplan/cost/scaling.hpp"
#include "trainplan/spec/validator.hpp"
#include "trainplan/study/parts.hpp"
#include "trainplan/study/topic.hpp"

namespace trainplan::study {
namespace detail::overlap {

inline bool is_sharded(const Planned& p) {
  const Sharding s = p.trial().plan.sharding;
  return s == Sharding::Zero3 || s == Sharding::Hsdp;
}
inline double micro_batches_of(const Planned& p) {
  return static_cast<double>(micro_batches(p.trial().problem, p.trial().plan));
}

inline constexpr Input<kBytes> kBucket{{"bucket", "S_b", "gradients that one bucket holds", 1, 1e15},
                                       {.example = "72MiB", .unit = Unit::Request}};
inline constexpr InputList<kCount> kPieces{{"pieces", "n_b", "equal buckets to cut it into", 1, 1e6},
                                           {.example = "1,3", .otherwise = 1.0, .why = "one bucket"}};
inline constexpr InputList<kSeconds> kGap{
    {"gap", "T_gap", "times before the computation ends that the link has nothing else to do", 0, 1e6},
    {.example = "2ms,2ms,2ms"}};
inline constexpr Input<kSeconds> kLaunch{{"launch", "t_start", "start of the kernel of a collective", 0, 10},
                                         {.example = "20us", .otherwise = 0.0, .why = "none counted"}};
inline constexpr Input<kCount> kRanks{{"ranks", "d", "ranks of the group", 1, 1e7},
                                      {.example = "4", .of_plan = [](const Planned& p) {
                                         return std::optional(static_cast<double>(p.trial().plan.shard));
                                       }}};
inline constexpr Input<kBytes - kSeconds> kBandwidth{
    {"bandwidth", "W", "rate of the link of a rank, one direction", 1, 1e15},
    {.example = "200Gbit/s", .of_plan = [](const Planned& p) -> std::optional<double> {
       const auto bytes = p.item("comm.dp"), time = p.item("comm.dp_time");
       return bytes && time && *time > 0 ? std::optional(*bytes / *time) : std::nullopt;
     }}};

inline constexpr Input<kSeconds> kEnd{
    {"compute_end", "T_end", "moment at which the computation ends", 0, 1e6}, {.example = "5ms"}};
inline constexpr Input<kSeconds> kReduction{{"reduction", "t_b", "time of the last reduction", 0, 1e6},
                                            {.example = "3ms"}};
inline constexpr Input<kSeconds> kReady{{"ready", "T_ready", "moment at which its gradient is ready", 0, 1e6},
                                        {.example = "0s", .otherwise = 0.0, .why = "the beginning"}};
inline constexpr Input<kSeconds> kFree{{"link_free", "T_free", "moment from which the link is free", 0, 1e6},
                                       {.example = "4ms", .otherwise = 0.0, .why = "the beginning"}};

inline constexpr Input<kParams> kShardedParams{
    {"params", "N", "parameters that are gathered and reduced", 1, 1e15},
    {.example = "8.19B", .of_plan = [](const Planned& p) { return p.item("params.stage"); }}};
inline constexpr Input<kParams> kFirst{
    {"first", "N_1", "parameters of the first gather and of the last reduction, an embedding table", 0, 1e15},
    {.example = "622M", .of_plan = [](const Planned& p) { return p.item("params.table_per_gpu"); }}};
inline constexpr Input<kBytes - kParams> kWidth{{"width", "w", "bytes of a weight and of a gradient", 0.5, 8},
                                                {.example = "2B/param", .otherwise = 2.0, .why = "bf16"}};
inline constexpr Input<kCount> kMicroBatches{
    {"micro_batches", "m", "micro-batches of a step", 1, 1e6},
    {.example = "8", .otherwise = 1.0, .why = "one", .of_plan = [](const Planned& p) {
       return std::optional(micro_batches_of(p));
     }}};
inline constexpr Input<kSeconds> kCompute{
    {"compute", "T_mb", "computation of one micro-batch", 0, 1e6},
    {.example = "6.5s", .of_plan = [](const Planned& p) -> std::optional<double> {
       const auto all = p.item("step.busy");
       return all ? std::optional(*all / micro_batches_of(p)) : std::nullopt;
     }}};

inline constexpr std::array<const Field*, 15> kFields{
    &kBucket, &kPieces, &kGap,           &kRanks, &kBandwidth, &kLaunch,       &kEnd,    &kReduction,
    &kReady,  &kFree,   &kShardedParams, &kFirst, &kWidth,     &kMicroBatches, &kCompute};

inline constexpr std::array<const Field*, 3> kBucketNeeds{&kBucket, &kRanks, &kBandwidth},
    kBucketExtra{&kPieces, &kGap, &kLaunch}, kShardedNeeds{&kShardedParams, &kRanks, &kBandwidth};
inline constexpr std::array<const Field*, 2> kTailNeeds{&kEnd, &kReduction}, kTailExtra{&kReady, &kFree};
inline constexpr std::array<const Field*, 4> kShardedExtra{&kFirst, &kWidth, &kMicroBatches, &kCompute};
inline constexpr std::array<const Field*, 3> kWhole{&kPieces, &kRanks, &kMicroBatches};
inline constexpr std::array kParts{Part{"buckets in gaps", kBucketNeeds, kBucketExtra},
                                   Part{"the last reduction", kTailNeeds, kTailExtra},
                                   Part{"a sharded step", kShardedNeeds, kShardedExtra}};

inline void judge(const Given& given, Issues& issues) {
  judge_parts(kParts, kFields, given, issues);
  judge_whole(given, kWhole, issues);
}

/// A cut into equal buckets; each goes into the first gap that has room for it, the rest runs afterwards.
inline std::vector<Cell> cut_row(Explain& rec, const Given& given, Count<Sym> pieces) {
  const std::string n = "." + shown(value_of(pieces)), in = " in " + shown(value_of(pieces));
  const auto ranks = given.in(rec, kRanks);
  const Bytes<Sym> bucket = given.in(rec, kBucket) / pieces;
  const std::string each_id = "overlap.bucket" + n, all_id = "overlap.all" + n,
                    placed_id = "overlap.hidden" + n, left_id = "overlap.shows" + n,
                    each_title = "time of one bucket" + in, all_title = "time of all buckets" + in,
                    placed_title = "buckets that fit into gaps" + in,
                    left_title = "reduction after the computation" + in;
  const auto each = rec.apply(bucket_time, {each_id, "t_b", each_title}, bucket, ranks,
                              given.in(rec, kBandwidth), given.in(rec, kLaunch));
  const auto all = rec.apply(time_of_steps, {all_id, "t_all", all_title}, pieces, each);
  std::vector<Cell> row{shown_as(pieces), shown_as(bucket, Unit::Request),
                        shown_as(all_reduce_bytes(bucket, ranks), Unit::Request), shown_as(each),
                        shown_as(all)};
  Sum<Count<Sym>> room;
  for (const Seconds<Sym> gap : given.in(rec, kGap)) room.add(buckets_in_gap(gap, each));
  if (room.empty()) return row;
  const auto placed = rec.item({placed_id, "n_in", placed_title}, min(pieces, room.total()));
  const auto left = rec.item({left_id, "T_x", left_title}, (pieces - placed) * each);
  row.push_back(shown_as(placed));
  row.push_back(shown_as(left));
  return row;
}

inline Section bucket_section(Explain& rec, const Given& given) {
  Table table{"cuts",
              "",
              {{"buckets", "buckets"},
               {"size", "size"},
               {"sent", "sent by a rank"},
               {"each", "time of each"},
               {"all", "of all"}},
              {}};
  if (given.has(kGap)) {
    table.columns.push_back({"hidden", "in gaps"});
    table.columns.push_back({"shows", "after the computation"});
  }
  for (const Count<Sym> pieces : given.in(rec, kPieces)) table.rows.push_back(cut_row(rec, given, pieces));
  return {"buckets", "Buckets", {std::move(table)}};
}

inline Section tail_section(Explain& rec, const Given& given) {
  const auto reduction = given.in(rec, kReduction);
  const auto shows = rec.apply(exposed_reduction, {"overlap.tail", "T_x", ""}, given.in(rec, kReady),
                               given.in(rec, kFree), reduction, given.in(rec, kEnd));
  rec.apply(tail_gain, {"overlap.tail_gain", "T_gain", ""}, reduction, shows);
  Facts facts{"", {}};
  facts.facts = {fact(rec.ledger(), "overlap.tail", "shows", Unit::Time),
                 fact(rec.ledger(), "overlap.tail_gain", "gain", Unit::Time)};
  return {"tail", "Last reduction", {std::move(facts)}};
}

inline Section sharded_section(Explain& rec, const Given& given, const Planned* plan) {
  const auto params = given.in(rec, kShardedParams);
  const auto width = given.in(rec, kWidth);
  const auto ranks = given.in(rec, kRanks);
  const auto m = given.in(rec, kMicroBatches);
  const auto bandwidth = given.in(rec, kBandwidth);
  const Ledger& l = rec.ledger();
  Facts facts{"", {}};
  const auto add = [&](const char* id, const char* key, Unit unit) {
    facts.facts.push_back(fact(l, id, key, unit));
  };
  const auto bytes = rec.apply(sharded_step_bytes, {"overlap.step_bytes", "V", ""}, params, width, m, ranks);
  add("overlap.step_bytes", "step_bytes", Unit::Traffic);
  const auto link =
      rec.apply(transfer_time, {"overlap.step_link", "t_V", "link time of a step"}, bytes, bandwidth);
  add("overlap.step_link", "step_link", Unit::Time);
  const auto of_one = rec.item({"overlap.micro_batch_link", "t_mb", "link time of a micro-batch"}, link / m);
  add("overlap.micro_batch_link", "micro_batch_link", Unit::Time);
  if (const auto compute = given.maybe(rec, kCompute)) {
    rec.item({"overlap.not_hidden", "T_x", "of it beyond the computation of a micro-batch"},
             positive(of_one - *compute));
    add("overlap.not_hidden", "not_hidden", Unit::Time);
  }
  if (const auto first = given.maybe(rec, kFirst)) {
    const auto ends = parameter_bytes(*first, width);
    rec.apply(ends_exposed, {"overlap.ends", "T_ends", "first gather and last reduction"}, ends, ends, ranks,
              bandwidth);
    add("overlap.ends", "ends", Unit::Time);
  }
  Section s{"sharded", "Sharded step", {std::move(facts)}};
  if (plan != nullptr && !is_sharded(*plan))
    s.blocks.push_back(
        Notes{"sharded_note",
              {{"the plan keeps the weights of its stage whole; this is what full sharding over "
                "its data parallel ranks would move"}}});
  return s;
}

inline Report answer(Explain& rec, const Given& given, const Planned* plan) {
  Report r{"", "Overlap of communication", Verdict::None, {}, {}};
  if (kParts[0].whole(given)) r.sections.push_back(bucket_section(rec, given));
  if (kParts[1].whole(given)) r.sections.push_back(tail_section(rec, given));
  if (kParts[2].whole(given)) r.sections.push_back(sharded_section(rec, given, plan));
  return r;
}

}  // namespace detail::overlap

inline constexpr Topic kOverlap{
    "overlap",
    "which reductions fit into the gaps of a link, and what shows at the ends of a step",
    "A bucket goes into a gap whole or not at all; what finds no gap runs after the computation. More "
    "buckets\n"
    "take longer together, each with its start, and may still end the step earlier.",
    detail::overlap::kFields,
    &detail::overlap::judge,
    &detail::overlap::answer};

}  // namespace trainplan::study
