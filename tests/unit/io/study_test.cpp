// Inputs of study topics: values, lists and words from options and files, and what is wrong with them.
#include "trainplan/io/load_study.hpp"

#include <array>
#include <string>
#include <vector>

#include "catch.hpp"
#include "found.hpp"
#include "trainplan/io/run_fields.hpp"
#include "trainplan/study/topics.hpp"

using namespace trainplan;
using namespace trainplan::study;

namespace {

constexpr std::string_view kWords[] = {"sync", "async"};
constexpr Input<kSeconds> kWait{{"wait", "t_w", "a wait", 1, 100}, {.example = "5s", .required = true}};
constexpr Input<kCount> kShare{{"kept_share", "f", "a share", 0, 1},
                               {.example = "50%", .otherwise = 0.5, .why = "half of it"}};
constexpr InputList<kBytes> kSizes{{"sizes", "S", "sizes"}, {.example = "1GB,2GB"}};
constexpr InputWord kMode{{"mode", "mode", "how it saves"}, {.example = "sync", .words = kWords}};
constexpr std::array<const Field*, 4> kFields{&kWait, &kShare, &kSizes, &kMode};
constexpr Topic kTopic{"sample", "a sample", "", kFields, nullptr, nullptr};

Given from_file(const std::string& text, Issues& issues) {
  Given given;
  load_study_text(text, "s.json", kTopic, given, issues);
  return given;
}

}  // namespace

TEST_CASE("inputs of a file: quantities, figures with a source, lists, words") {
  Issues issues;
  Given given =
      from_file(R"({"_note": 1, "topic": "sample", "title": "t", "wait": {"value": "2 s", "source": "us"},
    "sizes": ["1 GB", "2 MB"], "mode": "Async", "kept_share": null})",
                issues);
  complete(kTopic, given, nullptr, issues);
  CAPTURE(listed(issues));
  CHECK(issues.all().empty());
  Explain rec;
  CHECK(value_of(given.in(rec, kWait)) == 2);
  CHECK(given.title == "t");
  REQUIRE(given.in(rec, kSizes).size() == 2);
  CHECK(value_of(given.in(rec, kSizes)[1]) == 2e6);
  CHECK(given.word(kMode) == "async");
  CHECK(given.number(kShare) == 0.5);
  CHECK(given.find(kShare)->origin == "default, half of it");
  CHECK(given.find(kWait)->origin == "s.json /wait");
}

TEST_CASE("an option lies over the file; unknown is an answer where nothing is required") {
  Issues issues;
  Given given = from_file(R"({"wait": "2 s", "mode": "sync"})", issues);
  say_input(given, kWait, "3s", Giver::Option, issues, {.pointer = "--wait"});
  say_input(given, kShare, "unknown", Giver::Option, issues, {.pointer = "--kept-share"});
  complete(kTopic, given, nullptr, issues);
  CHECK(issues.all().empty());
  CHECK(given.number(kWait) == 3);
  CHECK_FALSE(given.has(kShare));
  CHECK(given.place(kWait).pointer == "--wait");
  CHECK(given.place(kMode).pointer == "/mode");
  Explain rec;
  CHECK_FALSE(given.maybe(rec, kShare));
}

TEST_CASE("every mistake of a file has its place, its rule and a way out") {
  Issues issues;
  from_file(
      "{\n \"topic\": \"other\",\n \"wait\": \"0 s\",\n \"sizes\": [\"1 GB\", \"2 s\"],\n \"mode\": "
      "\"fast\",\n"
      " \"kept_share\": [1, [2]],\n \"wiat\": 1\n}",
      issues);
  CAPTURE(listed(issues));
  CHECK(issues.all().size() == 6);
  CHECK(complete(issues));
  for (const auto& [rule, pointer, line] : {std::tuple{"topic", "/topic", 2},
                                            {"range", "/wait", 3},
                                            {"quantity", "/sizes", 4},
                                            {"choice", "/mode", 5},
                                            {"scalar", "/kept_share", 6},
                                            {"unknown-key", "/wiat", 7}}) {
    const Issue* found = find_issue(issues, rule, pointer);
    CAPTURE(rule);
    REQUIRE(found != nullptr);
    CHECK(found->line == line);
  }
  CHECK(find_issue(issues, "unknown-key", "/wiat")->hint.find("wait") != std::string::npos);
  CHECK(find_issue(issues, "range", "/wait")->must == "be at least 1 s");
}

TEST_CASE("what is required and given by nobody is missing; unknown is no answer for it") {
  Issues issues;
  Given given;
  complete(kTopic, given, nullptr, issues);
  REQUIRE(issues.all().size() == 1);
  CHECK(issues.all()[0].rule == "missing");
  CHECK(issues.all()[0].pointer == "--wait");
  say_input(given, kWait, "unknown", Giver::Option, issues, {.pointer = "--wait"});
  CHECK(issues.all().back().rule == "quantity");
}

TEST_CASE("topics: examples and defaults of every input are legal, names are unique") {
  for (const Topic* topic : kTopics) {
    CAPTURE(topic->id);
    CHECK(find_topic(topic->id) == topic);
    CHECK_FALSE(topic->title.empty());
    for (const Field* field : topic->fields) {
      CAPTURE(field->arg.name);
      CHECK(find_field(*topic, field->arg.name) == field);
      CHECK_FALSE(field->arg.meaning.empty());
      Given given;
      Issues issues;
      say_input(given, *field, field->says.example, Giver::Option, issues, {.pointer = "--x"});
      CAPTURE(listed(issues));
      CHECK(issues.all().empty());
      const bool inside = !field->says.otherwise || (*field->says.otherwise >= field->arg.lo &&
                                                     *field->says.otherwise <= field->arg.hi);
      CHECK(inside);
      CHECK(field->says.otherwise.has_value() != field->says.why.empty());
    }
  }
}
