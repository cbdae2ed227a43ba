/// The commands: each adds its subcommand, whose callback runs it and leaves the exit status in `outcome`.
#pragma once

#include <functional>
#include <string>

#include "exit_code.hpp"
#include "trainplan/spec/issue.hpp"

namespace CLI {
class App;
}

namespace trainplan {

/// judge_options: adds what is wrong with the options of a command that does not run since it has a word too
/// many.
struct Outcome {
  int status = ExitCode::Fits;
  std::function<void(const std::string& command, Issues&)> judge_options{};
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
