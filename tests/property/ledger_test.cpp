// What a ledger prints adds up, names each thing once, and every formula gives the value beside it.
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "catch.hpp"
#include "formula_evaluator.hpp"
#include "plans.hpp"
#include "trainplan/cost/plan_cost.hpp"
#include "trainplan/render/render.hpp"

using namespace property;

namespace {

bool near(double a, double b, double relative) {
  return std::abs(a - b) <= relative * std::max(std::abs(a), std::abs(b));
}

/// Calls check(sample, ledger) for ledgers of pseudo-random plans and stages.
template <class Check>
void for_ledgers(std::uint64_t start, int count, Check check) {
  Plans plans(start);
  for (int i = 0; i < count; ++i) {
    const Sample s = plans.next();
    const Ledger ledger = explain(s.problem, s.plan, i % s.plan.pp);
    check(s, ledger);
  }
}

formula_evaluator::Symbols symbols_of(const Ledger& ledger, const LineItem& item) {
  formula_evaluator::Symbols symbols;
  for (const std::uint32_t n : ledger.operands(item))
    symbols[ledger.tape().label(ledger.tape().node(n)).symbol] = ledger.tape().node(n).value;
  return symbols;
}

}  // namespace

TEST_CASE("the parts of every item sum to it, or the largest is it") {
  int sums = 0;
  for_ledgers(3, 1'000 / kShare, [&](const Sample& s, const Ledger& ledger) {
    for (const LineItem& item : ledger.items()) {
      const auto parts = ledger.parts(item);
      if (parts.empty()) continue;
      ++sums;
      double sum = 0;
      for (const LineItem* part : parts) sum += part->value;
      if (near(sum, item.value, 1e-12)) continue;
      CAPTURE(described(s), item.id);
      CHECK(sum == item.value);
    }
  });
  CHECK(sums > 10'000 / kShare);
}

TEST_CASE("the totals of every ledger are taken apart") {
  for_ledgers(4, 1'000 / kShare, [](const Sample& s, const Ledger& ledger) {
    for (const char* id : {"params.total", "memory.state", "memory.allocated", "memory.reserved",
                           "memory.device", "activations.layer", "step.exposed", "step.time"}) {
      const LineItem* item = ledger.find(id);
      // A stage of dense and sparse layers has the mean of the two, which are sums themselves.
      if (std::string_view(id) == "activations.layer" && ledger.find("activations.sparse_layer") != nullptr)
        item = ledger.find("activations.sparse_layer");
      if (item != nullptr && !ledger.parts(*item).empty()) continue;
      // With state on the host one row or none is left.
      if (std::string_view(id) == "memory.state" && s.problem.recipe.offload.any()) continue;
      // The mean of two kinds of layers, each of which is taken apart.
      const LineItem *dense = ledger.find("activations.dense_layer"),
                     *sparse = ledger.find("activations.sparse_layer");
      if (std::string(id) == "activations.layer" && dense != nullptr && sparse != nullptr &&
          !ledger.parts(*dense).empty() && !ledger.parts(*sparse).empty())
        continue;
      CAPTURE(described(s), id);
      CHECK(item != nullptr);
      if (item != nullptr) CHECK_FALSE(ledger.parts(*item).empty());
    }
  });
}

TEST_CASE("ids and symbols of a ledger stand for one thing each") {
  std::set<std::string> twice;
  for_ledgers(5, 1'000 / kShare, [&](const Sample&, const Ledger& ledger) {
    std::set<std::string> ids;
    std::map<std::string, std::string> symbols;
    for (const LineItem& item : ledger.items()) {
      if (!ids.insert(item.id).second) twice.insert(item.id);
      const auto [it, fresh] = symbols.emplace(item.symbol, item.id);
      if (!fresh && it->second != item.id)
        twice.insert(item.symbol + " is " + it->second + " and " + item.id);
      if (item.symbol.empty() || item.title.empty()) twice.insert("nameless: " + item.id);
    }
  });
  CHECK(twice == std::set<std::string>{});
}

TEST_CASE("every formula gives its value: from its symbols, and from its printed numbers") {
  std::set<std::string> wrong;
  for_ledgers(6, 300 / kShare, [&](const Sample& s, const Ledger& ledger) {
    for (const LineItem& item : ledger.items()) {
      const std::string letters = formula_text(ledger.tape(), item.expr, Notation::Symbols);
      const std::string numbers = formula_text(ledger.tape(), item.expr, Notation::Numbers);
      const auto by_letters = formula_evaluator::evaluate(letters, symbols_of(ledger, item));
      const auto by_numbers = formula_evaluator::evaluate(numbers);
      if (!by_letters || !near(*by_letters, item.value, 1e-9))
        wrong.insert(item.id + " = " + letters + ", " + described(s));
      if (!by_numbers || !near(*by_numbers, item.value, 1e-3))
        wrong.insert(item.id + " = " + numbers + ", " + described(s));
      if (wrong.size() > 20) return;
    }
  });
  CHECK(wrong == std::set<std::string>{});
}

TEST_CASE("every operand of every formula says what it is and where it comes from") {
  std::set<std::string> mute;
  for_ledgers(7, 300 / kShare, [&](const Sample&, const Ledger& ledger) {
    for (const LineItem& item : ledger.items())
      for (const std::uint32_t n : ledger.operands(item)) {
        const Label& label = ledger.tape().label(ledger.tape().node(n));
        if (label.symbol.empty() || label.meaning.empty() || label.origin.empty())
          mute.insert(item.id + ": " + label.symbol);
        const bool named = ledger.tape().node(n).op == Op::Named;
        if (named && ledger.find(label.origin) == nullptr) mute.insert(label.origin);
      }
  });
  CHECK(mute == std::set<std::string>{});
}
