#include "trainplan/study/phase_order.hpp"

#include <array>
#include <string_view>

#include "catch.hpp"

using namespace trainplan::study;

namespace {

constexpr std::array<std::string_view, 3> kNames{"train", "weights", "cache"};
using Flags = std::vector<bool>;

}  // namespace

TEST_CASE("an order is signs with names") {
  const auto order = read_order("+train,+weights,-train,+cache", kNames);
  REQUIRE(order);
  CHECK(*order == std::vector<Change>{{0, true}, {1, true}, {0, false}, {2, true}});
}

TEST_CASE("what is no order is refused") {
  const auto* text = GENERATE("", "train", "+", "+optimizer", "*train", "+train,", ",+train", "+train,+train",
                              "-train", "+train,-weights", "+train -train", "+Train");
  INFO(text);
  CHECK_FALSE(read_order(text, kNames));
}

TEST_CASE("moments hold what has come and not left") {
  const auto order = read_order("+train,+weights,-train,+cache,-weights", kNames);
  REQUIRE(order);
  const auto moments = moments_of(*order, kNames.size());
  CHECK(moments == std::vector<Flags>{{true, false, false},
                                      {true, true, false},
                                      {false, true, false},
                                      {false, true, true},
                                      {false, false, true}});
}
