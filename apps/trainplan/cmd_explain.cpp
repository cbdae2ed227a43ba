#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "output.hpp"
#include "question.hpp"
#include "trainplan/io/suggest.hpp"
#include "trainplan/report/explain_report.hpp"

namespace trainplan {

namespace {

struct ExplainOptions {
  RunOptions run;
  OutputOptions output;
  int stage = -1;
  bool list = false;
};

Issue unknown_item(const Ledger& ledger, const std::string& item) {
  std::vector<std::string_view> ids;
  for (const LineItem& line : ledger.items()) ids.push_back(line.id);
  const std::string_view near = nearest(item, ids);
  Issue issue{.rule = "unknown-item",
              .pointer = "ITEM",
              .got = item,
              .must = "be the id of a printed number",
              .hint = "see trainplan explain MODEL CLUSTER --list"};
  if (!near.empty()) issue.hint = "did you mean " + std::string(near) + "?";
  return issue;
}

int run_explain(const ExplainOptions& options) {
  Issues issues;
  std::vector<std::string> words = options.run.words;
  const std::string item = !options.list && words.size() >= 2 ? words.back() : "";
  if (!item.empty()) words.pop_back();
  if (words.empty() || words.size() > 2 || (item.empty() && !options.list)) {
    issues.add({.rule = "usage",
                .pointer = "trainplan explain",
                .must = "name a model and a cluster (or a run file) and an item",
                .hint = "trainplan explain llama70b h100x1024 memory.state"});
    return emit(issues, options.output);
  }
  const auto question = Question::load(words, options.run, issues);
  const auto derivation = question ? question->answer(issues) : std::nullopt;
  if (!derivation) return emit(issues, options.output);
  const Trial& t = derivation->chosen;
  if (options.stage >= t.plan.pp)
    issues.add({.rule = "stage-range",
                .pointer = "--stage",
                .got = std::to_string(options.stage),
                .must = "be a stage of the plan, from 0 to " + std::to_string(t.plan.pp - 1),
                .hint = "try 0"});
  if (issues.has_errors()) return emit(issues, options.output);
  const int stage = options.stage >= 0 ? options.stage : t.cost.stage;
  const Ledger ledger = explain(t.problem, t.plan, stage);
  const std::string title = question->title() + ", GPU of stage " + std::to_string(stage);
  if (options.list) return emit(item_list_report(ledger, title), options.output);
  const LineItem* line = ledger.find(item);
  if (line == nullptr) {
    issues.add(unknown_item(ledger, item));
    return emit(issues, options.output);
  }
  return emit(explain_report(ledger, *line, title), options.output);
}

}  // namespace

void add_explain(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain", "take a printed number apart, down to the inputs");
  add_run_options(*command, options->run, "MODEL CLUSTER ITEM, or RUN ITEM");
  command->add_option("--stage", options->stage, "pipeline stage (default: the fullest)")
      ->check(CLI::Range(0, 65535));
  command->add_flag("--list", options->list, "list the items instead");
  add_output_options(*command, options->output);
  command->callback([options, &outcome] { outcome.status = run_explain(*options); });
}

}  // namespace trainplan
