#include "trainplan/derive/elasticity.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "asked.hpp"
#include "catch.hpp"
#include "trainplan/derive/derive.hpp"

using namespace trainplan;
using problems::Asked;
using problems::Draft;

namespace {

Trial trial_of(Draft& draft, const Plan& plan = problems::main_plan()) {
  const Problem problem = draft.problem();
  return {problem, plan, evaluate(problem, plan)};
}

const Elasticity& named(const std::vector<Elasticity>& all, std::string_view name) {
  const auto it = std::find_if(all.begin(), all.end(), [&](const Elasticity& e) { return e.name == name; });
  if (it == all.end()) throw std::runtime_error("no input " + std::string(name));
  return *it;
}

/// Derivatives of a node with respect to every node below it, backwards over the tape.
std::vector<double> derivatives(const Tape& tape, std::uint32_t root) {
  std::vector<double> d(root + 1, 0.0);
  d[root] = 1;
  for (std::uint32_t i = root + 1; i-- > 0;) {
    const Node& n = tape.node(i);
    const double x = d[i];
    const auto a = [&] { return tape.node(n.a).value; };
    const auto b = [&] { return tape.node(n.b).value; };
    if (x == 0) continue;
    switch (n.op) {
      case Op::Input:
      case Op::Literal:
      case Op::Ceil:
      case Op::Floor: break;
      case Op::Named: d[n.a] += x; break;
      case Op::Add: d[n.a] += x, d[n.b] += x; break;
      case Op::Sub: d[n.a] += x, d[n.b] -= x; break;
      case Op::Mul: d[n.a] += x * b(), d[n.b] += x * a(); break;
      case Op::Div: d[n.a] += x / b(), d[n.b] -= x * a() / (b() * b()); break;
      case Op::Max: d[a() >= b() ? n.a : n.b] += x; break;
      case Op::Min: d[a() <= b() ? n.a : n.b] += x; break;
      case Op::Pow:
        d[n.a] += x * b() * std::pow(a(), b() - 1);
        if (a() > 0) d[n.b] += x * n.value * std::log(a());
        break;
      case Op::Sqrt: d[n.a] += x / (2 * n.value); break;
      case Op::Log2: d[n.a] += x / (a() * std::log(2.0)); break;
      case Op::Exp: d[n.a] += x * n.value; break;
      case Op::LambertW:
      case Op::NormalMax:
      case Op::GammaQuantile: FAIL("not in a step"); break;
    }
  }
  return d;
}

/// Elasticities of the step by the chain rule, for the place of each input; zero ones left out.
std::map<std::string, double> by_chain_rule(const Trial& t) {
  const Ledger ledger = explain(t.problem, t.plan, t.cost.stage);
  const LineItem& step = *ledger.find("step.time");
  const auto d = derivatives(ledger.tape(), step.expr);
  std::map<std::string, double> out;
  for (std::uint32_t i = 0; i < d.size(); ++i) {
    const Node& n = ledger.tape().node(i);
    if (n.op == Op::Input) out[ledger.tape().label(n).origin] += d[i] * n.value / step.value;
  }
  return out;
}

/// A number of a cluster, an accelerator or the constants, and no integer.
bool is_continuous(const std::string& origin) {
  const auto has = [&](const char* part) { return origin.find(part) != std::string::npos; };
  return has(".json /") && !has("models/") && !has("/nodes") && !has("/vocabulary/multiple");
}

void agree(const Trial& t) {
  const auto listed = elasticities(t);
  const auto exact = by_chain_rule(t);
  for (const Elasticity& e : listed) {
    const auto found = exact.find(e.origin);
    CAPTURE(e.name, e.origin);
    if (e.one_sided) continue;
    CHECK(e.step == Approx(found == exact.end() ? 0 : found->second).margin(2e-4));
  }
  for (const auto& input : exact) {
    if (!is_continuous(input.first) || std::abs(input.second) < 1e-9) continue;
    CAPTURE(input.first, input.second);
    const auto is_it = [&](const Elasticity& e) { return e.origin == input.first; };
    CHECK(std::any_of(listed.begin(), listed.end(), is_it));
  }
}

}  // namespace

TEST_CASE("every continuous input of a step is listed, with the derivative that the tape gives") {
  for (const auto& [model, cluster] :
       {std::pair{"llama70b", "h100x1024"}, std::pair{"llama8b", "a100x1024"},
        std::pair{"deepseek-v3", "h800x2048"}, std::pair{"mixtral-8x7b", "h100x64"}}) {
    CAPTURE(model, cluster);
    agree(Asked(model, cluster).derived()->chosen);
    agree(Asked(model, cluster, {{"tp_overlap", "false"}, {"dp_overlap", "false"}}).derived()->chosen);
  }
  agree(Asked("llama70b", "h100x1024", {{"matmul_precision", "fp8"}}).derived()->chosen);
  agree(Asked("llama405b", "gb200x576", {{"matmul_precision", "nvfp4"}}).derived()->chosen);
  agree(Asked("llama8b", "h100x64", {{"framework", "torchtitan"}}).derived()->chosen);
}

TEST_CASE("rates twice as high and times half as long would halve the step") {
  for (const auto& [model, cluster] :
       {std::pair{"llama70b", "h100x1024"}, std::pair{"deepseek-v3", "h800x2048"}}) {
    const Trial t = Asked(model, cluster).derived()->chosen;
    double sum = 0;
    for (const Elasticity& e : elasticities(t)) {
      const bool rate = e.value.unit == Unit::FlopRate || e.value.unit == Unit::ByteRate;
      if (rate) sum += e.step;
      if (e.value.unit == Unit::Time) sum -= e.step;
    }
    CAPTURE(model);
    CHECK(sum == Approx(-1).margin(5e-4));
  }
  // The same on the step itself, with nothing left to first order.
  Draft slow, fast;
  for (Figure* f :
       {&fast.cluster.accelerator.bf16_dense, &fast.cluster.accelerator.memory_bandwidth,
        &fast.cluster.accelerator.scale_up_bandwidth, &fast.cluster.nic_per_gpu, &fast.cluster.pcie})
    f->value *= 2;
  for (Figure* f : {&fast.calibration.time.kernel_start, &fast.calibration.time.ring_step,
                    &fast.calibration.time.step_fixed})
    f->value /= 2;
  for (StackConstants& s : fast.calibration.stacks) s.host_per_layer.value /= 2, s.expert_overhead.value /= 2;
  CHECK(trial_of(fast).cost.step.step.num() ==
        Approx(trial_of(slow).cost.step.step.num() / 2).epsilon(1e-12));
}

TEST_CASE("more of a rate never lengthens a step, more of a time never shortens it") {
  for (const char* model : {"llama8b", "llama70b", "mixtral-8x7b"}) {
    const auto all = elasticities(Asked(model, "h100x1024").derived()->chosen);
    CAPTURE(model);
    for (const Elasticity& e : all) {
      CAPTURE(e.name);
      if (e.value.unit == Unit::FlopRate || e.value.unit == Unit::ByteRate) CHECK(e.step <= 0);
      if (e.value.unit == Unit::Time) CHECK(e.step >= 0);
    }
    CHECK(std::is_sorted(all.begin(), all.end(), [](const Elasticity& a, const Elasticity& b) {
      return std::abs(a.step) > std::abs(b.step);
    }));
  }
}

TEST_CASE("1 % more of the peak changes the step as listed") {
  Draft draft;
  const auto before = trial_of(draft);
  const Elasticity peak = named(elasticities(before), "dense bf16 peak");
  CHECK(peak.value.number == draft.cluster.accelerator.bf16_dense.value);
  CHECK(peak.origin == draft.cluster.accelerator.bf16_dense.origin);
  draft.cluster.accelerator.bf16_dense.value *= 1.01;
  const double change = trial_of(draft).cost.step.step.num() / before.cost.step.step.num() - 1;
  CHECK(change == Approx(peak.step / 100).epsilon(0.02));
  CHECK(peak.step < -0.5);
}

TEST_CASE("the step of the stack goes in whole, formats that are not used do nothing") {
  Draft draft;
  draft.recipe.stack = Stack::MegatronCore;
  const auto all = elasticities(trial_of(draft));
  CHECK(named(all, "step of the stack over the model").step == Approx(1).epsilon(1e-9));
  CHECK(named(all, "dense fp8 peak").step == 0);
  CHECK(named(all, "rate of fp8 products").step == 0);
  draft.recipe.matmul = Matmul::Fp8;
  CHECK(named(elasticities(trial_of(draft)), "rate of fp8 products").step < -0.2);
}

TEST_CASE("an input at the end of its range is moved to the other side only") {
  Draft draft;
  draft.calibration.time.scale_up_rate.value = 1;
  const Elasticity e = named(elasticities(trial_of(draft)), "reached share of scale-up");
  CHECK(e.one_sided);
  CHECK(e.step < 0);
  CHECK_FALSE(named(elasticities(trial_of(draft)), "dense bf16 peak").one_sided);
  const auto sparse = elasticities(Asked("mixtral-8x7b", "h100x64").derived()->chosen);
  CHECK(named(sparse, "busiest expert rank over the mean").one_sided);  // balanced is the least
  CHECK(named(sparse, "busiest expert rank over the mean").step > 0);
}

TEST_CASE("what the gate leaves: 1 % of the usable memory, less 1 % of what is taken beside the tensors") {
  Draft draft;
  const auto t = trial_of(draft);
  const auto all = elasticities(t);
  const Calibration& c = draft.calibration;
  const double usable = 0.01 * draft.cluster.accelerator.usable_memory.value * c.capacity_gate.value;
  CHECK(named(all, "usable memory").room == Approx(usable).epsilon(1e-6));
  CHECK(named(all, "gate, share of usable memory").room == Approx(usable).epsilon(1e-6));
  CHECK(named(all, "CUDA context").room == Approx(-0.01 * c.cuda_context.value).epsilon(1e-6));
  CHECK(named(all, "communicators").room == Approx(-0.01 * c.communicators.value).epsilon(1e-6));
  CHECK(named(all, "dense bf16 peak").room == 0);
  CHECK(named(all, "usable memory").step == 0);
}
