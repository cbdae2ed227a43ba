// What profiles say about checkpoints, and published failures.
#include <set>
#include <string>

#include "catch.hpp"
#include "found.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/load_failures.hpp"

using namespace trainplan;

namespace {

/// Issues of a profile with this checkpoint.
Issues with_checkpoint(const std::string& checkpoint) {
  Issues issues;
  load_framework_text(R"({"name": "x", "version": "1", "default_sharding": "none", "checkpoint": )" +
                          checkpoint + R"(, "shardings": [{"mode": "none", "title": "one"}]})",
                      "f.json", issues);
  return issues;
}

}  // namespace

TEST_CASE("every shipped profile says what a checkpoint holds and what can be loaded elsewhere") {
  for (const Listed& listed : list_shipped("frameworks")) {
    Issues issues;
    const auto f = load_framework(listed.name, issues);
    CAPTURE(listed.name);
    REQUIRE(f);
    const CheckpointUse& c = (*f)->checkpoint;
    std::set<SavedPart> parts, rows;
    for (const PartSaved& p : c.contents) {
      CHECK(parts.insert(p.part).second);
      CHECK_FALSE(p.source.empty());
    }
    CHECK(parts.size() == std::size(kSavedPartNames));
    for (const ReshardRow& row : c.reshard) {
      CHECK(rows.insert(row.part).second);
      CHECK_FALSE(row.source.empty());
      bool refused = false;
      for (const Loads l : row.loads) refused |= l == Loads::No;
      CHECK((!refused || !row.instead.empty() || row.part == SavedPart::Weights ||
             row.part == SavedPart::Moments));
    }
    CHECK((rows.contains(SavedPart::Weights) && rows.contains(SavedPart::Moments) &&
           rows.contains(SavedPart::DataPosition)));
    CHECK_FALSE(c.commit.empty());
    CHECK((*f)->checkpoint_weights_bytes < (*f)->checkpoint_bytes_per_param);
  }
}

TEST_CASE("mistakes in what a profile says about checkpoints") {
  const Issues understood = with_checkpoint(R"({"contents": [{"part": "weights", "saved": "yes"}],
                                                "reshard": [{"part": "weights"}]})");
  for (const Issue& i : understood.all()) CHECK_FALSE(i.pointer.starts_with("/checkpoint"));
  const Issues issues = with_checkpoint(
      R"({"contents": [{"part": "weight", "saved": "yes"}, {"part": "step", "saved": "maybe"}, {"part": "step"}],
          "reshard": [{"part": "moments", "tp": "needs"}, {"dp": "never"}], "retention": 5})");
  CHECK(find_issue(issues, "choice", "/checkpoint/contents/0/part") != nullptr);
  CHECK(find_issue(issues, "choice", "/checkpoint/contents/1/saved") != nullptr);
  CHECK(find_issue(issues, "missing-key", "/checkpoint/contents/2/saved") != nullptr);
  CHECK(find_issue(issues, "missing-key", "/checkpoint/reshard/0/needs") != nullptr);
  CHECK(find_issue(issues, "choice", "/checkpoint/reshard/1/dp") != nullptr);
  CHECK(find_issue(issues, "unknown-key", "/checkpoint/retention") != nullptr);
}

TEST_CASE("published failures have a source and causes that add up") {
  Issues issues;
  const auto records = failure_records(issues);
  REQUIRE_FALSE(issues.has_errors());
  REQUIRE(records.size() >= 3);
  for (const FailureRecord& r : records) {
    CAPTURE(r.id);
    CHECK((r.counted() || r.mtbf.known));
    CHECK_FALSE(r.source.empty());
    std::int64_t sum = 0;
    for (const FailureCause& c : r.causes) sum += c.count;
    CHECK((r.causes.empty() || sum == r.failures));
  }
}

TEST_CASE("mistakes in a file of failures") {
  Issues issues;
  load_failures_text(R"([{"id": "x", "gpus": 0, "time": "54", "failures": 419, "source": "s"},
                         {"id": "y", "gpus": 8, "source": "s", "causes": [{"cause": "c"}]}])",
                     "f.json", issues);
  CHECK(find_issue(issues, "range", "/0/gpus") != nullptr);
  CHECK(find_issue(issues, "quantity", "/0/time") != nullptr);
  CHECK(find_issue(issues, "missing-key", "/1/mtbf") != nullptr);
  CHECK(find_issue(issues, "missing-key", "/1/causes/0/count") != nullptr);
}
