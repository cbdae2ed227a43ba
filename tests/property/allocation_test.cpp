// evaluate() must not allocate: global operator new counts.
#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "catch.hpp"
#include "plans.hpp"
#include "problems.hpp"
#include "trainplan/cost/plan_cost.hpp"
#include "trainplan/search/search.hpp"

namespace {
std::atomic<long> allocations{0};

void* counted(std::size_t size) {
  ++allocations;
  if (void* p = std::malloc(size > 0 ? size : 1)) return p;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

using namespace property;

TEST_CASE("the counter sees an allocation") {
  const long before = allocations;
  const std::vector<int> some(1000, 1);
  CHECK(allocations > before);
  CHECK(some.size() == 1000);
}

TEST_CASE("evaluate does not allocate, over 1,000 plans") {
  Plans plans(12);
  std::vector<Sample> samples;
  for (int i = 0; i < 1'000; ++i) samples.push_back(plans.next());
  double sum = 0;
  const long before = allocations;
  for (const Sample& s : samples) sum += evaluate(s.problem, s.plan).step.step.num();
  CHECK(allocations - before == 0);
  CHECK(sum > 0);
}

TEST_CASE("a search allocates nothing while it visits plans") {
  problems::Draft draft({.cluster = "h100x64"});
  const Problem problem = draft.problem();
  const RunSpec run;
  const PlanSpace space = plan_space(Planner(problem, run, 0), 64);
  const SearchOptions options;
  Found found(options);
  detail::Lane lane(space, options, Room::Planned, found);
  const long before = allocations;
  for (std::uint32_t i = 0; i < space.arrangements().size(); ++i) lane.visit({0, i});
  CHECK(allocations - before == 0);
  CHECK(found.counts.evaluated > 1'000);
}
