/// Where rows go: standard output, or a file that grows row by row, so that what was written stays.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainplan {

/// The first failure is told on standard error; after it nothing more is written. A file then ends with the last
/// whole row.
class RowSink {
  std::string file_;
  int fd_;
  std::size_t whole_ = 0;  // bytes of whole rows
  bool good_ = true;

  bool check(int error);

 public:
  /// Empties the file, or creates it; an empty name is standard output.
  explicit RowSink(std::string file);
  RowSink(const RowSink&) = delete;
  RowSink& operator=(const RowSink&) = delete;
  ~RowSink() { close(); }

  bool good() const { return good_; }
  bool is_terminal() const;
  /// Whole rows; false when they could not be written.
  bool write(std::string_view rows);

  /// False when anything was lost; some file systems tell of a full disk only here.
  bool close();
};

}  // namespace trainplan
