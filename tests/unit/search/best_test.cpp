// What a search keeps.
#include "trainplan/search/best.hpp"

#include "catch.hpp"

using namespace trainplan;

namespace {

std::vector<std::uint64_t> indices(const std::vector<Candidate>& kept) {
  std::vector<std::uint64_t> out;
  for (const Candidate& c : kept) out.push_back(c.index);
  return out;
}

}  // namespace

TEST_CASE("the best few, ties by memory and then by number") {
  Best best(3, faster);
  for (const Candidate& c :
       {Candidate{5, 2, 9}, Candidate{1, 2, 9}, Candidate{2, 1, 9}, Candidate{3, 2, 8}, Candidate{4, 3, 1}})
    best.offer(c);
  CHECK(indices(best.kept()) == std::vector<std::uint64_t>{2, 3, 1});
  CHECK(best.is_full());
  Best least(2, leaner);
  for (const Candidate& c : {Candidate{1, 1, 9}, Candidate{2, 2, 8}, Candidate{3, 3, 7}}) least.offer(c);
  CHECK(indices(least.kept()) == std::vector<std::uint64_t>{3, 2});
}

TEST_CASE("a front keeps what nothing beats in both") {
  Front front(4);
  for (const Candidate& c : {Candidate{1, 3, 3}, Candidate{2, 1, 9}, Candidate{3, 2, 9}, Candidate{4, 2, 4},
                             Candidate{5, 2, 4}, Candidate{6, 4, 1}, Candidate{7, 2.5, 2}})
    front.offer(c);
  CHECK(indices(front.kept()) == std::vector<std::uint64_t>{2, 4, 7, 6});
  CHECK(front.beats(2.1, 4));
  CHECK_FALSE(front.beats(2, 4));
  CHECK_FALSE(front.beats(2.1, 3.9));
  CHECK_FALSE(front.beats(1, 100));
}
