#include <string>

#include "catch.hpp"
#include "trainplan/io/forecast_fields.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/shipped.hpp"

using namespace trainplan;

namespace {

std::string listed(const Issues& issues) {
  std::string all;
  for (const Issue& i : issues.all()) all += i.rule + " " + i.pointer + " = " + i.got + "; ";
  return all;
}

const ForecastField& field(std::string_view key) {
  for (const ForecastField& f : forecast_fields())
    if (f.key == key) return f;
  throw std::runtime_error("no such field");
}

Issues set(ForecastSpec& to, std::string_view key, std::string_view text) {
  Issues issues;
  set_forecast_field(to, field(key), text, "option --x", issues, {.pointer = "--x"});
  return issues;
}

}  // namespace

TEST_CASE("every field of a forecast takes its own example, and keeps where it was said") {
  for (const ForecastField& f : forecast_fields()) {
    CAPTURE(f.key);
    ForecastSpec spec;
    CHECK(listed(set(spec, f.key, f.example)).empty());
    CHECK_FALSE(f.otherwise.empty());
  }
  ForecastSpec spec;
  set(spec, "deadline", "30d");
  CHECK(spec.deadline->value == 30 * 86400.0);
  CHECK(spec.deadline->origin == "option --x");
  set(spec, "budget", "5M-usd");
  CHECK(spec.budget->value == 5e6);
}

TEST_CASE("several times are kept in order, and a bad one refuses all of them") {
  ForecastSpec spec;
  CHECK(listed(set(spec, "detect", "600s,100s")).empty());
  REQUIRE(spec.detect.size() == 2);
  CHECK(spec.detect[1].value == 100);
  CHECK(listed(set(spec, "detect", "50s,-1s")) == "range --x = 50s,-1s; ");
  CHECK(spec.detect.size() == 2);
}

TEST_CASE("a refused figure says its range with the unit, and what to type instead") {
  const auto said = [](std::string_view key, std::string_view text) {
    ForecastSpec spec;
    const Issues issues = set(spec, key, text);
    REQUIRE(issues.all().size() == 1);
    return issues.all()[0].must + "; " + issues.all()[0].hint;
  };
  CHECK(said("deadline", "120") == "be a time; this has no unit; try 120d");
  CHECK(said("gpu_mtbf", "50000") == "be a time; this has no unit; try 50000h");
  CHECK(said("save_bandwidth", "7") == "be a data rate; this has no unit; try 7GB/s");
  CHECK(said("deadline", "-1d") == "be at least 0.001 s; try 30d");
  CHECK(said("deadline", "1e9d") == "be at most 1e+12 s; try 30d");
  CHECK(said("save_bandwidth", "0B/s") == "be at least 1 B/s; try 7GB/s");
  CHECK(said("budget", "0USD") == "be at least 0.01 USD; try 5M-usd");
  CHECK(said("pue", "0.5") == "be at least 1; try 1.2");
  CHECK(said("spares", "20000") == "be at most 10000; try 2");
  CHECK(said("efficiency", "140%") == "be above 0 % and at most 100 %; try 40%");
}

TEST_CASE("a rate may be said to be unknown") {
  ForecastSpec spec;
  CHECK(listed(set(spec, "gpu_mtbf", "unknown")).empty());
  CHECK(spec.gpu_mtbf.has_value());
  CHECK_FALSE(spec.gpu_mtbf->known);
  CHECK(listed(set(spec, "restart", "unknown")) == "quantity --x = unknown; ");
}

TEST_CASE("values that no forecast can have are refused with a legal one") {
  struct Row {
    const char *key, *text, *rule;
  };
  for (const Row& row :
       {Row{"input_wait", "-1s", "range"}, Row{"efficiency", "140%", "range"},
        Row{"efficiency", "0", "range"}, Row{"deadline", "0s", "range"}, Row{"planned_stop", "5", "quantity"},
        Row{"pue", "0.9", "range"}, Row{"price", "-1USD/h", "range"}, Row{"saving", "fast", "choice"},
        Row{"scenario", "A,,B", "name"}, Row{"interval", "", "quantity"}, Row{"interval", "0s", "range"},
        Row{"save_bandwidth", "7GB", "quantity"}}) {
    CAPTURE(row.key, row.text);
    ForecastSpec spec;
    const Issues issues = set(spec, row.key, row.text);
    REQUIRE(issues.all().size() == 1);
    CHECK(issues.all()[0].rule == row.rule);
    CHECK(issues.all()[0].hint.starts_with(row.rule == std::string("choice") ? "" : "try "));
  }
}

TEST_CASE("the object of a run file is read with places, and every mistake in it") {
  Issues good;
  const auto run = load_run_text(R"({"model": "llama70b", "cluster": "h100x1024",
    "forecast": {"deadline": "60 d", "spares": 2, "scenario": "A,B"}})",
                                 "run.json", good);
  CHECK(listed(good).empty());
  CHECK(run->forecast.deadline->origin == "run.json /forecast/deadline");
  CHECK(run->forecast.spares->value == 2);
  CHECK(run->forecast.scenarios.size() == 2);
  Issues bad;
  load_run_text(R"({"forecast": {"deadline": -5, "dead_line": "1 d", "efficiency": "130 %", "load": []}})",
                "run.json", bad);
  CAPTURE(listed(bad));
  CHECK(bad.all().size() == 4);
  for (const Issue& i : bad.all()) {
    CHECK(i.file == "run.json");
    CHECK(i.line == 1);
    CHECK(i.pointer.starts_with("/forecast/"));
  }
}

TEST_CASE("shipped scenarios are A, B and C, and a file may be one") {
  int found = 0;
  for (const Shipped& s : shipped()) {
    if (s.kind != "scenarios") continue;
    Issues issues;
    const auto scenario = load_scenario(s.name, issues);
    REQUIRE(scenario);
    CHECK_FALSE(scenario->title.empty());
    CHECK(scenario->save_time->value == (scenario->name == "A" ? 300 : 10));
    ++found;
  }
  CHECK(found == 3);
  Issues issues;
  CHECK_FALSE(load_scenario_text(R"({"save_time": "-1 s", "detekt": "5 s"})", "own.json", issues));
  CHECK(listed(issues) == "positive /save_time = -1 s; unknown-key /detekt = detekt; ");
  Issues missing;
  CHECK_FALSE(load_scenario("D", missing, {.pointer = "--scenario"}));
  CHECK(missing.all()[0].pointer == "--scenario");
}
