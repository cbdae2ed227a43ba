/// `study scale`: more GPUs for one run: 6 N D against a deadline, the critical batch, weak and strong
/// scaling.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "trainplan/study/scale_inputs.hpp"
#include "trainplan/study/topic.hpp"

namespace trainplan::study {
namespace detail::scale {

/// One line of the table of 6 N D: a model, a device, an MFU and a number of GPUs. stored: what memory holds.
struct Run {
  Params<Sym> params, stored;
  Tokens<Sym> tokens;
  FlopsPerSec<Sym> peak;
  Count<Sym> mfu, gpus;
  std::size_t device = 0;
};

/// A line of the table of times.
inline std::vector<Cell> time_row(Explain& rec, const Given& given, const Run& run, const std::string& n) {
  const std::string id = "scale.time." + n;
  const auto time =
      rec.apply(dense_time, {id, "T_run", ""}, run.params, run.tokens, run.gpus, run.peak, run.mfu);
  std::vector<Cell> row{shown_as(run.params), std::string(given.name_of(kPeak, run.device)),
                        shown_as(run.peak),   shown_as(run.mfu, Unit::Share),
                        shown_as(run.gpus),   shown_as(time, Unit::Days)};
  if (const auto deadline = given.maybe(rec, kDeadline))
    row.emplace_back(shown_as(time - *deadline, Unit::Days));
  return row;
}

/// GPUs that finish in time, GPUs that hold the state, and which of the two decides.
inline std::vector<Cell> need_row(Explain& rec, const Given& given, const Run& run, const std::string& n) {
  std::vector<Cell> row{shown_as(run.params), std::string(given.name_of(kPeak, run.device)),
                        shown_as(run.peak), shown_as(run.mfu, Unit::Share)};
  const std::string compute_id = "scale.gpus_by_compute." + n, memory_id = "scale.gpus_by_memory." + n;
  const auto compute = rec.apply(gpus_by_compute, {compute_id, "G_T", ""}, run.params, run.tokens,
                                 given.in(rec, kDeadline), run.peak, run.mfu);
  row.emplace_back(shown_as(compute, Unit::Whole));
  if (!given.has(kMemory)) return row;
  const auto sizes = given.in(rec, kMemory);
  const auto state = model_state_bytes(run.stored, given.in(rec, kStateWidth));
  const auto memory =
      rec.apply(gpus_by_memory, {memory_id, "G_M", ""}, state, sizes[sizes.size() == 1 ? 0 : run.device]);
  if (knows_stored(given)) row.emplace_back(shown_as(run.stored));
  row.emplace_back(shown_as(memory, Unit::Whole));
  row.emplace_back(std::string(value_of(memory) > value_of(compute) ? "memory" : "time"));
  return row;
}

/// The three tables of training runs, with the columns that the inputs allow.
struct RunTables {
  Table work{"work", "Work", {{"params", "parameters"}, {"tokens", "tokens"}, {"flops", "FLOPs"}}, {}};
  Table times{"times",
              "Time",
              {{"params", "parameters"},
               {"device", "device"},
               {"peak", "peak of a GPU"},
               {"mfu", "MFU"},
               {"gpus", "GPUs"},
               {"time", "time"}},
              {}};
  Table needs{"needs",
              "GPUs that it takes",
              {{"params", "parameters"},
               {"device", "device"},
               {"peak", "peak of a GPU"},
               {"mfu", "MFU"},
               {"gpus_by_compute", "to be in time"}},
              {}};

  explicit RunTables(const Given& given) {
    if (given.has(kDeadline)) times.columns.push_back({"over", "beyond the deadline"});
    if (!given.has(kMemory)) return;
    if (knows_stored(given)) needs.columns.push_back({"stored", "stored"});
    needs.columns.push_back({"gpus_by_memory", "to hold the state"});
    needs.columns.push_back({"decides", "decides"});
  }
};

inline void add_device(Explain& rec, const Given& given, Run run, RunTables& tables) {
  for (const auto mfu : given.in(rec, kMfu)) {
    run.mfu = mfu;
    for (const auto gpus : given.in(rec, kGpus)) {
      run.gpus = gpus;
      tables.times.rows.push_back(time_row(rec, given, run, std::to_string(tables.times.rows.size() + 1)));
    }
    if (given.has(kDeadline))
      tables.needs.rows.push_back(need_row(rec, given, run, std::to_string(tables.needs.rows.size() + 1)));
  }
}

inline Section run_section(Explain& rec, const Given& given) {
  RunTables tables(given);
  const auto peaks = given.in(rec, kPeak);
  const auto all_tokens = given.maybe(rec, kTokensOfRun);
  const auto ratio = given.maybe(rec, kTokensPerParam);
  const auto all_stored = knows_stored(given) ? given.in(rec, kStored) : std::vector<Params<Sym>>{};
  std::size_t model = 0;
  for (const auto params : given.in(rec, kParamsOfRun)) {
    const auto stored = all_stored.empty() ? params : all_stored[model++];
    const auto tokens = all_tokens ? *all_tokens : tokens_for_params(params, *ratio);
    const std::string id = "scale.flops." + std::to_string(tables.work.rows.size() + 1);
    const auto flops = rec.apply(dense_flops, {id, "F", ""}, params, tokens);
    tables.work.rows.push_back({shown_as(params), shown_as(tokens), shown_as(flops)});
    for (std::size_t i = 0; i < peaks.size(); ++i)
      add_device(rec, given, {params, stored, tokens, peaks[i], {}, {}, i}, tables);
  }
  Section section{"runs", "Training runs", {std::move(tables.work), std::move(tables.times)}};
  if (!tables.needs.rows.empty()) section.blocks.emplace_back(std::move(tables.needs));
  section.blocks.emplace_back(Notes{
      "notes",
      {{std::string("Nothing lost: no failures, no saves. MFU counts 6 N D FLOPs: attention is left out "
                    "of the FLOPs and of the MFU alike, recompute too.")}}});
  return section;
}

/// Facts of the critical batch; the least steps as scale.least_steps.
inline Section batch_section(Explain& rec, const Given& given) {
  const auto batch = given.in(rec, kBatch), noise = given.in(rec, kNoise);
  const auto least =
      rec.apply(least_steps, {"scale.least_steps", "S_min", ""}, given.in(rec, kSteps), batch, noise);
  rec.apply(least_tokens, {"scale.least_tokens", "E_min", ""}, least, noise);
  rec.apply(batch_ratio, {"scale.batch_ratio", "f_B", "batch over the critical batch"}, batch, noise);
  rec.apply(weak_scaling_ceiling, {"scale.ceiling", "f_weak", ""}, batch, noise);
  const Ledger& l = rec.ledger();
  Facts facts{"", {}};
  facts.facts = {fact(l, "scale.least_steps", "least_steps", Unit::Count),
                 fact(l, "scale.least_tokens", "least_tokens", Unit::Tokens),
                 fact(l, "scale.batch_ratio", "batch_ratio", Unit::Count),
                 fact(l, "scale.ceiling", "ceiling", Unit::Count)};
  return {"batch", "Critical batch", {std::move(facts)}};
}

/// The same run on other numbers of GPUs: each keeps its share of the batch, or all share the batch.
inline std::vector<Cell> growth_row(Explain& rec, const Given& given, Count<Sym> gpus) {
  const std::string n = "." + shown(value_of(gpus)), on = " on " + shown(value_of(gpus)) + " GPUs";
  const auto reference = given.in(rec, kReference), steps = given.in(rec, kSteps);
  const auto batch = given.in(rec, kBatch), noise = given.in(rec, kNoise);
  const auto step = given.in(rec, kStep), fixed = given.in(rec, kFixed);
  const std::string batch_id = "scale.weak_batch" + n, weak_id = "scale.weak_time" + n,
                    strong_id = "scale.strong_step" + n, share_id = "scale.waiting" + n,
                    time_id = "scale.strong_time" + n, weak_title = "weak scaling" + on,
                    strong_title = "strong scaling, one step" + on, time_title = "strong scaling" + on,
                    share_title = "share of such a step that GPUs do not shorten" + on;
  const auto grown = rec.apply(weak_scaled_batch, {batch_id, "B_w", ""}, batch, gpus, reference);
  const auto fewer = steps_at_batch(least_steps(steps, batch, noise), grown, noise);
  const auto weak = rec.apply(time_of_steps, {weak_id, "T_weak", weak_title}, fewer, step);
  const auto shorter = rec.apply(strong_scaled_step, {strong_id, "t_strong", strong_title}, step - fixed,
                                 fixed, gpus, reference);
  const auto strong = rec.apply(time_of_steps, {time_id, "T_strong", time_title}, steps, shorter);
  const auto waiting = rec.apply(part_of_time, {share_id, "f_wait", share_title}, fixed, shorter);
  return {shown_as(gpus),
          shown_as(grown),
          shown_as(batch_ratio(grown, batch)),
          shown_as(fewer),
          shown_as(weak, Unit::Days),
          shown_as(shorter, Unit::StepTime),
          shown_as(strong, Unit::Days),
          shown_as(waiting, Unit::Share)};
}

inline Section growth_section(Explain& rec, const Given& given) {
  Table table{"growth",
              "",
              {{"gpus", "GPUs"},
               {"weak_batch", "weak: batch"},
               {"weak_growth", "times the batch"},
               {"weak_steps", "steps"},
               {"weak_time", "time"},
               {"strong_step", "strong: step"},
               {"strong_time", "time"},
               {"waiting", "of it not shortened"}},
              {}};
  for (const auto gpus : given.in(rec, kGpus)) table.rows.push_back(growth_row(rec, given, gpus));
  Notes notes{"notes",
              {{std::string("Weak: each GPU keeps its share of the batch, and a step its time. Strong: the "
                            "batch stays, and the compute of a step is divided.")}}};
  return {"growth", "Weak and strong scaling", {std::move(table), std::move(notes)}};
}

inline Section measured_section(Explain& rec, const Given& given) {
  const auto before = given.in(rec, kBefore), after = given.in(rec, kAfter);
  const auto few = given.in(rec, kFew), many = given.in(rec, kMany);
  rec.apply(speed_ratio, {"scale.speed_ratio", "f_speed", ""}, before, after);
  rec.apply(scaling_efficiency, {"scale.efficiency", "e_scale", ""}, before, after, few, many);
  const auto ideal = rec.apply(strong_scaled_step, {"scale.ideal_step", "t_ideal", "step if all scaled"},
                               before, Seconds<Sym>{Sym(0.0)}, many, few);
  rec.item({"scale.beyond_ideal", "dt", "step beyond that"}, after - ideal);
  const Ledger& l = rec.ledger();
  Facts facts{"", {}};
  facts.facts = {fact(l, "scale.speed_ratio", "speed_ratio", Unit::Count),
                 fact(l, "scale.efficiency", "efficiency", Unit::Share),
                 fact(l, "scale.ideal_step", "ideal_step", Unit::StepTime),
                 fact(l, "scale.beyond_ideal", "beyond_ideal", Unit::StepTime)};
  return {"measured", "Scaling efficiency", {std::move(facts)}};
}

/// What a faster or slower capability does to a step that uses it for a share of its time.
inline Section amdahl_section(Explain& rec, const Given& given) {
  Table table{"amdahl",
              "",
              {{"fraction", "share of the step"},
               {"ratio", "times as fast"},
               {"step", "step"},
               {"speed_ratio", "speed-up"}},
              {}};
  const auto step = given.in(rec, kStep);
  for (const auto fraction : given.in(rec, kFraction))
    for (const auto ratio : given.in(rec, kRatio)) {
      const std::string id = "scale.amdahl." + std::to_string(table.rows.size() + 1);
      const auto time = rec.apply(amdahl_time, {id, "T_new", ""}, step, fraction, ratio);
      table.rows.push_back({shown_as(fraction, Unit::Share), shown_as(ratio), shown_as(time),
                            shown_as(speed_ratio(step, time))});
    }
  return {"amdahl", "One capability changes", {std::move(table)}};
}

inline Report answer(Explain& rec, const Given& given, const Planned*) {
  constexpr std::array kSections{&run_section, &batch_section, &growth_section, &measured_section,
                                 &amdahl_section};
  static_assert(kSections.size() == kParts.size());
  Report r{"", "More GPUs for one run", Verdict::None, {}, {}};
  for (std::size_t i = 0; i < kParts.size(); ++i)
    if (i == 0 ? knows_runs(given) : kParts[i].whole(given)) r.sections.push_back(kSections[i](rec, given));
  return r;
}

}  // namespace detail::scale

inline constexpr Topic kScale{
    "scale",
    "more GPUs for one run: 6 N D against a deadline, the critical batch, weak and strong scaling",
    "Training runs need --params, --peak, --mfu, --gpus and --tokens or --tokens-per-param; the critical "
    "batch\n"
    "--noise, --batch and --steps; a change of one capability --fraction, --ratio and --step.",
    detail::scale::kFields,
    &detail::scale::judge,
    &detail::scale::answer};

}  // namespace trainplan::study
