#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "forecasting.hpp"
#include "output.hpp"
#include "question.hpp"
#include "trainplan/report/check_report.hpp"
#include "trainplan/report/forecast_gates.hpp"

namespace trainplan {

namespace {

struct CheckOptions {
  RunOptions run;
  OutputOptions output;
};

/// Deadline and budget of the run's forecast, where it has one of them.
void add_promises(const Question& question, const Trial& t, std::vector<Gate>& gates, Issues& issues) {
  const ForecastSpec& spec = question.run.forecast;
  if (!spec.deadline && !spec.budget) return;
  const auto answer = answer_of(question, t, spec, issues);
  if (!answer) return;
  for (Gate& gate : promise_gates(t, *answer, spec)) gates.push_back(std::move(gate));
}

void add_all(const Issues& from, Issues& to) {
  for (const Issue& issue : from.all()) to.add(issue);
}

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
    if (!derivation) {
      add_all(own, issues);
      continue;
    }
    const Trial& t = derivation->chosen;
    std::vector<Gate> gates = gates_of(t, question->run.limits);
    add_promises(*question, t, gates, own);
    add_all(own, issues);
    runs.push_back({file, t, std::move(gates), own.all()});
    questions.push_back(std::move(question));
  }
  const int status = emit(issues, options.output);
  if (issues.has_errors()) return status;
  return emit(check_report(runs), options.output);
}

}  // namespace

void add_check(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand(
      "check", "gate runs on memory, rules, limits, deadline and budget; exit status 1 when one fails");
  add_run_options(*command, options->run, "RUN files");
  add_output_options(*command, options->output);
  command->callback([options, &outcome] { outcome.status = run_check(*options); });
}

}  // namespace trainplan
