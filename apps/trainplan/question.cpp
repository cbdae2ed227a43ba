#include "question.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <span>
#include <system_error>

#include "trainplan/derive/legality.hpp"
#include "trainplan/derive/pinned.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/run_fields.hpp"

namespace trainplan {

namespace {

/// An option for each field that `wanted` accepts.
void add_fields(CLI::App& command, RunOptions& options, auto wanted) {
  for (const RunField& field : run_fields()) {
    if (!wanted(field.key)) continue;
    const std::string key(field.key);
    command
        .add_option_function<std::string>(
            option_of(field.key),
            [&options, key](const std::string& text) { options.fields.emplace_back(key, text); },
            std::string(field.help) + ", such as " + std::string(field.example))
        ->group("Run (" + std::string("each is also a field of a run file)"))
        ->type_name("");
  }
}

/// A word that names no file but a model: the cluster was forgotten.
bool names_a_model(const std::string& word) {
  std::error_code failed;
  for (const std::string& file : {word, word + ".json"})
    if (std::filesystem::exists(file, failed)) return false;
  Issues ignored;
  return load_model(word, ignored).has_value();
}

bool is_one_of(const std::string& word, std::span<const std::string_view> names) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return std::equal(word.begin(), word.end(), name.begin(), name.end(), same);
  });
}

}  // namespace

bool words_name_a_run(const std::string& command, const std::vector<std::string>& words, Issues& issues) {
  const std::string call = "trainplan " + command;
  const bool model_only = words.size() == 1 && names_a_model(words[0]);
  if (!words.empty() && words.size() <= 2 && !model_only) return true;
  Issue issue{.rule = "usage",
              .pointer = call,
              .must = "name a model and a cluster, or one run file",
              .hint = call + " llama70b h100x1024"};
  if (model_only) {
    issue.pointer += " " + words[0];
    issue.hint = "a cluster is missing: " + call + " " + words[0] + " h100x1024";
  }
  issues.add(std::move(issue));
  return false;
}

void add_once(Issues& issues, const Issues& more) {
  const auto repeats = [](const Issue& a, const Issue& b) {
    return a.rule == b.rule && a.file == b.file && a.line == b.line && a.pointer == b.pointer &&
           a.got == b.got;
  };
  for (const Issue& issue : more.all())
    if (std::none_of(issues.all().begin(), issues.all().end(),
                     [&](const Issue& i) { return repeats(i, issue); }))
      issues.add(issue);
}

void refuse_run_fields(const RunOptions& options, Issues& issues,
                       std::string (*hint)(const std::string& key, const std::string& text)) {
  const auto refuse = [&](const std::string& key, const std::string& text) {
    issues.add({.rule = "usage",
                .pointer = option_of(key),
                .got = text,
                .must = "stand with a model and a cluster, or a run file",
                .hint = hint(key, text)});
  };
  for (const auto& [key, text] : options.fields) refuse(key, text);
  for (const std::string& pins : options.pins) refuse("pin", pins);
}

void take_convention(RunOptions& options, bool kernels, Issues& issues) {
  const std::string* before = nullptr;
  std::vector<std::pair<std::string, std::string>> kept;
  for (auto& [key, text] : options.fields) {
    if (key == "attention" && is_one_of(text, kConventionNames)) key = "flop_convention";
    if (key == "attention" && !(kernels && is_one_of(text, kAttentionNames))) {
      issues.add({.rule = "choice",
                  .pointer = "--attention",
                  .got = text,
                  .must = std::string("be causal or full: how attention FLOPs are counted") +
                          (kernels ? "; or flash or unfused: the kernel" : ""),
                  .hint = "try full"});
      continue;
    }
    if (key == "flop_convention") {
      if (before != nullptr && *before != text)
        issues.add({.rule = "twice",
                    .pointer = "--attention",
                    .got = *before + " and " + text,
                    .must = "agree with --flop-convention",
                    .hint = "leave one of the two out"});
      before = &text;
    }
    kept.emplace_back(key, text);
  }
  options.fields = std::move(kept);
}

void add_run_options(CLI::App& command, RunOptions& options, const std::string& what) {
  add_run_options_without(command, options, what, {});
}

void add_run_options_without(CLI::App& command, RunOptions& options, const std::string& what,
                             const std::vector<std::string_view>& keys) {
  command.add_option("words", options.words, what);
  add_fields(command, options, [&](std::string_view key) {
    return key != "model" && key != "cluster" && std::find(keys.begin(), keys.end(), key) == keys.end();
  });
  command.add_option("--pin", options.pins, "several fields at once, such as tp=8,pp=16")
      ->group("Run (each is also a field of a run file)")
      ->type_name("")
      ->allow_extra_args(false);
}

void add_run_options(CLI::App& command, RunOptions& options, const std::string& what,
                     const std::vector<std::string_view>& keys) {
  command.add_option("words", options.words, what);
  add_fields(command, options,
             [&](std::string_view key) { return std::find(keys.begin(), keys.end(), key) != keys.end(); });
}

namespace {

/// Fields that already have an error of their own, so that rules about them say nothing more.
std::vector<std::string> fields_with_errors(const Issues& issues) {
  std::vector<std::string> fields;
  for (const Issue& issue : issues.all()) {
    std::string name = issue.pointer.substr(issue.pointer.find_first_not_of("/-") == std::string::npos
                                                ? 0
                                                : issue.pointer.find_first_not_of("/-"));
    std::replace(name.begin(), name.end(), '-', '_');
    fields.push_back(std::move(name));
  }
  return fields;
}

/// The run of the words and options; fields that are wrong stay unset and are reported.
std::optional<RunSpec> read_run(const std::vector<std::string>& words, const RunOptions& options,
                                Issues& issues) {
  RunSpec run;
  if (words.size() == 2) {
    run.model = words[0];
    run.cluster = words[1];
  } else {
    auto loaded = named("RUN", issues, [&] { return load_run(words[0], issues); });
    if (!loaded) return std::nullopt;
    run = std::move(*loaded);
  }
  for (const auto& [key, text] : options.fields) set_field(run, key, text, issues);
  for (const std::string& pins : options.pins) set_pins(run, pins, issues);
  return run;
}

/// True when the command line, not the run file, has the last word on a field.
bool said_on_command_line(const RunOptions& options, const std::string& field) {
  for (const auto& [key, text] : options.fields)
    if (key == field) return true;
  for (const std::string& pins : options.pins) {
    const std::string all = "," + pins;
    if (all.find("," + field + "=") != std::string::npos) return true;
  }
  return false;
}

/// Gives issues about a field of the run the place where it can be changed.
void place_in_run(const RunSpec& run, const RunOptions& options, Issues& issues) {
  for (Issue& issue : issues.all()) {
    if (issue.line > 0 || issue.file != run.origin || !issue.pointer.starts_with('/')) continue;
    const std::string field = issue.pointer.substr(1);
    if (!said_on_command_line(options, field)) continue;
    issue.file.clear();
    issue.pointer = option_of(field);
  }
  place_in_run_file(run, issues);
}

/// Broken rules of a plan, each with its place.
void report_rules(const Problem& problem, const Plan& plan, const RunSpec& run, const RunOptions& options,
                  const std::vector<std::string>& skip, Issues& issues) {
  report_broken_rules(problem, plan, run.origin, skip, issues);
  place_in_run(run, options, issues);
}

/// The degrees as pinned, the others as a derivation would begin with them: what rules are judged on.
Choice judged_choice(const Planner& planner) {
  const RunSpec& run = planner.run();
  Choice c = pinned_choice(run);
  c.tp = run.tp.value_or(largest_tp(planner));
  const bool chunks = run.vpp.value_or(1) > 1 ||
                      (run.schedule && has_chunks(*run.schedule) && *run.schedule != Schedule::Interleaved);
  c.pp = run.pp.value_or(chunks ? 2 : 1);
  c.vpp = run.vpp;
  return c;
}

}  // namespace

void require_names(const RunSpec& run, Issues& issues) {
  if (run.model.empty())
    issues.add({.rule = "missing",
                .file = run.origin,
                .pointer = "/model",
                .must = "name a model",
                .hint = "add \"model\": \"llama70b\""});
  if (run.cluster.empty())
    issues.add({.rule = "missing",
                .file = run.origin,
                .pointer = "/cluster",
                .must = "name a cluster",
                .hint = "add \"cluster\": \"h100x1024\""});
}

bool Question::load_specs(Issues& issues) {
  require_names(run, issues);
  if (!run.model.empty()) model_ = named("model", issues, [&] { return load_model(run.model, issues); });
  if (!run.cluster.empty())
    cluster_ = named("cluster", issues, [&] { return load_cluster(run.cluster, issues); });
  profile_ = named("framework", issues, [&] {
    return load_framework(run.framework.value_or(std::string(kUsualFramework)), issues);
  });
  fsdp_profile_ = load_framework(kShardedFramework, issues);
  calibration_ =
      named("calibration", issues, [&] { return load_calibration(issues, run.calibration.value_or("")); });
  return model_ && cluster_ && profile_ && fsdp_profile_ && calibration_;
}

void Question::make_planners(Issues& issues) {
  resolved_ = resolve(run, **model_, **profile_, **calibration_, issues);
  const Problem problem(*model_, *cluster_, *profile_, *calibration_, resolved_.recipe);
  planner_.emplace(problem, run, resolved_.batch_target);
  Problem fsdp = problem.with(*fsdp_profile_);
  if (!run.gradient_dtype) fsdp.recipe.gradient = (*fsdp_profile_)->default_gradient;
  if (!run.reduce_dtype) fsdp.recipe.reduce = fsdp.recipe.gradient;
  if (!run.cp_mode) fsdp.recipe.cp_mode = default_cp_mode(**fsdp_profile_);
  fsdp_.emplace(planner_->with(fsdp));
}

std::unique_ptr<Question> Question::open(const std::vector<std::string>& words, const RunOptions& options,
                                         Issues& issues) {
  auto run = read_run(words, options, issues);
  if (!run) return nullptr;
  std::unique_ptr<Question> q(new Question);
  q->options_ = &options;
  q->run = std::move(*run);
  if (!q->load_specs(issues)) return nullptr;
  q->make_planners(issues);
  return q;
}

/// The question when nothing is wrong with it; else its issues are joined by those of its broken rules.
std::unique_ptr<Question> Question::judged(std::unique_ptr<Question> q, Issues& issues) {
  if (!q || !issues.has_errors()) return q;
  const auto [problem, plan] = q->planner_->complete(judged_choice(*q->planner_));
  report_rules(problem, plan, q->run, *q->options_, fields_with_errors(issues), issues);
  return nullptr;
}

std::unique_ptr<Question> Question::load(const std::vector<std::string>& words, const RunOptions& options,
                                         Issues& issues) {
  return judged(open(words, options, issues), issues);
}

std::unique_ptr<Question> Question::of(RunSpec run, const LoadedSpecs& specs, const RunOptions& options,
                                       Issues& issues) {
  std::unique_ptr<Question> q(new Question);
  q->options_ = &options;
  q->run = std::move(run);
  q->model_ = specs.model;
  q->cluster_ = specs.cluster;
  q->profile_ = specs.profile;
  q->fsdp_profile_ = specs.fsdp_profile;
  q->calibration_ = specs.calibration;
  q->make_planners(issues);
  return judged(std::move(q), issues);
}

/// "try 8 or 16": next to the batch that was asked for, those of which some plan is legal. The rule was
/// judged on one choice of the degrees that are open.
std::string Question::legal_batches() const {
  constexpr std::int64_t kReach = 128;
  const Problem& own = planner_->problem();
  const auto works = [&](std::int64_t batch) {
    Problem p = own;
    p.recipe.global_batch = batch;
    return batch > 0 && derive(planner_->with(p), nullptr).has_value();
  };
  const auto nearest = [&](std::int64_t step) -> std::string {
    for (std::int64_t away = 1; away <= kReach; ++away)
      if (const std::int64_t batch = own.recipe.global_batch + step * away; works(batch))
        return std::to_string(batch);
    return {};
  };
  const std::string below = nearest(-1), above = nearest(1);
  if (below.empty() && above.empty()) return {};
  return "try " + below + (below.empty() || above.empty() ? "" : " or ") + above +
         ", with the dp that suits it";
}

std::optional<Derivation> Question::answer(Issues& issues, Nearby nearby) const {
  auto derivation = derive(*planner_, &*fsdp_);
  if (derivation) {
    report_warnings(derivation->chosen.problem, derivation->chosen.plan, run, issues);
    place_in_run(run, *options_, issues);
    return derivation;
  }
  const auto [problem, plan] = planner_->complete(judged_choice(*planner_));
  report_rules(problem, plan, run, *options_, {}, issues);
  const bool open = !run.dp && !(run.tp && run.pp);  // else dp is known, and the rule names the batches
  if (nearby == Nearby::Named && open)
    for (Issue& issue : issues.all())
      if (issue.rule == "batch-divides")
        if (std::string batches = legal_batches(); !batches.empty()) issue.hint = std::move(batches);
  if (!issues.has_errors())
    issues.add({.rule = "no-legal-plan",
                .file = run.origin,
                .got = title(),
                .must = "leave a combination of degrees that is legal for the batch",
                .hint = "unpin a field or change global_batch"});
  return std::nullopt;
}

}  // namespace trainplan
