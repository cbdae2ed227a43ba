#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "problems.hpp"
#include "trainplan/io/load_measured.hpp"
#include "trainplan/report/calibrate_report.hpp"
#include "trainplan/report/held_out.hpp"
#include "trainplan/report/recalibrated.hpp"

using namespace trainplan;

namespace {

const std::string kHeader =
    "id,model,gpu,gpus,seq,gbs_sequences,mbs,tp,pp,vp,zero_or_fsdp,recompute,step_time_s\n";

/// Configurations of one accelerator and stack, without a measured step.
const std::vector<std::string> kRuns = {"8b,llama3-8b,H100,64,8192,128,1,1,1,1,distopt,none,",
                                        "8b-tp2,llama3-8b,H100,64,8192,128,2,2,1,1,distopt,none,",
                                        "70b,llama3-70b,H100,128,8192,256,1,8,4,5,distopt,none,",
                                        "70b-full,llama3-70b,H100,128,8192,256,1,8,4,1,distopt,full,"};

MeasuredTable table_of(const std::vector<std::string>& rows) {
  std::string text = kHeader;
  for (const std::string& row : rows) text += row + "\n";
  Issues issues;
  auto table = load_measured_text(text, "runs.csv", issues);
  CHECK(issues.all().empty());
  REQUIRE(table);
  return std::move(*table);
}

/// The runs with steps that take `factor` times what is predicted.
MeasuredTable slower_by(double factor, const std::vector<std::string>& runs = kRuns) {
  std::vector<std::string> rows;
  for (const std::string& r : runs) rows.push_back(r + "1");
  const MeasuredTable plain = table_of(rows);
  const FittedRows fits = fitted_rows(plain);
  REQUIRE(fits.size() == runs.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = runs[i] + std::to_string(factor * fits[i].observation.predicted(problems::calibration()));
  return table_of(rows);
}

Issues refusals(const MeasuredTable& table) {
  Issues issues;
  CHECK_FALSE(judge_rows(fitted_rows(table), problems::calibration(), table.origin, issues));
  for (const Issue& i : issues.all()) CHECK_FALSE((i.got.empty() || i.must.empty() || i.hint.empty()));
  return issues;
}

}  // namespace

TEST_CASE("steps that are all slower by one factor move the factor of the stack") {
  const MeasuredTable table = slower_by(1.2);
  const FittedRows rows = fitted_rows(table);
  Issues issues;
  REQUIRE(judge_rows(rows, problems::calibration(), "runs.csv", issues));
  const CalibrationAnswer a = calibrated(problems::calibration(), rows);
  CHECK_FALSE(a.worse());
  CHECK(may_be_written(a));
  REQUIRE_FALSE(a.moved.empty());
  CHECK(a.moved.size() <= kRuns.size() - 1);
  CHECK(place_of(a.moved.front()).pointer() == "/stacks/megatron-core/slowdown");
  CHECK(a.mean(&CalibratedRow::before) == Approx(1 - 1 / 1.2).epsilon(0.001));
  CHECK(a.mean(&CalibratedRow::after) < 0.08);
  CHECK(a.mean(&CalibratedRow::left_out) < 0.09);
}

TEST_CASE("steps that are as predicted change nothing") {
  const MeasuredTable table = slower_by(1);
  const CalibrationAnswer a = calibrated(problems::calibration(), fitted_rows(table));
  CHECK(detail::nothing_changed(a));
  CHECK(may_be_written(a));
}

TEST_CASE("other accelerators and stacks stay as they are") {
  const MeasuredTable table = slower_by(1.2);
  const CalibrationAnswer a = calibrated(problems::calibration(), fitted_rows(table));
  for (const Stack s : {Stack::TorchtitanCompiled, Stack::Unknown})
    CHECK(a.after->of(s).slowdown.value == problems::calibration()->of(s).slowdown.value);
  for (const char* id : {"b200", "a100-sxm-80", "h200-sxm"})
    CHECK(a.after->of(id).gemm.value == problems::calibration()->of(id).gemm.value);
}

TEST_CASE("one row, and rows of one configuration, are refused") {
  CHECK(refusals(table_of({kRuns[0] + "1"})).all().at(0).rule == "few-rows");
  MeasuredTable repeats = slower_by(1.1, {kRuns[0], "again" + kRuns[0], "third" + kRuns[0]});
  CHECK(refusals(repeats).all().at(0).rule == "over-fit");
}

TEST_CASE("repeats of a configuration give no more constants than one of them") {
  const MeasuredTable table = slower_by(1.2, {kRuns[0], "again" + kRuns[0], "third" + kRuns[0], kRuns[2]});
  CHECK(calibrated(problems::calibration(), fitted_rows(table)).moved.size() == 1);
}

TEST_CASE("a row is judged by constants of other configurations alone") {
  const MeasuredTable once = slower_by(1.2, {kRuns[0], kRuns[2]});
  const MeasuredTable twice = slower_by(1.2, {kRuns[0], "again" + kRuns[0], kRuns[2]});
  const CalibrationAnswer a = calibrated(problems::calibration(), fitted_rows(once));
  const CalibrationAnswer b = calibrated(problems::calibration(), fitted_rows(twice));
  CHECK(a.rows[0].left_out == Approx(b.rows[0].left_out).epsilon(1e-6));
  CHECK(b.rows[0].left_out == b.rows[1].left_out);
}

TEST_CASE("more accelerators and stacks than configurations tell are refused") {
  const Issues issues =
      refusals(slower_by(1.1, {kRuns[0], "b,llama3-8b,B200,64,8192,128,1,1,1,1,distopt,none,"}));
  REQUIRE(issues.all().size() == 1);
  CHECK(issues.all()[0].rule == "over-fit");
  CHECK(issues.all()[0].got == "2 configurations of 2 accelerators and stacks");
}

TEST_CASE("every row that contradicts an earlier one is named at its line") {
  MeasuredTable table = slower_by(1);
  *table.rows[1].step_time *= 4;
  *table.rows[3].step_time *= 0.05;
  const Issues issues = refusals(table);
  REQUIRE(issues.all().size() == 2);
  CHECK(issues.all()[0].line == 3);
  CHECK(issues.all()[1].line == 5);
  for (const Issue& i : issues.all()) CHECK(i.rule == "contradiction");
}

TEST_CASE("rows that cannot be fitted to are told with the reason") {
  const MeasuredTable table =
      table_of({kRuns[0] + "1", "tpu,llama3-8b,TPUv5e,64,8192,128,1,1,1,1,distopt,none,1", kRuns[2]});
  const Table unused = unused_rows(table);
  REQUIRE(unused.rows.size() == 2);
  Issues issues = refusals(table);
  warn_where_few(table, issues);
  REQUIRE(issues.all().size() == 3);
  CHECK(issues.all()[0].rule == "few-rows");
  CHECK(issues.all()[1].level == Severity::Warning);
  CHECK(issues.all()[1].line == 3);
  CHECK(issues.all()[2].got == "70b");
}

TEST_CASE("halves of the rows keep configurations together, and the same seed gives the same halves") {
  Issues issues;
  const auto table = shipped_runs(issues);
  REQUIRE(table);
  const FittedRows rows = fitted_rows(*table);
  std::set<std::string> first, second;
  const Split a = half_split(rows, 1), b = half_split(rows, 1), other = half_split(rows, 2);
  for (const FittedRow& r : a.fitted) first.insert(r.row->family);
  for (const FittedRow& r : a.held_out) second.insert(r.row->family);
  for (const std::string& family : first) CHECK(second.count(family) == 0);
  CHECK(a.fitted.size() + a.held_out.size() == rows.size());
  const auto ids = [](const FittedRows& some) {
    std::vector<std::string> out;
    for (const FittedRow& r : some) out.push_back(r.row->id);
    return out;
  };
  CHECK(ids(a.fitted) == ids(b.fitted));
  CHECK(ids(a.fitted) != ids(other.fitted));
}
