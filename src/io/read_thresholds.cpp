#include "trainplan/io/read_thresholds.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "field_text.hpp"
#include "text.hpp"
#include "trainplan/base/comma_parts.hpp"
#include "trainplan/io/units.hpp"

namespace trainplan {
namespace {

constexpr double kMostGrowth = 1000;  // times the number itself: beyond it nothing would be gated

std::string_view id_of(std::string_view name) {
  for (const Headliner& h : kHeadliners)
    if (h.word == name) return h.id;
  return name;
}

/// Short words, then the ids of both plans.
std::vector<std::string_view> known_names(const ReportedPlan& a, const ReportedPlan& b) {
  std::vector<std::string_view> names;
  for (const Headliner& h : kHeadliners)
    if (a.find(h.id) != nullptr && b.find(h.id) != nullptr) names.push_back(h.word);
  for (const ReportedItem& item : a.items)
    if (b.find(item.id) != nullptr) names.push_back(item.id);
  return names;
}

bool check_name(std::string_view id, const ReportedPlan& a, const ReportedPlan& b, Issue& out) {
  const bool in_a = a.find(id) != nullptr, in_b = b.find(id) != nullptr;
  const bool budget = a.find("cost.run_time") != nullptr && b.find("cost.run_time") != nullptr;
  if (id == "cost.run_time" ? !budget : needs_token_budget(id) && in_a && in_b && !budget)
    return refuse(out, "token-budget",
                  "have a token budget: without one the run is 30 days, whatever the plan",
                  "add --tokens 15T, or \"tokens\" to the run files");
  if (in_a && in_b) return true;
  if (in_a || in_b)
    return refuse(out, "absent-item",
                  "be a number of both plans; only " + std::string(in_a ? "A" : "B") + " has it",
                  "leave it out");
  for (const Headliner& h : kHeadliners)
    if (h.id == id)
      return refuse(out, "absent-item",
                    "be a number of both plans; the cluster files do not give what it needs",
                    "leave it out, or see trainplan explain MODEL CLUSTER " + std::string(id));
  return refuse(out, "unknown-item",
                "name a number of the plans: the id of a line, or one of " + headliner_words(),
                hint_for(id, known_names(a, b)));
}

/// The hint keeps the name, and a number that lacks the % alone.
std::optional<double> share_of(std::string_view name, std::string_view text, Issue& out) {
  const Measure m = parse_quantity(text);
  if (m && m.word == UnitWord::Percent && m.value >= 0 && m.value <= kMostGrowth) return m.value;
  const bool bare = m && m.word == UnitWord::None && m.dim == kCount && m.value >= 0 && m.value <= 100;
  refuse(out, "threshold", "be NAME=PERCENT, from 0% on",
         "try " + std::string(name) + "=" + (bare ? std::string(text) : std::string("5")) + "%");
  return std::nullopt;
}

}  // namespace

std::vector<Threshold> read_thresholds(std::string_view text, const ReportedPlan* a, const ReportedPlan* b,
                                       Issues& issues) {
  std::vector<Threshold> out;
  for (const std::string_view part : comma_parts(text)) {
    Issue share_issue{.pointer = "--fail-above", .got = clipped(part)}, name_issue = share_issue;
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view name = part.substr(0, equals);
    const std::string id(id_of(name));
    const bool known = a == nullptr || b == nullptr || check_name(id, *a, *b, name_issue);
    const auto share = share_of(known && !name.empty() ? name : "step",
                                part.substr(std::min(equals + 1, part.size())), share_issue);
    if (share && known) out.push_back({std::string(part), id, *share});
    if (!share) issues.add(std::move(share_issue));
    if (!known) issues.add(std::move(name_issue));
  }
  return out;
}

}  // namespace trainplan
