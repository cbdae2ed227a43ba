#include "trainplan/study/chosen_experts.hpp"

#include <limits>

#include "catch.hpp"

using namespace trainplan::study;
using Indices = std::vector<std::size_t>;

TEST_CASE("a change of two thousandths chooses another expert") {
  CHECK(chosen_experts(std::vector{0.5, 0.301, 0.3}, 2) == Indices{0, 1});
  CHECK(chosen_experts(std::vector{0.5, 0.301, 0.302}, 2) == Indices{0, 2});
}

TEST_CASE("experts come best first, of equal ones the earlier") {
  CHECK(chosen_experts(std::vector{0.1, 0.4, 0.4, 0.1}, 3) == Indices{1, 2, 0});
}

TEST_CASE("no more experts are chosen than there are") {
  CHECK(chosen_experts(std::vector{1.0, 2.0}, 5) == Indices{1, 0});
  CHECK(chosen_experts(std::vector{1.0, 2.0}, 0).empty());
  CHECK(chosen_experts(std::vector<double>{}, 2).empty());
}

TEST_CASE("the margin is that over the first expert that is left out") {
  CHECK(routing_margin(std::vector{0.5, 0.3, 0.25}, 2) == 0.3 - 0.25);
  CHECK(routing_margin(std::vector{0.25, 0.5, 0.3}, 1) == 0.5 - 0.3);
  CHECK(routing_margin(std::vector{0.5, 0.3}, 2) == std::numeric_limits<double>::infinity());
  CHECK(routing_margin(std::vector{0.5, 0.3}, 0) == std::numeric_limits<double>::infinity());
}
