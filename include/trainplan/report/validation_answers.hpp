/// The program's answers to published facts, each beside its figure.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/cost/allocations.hpp"
#include "trainplan/derive/legality.hpp"
#include "trainplan/report/build.hpp"
#include "trainplan/report/validation_rows.hpp"

namespace trainplan {

/// The number that answers a question; nothing when the plan has no such item.
struct Answer {
  double number = 0;
  Dim dim{};
};

namespace detail {

/// The stage that is looked at.
inline int stage_of(const PinnedRun& run, int stage) {
  if (stage == kFullestStage) return fullest_stage(run.problem(), run.plan());
  return stage == kLastStage ? run.plan().pp - 1 : stage;
}

/// Memory of its GPU; no stage is evaluated twice.
inline MemoryCost<double> memory_at(const PinnedRun& run, int stage) {
  if (stage == kFullestStage) {
    Evaluation e(run.problem(), run.plan());
    e.look_at_all();
    return e.memory();
  }
  Eval rec;
  const Inputs<double> in = bind(rec, run.problem(), run.plan());
  return memory_cost(rec, in, run.problem(), run.plan(), stage_of(run, stage));
}

inline double reading_of(const MemoryCost<double>& memory, Reading reading) {
  switch (reading) {
    case Reading::Allocated: return memory.allocated.num();
    case Reading::Reserved: return memory.reserved.num();
    case Reading::Device: break;
  }
  return memory.device.num();
}

inline std::optional<Answer> item_answer(const Ask& ask) {
  const Ledger ledger = explain(ask.run->problem(), ask.run->plan(), stage_of(*ask.run, ask.stage));
  const LineItem* item = ledger.find(ask.item);
  if (item == nullptr) return std::nullopt;
  return Answer{item->value, item->dim};
}

}  // namespace detail

inline std::optional<Answer> answer(const Ask& ask) {
  switch (ask.kind) {
    case Ask::Kind::Number:
    case Ask::Kind::Peak: return Answer{ask.number, ask.dim};
    case Ask::Kind::Item: return detail::item_answer(ask);
    case Ask::Kind::Formula: break;
  }
  std::vector<double> values;
  for (const Ask& arg : ask.args) {
    const auto value = answer(arg);
    if (!value) return std::nullopt;
    values.push_back(value->number);
  }
  return Answer{ask.formula->evaluate(values), ask.formula->result};
}

/// How a check came out. ratio: answer over figure, where both are numbers; error() is its distance from 1.
struct Finding {
  std::string id, title;
  Cell answer, figure;
  std::optional<double> ratio{};
  bool holds = false, measured = false, sparse = false;

  double error() const { return ratio ? *ratio - 1 : 0; }
};

namespace detail {

inline Value shown_as(const Check& check, double number, Dim dim) {
  return {number, check.unit.value_or(dim == kBytes ? Unit::Memory : unit_for(dim))};
}

/// Inside the figure's range, or how far out of it relative to its nearer end.
inline double ratio_to(const Check& check, double number) {
  const double figure = std::clamp(number, check.low, check.high);
  return figure == 0 ? 1 + number : number / figure;
}

inline Finding value_finding(const Check& check) {
  Finding out;
  const auto got = answer(check.ask);
  if (!got) return out;
  out.answer = shown_as(check, got->number, got->dim);
  out.figure = shown_as(check, std::clamp(got->number, check.low, check.high), got->dim);
  out.ratio = ratio_to(check, got->number);
  out.holds = std::abs(out.error()) <= check.tolerance;
  return out;
}

inline Finding less_finding(const Check& check) {
  Finding out;
  const auto less = answer(check.ask), more = answer(check.other);
  if (!less || !more) return out;
  out.answer = shown_as(check, less->number, less->dim);
  out.figure = shown_as(check, more->number, more->dim);
  out.holds = less->number < more->number;
  return out;
}

inline std::string joined(const std::vector<std::int64_t>& values) {
  std::string out;
  for (const std::int64_t v : values) out.append(out.empty() ? "" : ", ").append(std::to_string(v));
  return out;
}

/// "legal", or the rule that breaks with legal values of its field.
inline std::string legality_text(const std::string& rule, std::string_view field,
                                 const std::vector<std::int64_t>& nearest) {
  if (rule.empty()) return "legal";
  if (nearest.empty()) return rule;
  return rule + "; " + std::string(field) + " may be " + joined(nearest);
}

inline Finding legal_finding(const Check& check) {
  Finding out;
  const PinnedRun& run = *check.ask.run;
  const Rule* broken = nullptr;
  for (const Rule& rule : rules())
    if (!rule.holds(run.problem(), run.plan()) && (broken == nullptr || rule.id == check.rule))
      broken = &rule;
  std::vector<std::int64_t> nearest;
  if (broken != nullptr && !check.nearest.empty())
    nearest = legal_values(run.problem(), run.plan(), broken->field, check.nearest.size());
  const std::string_view field = broken == nullptr ? std::string_view{} : broken->field;
  out.answer = legality_text(broken == nullptr ? "" : std::string(broken->id), field, nearest);
  out.figure = legality_text(check.yes ? "" : check.rule, field, check.nearest);
  out.holds = std::get<std::string>(out.answer) == std::get<std::string>(out.figure);
  return out;
}

inline Finding fits_finding(const Check& check) {
  Finding out;
  const PlanCost<double> cost = evaluate(check.ask.run->problem(), check.ask.run->plan());
  const bool fits = cost.memory.device.num() <= cost.gate.num();
  const auto text = [](bool yes) { return std::string(yes ? "fits" : "does not fit"); };
  out.answer = text(fits);
  out.figure = text(check.yes);
  out.holds = fits == check.yes;
  return out;
}

/// The candidate that is nearest to the request must have the name, and be equal to the last MiB or to the
/// digits that were printed.
inline Finding allocation_finding(const Check& check) {
  Finding out;
  const PinnedRun& run = *check.ask.run;
  const Ledger ledger = allocations(run.problem(), run.plan(), stage_of(run, check.ask.stage));
  const std::vector<const LineItem*> near = nearest_allocations(ledger, check.low);
  if (near.empty()) return out;
  const auto named = std::find_if(near.begin(), near.end(), [&](const LineItem* i) {
    return i->id == check.name && is_exact(i->value, check.low);
  });
  const LineItem& item = named != near.end() ? **named : *near.front();
  out.title = item.title;
  out.answer = Value{item.value, Unit::Request};
  out.figure = Value{check.low, Unit::Request};
  out.ratio = item.value / check.low;
  out.holds = named != near.end();
  return out;
}

}  // namespace detail

inline Finding finding_of(const Check& check) {
  Finding out = [&] {
    switch (check.kind) {
      case Check::Kind::Value: return detail::value_finding(check);
      case Check::Kind::Less: return detail::less_finding(check);
      case Check::Kind::Legal: return detail::legal_finding(check);
      case Check::Kind::Fits: return detail::fits_finding(check);
      case Check::Kind::Allocation: return detail::allocation_finding(check);
    }
    return Finding{};
  }();
  if (!check.title.empty()) out.title = check.title;
  out.measured = check.measured;
  return out;
}

/// The predicted memory of a measured run beside its peak.
inline Finding finding_of(const MeasuredRow& row) {
  Finding out;
  out.id = row.id;
  const PinnedRun& run = *row.run;
  const double predicted = detail::reading_of(detail::memory_at(run, row.stage), row.reading);
  out.title = name_of(row.reading);
  out.answer = Value{predicted, Unit::Memory};
  out.figure = Value{row.peak, Unit::Memory};
  out.ratio = predicted / row.peak;
  out.measured = true;
  out.sparse = run.problem().model().is_sparse();
  return out;
}

}  // namespace trainplan
