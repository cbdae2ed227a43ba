#include "trainplan/report/build.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "trainplan/trace/recorder.hpp"

using namespace trainplan;

namespace {

constexpr Formula kWrite{"write", "time to write", Source{"book", "page 3"},
                         std::array{Arg{"bytes", "K", "bytes"}, Arg{"rate", "W", "rate", 1e-9}},
                         []<class N>(Bytes<N> bytes, BytesPerSec<N> rate) { return bytes / rate; }};

/// total = (a + b) + c, a = max(x, y); write = total / W.
struct Sample {
  Explain rec;
  Sample() {
    const auto in = [&](const char* symbol, double v) {
      return rec.in<Bytes<Sym>>({symbol, "an input", "file /x"}, v);
    };
    const auto x = rec.item({"x", "X", "first"}, 1.0 * in("i", 3));
    const auto y = rec.item({"y", "Y", "second"}, 1.0 * in("j", 5));
    const auto a = rec.item({"a", "A", "the larger"}, max(x, y));
    const auto b = rec.item({"b", "B", "another"}, 2.0 * in("k", 2));
    const auto total = rec.item({"total", "T", "all"}, a + b);
    rec.apply(kWrite, {"write", "t", ""}, total, rec.in<BytesPerSec<Sym>>({"W", "rate", "file /w"}, 3));
  }
  const Ledger& ledger() const { return rec.ledger(); }
};

}  // namespace

TEST_CASE("each dimension that ledgers have is shown in a unit of its own") {
  struct Row {
    Dim dim;
    Unit unit;
  };
  const Row rows[] = {{kBytes, Unit::MemoryBoth},
                      {kSeconds, Unit::Time},
                      {kFlops, Unit::Flops},
                      {kFlops - kSeconds, Unit::FlopRate},
                      {kBytes - kSeconds, Unit::ByteRate},
                      {kParams, Unit::Params},
                      {kTokens, Unit::Tokens},
                      {kTokens - kSeconds, Unit::TokenRate},
                      {kFlops - kTokens, Unit::FlopsPerToken},
                      {kBytes - kParams, Unit::BytesPerParam},
                      {kUsd, Unit::Usd},
                      {kUsd - kSeconds, Unit::UsdPerHour},
                      {kCount, Unit::Count}};
  for (const Row& row : rows) CHECK(unit_for(row.dim) == row.unit);
}

TEST_CASE("a fact of an item has its title, value and id; a missing item gives none") {
  const Sample s;
  const Fact f = fact(s.ledger(), "a", "larger", Unit::Memory, "a note");
  CHECK(f.key == "larger");
  CHECK(f.label == "the larger");
  CHECK(f.note == "a note");
  CHECK(f.id == "a");
  CHECK(std::get<Value>(f.cell).number == 5);
  CHECK(std::get<Value>(f.cell).unit == Unit::Memory);
  Facts facts{"facts", {}};
  add_fact(facts, s.ledger(), "missing", "x", Unit::Memory);
  CHECK(facts.facts.empty());
  add_fact(facts, s.ledger(), "a", "x", Unit::Memory);
  CHECK(facts.facts.size() == 1);
}

TEST_CASE("lines go down from an item to what it is made of") {
  const Sample s;
  const auto ids = [&](int deep) {
    std::vector<std::string> out;
    for (const Line& line : lines_of(s.ledger(), "lines", "total", Unit::Memory, deep).lines)
      out.push_back(line.id);
    return out;
  };
  CHECK(ids(0) == std::vector<std::string>{"total"});
  CHECK(ids(1) == std::vector<std::string>{"total", "a", "b"});
  CHECK(ids(5) == std::vector<std::string>{"total", "a", "y", "b"});
  const Lines lines = lines_of(s.ledger(), "lines", "total", Unit::Memory, 5);
  const int depths[] = {0, 1, 2, 1};
  const double values[] = {9, 5, 5, 4};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(lines.lines[i].depth == depths[i]);
    CHECK(lines.lines[i].value.number == values[i]);
  }
  CHECK(lines.lines[0].note.empty());
  CHECK_FALSE(lines.lines[1].note.empty());  // the largest, not a sum
  CHECK(lines_of(s.ledger(), "lines", "missing", Unit::Memory, 5).lines.empty());
}

TEST_CASE("an explanation has the formula, the source and every operand") {
  const Sample s;
  const Explanation e = explanation_of(s.ledger(), *s.ledger().find("write"));
  CHECK(e.id == "write");
  CHECK(e.title == "time to write");
  CHECK(e.formula == "write");
  CHECK(e.source == "book, page 3");
  CHECK(e.symbol == "t");
  CHECK(e.number == 3);
  CHECK(e.dim == kSeconds);
  CHECK(e.unit == Unit::Time);
  CHECK(e.ledger == &s.ledger());
  REQUIRE(e.operands.size() == 2);
  CHECK(e.operands[0].symbol == "T");
  CHECK(e.operands[0].meaning == "all");
  CHECK(e.operands[0].origin == "total");
  CHECK(e.operands[0].number == 9);
  CHECK(e.operands[1].symbol == "W");
  CHECK(e.operands[1].origin == "file /w");
  CHECK(e.operands[1].dim == kBytes - kSeconds);
}

TEST_CASE("words before a sentence") {
  const Sentence s = prefixed("tp: ", {"needs ", Value{1, Unit::Memory}});
  REQUIRE(s.size() == 3);
  CHECK(std::get<std::string>(s[0]) == "tp: ");
  CHECK(std::get<std::string>(s[1]) == "needs ");
  CHECK(std::get<Value>(s[2]).number == 1);
}
