#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "commands.hpp"
#include "output.hpp"
#include "trainplan/io/suggest.hpp"

namespace {

using namespace trainplan;

/// Names of the options of a command, or of the commands, that a mistyped word may have meant.
std::vector<std::string> known_names(const CLI::App& app, bool options) {
  std::vector<std::string> names;
  if (!options)
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
      names.push_back(sub->get_name());
  else
    for (const CLI::Option* option : app.get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// The command that was given, the innermost: `study failures` in `trainplan study failures`.
const CLI::App& command_given(const CLI::App& app) {
  const auto given = app.get_subcommands();
  return given.empty() ? app : command_given(*given.back());
}

/// "trainplan study failures".
std::string whole_name(const CLI::App& command) {
  const CLI::App* above = command.get_parent();
  return above == nullptr ? command.get_name() : whole_name(*above) + " " + command.get_name();
}

/// "checkpoint, reshard or failures".
std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i)
    out += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return out;
}

/// Every word that nothing on the command line takes, each with the name that it may stand for.
Issues unexpected_words(const CLI::App& app) {
  const CLI::App& command = command_given(app);
  const std::string name = whole_name(command);
  const bool asks_command = command.get_parent() == nullptr || !known_names(command, false).empty();
  Issues issues;
  for (const std::string& word : app.remaining(true)) {
    if (asks_command && !issues.all().empty()) break;  // what follows belongs to a command not known
    const bool option = word.starts_with('-');
    const std::vector<std::string> known = known_names(command, option);
    const std::vector<std::string_view> views(known.begin(), known.end());
    const std::string_view near = nearest(word.substr(0, word.find('=')), views);
    Issue issue{.rule = "usage", .pointer = word, .must = "be an argument of " + name};
    if (option) issue.must = "be an option of " + name;
    if (!option && asks_command)
      issue.must = command.get_parent() == nullptr ? "be a command of " + name
                                                   : "be a topic of " + name + ": " + listed(known);
    issue.hint = near.empty() ? "see " + name + " --help" : "did you mean \"" + std::string(near) + "\"?";
    issues.add(std::move(issue));
  }
  return issues;
}

/// The format that was asked for, read from the words themselves: the options are not parsed.
Format format_asked(const std::vector<std::string>& words) {
  Format format = Format::Text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool json = words[i].starts_with("--format=json") ||
                      (words[i] == "--format" && i + 1 < words.size() && words[i + 1].starts_with("json"));
    if (json) format = Format::Json;
    if (!json && words[i].starts_with("--format")) format = Format::Text;
  }
  return format;
}

/// What the parser of options has to say, in the words of this program.
Issue usage_issue(const std::string& name, const CLI::ParseError& error) {
  const std::string said = error.what(), required = " is required", missing = "missing";
  Issue issue{.rule = "usage", .pointer = name, .hint = "see " + name + " --help"};
  const std::string word = said.substr(0, said.find(said.ends_with(required) ? " " : ":"));
  if (said.ends_with(required) && word.size() + required.size() == said.size()) {
    issue.must = "be followed by a word: " + word;
  } else if (said.ends_with(missing) && word.starts_with("-")) {
    issue.pointer += " " + word;
    issue.must = "be followed by a value";
  } else {
    issue.pointer += ": " + said;
  }
  return issue;
}

int usage_error(const CLI::App& app, const CLI::ParseError& error, Format format, const Outcome& outcome) {
  Issues issues = unexpected_words(app);
  // A mistyped command leaves the command missing: that is one mistake, not two.
  const bool about_words = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                           dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (!about_words || issues.all().empty())
    issues.add(usage_issue(whole_name(command_given(app)), error));
  else if (outcome.judge_options)
    outcome.judge_options(command_given(app).get_name(), issues);
  return emit(issues, OutputOptions{.format = format, .file = {}, .csv = false});
}

int run(int argc, char** argv) {
  CLI::App app{"Plans for training large models on clusters of accelerators, every number explained.",
               "trainplan"};
  app.set_version_flag("--version", std::string("trainplan ") + TRAINPLAN_VERSION,
                       "print the version and exit");
  app.set_help_flag("-h,--help", "print this help and exit");
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  Outcome outcome;
  add_plan(app, outcome);
  add_sweep(app, outcome);
  add_check(app, outcome);
  add_diff(app, outcome);
  add_compare(app, outcome);
  add_explain(app, outcome);
  add_mfu(app, outcome);
  add_gap(app, outcome);
  add_forecast(app, outcome);
  add_schedule(app, outcome);
  add_study(app, outcome);
  add_calc(app, outcome);
  add_params(app, outcome);
  add_validate(app, outcome);
  add_calibrate(app, outcome);
  add_list(app, outcome);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return write_output(app.help(), {}) ? ExitCode::Fits : ExitCode::BadInput;
  } catch (const CLI::CallForVersion& version) {
    return write_output(std::string(version.what()) + "\n", {}) ? ExitCode::Fits : ExitCode::BadInput;
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error, format_asked({argv, argv + argc}), outcome);
  }
  return outcome.status;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is then an error of write(), reported like a full disk
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "trainplan: out of memory\n");
  } catch (const std::exception& defect) {
    fmt::print(stderr, "trainplan: internal error, please report it: {}\n", defect.what());
  }
  return trainplan::ExitCode::Defect;
}
