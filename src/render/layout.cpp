#include "layout.hpp"

#include <algorithm>
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

/// Bytes of the longest front of a word that fits, at least one character; behind a separator if there is a
/// late one.
std::size_t fitting(std::string_view word, std::size_t width) {
  std::size_t at = 0, used = 0;
  while (at < word.size()) {
    std::size_t next = at;
    used += columns_of(next_code_point(word, next));
    if (used > width && at > 0) break;
    at = next;
  }
  const std::size_t separator = word.substr(0, at).find_last_of("/-_.,");
  return separator != std::string_view::npos && separator > at / 3 ? separator + 1 : at;
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

constexpr std::size_t kGap = 2, kNarrowest = 8, kLeastWords = 4, kLongWord = 24;

/// now: as wide as it is; soft: without a broken word; hard: with long words broken; whole: ids and numbers
/// only.
struct Width {
  std::size_t now = 0, soft = 0, hard = 0, whole = 0;
};

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    longest = std::max(longest, display_width(text.substr(at, end - at)));
    at = end + 1;
  }
  return longest;
}

void widen(Width& w, const GridCell& cell, bool label) {
  const std::size_t all = display_width(cell.text), word = longest_word(cell.text);
  std::size_t soft = std::min(word, kLongWord), hard = std::min(all, kNarrowest);
  if (!label && cell.kind == Kind::Number) soft = hard = all;
  if (label || cell.kind == Kind::Id) soft = hard = word;
  w.now = std::max(w.now, all + cell.indent);
  w.soft = std::max(w.soft, soft + cell.indent);
  w.hard = std::max(w.hard, hard + cell.indent);
  const std::size_t whole = label || cell.kind == Kind::Words ? std::min(hard, kLeastWords) : hard;
  w.whole = std::max(w.whole, whole + cell.indent);
}

/// Takes from the widest column that can give without a broken word until the row fits; then words are
/// broken, and only where ids and numbers alone are too wide those too.
void narrow(std::vector<Width>& widths, std::size_t room) {
  std::size_t total = 0;
  for (const Width& w : widths) total += w.now;
  const auto widest = [&](auto least) {
    Width* best = nullptr;
    for (Width& w : widths)
      if (w.now > least(w) && (best == nullptr || w.now > best->now)) best = &w;
    return best;
  };
  for (; total > room; --total) {
    Width* w = widest([](const Width& x) { return x.soft; });
    if (w == nullptr) w = widest([](const Width& x) { return x.hard; });
    if (w == nullptr) w = widest([](const Width& x) { return x.whole; });
    if (w == nullptr) w = widest([](const Width&) { return std::size_t{1}; });
    if (w == nullptr) return;
    --w->now;
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
                     bool colour) {
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
      if (c > 0 && widths[c].now > 0) line += spaces(kGap);
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
  const std::size_t gaps = indent + (shown > 0 ? shown - 1 : 0) * kGap;
  narrow(widths, columns > gaps ? columns - gaps : 1);
  tighten(widths, rows_);
  std::string out;
  for (const auto& row : rows_) {
    out += row_text(row, widths, indent, colour);
    if (!header_ || &row != &rows_.front()) continue;
    std::vector<GridCell> rules;
    for (const Width& w : widths) rules.push_back({std::string(w.now, '-')});
    out += row_text(rules, widths, indent, colour);
  }
  return out;
}

}  // namespace trainplan
