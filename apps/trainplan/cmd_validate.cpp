#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "exit_code.hpp"
#include "output.hpp"
#include "trainplan/io/load_measured.hpp"
#include "trainplan/io/load_validation.hpp"
#include "trainplan/report/validate_report.hpp"

namespace trainplan {
namespace {

constexpr std::size_t kFewRows = 30;  // a table of so many is shown whole

struct ValidateOptions {
  std::vector<std::string> files;
  std::string only;
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
  if (options.files.empty()) add_table(shipped_runs(issues));
  for (const std::string& name : options.files.empty() ? shipped_validation() : options.files) {
    if (is_measured_table(name)) {
      add_table(load_measured(name, issues));
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

int run_validate(const ValidateOptions& options) {
  Issues issues;
  const Loaded loaded = load(options, issues);
  const int status = emit(issues, options.output);
  if (issues.has_errors()) return status;
  if (options.output.csv)
    return write_output(render_csv(row_table(comparisons_of(loaded.tables), true)), options.output.file)
               ? ExitCode::Fits
               : ExitCode::BadInput;
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
  add_output_options(*command, options->output, true);
  command->callback([options, &outcome] { outcome.status = run_validate(*options); });
}

}  // namespace trainplan
