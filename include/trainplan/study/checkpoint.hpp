/// `study checkpoint`: how large, how long to write, what to keep, when it counts, and what is in it.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/cost/checkpoint.hpp"
#include "trainplan/cost/saving.hpp"
#include "trainplan/sim/clock.hpp"
#include "trainplan/sim/saves.hpp"
#include "trainplan/study/checkpoint_inputs.hpp"

namespace trainplan::study {
namespace detail::checkpoint {

inline Bytes<Sym> size(Explain& rec, const Given& given) {
  if (const auto said = given.maybe(rec, kBytesSaved)) return *said;
  return rec.apply(checkpoint_bytes, {"checkpoint.bytes", "K", "checkpoint"}, given.in(rec, kParamsOfModel),
                   given.in(rec, kWidth));
}

inline Table framework_sizes(Explain& rec, const Given& given, const Planned* plan) {
  Table t{"frameworks",
          "By framework",
          {{"framework", "framework"},
           {"width", "each parameter"},
           {"bytes", "checkpoint"},
           {"weights", "weights alone"}},
          {}};
  const auto params = given.in(rec, kParamsOfModel);
  for (const FrameworkProfile* f : profiles_asked(given, kFramework, plan)) {
    const auto bytes = [&](const char* what, double width) -> Cell {
      return Value{value_of(rec.apply(
                       checkpoint_bytes, {f->id + "." + what, "K", ""}, params,
                       rec.in<BytesPerParam<Sym>>({"w_ckpt", "bytes per parameter", f->origin}, width))),
                   Unit::Traffic};
    };
    t.rows.push_back({Code{f->id}, Value{f->checkpoint_bytes_per_param, Unit::BytesPerParam},
                      bytes("bytes", f->checkpoint_bytes_per_param),
                      bytes("weights", f->checkpoint_weights_bytes)});
  }
  return t;
}

inline Section size_section(Explain& rec, const Given& given, const Planned* plan, Bytes<Sym> bytes) {
  Facts f{"", {}};
  f.facts.push_back({"bytes", "checkpoint", Value{value_of(bytes), Unit::Traffic},
                     "of the whole job; gradients are not saved, and no layout changes it", ""});
  if (const auto gpus = given.maybe(rec, kGpus)) {
    const auto each =
        rec.apply(unique_bytes_per_gpu, {"checkpoint.per_gpu", "K_gpu", "share of one GPU"}, bytes, *gpus);
    rec.apply(staging_memory,
              {"checkpoint.staging", "M_stage", "host memory of one GPU for asynchronous saving"}, each,
              given.in(rec, kCopies));
    add_fact(f, rec.ledger(), "checkpoint.per_gpu", "per_gpu", Unit::Traffic);
    add_fact(f, rec.ledger(), "checkpoint.staging", "staging", Unit::Traffic);
  }
  Section s{"size", "Size", {std::move(f)}};
  if (given.has(kParamsOfModel)) s.blocks.push_back(framework_sizes(rec, given, plan));
  return s;
}

/// One file, one node, every node: each with what bounds it.
inline Section time_section(Explain& rec, const Given& given, Bytes<Sym> bytes) {
  Table t{"writers", "", {{"way", "written by"}, {"rate", "at"}, {"time", "takes"}}, {}};
  const auto add = [&](const char* way, BytesPerSec<Sym> rate, Seconds<Sym> time) {
    t.rows.push_back(
        {std::string(way), Value{value_of(rate), Unit::ByteRate}, Value{value_of(time), Unit::Time}});
  };
  const auto writer = given.maybe(rec, kWriter), nic = given.maybe(rec, kNic),
             storage = given.maybe(rec, kStorage);
  if (writer)
    add("one process, one file", *writer,
        rec.apply(write_time, {"checkpoint.one_file", "t_file", ""}, bytes, *writer));
  if (nic) add("one node", *nic, rec.apply(write_time, {"checkpoint.one_node", "t_node", ""}, bytes, *nic));
  const auto nodes = given.maybe(rec, kNodes);
  if (nic && nodes && storage)
    add("every node its share", min(*nodes * *nic, *storage),
        rec.apply(sharded_write_time, {"checkpoint.sharded", "t_all", ""}, bytes, *nodes, *nic, *storage));
  if (storage)
    add("the storage at its rate", *storage,
        rec.apply(write_time, {"checkpoint.write", "delta", ""}, bytes, *storage));
  return {"time", "Time to write", {std::move(t)}};
}

/// Of the whole job: every node its share where the rate of a node is known, else the storage at its rate.
inline Seconds<Sym> background_write(Explain& rec, const Given& given, Bytes<Sym> bytes) {
  const Item item{"checkpoint.background", "t_write", "written in the background"};
  const auto storage = given.in(rec, kStorage);
  if (!given.has(kNodes) || !given.has(kNic)) return rec.apply(write_time, item, bytes, storage);
  return rec.apply(sharded_write_time, item, bytes, given.in(rec, kNodes), given.in(rec, kNic), storage);
}

/// The newest few, and of the older ones those that are kept for good.
inline void add_kept(Explain& rec, const Given& given, Bytes<Sym> bytes, Seconds<Sym> tau, Facts& f) {
  const auto last = given.maybe(rec, kKeepLast);
  const auto every = given.maybe(rec, kKeepEvery);
  if (!last && !every) return;
  if (every) {
    const auto time = given.in(rec, kTime);
    const auto written =
        rec.item({"checkpoint.written", "K_run", "written in the run"}, bytes * floor(time / tau));
    const auto wanted = rec.apply(retained_bytes, {"checkpoint.wanted", "K_want", "to be kept"}, bytes,
                                  last.value_or(Count<Sym>(0.0)), time, tau, *every);
    rec.item({"checkpoint.kept", "K_kept", "kept at the end of the run, at most what was written"},
             min(wanted, written));
  } else {
    rec.item({"checkpoint.kept", "K_kept", "kept at any time"}, bytes * *last);
  }
  add_fact(f, rec.ledger(), "checkpoint.kept", "kept", Unit::Traffic);
}

inline Section retention_section(Explain& rec, const Given& given, Bytes<Sym> bytes) {
  const auto tau = given.in(rec, kInterval);
  Facts f{"", {}};
  const auto day = rec.in<Seconds<Sym>>({"T_day", "a day", "calendar"}, 86400);
  rec.apply(write_rate, {"checkpoint.rate", "W_need", "rate that the storage must take"}, bytes, tau);
  rec.apply(bytes_written, {"checkpoint.day", "K_day", "written in a day"}, bytes, day, tau);
  rec.apply(periods_in_time, {"checkpoint.saves_of_a_day", "n_day", "saves of a day"}, day, tau);
  add_fact(f, rec.ledger(), "checkpoint.rate", "rate", Unit::ByteRate);
  add_fact(f, rec.ledger(), "checkpoint.day", "written_per_day", Unit::Traffic);
  add_fact(f, rec.ledger(), "checkpoint.saves_of_a_day", "saves_per_day", Unit::Count);
  add_kept(rec, given, bytes, tau, f);
  return {"retention", "Saving at this interval", {std::move(f)}};
}

inline constexpr sim::Clock kClock{};
inline Value seconds(sim::Ticks t) { return {kClock.seconds(t), Unit::StepTime}; }

inline Table save_table(std::span<const sim::Save> saves) {
  constexpr std::size_t kShown = 6;
  Table t{"saves",
          saves.size() > kShown ? "The last of them" : "",
          {{"save", "save"},
           {"captured", "captured"},
           {"copied", "copied"},
           {"started", "writer starts"},
           {"committed", "committed"}},
          {}};
  for (std::size_t k = saves.size() > kShown ? saves.size() - kShown : 0; k < saves.size(); ++k) {
    const sim::Save& s = saves[k];
    t.rows.push_back({Value{static_cast<double>(k + 1), Unit::Whole}, seconds(s.captured), seconds(s.copied),
                      seconds(s.started), seconds(s.committed)});
  }
  return t;
}

/// Saves that do not keep pace, and what is to be said of it.
inline void conclude_late(const Given& given, double write, Report& r) {
  r.verdict = Verdict::DoesNotFit;
  r.headline = {"saves pile up: ", Value{write, Unit::StepTime}, " to write, one every ",
                Value{*given.number(kInterval), Unit::StepTime}};
}

inline void add_pace(const sim::SaveTimes& times, const Given& given, double write, Facts& f, Report& r) {
  const bool late = sim::piles_up(times);
  f.add("piles_up", "saves pile up", late,
        !late           ? "a snapshot is written before the next is taken"
        : times.buffers ? "training waits for a buffer at every save"
                        : "each is committed later than the one before, without end");
  if (late) conclude_late(given, write, r);
}

/// What the failure leaves, in facts and as the headline.
inline void add_failure(std::span<const sim::Save> saves, sim::Ticks end, Facts& f, Report& r) {
  const sim::Ticks point = sim::recovery_point(saves, end);
  f.add("recovery_point", "a failure then starts again from", seconds(point),
        point == 0 ? "nothing is committed: the start of the run" : "the last snapshot that was committed");
  f.add("redone", "done again", seconds(end - point), "wall-clock time since then");
  r.headline = {"a failure at ",           seconds(end),  " redoes ", seconds(end - point),
                ": it starts again from ", seconds(point)};
}

/// The events up to the failure; without one, three saves.
inline Section event_section(Explain& rec, const Given& given, Bytes<Sym> bytes, Report& r) {
  const double write = value_of(background_write(rec, given, bytes));
  sim::SaveTimes times{.interval = sim::whole_picoseconds(*given.number(kInterval)),
                       .copy = sim::whole_picoseconds(*given.number(kCopy)),
                       .write = sim::whole_picoseconds(write)};
  if (const auto n = given.number(kBuffers)) times.buffers = static_cast<int>(*n);
  const auto failure = given.number(kFailure);
  auto saves =
      sim::asynchronous_saves(times, failure ? sim::saves_until(times, sim::whole_picoseconds(*failure)) : 3);
  const sim::Ticks end = failure ? sim::whole_picoseconds(*failure) : saves.empty() ? 0 : saves.back().copied;
  const sim::Ticks paused = sim::paused_until(saves, end);
  if (failure) saves = sim::captured_before(saves, end);
  Facts f{"", {}};
  f.add("write", "written in the background", Value{write, Unit::StepTime});
  f.add("paused", "training stands still", seconds(paused),
        times.buffers ? "copies of these saves, and waits for a buffer" : "copies of these saves");
  if (failure) add_failure(saves, end, f, r);
  add_pace(times, given, write, f, r);
  Section s{"events", "Asynchronous saving", {std::move(f)}};
  if (!saves.empty()) s.blocks.push_back(save_table(saves));
  return s;
}

/// Without a copy training waits for the write, so that an interval below it leaves no time for training.
inline void judge_pace(Explain& rec, const Given& given, Bytes<Sym> bytes, Report& r) {
  if (!given.has(kInterval) || !given.has(kStorage)) return;
  const double write = value_of(background_write(rec, given, bytes));
  if (write > *given.number(kInterval)) conclude_late(given, write, r);
}

inline std::string saved_text(Saved s) {
  switch (s) {
    case Saved::Yes: return "saved";
    case Saved::No: return "not saved";
    case Saved::Other: return "follows from the rest";
    case Saved::Yours: return "only if your script adds it";
  }
  return "";
}

inline Section contents_section(std::span<const FrameworkProfile* const> profiles) {
  Section s{"contents", "What a checkpoint must hold for the next update", {}};
  for (const FrameworkProfile* f : profiles) {
    if (f->checkpoint.contents.empty()) continue;
    Table t{f->id == "" ? "contents" : f->id,
            f->name,
            {{"part", "part"}, {"saved", ""}, {"how", "as"}, {"source", "source"}},
            {}};
    for (const PartSaved& p : f->checkpoint.contents)
      t.rows.push_back({std::string(title_of(p.part)), saved_text(p.saved), p.how, p.source});
    s.blocks.push_back(std::move(t));
    if (!f->checkpoint.commit.empty())
      s.blocks.push_back(
          Notes{f->id + "_commit", {{"it counts once it is committed: " + f->checkpoint.commit}}});
  }
  return s;
}

inline Report answer(Explain& rec, const Given& given, const Planned* plan) {
  Report r{"", "Checkpoints", Verdict::None, {}, {}};
  const auto bytes = size(rec, given);
  r.headline = {Value{value_of(bytes), Unit::Traffic}, " a checkpoint"};
  r.sections.push_back(size_section(rec, given, plan, bytes));
  if (given.has(kWriter) || given.has(kNic) || given.has(kStorage))
    r.sections.push_back(time_section(rec, given, bytes));
  if (given.has(kInterval)) r.sections.push_back(retention_section(rec, given, bytes));
  if (knows_events(given))
    r.sections.push_back(event_section(rec, given, bytes, r));
  else
    judge_pace(rec, given, bytes, r);
  if (given.has(kFramework) || plan != nullptr)
    r.sections.push_back(contents_section(profiles_asked(given, kFramework, plan)));
  return r;
}

}  // namespace detail::checkpoint

inline constexpr Topic kCheckpoint{"checkpoint",
                                   "size, writing, keeping and contents of checkpoints, and when they count",
                                   "bytes = parameters x width; a snapshot counts from its commit on",
                                   detail::checkpoint::kFields,
                                   &detail::checkpoint::judge,
                                   &detail::checkpoint::answer,
                                   {},
                                   true};

}  // namespace trainplan::study
