/// The answer of `compare`: one model on one cluster in several frameworks, and one weight's life in each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "trainplan/report/plan_report.hpp"
#include "trainplan/report/ranges.hpp"
#include "trainplan/report/warning_section.hpp"
#include "trainplan/report/weight_life.hpp"

namespace trainplan {

/// A framework in one of its sharding modes. trial: nothing when no plan is legal, which refusal tells.
struct FrameworkPlan {
  std::string framework, sharding;
  std::optional<Trial> trial{};
  std::string refusal{};
  std::vector<Issue> issues{};  // its warnings are shown
};

namespace detail {

/// Fits before tight before not. Of those that fit the shorter step, of those that do not the nearest to it.
inline bool is_better(const Trial& a, const Trial& b) {
  const auto rank = [](const Trial& t) {
    const double over = t.verdict() == Verdict::DoesNotFit ? t.device() - t.gate() : 0;
    return std::tuple(static_cast<int>(t.verdict()), over, t.cost.step.step.num(), t.device());
  };
  return rank(a) < rank(b);
}

/// The model cannot tell its step from that of the fastest; what does not fit is told by its memory.
inline bool is_alike(const Trial& t, const Trial& fastest) {
  const double difference = t.problem.calibration().plan_difference.value;
  return t.verdict() == fastest.verdict() && t.verdict() != Verdict::DoesNotFit &&
         t.cost.step.step.num() <= fastest.cost.step.step.num() * (1 + difference);
}

/// The best plan of each framework, in the order of the frameworks; none for one without a legal plan. Of
/// those that the model cannot tell from the fastest it is the one with most memory left, as a search
/// prefers.
inline std::vector<const FrameworkPlan*> best_plans(const std::vector<FrameworkPlan>& all) {
  std::vector<const FrameworkPlan*> fastest, out;
  for (const FrameworkPlan& p : all) {
    if (!p.trial) continue;
    if (fastest.empty() || fastest.back()->framework != p.framework)
      fastest.push_back(&p);
    else if (is_better(*p.trial, *fastest.back()->trial))
      fastest.back() = &p;
  }
  for (const FrameworkPlan* first : fastest) {
    out.push_back(first);
    for (const FrameworkPlan& p : all)
      if (p.trial && p.framework == first->framework && is_alike(*p.trial, *first->trial) &&
          p.trial->device() < out.back()->trial->device())
        out.back() = &p;
  }
  return out;
}

/// Why a mode that is not the fastest of its framework is called its best.
inline Notes alike_notes(const std::vector<FrameworkPlan>& all,
                         const std::vector<const FrameworkPlan*>& best) {
  Notes notes{"alike", {}};
  for (const FrameworkPlan* p : best) {
    const bool faster = std::any_of(all.begin(), all.end(), [&](const FrameworkPlan& o) {
      return o.trial && o.framework == p->framework && is_better(*o.trial, *p->trial);
    });
    if (!faster) continue;
    notes.sentences.push_back(
        {p->framework + ": steps differ by less than ",
         Value{p->trial->problem.calibration().plan_difference.value, Unit::Share},
         ", which the model cannot tell apart; " + p->sharding + " leaves most memory free"});
  }
  return notes;
}

/// The same, the best first.
inline std::vector<const FrameworkPlan*> ranked(std::vector<const FrameworkPlan*> plans) {
  std::stable_sort(plans.begin(), plans.end(),
                   [](const auto* a, const auto* b) { return is_better(*a->trial, *b->trial); });
  return plans;
}

inline std::vector<Column> plan_columns() {
  return {{"framework", "framework"}, {"sharding", "sharding"},   {"plan", "plan"},
          {"recompute", "recompute"}, {"device", "device total"}, {"step", "step"},
          {"mfu", "MFU, causal"},     {"verdict", "verdict"}};
}

/// step: with its range, or the number alone.
inline std::vector<Cell> plan_row(const FrameworkPlan& p, bool range) {
  if (!p.trial) return {p.framework, p.sharding, {}, {}, {}, {}, {}, std::string("illegal")};
  const Trial& t = *p.trial;
  const Estimate step = step_estimate(t.problem, t.cost);
  return {p.framework,
          p.sharding,
          degrees_text(t.plan),
          std::string(name_of(t.plan.recompute)),
          Value{t.device(), Unit::Memory},
          range ? Cell{step} : Cell{step.value},
          Value{t.cost.step.mfu.num(), Unit::Share},
          verdict_text(t.verdict())};
}

/// "megatron-lm: step 4.45 s, MFU 41.9 %; torchtitan ...", the best first.
inline Sentence compare_headline(const std::vector<const FrameworkPlan*>& ranked) {
  const Verdict best = ranked.front()->trial->verdict();
  Sentence s{verdict_text(best) + ": "};
  for (const FrameworkPlan* p : ranked) {
    const Verdict own = p->trial->verdict();
    const Sentence part{(p == ranked.front() ? "" : "; ") + p->framework + " (" + p->sharding + ") step ",
                        Value{p->trial->cost.step.step.num(), Unit::Time}, ", MFU ",
                        Value{p->trial->cost.step.mfu.num(), Unit::Share},
                        own == best ? "" : ", " + verdict_text(own)};
    s.insert(s.end(), part.begin(), part.end());
  }
  return s;
}

/// Where the ranges of two steps overlap, neither is the faster one for sure.
inline Notes overlap_notes(const std::vector<const FrameworkPlan*>& ranked) {
  Notes notes{"equal", {}};
  const Estimate first = step_estimate(ranked.front()->trial->problem, ranked.front()->trial->cost);
  for (std::size_t i = 1; i < ranked.size(); ++i) {
    const Estimate other = step_estimate(ranked[i]->trial->problem, ranked[i]->trial->cost);
    if (other.low > first.high || first.low > other.high) continue;
    notes.sentences.push_back({"the ranges of the steps of " + ranked.front()->framework + " and " +
                               ranked[i]->framework + " overlap: either may be the faster one"});
  }
  return notes;
}

inline Section plans_section(const std::vector<FrameworkPlan>& all,
                             const std::vector<const FrameworkPlan*>& best) {
  Section s{"plans", "Each framework in its best sharding mode", {}};
  Table table{"best", "", plan_columns(), {}};
  for (const FrameworkPlan* p : best) table.rows.push_back(plan_row(*p, true));
  s.blocks.push_back(std::move(table));
  if (Notes notes = alike_notes(all, best); !notes.sentences.empty()) s.blocks.push_back(std::move(notes));
  if (Notes notes = overlap_notes(ranked(best)); !notes.sentences.empty())
    s.blocks.push_back(std::move(notes));
  return s;
}

inline Section modes_section(const std::vector<FrameworkPlan>& all) {
  Section s{"modes", "Derived plan of each sharding mode", {}};
  Table table{"modes", "", plan_columns(), {}};
  Notes refused{"refused", {}};
  for (const FrameworkPlan& p : all) {
    table.rows.push_back(plan_row(p, false));
    if (!p.trial) refused.sentences.push_back({p.framework + ", " + p.sharding + ": " + p.refusal});
  }
  s.blocks.push_back(std::move(table));
  if (!refused.sentences.empty()) s.blocks.push_back(std::move(refused));
  return s;
}

/// Bytes of every mode, traffic and words of the best ones.
inline Section weight_section(const std::vector<FrameworkPlan>& all,
                              const std::vector<const FrameworkPlan*>& best) {
  Section s{"weight", "One weight in each framework", {}};
  Table bytes = weight_table(), layers = trainplan::layer_table(), sent = collective_table();
  std::vector<const Trial*> plans;
  for (const FrameworkPlan& p : all) {
    if (!p.trial) continue;
    const Ledger ledger = explain(p.trial->problem, p.trial->plan, p.trial->cost.stage);
    bytes.rows.push_back(weight_row(*p.trial, ledger));
    layers.rows.push_back(layer_row(*p.trial, ledger));
    if (std::find(best.begin(), best.end(), &p) == best.end()) continue;
    plans.push_back(&*p.trial);
    add_collectives(sent, *p.trial, ledger);
  }
  s.blocks.push_back(std::move(bytes));
  s.blocks.push_back(std::move(layers));
  if (!sent.rows.empty()) s.blocks.push_back(std::move(sent));
  s.blocks.push_back(life_table(plans));
  return s;
}

}  // namespace detail

/// At least one plan is legal. Plans of one framework stand together.
inline Report compare_report(const std::vector<FrameworkPlan>& all, const std::string& title) {
  const std::vector<const FrameworkPlan*> best = detail::best_plans(all), order = detail::ranked(best);
  Report r{"compare", title, order.front()->trial->verdict(), detail::compare_headline(order), {}};
  Table warnings = warning_table(true);
  for (const FrameworkPlan* p : best) add_warnings(warnings, p->issues, p->framework);
  r.sections.push_back(detail::plans_section(all, best));
  add_warning_section(r, std::move(warnings));
  r.sections.push_back(detail::modes_section(all));
  r.sections.push_back(detail::weight_section(all, best));
  return r;
}

}  // namespace trainplan
