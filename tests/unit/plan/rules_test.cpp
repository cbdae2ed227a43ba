#include "trainplan/plan/rules.hpp"

#include <set>
#include <string_view>

#include "rules/rule_rows.hpp"

using namespace trainplan;
using namespace rule_rows;

TEST_CASE("the main plan is legal") {
  CHECK(broken([](Asked&) {}).empty());
}

TEST_CASE("no two rules have one id") {
  std::set<std::string_view> listed;
  for (const Rule& rule : rules()) CHECK(listed.insert(rule.id).second);
}

TEST_CASE("every rule of a shipped framework says where it stands, and no other is cited") {
  for (const char* name : {"megatron-lm", "megatron-lm-precision-aware", "deepspeed", "torchtitan"}) {
    const FrameworkProfile& f = *problems::framework(name);
    for (const Rule& rule : rules()) {
      CAPTURE(name, rule.id);
      CHECK(f.rules.source(rule.id).empty() != rule.is_of(f));
      CHECK_FALSE(rule.sentence(f).empty());
    }
  }
  CHECK(problems::framework("megatron-lm")->release() == "Megatron-LM core 0.20.0");
}

TEST_CASE("a broken rule shows the numbers that it was judged on") {
  Asked asked;
  asked.plan.tp = 6;
  const Problem problem = asked.problem();
  const Rule* first = first_broken(problem, asked.plan);
  REQUIRE(first != nullptr);
  CHECK(first->field == "tp");
  CHECK(first->numbers(problem, asked.plan) == "1024 GPUs / tp 6");
}
