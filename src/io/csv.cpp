#include "csv.hpp"

#include <utility>

#include "json.hpp"
#include "text.hpp"

namespace trainplan {
namespace {

class CsvParser {
  std::string_view text_, file_;
  Issues& issues_;
  std::size_t at_ = 0;
  int line_ = 1;

  bool done() const { return at_ >= text_.size(); }
  bool at_line_end() const { return text_[at_] == '\n' || text_[at_] == '\r'; }

  void refuse(int line, std::string_view got, std::string must, std::string hint) {
    issues_.add({.rule = "csv",
                 .file = std::string(file_),
                 .got = clipped(got),
                 .must = std::move(must),
                 .hint = std::move(hint),
                 .line = line});
  }

  /// The rest of a cell after its opening quote.
  bool read_quoted(std::string& cell) {
    const int opened = line_;
    for (++at_; !done(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
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
      refuse(line_, cell, "be followed by a comma or the end of the line",
             "write a quote inside a cell twice");
      return false;
    }
    while (!done() && text_[at_] != ',' && !at_line_end()) cell += text_[at_++];
    return true;
  }

  void skip_line_end() {
    if (!done() && text_[at_] == '\r') ++at_;
    if (!done() && text_[at_] == '\n') ++at_;
    ++line_;
  }

 public:
  CsvParser(std::string_view text, std::string_view file, Issues& issues)
      : text_(text), file_(file), issues_(issues) {}

  std::optional<std::vector<CsvRecord>> parse() {
    std::vector<CsvRecord> records;
    while (!done()) {
      CsvRecord record{line_, {}};
      while (true) {
        record.cells.emplace_back();
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
  return CsvParser(without_bom(text), file, issues).parse();
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace trainplan
