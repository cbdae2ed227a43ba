#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "output.hpp"
#include "trainplan/io/load_validation.hpp"
#include "trainplan/report/validation.hpp"

namespace trainplan {
namespace {

struct ValidateOptions {
  std::vector<std::string> files;
  std::string only;
  OutputOptions output;
};

int run_validate(const ValidateOptions& options) {
  Issues issues;
  std::vector<ValidationSet> sets;
  for (const std::string& name : options.files.empty() ? shipped_validation() : options.files) {
    auto set = load_validation(name, issues);
    if (!set) continue;
    const bool cases = !set->cases.empty();
    if (options.only.empty() || (options.only == "cases") == cases) sets.push_back(std::move(*set));
  }
  const int status = emit(issues, options.output);
  if (issues.has_errors()) return status;
  return emit(validation_report(sets), options.output);
}

}  // namespace

void add_validate(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<ValidateOptions>();
  CLI::App* command =
      app.add_subcommand("validate", "hold the program against measured runs and public cases");
  command->add_option("files", options->files, "files of rows (default: all shipped)")->type_name("FILE");
  command->add_option("--only", options->only, "memory (measured runs) or cases (public cases)")
      ->check(CLI::IsMember({"memory", "cases"}))
      ->type_name("KIND");
  add_output_options(*command, options->output);
  command->callback([options, &outcome] { outcome.status = run_validate(*options); });
}

}  // namespace trainplan
