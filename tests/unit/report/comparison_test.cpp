#include "trainplan/report/comparison.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "trainplan/io/load_measured.hpp"
#include "trainplan/report/validate_report.hpp"
#include "trainplan/spec/validate.hpp"

using namespace trainplan;

namespace {

/// Rows with a measured and a predicted time each, in one contest.
struct Rows {
  std::vector<MeasuredRun> runs;
  std::vector<Comparison> all;

  Rows(std::initializer_list<std::pair<double, double>> times, const std::string& contest = "c") {
    for (const auto& [measured, predicted] : times) {
      runs.push_back({});
      runs.back().id = std::to_string(runs.size());
      runs.back().contest = contest;
      runs.back().step_time = measured;
      all.push_back({nullptr, predicted, {}});
    }
    for (std::size_t i = 0; i < runs.size(); ++i) all[i].row = &runs[i];
  }
};

const Table* table_of(const Report& r, std::string_view key) {
  for (const Section& s : r.sections)
    for (const Block& b : s.blocks)
      if (const Table* t = std::get_if<Table>(&b); t != nullptr && t->key == key) return t;
  return nullptr;
}

MeasuredTable table(const std::string& rows) {
  Issues issues;
  auto t = load_measured_text(
      "id,source,model,gpu,gpus,seq,gbs_sequences,tp,zero_or_fsdp,precision,recompute,step_time_s,"
      "peak_mem_gib,notes\n" +
          rows,
      "t.csv", issues);
  REQUIRE(t);
  return std::move(*t);
}

}  // namespace

TEST_CASE("errors are summed up by size and by sign") {
  const ErrorSummary s = summary_of({0.1, -0.2, 0.3, -0.4, 0.5});
  CHECK(s.rows == 5);
  CHECK(s.median == Approx(0.3));
  CHECK(s.mean == Approx(0.3));
  CHECK(s.worst == Approx(0.5));
  CHECK(s.bias == Approx(0.06));
  CHECK(s.p90 == Approx(0.46));  // between the two largest
  CHECK(summary_of({}).rows == 0);
  CHECK(summary_of({-0.25}).p90 == Approx(0.25));
}

TEST_CASE("the pick loses what its plan took longer than the best") {
  const Rows rows{{10, 5}, {12, 4}, {11, 6}};
  const auto contests = contests_of(rows.all);
  REQUIRE(contests.size() == 1);
  CHECK(contests[0].regret() == Approx(0.2));  // picks the plan of 12 s
  CHECK(contests[0].blind_regret() == Approx(0.1));
  CHECK(contests[0].best()->row->id == "1");
}

TEST_CASE("plans that are predicted equal are one pick") {
  const Rows rows{{10, 4}, {14, 4}, {11, 6}};
  const Contest contest = contests_of(rows.all).at(0);
  CHECK(contest.picked().size() == 2);
  CHECK(contest.regret() == Approx(0.2));
}

TEST_CASE("one plan is no contest, and flagged rows take no part") {
  CHECK(contests_of(Rows{{10, 4}}.all).empty());
  Rows rows{{10, 4}, {12, 5}};
  rows.runs[1].standing = Standing::Flagged;
  CHECK(contests_of(rows.all).empty());
}

TEST_CASE("rows are judged by the constants that are put in") {
  const MeasuredTable t = table("a,lab,llama3-8b,H100,8,8192,16,2,distopt,bf16,none,2,40,\n");
  REQUIRE(t.rows.at(0).run != nullptr);
  const PinnedRun& run = *t.rows[0].run;
  Calibration other = run.problem().calibration();
  for (StackConstants& stack : other.stacks) stack.slowdown.value *= 2;
  Issues issues;
  const auto checked = Checked<Calibration>::make(other, issues);
  REQUIRE(checked);
  const double before = evaluate(run.problem(), run.plan()).step.step.num();
  CHECK(evaluate(run.problem().with(*checked), run.plan()).step.step.num() > 1.3 * before);
  CHECK(compared(t.rows[0]).step_time == before);
}

TEST_CASE("standard, flagged and nonstandard rows are told apart, and skipped ones listed") {
  const MeasuredTable t = table(
      "a,lab,llama3-8b,H100,8,8192,16,2,distopt,bf16,none,2,40,\n"
      "b,lab,llama3-8b,H100,8,8192,16,4,distopt,bf16,none,2,40,FLAG: odd\n"
      "c,lab,llama3-8b,H100,8,8192,16,8,distopt,bf16,none,2,40,NONSTANDARD: a schedule of its own\n"
      "d,lab,llama3-8b,TPUv9,8,8192,16,8,distopt,bf16,none,2,40,\n");
  const Report r = validation_report({}, {t}, {.rows = true, .details = true, .ranking = true});
  CHECK(r.verdict == Verdict::None);  // no bounds of its own
  const Table* groups = table_of(r, "groups");
  REQUIRE(groups != nullptr);
  std::vector<std::string> names;
  for (const auto& row : groups->rows) names.push_back(std::get<std::string>(row[1]));
  CHECK(names == std::vector<std::string>{"standard rows", "lab", "H100", "bf16", "dense", "dense-one-node",
                                          "flagged", "nonstandard"});
  CHECK(table_of(r, "skipped")->rows.size() == 1);
  CHECK(table_of(r, "rows")->rows.size() == 4);
  CHECK(table_of(r, "contests") == nullptr);
}

TEST_CASE("the published runs keep their bounds") {
  Issues issues;
  std::vector<MeasuredTable> tables;
  auto runs = shipped_runs(issues);
  REQUIRE(runs);
  tables.push_back(std::move(*runs));
  const Report r = validation_report({}, tables, {});
  CHECK(r.verdict == Verdict::Passed);
  CHECK(table_of(r, "bounds")->rows.size() == 4);
  for (auto& row : tables[0].rows)
    if (row.peak) *row.peak *= 1.1;
  CHECK(validation_report({}, tables, {}).verdict == Verdict::Failed);
  tables[0].rows.clear();  // a bound on no rows says nothing, so it does not hold
  CHECK(validation_report({}, tables, {}).verdict == Verdict::Failed);
}
