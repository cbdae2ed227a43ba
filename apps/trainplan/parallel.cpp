#include "parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace trainplan {

ForAll on_threads(unsigned threads) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  return [threads](std::size_t n, const std::function<void(std::size_t)>& body) {
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex guard;
    const auto work = [&] {
      try {
        for (std::size_t i = next++; i < n; i = next++) body(i);
      } catch (...) {
        const std::lock_guard lock(guard);
        if (!failure) failure = std::current_exception();
      }
    };
    {
      std::vector<std::jthread> others;
      for (unsigned i = 1; i < threads && i < n; ++i) others.emplace_back(work);
      work();
    }
    if (failure) std::rethrow_exception(failure);
  };
}

}  // namespace trainplan
