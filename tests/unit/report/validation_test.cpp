#include "trainplan/report/validate_report.hpp"

#include <string>

#include "catch.hpp"
#include "trainplan/io/load_validation.hpp"
#include "trainplan/report/allocation_report.hpp"

using namespace trainplan;

namespace {

ValidationSet set_of(const std::string& text) {
  Issues issues;
  auto set = load_validation_text(text, "v.json", issues);
  REQUIRE(set);
  return std::move(*set);
}

ValidationSet checks(const std::string& list) {
  return set_of(
      R"({"kind": "cases", "title": "t", "rows": [{"id": "a", "source": {"repo": "r"}, "checks": [)" + list +
      "]}]}");
}

Finding only(const std::string& check) { return validated(checks(check)).findings.at(0); }

/// Measured rows whose product is 100 GB, so that the errors are known.
ValidatedSet errors_in(const std::string& measured) {
  std::string list;
  for (const char* figure : {"100 GB", "80 GB", "125 GB"})
    list +=
        std::string(list.empty() ? "" : ",") +
        R"({"calc": "model_state_bytes", "args": {"params": "1e10 params", "width": "10 B/param"}, "measured": )" +
        measured + R"(, "expect": ")" + figure + R"("})";
  static ValidationSet set;
  set = checks(list);
  return validated(set);
}

}  // namespace

TEST_CASE("errors are those of the measured figures, a case counts once") {
  const Errors e = errors_of(errors_in("true"), RowGroup::All);
  CHECK(e.scored == 1);
  CHECK(e.mean == Approx((0.25 + 0.2) / 3));
  CHECK(e.median == Approx(0.2));
  CHECK(e.worst == Approx(0.25));
  CHECK(e.low == Approx(0.2));
  CHECK(errors_of(errors_in("true"), RowGroup::Sparse).scored == 0);
  CHECK(errors_of(errors_in("false"), RowGroup::All).scored == 0);
}

TEST_CASE("a check holds within its tolerance or inside its range") {
  const auto holds = [](const std::string& expect) {
    return only(R"({"calc": "in_flight_gpipe", "args": {"m": 100}, "expect": )" + expect + "}").holds;
  };
  CHECK(holds("100"));
  CHECK(holds("101"));
  CHECK_FALSE(holds("103"));
  CHECK(holds("[90, 120]"));
  CHECK_FALSE(holds("[110, 120]"));
  CHECK(holds(R"(110, "tolerance": "10 %")"));
}

TEST_CASE("comparisons") {
  CHECK(only(R"({"less": [{"value": 1}, {"value": 2}]})").holds);
  CHECK_FALSE(only(R"({"less": [{"value": 2}, {"value": 2}]})").holds);
  CHECK(only(R"({"equal": [{"value": 2}, {"value": 2}]})").holds);
  CHECK_FALSE(only(R"({"equal": [{"value": 3}, {"value": 2}]})").holds);
}

TEST_CASE("legality names the rule and the values nearby") {
  const std::string run = R"("model": "llama8b", "gpu": "h100-sxm", "gpus": 24, "run": {"tp": 3})";
  CHECK(only(R"({"legal": false, "rule": "tp-divides-heads", )" + run + "}").holds);
  CHECK_FALSE(only(R"({"legal": false, "rule": "batch-divides", )" + run + "}").holds);
  CHECK_FALSE(only(R"({"legal": true, )" + run + "}").holds);
  CHECK(only(R"({"legal": false, "rule": "tp-divides-heads", "nearest": [1, 2, 4], )" + run + "}").holds);
}

TEST_CASE("a verdict is judged on the gate") {
  const auto fits = [](const std::string& gpus, const char* yes) {
    return only(R"({"model": "llama70b", "gpu": "h100-sxm", "gpus": )" + gpus +
                R"(, "run": {"tp": 8}, "fits": )" + yes + "}")
        .holds;
  };
  CHECK(fits("8", "false"));
  CHECK_FALSE(fits("8", "true"));
}

TEST_CASE("the report fails by a check, by a bound, and by a bound on no rows") {
  const auto verdict = [](const std::string& bounds, const std::string& expect) {
    const ValidationSet set = set_of(R"({"kind": "cases", "title": "t", "bounds": [)" + bounds +
                                     R"(], "rows": [{"id": "a", "source": {"repo": "r"}, "checks": [
        {"calc": "in_flight_gpipe", "args": {"m": 8}, "expect": )" +
                                     expect + "}]}]}");
    return validation_report({set}).verdict;
  };
  CHECK(verdict("", "8") == Verdict::Passed);
  CHECK(verdict("", "9") == Verdict::Failed);
  CHECK(verdict("", R"(9, "measured": true)") == Verdict::None);
  CHECK(verdict(R"({"mean": "20 %"})", R"(9, "measured": true)") == Verdict::Passed);
  CHECK(verdict(R"({"mean": "10 %"})", R"(9, "measured": true)") == Verdict::Failed);
  CHECK(verdict(R"({"scored": 1})", R"(9, "measured": true)") == Verdict::Passed);
  CHECK(verdict(R"({"scored": 2})", R"(9, "measured": true)") == Verdict::Failed);
  CHECK(verdict(R"({"of": "moe", "mean": "10 %"})", "8") == Verdict::Failed);
}

TEST_CASE("every figure worked out by hand, rule and verdict of the public cases holds") {
  int judged = 0;
  for (const std::string& name : shipped_validation()) {
    Issues issues;
    const auto set = load_validation(name, issues);
    REQUIRE(set);
    for (const Finding& f : validated(*set).findings) {
      if (f.measured) continue;
      INFO(f.id << ": " << f.title << ", ratio " << f.ratio.value_or(0));
      CHECK(f.holds);
      ++judged;
    }
  }
  CHECK(judged > 180);
}

TEST_CASE("failed requests of public cases are named to the MiB") {
  for (const char* id : {"mlm-525-gpt2large-v100", "lf-2959-72b-16x80", "msswift-9403-235b-lora-32x64"}) {
    Issues issues;
    const auto set = load_validation("cases-memory", issues);
    REQUIRE(set);
    int named = 0;
    for (const CaseRow& row : set->cases)
      for (const Check& check : row.checks)
        if (row.id == id && check.kind == Check::Kind::Allocation) {
          const Finding f = finding_of(check);
          CHECK(f.holds);
          CHECK(std::abs(f.error()) < 3e-4);  // the last digit that the message shows
          ++named;
        }
    INFO(id);
    CHECK(named == 1);
  }
}

TEST_CASE("an allocation report fails when nothing is near") {
  Issues issues;
  const auto set = load_validation("cases-memory", issues);
  REQUIRE(set);
  const Check* check = nullptr;
  for (const CaseRow& row : set->cases)
    for (const Check& c : row.checks)
      if (row.id == "mlm-525-gpt2large-v100" && c.kind == Check::Kind::Allocation) check = &c;
  REQUIRE(check != nullptr);
  const auto stages = stage_allocations(check->ask.run->problem(), check->ask.run->plan(), -1);
  const Report exact = allocation_report(stages, 786 * 0x1p20, "t");
  CHECK(exact.verdict == Verdict::None);
  CHECK(exact.sections.front().key == "exact");
  const Report close = allocation_report(stages, 790 * 0x1p20, "t");
  CHECK(close.verdict == Verdict::None);
  CHECK(close.sections.front().key == "nearest");
  CHECK(allocation_report(stages, 100 * 0x1p30, "t").verdict == Verdict::Failed);
}
