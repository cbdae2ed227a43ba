/// A topic of `study`: its inputs, the rules between them, and the answer.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "trainplan/report/build.hpp"
#include "trainplan/study/given.hpp"

namespace trainplan::study {

/// judge: rules between inputs that are all given; may be null. answer: sections, headline and verdict; every
/// figure goes through the recorder. plan: of MODEL CLUSTER, null without one. words: inputs that may stand
/// on the command line without their option, in that order. uses_shelf: it reads what is shipped.
struct Topic {
  std::string_view id, title, help;
  std::span<const Field* const> fields;
  void (*judge)(const Given& given, Issues& issues);
  Report (*answer)(Explain& rec, const Given& given, const Planned* plan);
  std::span<const Field* const> words{};
  bool uses_shelf = false;

  bool takes_plan() const {
    for (const Field* field : fields)
      if (field->says.of_plan != nullptr) return true;
    return false;
  }
};

/// The field of that key, spelled with '_'; nullptr when there is none.
inline const Field* find_field(const Topic& topic, std::string_view key) {
  for (const Field* field : topic.fields)
    if (field->arg.name == key) return field;
  return nullptr;
}

/// Fills in what neither the command line nor a file gave: from what they do give, from the plan, then
/// defaults. Without any of them a required field is a mistake.
inline void complete(const Topic& topic, Given& given, const Planned* plan, Issues& issues) {
  for (const Field* field : topic.fields) {
    if (given.find(*field) != nullptr) continue;
    const FieldSays& says = field->says;
    const auto follows = says.of_given != nullptr ? says.of_given(given) : std::nullopt;
    const auto planned = plan != nullptr && says.of_plan != nullptr ? says.of_plan(*plan) : std::nullopt;
    if (follows)
      given.say({field, Giver::Plan, {follows->value}, {}, follows->origin});
    else if (planned)
      given.say({field, Giver::Plan, {*planned}, {}, "the plan"});
    else if (says.otherwise)
      given.say({field, Giver::Default, {*says.otherwise}, {}, "default, " + std::string(says.why)});
    else if (says.required)
      issues.add(
          {.rule = "missing",
           .pointer = option_of(field->arg.name),
           .must = "be given: " + std::string(field->arg.meaning) +
                   (plan == nullptr || says.lacking.empty() ? "" : "; " + std::string(says.lacking)),
           .hint = "try " + option_of(field->arg.name) + " " + std::string(says.example) +
                   (plan == nullptr && says.of_plan != nullptr ? ", or name a model and a cluster" : "")});
  }
}

/// Completes the inputs and judges them together with values that were refused: a mistake of such a value is
/// told already, so that no rule says more about it.
inline void complete_and_judge(const Topic& topic, Given& given, const Planned* plan, Issues& issues) {
  Issues found;
  complete(topic, given, plan, found);
  if (topic.judge != nullptr) topic.judge(given, found);
  for (const Issue& issue : found.all()) {
    const bool told = std::ranges::any_of(given.all(), [&](const Said& said) {
      const Issue place = given.place(*said.field);
      return said.refused && place.file == issue.file && place.pointer == issue.pointer;
    });
    if (!told) issues.add(issue);
  }
}

/// "Inputs": the values that the answer rests on, and who gave them. What the user gives is there in any
/// case.
inline Section input_section(const Topic& topic, const Given& given) {
  Table table{"inputs", "", {{"key", "input"}, {"value", "value"}, {"meaning", ""}, {"origin", "from"}}, {}};
  for (const Field* field : topic.fields) {
    const Said* said = given.find(*field);
    if (said == nullptr || (said->giver <= Giver::Plan && !said->used)) continue;
    const auto row = [&](Cell value) {
      table.rows.push_back({Code{std::string(field->arg.name)}, std::move(value),
                            std::string(field->arg.meaning), said->origin});
    };
    if (!said->known()) row(std::string("unknown"));
    if (!said->word.empty()) row(said->word);
    for (const double value : said->values)
      row(Value{value, field->says.unit.value_or(unit_for(field->dim))});
  }
  return {"inputs", "Inputs", {std::move(table)}};
}

}  // namespace trainplan::study
