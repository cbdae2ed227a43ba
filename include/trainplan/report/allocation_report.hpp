/// The answer of `explain --allocation`: which tensor a failed request was for.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trainplan/cost/allocations.hpp"
#include "trainplan/report/build.hpp"

namespace trainplan {

/// Requests of one stage. The ledgers must outlive the report.
struct StageAllocations {
  int stage = 0;
  Ledger ledger;
};

/// Stages differ at the ends only; `stage` alone when it is given (not negative).
inline std::vector<StageAllocations> stage_allocations(const Problem& problem, const Plan& plan, int stage) {
  std::vector<int> stages;
  for (const int s : {0, plan.pp / 2, plan.pp - 1})
    if (stage < 0 && (stages.empty() || stages.back() != s)) stages.push_back(s);
  if (stage >= 0) stages = {stage};
  std::vector<StageAllocations> out;
  for (const int s : stages) out.push_back({s, allocations(problem, plan, s)});
  return out;
}

namespace detail {

struct Suspect {
  int stage;
  const Ledger* ledger;
  const LineItem* item;
};

/// All stages together, nearest first; a request that is the same on two stages is told once.
inline std::vector<Suspect> candidates(const std::vector<StageAllocations>& stages, double asked) {
  std::vector<Suspect> out;
  for (const StageAllocations& s : stages) {
    for (const LineItem* item : nearest_allocations(s.ledger, asked)) {
      const bool known = std::any_of(out.begin(), out.end(), [&](const Suspect& c) {
        return c.item->id == item->id && c.item->value == item->value;
      });
      if (!known) out.push_back({s.stage, &s.ledger, item});
    }
  }
  std::stable_sort(out.begin(), out.end(), [&](const Suspect& a, const Suspect& b) {
    return distance(a.item->value, asked) < distance(b.item->value, asked);
  });
  return out;
}

inline Table candidate_table(std::string key, const std::vector<Suspect>& list, double asked) {
  Table t{std::move(key),
          "",
          {{"id", "id"}, {"title", "tensor"}, {"size", "size"}, {"off", "off by"}, {"stage", "stage"}},
          {}};
  for (const Suspect& c : list)
    t.rows.push_back({Code{c.item->id}, c.item->title, Value{c.item->value, Unit::Request},
                      Value{c.item->value / asked - 1, Unit::Share},
                      Value{static_cast<double>(c.stage), Unit::Count}});
  return t;
}

}  // namespace detail

namespace detail {

/// What the request is, or that nothing is near.
inline Sentence allocation_headline(double asked, double within, const Suspect* nearest) {
  const double off = nearest == nullptr ? 1 : distance(nearest->item->value, asked);
  const bool exact = off <= within, found = exact || off <= kNearAllocation;
  Sentence s{std::string(exact   ? "a request of "
                         : found ? "within 1 % of a request of "
                                 : "no tensor is within 1 % of a request of ")};
  s.emplace_back(Value{asked, Unit::Request});
  if (found) s.emplace_back((exact ? " is: " : ": ") + nearest->item->title);
  return s;
}

}  // namespace detail

/// Fails when no tensor is within 1 % of the request. `within`: what is still the size that was asked for.
inline Report allocation_report(const std::vector<StageAllocations>& stages, double asked, std::string title,
                                double within = kExactAllocation) {
  constexpr std::size_t kShown = 6;
  std::vector<detail::Suspect> exact, near;
  const std::vector<detail::Suspect> all = detail::candidates(stages, asked);
  for (const detail::Suspect& c : all) {
    if (is_exact(c.item->value, asked, within))
      exact.push_back(c);
    else if (near.size() < kShown)
      near.push_back(c);
  }
  const bool found =
      !all.empty() && is_exact(all.front().item->value, asked, std::max(within, kNearAllocation));
  Report r{"allocation", std::move(title), found ? Verdict::None : Verdict::Failed, {}, {}};
  r.headline = detail::allocation_headline(asked, within, all.empty() ? nullptr : &all.front());
  if (!exact.empty())
    r.sections.push_back({"exact",
                          within > kExactAllocation ? "Tensors of that size (to the last digit given)"
                                                    : "Tensors of that size (within 0.1 %)",
                          {detail::candidate_table("candidates", exact, asked)}});
  for (std::size_t i = 0; i < exact.size(); ++i)
    r.sections.push_back(
        {"exact_" + std::to_string(i + 1), "", {explanation_of(*exact[i].ledger, *exact[i].item)}});
  r.sections.push_back(
      {"nearest", "The nearest others", {detail::candidate_table("candidates", near, asked)}});
  return r;
}

}  // namespace trainplan
