#include <algorithm>
#include <cstddef>
#include <random>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "trainplan/render/render.hpp"

using namespace trainplan;

namespace {

/// Columns, for texts without wide characters.
std::size_t width(const std::string& line) {
  return static_cast<std::size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) most = std::max(most, width(line));
  return most;
}

Report report_of(Block block) {
  Report r{"test", "T", Verdict::None, {}, {}};
  r.sections.push_back(Section{"s", "", {}});
  r.sections.back().blocks.push_back(std::move(block));
  return r;
}

std::string text_of(Block block, int columns = 100) {
  const std::string text = render(report_of(std::move(block)), Format::Text, Style{.columns = columns});
  return text.substr(text.find("\n\n") + 2);
}

class Words {
  std::mt19937 random_;

 public:
  explicit Words(unsigned draw) : random_(draw) {}
  int below(int n) { return std::uniform_int_distribution<>(0, n - 1)(random_); }
  std::string word() {
    return std::string(static_cast<std::size_t>(1 + below(below(8) == 0 ? 60 : 9)),
                       static_cast<char>('a' + below(26)));
  }
  std::string text(int words) {
    std::string out;
    for (int i = below(words); i >= 0; --i) out += word() + (below(9) == 0 ? "×" : "") + (i > 0 ? " " : "");
    return out;
  }
  Cell cell() {
    switch (below(4)) {
      case 0: return text(12);
      case 1:
        return Value{std::uniform_real_distribution<>(0, 1e12)(random_),
                     below(2) == 0 ? Unit::MemoryBoth : Unit::Traffic};
      case 2: return Code{word()};
      default: return {};
    }
  }
};

}  // namespace

TEST_CASE("no line of a report is wider than the style allows") {
  for (unsigned draw = 1; draw <= 300; ++draw) {
    Words w(draw);
    Report r{"test", w.text(30), Verdict::Tight, {w.text(40), Value{1e11, Unit::MemoryBoth}}, {}};
    Section s{"s", w.text(20), {}};
    Facts facts{"f", {}};
    Table table{"t", w.text(30), {}, {}};
    Lines lines{"l", {}};
    const int columns = 1 + w.below(9);
    for (int c = 0; c < columns; ++c) table.columns.push_back({"k", w.text(4)});
    for (int i = 0; i < 4; ++i) {
      facts.facts.push_back({"k", w.text(5), w.cell(), w.text(9), w.word()});
      lines.lines.push_back({w.word(), w.text(9), {1e9, Unit::MemoryBoth}, w.below(6), w.text(4)});
      table.rows.emplace_back();
      for (int c = 0; c < columns; ++c) table.rows.back().push_back(w.cell());
    }
    s.blocks = {facts, table, lines, Notes{"n", {{w.text(60)}, {w.text(3), Value{2e9, Unit::Memory}}}}};
    r.sections.push_back(std::move(s));
    for (const int most : {60, 100}) {
      INFO(draw << " at " << most);
      REQUIRE(widest(render(r, Format::Text, Style{.columns = most})) <= static_cast<std::size_t>(most));
    }
  }
}

TEST_CASE("columns are aligned by what is seen, not by bytes") {
  const std::string text = text_of(
      Facts{"", {{"a", "×××", std::string("one"), "", ""}, {"b", "abcdef", std::string("two"), "", ""}}});
  CHECK(text == "  ×××     one\n  abcdef  two\n");
  CHECK(text_of(
            Facts{"", {{"a", "日本", std::string("x"), "", ""}, {"b", "abcd", std::string("y"), "", ""}}}) ==
        "  日本  x\n  abcd  y\n");
}

TEST_CASE("numbers of a table end in the same column") {
  const std::string text =
      text_of(Table{"t",
                    "",
                    {{"a", "sent"}},
                    {{Value{300.6e9, Unit::Traffic}}, {Value{2.147e9, Unit::Traffic}}, {Cell{}}}});
  CHECK(text == "      sent\n  --------\n  300.6 GB\n   2.15 GB\n         -\n");
}

TEST_CASE("text gives way before ids and numbers do") {
  const std::string id = "comm.dp.reduce_scatter_time";
  const Table table{"t",
                    "",
                    {{"a", "id"}, {"b", "words"}, {"c", "n"}},
                    {{Code{id}, std::string("words that take more room"), Value{45e9, Unit::MemoryBoth}}}};
  const std::string text = text_of(table, 66);
  CHECK(text.find(id + "  ") != std::string::npos);
  CHECK(text.find("41.91 GiB (45.00 GB)\n") != std::string::npos);
}

TEST_CASE("an id column stays whole though words have to be broken") {
  const std::string id = "comm.dp.gather_backward";
  const std::string text =
      text_of(Table{"t",
                    "",
                    {{"a", "what"}, {"id", "id"}, {"c", "n"}},
                    {{std::string("unbreakableword"), std::string(id), Value{45e9, Unit::MemoryBoth}}}},
              56);
  CHECK(text.find(id + " 41.91 GiB (45.00 GB)\n") != std::string::npos);
}

TEST_CASE("a wrapped title of a ledger line keeps its depth") {
  const std::string text =
      text_of(Lines{"l", {{"id", "a title that is too long for its line", {1e9, Unit::Memory}, 2, ""}}}, 36);
  CHECK(text == "      a title that is   0.93 GiB  id\n      too long for its\n      line\n");
}

TEST_CASE("notes wrap behind their bullet, and a number stays with its unit") {
  CHECK(text_of(Notes{"n", {{"the device total needs ", Value{45e9, Unit::MemoryBoth}, " of it"}}}, 40) ==
        "- the device total needs\n  41.91 GiB (45.00 GB) of it\n");
}

TEST_CASE("a long formula breaks before an operator") {
  Ledger ledger;
  Tape& tape = ledger.tape();
  Sym sum{0.0};
  for (int i = 0; i < 8; ++i) {
    const std::string name = "long_name_" + std::to_string(i);
    sum = sum +
          Sym{1e9 + i, tape.add(Node{.op = Op::Input, .value = 1e9 + i}, Label{name, "", "", kParams}), tape};
  }
  Explanation e{"e", "id",    "title",        "", "", sum.value(), kParams, Unit::Params,
                "S", &ledger, sum.node(tape), {}};
  std::istringstream lines(text_of(e, 50));
  int continued = 0;
  for (std::string line; std::getline(lines, line);) {
    CHECK(width(line) <= 50);
    if (line.starts_with("      ")) {
      ++continued;
      CHECK(line.substr(6, 2) == "+ ");
    }
  }
  CHECK(continued > 3);
}

TEST_CASE("no word of a table is cut while all columns have room for their longest word") {
  const std::string path = "configs/validation/measured.csv";
  const Table table{"t",
                    "",
                    {{"a", "what"}, {"b", "source"}, {"c", "n"}},
                    {{std::string("several words that may wrap wherever it is needed"),
                      path + ", and more words behind it", Value{45e9, Unit::MemoryBoth}}}};
  const std::string text = text_of(table, 80);
  CHECK(text.find(path) != std::string::npos);
  CHECK(text.find("wherever") != std::string::npos);
  CHECK(text.find("41.91 GiB (45.00 GB)\n") != std::string::npos);
}

TEST_CASE("a long word is cut behind a separator before any word is cut inside") {
  const Table table{"t",
                    "",
                    {{"a", "what"}, {"b", "source"}, {"c", "n"}},
                    {{std::string("unbreakable words"), std::string("configs/validation/measured_runs.csv"),
                      Value{45e9, Unit::MemoryBoth}}}};
  const std::string text = text_of(table, 56);
  CHECK(text.find("unbreakable") != std::string::npos);
  CHECK(text.find("configs/ ") != std::string::npos);
  CHECK(text.find("validation/\n") != std::string::npos);
  CHECK(text.find("runs.csv") != std::string::npos);
}

TEST_CASE("an estimate goes on two lines before a word of its row is cut") {
  const Facts facts{"",
                    {{"a", "reserved by the allocator", Estimate{{42e9, Unit::Memory}, 40e9, 50e9, 0.8},
                      "judged by Megatron-LM", "memory.reserved"}}};
  const std::string wide = text_of(facts, 120), narrow = text_of(facts, 72);
  CHECK(wide.find(" GiB (") != std::string::npos);
  CHECK(narrow.find(" GiB (") == std::string::npos);
  CHECK(narrow.find("allocator") != std::string::npos);
  CHECK(narrow.find("Megatron-LM") != std::string::npos);
}
