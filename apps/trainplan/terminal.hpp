/// Descriptors that are written to, and terminals among them.
#pragma once

#include <string>
#include <string_view>

namespace trainplan {

/// Of a file or a pipe, and the most that is used of a terminal.
inline constexpr int kUsualColumns = 100;

/// 0, or the error number.
int write_all(int fd, std::string_view text);

/// Tells on standard error why a file, or standard output when it has no name, cannot be written.
void tell_unwritten(const std::string& file, int error);

/// A terminal that can go back in its line and take colours.
bool can_redraw(int fd);

/// $COLUMNS where it is a legal number; else those of the terminal, 100 at most; else 100.
int columns_of(int fd);

}  // namespace trainplan
