// Pipelines in numbers: fields, files, and the rules between them.
#include <cmath>
#include <string>

#include "catch.hpp"
#include "found.hpp"
#include "trainplan/io/load_pipeline.hpp"
#include "trainplan/io/pipeline_fields.hpp"
#include "trainplan/io/shipped.hpp"
#include "trainplan/spec/validate_pipeline.hpp"

using namespace trainplan;

namespace {

Issues judged(const std::string& text) {
  Issues issues;
  auto spec = load_pipeline_text(text, "p.json", issues);
  REQUIRE(spec);
  validate(*spec, {}, issues);
  return issues;
}

PipelineSpec loaded(const std::string& text) {
  Issues issues;
  const auto spec = load_pipeline_text(text, "p.json", issues);
  CAPTURE(listed(issues));
  REQUIRE(spec);
  CHECK(issues.all().empty());
  return *spec;
}

const Issue& only(const Issues& issues) {
  CAPTURE(listed(issues));
  REQUIRE(issues.all().size() == 1);
  return issues.all().front();
}

}  // namespace

TEST_CASE("the example of every field is legal") {
  for (const PipelineField& field : pipeline_fields()) {
    PipelineSpec spec;
    Issues issues;
    CAPTURE(field.key);
    CHECK(set_pipeline_field(spec, field, field.example, issues, {}));
    CHECK(find_pipeline_field(field.key) == &field);
  }
}

TEST_CASE("numbers of a file: quantities, lists for each stage, figures with a source") {
  const PipelineSpec s = loaded(
      R"({"_note": 1, "title": "t", "stages": 4, "micro_batches": "8", "forward": ["10 ms", "11ms", "12 ms", "9ms"],
          "backward": {"value": "20 ms", "source": "us"}, "transfer": 0, "saved_bytes_per_layer": 26768384,
          "saved_bytes_head": "76 MiB", "kept_for_weights": "50%", "schedule": "ZB-H1", "update": null})");
  CHECK(s.stages == 4);
  CHECK(s.backward == std::vector<double>{0.02});
  CHECK(s.saved_per_layer == 26768384);
  CHECK(s.saved_head == 76.0 * 1048576);
  CHECK(s.kept_for_weights == 0.5);
  CHECK(s.schedule == "zb_h1");
  CHECK_FALSE(s.update);
}

TEST_CASE("shipped pipelines are complete") {
  int files = 0;
  for (const Shipped& shipped_file : shipped()) {
    if (shipped_file.kind != "schedules") continue;
    CAPTURE(shipped_file.name);
    CHECK(judged(std::string(shipped_file.text)).all().empty());
    ++files;
  }
  CHECK(files >= 3);
  CHECK(names_a_pipeline("qwen3-8b-book"));
  CHECK(names_a_pipeline("qwen3-8b-book.json"));
  CHECK_FALSE(names_a_pipeline("gap-example"));
  CHECK_FALSE(names_a_pipeline("nowhere.json"));
}

TEST_CASE("every mistake at once, with its place and a way out") {
  Issues issues;
  load_pipeline_text(
      R"({"stages": 0, "micro_batches": 7.5, "forward": "fast", "layer": 36, "schedule": "zb_h3",
                         "update": -1, "saved_bytes_head": "5 s", "weight_gradient_share": 2, "chunks": [2, {}]})",
      "p.json", issues);
  CAPTURE(listed(issues));
  CHECK(complete(issues));
  CHECK(issues.all().size() == 9);
  for (const Issue& i : issues.all()) CHECK(i.line > 0);
}

TEST_CASE("what a pipeline must say") {
  const Issues issues = judged("{}");
  CAPTURE(listed(issues));
  CHECK(issues.all().size() == 4);
  for (const Issue& i : issues.all()) {
    CHECK(i.rule == "missing");
    CHECK_FALSE(i.hint.empty());
  }
}

TEST_CASE("rules between fields") {
  const std::string head = R"({"stages": 4, "micro_batches": 8, "forward": "10 ms", )";
  CHECK(only(judged(head + R"("backward": ["1 ms", "2 ms"]})")).rule == "stages");
  CHECK(only(judged(head + R"("backward": "20 ms", "layers": 37})")).hint == "try 36 or 40");
  CHECK(only(judged(head + R"("backward": "20 ms", "layers": 3})")).hint == "try 4");
  CHECK(only(judged(head + R"("backward": "20 ms", "weight_gradient": "9 ms"})")).rule == "twice");
  CHECK(only(judged(head + R"("input_gradient": "20 ms"})")).rule == "missing");
  CHECK(only(judged(head + R"("backward": "20 ms", "saved_bytes_per_layer": 5})")).pointer == "/layers");
  CHECK(only(judged(head + R"("backward": "20 ms", "memory_budget": "1GB"})")).pointer ==
        "/saved_bytes_per_layer");
  CHECK(only(judged(head + R"("backward": "20 ms", "pair": "15 ms"})")).hint == "try 20ms");
  CHECK(only(judged(head + R"("backward": "20 ms", "pair": "1 s"})")).hint ==
        "try 30ms, or leave it out: their sum");
  CHECK(only(judged(head + R"("backward": ["20 ms", "25 ms", "1 ms", "1 ms"], "pair": "36 ms"})"))
            .must.ends_with("0.035 s"));
  CHECK(judged(head + R"("backward": "20 ms", "pair": "30 ms"})").all().empty());
  CHECK(judged(head + R"("input_gradient": "11 ms", "weight_gradient": "9 ms", "pair": "25 ms"})")
            .all()
            .empty());
}
