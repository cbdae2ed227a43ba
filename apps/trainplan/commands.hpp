/// The commands: each adds its subcommand, whose callback runs it and leaves the exit status in `outcome`.
#pragma once

#include "exit_code.hpp"

namespace CLI {
class App;
}

namespace trainplan {

struct Outcome {
  int status = ExitCode::Fits;
};

void add_plan(CLI::App& app, Outcome& outcome);
void add_check(CLI::App& app, Outcome& outcome);
void add_compare(CLI::App& app, Outcome& outcome);
void add_diff(CLI::App& app, Outcome& outcome);
void add_explain(CLI::App& app, Outcome& outcome);
void add_calc(CLI::App& app, Outcome& outcome);
void add_params(CLI::App& app, Outcome& outcome);
void add_validate(CLI::App& app, Outcome& outcome);
void add_calibrate(CLI::App& app, Outcome& outcome);
void add_list(CLI::App& app, Outcome& outcome);
void add_schedule(CLI::App& app, Outcome& outcome);
void add_study(CLI::App& app, Outcome& outcome);
void add_gap(CLI::App& app, Outcome& outcome);
void add_forecast(CLI::App& app, Outcome& outcome);
void add_mfu(CLI::App& app, Outcome& outcome);
void add_sweep(CLI::App& app, Outcome& outcome);

}  // namespace trainplan
