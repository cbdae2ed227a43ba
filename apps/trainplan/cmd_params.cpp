#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "commands.hpp"
#include "output.hpp"
#include "question.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/report/params_report.hpp"

namespace trainplan {
namespace {

struct ParamsOptions {
  std::string model;
  bool detail = false;
  OutputOptions output;
};

int run_params(const ParamsOptions& options) {
  Issues issues;
  const auto model = named("MODEL", issues, [&] { return load_model(options.model, issues); });
  const int status = emit(issues, options.output);
  if (!model) return status;
  Explain rec;
  ModelInputs<Sym> in;
  bind_model(rec, **model, in);
  const auto params = model_params(rec, in, **model, 0);
  return emit(params_report(**model, params, rec.ledger(), options.detail), options.output);
}

}  // namespace

void add_params(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<ParamsOptions>();
  CLI::App* command = app.add_subcommand("params", "count the parameters of a model, exactly");
  command->add_option("model", options->model, "a config.json or a shipped name")
      ->required()
      ->type_name("MODEL");
  command->add_flag("--detail", options->detail, "every part with its formula and inputs");
  add_output_options(*command, options->output);
  command->callback([options, &outcome] { outcome.status = run_params(*options); });
}

}  // namespace trainplan
