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

/// Each row in a write of its own, so that a disk that runs full keeps every row that fitted; under the lock,
/// for order matters more than speed here.
void OrderedRows::write_ready() {
  auto row = waiting_.begin();
  for (; row != waiting_.end() && row->first == next_ && !stopped_; ++row) {
    stopped_ = !write_(row->second);
    if (!stopped_) ++next_;
  }
  waiting_.erase(waiting_.begin(), row);
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
