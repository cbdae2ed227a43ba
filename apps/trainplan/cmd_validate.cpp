#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "exit_code.hpp"
#include "output.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/load_measured.hpp"
#include "trainplan/io/load_validation.hpp"
#include "trainplan/report/held_out_report.hpp"
#include "trainplan/report/validate_report.hpp"

namespace trainplan {
namespace {

constexpr std::size_t kFewRows = 30;  // a table of so many is shown whole
constexpr std::size_t kLeastFitted = 100;

struct ValidateOptions {
  std::vector<std::string> files;
  std::string only, calibration;
  int held_out = 0, recalibrated = 0;
  bool ranking = false, rows = false;
  OutputOptions output;
};

struct Loaded {
  std::vector<ValidationSet> sets;
  std::vector<MeasuredTable> tables;
};

/// What --only lets through: public cases, or measured runs of which both kinds of file have some.
Loaded load(const ValidateOptions& options, Issues& issues) {
  Loaded out;
  const auto add_table = [&](std::optional<MeasuredTable> table) {
    if (table && options.only != "cases") out.tables.push_back(std::move(*table));
  };
  if (options.files.empty()) add_table(shipped_runs(issues, options.calibration));
  for (const std::string& name : options.files.empty() ? shipped_validation() : options.files) {
    if (is_measured_table(name)) {
      add_table(load_measured(name, issues, options.calibration));
      continue;
    }
    auto set = load_validation(name, issues);
    if (!set) continue;
    const bool cases = !set->cases.empty();
    if (options.only.empty() || options.only == (cases ? "cases" : "memory"))
      out.sets.push_back(std::move(*set));
  }
  return out;
}

/// Standard rows with a step time, predicted or not.
std::size_t timed_rows(const MeasuredTable& table) {
  std::size_t out = 0;
  for (const MeasuredRun& row : table.rows)
    if (row.step_time && row.standing == Standing::Standard) ++out;
  return out;
}

int emit_csv(const Table& table, const OutputOptions& output) {
  return write_output(render_csv(table), output.file) ? ExitCode::Fits : ExitCode::BadInput;
}

/// What --held-out and --recalibrated ask, of the shipped table or of one that is named.
int run_held_out(const ValidateOptions& options) {
  Issues issues;
  const auto table =
      options.files.empty() ? shipped_runs(issues) : load_measured(options.files.front(), issues);
  const auto start = published_calibration(issues), shipped = load_calibration(issues);
  if (options.files.size() > 1)
    issues.add({.rule = "usage",
                .pointer = "trainplan validate --held-out",
                .got = std::to_string(options.files.size()) + " files",
                .must = "have one table of measured runs",
                .hint = "join their rows"});
  const FittedRows rows = table ? fitted_rows(*table) : FittedRows{};
  if (table && rows.size() < kLeastFitted)
    issues.add(
        {.rule = "few-rows",
         .file = table->origin,
         .got = std::to_string(rows.size()) + " standard row" + (rows.size() == 1 ? "" : "s") +
                " with a step time",
         .must = "have at least " + std::to_string(kLeastFitted) + " to fit constants to a half of them",
         .hint = "leave the file out: the shipped table is taken"});
  const std::pair<const char*, bool> not_read[] = {{"--only", !options.only.empty()},
                                                   {"--ranking", options.ranking},
                                                   {"--rows", options.rows},
                                                   {"--calibration", !options.calibration.empty()}};
  for (const auto& [option, given] : not_read)
    if (given)
      issues.add(
          {.rule = "usage",
           .pointer = option,
           .must = "be left out with --held-out and --recalibrated, which fit constants and judge steps",
           .hint = "ask for it in a command of its own"});
  if (options.output.csv && options.held_out > 0 && options.recalibrated > 0)
    issues.add({.rule = "usage",
                .pointer = "--format csv",
                .got = "--held-out and --recalibrated",
                .must = "be asked of one of them: a CSV is one table",
                .hint = "leave --held-out or --recalibrated out, or take --format json"});
  const int status = emit(issues, options.output);
  if (issues.has_errors() || !start || !shipped) return status;
  Report r{"validate", "Errors of rows that the constants were not fitted to", Verdict::None, {}, {}};
  r.headline = {"constants fitted anew, from published figures, without the rows that are judged"};
  const auto count = static_cast<std::size_t>(options.recalibrated);
  if (options.held_out > 0) {
    const Checked<Calibration> all = options.files.empty() ? *shipped : fitted(*start, rows);
    const HeldOut errors = held_out(rows, *start, all, options.held_out);
    if (options.output.csv) return emit_csv(detail::held_out_sources(errors), options.output);
    r.sections.push_back(held_out_section(errors, rows.size(), timed_rows(*table)));
  }
  if (count > 0) {
    const std::vector<RecalibratedGroup> groups = recalibrated_groups(rows, *start, count);
    if (options.output.csv) return emit_csv(detail::recalibrated_table(groups), options.output);
    r.sections.push_back(recalibrated_section(groups, count));
  }
  return emit(r, options.output);
}

int run_validate(const ValidateOptions& options) {
  if (options.held_out > 0 || options.recalibrated > 0) return run_held_out(options);
  Issues issues;
  const Loaded loaded = load(options, issues);
  const int status = emit(issues, options.output);
  if (issues.has_errors()) return status;
  if (options.output.csv)
    return emit_csv(row_table(comparisons_of(loaded.tables), RowColumns::All), options.output);
  std::size_t rows = 0;
  for (const MeasuredTable& t : loaded.tables) rows += t.rows.size();
  const bool json = options.output.format == Format::Json;
  const MeasuredView view{.time = options.only != "memory",
                          .memory = options.only != "time",
                          .rows = json || options.rows || (rows > 0 && rows <= kFewRows),
                          .details = json,
                          .ranking = options.ranking};
  return emit(validation_report(loaded.sets, loaded.tables, view), options.output);
}

}  // namespace

void add_validate(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<ValidateOptions>();
  CLI::App* command =
      app.add_subcommand("validate", "hold the program against measured runs and public cases");
  command
      ->add_option("files", options->files,
                   "tables of measured runs (.csv) and files of rows (.json); default: all shipped")
      ->type_name("FILE");
  command->add_option("--only", options->only, "time or memory (of measured runs), or cases (public cases)")
      ->check(CLI::IsMember({"time", "memory", "cases"}))
      ->type_name("KIND");
  command->add_flag("--ranking", options->ranking,
                    "also: would it have picked the fastest of several plans?");
  command->add_flag("--rows", options->rows, "show every row of a table");
  command
      ->add_option(
          "--calibration", options->calibration,
          "constants laid over the shipped ones, for tables of measured runs; their bounds are not asked")
      ->type_name("FILE");
  command
      ->add_option("--held-out", options->held_out,
                   "errors of halves that the constants were not fitted to: number of splits, such as 6")
      ->check(CLI::Range(1, 100))
      ->type_name("N");
  command
      ->add_option("--recalibrated", options->recalibrated,
                   "what calibrate makes of so many rows of a group that was left out, such as 3")
      ->check(CLI::Range(2, 10))
      ->type_name("N");
  add_output_options(*command, options->output, true);
  command->callback([options, &outcome] { outcome.status = run_validate(*options); });
}

}  // namespace trainplan
