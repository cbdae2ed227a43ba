// evaluate() and explain() are one body: they agree in every bit of every field, over many plans.
#include <bit>
#include <cmath>
#include <map>
#include <string>

#include "catch.hpp"
#include "fields.hpp"
#include "plans.hpp"

using namespace property;

namespace {

/// The first field that differs, is no number or is below zero; empty when there is none.
std::string first_difference(const Fields& a, const Fields& b) {
  for (std::size_t i = 0; i < kFields; ++i) {
    const bool same = std::bit_cast<std::uint64_t>(a[i].value) == std::bit_cast<std::uint64_t>(b[i].value);
    if (!same || a[i].name.empty() || !std::isfinite(a[i].value) || a[i].value < 0)
      return std::string(a[i].name) + ": " + std::to_string(a[i].value) + " and " +
             std::to_string(b[i].value);
  }
  return "";
}

}  // namespace

TEST_CASE("evaluate and explain agree bit for bit over 10,000 plans") {
  Plans plans(1);
  std::map<std::string, int> seen;
  int differing = 0;
  for (int i = 0; i < 10'000 / kShare; ++i) {
    const Sample s = plans.next();
    const PlanCost<double> numbers = evaluate(s.problem, s.plan);
    Explain rec;
    const PlanCost<Sym> traced = plan_cost(rec, s.problem, s.plan, numbers.stage);
    const std::string difference = first_difference(fields_of(numbers), fields_of(traced));
    ++seen[s.framework + " " + std::string(name_of(s.plan.sharding)) + " " +
           std::string(name_of(s.plan.schedule))];
    if (difference.empty()) continue;
    ++differing;
    CAPTURE(described(s));
    CHECK(difference == "");
    if (differing > 5) break;
  }
  CHECK(differing == 0);
  // 13 shardings of 4 profiles; DeepSpeed does not interleave
  CHECK(seen.size() >= (kShare == 1 ? 25u : 20u));
}

TEST_CASE("the fullest stage needs at least what every stage needs") {
  Plans plans(2);
  for (int i = 0; i < 1'000 / kShare; ++i) {
    const Sample s = plans.next();
    const double most = evaluate(s.problem, s.plan).memory.device.num();
    for (int stage = 0; stage < s.plan.pp; ++stage) {
      const double device = evaluate_stage(s.problem, s.plan, stage).memory.device.num();
      if (device <= most) continue;
      CAPTURE(described(s), stage);
      CHECK(device <= most);
    }
  }
}
