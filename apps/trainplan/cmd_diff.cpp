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
#include "trainplan/io/load_report.hpp"
#include "trainplan/io/read_thresholds.hpp"
#include "trainplan/report/derived_plan.hpp"
#include "trainplan/report/diff_report.hpp"

namespace trainplan {

namespace {

struct DiffOptions {
  RunOptions run;
  std::vector<std::string> pins_a, pins_b, thresholds;
  OutputOptions output;
};

/// One of the two plans: its word, its own --pin, what it is called, and what the command line says about it.
struct Side {
  std::string word, option, name;
  RunOptions run;
  bool own_fields = false;
};

Side side_of(const DiffOptions& options, std::size_t index) {
  const std::vector<std::string>& words = options.run.words;
  const std::vector<std::string>& own = index == 0 ? options.pins_a : options.pins_b;
  const std::string& word = words[std::min(index, words.size() - 1)];
  Side out{word, index == 0 ? "--pin-a" : "--pin-b", word, options.run, !own.empty()};
  out.run.pins.insert(out.run.pins.end(), own.begin(), own.end());
  for (const std::string& pin : own) out.name += ", " + pin;
  return out;
}

/// A file of finished numbers, which no option can change.
std::optional<ReportedPlan> of_report(const Side& side, Issues& issues) {
  if (side.own_fields)
    issues.add({.rule = "usage",
                .pointer = side.option,
                .got = side.word,
                .must = "stand with a run file; this is the report of a finished plan",
                .hint = "name the run file that it was made from"});
  return load_report(side.word, issues);
}

/// A run is planned; a mistake that both runs have is told once.
std::optional<ReportedPlan> of_run(const Side& side, Issues& issues) {
  Issues own;
  const auto question = Question::load({side.word}, side.run, own);
  const auto derivation = question ? question->answer(own) : std::nullopt;
  add_once(issues, own);
  if (!derivation) return std::nullopt;
  const Trial& t = derivation->chosen;
  return reported_plan(t, explain(t.problem, t.plan, t.cost.stage), question->settings(), side.name);
}

/// Two words, or one where an option makes the second plan another one.
bool words_name_two(const DiffOptions& options, Issues& issues) {
  const std::size_t words = options.run.words.size();
  const bool changed = !options.pins_a.empty() || !options.pins_b.empty();
  if (words == 2 || (words == 1 && changed)) return true;
  issues.add({.rule = "usage",
              .pointer = "trainplan diff",
              .must = "name two run files or reports of plans, or one run file and what changes",
              .hint = "trainplan diff before.json after.json, or run.json --pin-b gradient_dtype=bf16"});
  return false;
}

int run_diff(const DiffOptions& options) {
  Issues issues;
  if (!words_name_two(options, issues)) return emit(issues, options.output);
  std::optional<ReportedPlan> plans[2];
  bool any_run = false;
  for (std::size_t i = 0; i < 2; ++i) {
    const Side side = side_of(options, i);
    const bool report = names_a_report(side.word);
    any_run |= !report;
    plans[i] = report ? of_report(side, issues) : of_run(side, issues);
  }
  if (!any_run)
    refuse_run_fields(options.run, issues, [](const std::string&, const std::string&) {
      return std::string("name run files, or leave it out");
    });
  std::vector<Threshold> thresholds;
  const auto known = [](const std::optional<ReportedPlan>& plan) { return plan ? &*plan : nullptr; };
  for (const std::string& text : options.thresholds)
    for (Threshold& t : read_thresholds(text, known(plans[0]), known(plans[1]), issues))
      thresholds.push_back(std::move(t));
  const int status = emit(issues, options.output);
  if (issues.has_errors()) return status;
  return emit(diff_report(*plans[0], *plans[1], thresholds), options.output);
}

void add_own_pins(CLI::App& command, const std::string& name, std::vector<std::string>& pins,
                  const std::string& help) {
  command.add_option(name, pins, help)->type_name("FIELD=VALUE")->allow_extra_args(false);
}

}  // namespace

void add_diff(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App* command = app.add_subcommand(
      "diff", "what changes from one plan to another; exit status 1 when a number grows too far");
  add_run_options(*command, options->run, "A B: run files, or reports of plan --format json");
  add_own_pins(*command, "--pin-a", options->pins_a, "run fields of A alone, such as gradient_dtype=fp32");
  add_own_pins(*command, "--pin-b", options->pins_b,
               "run fields of B alone, such as gradient_dtype=bf16; without a second file B is A with these");
  command
      ->add_option(
          "--fail-above", options->thresholds,
          "how far B may be worse than A, such as memory=2%,step=5%; a name is the id of a line, or one of " +
              headliner_words())
      ->type_name("NAME=PERCENT")
      ->allow_extra_args(false);
  add_output_options(*command, options->output);
  command->callback([options, &outcome] { outcome.status = run_diff(*options); });
}

}  // namespace trainplan
