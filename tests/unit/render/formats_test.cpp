#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

#include "catch.hpp"
#include "sample_report.hpp"
#include "trainplan/render/render.hpp"

using namespace trainplan;

namespace {

constexpr const char* kText = R"~~(A sample
========
does not fit: the device total of 83.82 GiB (90.00 GB) exceeds the gate

Plan
----
  tensor parallel    8       within the domain  plan.tp
  step time          1.86 s
  bubble             4.7 %
  recompute          none
  sequence parallel  yes
  failures           -       unknown

- TP = 8: pp 1 needs 71.71 GiB
- a|b *bold* <tag> `tick` snake_case _x_

Memory
------
  device total                  41.91 GiB  memory.device
    model state, fullest stage  13.04 GiB  memory.state

  Each stage
  stage  id            sent
  -----  --------  --------
      0  memory|x  300.6 GB
      1  plain            -

memory.state.master  fp32 master weights  0.26 GiB (0.28 GB)
    = N_s × w_master / d
    = 2.27126e9 param × 4 B/param / 32
    = 283.908 MB
    source: zero-2020, section 5
    N_s       parameters of one GPU  2.27126e9 param  params.stage
    w_master  fp32 master weights    4 B/param        megatron-lm.json /shardings/1
    d         data parallel degree   32               plan /dp
)~~";

constexpr const char* kMarkdown = R"~~(# A sample

**does not fit**: the device total of 83.82 GiB (90.00 GB) exceeds the gate

## Plan

| item | value | note | id |
|---|---|---|---|
| tensor parallel | 8 | within the domain | `plan.tp` |
| step time | 1.86 s | | |
| bubble | 4.7 % | | |
| recompute | none | | |
| sequence parallel | yes | | |
| failures | | unknown | |

- TP = 8: pp 1 needs 71.71 GiB
- a\|b \*bold\* \<tag> \`tick\` snake_case \_x\_

## Memory

| item | value | note | id |
|---|---:|---|---|
| device total | 41.91 GiB | | `memory.device` |
| &emsp;model state | 13.04 GiB | fullest stage | `memory.state` |

**Each stage**

| stage | id | sent |
|---:|---|---:|
| 0 | `memory\|x` | 300.6 GB |
| 1 | plain | |

**`memory.state.master`** fp32 master weights: 0.26 GiB (0.28 GB)

- = `N_s × w_master / d`
- = `2.27126e9 param × 4 B/param / 32`
- = `283.908 MB`

Source: zero-2020, section 5

| symbol | meaning | value | from |
|---|---|---:|---|
| `N_s` | parameters of one GPU | 2.27126e9 param | params.stage |
| `w_master` | fp32 master weights | 4 B/param | megatron-lm.json /shardings/1 |
| `d` | data parallel degree | 32 | plan /dp |
)~~";

constexpr const char* kJson = R"~~({
  "schema": "trainplan.sample/1",
  "title": "A sample",
  "verdict": "does_not_fit",
  "headline": "the device total of 83.82 GiB (90.00 GB) exceeds the gate",
  "plan": {
    "tp": 8,
    "tp_note": "within the domain",
    "step_seconds": 1.8573,
    "bubble_ratio": 0.046875,
    "recompute": "none",
    "sp": true,
    "mtbf": null,
    "mtbf_note": "unknown",
    "reasons": [
      "TP = 8: pp 1 needs 71.71 GiB",
      "a|b *bold* <tag> `tick` snake_case _x_"
    ]
  },
  "memory": {
    "ledger": [
      {"id": "memory.device", "title": "device total", "value_bytes": 45000000000, "depth": 0},
      {"id": "memory.state", "title": "model state", "value_bytes": 14000000000, "depth": 1, "note": "fullest stage"}
    ],
    "stages": [
      {"stage": 0, "id": "memory|x", "sent_bytes": 300600000000},
      {"stage": 1, "id": "plain", "sent_bytes": null}
    ],
    "explanation": {
      "id": "memory.state.master",
      "title": "fp32 master weights",
      "value_bytes": 283907500,
      "formula_symbols": "N_s × w_master / d",
      "formula_numbers": "2.27126e9 param × 4 B/param / 32",
      "source": "zero-2020, section 5",
      "operands": [
        {"symbol": "N_s", "meaning": "parameters of one GPU", "value_params": 2271260000, "origin": "params.stage"},
        {"symbol": "w_master", "meaning": "fp32 master weights", "value_bytes_per_param": 4, "origin": "megatron-lm.json /shardings/1"},
        {"symbol": "d", "meaning": "data parallel degree", "value": 32, "origin": "plan /dp"}
      ]
    }
  }
}
)~~";

/// A report of one block.
Report report_of(Block block) {
  Report r{"test", "T", Verdict::None, {}, {}};
  Section s{"s", "", {}};
  s.blocks.push_back(std::move(block));
  r.sections.push_back(std::move(s));
  return r;
}

std::string json_of(Block block) { return render(report_of(std::move(block)), Format::Json, Style{}); }

std::string shown(Value v) {
  const std::string text = render(report_of(Notes{"n", {{v}}}), Format::Text, Style{});
  const std::size_t at = text.rfind("- ") + 2;
  return text.substr(at, text.size() - at - 1);
}

/// The text that std::to_chars gives, which reads back as the same double.
std::string shortest(double v) {
  char buffer[64];
  const bool whole = v == static_cast<double>(static_cast<long long>(v));
  const auto end = whole ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<long long>(v)).ptr
                         : std::to_chars(buffer, buffer + sizeof buffer, v).ptr;
  return {buffer, end};
}

/// Every number of facts, tables and lines.
std::vector<Value> numbers_of(const Report& r) {
  std::vector<Value> out;
  const auto add = [&](const Cell& c) {
    if (const Value* v = std::get_if<Value>(&c)) out.push_back(*v);
  };
  for (const Section& s : r.sections)
    for (const Block& b : s.blocks) {
      if (const auto* facts = std::get_if<Facts>(&b))
        for (const Fact& f : facts->facts) add(f.cell);
      if (const auto* table = std::get_if<Table>(&b))
        for (const auto& row : table->rows)
          for (const Cell& c : row) add(c);
      if (const auto* lines = std::get_if<Lines>(&b))
        for (const Line& l : lines->lines) add(l.value);
    }
  return out;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a report as text") { CHECK(render(SampleReport().report, Format::Text, Style{}) == kText); }

TEST_CASE("a report as Markdown") {
  CHECK(render(SampleReport().report, Format::Markdown, Style{}) == kMarkdown);
}

TEST_CASE("a report as JSON") { CHECK(render(SampleReport().report, Format::Json, Style{}) == kJson); }

TEST_CASE("all formats carry the same numbers") {
  const SampleReport sample;
  const std::string text = render(sample.report, Format::Text, Style{});
  const std::string markdown = render(sample.report, Format::Markdown, Style{});
  const std::string json = render(sample.report, Format::Json, Style{});
  const std::vector<Value> numbers = numbers_of(sample.report);
  REQUIRE(numbers.size() == 8);
  for (const Value& v : numbers) {
    INFO(shown(v));
    CHECK(contains(text, shown(v)));
    CHECK(contains(markdown, shown(v)));
    CHECK(contains(json, ": " + shortest(v.number)));
  }
}

TEST_CASE("colour is escape codes around the same text, and only when asked for") {
  const SampleReport sample;
  CHECK_FALSE(contains(render(sample.report, Format::Text, Style{}), "\033"));
  CHECK_FALSE(contains(render(sample.report, Format::Markdown, Style{.colour = true}), "\033"));
  CHECK_FALSE(contains(render(sample.report, Format::Json, Style{.colour = true}), "\033"));
  const std::string text = render(sample.report, Format::Text, Style{.colour = true});
  CHECK(contains(text, "\033[31mdoes not fit\033[0m: the device"));
  CHECK(contains(text, "\033[1mMemory\033[0m\n"));
  CHECK(contains(text, "\033[2mmemory.state\033[0m\n"));
}

TEST_CASE("the verdict has its own word and colour") {
  const auto headline = [](Verdict verdict, bool colour) {
    const std::string text =
        render(Report{"t", "T", verdict, {"why"}, {}}, Format::Text, Style{.colour = colour});
    return text.substr(text.find('\n', text.find('T')) + 1);
  };
  CHECK(contains(headline(Verdict::Fits, false), "fits: why\n"));
  CHECK(contains(headline(Verdict::Tight, false), "tight: why\n"));
  CHECK(contains(headline(Verdict::Fits, true), "\033[32mfits\033[0m: why\n"));
  CHECK(contains(headline(Verdict::Tight, true), "\033[33mtight\033[0m: why\n"));
  CHECK(contains(headline(Verdict::Passed, true), "\033[32mpassed\033[0m: why\n"));
  CHECK(contains(headline(Verdict::Failed, true), "\033[31mfailed\033[0m: why\n"));
  CHECK(contains(headline(Verdict::None, false), "why\n"));
  const std::string said =
      render(Report{"t", "T", Verdict::Fits, {"fits: with ease"}, {}}, Format::Text, Style{});
  CHECK(contains(said, "\nfits: with ease\n"));
}

TEST_CASE("JSON keys carry the base unit of their number") {
  const std::pair<Unit, const char*> units[] = {{Unit::Count, "x"},
                                                {Unit::Memory, "x_bytes"},
                                                {Unit::MemoryBoth, "x_bytes"},
                                                {Unit::Traffic, "x_bytes"},
                                                {Unit::Time, "x_seconds"},
                                                {Unit::Share, "x_ratio"},
                                                {Unit::Flops, "x_flops"},
                                                {Unit::FlopRate, "x_flops_per_second"},
                                                {Unit::ByteRate, "x_bytes_per_second"},
                                                {Unit::Params, "x_params"},
                                                {Unit::Tokens, "x_tokens"},
                                                {Unit::TokenRate, "x_tokens_per_second"},
                                                {Unit::FlopsPerToken, "x_flops_per_token"},
                                                {Unit::BytesPerParam, "x_bytes_per_param"},
                                                {Unit::Usd, "x_usd"},
                                                {Unit::UsdPerHour, "x_usd_per_second"},
                                                {Unit::GpuTime, "x_gpu_seconds"},
                                                {Unit::FineShare, "x_ratio"},
                                                {Unit::Energy, "x_joules"}};
  for (const auto& [unit, key] : units)
    CHECK(
        contains(json_of(Facts{"", {{"x", "", Value{3, unit}, "", ""}}}), "\"" + std::string(key) + "\": 3"));
  CHECK(contains(json_of(Facts{"", {{"run_seconds", "", Value{3, Unit::Time}, "", ""}}}),
                 "\"run_seconds\": 3"));
}

TEST_CASE("JSON numbers read back as themselves, and none is not a number") {
  const auto number = [](double v) {
    const std::string text = json_of(Facts{"", {{"x", "", Value{v, Unit::Count}, "", ""}}});
    const std::size_t at = text.find("\"x\": ") + 5;
    return text.substr(at, text.find('\n', at) - at);
  };
  CHECK(number(0.1) == "0.1");
  CHECK(number(1.0 / 3) == "0.3333333333333333");
  CHECK(number(9007199254740992.0) == "9007199254740992");
  CHECK(number(-0.0) == "0");
  CHECK(std::stod(number(3.8e25)) == 3.8e25);
  CHECK(std::strtod(number(5e-324).c_str(), nullptr) == 5e-324);
  CHECK(number(INFINITY) == "null");
  CHECK(number(NAN) == "null");
}

TEST_CASE("JSON strings are escaped, and bytes that are not UTF-8 replaced") {
  const auto text = [](std::string s) { return json_of(Facts{"", {{"x", "", std::move(s), "", ""}}}); };
  CHECK(contains(text("a\"b\\c\nd\te\x01"), R"("a\"b\\c\nd\u0009e\u0001")"));
  CHECK(contains(text("é×⁻"), "\"é×⁻\""));
  CHECK(contains(text("a\xff"
                      "b\xc3"),
                 R"("a\ufffdb\ufffd")"));
  CHECK(contains(text("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")"));
}

TEST_CASE("a cell without a number keeps the key of its column in JSON") {
  const std::string json = json_of(Table{"t", "", {{"a", "a"}}, {{Cell{}}, {Value{2, Unit::Time}}}});
  CHECK(contains(json, "{\"a_seconds\": null}"));
  CHECK(contains(json, "{\"a_seconds\": 2}"));
}

TEST_CASE("blocks with a key are members of their own") {
  Report r = report_of(Facts{"one", {{"x", "", Value{1, Unit::Count}, "", ""}}});
  r.sections.front().blocks.push_back(Facts{"two", {{"x", "", Value{2, Unit::Count}, "", ""}}});
  const std::string json = render(r, Format::Json, Style{});
  CHECK(contains(json, "\"one\": {\n      \"x\": 1\n    }"));
  CHECK(contains(json, "\"two\": {\n      \"x\": 2\n    }"));
}

TEST_CASE("control characters of a user's text do not reach the terminal") {
  const Report r = report_of(Facts{"", {{"x", "a\033[31mb", std::string("c\x07\xc2\x9b"), "d\re", ""}}});
  for (const Format format : {Format::Text, Format::Markdown}) {
    const std::string text = render(r, format, Style{});
    for (const char c : text) CHECK((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
    CHECK_FALSE(contains(text, "\xc2\x9b"));
  }
}

TEST_CASE("every row of a Markdown table has as many cells as its header, whatever the text") {
  const Report r = report_of(
      Table{"t", "", {{"a", "a|a"}, {"b", "b"}}, {{std::string("x|y\nz"), Code{"p|q"}}, {true, Cell{}}}});
  const std::string text = render(r, Format::Markdown, Style{});
  CHECK(contains(text, "| a\\|a | b |\n|---|---|\n| x\\|y z | `p\\|q` |\n| yes | |\n"));
}
