/// The answer of `schedule`: pipeline schedules compared in time and in memory.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/report/build.hpp"
#include "trainplan/report/schedule_advice.hpp"
#include "trainplan/report/schedule_answer.hpp"

namespace trainplan {

namespace detail {

inline Value plain_count(double n) { return {n, Unit::Count}; }
inline Value mib(double bytes) { return {bytes, Unit::Request}; }

/// "0-2, 5".
inline std::string ranges_text(const std::vector<int>& numbers) {
  std::string out;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i;
    while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) ++end;
    out.append(out.empty() ? "" : ", ").append(std::to_string(numbers[i]));
    if (end > i) out.append(end == i + 1 ? ", " : "-").append(std::to_string(numbers[end]));
    i = end + 1;
  }
  return out;
}

inline Cell fits_cell(const ScheduleAnswer& a, const sim::Attempt& t) {
  const auto limit = a.limit_of(t);
  if (!limit) return {};
  const std::vector<int> above = t.above(*limit);
  if (above.empty()) return std::string("fits");
  if (above.size() == t.bytes.size()) return std::string("no stage");
  return "not " + ranges_text(above);
}

inline Section comparison_section(const ScheduleAnswer& a) {
  Section s{"comparison", "Time and memory", {}};
  Table table{"schedules",
              "",
              {{"schedule", "schedule"},
               {"step", "step"},
               {"idle", "idle"},
               {"idle_share", "share"},
               {"span_idle", "in span"},
               {"bubble_rate", "rate"},
               {"peak", "fullest stage"},
               {"stage_sets", "sets"},
               {"messages", "sent"},
               {"copies", "copies"}},
              {}};
  if (a.limited()) table.columns.push_back({"fits", a.budget ? "budget" : "room"});
  for (const sim::Attempt& t : a.attempts) {
    if (!t.ran()) continue;
    const ScheduleFigures f = figures_of(a, t);
    table.rows.push_back({Code{std::string(t.schedule->id)}, time_value(f.step), time_value(f.idle),
                          Value{f.idle_share, Unit::Share}, time_value(f.span_idle),
                          Value{f.bubble_rate, Unit::Share}, a.pipeline.sized ? Cell(mib(f.peak)) : Cell{},
                          plain_count(f.stage_sets), plain_count(static_cast<double>(f.messages)),
                          plain_count(f.copies)});
    if (a.limited()) table.rows.back().push_back(fits_cell(a, t));
  }
  s.blocks.push_back(std::move(table));
  Notes notes{
      "columns",
      {{"step: with the update, which waits for all stages; idle: of the idlest stage, up to that update; "
        "share: of that time"},
       {"in span: idle time of a stage between its first and its last pass; rate: its share of the longest "
        "span, where stages are equal the bubble rate of papers (calc bubble_rate)"},
       {"sets: activation sets of a whole stage, at most; sent: messages in each direction; copies: of the "
        "parameters"}}};
  if (a.limited())
    notes.sentences.push_back(
        {a.budget ? "budget: kept on every stage, or the stages on which it is not"
                  : "room: what the plan leaves for activations, and the stages on which it is too little"});
  s.blocks.push_back(std::move(notes));
  return s;
}

/// All stages, a few in each table.
inline Section peak_section(const ScheduleAnswer& a) {
  constexpr std::size_t kColumns = 8;
  Section s{"peaks", "Peak of every stage", {}};
  const auto stages = static_cast<std::size_t>(a.pipeline.cut(sim::Placement::Linear).shape.stages);
  for (std::size_t from = 0; from < stages; from += kColumns) {
    const std::size_t to = std::min(from + kColumns, stages);
    Table table{from == 0 ? "peak" : "peak_from_" + std::to_string(from), "", {{"schedule", "schedule"}}, {}};
    for (std::size_t g = from; g < to; ++g)
      table.columns.push_back({"stage_" + std::to_string(g), "stage " + std::to_string(g)});
    for (const sim::Attempt& t : a.attempts) {
      if (!t.ran()) continue;
      table.rows.push_back({Code{std::string(t.schedule->id)}});
      for (std::size_t g = from; g < to; ++g)
        table.rows.back().push_back(mib(static_cast<double>(t.bytes[g].peak.total())));
    }
    s.blocks.push_back(std::move(table));
  }
  return s;
}

/// One of these schedules has chunks of different length on some stage.
inline bool uneven_chunks(const ScheduleAnswer& a) {
  for (const sim::Attempt& t : a.attempts) {
    const sim::Placement p = t.schedule->placement;
    if (!t.ran() || (p != sim::Placement::Loop && p != sim::Placement::Vee)) continue;
    for (const auto& of_stage : a.pipeline.cut(p).times.chunk)
      for (const sim::PassTicks& chunk : of_stage)
        if (chunk.forward != of_stage.front().forward) return true;
  }
  return false;
}

inline Section bound_section(const ScheduleAnswer& a) {
  Section s{"bounds", "Closed form beside the simulation", {}};
  Table table{"bounds",
              "",
              {{"schedule", "schedule"},
               {"formula", "formula"},
               {"of", "of"},
               {"bound", "closed form"},
               {"bare", "simulated without transfers"},
               {"simulated", "with them"}},
              {}};
  for (const sim::Attempt& t : a.attempts) {
    if (!t.ran()) continue;
    const ScheduleFigures f = figures_of(a, t);
    const auto bound = bound_of(*t.schedule, a.pipeline, a.passes);
    const bool span = bound ? bound->of == BoundOf::Span : t.schedule->split;
    table.rows.push_back(
        {Code{std::string(t.schedule->id)}, bound ? Cell(Code{std::string(bound->formula)}) : Cell{},
         std::string(span ? "span" : "idle"), bound ? Cell(time_value(bound->seconds)) : Cell{},
         time_value(span ? f.bare_span_idle : f.bare_idle), time_value(span ? f.span_idle : f.idle)});
  }
  s.blocks.push_back(std::move(table));
  std::vector<Sentence> notes{
      {"a formula is explained by: trainplan calc NAME; it knows neither transfers nor "
       "unequal stages"}};
  if (uneven_chunks(a))
    notes.push_back({"chunks of a stage differ in length here, and closed forms take them as equal"});
  if (!a.passes.equal_stages)
    notes.push_back(
        {"these stages differ: the closed forms take their mean, and the idlest stage waits for "
         "the slowest"});
  s.blocks.push_back(Notes{"bounds_note", std::move(notes)});
  return s;
}

inline Section refused_section(const ScheduleAnswer& a) {
  Section s{"refused", "Not for this pipeline", {}};
  Table table{"refused",
              "",
              {{"schedule", "schedule"},
               {"field", "because of"},
               {"got", "which is"},
               {"must", "and must"},
               {"nearest", "nearest"}},
              {}};
  for (const sim::Attempt& t : a.attempts) {
    if (t.ran()) continue;
    if (t.refusal)
      table.rows.push_back({Code{std::string(t.schedule->id)}, std::string(t.refusal->field),
                            plain_count(t.refusal->got), t.refusal->must, plain_count(t.refusal->nearest)});
    else
      table.rows.push_back(
          {Code{std::string(t.schedule->id)}, std::string("its order"), Cell{}, text(*t.fault), Cell{}});
  }
  if (!table.rows.empty()) s.blocks.push_back(std::move(table));
  return s;
}

/// The moment of each peak, and what is alive at it.
inline Section moment_section(const ScheduleAnswer& a) {
  Section s{"moments", "Moments of the peaks", {}};
  Table table{"moments",
              "",
              {{"schedule", "schedule"},
               {"stage", "stage"},
               {"at", "at"},
               {"peak", "peak"},
               {"saved", "saved"},
               {"for_weights", "left for weights"},
               {"send", "to send"},
               {"receive", "received"},
               {"sets", "sets of a chunk"},
               {"idle", "idle"},
               {"span_idle", "in span"}},
              {}};
  for (const sim::Attempt& t : a.attempts) {
    if (!t.ran()) continue;
    const auto& of = a.pipeline.sized ? t.bytes : t.sets;
    for (std::size_t g = 0; g < of.size(); ++g) {
      const sim::Step& peak = of[g].peak;
      const auto bytes = [&](sim::Size size) {
        return a.pipeline.sized ? Cell(mib(static_cast<double>(size))) : Cell{};
      };
      table.rows.push_back({Code{std::string(t.schedule->id)}, plain_count(static_cast<double>(g)),
                            time_value(a.seconds(peak.at)), bytes(peak.total()), bytes(peak.alive[0]),
                            bytes(peak.alive[1]), bytes(peak.alive[2]), bytes(peak.alive[3]),
                            plain_count(peak.sets), time_value(a.seconds(t.timeline.idle(g))),
                            time_value(a.seconds(t.timeline.span_idle(g)))});
    }
  }
  s.blocks.push_back(std::move(table));
  return s;
}

inline Sentence schedule_headline(const ScheduleAnswer& a) {
  const auto say = [&](Sentence& s, const sim::Attempt& t) {
    const ScheduleFigures f = figures_of(a, t);
    s.insert(s.end(),
             {std::string(t.schedule->id) + " takes ", time_value(f.step), ", idle ", time_value(f.idle)});
    if (a.pipeline.sized) s.insert(s.end(), {" and ", mib(f.peak), " on its fullest stage"});
  };
  Sentence s;
  if (a.single) {
    say(s, a.attempts.front());
    if (a.budget && !a.fits(a.attempts.front())) s.insert(s.end(), {"; the budget is ", mib(*a.budget)});
    return s;
  }
  const sim::Attempt* fast = a.least([](const sim::Attempt& t) { return t.timeline.makespan; });
  if (fast == nullptr) {
    s.emplace_back(a.budget      ? "no schedule keeps every stage within "
                   : a.limited() ? "no schedule keeps every stage within the room that the plan leaves"
                                 : "no schedule can run this pipeline");
    if (a.budget) s.emplace_back(mib(*a.budget));
    return s;
  }
  s.emplace_back(a.budget      ? "shortest within the budget: "
                 : a.limited() ? "shortest that fits: "
                               : "shortest: ");
  say(s, *fast);
  const sim::Attempt* small = a.least([](const sim::Attempt& t) { return t.peak(); });
  if (a.pipeline.sized && small != fast) {
    s.emplace_back("; smallest: ");
    say(s, *small);
  }
  return s;
}

}  // namespace detail

inline Report schedule_report(const ScheduleAnswer& a, bool detail) {
  Report r{"schedule", a.title, a.verdict(), detail::schedule_headline(a), {}};
  Section about{"pipeline", "Pipeline", {}};
  about.blocks.push_back(a.about);
  r.sections.push_back(std::move(about));
  r.sections.push_back(detail::comparison_section(a));
  if (a.pipeline.sized) r.sections.push_back(detail::peak_section(a));
  r.sections.push_back(detail::bound_section(a));
  if (!a.single) r.sections.push_back(advice_section(a));
  if (Section refused = detail::refused_section(a); !refused.blocks.empty())
    r.sections.push_back(std::move(refused));
  if (detail) r.sections.push_back(detail::moment_section(a));
  return r;
}

/// One row for each schedule with every number, for --format csv.
inline Table schedule_rows(const ScheduleAnswer& a) {
  Table table{"schedules", "", {}, {}};
  for (const char* key : {"schedule", "step", "idle", "idle_share", "span_idle", "bubble_rate",
                          "idle_without_transfers", "span_idle_without_transfers", "bound", "bound_formula",
                          "bound_of", "stage_sets", "messages", "copies", "fits"})
    table.columns.push_back({key, key});
  const int stages = a.pipeline.cut(sim::Placement::Linear).shape.stages;
  if (a.pipeline.sized)
    for (int g = 0; g < stages; ++g) {
      const std::string key = "peak_stage_" + std::to_string(g);
      table.columns.push_back({key, key});
    }
  for (const sim::Attempt& t : a.attempts) {
    if (!t.ran()) continue;
    const ScheduleFigures f = figures_of(a, t);
    const auto bound = bound_of(*t.schedule, a.pipeline, a.passes);
    const auto number = [](double n) { return Value{n, Unit::Count}; };
    std::vector<Cell> row{std::string(t.schedule->id), number(f.step),          number(f.idle),
                          number(f.idle_share),        number(f.span_idle),     number(f.bubble_rate),
                          number(f.bare_idle),         number(f.bare_span_idle)};
    row.push_back(bound ? Cell(number(bound->seconds)) : Cell{});
    row.push_back(bound ? Cell(std::string(bound->formula)) : Cell{});
    row.push_back(bound ? Cell(std::string(bound->of == BoundOf::Span ? "span" : "idle")) : Cell{});
    row.push_back(number(f.stage_sets));
    row.push_back(number(static_cast<double>(f.messages)));
    row.push_back(number(f.copies));
    row.push_back(a.limited() ? Cell(a.fits(t)) : Cell{});
    for (const sim::Residency& r : t.bytes) row.push_back(number(static_cast<double>(r.peak.total())));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace trainplan
