#include "output.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "exit_code.hpp"
#include "terminal.hpp"

namespace trainplan {
namespace {

bool colour_on(int fd) {
  const char* off = std::getenv("NO_COLOR");
  return (off == nullptr || *off == '\0') && can_redraw(fd);
}

/// Some file systems report a full disk only at fsync or close.
int write_and_close(int fd, std::string_view text, bool sync) {
  int error = write_all(fd, text);
  if (error == 0 && sync && ::fsync(fd) != 0) error = errno;
  if (::close(fd) != 0 && error == 0) error = errno;
  return error;
}

/// Permissions of the file that is replaced, or what the umask leaves of 0666.
mode_t mode_for(const std::string& path) {
  struct stat old {};
  if (::stat(path.c_str(), &old) == 0) return old.st_mode & 07777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

/// Writes a new file beside `path` and renames it, so that a reader sees the old text or the new one.
int replace_file(const std::string& path, std::string_view text) {
  std::string temporary = path + ".XXXXXX";
  const int fd = ::mkstemp(temporary.data());
  if (fd < 0) return errno;
  int error = ::fchmod(fd, mode_for(path)) == 0 ? 0 : errno;
  const int written = write_and_close(fd, text, true);
  if (error == 0) error = written;
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) ::unlink(temporary.c_str());
  return error;
}

/// A device, a pipe or a directory is never replaced by a file.
int write_file(const std::string& file, std::string_view text) {
  std::error_code failed;
  const std::filesystem::path target = std::filesystem::canonical(file, failed);
  if (failed) return replace_file(file, text);
  if (std::filesystem::is_regular_file(target, failed)) return replace_file(target.string(), text);
  const int fd = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
  return fd < 0 ? errno : write_and_close(fd, text, false);
}

void complain(std::string_view text) { write_all(STDERR_FILENO, text); }

}  // namespace

void add_format_option(CLI::App& command, OutputOptions& options, bool with_csv) {
  const std::map<std::string, Format> formats{
      {"text", Format::Text}, {"markdown", Format::Markdown}, {"json", Format::Json}};
  std::vector<std::string> names{"text", "markdown", "json"};
  if (with_csv) names.emplace_back("csv");
  command
      .add_option_function<std::string>(
          "--format",
          [formats, &options](const std::string& name) {
            options.csv = name == "csv";
            if (!options.csv) options.format = formats.at(name);
          },
          with_csv ? "text, markdown, json or csv (default text)" : "text, markdown or json (default text)")
      ->check(CLI::IsMember(names))
      ->type_name("FORMAT");
}

void add_output_options(CLI::App& command, OutputOptions& options, bool with_csv) {
  add_format_option(command, options, with_csv);
  command.add_option("-o,--output", options.file, "write to this file instead of standard output")
      ->type_name("FILE");
}

Style terminal_style(const OutputOptions& options) {
  Style style{.colour = options.file.empty() && colour_on(STDOUT_FILENO), .columns = kUsualColumns};
  struct winsize size {};
  if (options.file.empty() && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    style.columns = size.ws_col;
  return style;
}

int status_of(Verdict verdict) {
  const bool bad = verdict == Verdict::DoesNotFit || verdict == Verdict::Failed;
  return bad ? ExitCode::DoesNotFit : ExitCode::Fits;
}

int emit(const Report& report, const OutputOptions& options) {
  const int fd = options.file.empty() ? STDOUT_FILENO : -1;
  const Style style{.colour = colour_on(fd), .columns = columns_of(fd)};
  if (!write_output(render(report, options.format, style), options.file)) return ExitCode::BadInput;
  return status_of(report.verdict);
}

int emit(const Issues& issues, const OutputOptions& options) {
  const Style style{.colour = colour_on(STDERR_FILENO), .columns = columns_of(STDERR_FILENO)};
  const Format format = options.format == Format::Json ? Format::Json : Format::Text;
  if (!issues.all().empty()) complain(render(issues, format, style));
  return issues.has_errors() ? ExitCode::BadInput : ExitCode::Fits;
}

bool write_output(std::string_view text, const std::string& file) {
  const int error = file.empty() ? write_all(STDOUT_FILENO, text) : write_file(file, text);
  if (error == 0) return true;
  tell_unwritten(file, error);
  return false;
}

}  // namespace trainplan
