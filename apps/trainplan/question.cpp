#include "question.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "trainplan/derive/legality.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/run_fields.hpp"

namespace trainplan {

void add_run_options(CLI::App& command, RunOptions& options, const std::string& what) {
  command.add_option("words", options.words, what);
  for (const RunField& field : run_fields()) {
    if (field.key == "model" || field.key == "cluster") continue;
    std::string name(field.key);
    std::replace(name.begin(), name.end(), '_', '-');
    const std::string key(field.key);
    command.add_option_function<std::string>(
                "--" + name, [&options, key](const std::string& text) { options.fields.emplace_back(key, text); },
                std::string(field.help) + ", such as " + std::string(field.example))
        ->group("Run (" + std::string("each is also a field of a run file)"))
        ->type_name("");
  }
  command.add_option("--pin", options.pins, "several fields at once, such as tp=8,pp=16")->group("Run (each is also a field of a run file)")->type_name("");
}

namespace {

/// Fields that already have an error of their own, so that rules about them say nothing more.
std::vector<std::string> fields_with_errors(const Issues& issues) {
  std::vector<std::string> fields;
  for (const Issue& issue : issues.all()) {
    std::string name = issue.pointer.substr(issue.pointer.find_first_not_of("/-") == std::string::npos ? 0 : issue.pointer.find_first_not_of("/-"));
    std::replace(name.begin(), name.end(), '-', '_');
    fields.push_back(std::move(name));
  }
  return fields;
}

/// The run of the words and options; fields that are wrong stay unset and are reported.
std::optional<RunSpec> read_run(const std::vector<std::string>& words, const RunOptions& options, Issues& issues) {
  RunSpec run;
  if (words.size() == 2) {
    run.model = words[0];
    run.cluster = words[1];
  } else {
    auto loaded = load_run(words[0], issues);
    if (!loaded) return std::nullopt;
    run = std::move(*loaded);
  }
  for (const auto& [key, text] : options.fields) set_field(run, key, text, issues);
  for (const std::string& pins : options.pins) set_pins(run, pins, issues);
  return run;
}

/// The degrees as pinned, everything else as small as it can be: what the rules of pinned fields are judged on.
Choice pinned_choice(const RunSpec& run) {
  Choice c;
  c.tp = run.tp.value_or(1);
  c.pp = run.pp.value_or(1);
  c.cp = run.cp.value_or(1);
  c.vpp = run.vpp;
  c.recompute = run.recompute.value_or(Recompute::None);
  c.recompute_layers = run.recompute_layers.value_or(0);
  return c;
}

/// What `load` gives; an issue without a place is about the word that named the file.
auto named(const std::string& what, Issues& issues, auto load) {
  const std::size_t first = issues.all().size();
  auto loaded = load();
  for (std::size_t i = first; i < issues.all().size(); ++i) {
    Issue& issue = issues.all()[i];
    if (issue.file.empty() && issue.pointer.empty()) issue.pointer = what;
  }
  return loaded;
}

}  // namespace

std::unique_ptr<Question> Question::load(const std::vector<std::string>& words, const RunOptions& options, Issues& issues) {
  auto run = read_run(words, options, issues);
  if (!run) return nullptr;
  std::unique_ptr<Question> q(new Question);
  q->run = std::move(*run);
  q->model_ = named("model", issues, [&] { return load_model(q->run.model, issues); });
  q->cluster_ = named("cluster", issues, [&] { return load_cluster(q->run.cluster, issues); });
  q->profile_ = named("framework", issues, [&] { return load_framework(q->run.framework.value_or("megatron-lm"), issues); });
  q->fsdp_profile_ = load_framework("torchtitan", issues);
  q->calibration_ = load_calibration(issues);
  if (!q->model_ || !q->cluster_ || !q->profile_ || !q->fsdp_profile_ || !q->calibration_) return nullptr;
  const std::vector<std::string> skip = fields_with_errors(issues);
  q->resolved_ = resolve(q->run, **q->model_, **q->profile_, **q->calibration_, issues);
  const Problem problem(*q->model_, *q->cluster_, *q->profile_, *q->calibration_, q->resolved_.recipe);
  q->planner_.emplace(problem, q->run, q->resolved_.batch_target);
  Problem fsdp = problem.with(*q->fsdp_profile_);
  if (!q->run.gradient_dtype) fsdp.recipe.gradient = (*q->fsdp_profile_)->default_gradient;
  if (!q->run.reduce_dtype) fsdp.recipe.reduce = fsdp.recipe.gradient;
  q->fsdp_.emplace(q->planner_->with(fsdp));
  if (issues.has_errors()) {
    const auto [x, plan] = q->planner_->complete(pinned_choice(q->run));
    report_broken_rules(x, plan, q->run.origin, skip, issues);
    place_in_run_file(q->run, issues);
    return nullptr;
  }
  return q;
}

std::optional<Derivation> Question::answer(Issues& issues) const {
  auto derivation = derive(*planner_, &*fsdp_);
  if (derivation) return derivation;
  const auto [problem, plan] = planner_->complete(pinned_choice(run));
  report_broken_rules(problem, plan, run.origin, {}, issues);
  place_in_run_file(run, issues);
  if (!issues.has_errors())
    issues.add({Severity::Error, "no-legal-plan", run.origin, "", title(), "no combination of degrees is legal for this model, cluster and batch", "unpin a field or change --global-batch"});
  return std::nullopt;
}

}  // namespace trainplan
