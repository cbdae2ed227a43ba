#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "output.hpp"
#include "question.hpp"
#include "trainplan/base/comma_parts.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/report/compare_report.hpp"

namespace trainplan {

namespace {

struct CompareOptions {
  RunOptions run;
  std::string frameworks;
  OutputOptions output;
};

/// The questions stay, since plans refer to their specs; so do the options that they refer to.
struct Compared {
  std::vector<std::unique_ptr<RunOptions>> options;
  std::vector<std::unique_ptr<Question>> questions;
  std::vector<FrameworkPlan> plans;
};

/// The frameworks that were named; without a name those that are shipped.
std::vector<std::string> names_of(const CompareOptions& options) {
  std::vector<std::string> names;
  if (options.frameworks.empty())
    for (const Listed& f : list_shipped("frameworks")) names.push_back(f.name);
  else
    for (const std::string_view part : comma_parts(options.frameworks)) names.emplace_back(part);
  return names;
}

/// The profiles of the names; what is wrong with one is a mistake, whatever the others are.
std::vector<Checked<FrameworkProfile>> profiles_of(const std::vector<std::string>& names, Issues& issues) {
  std::vector<Checked<FrameworkProfile>> out;
  for (const std::string& name : names) {
    const std::size_t first = issues.all().size();
    auto profile = load_framework(name, issues);
    const auto same = [&](const Checked<FrameworkProfile>& other) {
      return profile && other->id == (*profile)->id;
    };
    if (std::any_of(out.begin(), out.end(), same))
      issues.add({.rule = "twice", .got = name, .must = "stand once", .hint = "leave one of the two out"});
    else if (profile)
      out.push_back(std::move(*profile));
    for (std::size_t i = first; i < issues.all().size(); ++i)
      if (issues.all()[i].pointer.empty()) issues.all()[i].pointer = "--framework";
  }
  return out;
}

/// Why a mode has no plan: the first rule that it breaks.
std::string refusal_of(const Issues& issues) {
  for (const Issue& i : issues.all())
    if (i.level == Severity::Error) return i.pointer + " must " + i.must;
  return {};
}

/// The run in one mode of one framework; mistakes go into `mistakes`, since they may be of all of them.
void plan_mode(const CompareOptions& options, const std::string& name, const std::string& id, Sharding mode,
               Compared& out, Issues& mistakes) {
  auto run = std::make_unique<RunOptions>(options.run);
  run->pins.push_back("framework=" + name +
                      ",sharding=" + std::string(name_of(mode)));  // the last word on both
  Issues own;
  auto question = Question::load(run->words, *run, own);
  const auto derivation = question ? question->answer(own) : std::nullopt;
  FrameworkPlan plan{.framework = id, .sharding = std::string(name_of(mode))};
  if (derivation)
    plan.trial = derivation->chosen;
  else
    plan.refusal = refusal_of(own);
  plan.issues = own.all();
  out.plans.push_back(std::move(plan));
  out.options.push_back(std::move(run));
  if (question) out.questions.push_back(std::move(question));
  add_once(mistakes, own);
}

int run_compare(const CompareOptions& options) {
  Issues issues;
  if (!words_name_a_run("compare", options.run.words, issues)) return emit(issues, options.output);
  const std::vector<std::string> names = names_of(options);
  const auto profiles = profiles_of(names, issues);
  if (issues.has_errors()) return emit(issues, options.output);
  Compared all;
  Issues mistakes;
  for (std::size_t i = 0; i < names.size(); ++i)
    for (const ShardingRows& rows : profiles[i]->shardings)
      plan_mode(options, names[i], profiles[i]->id, rows.mode, all, mistakes);
  if (std::none_of(all.plans.begin(), all.plans.end(),
                   [](const FrameworkPlan& p) { return p.trial.has_value(); }))
    return emit(mistakes, options.output);
  return emit(compare_report(all.plans, all.questions.front()->title()), options.output);
}

}  // namespace

void add_compare(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand(
      "compare", "the same run in several frameworks: the best plan of each, and one weight's life in it");
  add_run_options_without(*command, options->run, "MODEL CLUSTER, or one RUN file",
                          {"framework", "sharding"});
  command
      ->add_option("--framework", options->frameworks,
                   "profiles, such as megatron-lm,deepspeed,torchtitan (default: all that are shipped)")
      ->type_name("NAMES");
  add_output_options(*command, options->output);
  command->callback([options, &outcome] { outcome.status = run_compare(*options); });
}

}  // namespace trainplan
