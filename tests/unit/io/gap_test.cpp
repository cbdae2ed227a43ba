// The figures of a measured step: run file, options and the rules between them.
#include <string>

#include "catch.hpp"
#include "found.hpp"
#include "trainplan/io/gap_fields.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/spec/validate_gap.hpp"

using namespace trainplan;

namespace {

const std::string kHead = R"({"model": "llama70b", "cluster": "h100x1024", "gap": )";

GapSpec gap_of(const std::string& gap) {
  Issues issues;
  const auto run = load_run_text(kHead + gap + "}", "run.json", issues);
  CAPTURE(listed(issues));
  REQUIRE(run);
  CHECK(issues.all().empty());
  return run->gap;
}

Issues mistakes_of(const std::string& gap) {
  Issues issues;
  load_run_text(kHead + gap + "}", "run.json", issues);
  CHECK(complete(issues));
  return issues;
}

double item(const GapSpec& gap, LossItem i) { return gap.items[index_of(i)]->value; }

Issues judged(const GapSpec& gap) {
  Issues issues;
  judge_gap(gap, "run.json", 1.86, issues);
  return issues;
}

}  // namespace

TEST_CASE("a gap of a run file") {
  const GapSpec gap = gap_of(R"({"measured": "6.2 s", "target": "42 %", "points": 10,
      "items": {"exposed_comm": "800 ms", "_note": 1, "launch": null}, "budget": {"kernel": "3.2s"}})");
  CHECK(gap.measured->value == 6.2);
  CHECK(gap.target_mfu->value == Approx(0.42));
  CHECK_FALSE(gap.target_step);
  CHECK(gap.points->value == 10);
  CHECK(item(gap, LossItem::ExposedComm) == 0.8);
  CHECK_FALSE(gap.items[index_of(LossItem::Launch)]);
  CHECK(gap.budget[index_of(LossItem::Kernel)]->value == 3.2);
  CHECK_FALSE(gap.measured->option);
}

TEST_CASE("a target is an MFU or a step") {
  CHECK(gap_of(R"({"target": "4.75 s"})").target_step->value == 4.75);
  CHECK(gap_of(R"({"target": 0.42})").target_mfu->value == 0.42);
}

TEST_CASE("every mistake in a gap has its place") {
  const Issues issues = mistakes_of(R"({"measured": 6.2, "target": "200 %", "points": "1 s", "speed": 1,
      "items": {"exposed": "1 s", "bubble": "-1 s", "kernel": {}}, "budget": 3})");
  CAPTURE(listed(issues));
  CHECK(find_issue(issues, "quantity", "/gap/measured"));
  CHECK(find_issue(issues, "range", "/gap/target"));
  CHECK(find_issue(issues, "range", "/gap/points"));
  CHECK(find_issue(issues, "unknown-key", "/gap/speed"));
  const Issue* unknown = find_issue(issues, "unknown-item", "/gap/items/exposed");
  REQUIRE(unknown);
  CHECK(unknown->hint == "did you mean \"exposed_comm\"?");
  CHECK(unknown->line == 2);
  CHECK(find_issue(issues, "range", "/gap/items/bubble"));
  CHECK(find_issue(issues, "scalar", "/gap/items/kernel"));
  CHECK(find_issue(issues, "object", "/gap/budget"));
  CHECK(issues.all().size() == 8);
}

TEST_CASE("an item that stands twice in a file is refused") {
  Issues issues;
  load_run_text(kHead + R"({"items": {"bubble": "1 s", "bubble": "2 s"}}})", "run.json", issues);
  REQUIRE(issues.all().size() == 1);
  CHECK(issues.all()[0].rule == "json-duplicate-key");
}

TEST_CASE("options replace figures of the file, once") {
  GapSpec gap = gap_of(R"({"items": {"bubble": "1 s"}})");
  Issues issues;
  CHECK(set_gap_pair(gap, GapColumn::Measured, "bubble=0.2s", issues));
  CHECK(item(gap, LossItem::Bubble) == 0.2);
  CHECK(set_gap_pair(gap, GapColumn::Budget, "exposed-comm=0.4s", issues));
  CHECK(gap.budget[index_of(LossItem::ExposedComm)]->option);
  CHECK_FALSE(set_gap_pair(gap, GapColumn::Measured, "bubble=0.3s", issues));
  CHECK_FALSE(set_gap_pair(gap, GapColumn::Measured, "bubble", issues));
  CHECK_FALSE(set_gap_pair(gap, GapColumn::Measured, "launch=soon", issues));
  CHECK_FALSE(set_gap_pair(gap, GapColumn::Measured, "=1s", issues));
  CHECK(find_issue(issues, "twice", "--item"));
  CHECK(find_issue(issues, "argument", "--item"));
  CHECK(find_issue(issues, "quantity", "--item launch"));
  CHECK(find_issue(issues, "unknown-item", "--item"));
  CHECK(issues.all().size() == 4);
  CHECK(item(gap, LossItem::Bubble) == 0.2);
}

TEST_CASE("what no step can be") {
  GapSpec gap = gap_of(R"({"measured": "6.2 s", "items": {"bubble": "7 s", "kernel": "1 s"}})");
  const Issues issues = judged(gap);
  CHECK(find_issue(issues, "item-within-step", "/gap/items/bubble"));
  CHECK(find_issue(issues, "faster-than-peak", "/gap/items/kernel"));
  CHECK(issues.all().size() == 2);
  gap.items[index_of(LossItem::Bubble)] = Stated{7, true};
  CHECK(find_issue(judged(gap), "item-within-step", "--item bubble"));
}

TEST_CASE("steps below the ideal are refused") {
  const Issues issues = judged(gap_of(R"({"measured": "1.5 s", "target": "1 s"})"));
  CHECK(find_issue(issues, "faster-than-peak", "/gap/measured"));
  CHECK(find_issue(issues, "faster-than-peak", "/gap/target"));
}

TEST_CASE("items add to the step at most, up to rounding") {
  CHECK(find_issue(judged(gap_of(R"({"measured": "6 s", "items": {"bubble": "3 s", "kernel": "3.4 s"}})")),
                   "items-within-step", "/gap/items"));
  CHECK(judged(gap_of(R"({"measured": "6 s", "items": {"bubble": "2.62 s", "kernel": "3.4 s"}})"))
            .all()
            .empty());
}

TEST_CASE("points that round nothing are a warning") {
  Issues issues;
  judge_points(gap_of(R"({"points": 10})"), "run.json", 5.754, false, issues);
  REQUIRE(issues.all().size() == 1);
  CHECK(issues.all()[0].level == Severity::Warning);
  CHECK(issues.all()[0].pointer == "/gap/points");
  judge_points(gap_of(R"({"points": 10})"), "run.json", 9.84, true, issues);
  judge_points(gap_of("{}"), "run.json", 9.84, false, issues);
  CHECK(issues.all().size() == 1);
}
