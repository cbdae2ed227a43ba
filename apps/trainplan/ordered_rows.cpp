#include "ordered_rows.hpp"

namespace trainplan {

bool OrderedRows::put(std::size_t index, std::string row) {
  std::unique_lock lock(guard_);
  moved_.wait(lock, [&] { return stopped_ || index < next_ + most_; });
  if (stopped_) return false;
  waiting_.emplace(index, std::move(row));
  if (index == next_) write_ready();
  return !stopped_;
}

/// All rows that wait for nothing in one write, under the lock: order matters more than speed here.
void OrderedRows::write_ready() {
  std::string ready;
  auto end = waiting_.begin();
  std::size_t after = next_;
  for (; end != waiting_.end() && end->first == after; ++end, ++after) ready += end->second;
  waiting_.erase(waiting_.begin(), end);
  if (write_(ready))
    next_ = after;
  else
    stopped_ = true;
  moved_.notify_all();
}

void OrderedRows::give_up() {
  const std::lock_guard lock(guard_);
  stopped_ = true;
  moved_.notify_all();
}

bool OrderedRows::stopped() const {
  const std::lock_guard lock(guard_);
  return stopped_;
}

std::size_t OrderedRows::written() const {
  const std::lock_guard lock(guard_);
  return next_;
}

}  // namespace trainplan
