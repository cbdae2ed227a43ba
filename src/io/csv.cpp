#include "csv.hpp"

#include <utility>

#include "encoding.hpp"
#include "text.hpp"

namespace trainplan {
namespace {

class CsvParser {
  std::string_view text_, file_;
  Issues& issues_;
  std::size_t at_ = 0, line_start_ = 0;
  int line_ = 1;

  void begin_line(std::size_t at) {
    ++line_;
    line_start_ = at;
  }
  /// Columns count characters, of which a UTF-8 one begins with one byte.
  Place place() const {
    int column = 1;
    for (std::size_t i = line_start_; i < at_; ++i) column += (text_[i] & 0xc0) == 0x80 ? 0 : 1;
    return {line_, column};
  }

  bool done() const { return at_ >= text_.size(); }
  bool at_line_end() const { return text_[at_] == '\n' || text_[at_] == '\r'; }

  void refuse(Place at, std::string_view got, std::string must, std::string hint) {
    issues_.add({.rule = "csv",
                 .file = std::string(file_),
                 .got = clipped(got),
                 .must = std::move(must),
                 .hint = std::move(hint),
                 .line = at.line,
                 .column = at.column});
  }

  /// The rest of a cell after its opening quote.
  bool read_quoted(std::string& cell) {
    const Place opened = place();
    for (++at_; !done(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') begin_line(at_ + 1);
      if (c != '"') {
        cell += c;
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        cell += text_[++at_];
      } else {
        ++at_;
        return true;
      }
    }
    refuse(opened, cell, "end with the quote that it begins with", "write a quote inside a cell twice");
    return false;
  }

  bool read_cell(std::string& cell) {
    if (!done() && text_[at_] == '"') {
      if (!read_quoted(cell)) return false;
      if (done() || text_[at_] == ',' || at_line_end()) return true;
      refuse(place(), cell, "be followed by a comma or the end of the line",
             "write a quote inside a cell twice");
      return false;
    }
    while (!done() && text_[at_] != ',' && !at_line_end()) cell += text_[at_++];
    return true;
  }

  void skip_line_end() {
    if (!done() && text_[at_] == '\r') ++at_;
    if (!done() && text_[at_] == '\n') ++at_;
    begin_line(at_);
  }

 public:
  CsvParser(std::string_view text, std::string_view file, Issues& issues)
      : text_(text), file_(file), issues_(issues) {}

  std::optional<std::vector<CsvRecord>> parse() {
    std::vector<CsvRecord> records;
    while (!done()) {
      CsvRecord record{line_, {}, {}};
      while (true) {
        record.cells.emplace_back();
        record.places.push_back(place());
        if (!read_cell(record.cells.back())) return std::nullopt;
        if (done() || text_[at_] != ',') break;
        ++at_;
      }
      skip_line_end();
      if (record.cells.size() > 1 || !record.cells.front().empty()) records.push_back(std::move(record));
    }
    return records;
  }
};

}  // namespace

std::optional<std::vector<CsvRecord>> parse_csv(std::string_view text, std::string_view file,
                                                Issues& issues) {
  if (!is_utf8(text, file, issues)) return std::nullopt;
  return CsvParser(without_bom(text), file, issues).parse();
}

}  // namespace trainplan
