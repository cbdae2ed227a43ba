#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "formulas.hpp"
#include "output.hpp"
#include "trainplan/cost/model_params.hpp"
#include "trainplan/io/forecast_fields.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/load_failures.hpp"
#include "trainplan/io/load_pipeline.hpp"
#include "trainplan/io/model_families.hpp"
#include "trainplan/io/pipeline_fields.hpp"
#include "trainplan/io/run_fields.hpp"
#include "trainplan/io/shipped.hpp"
#include "trainplan/io/suggest.hpp"
#include "trainplan/report/lists.hpp"
#include "trainplan/report/schedule_list.hpp"

namespace trainplan {
namespace {

/// Calls use(name, text, file) for every shipped config of a kind.
template <class F>
void for_each_shipped(std::string_view kind, F use) {
  for (const Shipped& s : shipped())
    if (s.kind == kind)
      use(std::string(s.name), s.text, std::string(kind) + "/" + std::string(s.name) + ".json");
}

std::vector<ListedCluster> clusters(Issues& issues) {
  std::vector<ListedCluster> out;
  for_each_shipped("clusters", [&](const std::string& name, std::string_view text, const std::string& file) {
    if (auto c = load_cluster_text(text, file, issues)) out.push_back({name, **c});
  });
  return out;
}

Report list_accelerators(Issues& issues) {
  std::vector<Accelerator> out;
  for_each_shipped("accelerators", [&](const std::string&, std::string_view text, const std::string& file) {
    if (auto a = load_accelerator_text(text, file, issues)) out.push_back(std::move(*a));
  });
  return accelerator_list_report(out);
}

std::vector<FrameworkProfile> frameworks(Issues& issues) {
  std::vector<FrameworkProfile> out;
  for_each_shipped("frameworks", [&](const std::string&, std::string_view text, const std::string& file) {
    if (auto f = load_framework_text(text, file, issues)) out.push_back(**f);
  });
  return out;
}

/// Of one framework, by its name or file, or of all that are shipped.
Report list_rules(const std::string& framework, Issues& issues) {
  if (framework.empty()) return rule_list_report(rules(), frameworks(issues));
  const auto profile = load_framework(framework, issues);
  if (!profile) return {};
  return rule_list_report(rules(), {**profile}, false);
}

Report list_models(Issues& issues) {
  const std::vector<Listed> listed = list_shipped("models");
  std::vector<ListedModel> out;
  for_each_shipped("models", [&](const std::string& name, std::string_view text, const std::string& file) {
    const auto model = load_model_text(text, file, issues);
    if (!model) return;
    Eval rec;
    ModelInputs<double> in;
    bind_model(rec, **model, in);
    const double params = model_params(rec, in, **model, 0).total.num();
    std::vector<std::string> aliases;
    for (const Listed& l : listed)
      if (l.name == name) aliases = l.aliases;
    out.push_back({name, std::move(aliases), **model, params});
  });
  return model_list_report(out);
}

Report list_constants(Issues& issues) {
  const auto calibration = load_calibration(issues);
  return constant_list_report(calibration ? **calibration : Calibration{}, anchors(issues));
}

Report list_ranges(Issues& issues) {
  const auto calibration = load_calibration(issues);
  return range_list_report(calibration ? **calibration : Calibration{});
}

/// Fields of a run or of a pipeline.
template <class Fields>
std::vector<ListedField> listed_fields(const Fields& fields) {
  std::vector<ListedField> out;
  for (const auto& f : fields)
    out.push_back({std::string(f.key), std::string(f.type), std::string(f.help), std::string(f.otherwise),
                   std::string(f.example)});
  return out;
}

Report list_fields(Issues&) { return field_list_report(listed_fields(run_fields())); }

Report list_pipeline_fields(Issues&) {
  return field_list_report(listed_fields(pipeline_fields()), "Fields of a pipeline");
}

Report list_forecast_fields(Issues&) {
  return field_list_report(listed_fields(forecast_fields()), "Fields of a forecast");
}

Report list_scenarios(Issues& issues) {
  std::vector<Scenario> out;
  for_each_shipped("scenarios", [&](const std::string&, std::string_view text, const std::string& file) {
    if (auto s = load_scenario_text(text, file, issues)) out.push_back(std::move(*s));
  });
  return scenario_list_report(out);
}

Report list_model_families(Issues&) {
  std::vector<ListedFamily> out;
  for (const FamilyRow& f : list_families())
    out.push_back({f.types, f.attention, f.mlp, f.norms, f.biases, f.tables});
  return family_list_report(out);
}

Report list_runs(Issues& issues) {
  std::vector<ListedRun> out;
  const std::vector<Listed> listed = list_shipped("runs");
  for_each_shipped("runs", [&](const std::string& name, std::string_view text, const std::string& file) {
    const auto run = load_run_text(text, file, issues);
    if (!run) return;
    for (const Listed& l : listed)
      if (l.name == name) out.push_back({name, run->model, run->cluster, l.title});
  });
  return run_list_report(out);
}

Report list_schedules(Issues& issues) {
  std::vector<ListedPipeline> out;
  const std::vector<Listed> listed = list_shipped("schedules");
  for_each_shipped("schedules", [&](const std::string& name, std::string_view text, const std::string& file) {
    const auto spec = load_pipeline_text(text, file, issues);
    if (!spec) return;
    for (const Listed& l : listed)
      if (l.name == name)
        out.push_back({name, l.title, spec->stages.value_or(0), spec->micro_batches.value_or(0)});
  });
  return schedule_list_report(out);
}

using Lister = std::function<Report(Issues&)>;

const std::map<std::string, Lister>& listers() {
  static const std::map<std::string, Lister> all{
      {"models", list_models},
      {"clusters", [](Issues& issues) { return cluster_list_report(clusters(issues)); }},
      {"accelerators", list_accelerators},
      {"failures", [](Issues& issues) { return failure_list_report(failure_records(issues)); }},
      {"families", list_model_families},
      {"forecast-fields", list_forecast_fields},
      {"frameworks", [](Issues& issues) { return framework_list_report(frameworks(issues)); }},
      {"formulas", [](Issues&) { return formula_list_report(formula_chapters(), true); }},
      {"fields", list_fields},
      {"pipeline-fields", list_pipeline_fields},
      {"rules", [](Issues& issues) { return list_rules("", issues); }},
      {"constants", list_constants},
      {"ranges", list_ranges},
      {"runs", list_runs},
      {"scenarios", list_scenarios},
      {"schedules", list_schedules},
  };
  return all;
}

Issue unknown_kind(const std::string& what) {
  std::vector<std::string_view> names;
  for (const auto& [name, lister] : listers()) names.push_back(name);
  return {.rule = "unknown-list",
          .pointer = "WHAT",
          .got = what,
          .must = "be something that can be listed",
          .hint = suggestion(what, names)};
}

int run_list(const std::string& what, const std::string& framework, const OutputOptions& output) {
  Issues issues;
  const auto lister = listers().find(what);
  if (lister == listers().end()) {
    issues.add(unknown_kind(what));
    return emit(issues, output);
  }
  if (!framework.empty() && what != "rules") {
    issues.add({.rule = "usage",
                .pointer = "--framework",
                .got = framework,
                .must = "stand with rules, which differ by framework",
                .hint = "trainplan list rules --framework " + framework});
    return emit(issues, output);
  }
  const Report report = framework.empty() ? lister->second(issues) : list_rules(framework, issues);
  if (issues.has_errors()) return emit(issues, output);  // warnings belong to whoever plans with a model
  return emit(report, output);
}

}  // namespace

void add_list(CLI::App& app, Outcome& outcome) {
  struct Options {
    std::string what, framework;
    OutputOptions output;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("list", "list what is shipped");
  std::string names;
  for (const auto& [name, lister] : listers()) names.append(names.empty() ? "" : ", ").append(name);
  command->add_option("what", options->what, names)->required()->type_name("WHAT");
  command->add_option("--framework", options->framework, "with rules: those of one framework profile")
      ->type_name("NAME");
  add_output_options(*command, options->output);
  command->callback(
      [options, &outcome] { outcome.status = run_list(options->what, options->framework, options->output); });
}

}  // namespace trainplan
