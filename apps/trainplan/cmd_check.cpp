#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "output.hpp"
#include "question.hpp"
#include "trainplan/report/check_report.hpp"

namespace trainplan {

namespace {

struct CheckOptions {
  RunOptions run;
  OutputOptions output;
};

int run_check(const CheckOptions& options) {
  Issues issues;
  if (options.run.words.empty()) {
    issues.add({.rule = "usage",
                .pointer = "trainplan check",
                .must = "name at least one run file",
                .hint = "trainplan check run.json"});
    return emit(issues, options.output);
  }
  std::vector<std::unique_ptr<Question>> questions;  // trials refer to their specs
  std::vector<CheckedRun> runs;
  for (const std::string& file : options.run.words) {
    Issues own;
    auto question = Question::load({file}, options.run, own);
    const auto derivation = question ? question->answer(own) : std::nullopt;
    for (const Issue& issue : own.all()) issues.add(issue);
    if (!derivation) continue;
    runs.push_back({file, derivation->chosen, gates_of(derivation->chosen, question->run.limits), own.all()});
    questions.push_back(std::move(question));
  }
  const int status = emit(issues, options.output);
  if (issues.has_errors()) return status;
  return emit(check_report(runs), options.output);
}

}  // namespace

void add_check(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command =
      app.add_subcommand("check", "gate runs on memory, rules and limits; exit status 1 when one fails");
  add_run_options(*command, options->run, "RUN files");
  add_output_options(*command, options->output);
  command->callback([options, &outcome] { outcome.status = run_check(*options); });
}

}  // namespace trainplan
