/// Text in columns of a terminal: display width, wrapping, and a grid of aligned cells.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trainplan {

/// Columns that a UTF-8 text takes.
std::size_t display_width(std::string_view text);

/// Keeps a number and its unit on one line: spaces become no-break spaces, which wrap() prints as spaces.
std::string unbroken(std::string_view text);

/// Lines of at most `width` columns, broken at spaces; a longer word is broken where it must be. At least one
/// line.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// A paragraph: `first` before its first line, as many spaces before the others. Ends in a newline.
std::string paragraph(std::string_view text, std::size_t columns, std::string_view first);

enum class Ink : unsigned char { Plain, Bold, Dim, Green, Yellow, Red };

/// The text in that ink, when there is colour at all.
std::string inked(std::string text, Ink ink, bool colour);

/// Words wrap, and where nothing else helps even within a word. Numbers are right-aligned and stay whole. An
/// id wraps between words only; so does an estimate, between its number and its range, but only where words
/// would have to be cut.
enum class Kind : unsigned char { Words, Number, Id, Estimate };

struct GridCell {
  std::string text{};
  Kind kind = Kind::Words;
  Ink ink = Ink::Plain;
  std::size_t indent = 0;  // before every line of the cell
};

/// Rows of cells in aligned columns; too wide ones are made narrower and their text wraps.
class Grid {
  std::vector<std::vector<GridCell>> rows_;
  bool header_ = false;

 public:
  /// A row of labels, underlined.
  void header(std::vector<GridCell> labels);
  void row(std::vector<GridCell> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  std::string text(std::size_t columns, std::size_t indent, bool colour) const;
};

}  // namespace trainplan
