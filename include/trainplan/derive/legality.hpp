/// Broken rules as issues: the field, the numbers, whose rule it is, and the legal values nearby.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainplan/derive/plan_fields.hpp"
#include "trainplan/plan/rules.hpp"
#include "trainplan/plan/warnings.hpp"
#include "trainplan/spec/issue.hpp"

namespace trainplan {

namespace detail {

inline bool keeps_rules_of(const Problem& problem, const Plan& plan, std::string_view field) {
  return std::all_of(rules().begin(), rules().end(),
                     [&](const Rule& r) { return r.field != field || r.holds(problem, plan); });
}

/// Values of the field, nearest first, that keep every rule of that field.
inline std::vector<std::int64_t> legal_values(Problem problem, Plan plan, std::string_view field,
                                              std::size_t most) {
  std::vector<std::int64_t> found;
  const std::int64_t got = field_value(problem, plan, field), last = largest(problem, field);
  constexpr std::int64_t kReach = 1 << 16;
  for (std::int64_t away = 0; away <= kReach && found.size() < most; ++away) {
    for (const std::int64_t v : {got - away, got + away}) {
      if (v < 1 || v > last || found.size() == most || (away == 0 && !found.empty())) continue;
      set_field_value(problem, plan, field, v);
      if (keeps_rules_of(problem, plan, field)) found.push_back(v);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// The same for a field whose values are words.
inline std::vector<std::string> legal_words(Problem problem, Plan plan, std::string_view field) {
  std::vector<std::string> found;
  for (const std::string_view word : field_words(field)) {
    set_field_word(problem, plan, field, word);
    const bool described = field != "sharding" || problem.profile().rows(plan.sharding) != nullptr;
    if (described && keeps_rules_of(problem, plan, field)) found.emplace_back(word);
  }
  return found;
}

/// A batch or a sequence: the next shorter and the next longer. Degrees: all that are near.
constexpr std::size_t most_values(std::string_view field) {
  if (field == "global_batch" || field == "sequence" || field == "first_layers") return 2;
  return field == "tp" || field == "pp" ? 8 : 4;
}

/// Where the user can change a field: in the run file, else on the command line.
inline std::string pointer_of(std::string_view field, const std::string& origin) {
  return origin.empty() ? option_of(field) : "/" + std::string(field);
}

inline std::string listed(const std::vector<std::string>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i)
    text += (i == 0 ? "try " : i + 1 == values.size() ? " or " : ", ") + values[i];
  return text;
}

/// " (tp 4 with dp 2)": what the largest legal tp leaves to data parallelism.
inline std::string rest_for_dp(const Problem& problem, Plan plan, std::int64_t tp) {
  plan.tp = static_cast<std::uint16_t>(tp);
  const std::int64_t gpus = problem.cluster().gpus();
  return divides(model_grid(plan), gpus)
             ? " (tp " + text(tp) + " with dp " + text(gpus / model_grid(plan)) + ")"
             : "";
}

using Broken = std::vector<const Rule*>;

/// What to write instead, or that nothing should be written where no legal value is near. The repair of a
/// rule helps only when no other rule of the field is broken.
inline std::string hint_text(const Problem& problem, const Plan& plan, const Broken& broken) {
  const std::string_view field = broken.front()->field;
  std::vector<std::string> values = legal_words(problem, plan, field);
  std::string hint;
  if (field_value(problem, plan, field) >= 0) {
    const auto numbers = legal_values(problem, plan, field, most_values(field));
    for (const std::int64_t v : numbers) values.push_back(text(v));
    hint = listed(values);
    if (field == "tp" && !numbers.empty()) hint += rest_for_dp(problem, plan, numbers.back());
  } else {
    hint = listed(values);
  }
  if (broken.size() == 1 && broken.front()->repair != nullptr)
    if (const std::string repair = broken.front()->repair(problem, plan); !repair.empty())
      hint += (hint.empty() ? "" : "; or ") + repair;
  return hint.empty() ? "leave " + std::string(field) + " out" : hint;
}

/// "Megatron-LM core 0.20.0: a.py, b.py", each place once.
inline std::string source_text(const FrameworkProfile& f, const Broken& broken) {
  std::vector<std::string_view> places;
  for (const Rule* rule : broken) {
    const std::string_view place = f.rules.source(rule->id);
    const auto says_more = [&](std::string_view other) { return other.starts_with(place); };
    if (place.empty() || std::any_of(places.begin(), places.end(), says_more)) continue;
    std::erase_if(places, [&](std::string_view other) { return place.starts_with(other); });
    places.push_back(place);
  }
  std::string out = f.release();
  for (std::size_t i = 0; i < places.size(); ++i) out.append(i == 0 ? ": " : ", ").append(places[i]);
  return out;
}

inline Issue issue_of(const Problem& problem, const Plan& plan, const std::string& origin,
                      const Broken& broken) {
  const Rule& first = *broken.front();
  std::string must;
  for (const Rule* rule : broken)
    must += (must.empty() ? "" : "; ") + std::string(rule->sentence(problem.profile())) + " (" +
            rule->numbers(problem, plan) + ")";
  const std::int64_t got = field_value(problem, plan, first.field);
  return {.level = Severity::Error,
          .rule = std::string(first.id),
          .file = origin,
          .pointer = pointer_of(first.field, origin),
          .got = got >= 0 ? text(got) : std::string(field_word(problem, plan, first.field)),
          .must = must,
          .hint = hint_text(problem, plan, broken),
          .source = source_text(problem.profile(), broken)};
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
    detail::Broken broken;
    for (const Rule& other : rules())
      if (other.field == rule.field && !other.holds(problem, plan)) broken.push_back(&other);
    issues.add(detail::issue_of(problem, plan, origin, broken));
  }
}

/// What of a legal plan has no effect or is doubtful. A field of the run stands with the value of the plan.
inline void report_warnings(const Problem& problem, const Plan& plan, const RunSpec& run, Issues& issues) {
  for (const Warning& w : warnings()) {
    if (!w.speaks(problem, plan, run)) continue;
    const std::int64_t number =
        w.field == "shard_size" ? run.shard_size.value_or(0) : detail::field_value(problem, plan, w.field);
    issues.add(
        {.level = Severity::Warning,
         .rule = std::string(w.id),
         .file = run.origin,
         .pointer = detail::pointer_of(w.field, run.origin),
         .got = number > 0 ? detail::text(number) : std::string(detail::field_word(problem, plan, w.field)),
         .must = std::string(w.must) + " (" + w.numbers(problem, plan) + ")",
         .hint = std::string(w.hint)});
  }
}

}  // namespace trainplan
