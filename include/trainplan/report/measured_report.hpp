/// The part of `validate` about tables of measured runs: errors by group, the worst rows, what was not
/// compared, and every row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/report/comparison.hpp"
#include "trainplan/report/groupings.hpp"
#include "trainplan/report/ranking.hpp"
#include "trainplan/report/report.hpp"
#include "trainplan/report/validation.hpp"

namespace trainplan {

/// What is shown. details: columns for programs (JSON, CSV); rows: the table of all rows.
struct MeasuredView {
  bool time = true, memory = true, rows = false, details = false, ranking = false;
};

namespace detail {

inline std::string sentences_of(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& w : words) out.append(out.empty() ? "" : "; ").append(w);
  return out;
}

inline Table group_table(std::string key, std::string title) {
  return {std::move(key),
          std::move(title),
          {{"by", "by"},
           {"group", "group"},
           {"rows", "rows"},
           {"median", "median error"},
           {"mean", "mean"},
           {"p90", "9 of 10 below"},
           {"worst", "worst"},
           {"bias", "bias"},
           {"inside", "inside the range"}},
          {}};
}

using Compared = std::vector<const Comparison*>;

inline void add_group(Table& t, const std::string& by, const std::string& group, const Compared& rows,
                      Target target) {
  if (rows.empty()) return;
  const ErrorSummary s = summary_of(rows, target);
  const auto share = [](double x) { return Value{x, Unit::Share}; };
  t.rows.push_back({by, group, Value{static_cast<double>(s.rows)}, share(s.median), share(s.mean),
                    share(s.p90), share(s.worst), share(s.bias), share(s.inside)});
}

/// Standard rows in all, by each grouping, and the others by themselves.
inline Table error_table(const std::vector<Comparison>& all, Target target) {
  Table t = group_table("groups", "");
  std::map<Standing, Compared> by_standing;
  for (const Comparison& c : all)
    if (c.error(target)) by_standing[c.row->standing].push_back(&c);
  const Compared& standard = by_standing[Standing::Standard];
  add_group(t, "all", "standard rows", standard, target);
  const auto add_by = [&](const char* by, auto name) {
    std::map<std::string, Compared> groups;
    for (const Comparison* c : standard) groups[name(*c->row)].push_back(c);
    for (const auto& [group, rows] : groups)
      if (!group.empty()) add_group(t, by, group, rows, target);
  };
  for (const Grouping& g : kGroupings) add_by(g.by, g.name);
  add_by("range", [&](const MeasuredRun& r) { return class_of(r, target); });
  for (const Standing s : {Standing::Flagged, Standing::Nonstandard})
    add_group(t, "others", std::string(name_of(s)), by_standing[s], target);
  return t;
}

/// The mean of the medians of the sources, where there are several: one of many rows weighs no more than
/// another.
inline std::optional<double> mean_of_medians(const std::vector<Comparison>& all, Target target) {
  std::map<std::string, std::vector<double>> sources;
  for (const Comparison& c : all)
    if (const auto e = c.error(target); e && c.row->standing == Standing::Standard)
      sources[c.row->source].push_back(*e);
  double sum = 0;
  for (const auto& [name, errors] : sources) sum += summary_of(errors).median;
  if (sources.size() < 2) return std::nullopt;
  return sum / static_cast<double>(sources.size());
}

/// Standard rows outside their range.
inline Facts outside_facts(const std::vector<Comparison>& all, Target target) {
  std::size_t rows = 0, outside = 0;
  for (const Comparison& c : all) {
    if (!c.error(target) || c.row->standing != Standing::Standard) continue;
    ++rows;
    if (!c.is_inside(target)) ++outside;
  }
  const auto count = [](std::size_t n) { return Value{static_cast<double>(n)}; };
  return {"range",
          {{"outside", "rows outside their range", count(outside), "of " + std::to_string(rows), ""}}};
}

inline constexpr std::size_t kWorstRows = 10;

inline Table worst_table(const std::vector<Comparison>& all) {
  Table t{"worst",
          "Largest errors of a step time, standard rows",
          {{"run", "run"}, {"predicted", "predicted"}, {"measured", "measured"}, {"error", "error"}},
          {}};
  std::vector<const Comparison*> by_size;
  for (const Comparison& c : all)
    if (c.time_error() && c.row->standing == Standing::Standard) by_size.push_back(&c);
  // Half the time is as wrong as twice the time.
  const auto size = [](const Comparison* c) { return std::abs(std::log1p(*c->time_error())); };
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](const Comparison* a, const Comparison* b) { return size(a) > size(b); });
  for (std::size_t i = 0; i < std::min(by_size.size(), kWorstRows); ++i) {
    const Comparison& c = *by_size[i];
    t.rows.push_back({c.row->id, Value{*c.step_time, Unit::Time}, Value{*c.row->step_time, Unit::Time},
                      Value{*c.time_error(), Unit::Share}});
  }
  return t;
}

inline Table skipped_table(const std::vector<Comparison>& all) {
  Table t{"skipped", "Rows that are not compared", {{"id", "run"}, {"reason", "reason"}}, {}};
  for (const Comparison& c : all)
    if (!c.row->skipped.empty()) t.rows.push_back({c.row->id, c.row->skipped});
  return t;
}

/// "reserved, last stage, in sample; ...".
inline std::string peak_remark(const MeasuredRun& row) {
  std::string out(name_of(row.reading));
  if (row.stage != kFullestStage) out += ", " + stage_text(row.stage) + " stage";
  if (!row.not_memory.empty()) return out + "; not scored: " + row.not_memory;
  if (row.in_sample) out += ", in sample";
  const std::string remarks = sentences_of(row.remarks);
  return remarks.empty() ? out : out + "; " + remarks;
}

inline Table peak_table(const std::vector<Comparison>& all) {
  Table t{"peaks",
          "Memory, row by row",
          {{"run", "run"},
           {"predicted", "predicted"},
           {"measured", "measured"},
           {"ratio", "ratio"},
           {"remark", "reading and remarks"}},
          {}};
  for (const Comparison& c : all) {
    if (!c.row->peak || !c.peak) continue;
    const auto error = c.memory_error();
    t.rows.push_back({c.row->id, Value{*c.peak, Unit::Memory}, Value{*c.row->peak, Unit::Memory},
                      error ? Cell{Value{1 + *error}} : Cell{}, peak_remark(*c.row)});
  }
  return t;
}

inline Cell plain(const std::optional<double>& x, double unit = 1) {
  return x ? Cell{Value{*x / unit}} : Cell{};
}
inline Cell share(const std::optional<double>& x) { return x ? Cell{Value{*x, Unit::Share}} : Cell{}; }

}  // namespace detail

/// Which columns of rows: few, all as plain cells, or all with the range of the step as one cell beside its
/// ends.
enum class RowColumns : std::uint8_t { Few, All, AllWithRange };

/// Every row. Names of columns are those of the file; range_*: the ends of the range of the step time, whose
/// class is `class`.
inline Table row_table(const std::vector<Comparison>& all, RowColumns columns) {
  const bool details = columns != RowColumns::Few, range = columns == RowColumns::AllWithRange;
  Table t{"rows",
          "Row by row",
          {{"id", "run"},
           {"predicted_step_time_s", "predicted, s"},
           {"step_time_s", "measured, s"},
           {"step_time_error", "error"},
           {"predicted_peak_mem_gib", "predicted, GiB"},
           {"peak_mem_gib", "measured, GiB"},
           {"peak_mem_error", "error"},
           {"skipped_reason", "not compared"}},
          {}};
  if (range) t.columns.push_back({"range", "range, s"});
  if (details)
    for (const char* key :
         {"range_low_s", "range_high_s", "inside_range", "class", "source", "source_ref", "model", "gpu",
          "precision", "standing", "reading", "not_memory", "assumed", "remarks", "broken_rules"})
      t.columns.push_back({key, key});
  constexpr double kGiB = 0x1p30;
  for (const Comparison& c : all) {
    const MeasuredRun& r = *c.row;
    t.rows.push_back({r.id, detail::plain(c.step_time), detail::plain(r.step_time),
                      detail::share(c.time_error()), detail::plain(c.peak, kGiB), detail::plain(r.peak, kGiB),
                      detail::share(c.memory_error()), r.skipped.empty() ? Cell{} : Cell{r.skipped}});
    if (range)
      t.rows.back().push_back(c.step_time ? Cell{Ends{c.time_range.low, c.time_range.high}} : Cell{});
    if (!details) continue;
    for (Cell cell :
         {c.step_time ? Cell{Value{c.time_range.low}} : Cell{},
          c.step_time ? Cell{Value{c.time_range.high}} : Cell{},
          c.time_error() ? Cell{c.is_inside(Target::Time)} : Cell{},
          c.step_time ? Cell{detail::class_of(r, Target::Time)} : Cell{}, Cell{r.source}, Cell{r.source_ref},
          Cell{r.model}, Cell{r.gpu}, Cell{r.precision}, Cell{std::string(name_of(r.standing))},
          Cell{std::string(name_of(r.reading))}, Cell{r.not_memory}, Cell{detail::sentences_of(r.assumed)},
          Cell{detail::sentences_of(r.remarks)}, Cell{detail::sentences_of(r.broken)}})
      t.rows.back().push_back(std::move(cell));
  }
  return t;
}

/// They refer to the rows, which must outlive them.
inline std::vector<Comparison> comparisons_of(const MeasuredTable& table) {
  std::vector<Comparison> out;
  for (const MeasuredRun& row : table.rows) out.push_back(compared(row));
  return out;
}
inline std::vector<Comparison> comparisons_of(const std::vector<MeasuredTable>& tables) {
  std::vector<Comparison> out;
  for (const MeasuredTable& t : tables)
    for (const Comparison& c : comparisons_of(t)) out.push_back(c);
  return out;
}
std::vector<Comparison> comparisons_of(MeasuredTable&&) = delete;
std::vector<Comparison> comparisons_of(std::vector<MeasuredTable>&&) = delete;

/// The bounds of all tables; `failed` is set when one does not hold.
inline Table run_bound_table(const std::vector<MeasuredTable>& tables, const MeasuredView& view,
                             bool& failed) {
  Table t{"bounds",
          "Bounds",
          {{"source", "source"},
           {"what", "of"},
           {"group", "which"},
           {"bound", "bound"},
           {"value", "value"},
           {"limit", "limit"},
           {"holds", "holds"}},
          {}};
  for (const MeasuredTable& table : tables) {
    if (table.bounds.empty()) continue;
    const std::vector<Comparison> all = comparisons_of(table);
    for (const RunBound& b : table.bounds) {
      if (b.target == Target::Time ? !view.time : !view.memory) continue;
      std::vector<double> errors;
      for (const Comparison& c : all) {
        const bool other = (b.bound.group == RowGroup::Dense && c.row->sparse) ||
                           (b.bound.group == RowGroup::Sparse && !c.row->sparse) ||
                           (!b.source.empty() && b.source != c.row->source);
        const auto e = c.error(b.target);
        if (e && !other && c.row->standing == Standing::Standard) errors.push_back(*e);
      }
      const bool least = b.bound.kind == BoundKind::Scored;
      const double value = value_of(errors_in(errors, errors.size()), b.bound.kind);
      const bool holds = least ? value >= b.bound.limit : !errors.empty() && value <= b.bound.limit;
      failed = failed || !holds;
      const Unit unit = least ? Unit::Count : Unit::Share;
      t.rows.push_back({b.source.empty() ? "all" : b.source,
                        std::string(kTargetNames[static_cast<int>(b.target)]),
                        std::string(kRowGroupNames[static_cast<int>(b.bound.group)]),
                        std::string(kBoundNames[static_cast<int>(b.bound.kind)]), Value{value, unit},
                        Value{b.bound.limit, unit}, holds});
    }
  }
  return t;
}

/// Sections of the tables together.
inline std::vector<Section> measured_sections(const std::vector<Comparison>& all, const MeasuredView& view) {
  std::vector<Section> out;
  const auto add = [&](const char* key, const char* title, Target target, std::vector<Table> more) {
    const Table groups = detail::error_table(all, target);
    if (groups.rows.empty()) return;
    Section s{key, title, {groups}};
    if (const auto mean = detail::mean_of_medians(all, target))
      s.blocks.push_back(Facts{
          "sources",
          {{"mean_of_medians", "mean of the medians of the sources", Value{*mean, Unit::Share}, "", ""}}});
    s.blocks.push_back(detail::outside_facts(all, target));
    for (Table& t : more)
      if (!t.rows.empty()) s.blocks.push_back(std::move(t));
    out.push_back(std::move(s));
  };
  if (view.time)
    add("time", "Step times of measured runs", Target::Time,
        view.rows && !view.details ? std::vector<Table>{} : std::vector<Table>{detail::worst_table(all)});
  if (view.memory)
    add("memory", "Memory of measured runs", Target::Memory,
        view.rows ? std::vector<Table>{} : std::vector<Table>{detail::peak_table(all)});
  if (view.ranking) out.push_back(ranking_section(all));
  Section rest{"", "", {}};
  Table skipped = detail::skipped_table(all);
  if (!skipped.rows.empty()) rest.blocks.push_back(std::move(skipped));
  if (view.rows)
    rest.blocks.push_back(row_table(all, view.details ? RowColumns::AllWithRange : RowColumns::Few));
  if (!rest.blocks.empty()) out.push_back(std::move(rest));
  return out;
}

}  // namespace trainplan
