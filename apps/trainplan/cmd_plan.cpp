#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "output.hpp"
#include "parallel.hpp"
#include "question.hpp"
#include "trainplan/report/search_report.hpp"

namespace trainplan {

namespace {

struct PlanOptions {
  RunOptions run;
  OutputOptions output;
  SearchOptions search;
  unsigned threads = 0;
  bool detail = false, exhaustive = false;
};

/// Where nothing fits: a plan of the whole space that does, and other changes.
WaysOut ways_out_of(const Question& question, const Trial& nearest, const std::optional<Trial>& other) {
  return ways_out(question.planner(), question.fully_sharded(), nearest, other);
}

/// The speed of a search; on standard error, since no two runs agree in it.
void tell_speed(const SearchAnswer& a, std::chrono::duration<double> time) {
  const double seconds = time.count();
  fmt::print(
      stderr,
      "note: {} legal plans, {} evaluated in full, in {:.3g} s: {:.3g} plans/s, {:.3g} evaluations/s\n",
      a.space.size(), a.found.counts.evaluated, seconds, static_cast<double>(a.space.size()) / seconds,
      static_cast<double>(a.found.counts.evaluated) / seconds);
}

int run_search(const PlanOptions& options, const Question& question, const Derivation& derivation) {
  const auto begin = std::chrono::steady_clock::now();
  const auto answer = search_answer(question.planner(), derivation.chosen.problem.recipe.global_batch,
                                    options.search, on_threads(options.threads));
  // The derived plan is legal, so there is an answer.
  tell_speed(answer.value(), std::chrono::steady_clock::now() - begin);
  const Trial& best = answer->preferred.trial;
  const bool fits = best.verdict() != Verdict::DoesNotFit;
  const WaysOut ways = fits ? WaysOut{} : ways_out_of(question, best, std::nullopt);
  const Ledger ledger = explain(best.problem, best.plan, best.cost.stage);
  const bool detail = options.detail || options.output.format == Format::Json;
  return emit(search_report(*answer, derivation.chosen, ledger, question.settings(), ways, detail),
              options.output);
}

int run_plan(const PlanOptions& options) {
  Issues issues;
  if (!words_name_a_run("plan", options.run.words, issues)) return emit(issues, options.output);
  const auto question = Question::load(options.run.words, options.run, issues);
  const auto derivation = question ? question->answer(issues) : std::nullopt;
  if (!derivation) return emit(issues, options.output);
  emit(issues, options.output);
  if (options.exhaustive) return run_search(options, *question, *derivation);
  const Trial& t = derivation->chosen;
  const Ledger ledger = explain(t.problem, t.plan, t.cost.stage);
  const bool detail = options.detail || options.output.format == Format::Json;
  return emit(
      plan_report(*derivation, ledger, question->settings(), question->run.limits, issues.all(), detail),
      options.output);
}

}  // namespace

void add_plan(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app.add_subcommand("plan", "derive a plan and explain every number of it");
  add_run_options(*command, options->run, "MODEL CLUSTER, or one RUN file");
  command->add_flag("--detail", options->detail,
                    "every variant of the plan and every input that it depends on");
  command->add_flag("--exhaustive", options->exhaustive,
                    "evaluate every legal plan: the best, the front, and why the others lose");
  command->add_option("--top", options->search.top, "with --exhaustive: how many of the best to keep (20)")
      ->check(CLI::Range(1, 1000));
  command
      ->add_option("--threads", options->threads, "with --exhaustive: threads (as many as there are cores)")
      ->check(CLI::Range(1, 1024));
  add_output_options(*command, options->output);
  command->callback([options, &outcome] { outcome.status = run_plan(*options); });
}

}  // namespace trainplan
