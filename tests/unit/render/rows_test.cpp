#include "trainplan/render/rows.hpp"

#include <string>
#include <vector>

#include "catch.hpp"

using namespace trainplan;

namespace {

const std::vector<RowColumn> kColumns{{{"model", "model"}},
                                      {{"step", "step"}, Unit::StepTime},
                                      {{"tokens_per_second", "rate"}, Unit::TokenRate},
                                      {{"gate", "gate"}, Unit::Memory}};
const std::vector<Cell> kCells{
    std::string("a,\"b\"|c"), Value{1.25, Unit::StepTime}, Value{5e5, Unit::TokenRate}, {}};

}  // namespace

TEST_CASE("rows have base units and the same keys as CSV and JSON lines, units of reports as Markdown") {
  CHECK(render_head(kColumns, RowFormat::Csv) == "model,step_seconds,tokens_per_second,gate_bytes\n");
  CHECK(render_row(kColumns, kCells, RowFormat::Csv) == "\"a,\"\"b\"\"|c\",1.25,500000,\n");
  CHECK(render_head(kColumns, RowFormat::JsonLines).empty());
  CHECK(
      render_row(kColumns, kCells, RowFormat::JsonLines) ==
      "{\"model\": \"a,\\\"b\\\"|c\", \"step_seconds\": 1.25, \"tokens_per_second\": 500000, \"gate_bytes\": "
      "null}\n");
  CHECK(render_head(kColumns, RowFormat::Markdown) ==
        "| model | step | rate | gate |\n|---|---:|---:|---:|\n");
  CHECK(render_row(kColumns, kCells, RowFormat::Markdown) ==
        "| a,\"b\"\\|c | 1.25 s | 500,000 token/s | |\n");
}
