/// Where a command's answer goes: --format, -o, and what happens when it cannot be written.
#pragma once

#include <string>
#include <string_view>

#include "trainplan/render/render.hpp"

namespace CLI {
class App;
}

namespace trainplan {

/// file: empty for standard output. csv: the rows alone, in place of a format.
struct OutputOptions {
  Format format = Format::Text;
  std::string file;
  bool csv = false;
};

/// Adds --format alone, for a command whose -o is another file.
void add_format_option(CLI::App& command, OutputOptions& options, bool with_csv = false);

/// Adds --format and -o/--output; `options` must live until the command has run. with_csv: the command has
/// rows to write.
void add_output_options(CLI::App& command, OutputOptions& options, bool with_csv = false);

/// Whether standard output is a terminal for colours, and as wide as it is; 100 columns for a file or a pipe.
Style terminal_style(const OutputOptions& options);

/// DoesNotFit or Fits.
int status_of(Verdict verdict);

/// Writes the report. BadInput when it cannot be written, else DoesNotFit or Fits by the verdict.
int emit(const Report& report, const OutputOptions& options);

/// Prints the issues on standard error: an array in JSON, else text. BadInput when one is an error, else
/// Fits.
int emit(const Issues& issues, const OutputOptions& options);

/// Writes text to a file, or to standard output when `file` is empty. A failure is told on standard error.
bool write_output(std::string_view text, const std::string& file);

}  // namespace trainplan
