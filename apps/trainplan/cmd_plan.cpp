#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "output.hpp"
#include "question.hpp"
#include "trainplan/report/explain_report.hpp"
#include "trainplan/report/plan_report.hpp"

namespace trainplan {

namespace {

struct PlanOptions {
  RunOptions run;
  OutputOptions output;
  bool detail = false;
};

int run_plan(const PlanOptions& options) {
  Issues issues;
  if (!words_name_a_run("plan", options.run.words, issues)) return emit(issues, options.output);
  const auto question = Question::load(options.run.words, options.run, issues);
  const auto derivation = question ? question->answer(issues) : std::nullopt;
  if (!derivation) return emit(issues, options.output);
  emit(issues, options.output);
  const Trial& t = derivation->chosen;
  const Ledger ledger = explain(t.problem, t.plan, t.cost.stage);
  const bool json = options.output.format == Format::Json;
  Report report = plan_report(*derivation, ledger, question->settings(), question->run.limits, issues.all(),
                              options.detail || json);
  if (json) report.sections.push_back(ledger_section(ledger, t.cost.stage));
  return emit(report, options.output);
}

}  // namespace

void add_plan(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app.add_subcommand("plan", "derive a plan and explain every number of it");
  add_run_options(*command, options->run, "MODEL CLUSTER, or one RUN file");
  command->add_flag("--detail", options->detail,
                    "every variant of the plan and every input that it depends on");
  add_output_options(*command, options->output);
  command->callback([options, &outcome] { outcome.status = run_plan(*options); });
}

}  // namespace trainplan
