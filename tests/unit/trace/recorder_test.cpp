#include "trainplan/trace/recorder.hpp"

#include <string>
#include <vector>

#include "catch.hpp"

using namespace trainplan;

namespace {

constexpr Formula kRoot{"root", "root of twice the product", Source{"book", "page 7"},
                        std::array{Arg{"delta", "d", "cost"}, Arg{"mtbf", "M", "time"}},
                        []<class N>(Seconds<N> delta, Seconds<N> mtbf) { return sqrt(2.0 * delta * mtbf); }};
constexpr Formula kShare{"share", "a share", Source{"book", "page 2"},
                         std::array{Arg{"size", "S", "bytes"}, Arg{"n", "n", "ranks", 1}},
                         []<class N>(Bytes<N> size, Count<N> n) { return size * (n - 1.0) / n; }};
constexpr Formula kRound{
    "round", "rounded up", Source{"book", "page 2"},
    std::array{Arg{"v", "v", "value"}, Arg{"k", "k", "multiple", 1}},
    []<class N>(Count<N> v, Count<N> k) { return max(ceil(v / k) * k, positive(v - k)) - floor(min(v, k)); }};

/// The same computation for both recorders.
template <Recorder R>
std::array<double, 4> sample(R& rec, double scale) {
  using N = typename R::Num;
  const auto delta = rec.template in<Seconds<N>>({"d", "cost of a save", "a.json /delta"}, 300 * scale);
  const auto mtbf = rec.template in<Seconds<N>>({"M", "mean time", "a.json /mtbf"}, 10980 / scale);
  const auto size = rec.template in<Bytes<N>>({"S", "payload", "b.json /size"}, 1e9 / 3 * scale);
  const auto n = rec.template in<Count<N>>({"n", "ranks", "plan /tp"}, 7);
  const auto tau = rec.apply(kRoot, {"tau", "tau", ""}, delta, mtbf);
  const auto sent = rec.apply(kShare, {"sent", "V", "bytes sent"}, size, n);
  const auto rounded = rec.apply(kRound, {"rounded", "r", ""}, n * 1000.1 * scale, n);
  const auto total = rec.item({"total", "T", "all of it"}, tau + delta / n + tau);
  return {value_of(tau), value_of(sent), value_of(rounded), value_of(total)};
}

std::vector<std::string> ids(const std::vector<const LineItem*>& items) {
  std::vector<std::string> out;
  for (const LineItem* i : items) out.push_back(i->id);
  return out;
}

using Ids = std::vector<std::string>;

/// Three named parts for the tests of sums and maxima.
struct Parts {
  Explain rec;
  Bytes<Sym> a = named("a", 8), b = named("b", 4), c = named("c", 1);

  Bytes<Sym> named(std::string_view id, double v) {
    return rec.item({id, id, id}, 1.0 * rec.in<Bytes<Sym>>({"x", "an input", "here"}, v));
  }
  Ids of(Bytes<Sym> q) {
    rec.item({"whole", "W", "whole"}, q);
    return ids(rec.ledger().parts(*rec.ledger().find("whole")));
  }
};

}  // namespace

TEST_CASE("Eval and Explain give the same bits") {
  for (int i = 1; i <= 200; ++i) {
    Eval eval;
    Explain explain;
    CAPTURE(i);
    CHECK(sample(eval, i / 7.0) == sample(explain, i / 7.0));
  }
}

TEST_CASE("an item keeps its formula, source, dimension and value; the title falls back to the formula's") {
  Explain rec;
  const auto values = sample(rec, 1);
  const Ledger& ledger = rec.ledger();
  REQUIRE(ledger.items().size() == 4);
  const LineItem& tau = *ledger.find("tau");
  CHECK(tau.formula == "root");
  CHECK(tau.title == "root of twice the product");
  CHECK(tau.source == "book, page 7");
  CHECK(tau.symbol == "tau");
  CHECK(tau.dim == kSeconds);
  CHECK(tau.value == values[0]);
  CHECK(tau.value == Approx(std::sqrt(2.0 * 300 * 10980)).epsilon(1e-15));
  CHECK(ledger.find("sent")->title == "bytes sent");
  CHECK(ledger.find("sent")->source == "book, page 2");
  CHECK(ledger.find("sent")->dim == kBytes);
  CHECK(ledger.find("total")->formula.empty());
  CHECK(ledger.find("missing") == nullptr);
}

TEST_CASE("operands are the inputs and named results of a formula, in order, each once") {
  Explain rec;
  sample(rec, 1);
  const Ledger& ledger = rec.ledger();
  const auto symbols = [&](std::string_view id) {
    std::vector<std::string> out;
    for (const std::uint32_t n : ledger.operands(*ledger.find(id)))
      out.push_back(ledger.tape().label(ledger.tape().node(n)).symbol);
    return out;
  };
  CHECK(symbols("tau") == Ids{"d", "M"});
  CHECK(symbols("sent") == Ids{"S", "n"});
  CHECK(symbols("rounded") == Ids{"n"});
  CHECK(symbols("total") == Ids{"tau", "d", "n"});  // tau stands twice, and as a name, not as its formula
}

TEST_CASE("a named result stands in later formulas as one node with its symbol, title and id") {
  Explain rec;
  sample(rec, 1);
  const Ledger& ledger = rec.ledger();
  const LineItem& tau = *ledger.find("tau");
  const Node& node = ledger.tape().node(tau.name);
  CHECK(node.op == Op::Named);
  CHECK(node.a == tau.expr);
  CHECK(node.value == tau.value);
  const Label& label = ledger.tape().label(node);
  CHECK(label.symbol == "tau");
  CHECK(label.meaning == "root of twice the product");
  CHECK(label.origin == "tau");
  CHECK(label.dim == kSeconds);
}

TEST_CASE("an input keeps where it came from") {
  Explain rec;
  sample(rec, 1);
  const Ledger& ledger = rec.ledger();
  const auto nodes = ledger.operands(*ledger.find("sent"));
  REQUIRE(nodes.size() == 2);
  const Label& size = ledger.tape().label(ledger.tape().node(nodes[0]));
  CHECK(size.meaning == "payload");
  CHECK(size.origin == "b.json /size");
  CHECK(size.dim == kBytes);
  CHECK(ledger.tape().label(ledger.tape().node(nodes[1])).dim == kCount);
}

TEST_CASE("a sum has its named addends as parts, a maximum the part that won") {
  Parts p;
  SECTION("sum, however it is bracketed") { CHECK(p.of(p.a + (p.b + p.c)) == Ids{"a", "b", "c"}); }
  SECTION("a zero in a sum is no part") { CHECK(p.of(Bytes<Sym>{0.0} + p.a + p.b) == Ids{"a", "b"}); }
  SECTION("an addend without a name: not a plain sum") { CHECK(p.of(p.a + 2.0 * p.b) == Ids{}); }
  SECTION("a constant addend") { CHECK(p.of(p.a + Bytes<Sym>{3.0}) == Ids{}); }
  SECTION("a difference") { CHECK(p.of(p.a - p.b) == Ids{}); }
  SECTION("one addend is no sum") { CHECK(p.of(1.0 * p.a) == Ids{}); }
  SECTION("maximum") { CHECK(p.of(max(max(p.c, p.a), p.b)) == Ids{"a"}); }
  SECTION("the first of equals") { CHECK(p.of(max(max(p.b, p.named("d", 4)), p.c)) == Ids{"b"}); }
  SECTION("a maximum that an unnamed argument won") { CHECK(p.of(max(2.0 * p.a, p.b)) == Ids{}); }
}

TEST_CASE("the ledger can be taken out whole") {
  Explain rec;
  sample(rec, 1);
  const Ledger ledger = rec.take_ledger();
  REQUIRE(ledger.find("total") != nullptr);
  CHECK(ledger.tape().node(ledger.find("total")->expr).op == Op::Add);
}
