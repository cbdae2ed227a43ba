// Published figures of large-model training: every one comes out of the catalogue, of a ledger or of a data
// file.
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "catch.hpp"
#include "figures.hpp"

using nlohmann::json;

namespace {

/// One failure per row, with all that is needed to repeat it.
void check(figures::File& file, const json& row, const json& defaults) {
  std::string wrong;
  try {
    wrong = figures::disagreement(file, row, defaults);
  } catch (const std::exception& e) {
    wrong = e.what();
  }
  if (!wrong.empty())
    FAIL_CHECK(defaults.at("id").get<std::string>() << ": " << wrong << "\n  via " << row.at("via").dump());
}

void check_all(const char* name) {
  figures::File file(name);
  for (const json& row : file.rows()) {
    check(file, row, row);
    if (row.contains("other")) check(file, row.at("other"), row);
  }
}

}  // namespace

TEST_CASE("every published figure is reproduced") { check_all("series.json"); }

TEST_CASE("every published figure on scaling, reinforcement learning, experts and overlap is reproduced") {
  check_all("studies_b.json");
}
TEST_CASE("every published figure of a long run is reproduced") { check_all("long_run.json"); }

TEST_CASE("every formula without a published figure gives the value worked out by hand") {
  check_all("by_hand.json");
  check_all("long_run_by_hand.json");
}

TEST_CASE("saving, failures, stragglers, data and offloading come out as worked examples have them") {
  check_all("studies_a.json");
}

TEST_CASE("the published figures are complete and each has one row") {
  figures::File file("series.json");
  std::set<std::string> ids;
  for (const json& row : file.rows()) ids.insert(row.at("id").get<std::string>());
  CHECK(ids.size() == 299);
  CHECK(file.rows().size() == 299);
}

TEST_CASE("the figures of training systems are complete and each has one row") {
  std::set<std::string> ids;
  std::size_t rows = 0;
  for (const char* name : {"pipeline.json", "long_run.json", "studies_a.json", "studies_b.json"}) {
    figures::File file(name);
    rows += file.rows().size();
    for (const json& row : file.rows()) ids.insert(row.at("id").get<std::string>());
  }
  CHECK(ids.size() == 528);
  CHECK(rows == 528);
}

TEST_CASE("a figure that is published differently says why") {
  figures::File file("series.json");
  int different = 0;
  for (const json& row : file.rows()) {
    if (!row.contains("published")) continue;
    ++different;
    INFO(row.at("id"));
    CHECK(row.contains("note"));
    CHECK((row.at("published") != row.at("expect")));
  }
  CHECK(different == 13);
}

TEST_CASE("docs/inconsistencies.md explains every figure with a note") {
  std::ifstream in(TRAINPLAN_ROOT "/docs/inconsistencies.md");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  for (const char* name : {"series.json", "studies_a.json", "studies_b.json", "long_run.json"}) {
    figures::File file(name);
    for (const json& row : file.rows()) {
      const std::string id = row.at("id");
      INFO(id);
      CHECK((!row.contains("note") || text.find("`" + id + "`") != std::string::npos));
    }
  }
}

TEST_CASE("at least forty figures come straight out of a ledger") {
  figures::File file("series.json");
  int from_ledger = 0;
  for (const json& row : file.rows()) from_ledger += row.at("via").contains("case") ? 1 : 0;
  CHECK(from_ledger >= 40);
}
