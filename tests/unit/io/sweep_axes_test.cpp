#include "trainplan/io/sweep_axes.hpp"

#include <string>
#include <vector>

#include "catch.hpp"

using namespace trainplan;

namespace {

std::vector<std::string> values(std::string_view key, std::string_view text) {
  Issues issues;
  const auto axis = sweep_axis(key, text, issues);
  for (const Issue& i : issues.all())
    UNSCOPED_INFO(i.rule << " " << i.pointer << " " << i.got << ": " << i.must);
  REQUIRE(axis);
  CHECK(axis->values.size() == axis->cells.size());
  return axis->values;
}

Issue mistake(std::string_view key, std::string_view text) {
  Issues issues;
  CHECK_FALSE(sweep_axis(key, text, issues));
  REQUIRE(issues.all().size() == 1);
  return issues.all().front();
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("lists and ranges give the values of a field, with their units") {
  CHECK(values("tp", "1,2,4") == Texts{"1", "2", "4"});
  CHECK(values("gpus", "256..16384x4") == Texts{"256", "1024", "4096", "16384"});
  CHECK(values("sequence", "8k..32k+8k") == Texts{"8k", "16k", "24k", "32k"});
  CHECK(values("global_batch", "4Mi-tokens..16Mi-tokensx2") ==
        Texts{"4Mi-tokens", "8Mi-tokens", "16Mi-tokens"});
  CHECK(values("pp", "1,2..8x2,12") == Texts{"1", "2", "4", "8", "12"});
  CHECK(values("recompute", "none,full") == Texts{"none", "full"});
  CHECK(values("memory-margin", "0..0.3+0.1") == Texts{"0", "0.1", "0.2", "0.3"});
  CHECK(values("max_step_time", "0.5s..2sx2") == Texts{"0.5s", "1s", "2s"});
}

TEST_CASE("a range ends before its upper end where that is not met") {
  CHECK(values("dp", "1..10x3") == Texts{"1", "3", "9"});
  CHECK(values("dp", "1..10+4") == Texts{"1", "5", "9"});
  CHECK(values("dp", "7..7x2") == Texts{"7"});
}

TEST_CASE("names and lists of modules are not ranges or lists") {
  CHECK(values("framework", "../a/b.json") == Texts{"../a/b.json"});
  CHECK(values("recompute_modules", "moe_act,layernorm") == Texts{"moe_act,layernorm"});
}

TEST_CASE("numbers stand in base units in one unit, words as they are") {
  Issues issues;
  const auto tokens = sweep_axis("global_batch", "4Mi-tokens,8M-tokens", issues);
  REQUIRE(tokens);
  CHECK(tokens->unit == Unit::Tokens);
  CHECK(std::get<Value>(tokens->cells[0]).number == 4194304);
  CHECK(std::get<Value>(tokens->cells[1]).number == 8e6);
  const auto both = sweep_axis("global_batch", "512,4Mi-tokens", issues);
  REQUIRE(both);
  CHECK(both->unit == Unit::Count);
  CHECK(std::get<std::string>(both->cells[1]) == "4Mi-tokens");
  const auto share = sweep_axis("memory_margin", "30%", issues);
  REQUIRE(share);
  CHECK(share->unit == Unit::Share);
  CHECK(std::get<Value>(share->cells[0]).number == 0.3);
}

TEST_CASE("a range that is wrong comes back with one that is right") {
  const Issue plain = mistake("gpus", "256..16384");
  CHECK(plain.rule == "range-form");
  CHECK(plain.pointer == "--gpus");
  CHECK(plain.hint == "try 256..16384x2 or 256..16384+256");
  CHECK(mistake("tp", "8..1x2").rule == "range-order");
  CHECK(mistake("tp", "8..1x2").hint == "try 1..8x2 or 1..8+1");
  for (const char* text : {"1..8x1", "1..8x0.5", "0..8x2", "1..8+0", "8k..32k+8", "8k..32Mx2", "8k..128x2",
                           "..8x2", "1..x2", "1..8xk", "1..8x2k", "1..infx2", "a..bx2", "1..8x"})
    CHECK(mistake("sequence", text).rule == "range-form");
  CHECK(mistake("dp", "1..1000000+1").rule == "range-size");
}

TEST_CASE("a value that stands twice is one, however it is spelled") {
  CHECK(values("micro_batch", "1,1,2") == Texts{"1", "2"});
  CHECK(values("max_step_time", "1s,1000ms,2s") == Texts{"1s", "2s"});
  CHECK(values("recompute", "none,full,none") == Texts{"none", "full"});
}

TEST_CASE("a range is told once, whatever is wrong with its values") {
  CHECK(mistake("micro_batch", "1..10000000x1.0000001").rule == "range-size");
  CHECK(mistake("micro_batch", "1..100x1.01").rule == "integer");
}

TEST_CASE("every value that a field does not take is told") {
  Issues issues;
  CHECK_FALSE(sweep_axis("tp", "1,x,3,2.5", issues));
  REQUIRE(issues.all().size() == 2);
  CHECK(issues.all()[0].got == "x");
  CHECK(issues.all()[1].got == "2.5");
  CHECK(mistake("recompute", "none,half").rule == "choice");
  CHECK(mistake("gpus", "0").rule == "integer");
  CHECK(mistake("gpus", "12.5").rule == "integer");
  CHECK(mistake("tpp", "1,2").rule == "unknown-key");
  CHECK(mistake("tp", "1,").got.empty());
}
