/// A report is values, never formatted text; renderers walk it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "trainplan/base/value.hpp"
#include "trainplan/trace/ledger.hpp"

namespace trainplan {

/// key names the member in JSON (the renderer adds the base unit); id, if any, can be given to explain.
struct Fact {
  std::string key, label;
  Cell cell;
  std::string note, id;
};
struct Facts {
  std::string key;
  std::vector<Fact> facts;

  /// A fact that explain knows nothing of.
  void add(std::string name, std::string label, Cell cell, std::string note = {}) {
    facts.push_back({std::move(name), std::move(label), std::move(cell), std::move(note), ""});
  }
};

struct Column {
  std::string key, label;
};
struct Table {
  std::string key, title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

struct Notes {
  std::string key;
  std::vector<Sentence> sentences;
};

/// A ledger item and its parts as an indented list of lines; depth 0 is the item itself.
struct Line {
  std::string id, title;
  Value value;
  int depth = 0;
  std::string note;
};
struct Lines {
  std::string key;
  std::vector<Line> lines;
};

/// One formula of a ledger, taken apart: the expression in symbols and in numbers, its operands, its source.
struct Operand {
  std::string symbol, meaning, origin;
  double number = 0;
  Dim dim{};
};
struct Explanation {
  std::string key, id, title, formula, source;
  double number = 0;
  Dim dim{};
  std::optional<Unit> unit{};  // how the result is shown; without one as its dimension is in formulas
  std::string symbol;
  Ledger const* ledger = nullptr;  // outlives the report
  std::uint32_t expr = 0;
  std::vector<Operand> operands;
};

using Block = std::variant<Facts, Table, Notes, Lines, Explanation>;

/// Without a key the blocks are members of the report itself.
struct Section {
  std::string key, title;
  std::vector<Block> blocks;
};

/// command names the schema in JSON ("trainplan.plan/1").
struct Report {
  std::string command, title;
  Verdict verdict = Verdict::None;
  Sentence headline;
  std::vector<Section> sections;
};

}  // namespace trainplan
