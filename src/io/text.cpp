#include "text.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <vector>

namespace trainplan {
namespace {

constexpr std::size_t kLongestName = 80;  // longer words are no typing mistakes; this bounds the work

/// Levenshtein distance in which two swapped neighbours count once.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string clipped(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::size_t end = std::min(text.size(), kLongest);
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u) --end;
  std::string out(text.substr(0, end));
  for (char& c : out)
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = '?';
  if (end < text.size()) out += "...";
  return out;
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.size() > kLongestName) return {};
  std::size_t least = std::max<std::size_t>(word.size() / 3, 1) + 1;
  std::string_view best;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    const std::string typed = lower(word), whole = lower(candidate);
    constexpr std::size_t kShortestStem = 3;  // "bf16" is meant to be "bf16_dense"
    const bool stem = typed.size() >= kShortestStem && whole.starts_with(typed) && whole != typed;
    const std::size_t d = stem ? 1 : distance(typed, whole);
    if (d < least && d < candidate.size()) {
      least = d;
      best = candidate;
    }
  }
  return best;
}

std::string one_of(std::span<const std::string_view> names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " or " : ", ";
    out += names[i];
  }
  return out;
}

std::string hint_for(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string_view near = nearest(word, candidates);
  return near.empty() ? "try \"" + std::string(candidates.front()) + "\"" : suggestion(word, candidates);
}

std::string suggestion(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string_view near = nearest(word, candidates);
  if (!near.empty()) return "did you mean \"" + std::string(near) + "\"?";
  constexpr std::size_t kMostListed = 14;
  if (candidates.size() <= kMostListed) return "use " + one_of(candidates);
  std::string out = "use";
  for (const std::string_view name : candidates.first(kMostListed)) out.append(" ").append(name).append(",");
  return out + " ...";
}

}  // namespace trainplan
