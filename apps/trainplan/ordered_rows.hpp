/// Rows that are finished in any order and written in theirs.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace trainplan {

/// Rows are numbered from 0. Each is written as soon as it and all before it are there, whole and once. What
/// is written is always a prefix: rows 0 to written() - 1.
class OrderedRows {
 public:
  /// Writes a whole row; false when it could not.
  using Write = std::function<bool(std::string_view)>;

  /// most: rows that wait for an earlier one; who has a further one waits too. A caller therefore takes its
  /// rows in order and gives each that it took.
  explicit OrderedRows(Write write, std::size_t most = 4096) : write_(std::move(write)), most_(most) {}

  /// False when writing has failed or was given up.
  bool put(std::size_t index, std::string row);

  /// Nothing more is written, and nobody waits any longer.
  void give_up();

  bool stopped() const;
  std::size_t written() const;

 private:
  Write write_;
  const std::size_t most_;
  mutable std::mutex guard_;
  std::condition_variable moved_;
  std::map<std::size_t, std::string> waiting_;
  std::size_t next_ = 0;
  bool stopped_ = false;

  void write_ready();
};

}  // namespace trainplan
