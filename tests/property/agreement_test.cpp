// evaluate() and explain() are one body: they agree in every bit of every field, over many plans.
#include <algorithm>
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
std::string first_difference(const Problem& x, const Fields& a, const Fields& b) {
  for (std::size_t i = 0; i < kFields; ++i) {
    const bool same = std::bit_cast<std::uint64_t>(a[i].value) == std::bit_cast<std::uint64_t>(b[i].value);
    const bool below = a[i].value < 0 && !may_be_negative(a[i].name, x);
    if (!same || a[i].name.empty() || !std::isfinite(a[i].value) || below)
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
    const std::string difference = first_difference(s.problem, fields_of(numbers), fields_of(traced));
    CHECK(numbers.pipeline.slowest_stage == traced.pipeline.slowest_stage);
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

TEST_CASE("the step is the ideal and seven losses, each the sum of its parts, over 5,000 plans") {
  Plans plans(13);
  const auto near = [](Seconds<> a, Seconds<> b) {
    return std::abs(a.num() - b.num()) <= 1e-12 * std::max(std::abs(a.num()), std::abs(b.num()));
  };
  for (int i = 0; i < 5'000 / kShare; ++i) {
    const Sample x = plans.next();
    const PlanCost<double> c = evaluate(x.problem, x.plan);
    const auto& s = c.step;
    const auto& p = c.pipeline;
    const double m = c.schedule.micro_batches.num() / x.plan.pp;
    CAPTURE(described(x));
    CHECK(near(s.step, c.compute.ideal + s.bubble + s.exposed + s.recompute + s.data_wait + s.kernel +
                           s.launch + s.straggler));
    CHECK(near(s.exposed, s.exposed_tensor + s.exposed_data + s.exposed_context + s.exposed_experts +
                              s.exposed_pipeline + s.exposed_tied + s.exposed_host));
    CHECK(near(s.kernel + c.compute.ideal, s.compute + s.optimizer + s.unmodelled));
    CHECK(near(p.all, p.kernels + p.tensor + p.context + p.experts + p.again + p.wait));
    CHECK(near(m * p.all, s.compute + s.exposed_tensor + s.exposed_context + s.exposed_experts + s.recompute +
                              m * p.wait));
    // the bubble is what the pipeline takes beyond the mean of its stages
    CHECK(near(p.step, m * p.all + s.bubble));
    CHECK(p.slowest.num() * x.plan.pp >= p.all.num() * (1 - 1e-12));
    CHECK(p.slowest.num() <= p.all.num() * (1 + 1e-12));
  }
}

TEST_CASE("of the stage that is looked at, the step takes only its data parallel traffic, over 1,000 plans") {
  Plans plans(14);
  int several = 0;
  for (int i = 0; i < 1'000 / kShare; ++i) {
    Sample x = plans.next();
    const auto without_data = [&](int stage) {
      const StepCost<double> s = evaluate_stage(x.problem, x.plan, stage).step;
      const double slow = x.problem.stack().slowdown.value;
      return (s.step - s.straggler - slow * s.exposed_data).num();
    };
    if (x.plan.pp > 1) ++several;
    const double first = without_data(0);
    for (int stage = 1; stage < x.plan.pp; ++stage) {
      CAPTURE(described(x), stage);
      CHECK(without_data(stage) == Approx(first).epsilon(1e-12));
    }
  }
  CHECK(several > 300 / kShare);
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
