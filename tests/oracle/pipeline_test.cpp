// Pipeline schedules: published figures and complete tables of time and memory, each out of the simulator.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "figures.hpp"

using nlohmann::json;
using trainplan::sim::find_schedule;

namespace {

/// Schedules of rows that wait for their orders; empty once the table of schedules is complete.
constexpr std::string_view kPending[] = {"zbv",     "v_min",    "v_half",   "v_zb",
                                         "zb_auto", "dualpipe", "dualpipev"};

bool pending(const std::string& schedule) {
  return find_schedule(schedule) == nullptr && std::ranges::find(kPending, schedule) != std::end(kPending);
}

/// Rows that differ only in their pipeline share an entry of the page: "a.b" of "a.b.p4.m8".
std::string family(const std::string& id) {
  for (std::size_t at = id.find(".p"); at != std::string::npos; at = id.find(".p", at + 1))
    if (at + 2 < id.size() && id[at + 2] >= '0' && id[at + 2] <= '9') return id.substr(0, at);
  return id;
}

/// The timelines that a row refers to, at any depth.
void collect(const json& value, std::set<std::string>& names) {
  if (value.is_object() && value.contains("timeline")) names.insert(value.at("timeline"));
  if (value.is_structured())
    for (const json& part : value) collect(part, names);
}

bool waits(const figures::File& file, const json& row) {
  std::set<std::string> names;
  collect(row, names);
  return std::ranges::any_of(names, [&](const std::string& name) {
    return pending(file.timelines().at(name).at("schedule").get<std::string>());
  });
}

std::string disagreement(figures::File& file, const json& row) try {
  if (row.contains("table")) return file.pipeline(row.at("timeline")).disagreement(row.at("table"));
  const std::string wrong = figures::disagreement(file, row, row);
  if (!wrong.empty() || !row.contains("other")) return wrong;
  return figures::disagreement(file, row.at("other"), row);
} catch (const std::exception& e) {
  return e.what();
}

/// A figure that was printed without the times behind it has nothing to compare.
bool quoted(const json& row) { return !row.contains("via") && !row.contains("table"); }

/// How many rows were compared.
int check_all(const char* name) {
  figures::File file(name);
  int compared = 0;
  for (const json& row : file.rows()) {
    if (quoted(row) || waits(file, row)) continue;
    ++compared;
    const std::string wrong = disagreement(file, row);
    if (!wrong.empty()) FAIL_CHECK(row.at("id").get<std::string>() << ": " << wrong);
  }
  return compared;
}

int count(const figures::File& file, bool (*holds)(const json&)) {
  return static_cast<int>(std::ranges::count_if(file.rows(), holds));
}

}  // namespace

TEST_CASE("every row of the worked example of a pipeline is reproduced") {
  CHECK(check_all("pipeline.json") == 112);
}

TEST_CASE("every table and published figure of a pipeline schedule is reproduced") {
  const int compared = check_all("schedules.json");
  WARN(compared << " of 425 rows compared");
  if (std::empty(kPending)) CHECK(compared == 425);
}

TEST_CASE("the rows of pipeline schedules are complete and each has an id of its own") {
  const figures::File example("pipeline.json"), schedules("schedules.json");
  std::set<std::string> ids;
  for (const figures::File* file : {&example, &schedules})
    for (const json& row : file->rows()) ids.insert(row.at("id").get<std::string>());
  CHECK(example.rows().size() == 112);
  CHECK(schedules.rows().size() == 434);
  CHECK(ids.size() == 112 + 434);
  CHECK(count(example, [](const json& row) { return row.contains("table"); }) == 12);
  CHECK(count(schedules, [](const json& row) { return row.contains("table"); }) == 170);
  CHECK(count(schedules, quoted) == 9);
}

TEST_CASE("a schedule of a row is in the table, or waits; nothing waits that is there") {
  for (const char* name : {"pipeline.json", "schedules.json"}) {
    const figures::File file(name);
    for (const auto& [id, timeline] : file.timelines().items()) {
      const std::string schedule = timeline.at("schedule");
      INFO(id);
      CHECK((find_schedule(schedule) != nullptr || pending(schedule)));
    }
  }
  for (const std::string_view name : kPending) {
    INFO(name << " has its orders: take it off the list");
    CHECK(find_schedule(name) == nullptr);
  }
}

TEST_CASE("a figure of a schedule that is published differently says by how much, and is explained") {
  std::ifstream in(TRAINPLAN_ROOT "/docs/inconsistencies.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  int different = 0;
  for (const char* name : {"pipeline.json", "schedules.json"}) {
    const figures::File file(name);
    for (const json& row : file.rows()) {
      if (!row.contains("published") || quoted(row)) continue;
      ++different;
      const std::string id = row.at("id");
      INFO(id);
      CHECK(row.contains("note"));
      const double expect = row.at("expect"), published = row.at("published"),
                   difference = row.at("difference");
      CHECK(expect - published == Approx(difference));
      CHECK(page.find("`" + family(id) + "`") != std::string::npos);
    }
  }
  CHECK(different == 2 + 16);
}
