#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "output.hpp"
#include "question.hpp"
#include "trainplan/io/gap_fields.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/report/gap_report.hpp"
#include "trainplan/report/ranges.hpp"
#include "trainplan/spec/validate_gap.hpp"

namespace trainplan {

namespace {

struct GapOptions {
  RunOptions run;
  std::vector<std::pair<const GapField*, std::string>> fields;
  std::vector<std::string> items, budgets;
  bool detail = false;
  OutputOptions output;
};

/// Lays what the command line says over the gap of the run file.
void lay_over(const GapOptions& options, GapSpec& gap, Issues& issues) {
  for (const auto& [field, text] : options.fields)
    set_gap_field(gap, *field, text, true, issues, {.pointer = "--" + std::string(field->key)});
  for (const std::string& pair : options.items) set_gap_pair(gap, GapColumn::Measured, pair, issues);
  for (const std::string& pair : options.budgets) set_gap_pair(gap, GapColumn::Budget, pair, issues);
}

/// The step must be measured; a wrong figure for it has its own mistake.
void require_measured(const GapOptions& options, const GapSpec& gap, Issues& issues) {
  const bool said = std::any_of(options.fields.begin(), options.fields.end(),
                                [](const auto& field) { return field.first->key == "measured"; });
  if (gap.measured || said) return;
  issues.add({.rule = "missing",
              .pointer = "--measured",
              .must = "be given, or stand in the run file: seconds of one optimizer step",
              .hint = "try --measured 6.2s"});
}

int run_gap(GapOptions& options) {
  Issues issues;
  if (!words_name_a_run("gap", options.run.words, issues)) return emit(issues, options.output);
  take_convention(options.run, true, issues);
  const auto question = Question::load(options.run.words, options.run, issues);
  GapSpec alone;  // without a run the options are read all the same, for their mistakes
  lay_over(options, question ? question->run.gap : alone, issues);
  if (question) require_measured(options, question->run.gap, issues);
  const auto derivation = question && !issues.has_errors() ? question->answer(issues) : std::nullopt;
  if (!derivation) return emit(issues, options.output);
  const Trial& t = derivation->chosen;
  const GapSpec& gap = question->run.gap;
  const Ledger plan = explain(t.problem, t.plan, t.cost.stage);
  judge_gap(gap, question->run.origin, detail::value_in(plan, "compute.ideal_causal"), issues);
  place_in_run_file(question->run, issues);
  if (issues.has_errors()) return emit(issues, options.output);
  const std::vector<Anchor> figures = anchors();
  Explain rec;
  const auto answer = answer_gap(rec, t, plan, gap, question->run.origin, gap_norms(figures));
  judge_range(gap, question->run.origin, step_estimate(t.problem, t.cost).low, issues);
  judge_points(gap, question->run.origin, value_of(answer.cost.exact), answer.cost.quoted, issues);
  place_in_run_file(question->run, issues);
  emit(issues, options.output);
  return emit(gap_report(t, gap, answer, rec.ledger(), figures, issues.all(), options.detail),
              options.output);
}

}  // namespace

void add_gap(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<GapOptions>();
  CLI::App* command = app.add_subcommand(
      "gap", "a measured step against the plan: where the time goes, what to repair first");
  add_run_options(*command, options->run, "MODEL CLUSTER, or one RUN file");
  command->get_option("--attention")
      ->description(
          "causal or full: how attention FLOPs are counted, as --flop-convention; flash or unfused: the "
          "kernel");
  const std::string group = "Measured step (also the object \"gap\" of a run file)";
  for (const GapField& field : gap_fields())
    command
        ->add_option_function<std::string>(
            "--" + std::string(field.key),
            [options, &field](const std::string& text) { options->fields.emplace_back(&field, text); },
            std::string(field.help) + ", such as " + std::string(field.example))
        ->group(group)
        ->type_name("");
  command
      ->add_option(
          "--item", options->items,
          "measured time of an item, such as exposed_comm=0.8s; bubble, exposed_comm, recompute, data_wait, "
          "kernel (the ideal included), launch, straggler")
      ->group(group)
      ->type_name("NAME=TIME")
      ->allow_extra_args(false);
  command
      ->add_option("--budget", options->budgets,
                   "what an item may take, such as exposed_comm=0.4s (default: what the plan predicts)")
      ->group(group)
      ->type_name("NAME=TIME")
      ->allow_extra_args(false);
  command->add_flag("--detail", options->detail, "every figure with its formula and inputs");
  add_output_options(*command, options->output);
  command->callback([options, &outcome] { outcome.status = run_gap(*options); });
}

}  // namespace trainplan
