#include "row_sink.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "terminal.hpp"

namespace trainplan {

RowSink::RowSink(std::string file) : file_(std::move(file)), fd_(STDOUT_FILENO) {
  if (file_.empty()) return;
  fd_ = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  check(fd_ < 0 ? errno : 0);
}

bool RowSink::check(int error) {
  if (error == 0 || !good_) return good_;
  good_ = false;
  tell_unwritten(file_, error);
  return false;
}

bool RowSink::is_terminal() const { return ::isatty(fd_) == 1; }

bool RowSink::write(std::string_view rows) {
  if (!good_) return false;
  if (check(write_all(fd_, rows))) {
    whole_ += rows.size();
    return true;
  }
  // A disk that ran full took a part of a row. A device cannot be cut, and need not be.
  if (!file_.empty() && ::ftruncate(fd_, static_cast<off_t>(whole_)) != 0) return false;
  return false;
}

bool RowSink::close() {
  if (fd_ < 0 || fd_ == STDOUT_FILENO) return good_;
  struct stat what {};
  const bool regular = ::fstat(fd_, &what) == 0 && S_ISREG(what.st_mode);
  if (good_ && regular) check(::fsync(fd_) == 0 ? 0 : errno);
  check(::close(std::exchange(fd_, -1)) == 0 ? 0 : errno);
  return good_;
}

}  // namespace trainplan
