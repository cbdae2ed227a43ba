#include "../../../src/io/csv.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "found.hpp"

using namespace trainplan;

namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(const std::string& text) {
  Issues issues;
  const auto records = parse_csv(text, "t.csv", issues);
  REQUIRE(records);
  Rows rows;
  for (const CsvRecord& r : *records) rows.push_back(r.cells);
  return rows;
}

Issue mistake(const std::string& text) {
  Issues issues;
  CHECK_FALSE(parse_csv(text, "t.csv", issues));
  CHECK(complete(issues));
  return issues.all().at(0);
}

}  // namespace

TEST_CASE("cells are separated by commas, rows by line ends of any system") {
  CHECK(rows_of("a,b\n1,2\n") == Rows{{"a", "b"}, {"1", "2"}});
  CHECK(rows_of("a,b\r\n1,2\r\n") == Rows{{"a", "b"}, {"1", "2"}});
  CHECK(rows_of("a,b\r1,2") == Rows{{"a", "b"}, {"1", "2"}});
  CHECK(rows_of("a,,\n\n,b,") == Rows{{"a", "", ""}, {"", "b", ""}});
  CHECK(rows_of("\xEF\xBB\xBF"
                "a,b") == Rows{{"a", "b"}});
  CHECK(rows_of("").empty());
}

TEST_CASE("quoted cells hold commas, quotes and line ends") {
  CHECK(rows_of("\"a, b\",c\n") == Rows{{"a, b", "c"}});
  CHECK(rows_of("\"say \"\"no\"\"\",c") == Rows{{"say \"no\"", "c"}});
  CHECK(rows_of("\"two\nlines\",c\nd,e") == Rows{{"two\nlines", "c"}, {"d", "e"}});
  CHECK(rows_of("\"\",x") == Rows{{"", "x"}});
  CHECK(rows_of("5\" pipe,x") == Rows{{"5\" pipe", "x"}});  // a quote inside a plain cell is a letter
}

TEST_CASE("rows know the line that they begin on") {
  Issues issues;
  const auto records = parse_csv("h\n\n\"two\nlines\"\nx\n", "t.csv", issues);
  REQUIRE(records);
  REQUIRE(records->size() == 3);
  CHECK((*records)[1].line == 3);
  CHECK((*records)[2].line == 5);
  CHECK((*records)[2].places[0].column == 1);
}

TEST_CASE("cells know their column, in characters") {
  Issues issues;
  const auto records = parse_csv("\"é\",x\n\"two\nlines\",y,z", "t.csv", issues);
  REQUIRE(records);
  CHECK((*records)[0].places[1].column == 5);
  CHECK((*records)[1].places[1].line == 3);
  CHECK((*records)[1].places[1].column == 8);
}

TEST_CASE("quotes that do not match are mistakes with their line") {
  CHECK(mistake("a\nb,\"open\nc\n").line == 2);
  CHECK(mistake("a\nb,\"open\nc\n").column == 3);
  CHECK(mistake("a\n\"b\"c,d\n").line == 2);
}
