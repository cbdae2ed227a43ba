#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "commands.hpp"
#include "formulas.hpp"
#include "output.hpp"
#include "trainplan/catalog/catalog.hpp"
#include "trainplan/catalog/never.hpp"
#include "trainplan/io/suggest.hpp"
#include "trainplan/io/units.hpp"
#include "trainplan/render/render.hpp"
#include "trainplan/report/calc.hpp"

namespace trainplan {
namespace {

struct CalcOptions {
  std::string formula;
  std::vector<std::string> arguments;
  OutputOptions output;
};

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& names,
                         std::string otherwise) {
  const std::string_view near = nearest(word, names);
  return near.empty() ? otherwise : "did you mean \"" + std::string(near) + "\"?";
}

Issue unknown_formula(const std::string& id) {
  std::vector<std::string_view> ids;
  for (const CatalogEntry& e : catalog()) ids.push_back(e.id);
  return {.rule = "unknown-formula",
          .pointer = "FORMULA",
          .got = id,
          .must = "be the id of a formula",
          .hint = did_you_mean(id, ids, "see trainplan calc")};
}

/// Reads name=value words into the order of the formula's parameters; every mistake becomes an issue.
class Arguments {
  const CatalogEntry& entry_;
  Issues& issues_;
  std::vector<double> values_;
  std::vector<bool> given_;

  std::string sample_for(std::size_t i) const {
    return std::string(entry_.args[i].name) + "=" + sample_text(entry_.args[i], entry_.dims[i]);
  }

  void unknown(std::string_view name, std::string_view text) {
    std::vector<std::string_view> names;
    std::string all;
    for (const Arg& a : entry_.args) {
      names.push_back(a.name);
      all.append(all.empty() ? "" : ", ").append(a.name);
    }
    issues_.add({.rule = "unknown-parameter",
                 .pointer = std::string(name),
                 .got = std::string(text),
                 .must = "name a parameter of " + std::string(entry_.id),
                 .hint = did_you_mean(name, names, "its parameters are " + all)});
  }

  void set(std::size_t i, std::string_view text) {
    const Arg& a = entry_.args[i];
    Issue issue{.pointer = std::string(a.name), .got = std::string(text)};
    const Measure m = parse_quantity(text, entry_.dims[i]);
    if (!m) {
      issue.rule = "quantity";
      issue.must = "be " + example_of(entry_.dims[i]) + "; this " + m.error;
      issue.hint = "try " + sample_for(i);
    } else if (m.value < a.lo || m.value > a.hi) {
      const double near = std::clamp(m.value, a.lo, a.hi);
      issue.rule = "range";
      issue.must = m.value < a.lo ? "be at least " : "be at most ";
      issue.must += number_text(near, entry_.dims[i]);
      issue.hint = "try " + sample_for(i);
    }
    values_[i] = m.value;
    if (!issue.rule.empty()) issues_.add(std::move(issue));
  }

 public:
  Arguments(const CatalogEntry& entry, Issues& issues)
      : entry_(entry), issues_(issues), values_(entry.args.size()), given_(entry.args.size()) {}

  void read(const std::string& word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
      issues_.add({.rule = "argument",
                   .pointer = word,
                   .must = "have the form name=value",
                   .hint = "try " + (entry_.args.empty() ? std::string() : sample_for(0))});
      return;
    }
    const std::string_view name = std::string_view(word).substr(0, equals);
    const auto found =
        std::find_if(entry_.args.begin(), entry_.args.end(), [&](const Arg& a) { return a.name == name; });
    const std::string_view text = std::string_view(word).substr(equals + 1);
    if (found == entry_.args.end()) return unknown(name, text);
    const auto i = static_cast<std::size_t>(found - entry_.args.begin());
    if (given_[i])
      issues_.add({.rule = "twice",
                   .pointer = std::string(name),
                   .got = std::string(text),
                   .must = "be given once",
                   .hint = "leave one out"});
    given_[i] = true;
    set(i, text);
  }

  const std::vector<double>& values() {
    for (std::size_t i = 0; i < given_.size(); ++i)
      if (!given_[i])
        issues_.add({.rule = "missing-parameter",
                     .pointer = std::string(entry_.args[i].name),
                     .must = "be given: " + std::string(entry_.args[i].meaning),
                     .hint = "try " + sample_for(i)});
    return values_;
  }
};

int worked_out(const CatalogEntry& entry, const std::vector<double>& values, const OutputOptions& output,
               Issues& issues) {
  Explain rec;
  entry.explain(rec, values);
  const LineItem& item = *rec.ledger().find(entry.id);
  const std::string_view never = never_text(entry.id);
  if (std::isfinite(item.value) && item.value <= 0 && !never.empty()) {
    issues.add({.rule = "never",
                .pointer = std::string(entry.id),
                .got = item.value < 0 ? "a result below zero" : "a result of zero",
                .must = std::string(never),
                .hint = formula_card(entry).example});
    return emit(issues, output);
  }
  if (std::isfinite(item.value)) return emit(calc_report(entry, rec.ledger(), item), output);
  issues.add({.rule = "not-finite",
              .pointer = std::string(entry.id),
              .got = "a division by zero or an overflow",
              .must = "give a finite number",
              .hint = formula_card(entry).example});
  return emit(issues, output);
}

int run_calc(const CalcOptions& options) {
  Issues issues;
  if (options.formula.empty()) return emit(formula_list_report(formula_chapters(), false), options.output);
  const CatalogEntry* entry = find_formula(options.formula);
  if (entry == nullptr) {
    issues.add(unknown_formula(options.formula));
    return emit(issues, options.output);
  }
  if (options.arguments.empty() && !entry->args.empty())
    return emit(signature_report(formula_card(*entry)), options.output);
  Arguments arguments(*entry, issues);
  for (const std::string& word : options.arguments) arguments.read(word);
  const std::vector<double>& values = arguments.values();
  if (issues.has_errors()) return emit(issues, options.output);
  return worked_out(*entry, values, options.output, issues);
}

}  // namespace

void add_calc(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<CalcOptions>();
  CLI::App* command = app.add_subcommand("calc", "work out one formula, or list the formulas");
  command->add_option("formula", options->formula, "id of a formula; alone: what it takes");
  command->add_option("arguments", options->arguments, "name=value with units, such as delta=300s")
      ->type_name("NAME=VALUE");
  add_output_options(*command, options->output);
  command->callback([options, &outcome] { outcome.status = run_calc(*options); });
}

}  // namespace trainplan
