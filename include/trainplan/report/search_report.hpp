/// The answer of `plan --exhaustive`: the best of all legal plans, and why the others lost.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/report/plan_report.hpp"
#include "trainplan/report/plan_text.hpp"
#include "trainplan/report/ways_out_section.hpp"
#include "trainplan/search/answer.hpp"

namespace trainplan {

namespace detail {

inline Value count_of(std::uint64_t n) { return {static_cast<double>(n), Unit::Whole}; }
/// The share by which a step is longer than another.
inline Value longer(double step, double than) { return {step / than - 1, Unit::Share}; }

inline const std::vector<Column>& searched_columns() {
  static const std::vector<Column> columns{{"plan", "plan"},
                                           {"micro_batch", "micro"},
                                           {"sharding", "sharding"},
                                           {"pipeline", "pipeline"},
                                           {"recompute", "recompute"}};
  return columns;
}
inline std::vector<Cell> searched_cells(const Trial& t) {
  return {degrees_text(t.plan), Value{static_cast<double>(t.plan.micro_batch)}, sharding_text(t),
          pipeline_text(t), recompute_text(t.plan)};
}
inline Table searched_table(std::string key, std::string title, std::vector<Column> first,
                            std::vector<Column> last) {
  Table t{std::move(key), std::move(title), std::move(first), {}};
  for (const Column& c : searched_columns()) t.columns.push_back(c);
  for (Column& c : last) t.columns.push_back(std::move(c));
  return t;
}
inline void add_row(Table& t, std::vector<Cell> first, const Trial& trial, std::vector<Cell> last) {
  for (Cell& c : searched_cells(trial)) first.push_back(std::move(c));
  for (Cell& c : last) first.push_back(std::move(c));
  t.rows.push_back(std::move(first));
}

inline Facts count_facts(const SearchAnswer& a) {
  const SearchCounts& n = a.found.counts;
  Facts f{"plans", {}};
  const auto add = [&](std::string key, std::string label, std::uint64_t value, std::string note = {}) {
    f.add(std::move(key), std::move(label), count_of(value), std::move(note));
  };
  add("legal", "legal plans", a.space.size(), "every one of them is evaluated or cut by a proven bound");
  add("evaluated", "evaluated in full", n.evaluated, "memory, time, range, goodput and money");
  add("slow", "cut: too slow", n.slow, "its stages alone take longer than the answer");
  add("beaten", "cut: beaten", n.beaten, "a plan that was evaluated is faster and smaller than its bounds");
  add("large", "cut: too large", n.large, "all layers recomputed, its first stage alone is above the gate");
  add("fit", "evaluated: keep the planning margin", n.fit);
  add("tight", "evaluated: within the gate only", n.tight);
  add("not_fit", "evaluated: above the gate", n.not_fit);
  add("above", "memory worked out: above the gate", n.above, "cut or evaluated further");
  add("by_state", "of these by model state alone", n.by_state);
  add("by_activations", "of these by activations in flight", n.by_activations);
  add("by_working", "of these by what the running layers need", n.by_working);
  return f;
}

/// Rules that left arrangements of degrees without a legal plan.
inline Table refusal_table(const SearchAnswer& a) {
  Table t{"refused",
          "Of " + std::to_string(a.space.offered()) + " combinations of degrees, micro-batch and sharding " +
              std::to_string(a.space.arrangements().size()) + " have legal plans; the others break",
          {{"rule", "rule"}, {"field", "field"}, {"combinations", "combinations"}},
          {}};
  for (std::size_t i = 0; i < rules().size(); ++i)
    if (a.space.refused()[i] > 0)
      t.rows.push_back(
          {Code{std::string(rules()[i].id)}, std::string(rules()[i].field), count_of(a.space.refused()[i])});
  std::ranges::stable_sort(t.rows, [](const auto& x, const auto& y) {
    return std::get<Value>(x[2]).number > std::get<Value>(y[2]).number;
  });
  return t;
}

inline Section search_section(const SearchAnswer& a) {
  Section s{"search", "Every legal plan", {count_facts(a)}};
  Table refused = refusal_table(a);
  if (!refused.rows.empty()) s.blocks.push_back(std::move(refused));
  return s;
}

/// Fastest first: how much slower than the first, and what memory is left under the gate.
inline Table ranked_table(std::string key, std::string title, const std::vector<Numbered>& plans,
                          double fastest, std::size_t most) {
  Table t = searched_table(std::move(key), std::move(title), {{"number", "number"}},
                           {{"step", "step"}, {"slower", "slower"}, {"device", "device"}, {"left", "left"}});
  const std::size_t shown = std::min(most, plans.size());
  for (std::size_t row = 0; row < shown; ++row) {
    // Of more plans than are shown the first, the last and some between.
    const Numbered& n = plans[shown == 1 ? 0 : row * (plans.size() - 1) / (shown - 1)];
    add_row(t, {count_of(n.index)}, n.trial,
            {Value{step_of(n), Unit::StepTime}, longer(step_of(n), fastest),
             Value{n.trial.device(), Unit::Memory}, Value{n.trial.gate() - n.trial.device(), Unit::Memory}});
  }
  return t;
}

/// The first plan of those that differ in what is rebuilt only.
inline std::vector<Numbered> first_of_each(const std::vector<Numbered>& plans) {
  std::vector<Numbered> out;
  const auto rest = [](const Numbered& n) {
    Plan p = n.trial.plan;
    take(Rebuilt{}, p);
    return p;
  };
  for (const Numbered& n : plans)
    if (std::ranges::none_of(out, [&](const Numbered& o) { return rest(o) == rest(n); })) out.push_back(n);
  return out;
}

/// Which of the best plans to take, since the model cannot tell all of them apart.
inline void add_judgement(Notes& notes, const SearchAnswer& a) {
  notes.sentences.push_back(
      {num(static_cast<std::int64_t>(a.alike)) + " of the plans here are within ",
       Value{a.best.front().trial.problem.calibration().plan_difference.value, Unit::Share},
       " of the fastest, less than the model can tell apart; preferred is the one with most "
       "memory left: ",
       whole_plan_text(a.preferred.trial)});
  notes.sentences.push_back(
      {"the upper end of its range is lowest for " + whole_plan_text(a.safest.trial) + ": ",
       Value{a.safest.trial.cost.range.time_high.num(), Unit::StepTime}});
}

/// The derived plan beside the first of the answer, with what it lacks of memory.
inline Sentence derived_sentence(const Trial& derived, const Trial& first) {
  Sentence s{"the derived plan (" + whole_plan_text(derived) + ") "};
  if (derived.plan == first.plan) {
    s.push_back("is the first");
    return s;
  }
  const double own = derived.cost.step.step.num(), fastest = first.cost.step.step.num();
  s.insert(s.end(), {"takes ", Value{own, Unit::StepTime},
                     own >= fastest ? ", longer than the first by " : ", shorter than the first by ",
                     Value{std::abs(own / fastest - 1), Unit::Share}});
  if (derived.verdict() == Verdict::Tight && first.verdict() == Verdict::Fits)
    s.push_back(", and does not keep the planning margin");
  if (derived.verdict() == Verdict::DoesNotFit) s.push_back(", and does not fit");
  return s;
}

inline Section best_section(const SearchAnswer& a, const Trial& derived, bool detail) {
  constexpr std::size_t kShown = 8;
  const double fastest = step_of(a.best.front());
  Section s{"best", "The best plans", {}};
  std::vector<Numbered> shown = detail ? a.best : first_of_each(a.best);
  if (!detail && shown.size() > kShown) shown.erase(shown.begin() + kShown, shown.end());
  s.blocks.push_back(ranked_table("fastest", "", shown, fastest, shown.size()));
  Notes notes{"judged", {}};
  if (a.found.room != Room::None) add_judgement(notes, a);
  notes.sentences.push_back(derived_sentence(derived, a.best.front().trial));
  s.blocks.push_back(std::move(notes));
  return s;
}

inline Section front_section(const SearchAnswer& a, bool detail) {
  constexpr std::size_t kShown = 12;
  const double fastest = step_of(a.best.front());
  Section s{"front",
            "Step against memory",
            {ranked_table("front", "No plan within the gate is both faster and smaller than one of these",
                          a.front, fastest, detail ? a.front.size() : kShown)}};
  if (!detail && a.front.size() > kShown)
    s.blocks.push_back(
        Notes{"shown",
              {{num(std::int64_t{kShown}) + " of " + num(static_cast<std::int64_t>(a.front.size())) +
                " plans, the ends among them; --detail shows all"}}});
  return s;
}

/// What the fastest plans above the gate lack, and what they would bring.
inline Section near_section(const SearchAnswer& a, bool detail) {
  constexpr std::size_t kShown = 5;
  Table t = searched_table("near", "Faster, but above the gate by up to a tenth", {{"number", "number"}},
                           {{"step", "step"},
                            {"faster", "faster"},
                            {"missing", "missing"},
                            {"change", "fits with"},
                            {"then", "then"}});
  const double fastest = step_of(a.best.front());
  for (const Numbered& n : detail ? a.near : first_of_each(a.near)) {
    if (!detail && t.rows.size() == kShown) break;
    const std::optional<Neighbour> way = cheapest_that_fits(a.space, n.index, n.trial);
    add_row(
        t, {count_of(n.index)}, n.trial,
        {Value{step_of(n), Unit::StepTime}, Value{1 - step_of(n) / fastest, Unit::Share},
         Value{n.trial.device() - n.trial.gate(), Unit::Memory},
         way ? Cell{std::string(way->axis) + " " + way->value} : Cell{std::string("nothing one step away")},
         way ? Cell{Value{way->trial.cost.step.step.num(), Unit::StepTime}} : Cell{}});
  }
  return {"near_misses", "Near misses", {std::move(t)}};
}

inline Section neighbour_section(const SearchAnswer& a) {
  Table t{"neighbours",
          "One axis changed; inside the degrees the fastest plan that fits",
          {{"axis", "axis"},
           {"value", "value"},
           {"step", "step"},
           {"longer", "longer"},
           {"device", "device"},
           {"more", "more memory"},
           {"verdict", "verdict"}},
          {}};
  const Trial& own = a.preferred.trial;
  for (const Neighbour& n : a.neighbours)
    t.rows.push_back({std::string(n.axis), n.value, Value{n.trial.cost.step.step.num(), Unit::StepTime},
                      longer(n.trial.cost.step.step.num(), own.cost.step.step.num()),
                      Value{n.trial.device(), Unit::Memory},
                      Value{n.trial.device() - own.device(), Unit::Memory}, verdict_text(n.trial.verdict())});
  return {"neighbours", "One step away from the preferred plan", {std::move(t)}};
}

/// At which value of an input, or of the planning margin, another plan is the fastest.
inline Section crossover_section(const SearchAnswer& a) {
  Table t{"inputs",
          "Among the best plans and those of the front",
          {{"input", "input"}, {"now", "now"}, {"until", "another plan is faster from"}, {"wins", "which"}},
          {}};
  for (const Crossover& c : a.crossovers)
    t.rows.push_back({std::string(c.input) + (c.more ? ", more" : ", less"), c.now,
                      c.at ? Cell{Value{*c.at, c.now.unit}} : Cell{std::string("nowhere near")},
                      c.wins ? Cell{whole_plan_text(*c.wins)} : Cell{}});
  Section s{"crossovers", "What would make another plan the fastest", {std::move(t)}};
  const Trial& first = a.best.front().trial;
  for (const Numbered& n : a.front) {
    if (n.trial.device() <= first.limit() || step_of(n) >= step_of(a.best.front())) continue;
    const double margin = 1 - n.trial.device() / n.trial.gate();
    s.blocks.push_back(
        Notes{"margin",
              {{"with a planning margin of at most ", Value{margin, Unit::Share}, " instead of ",
                Value{first.problem.recipe.margin, Unit::Share},
                " " + whole_plan_text(n.trial) + " is the fastest: ", Value{step_of(n), Unit::StepTime}}}});
    break;
  }
  return s;
}

}  // namespace detail

/// The ledger belongs to the preferred plan.
inline Report search_report(const SearchAnswer& a, const Trial& derived, const Ledger& ledger,
                            const std::vector<Setting>& settings, const WaysOut& ways, bool detail) {
  const Trial& t = a.preferred.trial;
  Report r{
      "search", t.problem.model().name + " on " + t.problem.cluster().name, t.verdict(), headline_of(t), {}};
  r.sections.push_back(input_section(t.problem, settings));
  r.sections.push_back(choice_section(t));
  r.sections.push_back(detail::search_section(a));
  if (t.verdict() == Verdict::DoesNotFit) {
    add_ways_out(r, ways_out_section(t, ways));
    return r;
  }
  r.sections.push_back(detail::best_section(a, derived, detail));
  if (!a.front.empty()) r.sections.push_back(detail::front_section(a, detail));
  if (!a.near.empty()) r.sections.push_back(detail::near_section(a, detail));
  r.sections.push_back(detail::neighbour_section(a));
  if (!a.crossovers.empty()) r.sections.push_back(detail::crossover_section(a));
  r.sections.push_back(memory_section(t, ledger));
  r.sections.push_back(launch_section(t));
  return r;
}

}  // namespace trainplan
