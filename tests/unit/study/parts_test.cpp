#include "trainplan/study/parts.hpp"

#include <array>

#include "catch.hpp"

using namespace trainplan;
using namespace trainplan::study;

namespace {

constexpr Input<kCount> kA{{"a", "a", "first", 0, 10}, {.example = "1"}};
constexpr Input<kCount> kB{{"b", "b", "second", 0, 10}, {.example = "2"}};
constexpr Input<kCount> kC{{"c", "c", "third", 0, 10}, {.example = "3"}};
constexpr Input<kCount> kD{{"d_x", "d", "fourth", 0, 10}, {.example = "4"}};
constexpr std::array<const Field*, 4> kFields{&kA, &kB, &kC, &kD};
constexpr std::array<const Field*, 2> kOne{&kA, &kB}, kOther{&kC, &kB};
constexpr std::array<const Field*, 1> kExtra{&kD};
constexpr std::array kParts{Part{"one", kOne, kExtra}, Part{"other", kOther}};

void say(Given& given, const Field& field, Giver giver = Giver::Option) {
  given.say({.field = &field, .giver = giver, .values = {1}});
}

/// "rule at option" of every issue.
std::vector<std::string> judged(const Given& given) {
  Issues issues;
  judge_parts(kParts, kFields, given, issues);
  std::vector<std::string> out;
  for (const Issue& i : issues.all()) {
    CHECK_FALSE(i.must.empty());
    CHECK_FALSE(i.hint.empty());
    out.push_back(i.rule + " " + i.pointer);
  }
  return out;
}

using Found = std::vector<std::string>;

}  // namespace

TEST_CASE("a whole part is enough, with or without its extras") {
  Given given;
  say(given, kA);
  say(given, kB);
  CHECK(judged(given).empty());
  say(given, kD);
  CHECK(judged(given).empty());
}

TEST_CASE("nothing asked for: every part says how to ask for it") {
  CHECK(judged({}) == Found{"missing --a", "missing --c"});
}

TEST_CASE("an asked part that lacks something says what") {
  Given given;
  say(given, kA);
  CHECK(judged(given) == Found{"missing --b"});
  say(given, kC);
  CHECK(judged(given) == Found{"missing --b", "missing --b"});
}

TEST_CASE("a value that no part reads is of no use") {
  Given given;
  say(given, kC);
  say(given, kB);
  say(given, kD);
  CHECK(judged(given) == Found{"unused --d-x"});
}

TEST_CASE("what a plan or a default gives asks for nothing and is never of no use") {
  Given given;
  say(given, kA, Giver::Plan);
  say(given, kD, Giver::Default);
  CHECK(judged(given) == Found{"missing --a", "missing --c"});
  say(given, kC);
  say(given, kB);
  CHECK(judged(given).empty());
}

TEST_CASE("an input said to be unknown is not given") {
  Given given;
  say(given, kA);
  given.say({.field = &kB, .giver = Giver::Option});
  CHECK(judged(given) == Found{"missing --b"});
}
