/// Broken rules as issues: the field, the numbers, and the legal values nearby.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainplan/derive/resolve.hpp"
#include "trainplan/plan/rules.hpp"
#include "trainplan/spec/issue.hpp"
#include "trainplan/spec/validator.hpp"

namespace trainplan {

namespace detail {

/// The value of a run field in a plan, or -1 when the field is not a number.
inline std::int64_t field_value(const Problem& x, const Plan& p, std::string_view field) {
  if (field == "tp") return p.tp;
  if (field == "pp") return p.pp;
  if (field == "vpp") return p.vpp;
  if (field == "cp") return p.cp;
  if (field == "ep") return p.ep;
  if (field == "etp") return p.etp;
  if (field == "dp") return p.dp;
  if (field == "shard_size") return p.shard;
  if (field == "recompute_layers") return p.recompute_layers;
  if (field == "global_batch") return x.recipe.global_batch;
  if (field == "sequence") return x.recipe.sequence;
  return -1;
}

inline void set_field_value(Problem& x, Plan& p, std::string_view field, std::int64_t v) {
  if (field == "tp") p.tp = static_cast<std::uint16_t>(v);
  if (field == "pp") p.pp = static_cast<std::uint16_t>(v);
  if (field == "pp") choose_layout(x.model().layers, x.profile().uneven_stages, p);
  if (field == "vpp") p.vpp = static_cast<std::uint16_t>(v);
  if (field == "vpp") p.schedule = v > 1 ? Schedule::Interleaved : Schedule::OneFOneB;
  if (field == "cp") p.cp = static_cast<std::uint16_t>(v);
  if (field == "ep") p.ep = static_cast<std::uint16_t>(v);
  if (field == "etp") p.etp = static_cast<std::uint16_t>(v);
  if (field == "dp") p.dp = static_cast<std::uint32_t>(v);
  if (field == "shard_size") p.shard = static_cast<std::uint32_t>(v);
  if (field == "recompute_layers") p.recompute_layers = static_cast<std::uint16_t>(v);
  if (field == "global_batch") x.recipe.global_batch = v;
  if (field == "sequence") x.recipe.sequence = v;
}

inline std::int64_t largest(std::string_view field) {
  if (field == "sequence" || field == "global_batch") return kMaxSequence;
  return field == "dp" || field == "shard_size" ? kMaxRanks : kMaxDegree;
}

/// Values of the field, nearest first, that keep every rule of that field.
inline std::vector<std::int64_t> legal_values(Problem problem, Plan plan, std::string_view field,
                                              std::size_t most) {
  std::vector<const Rule*> judges;
  for (const Rule& rule : rules())
    if (rule.field == field) judges.push_back(&rule);
  std::vector<std::int64_t> found;
  const std::int64_t got = field_value(problem, plan, field), last = largest(field);
  constexpr std::int64_t kReach = 1 << 16;
  for (std::int64_t away = 0; away <= kReach && found.size() < most; ++away) {
    for (const std::int64_t v : {got - away, got + away}) {
      if (v < 1 || v > last || found.size() == most || (away == 0 && !found.empty())) continue;
      set_field_value(problem, plan, field, v);
      if (std::all_of(judges.begin(), judges.end(), [&](const Rule* r) { return r->holds(problem, plan); }))
        found.push_back(v);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Where the user can change a field: in the run file, else on the command line.
inline std::string pointer_of(std::string_view field, const std::string& origin) {
  std::string name = (origin.empty() ? "--" : "/") + std::string(field);
  if (origin.empty()) std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// Shardings that keep every rule about them.
inline std::vector<std::string> legal_shardings(const Problem& problem, Plan plan) {
  std::vector<std::string> found;
  for (const ShardingRows& rows : problem.profile().shardings) {
    plan.sharding = rows.mode;
    const bool keeps = std::all_of(rules().begin(), rules().end(), [&](const Rule& r) {
      return r.field != "sharding" || r.holds(problem, plan);
    });
    if (keeps) found.emplace_back(name_of(rows.mode));
  }
  return found;
}

/// What to write instead, or that nothing should be written where no legal value is near.
inline std::string hint_text(const Problem& problem, const Plan& plan, const Rule& rule) {
  std::vector<std::string> values;
  if (rule.field == "sharding") values = legal_shardings(problem, plan);
  if (field_value(problem, plan, rule.field) >= 0)
    for (const std::int64_t v : legal_values(problem, plan, rule.field, 4))
      values.push_back(std::to_string(v));
  if (values.empty()) return "leave " + std::string(rule.field) + " out";
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i)
    text += (i == 0 ? "try " : i + 1 == values.size() ? " or " : ", ") + values[i];
  return text;
}

}  // namespace detail

/// One issue per field whose rules the plan breaks. `skip`: fields that already have an issue of their own.
inline void report_broken_rules(const Problem& problem, const Plan& plan, const std::string& origin,
                                const std::vector<std::string>& skip, Issues& issues) {
  std::vector<std::string_view> wrong(skip.begin(), skip.end());
  const auto is_wrong = [&](std::string_view field) {
    return std::find(wrong.begin(), wrong.end(), field) != wrong.end();
  };
  for (const Rule& rule : rules()) {
    const bool degree = is_wrong("tp") || is_wrong("pp") || is_wrong("cp");  // then dp means nothing either
    if (rule.holds(problem, plan) || is_wrong(rule.field) || is_wrong(rule.also)) continue;
    if (degree && (rule.field == "dp" || rule.also == "dp")) continue;
    wrong.push_back(rule.field);
    std::string must;
    for (const Rule& other : rules()) {
      if (other.field != rule.field || other.holds(problem, plan)) continue;
      must +=
          (must.empty() ? "" : "; ") + std::string(other.must) + " (" + other.numbers(problem, plan) + ")";
    }
    const std::int64_t got = detail::field_value(problem, plan, rule.field);
    const std::string shown = got >= 0                   ? std::to_string(got)
                              : rule.field == "sharding" ? std::string(name_of(plan.sharding))
                                                         : std::string{};
    issues.add({Severity::Error, std::string(rule.id), origin, detail::pointer_of(rule.field, origin), shown,
                must, detail::hint_text(problem, plan, rule)});
  }
}

}  // namespace trainplan
