// The answers of gap and mfu as reports.
#include "trainplan/report/gap_report.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <variant>

#include "asked.hpp"
#include "catch.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/report/mfu_report.hpp"

using namespace trainplan;
using problems::Asked;

namespace {

/// A plan, a gap and the answer with all that it refers to.
struct Answered {
  Asked asked;
  Derivation derivation;
  Ledger plan;
  GapSpec gap;
  Explain rec;

  explicit Answered(
      problems::Fields fields = {{"tp", "8"}, {"pp", "4"}, {"vpp", "4"}, {"flop_convention", "full"}})
      : asked("llama70b", "h100x1024", fields),
        derivation(*asked.derived()),
        plan(explain(derivation.chosen.problem, derivation.chosen.plan, derivation.chosen.cost.stage)) {
    Issues issues;
    gap = load_run("gap-example", issues)->gap;
  }
  Report report() {
    const Trial& t = derivation.chosen;
    const auto answer = answer_gap(rec, t, plan, gap, "run.json", gap_norms(anchors()));
    return gap_report(t, gap, answer, rec.ledger(), anchors(), {}, false);
  }
};

const Table& table(const Report& r, std::string_view key) {
  for (const Section& s : r.sections)
    for (const Block& b : s.blocks)
      if (const Table* t = std::get_if<Table>(&b); t != nullptr && t->key == key) return *t;
  FAIL("no table " << key);
  throw std::logic_error("unreachable");
}

std::string text(const Cell& c) {
  if (const auto* code = std::get_if<Code>(&c)) return code->text;
  return std::get<std::string>(c);
}
double number(const Cell& c) { return std::get<Value>(c).number; }

}  // namespace

TEST_CASE("the order of repair is configuration, hardware, data, structure") {
  Answered a;
  const Report r = a.report();
  const Table& order = table(r, "order");
  REQUIRE(order.rows.size() == 4);
  const char* const names[] = {"configuration", "hardware", "data", "structure"};
  const double points[] = {0.0671, 0.0240, 0.0034, 0.0055};
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    CHECK(text(order.rows[i][1]) == names[i]);
    CHECK(number(order.rows[i][3]) == Approx(points[i]).margin(5e-5));
  }
  // One point: 30 days / 42 and the price of 1,024 GPUs for that time.
  CHECK(number(order.rows[0][4]) == Approx(6.712 * 30 * 86400 / 42).epsilon(1e-3));
  CHECK(number(order.rows[0][5]) == Approx(6.712 * 43886).epsilon(1e-3));
}

TEST_CASE("with a token budget an item takes its excess of every step") {
  Answered a({{"tp", "8"}, {"pp", "4"}, {"vpp", "4"}, {"flop_convention", "full"}, {"tokens", "15T"}});
  const Report r = a.report();
  const double steps = 15e12 / 4194304, progress = a.plan.find("goodput")->value;
  CHECK(number(table(r, "order").rows[0][4]) == Approx(steps * 0.98 / progress));
}

TEST_CASE("what the plan predicts is normal for it, a budget as given is not") {
  Answered a;
  const double bubble = a.plan.find("step.bubble")->value;
  const auto highest = [&] {
    const Report r = a.report();
    return number(table(r, "normal").rows[0][2]);
  };
  CHECK(highest() < bubble);
  a.gap.budget[index_of(LossItem::Bubble)].reset();
  CHECK(highest() == bubble);
}

TEST_CASE("what is not measured is empty in the ledger, and has a line of its own") {
  Answered a;
  a.gap.items[index_of(LossItem::Kernel)].reset();
  const Report r = a.report();
  const Table& ledger = table(r, "ledger");
  REQUIRE(ledger.rows.size() == 8);
  const auto& kernel = ledger.rows[index_of(LossItem::Kernel)];
  CHECK(text(kernel[0]) == "kernel");
  CHECK(std::holds_alternative<std::monostate>(kernel[3]));
  CHECK(std::holds_alternative<std::monostate>(kernel[5]));
  CHECK(text(ledger.rows[7][0]) == "not measured");
  CHECK(number(ledger.rows[7][3]) == Approx(6.2 - 2.11));
  CHECK(table(r, "order").rows.size() == 5);
}

TEST_CASE("a residual that grew without an item is no item's fault, and is shown") {
  Answered a;
  a.gap.items[index_of(LossItem::Kernel)] = Stated{3.0};
  const Report r = a.report();
  const Table& order = table(r, "order");
  REQUIRE(order.rows.size() == 5);
  CHECK(text(order.rows[4][1]) == "not explained");
  CHECK(number(order.rows[4][2]) == Approx(1.09 - 0.69743).margin(1e-4));
}

TEST_CASE("without a price there are no dollars") {
  problems::Draft draft;
  draft.cluster.price = {};
  const Problem problem = draft.problem();
  Explain rec;
  const MfuQuestion question{.step = 4.5};
  const auto cost = mfu_cost(rec, problem, question, published(anchors(), "mfu_good").value);
  const Report r = mfu_report(problem, {}, question, cost, rec.ledger(), anchors(), {}, false);
  const Section& worth = r.sections.back();
  CHECK(worth.key == "worth");
  REQUIRE(worth.blocks.size() == 2);
  for (const Fact& f : std::get<Facts>(worth.blocks[0]).facts) CHECK(f.key != "money");
}

TEST_CASE("the band of an MFU") {
  const UtilisationBand band = utilisation_band(anchors());
  const auto words = [&](double mfu_reached) {
    return std::get<std::string>(band_of(band, mfu_reached).front());
  };
  CHECK(words(0.299) == "a clear problem: under ");
  CHECK(words(0.3).starts_with("below a good result"));
  CHECK(words(0.4) == "good: ");
}

TEST_CASE("a missing published figure is a defect, not an answer") {
  CHECK_THROWS(published({}, "mfu_good"));
}
