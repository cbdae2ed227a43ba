#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <utility>

#include "terminal.hpp"

namespace trainplan {
namespace {

constexpr std::chrono::milliseconds kPatience{1000}, kTick{100};
constexpr int kWidestBar = 40, kNarrowestBar = 5;

/// "4:07", "2:04:07".
std::string clock(double seconds) {
  const auto s = static_cast<std::int64_t>(std::ceil(std::min(seconds, 1e12)));
  const std::int64_t hours = s / 3600, minutes = s / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, s % 60)
                   : fmt::format("{}:{:02}", minutes, s % 60);
}

std::string bar(std::size_t done, std::size_t total, int width) {
  const auto cells = static_cast<std::size_t>(width);
  const std::size_t full = total == 0 ? cells : std::min(cells, cells * done / total);
  return "[" + std::string(full, '#') + std::string(cells - full, '.') + "] ";
}

}  // namespace

std::string progress_line(std::size_t done, std::size_t total, double seconds, int columns) {
  std::string text = fmt::format("{}/{} rows", done, total);
  if (done > 0 && seconds > 0) {
    const double rate = static_cast<double>(done) / seconds;
    text += fmt::format(", {:.{}f} rows/s, {} left", rate, rate < 99.95 ? 1 : 0,
                        clock(static_cast<double>(total - done) / rate));
  }
  const int left = std::min(columns - static_cast<int>(text.size()) - 3, kWidestBar);
  if (left >= kNarrowestBar) text.insert(0, bar(done, total, left));
  return text.substr(0, static_cast<std::size_t>(std::max(columns, 0)));
}

Progress::Progress(std::size_t total) : total_(total) {
  if (can_redraw(STDERR_FILENO)) ticker_ = std::jthread([this](const std::stop_token& stop) { tick(stop); });
}

Progress::~Progress() {
  if (ticker_.joinable()) {
    ticker_.request_stop();
    ticker_.join();
  }
  clear();
}

void Progress::tick(const std::stop_token& stop) {
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(line_);
  const auto stopped = [&] { return stop.stop_requested(); };
  for (auto pause = kPatience; !changed_.wait_for(lock, stop, pause, stopped) && !stopped(); pause = kTick) {
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    const std::string line = progress_line(done_, total_, time.count(), columns_of(STDERR_FILENO) - 1);
    write_all(STDERR_FILENO, "\r" + line + "\033[K");
    visible_ = true;
  }
}

void Progress::clear() {
  if (std::exchange(visible_, false)) write_all(STDERR_FILENO, "\r\033[K");
}

bool Progress::apart(const std::function<bool()>& write) {
  const std::lock_guard lock(line_);
  clear();
  return write();
}

}  // namespace trainplan
