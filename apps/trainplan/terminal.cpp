#include "terminal.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace trainplan {
namespace {

constexpr int kFewestColumns = 40, kMostColumns = 400;

}  // namespace

int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n > 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (n == 0) {
      return EIO;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

void tell_unwritten(const std::string& file, int error) {
  const std::string name = file.empty() ? "standard output" : file;
  write_all(STDERR_FILENO, fmt::format("trainplan: cannot write {}: {}\n", name, std::strerror(error)));
}

bool can_redraw(int fd) {
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::strcmp(terminal, "dumb") == 0;
  return !dumb && ::isatty(fd) == 1;
}

int columns_of(int fd) {
  if (const char* text = std::getenv("COLUMNS"); text != nullptr) {
    int asked = 0;
    const char* end = text + std::strlen(text);
    const auto read = std::from_chars(text, end, asked);
    if (read.ec == std::errc{} && read.ptr == end && asked >= kFewestColumns && asked <= kMostColumns)
      return asked;
  }
  struct winsize size {};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col < kFewestColumns) return kUsualColumns;
  return std::min<int>(size.ws_col, kUsualColumns);
}

}  // namespace trainplan
