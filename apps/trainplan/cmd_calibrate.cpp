#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "commands.hpp"
#include "exit_code.hpp"
#include "output.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/load_measured.hpp"
#include "trainplan/io/write_calibration.hpp"
#include "trainplan/report/calibrate_report.hpp"

namespace trainplan {
namespace {

struct CalibrateOptions {
  std::string rows, overlay;
  bool all = false;
  OutputOptions output;
};

/// "fitted on ROWS.csv by trainplan calibrate"; a shipped table by its place among the configurations.
std::string source_of(const CalibrateOptions& options, const MeasuredTable& table) {
  const std::string file = options.rows == table.origin ? table.origin : "configs/validation/" + table.origin;
  return "fitted on " + file + " by `trainplan calibrate " + options.rows + (options.all ? " --all`" : "`");
}

WrittenConstant written(const FreeConstant& c, const Figure& figure) {
  const ConstantPlace place = place_of(c);
  return {place.keys, figure.value, place.dim, place.share, figure.assumed, figure.source};
}

bool differs(const Figure& a, const Figure& b) { return std::abs(a.value / b.value - 1) > 1e-9; }

/// Constants that moved have a new source; others keep theirs and are written where `keep` says so.
std::vector<WrittenConstant> overlay_of(const Calibration& before, const Calibration& after,
                                        const std::vector<FreeConstant>& constants, const std::string& source,
                                        bool keep) {
  std::vector<WrittenConstant> out;
  for (const FreeConstant& c : constants) {
    const bool moved = differs(c.in(after), c.in(before));
    if (!moved && !keep) continue;
    out.push_back(written(c, c.in(after)));
    if (!moved) continue;
    out.back().source = source;
    out.back().assumed = false;
  }
  return out;
}

/// The report on standard output, the constants in their file. A file that cannot be written is an error.
int finish(const Report& report, const CalibrateOptions& options,
           const std::vector<WrittenConstant>& constants, const std::string& about) {
  const bool fails = report.verdict == Verdict::Failed;
  if (!fails && !options.overlay.empty() &&
      !write_output(calibration_text(constants, about), options.overlay))
    return ExitCode::BadInput;
  return emit(report, options.output);
}

int fit_all(const CalibrateOptions& options, const MeasuredTable& table, Issues& issues) {
  const auto start = published_calibration(issues);
  const FittedRows rows = fitted_rows(table);
  const std::vector<FreeConstant> constants = all_constants(observations_of(rows));
  if (rows.size() <= constants.size())
    issues.add(
        {.rule = "over-fit",
         .file = table.origin,
         .got = std::to_string(rows.size()) + " rows for " + std::to_string(constants.size()) + " constants",
         .must = "have more standard rows with a step time than constants are fitted with --all",
         .hint = "leave --all out: a few constants move then"});
  const int status = emit(issues, options.output);
  if (issues.has_errors() || !start) return status;
  const Checked<Calibration> from = with_entries(*start, rows);
  const Checked<Calibration> end = fitted(from, rows);
  return finish(fit_report(rows, table, from, end, {table.origin, options.overlay}), options,
                overlay_of(*from, *end, constants, source_of(options, table), true),
                "All constants that measured steps tell, laid over the shipped ones.");
}

int fit_few(const CalibrateOptions& options, const MeasuredTable& table, Issues& issues) {
  const auto shipped = load_calibration(issues);
  const FittedRows rows = fitted_rows(table);
  if (shipped && !judge_rows(rows, *shipped, table.origin, issues)) warn_where_few(table, issues);
  const int status = emit(issues, options.output);
  if (issues.has_errors() || !shipped) return status;
  const CalibrationAnswer answer = calibrated(*shipped, rows);
  return finish(calibrate_report(answer, table, {table.origin, options.overlay}), options,
                overlay_of(*answer.before, *answer.after, answer.moved, source_of(options, table), false),
                "Constants of one's own accelerator and stack, laid over the shipped ones by --calibration.");
}

int run_calibrate(const CalibrateOptions& options) {
  Issues issues;
  std::error_code failed;
  if (!options.overlay.empty() && std::filesystem::equivalent(options.rows, options.overlay, failed))
    issues.add({.rule = "usage",
                .pointer = "--output",
                .got = options.overlay,
                .must = "be another file than the table that is read",
                .hint = "try -o ours.json"});
  const auto table = load_measured(options.rows, issues);
  if (!table || issues.has_errors()) return emit(issues, options.output);
  return options.all ? fit_all(options, *table, issues) : fit_few(options, *table, issues);
}

}  // namespace

void add_calibrate(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<CalibrateOptions>();
  CLI::App* command = app.add_subcommand(
      "calibrate", "fit the constants of one's accelerator and stack to a few measured steps");
  command->add_option("rows", options->rows, "a table of measured runs (.csv), 2 to 5 rows or more")
      ->required()
      ->type_name("ROWS");
  command
      ->add_option("-o,--output", options->overlay,
                   "write the constants to this file, for --calibration of other commands")
      ->type_name("FILE");
  command->add_flag("--all", options->all,
                    "fit all constants, from published figures: how the shipped ones were made");
  add_format_option(*command, options->output);
  command->callback([options, &outcome] { outcome.status = run_calibrate(*options); });
}

}  // namespace trainplan
