#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "forecasting.hpp"
#include "output.hpp"
#include "pictures.hpp"
#include "question.hpp"
#include "trainplan/cost/forecast_rules.hpp"
#include "trainplan/io/forecast_fields.hpp"
#include "trainplan/render/curves.hpp"
#include "trainplan/report/forecast_report.hpp"
#include "trainplan/report/forecast_unknown.hpp"

namespace trainplan {

namespace {

struct ForecastOptions {
  RunOptions run;
  std::vector<std::pair<const ForecastField*, std::string>> fields;
  bool detail = false, plot = false, ascii = false;
  std::string svg;
  Theme theme = Theme::Auto;
  OutputOptions output;

  bool draws() const { return plot || !svg.empty(); }
};

/// Lays what the command line says over the forecast of the run file.
void lay_over(const ForecastOptions& options, ForecastSpec& spec, Issues& issues) {
  for (const auto& [field, text] : options.fields) {
    const std::string option = option_of(field->key);
    set_forecast_field(spec, *field, text, "option " + option, issues, {.pointer = option});
  }
}

ForecastLimits limits_of(const ForecastAnswer& a, const Trial& t, const Question& question,
                         const ForecastSpec& spec) {
  ForecastLimits out;
  out.gates = forecast_gates(t, question.run.limits, a);
  if (!a.finishes()) return out;
  if (spec.deadline && a.plan.tokens)
    out.deadline = deadline_answer(a.plan, a.first(), spec.deadline->value, replan_with(question.planner()));
  const Figure& price = a.first().figures.price;
  if (spec.budget && price.known && price.value > 0)
    out.budget = budget_answer(a.plan, a.first(), spec.budget->value);
  if (t.problem.recipe.confidence) hold_worse_end(at_worse_end(t, a), out);
  return out;
}

/// Pictures show the goodput over the interval, so there must be one.
void judge_pictures(const ForecastOptions& options, const ForecastAnswer& a, Issues& issues) {
  const std::string option = options.svg.empty() ? "--plot" : "--svg";
  if (options.plot && options.output.format != Format::Text)
    issues.add({.rule = "usage",
                .pointer = "--plot",
                .must = "stand without --format: a plot is text",
                .hint = "leave one of them out, or try --svg FILE"});
  if (!options.svg.empty() && options.svg == options.output.file)
    issues.add({.rule = "usage",
                .pointer = "--svg",
                .got = options.svg,
                .must = "be another file than that of -o",
                .hint = "try --svg waste.svg"});
  if (options.draws() && !a.finishes())
    issues.add({.rule = "usage",
                .pointer = option,
                .must = "draw a run that finishes, with a known failure rate",
                .hint = "try --gpu-mtbf 50000h"});
}

/// Writes the drawing; the plot takes the place of the report, with its status. Nothing when there is no
/// plot.
std::optional<int> draw(const ForecastOptions& options, const ForecastAnswer& a, const Trial& t,
                        Verdict verdict) {
  if (!options.draws()) return std::nullopt;
  const WasteCurve curve = waste_curve(a, t.problem.model().name + " on " + t.problem.cluster().name);
  if (!options.svg.empty() && !write_output(render_curve_svg(curve, options.theme), options.svg))
    return ExitCode::BadInput;
  if (!options.plot) return std::nullopt;
  const Style terminal = terminal_style(options.output);
  const TimelineStyle style{.colour = terminal.colour,
                            .ascii = options.ascii,
                            .columns = std::clamp(terminal.columns, kNarrowestTimeline, 100)};
  if (!write_output(render_curve(curve, style), options.output.file)) return ExitCode::BadInput;
  return status_of(verdict);
}

int answer(const ForecastOptions& options, const Question& question, const Derivation& derivation,
           const ForecastSpec& spec, Issues& issues) {
  const Trial& t = derivation.chosen;
  const auto found = answer_of(question, t, spec, issues);
  emit(issues, options.output);
  if (!found) return ExitCode::BadInput;
  const ForecastAnswer& a = *found;
  Issues drawing;
  judge_pictures(options, a, drawing);
  if (drawing.has_errors()) return emit(drawing, options.output);
  Explain rec;
  if (a.known()) long_run(rec, a.plan, a.first().figures);
  const ForecastLimits limits = limits_of(a, t, question, spec);
  const Report report = a.known()
                            ? forecast_report(t, a, limits, rec.ledger(), issues.all(), options.detail)
                            : unknown_forecast_report(t, a, unknown_run(a, spec), limits.gates, issues.all());
  if (const auto status = draw(options, a, t, report.verdict)) return *status;
  return emit(report, options.output);
}

int run_forecast(ForecastOptions& options) {
  Issues issues;
  if (!words_name_a_run("forecast", options.run.words, issues)) return emit(issues, options.output);
  const auto question = Question::load(options.run.words, options.run, issues);
  ForecastSpec alone;  // without a run the options are read all the same, for their mistakes
  ForecastSpec& spec = question ? question->run.forecast : alone;
  lay_over(options, spec, issues);
  if (!question || issues.has_errors()) {
    judge_forecast(spec, issues);
    return emit(issues, options.output);
  }
  const auto derivation = question->answer(issues);
  if (!derivation) return emit(issues, options.output);
  return answer(options, *question, *derivation, spec, issues);
}

}  // namespace

void add_forecast(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<ForecastOptions>();
  CLI::App* command = app.add_subcommand(
      "forecast",
      "a whole run: days, dollars, how often to save, what to fix first; exit status 1 when it is late");
  add_run_options(*command, options->run, "MODEL CLUSTER, or one RUN file");
  for (const ForecastField& field : forecast_fields())
    command
        ->add_option_function<std::string>(
            option_of(field.key),
            [options, &field](const std::string& text) { options->fields.emplace_back(&field, text); },
            std::string(field.help) + ", such as " + std::string(field.example))
        ->group("Whole run (also the object \"forecast\" of a run file)")
        ->type_name("");
  command->add_flag("--detail", options->detail, "every figure with its formula and inputs");
  const std::string pictures = "Pictures";
  CLI::Option* plot =
      command
          ->add_flag("--plot", options->plot, "time lost against the interval, drawn in place of the report")
          ->group(pictures);
  command->add_flag("--ascii", options->ascii, "draw with ASCII characters only")
      ->needs(plot)
      ->group(pictures);
  CLI::Option* svg = command->add_option("--svg", options->svg, "write that drawing to this file")
                         ->type_name("FILE")
                         ->group(pictures);
  add_theme_option(*command, options->theme)->needs(svg)->group(pictures);
  add_output_options(*command, options->output);
  command->callback([options, &outcome] { outcome.status = run_forecast(*options); });
}

}  // namespace trainplan
