#include <fmt/format.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "commands.hpp"
#include "ordered_rows.hpp"
#include "output.hpp"
#include "parallel.hpp"
#include "progress.hpp"
#include "row_sink.hpp"
#include "sweep.hpp"
#include "trainplan/render/rows.hpp"

namespace trainplan {
namespace {

struct SweepOptions {
  RunOptions run;
  std::string file;
  RowFormat format = RowFormat::Csv;
  unsigned jobs = 0;
  bool exhaustive = false;
};

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

/// Ctrl-C asks for an end; a second one ends at once, as ever.
void listen_for_interrupt() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
}

struct SweepResult {
  std::size_t written = 0;
  bool fits = false;
};

/// Writes all rows, or those before an interruption or a failed write: rows are begun in their order, and one
/// that was begun is finished.
SweepResult write_rows(const Sweep& sweep, const SweepOptions& options, RowSink& sink) {
  const SweepTable table = sweep.table();
  const std::vector<RowColumn> columns = table.columns();
  if (!sink.write(render_head(columns, options.format))) return {};
  Progress progress(sweep.size());
  const bool shared = sink.is_terminal();
  OrderedRows rows([&](std::string_view row) {
    const auto write = [&] { return sink.write(row); };
    return shared ? progress.apart(write) : write();
  });
  std::atomic<std::size_t> next{0};
  std::atomic<bool> fits{false};
  const auto one_row = [&] {
    const std::size_t row = next++;
    const SweepAnswer answer = sweep.answer(row, table);
    if (answer.fits) fits = true;
    rows.put(row, render_row(columns, answer.cells, options.format));
    progress.reach(rows.written());
  };
  on_threads(options.jobs)(sweep.size(), [&](std::size_t) {
    if (interrupted || rows.stopped()) return;
    try {
      one_row();
    } catch (...) {
      rows.give_up();
      throw;
    }
  });
  return {rows.written(), fits};
}

int run_sweep(SweepOptions& options) {
  OutputOptions mistakes;
  if (options.format == RowFormat::JsonLines) mistakes.format = Format::Json;
  Issues issues;
  const auto sweep = Sweep::load(std::move(options.run), options.exhaustive, issues);
  const int status = emit(issues, mistakes);
  if (!sweep) return status;
  listen_for_interrupt();
  RowSink sink(options.file);
  const SweepResult result = write_rows(*sweep, options, sink);
  if (!sink.close()) return ExitCode::BadInput;
  if (result.written < sweep->size()) {
    fmt::print(stderr, "note: interrupted: {} of {} rows are written\n", result.written, sweep->size());
    return ExitCode::Interrupted;
  }
  return result.fits ? ExitCode::Fits : ExitCode::DoesNotFit;
}

/// Options are read in the order in which they were declared; rows are in the order in which they were typed.
void sort_as_typed(const CLI::App& command, RunOptions& options) {
  std::vector<std::string> typed;
  for (const CLI::Option* option : command.parse_order())
    for (const std::string& name : option->get_lnames()) typed.push_back("--" + name);
  std::ranges::stable_sort(options.fields, {}, [&](const auto& field) {
    return std::ranges::find(typed, option_of(field.first)) - typed.begin();
  });
}

void add_output(CLI::App& command, SweepOptions& options) {
  const std::map<std::string, RowFormat> formats{
      {"csv", RowFormat::Csv}, {"jsonl", RowFormat::JsonLines}, {"markdown", RowFormat::Markdown}};
  command
      .add_option_function<std::string>(
          "--format", [formats, &options](const std::string& name) { options.format = formats.at(name); },
          "csv, jsonl or markdown (default csv)")
      ->check(CLI::IsMember({"csv", "jsonl", "markdown"}))
      ->type_name("FORMAT");
  command.add_option("-o,--output", options.file, "write the rows to this file, each when it is known")
      ->type_name("FILE");
}

}  // namespace

void add_sweep(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<SweepOptions>();
  CLI::App* command = app.add_subcommand(
      "sweep",
      "a row for every combination of several values: lists (1,2,4) and ranges (1..64x2, 8k..32k+8k)");
  add_run_options(*command, options->run,
                  "MODEL CLUSTER, each one or several joined by commas, or one RUN file");
  for (const std::string key : {"model", "cluster", "gpus"})
    command
        ->add_option_function<std::string>(
            "--" + key,
            [options, key](const std::string& text) { options->run.fields.emplace_back(key, text); },
            key == "gpus" ? "the cluster with nodes for so many GPUs" : "in place of the word " + key)
        ->type_name("");
  command->add_flag("--exhaustive", options->exhaustive, "search every legal plan of each row, as plan does");
  command->add_option("--jobs", options->jobs, "rows computed at once (as many as there are cores)")
      ->check(CLI::Range(1, 1024));
  add_output(*command, *options);
  outcome.judge_options = [options](const std::string& name, Issues& issues) {
    if (name != "sweep") return;
    for (const auto& [key, text] : options->run.fields) sweep_axis(key, text, issues);
  };
  command->callback([options, command, &outcome] {
    sort_as_typed(*command, options->run);
    outcome.status = run_sweep(*options);
  });
}

}  // namespace trainplan
