#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "exit_code.hpp"
#include "output.hpp"
#include "pictures.hpp"
#include "question.hpp"
#include "trainplan/io/load_pipeline.hpp"
#include "trainplan/io/pipeline_fields.hpp"
#include "trainplan/report/planned_schedules.hpp"
#include "trainplan/report/schedule_report.hpp"
#include "trainplan/report/stated_schedules.hpp"
#include "trainplan/spec/validate_pipeline.hpp"

namespace trainplan {

namespace {

struct ScheduleOptions {
  RunOptions run;
  std::vector<std::pair<const PipelineField*, std::string>> fields;
  bool detail = false;
  PictureOptions pictures;
  OutputOptions output;
};

/// What stands in a file, then the options over it. An option for a half of the backward pass, or for the
/// whole, takes the place of what the file says of it.
void lay_over(const ScheduleOptions& options, PipelineSpec& spec, Issues& issues) {
  const auto said = [&](std::string_view key) {
    return std::ranges::any_of(options.fields, [&](const auto& f) { return f.first->key == key; });
  };
  if (said("backward") || said("input_gradient") || said("weight_gradient")) {
    spec.backward.clear();
    spec.input_gradient.clear();
    spec.weight_gradient.clear();
    if (!said("backward")) spec.weight_gradient_share.reset();
  }
  for (const auto& [field, text] : options.fields) {
    set_pipeline_field(spec, *field, text, issues, {.pointer = option_of(field->key)});
    spec.options.emplace_back(field->key);
  }
}

/// Keys that have a mistake of their own, so that rules about them say nothing more.
std::vector<std::string> wrong_keys(const Issues& issues) {
  std::vector<std::string> out;
  for (const Issue& issue : issues.all()) {
    const std::size_t from = issue.pointer.find_first_not_of("/-");
    std::string key = from == std::string::npos ? "" : issue.pointer.substr(from);
    std::replace(key.begin(), key.end(), '-', '_');
    out.push_back(std::move(key));
  }
  return out;
}

void judge(const PipelineSpec& spec, Issues& issues) {
  validate(spec, wrong_keys(issues), issues);
  if (!issues.has_errors() && !countable(spec)) {
    Issue issue = place_of_key(spec, "forward");
    issue.rule = "digits";
    issue.must = "have fewer digits: the ticks that divide all times of the step are too many to count";
    issue.hint = "round times to microseconds";
    issues.add(std::move(issue));
  }
  place_in_pipeline_file(spec, issues);
}

/// A schedule that was asked for by name and cannot run is a mistake; of all, some may be refused.
void refuse_single(const ScheduleAnswer& answer, const PipelineSpec& spec, Issues& issues) {
  const sim::Attempt& t = answer.attempts.front();
  if (!answer.single || t.ran()) return;
  const std::string key = t.refusal && t.refusal->field == "memory" ? "memory_sets"
                          : t.refusal                               ? std::string(t.refusal->field)
                                                                    : "schedule";
  Issue issue = place_of_key(spec, key);
  issue.rule = "schedule-allows";
  issue.got = t.refusal ? std::to_string(t.refusal->got) : std::string(t.schedule->id);
  issue.must = t.refusal ? t.refusal->must + ", for " + std::string(t.schedule->id) : text(*t.fault);
  issue.hint = t.refusal ? "try " + std::to_string(t.refusal->nearest) + ", or see --schedule all"
                         : "see --schedule all";
  issues.add(std::move(issue));
  place_in_pipeline_file(spec, issues);
}

/// subject: whose pipeline it is, for the heads of pictures.
int show(const ScheduleAnswer& answer, const ScheduleOptions& options, const std::string& subject) {
  if (!write_pictures(options.pictures, answer, subject)) return ExitCode::BadInput;
  const int status = status_of(answer.verdict());
  if (options.pictures.timeline) {
    const std::string drawn = timelines(options.pictures, options.output, answer, subject);
    return write_output(drawn, options.output.file) ? status : ExitCode::BadInput;
  }
  const bool detail = options.detail || options.output.format == Format::Json;
  if (!options.output.csv) return emit(schedule_report(answer, detail), options.output);
  if (!write_output(render_csv(schedule_rows(answer)), options.output.file)) return ExitCode::BadInput;
  return status;
}

/// What may lie over the ledgers of a plan; the other numbers are theirs.
bool may_lie_over_a_plan(std::string_view key) {
  constexpr std::string_view kKeys[] = {"pair",        "transfer", "update",           "chunks",
                                        "group",       "lead",     "kept_for_weights", "memory_budget",
                                        "memory_sets", "schedule"};
  return std::ranges::find(kKeys, key) != std::end(kKeys);
}

PipelineSpec read_over_plan(const ScheduleOptions& options, Issues& issues) {
  PipelineSpec spec;
  for (const auto& [field, text] : options.fields) {
    const std::string option = option_of(field->key);
    if (may_lie_over_a_plan(field->key))
      set_pipeline_field(spec, *field, text, issues, {.pointer = option});
    else
      issues.add({.rule = "from-the-plan",
                  .pointer = option,
                  .got = text,
                  .must = "be left out: with a model and a cluster it comes from the plan",
                  .hint = field->key == "stages" ? "try --pp " + text
                                                 : "leave it out, or name a file of a pipeline"});
  }
  return spec;
}

/// A pipeline that can be simulated: more than one stage, and not too many slots.
void judge_plan(const Problem& problem, const Plan& plan, Issues& issues) {
  const std::int64_t m = micro_batches(problem, plan);
  if (plan.pp < 2 || plan.pp > kMaxPipelineStages)
    issues.add({.rule = "stages",
                .pointer = "--pp",
                .got = std::to_string(plan.pp),
                .must = "be from 2 to " + std::to_string(kMaxPipelineStages) + " for a pipeline",
                .hint = "try --pp 4"});
  if (m > kMaxPipelineMicroBatches)
    issues.add(
        {.rule = "micro-batches",
         .pointer = "--global-batch",
         .got = std::to_string(m) + " micro-batches",
         .must = "make at most " + std::to_string(kMaxPipelineMicroBatches) + " micro-batches of a step",
         .hint = "try a smaller --global-batch: beyond so many the bubble hardly changes"});
}

/// The passes of a plan are known only once it is made.
void judge_pair(const ScheduleAnswer& answer, const PipelineSpec& spec, Issues& issues) {
  if (!spec.pair) return;
  const sim::Durations& d = answer.pipeline.cut(sim::Placement::Linear).shape.durations;
  sim::Ticks most = 0;
  for (std::size_t g = 0; g < d.forward.size(); ++g)
    most = std::max(most, d.forward[g] + d.input_gradient[g] + d.weight_gradient[g]);
  refuse_slow_pair(place_of_key(spec, "pair"), *spec.pair, answer.seconds(most), issues);
}

int run_planned(ScheduleOptions& options) {
  Issues issues;
  judge_pictures(options.pictures, options.output, issues);
  if (!words_name_a_run("schedule", options.run.words, issues)) return emit(issues, options.output);
  const PipelineSpec spec = read_over_plan(options, issues);
  const auto question = Question::load(options.run.words, options.run, issues);
  const auto derivation = question && !issues.has_errors() ? question->answer(issues) : std::nullopt;
  if (!derivation) return emit(issues, options.output);
  const Trial& t = derivation->chosen;
  judge_plan(t.problem, t.plan, issues);
  if (issues.has_errors()) return emit(issues, options.output);
  const ScheduleAnswer answer = answer_planned(t.problem, t.plan, spec);
  judge_pair(answer, spec, issues);
  refuse_single(answer, spec, issues);
  judge_pictures(options.pictures, answer, issues);
  const int status = emit(issues, options.output);
  return issues.has_errors()
             ? status
             : show(answer, options, t.problem.model().name + " on " + t.problem.cluster().name);
}

int run_stated(const ScheduleOptions& options) {
  Issues issues;
  PipelineSpec spec;
  judge_pictures(options.pictures, options.output, issues);
  refuse_run_fields(options.run, issues, [](const std::string& key, const std::string& text) {
    return key == "pp" ? "try --stages " + text : std::string("leave it out");
  });
  if (!options.run.words.empty()) {
    auto loaded = load_pipeline(options.run.words.front(), issues);
    if (!loaded) return emit(issues, options.output);
    spec = std::move(*loaded);
  }
  lay_over(options, spec, issues);
  judge(spec, issues);
  if (issues.has_errors()) return emit(issues, options.output);
  const ScheduleAnswer answer = answer_stated(spec);
  refuse_single(answer, spec, issues);
  judge_pictures(options.pictures, answer, issues);
  const int status = emit(issues, options.output);
  return issues.has_errors() ? status : show(answer, options, spec.title);
}

/// One word that is neither a file nor shipped: it may be mistyped of a pipeline as of a run.
bool refuse_unknown_word(const ScheduleOptions& options, Issues& issues) {
  const auto& words = options.run.words;
  return words.size() == 1 && refuse_unknown_pipeline(words.front(), issues);
}

int run_schedule(ScheduleOptions& options) {
  const auto& words = options.run.words;
  if (Issues issues; refuse_unknown_word(options, issues)) return emit(issues, options.output);
  const bool stated = words.empty() || (words.size() == 1 && names_a_pipeline(words.front()));
  return stated ? run_stated(options) : run_planned(options);
}

}  // namespace

void add_schedule(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<ScheduleOptions>();
  CLI::App* command = app.add_subcommand("schedule",
                                         "pipeline schedules compared in time and in memory; status 1 when "
                                         "--memory-budget is given and no schedule "
                                         "that was asked for keeps every stage within it");
  add_run_options_without(*command, options->run,
                          "a PIPELINE file, or MODEL CLUSTER, or one RUN file; none: the numbers as options",
                          {"schedule"});
  for (const PipelineField& field : pipeline_fields())
    command
        ->add_option_function<std::string>(
            option_of(field.key),
            [options, &field](const std::string& text) { options->fields.emplace_back(&field, text); },
            std::string(field.help) + ", such as " + std::string(field.example))
        ->group("Pipeline (each is also a field of a PIPELINE file)")
        ->type_name("");
  command->add_flag("--detail", options->detail, "every peak with its moment and what is alive");
  add_picture_options(*command, options->pictures);
  add_output_options(*command, options->output, true);
  command->callback([options, &outcome] { outcome.status = run_schedule(*options); });
}

}  // namespace trainplan
