/// The answer of `diff`: what changes from one plan to another, the largest change first.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainplan/report/gates.hpp"
#include "trainplan/report/reported_plan.hpp"
#include "trainplan/report/thresholds.hpp"

namespace trainplan {

namespace detail {

/// Equal to the last bit.
inline bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

inline bool same_setting(const Cell& a, const Cell& b) {
  const Value *x = std::get_if<Value>(&a), *y = std::get_if<Value>(&b);
  if (x != nullptr && y != nullptr) return same_bits(x->number, y->number);
  if (a.index() != b.index()) return false;
  if (const bool* yes = std::get_if<bool>(&a)) return *yes == std::get<bool>(b);
  if (const std::string* text = std::get_if<std::string>(&a)) return *text == std::get<std::string>(b);
  return x == y;  // both empty
}

/// GiB alone, so that two numbers and their difference stand side by side.
inline Unit short_unit(Unit unit) { return unit == Unit::MemoryBoth ? Unit::Memory : unit; }

/// A number of both plans.
struct Change {
  const ReportedItem *a, *b;
  Unit unit;

  double difference() const { return b->value.number - a->value.number; }
  /// Of the first number; infinite where that is 0.
  double share() const { return difference() / std::abs(a->value.number); }
  bool is_none() const { return same_bits(a->value.number, b->value.number); }
};

inline Change change_of(const ReportedItem& a, const ReportedItem& b) {
  return {&a, &b, short_unit(a.value.unit)};
}

/// A difference stands beside its numbers and so in their unit, however small it is.
inline Unit difference_unit(const Change& c) {
  constexpr double kInDays = 2 * 86400.0, kInSeconds = 1, kInMinutes = 120;  // as times are shown
  if (c.unit == Unit::Share) return Unit::Points;
  if (c.unit != Unit::Time) return c.unit;
  const double least = std::min(std::abs(c.a->value.number), std::abs(c.b->value.number));
  if (least >= kInDays) return Unit::Days;
  return least >= kInSeconds && least < kInMinutes ? Unit::StepTime : Unit::Time;
}

/// Both numbers, their difference, and that as a share of the first.
inline std::vector<Cell> change_cells(const Change& c) {
  return {Value{c.a->value.number, c.unit}, Value{c.b->value.number, c.unit},
          Value{c.difference(), difference_unit(c)}, Value{c.is_none() ? 0 : c.share(), Unit::FineShare}};
}
inline std::vector<Column> change_columns() {
  return {{"a", "A"}, {"b", "B"}, {"difference", "difference"}, {"change", "change"}};
}

/// Numbers of both plans that differ, by size of the relative change; nearly equal ones in ledger order,
/// whatever the last bits of a machine are.
inline std::vector<Change> changes(const ReportedPlan& a, const ReportedPlan& b) {
  std::vector<Change> out;
  for (const ReportedItem& item : a.items) {
    const ReportedItem* other = b.find(item.id);
    if (other == nullptr || same_bits(item.value.number, other->value.number)) continue;
    out.push_back(change_of(item, *other));
  }
  const auto size = [](const Change& c) { return std::round(std::abs(c.share()) * 1e9); };
  std::stable_sort(out.begin(), out.end(),
                   [&](const Change& x, const Change& y) { return size(x) > size(y); });
  return out;
}

/// Of 30 days in a run without a token budget, and so no number of the plan.
inline bool is_of_budget(const ReportedPlan& plan, std::string_view id) {
  return !needs_token_budget(id) || plan.find("cost.run_time") != nullptr;
}

/// The numbers that people ask for first, changed or not.
inline Table headliner_table(const ReportedPlan& a, const ReportedPlan& b) {
  Table table{"totals", "", change_columns(), {}};
  table.columns.insert(table.columns.begin(), {"title", "what"});
  table.columns.push_back({"id", "id"});
  for (const Headliner& h : kHeadliners) {
    const ReportedItem *x = a.find(h.id), *y = b.find(h.id);
    if (x == nullptr || y == nullptr || !is_of_budget(a, h.id) || !is_of_budget(b, h.id)) continue;
    std::vector<Cell> row = change_cells(change_of(*x, *y));
    row.insert(row.begin(), std::string(h.title));
    row.emplace_back(Code{std::string(h.id)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// By id alone: with their titles the lines would not fit a terminal.
inline Table changes_table(const std::vector<Change>& changed) {
  Table table{"changes", "", change_columns(), {}};
  table.columns.insert(table.columns.begin(), {"id", "id"});
  for (const Change& c : changed) {
    std::vector<Cell> row = change_cells(c);
    row.insert(row.begin(), Code{c.a->id});
    table.rows.push_back(std::move(row));
  }
  return table;
}

inline Table setting_table(const ReportedPlan& a, const ReportedPlan& b) {
  Table table{"settings", "", {{"key", "setting"}, {"a", "A"}, {"b", "B"}}, {}};
  const Cell absent = std::string("absent");
  for (const ReportedSetting& s : a.settings) {
    const ReportedSetting* other = b.setting(s.key);
    if (other == nullptr || !same_setting(s.value, other->value))
      table.rows.push_back({s.key, s.value, other != nullptr ? other->value : absent});
  }
  for (const ReportedSetting& s : b.settings)
    if (a.setting(s.key) == nullptr) table.rows.push_back({s.key, absent, s.value});
  if (a.stage != b.stage)
    table.rows.push_back(
        {"fullest_stage", Value{static_cast<double>(a.stage)}, Value{static_cast<double>(b.stage)}});
  return table;
}

/// Items of `plan` that `other` lacks.
inline void add_lone(Table& table, const char* side, const ReportedPlan& plan, const ReportedPlan& other) {
  for (const ReportedItem& item : plan.items)
    if (other.find(item.id) == nullptr)
      table.rows.push_back({std::string(side), item.title,
                            Value{item.value.number, short_unit(item.value.unit)}, Code{item.id}});
}

inline void add_block(Report& r, std::string key, std::string title, Block block) {
  r.sections.push_back({std::move(key), std::move(title), {std::move(block)}});
}

/// "12 numbers"
inline std::string counted(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

/// memory.device 42.57 GiB -> 38.17 GiB (-10.3 %), for each of the three that decide.
inline void add_steps(Sentence& s, const ReportedPlan& a, const ReportedPlan& b) {
  for (const auto& [word, id] : {std::pair{"device total ", "memory.device"},
                                 std::pair{"; step ", "step.time"}, std::pair{"; MFU ", "step.mfu"}}) {
    const ReportedItem *x = a.find(id), *y = b.find(id);
    if (x == nullptr || y == nullptr) continue;
    const Change c = change_of(*x, *y);
    s.push_back(word);
    s.push_back(Value{x->value.number, c.unit});
    if (c.is_none()) continue;
    s.push_back(" -> ");
    s.push_back(Value{y->value.number, c.unit});
    s.push_back(" (");
    s.push_back(Value{c.share(), Unit::FineShare});
    s.push_back(")");
  }
}

}  // namespace detail

/// The number of `b` against that of `a` with the allowance; both plans have the item.
inline Gate gate_of(const Threshold& t, const ReportedPlan& a, const ReportedPlan& b) {
  const bool floor = is_better_when_larger(t.id);
  const Value before = a.find(t.id)->value;
  const double limit = before.number * (floor ? 1 - t.share : 1 + t.share);
  const Unit unit = detail::short_unit(before.unit);
  return {t.text, t.id, {b.find(t.id)->value.number, unit}, {limit, unit}, floor};
}

/// Thresholds are of numbers that both plans have; one that is broken makes the verdict Failed.
inline Report diff_report(const ReportedPlan& a, const ReportedPlan& b,
                          const std::vector<Threshold>& thresholds) {
  Report r{"diff", "From A to B", thresholds.empty() ? Verdict::None : Verdict::Passed, {}, {}};
  const std::vector<detail::Change> changed = detail::changes(a, b);
  Table settings = detail::setting_table(a, b);
  Table lone{"only", "", {{"side", "in"}, {"title", "what"}, {"value", "value"}, {"id", "id"}}, {}};
  detail::add_lone(lone, "A", a, b);
  detail::add_lone(lone, "B", b, a);
  std::vector<Gate> gates;
  for (const Threshold& t : thresholds) {
    gates.push_back(gate_of(t, a, b));
    if (!gates.back().holds()) r.verdict = Verdict::Failed;
  }

  if (changed.empty() && lone.rows.empty()) {
    r.headline.push_back("no number differs; ");
  } else {
    r.headline.push_back(detail::counted(changed.size() + lone.rows.size(), "number") + " and " +
                         detail::counted(settings.rows.size(), "setting") + " differ; ");
  }
  detail::add_steps(r.headline, a, b);

  Facts plans{"plans", {}};
  plans.add("a", "A", a.source, a.title);
  plans.add("b", "B", b.source, b.title);
  detail::add_block(r, "", "", std::move(plans));
  detail::add_block(r, "", "Totals", detail::headliner_table(a, b));
  if (!gates.empty()) r.sections.push_back(limit_section(gates, b.stage));
  if (!settings.rows.empty()) detail::add_block(r, "", "Settings that differ", std::move(settings));
  if (!changed.empty())
    detail::add_block(r, "", "Numbers that differ, the largest change first", detail::changes_table(changed));
  if (!lone.rows.empty()) detail::add_block(r, "", "Numbers that only one of them has", std::move(lone));
  return r;
}

}  // namespace trainplan
