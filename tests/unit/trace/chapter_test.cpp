#include "trainplan/trace/chapter.hpp"

#include <vector>

#include "catch.hpp"

using namespace trainplan;

namespace {

constexpr Formula kRate{"rate", "bytes of a second", Source{"book", "page 1"},
                        std::array{Arg{"bytes", "V", "bytes"}, Arg{"time", "t", "time", 1e-9}},
                        []<class N>(Bytes<N> bytes, Seconds<N> time) { return bytes / time; }};
constexpr Formula kTwice{"twice", "twice a number", Source{"book", "page 2"},
                         std::array{Arg{"x", "x", "number"}}, []<class N>(Count<N> x) { return 2.0 * x; }};
constexpr Formula kMix{
    "mix", "tokens, parameters and dollars", Source{"book", "page 2"},
    std::array{Arg{"d", "D", "tokens"}, Arg{"n", "N", "parameters"}, Arg{"c", "c", "dollars"}},
    []<class N>(Tokens<N> d, Params<N> n, Usd<N> c) { return d * n / c; }};

using Sample = Chapter<kRate, kTwice, kMix>;

}  // namespace

TEST_CASE("a chapter knows each formula's arguments with their dimensions, and its result") {
  static_assert(Sample::size == 3);
  const auto entries = Sample::entries();
  const CatalogEntry& rate = entries[0];
  CHECK(rate.id == "rate");
  CHECK(rate.title == "bytes of a second");
  CHECK(rate.source.key == "book");
  CHECK(rate.source.where == "page 1");
  REQUIRE(rate.args.size() == 2);
  REQUIRE(rate.dims.size() == 2);
  CHECK(rate.args[1].name == "time");
  CHECK(rate.args[1].lo == 1e-9);
  CHECK(rate.args[0].lo == 0);
  CHECK(rate.args[0].hi > 1e300);
  CHECK(rate.dims[0] == kBytes);
  CHECK(rate.dims[1] == kSeconds);
  CHECK(rate.result == kBytes - kSeconds);
  CHECK(entries[1].dims[0] == kCount);
  CHECK(entries[2].dims.size() == 3);
  CHECK(entries[2].result == kTokens + kParams - kUsd);
}

TEST_CASE("an entry computes what a direct call computes") {
  const auto entries = Sample::entries();
  const std::vector<double> rate{7, 3}, twice{0.1}, mix{7, 11, 13};
  CHECK(entries[0].evaluate(rate) == kRate(Bytes<>{7}, Seconds<>{3}).num());
  CHECK(entries[1].evaluate(twice) == 0.2);
  CHECK(entries[2].evaluate(mix) == 7.0 * 11 / 13);
}

TEST_CASE("an explained entry files one item under its id, with its arguments as operands") {
  const auto entries = Sample::entries();
  for (const CatalogEntry& entry : entries) {
    CAPTURE(entry.id);
    const std::vector<double> values(entry.args.size(), 3.7);
    Explain rec;
    entry.explain(rec, values);
    const Ledger& ledger = rec.ledger();
    REQUIRE(ledger.items().size() == 1);
    const LineItem& item = ledger.items().front();
    CHECK(item.id == entry.id);
    CHECK(item.title == entry.title);
    CHECK(item.formula == entry.id);
    CHECK(item.dim == entry.result);
    CHECK(item.value == entry.evaluate(values));
    const auto operands = ledger.operands(item);
    REQUIRE(operands.size() == entry.args.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Label& label = ledger.tape().label(ledger.tape().node(operands[i]));
      CHECK(label.symbol == entry.args[i].symbol);
      CHECK(label.meaning == entry.args[i].meaning);
      CHECK(label.dim == entry.dims[i]);
    }
  }
}
