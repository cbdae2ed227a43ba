/// What a search keeps: the best few plans, and the front of those that no other beats in step and memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace trainplan {

/// One evaluated plan. step: seconds. device: bytes of its fullest GPU.
struct Candidate {
  std::uint64_t index = 0;
  double step = 0, device = 0;
};

/// Faster first; of equals the one with more room, then the first of the numbering.
constexpr bool faster(const Candidate& a, const Candidate& b) {
  return std::tuple(a.step, a.device, a.index) < std::tuple(b.step, b.device, b.index);
}
/// Less memory first.
constexpr bool leaner(const Candidate& a, const Candidate& b) {
  return std::tuple(a.device, a.step, a.index) < std::tuple(b.device, b.step, b.index);
}

/// The `most` best of what was offered, best first.
class Best {
  using Before = bool (*)(const Candidate&, const Candidate&);
  std::size_t most_;
  Before before_;
  std::vector<Candidate> kept_;

 public:
  Best(std::size_t most, Before before) : most_(most), before_(before) { kept_.reserve(most + 1); }

  const std::vector<Candidate>& kept() const { return kept_; }
  bool is_full() const { return kept_.size() == most_; }
  void offer(const Candidate& c) {
    if (is_full() && (most_ == 0 || !before_(c, kept_.back()))) return;
    kept_.insert(std::ranges::upper_bound(kept_, c, before_), c);
    if (kept_.size() > most_) kept_.pop_back();
  }
  /// Without what the condition holds for.
  void drop(auto condition) { std::erase_if(kept_, condition); }
};

/// Plans of which none is both as fast and as small as another, fastest first, so that memory falls.
class Front {
  std::vector<Candidate> kept_;

 public:
  explicit Front(std::size_t expected) { kept_.reserve(expected); }

  const std::vector<Candidate>& kept() const { return kept_; }
  void offer(const Candidate& c) {
    const auto at = std::ranges::upper_bound(kept_, c, faster);
    if (at != kept_.begin() && std::prev(at)->device <= c.device) return;
    auto beaten = at;
    while (beaten != kept_.end() && beaten->device >= c.device) ++beaten;
    if (beaten == at) {
      kept_.insert(at, c);
    } else {
      *at = c;
      kept_.erase(at + 1, beaten);
    }
  }
  /// Some plan is faster than `step` and needs no more than `device`.
  bool beats(double step, double device) const {
    const auto at = std::ranges::lower_bound(kept_, step, {}, &Candidate::step);
    return at != kept_.begin() && std::prev(at)->device <= device;
  }
  void drop(auto condition) { std::erase_if(kept_, condition); }
};

}  // namespace trainplan
