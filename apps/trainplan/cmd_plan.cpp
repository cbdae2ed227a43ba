#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "output.hpp"
#include "parallel.hpp"
#include "question.hpp"
#include "trainplan/report/explain_report.hpp"
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

/// What would make a question fit whose derived plan does not. All legal plans are tried: one of them may,
/// else the one that misses by least is the nearest.
Section missing_section(const Question& question, const Trial& derived) {
  const PlanSpace space = plan_space(question.planner(), derived.problem.recipe.global_batch);
  const Found found = search_plans(space, {}, on_threads(0));
  std::optional<Trial> other;
  Trial nearest = derived;
  if (!found.best.kept().empty())
    other = detail::trial_of(space, found.best.kept().front().index);
  else if (!found.smallest.kept().empty())
    nearest = detail::trial_of(space, found.smallest.kept().front().index);
  return ways_out_section(nearest, ways_out(question.planner(), question.fully_sharded(), nearest, other));
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
  const std::int64_t batch = derivation.chosen.problem.recipe.global_batch;
  std::deque<Checked<ClusterSpec>> parts;
  const auto answer =
      options.search.objective == Objective::FewestGpus
          ? fewest_gpus(question.planner(), batch, options.search, on_threads(options.threads), parts)
          : search_answer(question.planner(), batch, options.search, on_threads(options.threads));
  // The derived plan is legal, so there is an answer.
  tell_speed(answer.value(), std::chrono::steady_clock::now() - begin);
  const Trial& best = answer->preferred.trial;
  const WaysOut ways = best.verdict() == Verdict::DoesNotFit
                           ? ways_out(question.planner(), question.fully_sharded(), best, std::nullopt)
                           : WaysOut{};
  const Ledger ledger = explain(best.problem, best.plan, best.cost.stage);
  const bool json = options.output.format == Format::Json;
  Report report =
      search_report(*answer, derivation.chosen, ledger, question.settings(), ways, options.detail || json);
  if (json) report.sections.push_back(ledger_section(ledger, best.cost.stage));
  return emit(report, options.output);
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
  const bool json = options.output.format == Format::Json;
  Report report = plan_report(*derivation, ledger, question->settings(), question->run.limits, issues.all(),
                              options.detail || json);
  if (t.verdict() == Verdict::DoesNotFit) add_ways_out(report, missing_section(*question, t));
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
  CLI::Option* exhaustive =
      command->add_flag("--exhaustive", options->exhaustive,
                        "evaluate every legal plan: the best, the front, and why the others lose");
  const std::vector<std::string> objectives(std::begin(kObjectiveNames), std::end(kObjectiveNames));
  command
      ->add_option_function<std::string>(
          "--objective",
          [options](const std::string& name) {
            const auto at = std::ranges::find(kObjectiveNames, name);
            options->search.objective = static_cast<Objective>(at - std::begin(kObjectiveNames));
          },
          "with --exhaustive: step (as mfu, gpu-hours and dollars: the same order on one cluster), headroom "
          "or "
          "fewest-gpus")
      ->check(CLI::IsMember(objectives))
      ->type_name("NAME")
      ->needs(exhaustive);
  command->add_option("--top", options->search.top, "with --exhaustive: how many of the best to keep (20)")
      ->check(CLI::Range(1, 1000))
      ->needs(exhaustive);
  command
      ->add_option("--threads", options->threads, "with --exhaustive: threads (as many as there are cores)")
      ->check(CLI::Range(1, 1024))
      ->needs(exhaustive);
  add_output_options(*command, options->output);
  command->callback([options, &outcome] { outcome.status = run_plan(*options); });
}

}  // namespace trainplan
