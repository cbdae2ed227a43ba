/// A line on a terminal that says how far a long answer is.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace trainplan {

/// "[#####.....]  50/100 rows, 12.5 rows/s, 0:04 left", at most `columns` wide; the bar takes what is left
/// and goes first where the line is narrow.
std::string progress_line(std::size_t done, std::size_t total, double seconds, int columns);

/// Shown on standard error from one second on, ten times a second, where that is a terminal; cleared when the
/// progress ends.
class Progress {
  std::size_t total_;
  std::atomic<std::size_t> done_{0};
  std::mutex line_;
  std::condition_variable_any changed_;
  bool visible_ = false;
  std::jthread ticker_;  // last: it uses all others

  void tick(const std::stop_token& stop);
  void clear();

 public:
  explicit Progress(std::size_t total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void reach(std::size_t done) { done_ = done; }

  /// Writes to the same terminal while the line is out of the way.
  bool apart(const std::function<bool()>& write);
};

}  // namespace trainplan
