/// How the layers of a model differ from one another.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace trainplan {

/// Positions that a layer attends to: all earlier ones, a sliding window, or its own chunk.
enum class Span : std::uint8_t { All, Window, Chunk };

struct LayerKind {
  bool sparse = false;  // routed experts in place of the dense MLP
  Span span = Span::All;
  std::int64_t positions = 0;  // of the window or chunk

  friend bool operator==(const LayerKind&, const LayerKind&) = default;
};

/// Layers that attend alike.
struct SpanGroup {
  Span span = Span::All;
  std::int64_t positions = 0, layers = 0;
};
inline constexpr std::size_t kMaxSpans = 4;  // kinds of span that one model may mix

/// The kinds of all layers, in their order, counted once: every plan asks how many of a stage have experts.
class LayerPattern {
  std::vector<LayerKind> kinds_;
  std::vector<std::int64_t> sparse_before_;  // each layer, and the end
  std::array<SpanGroup, kMaxSpans> spans_{};

  void count_spans() {
    auto g = spans_.begin();
    for (const LayerKind& k : kinds_) {
      const auto takes = [&k](const SpanGroup& group) {
        return group.layers == 0 || (group.span == k.span && group.positions == k.positions);
      };
      if (g == spans_.end() || g->layers == 0 || !takes(*g)) g = std::ranges::find_if(spans_, takes);
      if (g != spans_.end()) *g = {k.span, k.positions, g->layers + 1};
    }
  }

 public:
  LayerPattern() = default;
  LayerPattern(std::vector<LayerKind> kinds) : kinds_(std::move(kinds)) {
    sparse_before_.reserve(kinds_.size() + 1);
    sparse_before_.push_back(0);
    for (const LayerKind& k : kinds_) sparse_before_.push_back(sparse_before_.back() + (k.sparse ? 1 : 0));
    count_spans();
  }

  bool empty() const { return kinds_.empty(); }
  std::size_t size() const { return kinds_.size(); }
  const LayerKind& operator[](std::size_t layer) const { return kinds_[layer]; }
  auto begin() const { return kinds_.begin(); }
  auto end() const { return kinds_.end(); }

  /// Layers with routed experts among [first, last), and of all.
  std::int64_t sparse(std::int64_t first, std::int64_t last) const {
    return sparse_before_[static_cast<std::size_t>(last)] - sparse_before_[static_cast<std::size_t>(first)];
  }
  std::int64_t sparse() const { return empty() ? 0 : sparse_before_.back(); }
  /// Layers by what they attend to; groups beyond the last are empty.
  const std::array<SpanGroup, kMaxSpans>& spans() const { return spans_; }
};

}  // namespace trainplan
