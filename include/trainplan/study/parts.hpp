/// Parts of an answer: inputs that are of use only together, and the rules that follow from that.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "trainplan/report/build.hpp"
#include "trainplan/spec/validator.hpp"
#include "trainplan/study/given.hpp"

namespace trainplan::study {

/// A part is answered when all that it needs is known. The first need asks for it; without that one the
/// others are of no use. extra: what it can take besides.
struct Part {
  std::string_view what;
  std::span<const Field*const> needs, extra{};

  bool uses(const Field* field) const {
    return std::ranges::find(needs, field) != needs.end() || std::ranges::find(extra, field) != extra.end();
  }
  bool whole(const Given& given) const {
    return std::ranges::all_of(needs, [&](const Field* f) { return given.has(*f); });
  }
};

/// A rule between inputs that one of them breaks.
inline void refuse(Issues& issues, const Given& given, const Field& field, std::string rule, std::string got,
                   std::string must, std::string hint) {
  Issue issue = given.place(field);
  issue.rule = std::move(rule);
  issue.got = std::move(got);
  issue.must = std::move(must);
  issue.hint = std::move(hint);
  issues.add(std::move(issue));
}

/// The same about the value as it was typed.
inline void refuse(Issues& issues, const Given& given, const Field& field, std::string rule, std::string must,
                   std::string hint) {
  std::string typed = given.place(field).got;
  refuse(issues, given, field, std::move(rule), std::move(typed), std::move(must), std::move(hint));
}

/// Counts of things that come whole: experts, ranks, GPUs.
inline void judge_whole(const Given& given, std::span<const Field* const> fields, Issues& issues) {
  for (const Field* field : fields) {
    if (!given.has(*field)) continue;
    for (const double v : given.find(*field)->values)
      if (v != std::floor(v))
        refuse(issues, given, *field, "whole", shown(v), "be a whole number", "try " + shown(std::floor(v)));
  }
}

namespace detail {

/// Given by the user, and not by a plan or a default; also where the value is refused.
inline bool is_asked(const Given& given, const Field& field) {
  const Said* said = given.find(field);
  return given.has_or_refused(field) && (said->giver == Giver::File || said->giver == Giver::Option);
}

inline std::string to_try(const Field& field) {
  return "try " + option_of(field.arg.name) + " " + std::string(field.says.example);
}

inline void judge_part(const Part& part, const Given& given, Issues& issues) {
  const Field& lead = *part.needs.front();
  if (!is_asked(given, lead)) return;
  for (const Field* field : part.needs)
    if (!given.has_or_refused(*field))
      issues.add({.rule = "missing",
                  .pointer = option_of(field->arg.name),
                  .must = "be given with " + option_of(lead.arg.name) + ", for " + std::string(part.what) +
                          ": " + std::string(field->arg.meaning),
                  .hint = to_try(*field)});
}

/// A value that no part of the answer reads.
inline void judge_use(std::span<const Part> parts, const Field& field, const Given& given, Issues& issues) {
  const Field* lead = nullptr;
  for (const Part& part : parts) {
    if (!part.uses(&field)) continue;
    if (given.has_or_refused(*part.needs.front())) return;
    if (lead == nullptr) lead = part.needs.front();
  }
  if (lead == nullptr) return;
  refuse(issues, given, field, "unused", "",
         "go with " + option_of(lead->arg.name) + ": " + std::string(lead->arg.meaning), to_try(*lead));
}

}  // namespace detail

/// Two ways to say one thing of which the user gives both.
inline void judge_either(const Given& given, const Field& one, const Field& other, Issues& issues) {
  if (detail::is_asked(given, one) && detail::is_asked(given, other))
    refuse(issues, given, one, "exclusive",
           "stand without " + option_of(other.arg.name) + ", which says it too", "leave out one of the two");
}

/// What is asked for is whole, and what is given is of use.
inline void judge_asked(std::span<const Part> parts, std::span<const Field* const> fields, const Given& given,
                        Issues& issues) {
  for (const Part& part : parts) detail::judge_part(part, given, issues);
  for (const Field* field : fields)
    if (detail::is_asked(given, *field)) detail::judge_use(parts, *field, given, issues);
}

/// The same, and something is asked for.
inline void judge_parts(std::span<const Part> parts, std::span<const Field* const> fields, const Given& given,
                        Issues& issues) {
  const std::size_t before = issues.all().size();
  judge_asked(parts, fields, given, issues);
  const auto refused = [&](const Field* field) { return given.has_or_refused(*field) && !given.has(*field); };
  if (issues.all().size() > before || std::ranges::any_of(fields, refused) ||
      std::ranges::any_of(parts, [&](const Part& part) { return part.whole(given); }))
    return;
  for (const Part& part : parts)
    issues.add({.rule = "missing",
                .pointer = option_of(part.needs.front()->arg.name),
                .must = "be given for " + std::string(part.what) + ", or the input of another part",
                .hint = detail::to_try(*part.needs.front())});
}

/// The number that a recorded quantity has, as a cell.
template <Dim D>
Value shown_as(Quantity<D, Sym> q, Unit unit) {
  return {value_of(q), unit};
}
template <Dim D>
Value shown_as(Quantity<D, Sym> q) {
  return shown_as(q, unit_for(D));
}

}  // namespace trainplan::study
