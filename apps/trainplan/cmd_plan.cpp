#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "commands.hpp"
#include "output.hpp"
#include "question.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/report/plan_report.hpp"

namespace trainplan {

namespace {

struct PlanOptions {
  RunOptions run;
  OutputOptions output;
};

/// A word that names no file but a model: the cluster was forgotten.
bool names_a_model(const std::string& word) {
  std::error_code failed;
  for (const std::string& file : {word, word + ".json"})
    if (std::filesystem::exists(file, failed)) return false;
  Issues ignored;
  return load_model(word, ignored).has_value();
}

int run_plan(const PlanOptions& options) {
  Issues issues;
  if (options.run.words.empty() || options.run.words.size() > 2) {
    issues.add({.rule = "usage",
                .pointer = "trainplan plan",
                .must = "name a model and a cluster, or one run file",
                .hint = "trainplan plan llama70b h100x1024"});
    return emit(issues, options.output);
  }
  if (options.run.words.size() == 1 && names_a_model(options.run.words[0])) {
    issues.add({.rule = "usage",
                .pointer = "trainplan plan " + options.run.words[0],
                .must = "name a model and a cluster, or one run file",
                .hint = "a cluster is missing: trainplan plan " + options.run.words[0] + " h100x1024"});
    return emit(issues, options.output);
  }
  const auto question = Question::load(options.run.words, options.run, issues);
  const auto derivation = question ? question->answer(issues) : std::nullopt;
  if (!derivation) return emit(issues, options.output);
  emit(issues, options.output);
  const Trial& t = derivation->chosen;
  const Ledger ledger = explain(t.problem, t.plan, t.cost.stage);
  return emit(plan_report(*derivation, ledger, question->settings(), question->run.limits, issues.all()),
              options.output);
}

}  // namespace

void add_plan(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app.add_subcommand("plan", "derive a plan and explain every number of it");
  add_run_options(*command, options->run, "MODEL CLUSTER, or one RUN file");
  add_output_options(*command, options->output);
  command->callback([options, &outcome] { outcome.status = run_plan(*options); });
}

}  // namespace trainplan
