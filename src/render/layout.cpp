#include "layout.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace trainplan {
namespace {

constexpr std::string_view kNoBreak = "\u00a0";

/// The code point that begins at `at`, which moves behind it; a stray byte counts as one.
char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at++);
  const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
  char32_t c = more == 0 ? lead : lead & (0x3fu >> more);
  for (int i = 0; i < more && at < text.size() && (byte(at) & 0xc0u) == 0x80u; ++i)
    c = c << 6 | (byte(at++) & 0x3fu);
  return c;
}

struct Range {
  char32_t first, last;
};
constexpr Range kCombining[] = {{0x300, 0x36f}, {0x200b, 0x200f}, {0x20d0, 0x20f0}, {0xfe00, 0xfe0f}};
constexpr Range kWide[] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
                           {0xf900, 0xfaff}, {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                           {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};

template <std::size_t N>
bool in(char32_t c, const Range (&ranges)[N]) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [c](Range r) { return c >= r.first && c <= r.last; });
}

std::size_t columns_of(char32_t c) { return in(c, kCombining) ? 0 : in(c, kWide) ? 2 : 1; }

/// A long word may be cut behind these.
constexpr std::string_view kSeparators = "/-_";

/// The parts of a word between its separators, each with the one behind it: the widest.
std::size_t widest_part(std::string_view word) {
  std::size_t widest = 0;
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t end = std::min(word.find_first_of(kSeparators, at), word.size() - 1) + 1;
    widest = std::max(widest, display_width(word.substr(at, end - at)));
    at = end;
  }
  return widest;
}

/// Bytes of the longest front of a word that fits, at least one character. It ends behind a separator where
/// the next part fits a line, or where little is left over.
std::size_t fitting(std::string_view word, std::size_t width) {
  std::size_t at = 0, used = 0;
  while (at < word.size()) {
    std::size_t next = at;
    used += columns_of(next_code_point(word, next));
    if (used > width && at > 0) break;
    at = next;
  }
  const std::size_t separator = word.substr(0, at).find_last_of(kSeparators);
  if (separator == std::string_view::npos || at == word.size()) return at;
  const std::size_t next = word.find_first_of(kSeparators, separator + 1);
  const std::string_view part = word.substr(separator + 1, next - separator);
  return display_width(part) <= width || separator > at / 3 ? separator + 1 : at;
}

std::string with_plain_spaces(std::string text) {
  for (std::size_t at = 0; (at = text.find(kNoBreak, at)) != std::string::npos; ++at)
    text.replace(at, kNoBreak.size(), " ");
  return text;
}

std::string spaces(std::size_t n) { return std::string(n, ' '); }

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) width += columns_of(next_code_point(text, at));
  return width;
}

std::string unbroken(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c == ' ')
      out += kNoBreak;
    else
      out += c;
  return out;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  const auto finish = [&] { lines.push_back(with_plain_spaces(std::exchange(line, {}))); };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    std::string_view word = text.substr(at, end - at);
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) finish();
    while (display_width(word) > width) {
      const std::size_t cut = fitting(word, width);
      line = word.substr(0, cut);
      word.remove_prefix(cut);
      finish();
    }
    if (!word.empty()) line.append(line.empty() ? "" : " ").append(word);
    if (end < text.size() && text[end] == '\n') finish();
    at = end + 1;
  }
  if (!line.empty() || lines.empty()) finish();
  return lines;
}

std::string paragraph(std::string_view text, std::size_t columns, std::string_view first) {
  const std::size_t margin = display_width(first);
  std::string out, before(first);
  for (const std::string& line : wrap(text, columns > margin ? columns - margin : 1)) {
    out.append(before).append(line).append("\n");
    before = spaces(margin);
  }
  return out;
}

std::string inked(std::string text, Ink ink, bool colour) {
  static constexpr std::string_view kCodes[] = {"", "\033[1m", "\033[2m", "\033[32m", "\033[33m", "\033[31m"};
  if (!colour || ink == Ink::Plain || text.empty()) return text;
  return std::string(kCodes[static_cast<std::size_t>(ink)]) + text + "\033[0m";
}

namespace {

constexpr std::size_t kGap = 2, kNarrowGap = 1, kNarrowest = 8, kLeastWords = 4, kLongWord = 24;

/// How narrow a column may be, from the mildest: with every word whole; with long words cut behind
/// separators; with all words cut so; with words cut anywhere; ids and numbers whole; nothing whole.
enum Tier : std::size_t { kWholeWords, kLongParts, kParts, kCutWords, kWholeIds, kNothing, kTiers };
struct Width {
  std::size_t now = 0;  // as wide as it is
  std::array<std::size_t, kTiers> least{};
};

/// The largest of what `measure` says of a word.
template <class Measure>
std::size_t most_of_words(std::string_view text, Measure measure) {
  std::size_t most = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    most = std::max(most, measure(text.substr(at, end - at)));
    at = end + 1;
  }
  return most;
}

std::array<std::size_t, kTiers> least_of(const GridCell& cell, bool label) {
  const std::size_t all = display_width(cell.text), word = most_of_words(cell.text, display_width);
  const std::size_t part = most_of_words(cell.text, widest_part);
  const std::size_t long_part = std::max(part, std::min(word, kLongWord));
  const std::size_t cut = std::min(all, kNarrowest), few = std::min(all, kLeastWords);
  if (label) return {word, word, word, word, std::min(word, kLeastWords), 1};
  switch (cell.kind) {
    case Kind::Words: return {word, long_part, part, cut, few, 1};
    case Kind::Number: return {all, all, all, all, all, 1};
    case Kind::Id: return {word, word, word, word, word, 1};
    case Kind::Estimate: return {all, word, word, word, word, 1};
  }
  return {};
}

void widen(Width& w, const GridCell& cell, bool label) {
  const auto least = least_of(cell, label);
  w.now = std::max(w.now, display_width(cell.text) + cell.indent);
  for (std::size_t t = 0; t < kTiers; ++t) w.least[t] = std::max(w.least[t], least[t] + cell.indent);
}

std::size_t least_room(const std::vector<Width>& widths, std::size_t tier) {
  std::size_t sum = 0;
  for (const Width& w : widths) sum += std::min(w.now, w.least[tier]);
  return sum;
}

/// Takes from the widest column that can give until the row fits: under the first tier that has the room,
/// and where words have to be cut anywhere or ids to be broken, no more than it takes.
void narrow(std::vector<Width>& widths, std::size_t room) {
  std::size_t total = 0;
  for (const Width& w : widths) total += w.now;
  std::size_t tier = kWholeWords;
  while (tier < kParts && least_room(widths, tier) > room) ++tier;
  while (total > room && tier < kTiers) {
    Width* widest = nullptr;
    for (Width& w : widths)
      if (w.now > w.least[tier] && (widest == nullptr || w.now > widest->now)) widest = &w;
    if (widest == nullptr) {
      ++tier;
      continue;
    }
    --widest->now;
    --total;
  }
}

std::string aligned(const std::string& text, const GridCell& cell, std::size_t width, bool last,
                    bool colour) {
  const std::size_t used = display_width(text);
  const std::string pad = spaces(width > used ? width - used : 0);
  if (cell.kind == Kind::Number) return pad + inked(text, cell.ink, colour);
  return inked(text, cell.ink, colour) + (last ? "" : pad);
}

std::string rstripped(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

/// The lines of a cell in a column of that width.
std::vector<std::string> cell_lines(const GridCell& cell, std::size_t width) {
  std::vector<std::string> lines = wrap(cell.text, width > cell.indent ? width - cell.indent : 1);
  for (std::string& line : lines)
    if (!line.empty()) line.insert(0, cell.indent, ' ');
  return lines;
}

/// Wrapped text rarely fills its column: what is left over goes.
void tighten(std::vector<Width>& widths, const std::vector<std::vector<GridCell>>& rows) {
  std::vector<std::size_t> used(widths.size());
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c)
      for (const std::string& line : cell_lines(row[c], widths[c].now))
        used[c] = std::max(used[c], display_width(line));
  for (std::size_t c = 0; c < widths.size(); ++c) widths[c].now = used[c];
}

std::string row_text(const std::vector<GridCell>& row, const std::vector<Width>& widths, std::size_t indent,
                     std::size_t gap, bool colour) {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 1;
  for (std::size_t c = 0; c < row.size(); ++c) {
    cells.push_back(cell_lines(row[c], widths[c].now));
    height = std::max(height, cells.back().size());
  }
  std::string out;
  for (std::size_t l = 0; l < height; ++l) {
    std::string line = spaces(indent);
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string text = l < cells[c].size() ? cells[c][l] : "";
      if (c > 0 && widths[c].now > 0) line += spaces(gap);
      line += aligned(text, row[c], widths[c].now, c + 1 == row.size(), colour);
    }
    out += rstripped(std::move(line)) + "\n";
  }
  return out;
}

}  // namespace

void Grid::header(std::vector<GridCell> labels) {
  rows_.insert(rows_.begin(), std::move(labels));
  header_ = true;
}

std::string Grid::text(std::size_t columns, std::size_t indent, bool colour) const {
  std::vector<Width> widths;
  for (const auto& row : rows_) {
    if (row.size() > widths.size()) widths.resize(row.size());
    for (std::size_t c = 0; c < row.size(); ++c) widen(widths[c], row[c], header_ && &row == &rows_.front());
  }
  std::size_t shown = 0;
  for (const Width& w : widths) shown += w.now > 0 ? 1 : 0;
  const auto beside = [&](std::size_t gap) { return indent + (shown > 0 ? shown - 1 : 0) * gap; };
  const bool tight = least_room(widths, kParts) + beside(kGap) > columns;
  const std::size_t gap = tight ? kNarrowGap : kGap, gaps = beside(gap);
  narrow(widths, columns > gaps ? columns - gaps : 1);
  tighten(widths, rows_);
  std::string out;
  for (const auto& row : rows_) {
    out += row_text(row, widths, indent, gap, colour);
    if (!header_ || &row != &rows_.front()) continue;
    std::vector<GridCell> rules;
    for (const Width& w : widths) rules.push_back({std::string(w.now, '-')});
    out += row_text(rules, widths, indent, gap, colour);
  }
  return out;
}

}  // namespace trainplan
