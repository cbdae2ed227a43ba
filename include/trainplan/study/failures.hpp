/// `study failures`: how often a job fails, how sure a count of failures is, spares and replicas.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/cost/checkpoint.hpp"
#include "trainplan/cost/failures.hpp"
#include "trainplan/cost/goodput.hpp"
#include "trainplan/cost/spares.hpp"
#include "trainplan/study/of_plan.hpp"
#include "trainplan/study/parts.hpp"
#include "trainplan/study/topic.hpp"

namespace trainplan::study {
namespace detail::failures {

inline constexpr Input<kCount> kGpus{{"gpus", "G", "GPUs of the job", 1, 1e7},
                                     {.example = "16384", .required = true, .of_plan = &gpus_of}};
inline constexpr Input<kSeconds> kGpuMtbf{
    {"gpu_mtbf", "M_gpu", "mean time between failures of one GPU", 1, 1e12},
    {.example = "50000h", .of_plan = &gpu_mtbf_of}};
inline constexpr Input<kCount> kFailures{
    {"failures", "n", "failures that were counted on those GPUs", 0, 1e9}, {.example = "419"}};
inline constexpr Input<kSeconds> kTime{{"time", "T", "time in which they were counted", 1, 1e12},
                                       {.example = "54d"}};
inline constexpr Input<kCount> kConfidence{
    {"confidence", "c", "how sure an interval and the spares shall be", 0.01, 0.999999},
    {.example = "95%", .otherwise = 0.95, .why = "as usual", .unit = Unit::Share}};
inline constexpr Input<kSeconds> kRepair{
    {"repair", "T_rep", "time until a failed GPU is back in service", 0, 1e9}, {.example = "24h"}};
inline constexpr Input<kCount> kReplica{
    {"replica", "G_g", "GPUs of a replica that fails alone (torchft)", 1, 1e7}, {.example = "64"}};
inline constexpr Input<kSeconds> kAway{
    {"away", "T_away", "time until a replica that failed trains again", 0, 1e9}, {.example = "20min"}};

inline constexpr std::array<const Field*, 8> kFields{&kGpus,       &kGpuMtbf, &kFailures, &kTime,
                                                     &kConfidence, &kRepair,  &kReplica,  &kAway};

inline bool knows_count(const Given& g) { return g.has(kFailures) && g.has(kTime); }
/// How often one GPU fails: said, or as it was counted.
inline bool knows_rate(const Given& g) {
  return g.has(kGpuMtbf) || (knows_count(g) && *g.number(kFailures) >= 1);
}

inline constexpr std::array<const Field*, 3> kWhole{&kGpus, &kFailures, &kReplica};

inline constexpr std::array<const Field*, 1> kPublishedNeeds{&kGpus}, kCountExtra{&kConfidence},
    kSpareNeeds{&kRepair}, kJobNeeds{&kGpuMtbf};
inline constexpr std::array<const Field*, 2> kCountNeeds{&kFailures, &kTime},
    kReplicaNeeds{&kReplica, &kAway};
inline constexpr std::array kParts{Part{"published failures", kPublishedNeeds}, Part{"the job", kJobNeeds},
                                   Part{"what a count says", kCountNeeds, kCountExtra},
                                   Part{"spares", kSpareNeeds, kCountExtra}, Part{"replicas", kReplicaNeeds}};

/// Spares and replicas rest on how often a GPU fails.
inline void judge_rate(const Given& given, const Field& field, Issues& issues) {
  if (!is_asked(given, field) || knows_rate(given) || given.has_or_refused(kGpuMtbf)) return;
  const bool counted = given.has_or_refused(kFailures);
  if (counted && (!knows_count(given) || *given.number(kFailures) >= 1)) return;  // told already
  refuse(issues, given, field, "rate-unknown",
         "go with --gpu-mtbf, or with --failures of at least 1 and --time: how often a GPU fails",
         counted ? "--failures 0 gives no mean; try --gpu-mtbf 50000h" : "try --gpu-mtbf 50000h");
}

inline void judge(const Given& given, Issues& issues) {
  judge_parts(kParts, kFields, given, issues);
  judge_whole(given, kWhole, issues);
  judge_rate(given, kRepair, issues);
  judge_rate(given, kReplica, issues);
  const auto replica = given.number(kReplica), gpus = given.number(kGpus);
  if (replica && gpus && *replica > *gpus)
    refuse(issues, given, kReplica, "range", "be at most --gpus = " + shown(*gpus),
           "try the GPUs of one data parallel replica");
}

/// What a count says about the mean; no failure leaves it open upwards, and `observed` as it is.
inline Section count_section(Explain& rec, const Given& given, std::optional<Seconds<Sym>>& observed) {
  const auto n = given.in(rec, kFailures), gpus = given.in(rec, kGpus), c = given.in(rec, kConfidence);
  const auto time = given.in(rec, kTime);
  Facts f{"", {}};
  const auto add = [&](const char* id, const char* key, std::string note = {}) {
    add_fact(f, rec.ledger(), id, key, Unit::Time, std::move(note));
  };
  rec.apply(mtbf_low, {"failures.low", "M_lo", ""}, time, n, c);
  if (value_of(n) >= 1) {
    const auto mean = rec.apply(observed_mtbf, {"failures.observed", "M_obs", ""}, time, n);
    rec.apply(mtbf_high, {"failures.high", "M_hi", ""}, time, n, c);
    observed = rec.apply(gpu_mtbf, {"failures.gpu_mtbf", "M_gpu_obs", "that of one GPU"}, mean, gpus);
    add("failures.observed", "observed_mtbf");
  }
  add("failures.low", "low");
  add("failures.high", "high");
  if (value_of(n) < 1)
    f.facts.push_back({"high", "longest mean time between failures that a count leaves open",
                       std::string("no limit: nothing failed"), "", ""});
  add("failures.gpu_mtbf", "gpu_mtbf");
  return {
      "count",
      "What the count says",
      {std::move(f),
       Notes{"count_note",
             {{"failures are taken as independent "
               "and equally likely at any time; a bad batch of hardware or a young cluster is neither"}}}}};
}

inline Seconds<Sym> job_mtbf(Explain& rec, const Given& given) {
  return rec.apply(cluster_mtbf, {"failures.mtbf", "M", ""}, given.in(rec, kGpuMtbf), given.in(rec, kGpus));
}

inline Section job_section(Explain& rec, const Given& given, Report& r) {
  const auto mtbf = job_mtbf(rec, given);
  const auto day = rec.in<Seconds<Sym>>({"T_day", "a day", "calendar"}, 86400);
  rec.apply(periods_in_time, {"failures.of_a_day", "n_day", "failures of a day"}, day, mtbf);
  Facts f{"", {}};
  add_fact(f, rec.ledger(), "failures.mtbf", "mtbf", Unit::Time);
  add_fact(f, rec.ledger(), "failures.of_a_day", "failures_per_day", Unit::Count);
  r.headline = {"a failure every ", Value{value_of(mtbf), Unit::Time}, " on ",
                Value{*given.number(kGpus), Unit::Whole}, " GPUs"};
  return {"job", "Job", {std::move(f)}};
}

/// Spares for what is under repair, and replicas that go on without the one that failed; `each`: mean time
/// between failures of one GPU.
inline Section spare_section(Explain& rec, const Given& given, Seconds<Sym> each) {
  Facts f{"", {}};
  f.add("rate", "mean time between failures of one GPU", Value{value_of(each), Unit::Time},
        given.has(kGpuMtbf) ? "as given" : "as counted");
  if (const auto repair = given.maybe(rec, kRepair)) {
    const auto away =
        rec.apply(gpus_in_repair, {"failures.in_repair", "G_rep", ""}, given.in(rec, kGpus), *repair, each);
    add_fact(f, rec.ledger(), "failures.in_repair", "in_repair", Unit::Count);
    f.facts.push_back({"spares", "spare GPUs that suffice",
                       Value{spares_for(value_of(away), *given.number(kConfidence)), Unit::Whole},
                       "with the confidence given; GPUs fail and come back one by one", ""});
  }
  if (given.has(kReplica)) {
    rec.apply(replica_availability, {"failures.availability", "x_up", "of the replicas train, on average"},
              each, given.in(rec, kReplica), given.in(rec, kAway));
    add_fact(f, rec.ledger(), "failures.availability", "replicas_up", Unit::Share,
             "a failure then stops one replica and not the job; the batch shrinks meanwhile");
  }
  return {"spares", "Spares and replicas", {std::move(f)}};
}

/// Published failures, and what each would mean here if GPUs failed alike.
inline Section published_section(Explain& rec, const Given& given) {
  Table t{"published",
          "",
          {{"record", "record"},
           {"gpus", "GPUs"},
           {"mtbf", "mean time between"},
           {"gpu_mtbf", "of one GPU"},
           {"here", "here"},
           {"source", "source"}},
          {}};
  for (const FailureRecord& p : given.shelf->failures) {
    const auto gpus = rec.in<Count<Sym>>({"G_pub", "GPUs of the record", p.id}, static_cast<double>(p.gpus));
    const auto mtbf =
        p.counted()
            ? rec.apply(observed_mtbf, {p.id + ".mtbf", "M_pub", ""},
                        rec.in<Seconds<Sym>>({"T_pub", "time of the record", p.id}, p.time.value),
                        rec.in<Count<Sym>>({"n_pub", "its failures", p.id}, static_cast<double>(p.failures)))
            : rec.in<Seconds<Sym>>({"M_pub", "mean time between failures", p.id}, p.mtbf.value);
    const auto each = rec.apply(gpu_mtbf, {p.id + ".gpu_mtbf", "M_gpu_pub", ""}, mtbf, gpus);
    const auto here = rec.apply(cluster_mtbf, {p.id + ".here", "M_here", ""}, each, given.in(rec, kGpus));
    const auto time = [](const auto& q) { return Value{value_of(q), Unit::Time}; };
    t.rows.push_back({p.title, Value{static_cast<double>(p.gpus), Unit::Whole}, time(mtbf), time(each),
                      time(here), p.source});
  }
  return {"published", "Published failures", {std::move(t)}};
}

/// Shares of a counted record by what failed.
inline Section cause_section(Explain& rec, const FailureRecord& p) {
  Table t{"causes", "", {{"cause", "cause"}, {"kind", "part"}, {"count", "count"}, {"share", "share"}}, {}};
  const auto all = rec.in<Count<Sym>>({"n", "failures of the record", p.id}, static_cast<double>(p.failures));
  for (std::size_t i = 0; i < p.causes.size(); ++i) {
    const FailureCause& c = p.causes[i];
    const auto count = rec.in<Count<Sym>>({"n_i", c.cause, p.id}, static_cast<double>(c.count));
    const auto share =
        rec.apply(event_share, {p.id + ".cause." + std::to_string(i + 1), "x_i", c.cause}, count, all);
    t.rows.push_back(
        {c.cause, c.kind, Value{value_of(count), Unit::Whole}, Value{value_of(share), Unit::Share}});
  }
  Section s{"causes", "Causes: " + p.title, {std::move(t)}};
  if (!p.note.empty()) s.blocks.push_back(Notes{"causes_note", {{p.note}}});
  return s;
}

inline Report answer(Explain& rec, const Given& given, const Planned*) {
  Report r{"", "Failures", Verdict::None, {}, {}};
  if (given.has(kGpuMtbf)) r.sections.push_back(job_section(rec, given, r));
  std::optional<Seconds<Sym>> each;
  if (knows_count(given)) r.sections.push_back(count_section(rec, given, each));
  if (const auto said = given.maybe(rec, kGpuMtbf)) each = said;
  if (each && (given.has(kRepair) || given.has(kReplica)))
    r.sections.push_back(spare_section(rec, given, *each));
  if (given.shelf == nullptr) return r;
  r.sections.push_back(published_section(rec, given));
  for (const FailureRecord& p : given.shelf->failures)
    if (!p.causes.empty()) r.sections.push_back(cause_section(rec, p));
  return r;
}

}  // namespace detail::failures

inline constexpr Topic kFailures{
    "failures",
    "how often a job of many GPUs fails, how sure a count is, spares and replicas",
    "M = M_gpu / G; a count n of T leaves M from 2 T / chi2(2 n + 2) to 2 T / chi2(2 n)",
    detail::failures::kFields,
    &detail::failures::judge,
    &detail::failures::answer,
    {},
    true};

}  // namespace trainplan::study
