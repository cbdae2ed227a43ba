#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "formula_evaluator.hpp"
#include "trainplan/render/render.hpp"
#include "trainplan/trace/recorder.hpp"

using namespace trainplan;
using formula_evaluator::evaluate;

namespace {

/// Leaves and results on one tape, by name.
struct Board {
  Tape tape;

  Sym leaf(const std::string& symbol, double value, Dim dim = {}) {
    return {value, tape.add(Node{.op = Op::Input, .value = value}, Label{symbol, symbol, "/" + symbol, dim}),
            tape};
  }
  Sym named(const std::string& symbol, Sym of, Dim dim = {}) {
    const std::uint32_t expr = of.node(tape);
    return {of.value(),
            tape.add(Node{.op = Op::Named, .a = expr, .value = of.value()}, Label{symbol, "", "", dim}),
            tape};
  }
  std::string symbols(Sym of) { return formula_text(tape, of.node(tape), Notation::Symbols); }
  std::string numbers(Sym of) { return formula_text(tape, of.node(tape), Notation::Numbers); }
};

}  // namespace

TEST_CASE("the evaluator of the tests reads units, prefixes and precedence") {
  CHECK(evaluate("2 + 3 × 4") == 14);
  CHECK(evaluate("(2 + 3) × 4") == 20);
  CHECK(evaluate("100 / 4 / 5") == 5);
  CHECK(evaluate("10 - 3 - 2") == 5);
  CHECK(evaluate("450 GB/s × 2 s") == 900e9);
  CHECK(evaluate("4 B/param / (32 × 1)") == 0.125);
  CHECK(evaluate("3600 USD/h") == 1);
  CHECK(evaluate("max(1, -3 s) + sqrt(9) + ceil(0.2) + floor(2.9) + min(7, 8)") == 14);
  CHECK(evaluate("pow(3 / 2, 2) × log2(8)") == 6.75);
  CHECK(evaluate("a × b", {{"a", 3}, {"b", 5}}) == 15);
  CHECK_FALSE(evaluate("a ×"));
  CHECK_FALSE(evaluate("(1 + 2"));
  CHECK_FALSE(evaluate("unknown"));
  CHECK_FALSE(
      evaluate("1 2"
               " 3"));
}

TEST_CASE("a formula is written as in a paper") {
  Board b;
  const Sym n = b.leaf("N_s", 2.27126e9, kParams), w = b.leaf("w", 4, kBytes - kParams), d = b.leaf("d", 32),
            c = b.leaf("c", 1);
  const Sym state = n * w / (d * c);
  CHECK(b.symbols(state) == "N_s × w / (d × c)");
  CHECK(b.numbers(state) == "2.27126e9 param × 4 B/param / (32 × 1)");
  CHECK(b.symbols(b.named("M", state)) == "M");
  CHECK(b.numbers(b.named("M", state, kBytes)) == "283.908 MB");
}

TEST_CASE("parentheses stand only where they are needed") {
  Board x;
  const Sym a = x.leaf("a", 7), b = x.leaf("b", 3), c = x.leaf("c", 2);
  CHECK(x.symbols(a + (b + c)) == "a + b + c");
  CHECK(x.symbols(a - (b + c)) == "a - (b + c)");
  CHECK(x.symbols(a - (b - c)) == "a - (b - c)");
  CHECK(x.symbols(a - b + c) == "a - b + c");
  CHECK(x.symbols(a + (b - c)) == "a + b - c");
  CHECK(x.symbols((a + b) * c) == "(a + b) × c");
  CHECK(x.symbols(a * (b - c)) == "a × (b - c)");
  CHECK(x.symbols(a * (b * c)) == "a × b × c");
  CHECK(x.symbols(a * (b / c)) == "a × b / c");
  CHECK(x.symbols(a / (b * c)) == "a / (b × c)");
  CHECK(x.symbols(a / (b / c)) == "a / (b / c)");
  CHECK(x.symbols(a / b / c) == "a / b / c");
  CHECK(x.symbols(larger(a + b, c)) == "max(a + b, c)");
  CHECK(x.symbols(smaller(a, b) * sqrt(ceil(a / b)) - floor(c)) == "min(a, b) × sqrt(ceil(a / b)) - floor(c)");
  CHECK(x.symbols(a * pow(b + c, a / b) - log2(a * b)) == "a × pow(b + c, a / b) - log2(a × b)");
  CHECK(x.numbers(pow(b, c) + log2(c) - exp(b)) == "pow(3, 2) + log2(2) - exp(3)");
}

TEST_CASE("neutral zeros and ones are left out, others are not") {
  Board x;
  const Sym a = x.leaf("a", 7), one = x.leaf("one", 1), zero = x.leaf("zero", 0);
  CHECK(x.symbols(Sym(0.0) + a) == "a");
  CHECK(x.symbols(a - Sym(0.0)) == "a");
  CHECK(x.symbols(Sym(1.0) * a / Sym(1.0) * Sym(1.0)) == "a");
  CHECK(x.symbols(Sym(0.0) - a) == "0 - a");
  CHECK(x.symbols(Sym(0.0) * a) == "0 × a");
  CHECK(x.symbols(Sym(1.0) / a) == "1 / a");
  CHECK(x.symbols(larger(a, Sym(0.0))) == "max(a, 0)");
  CHECK(x.numbers(one * a + zero) == "1 × 7 + 0");
}

TEST_CASE("equal addends are counted") {
  Board x;
  const Sym t = x.leaf("t", 0.25, kSeconds), u = x.leaf("u", 2, kSeconds);
  Sym sum{0.0};
  for (int i = 0; i < 15; ++i) sum = sum + t;
  CHECK(x.symbols(sum) == "15 × t");
  CHECK(x.numbers(sum) == "15 × 0.25 s");
  Sym mixed = u;
  for (int i = 0; i < 3; ++i) mixed = mixed + (t - u);
  CHECK(x.symbols(mixed) == "u + 3 × (t - u)");
  CHECK(x.symbols(u * sum) == "u × 15 × t");
  CHECK(x.symbols(u / sum) == "u / (15 × t)");
  CHECK(x.symbols(t * u + t * u) == "2 × t × u");
  const Sym other = x.leaf("t", 0.5, kSeconds);
  CHECK(x.symbols(t + other) == "t + t");
}

TEST_CASE("negative numbers cannot be mistaken for a difference") {
  Board x;
  const Sym a = x.leaf("a", 7), n = x.leaf("n", -3, kSeconds);
  CHECK(x.numbers(a - n) == "7 - (-3 s)");
  CHECK(x.numbers(a + n) == "7 + (-3 s)");
  CHECK(x.numbers(n * a) == "(-3 s) × 7");
  CHECK(x.numbers(n) == "-3 s");
}

TEST_CASE("a difference of near numbers is printed with the digits that it needs") {
  Board x;
  const Sym big = x.leaf("big", 1.23456789012e12, kBytes), near = x.leaf("near", 1.23456788901e12, kBytes);
  const Sym gap = big - near;
  const auto text = x.numbers(gap);
  INFO(text);
  REQUIRE(evaluate(text));
  CHECK(*evaluate(text) == Approx(gap.value()).epsilon(1e-4));
  CHECK(x.numbers(big + near) == "1.23457 TB + 1.23457 TB");
}

TEST_CASE("a price is printed by the hour with no more digits than others") {
  Board x;
  const Sym price = x.leaf("price", 1.0 / 3 / 3600, kUsd - kSeconds), time = x.leaf("t", 86400, kSeconds);
  CHECK(x.numbers(price * time) == "0.333333 USD/h × 86400 s");
}

TEST_CASE("numbers of formulas") {
  CHECK(number_text(131072, kCount) == "131072");
  CHECK(number_text(0.15625, kCount) == "0.15625");
  CHECK(number_text(4194304, kTokens) == "4194304 token");
  CHECK(number_text(2.27126e9, kParams) == "2.27126e9 param");
  CHECK(number_text(300, kSeconds) == "300 s");
  CHECK(number_text(450e9, kBytes - kSeconds) == "450 GB/s");
  CHECK(number_text(989e12, kFlops - kSeconds) == "989 TFLOP/s");
  CHECK(number_text(65536, kBytes) == "65536 B");
  CHECK(number_text(999999.7, kBytes) == "1 MB");
  CHECK(number_text(3.8e25, kFlops) == "3.8e25 FLOP");
  CHECK(number_text(4.5e11, kFlops - kTokens) == "450 GFLOP/token");
  CHECK(number_text(6.375, kBytes - kParams) == "6.375 B/param");
  CHECK(number_text(2.5 / 3600, kUsd - kSeconds) == "2.5 USD/h");
  CHECK(number_text(0.5, Dim{} - kSeconds) == "0.5 s⁻¹");
  CHECK(number_text(2, kBytes + kParams - kSeconds) == "2 B·param/s");
  CHECK(number_text(1.5e-7, kSeconds) == "1.5e-7 s");
  CHECK(number_text(0, kBytes) == "0 B");
}

namespace {

/// Formulas at random over leaves of random size and dimension.
class Maker {
  std::mt19937 random_;
  Board& board_;
  std::vector<Sym> pool_;

  int below(int n) { return std::uniform_int_distribution<>(0, n - 1)(random_); }
  Sym any() { return pool_[static_cast<std::size_t>(below(static_cast<int>(pool_.size())))]; }

 public:
  formula_evaluator::Symbols symbols;

  Maker(unsigned draw, Board& board) : random_(draw), board_(board) {
    static constexpr Dim kDims[] = {kCount,
                                    kBytes,
                                    kFlops,
                                    kSeconds,
                                    kTokens,
                                    kParams,
                                    kUsd,
                                    kBytes - kSeconds,
                                    kFlops - kSeconds,
                                    kBytes - kParams,
                                    kFlops - kTokens,
                                    kUsd - kSeconds,
                                    Dim{} - kSeconds};
    for (int i = 0; i < 6; ++i) {
      const double size = std::pow(10.0, std::uniform_real_distribution<>(-6, 16)(random_));
      const double value = below(3) == 0 ? 1 + below(4096) : size;
      pool_.push_back(keep("x" + std::to_string(i), value, kDims[below(std::size(kDims))]));
    }
    pool_.push_back(Sym(0.0));
    pool_.push_back(Sym(1.0));
    pool_.push_back(Sym(2.5));
  }
  Sym keep(const std::string& name, double value, Dim dim) {
    symbols[name] = value;
    return board_.leaf(name, value, dim);
  }
  Sym step() {
    const Sym a = any(), b = any();
    switch (below(13)) {
      case 0: return a + b;
      case 1: return a - b;
      case 2: return a * b;
      case 3: return b.value() != 0 ? a / b : a;
      case 4: return larger(a, b);
      case 5: return smaller(a, b);
      case 6: return a.value() >= 0 ? sqrt(a) : a;
      case 7: return std::fabs(a.value()) < 1e9 ? ceil(a) : a;
      case 8: return std::fabs(a.value()) < 1e9 ? floor(a) : a;
      case 9: return a.value() > 2 ? log2(a) : a;
      case 10: return a.value() > 0 && a.value() < 1e6 && std::fabs(b.value()) < 3 ? pow(a, b) : a;
      case 11: return std::fabs(a.value()) < 20 ? exp(a) : a;
      default: {
        const std::string name = "y" + std::to_string(symbols.size());
        symbols[name] = a.value();
        return board_.named(name, a, kBytes);
      }
    }
  }
  Sym grow(int steps) {
    for (int i = 0; i < steps; ++i) {
      const Sym next = step();
      if (std::isfinite(next.value()) && std::fabs(next.value()) < 1e200) pool_.push_back(next);
    }
    return pool_.back();
  }
};

bool close(double a, double b, double relative) {
  return std::fabs(a - b) <= relative * std::fmax(std::fabs(a), std::fabs(b)) || a == b;
}

}  // namespace

TEST_CASE("random formulas evaluate to their value from the text alone, in symbols and in numbers") {
  int checked = 0;
  for (unsigned draw = 1; draw <= 3000; ++draw) {
    Board board;
    Maker maker(draw, board);
    const Sym f = maker.grow(12);
    const std::uint32_t node = f.node(board.tape);
    const std::string symbols = formula_text(board.tape, node, Notation::Symbols);
    const std::string numbers = formula_text(board.tape, node, Notation::Numbers);
    INFO(draw << ": " << symbols << " = " << numbers << " = " << f.value());
    const auto from_symbols = evaluate(symbols, maker.symbols), from_numbers = evaluate(numbers);
    REQUIRE(from_symbols);
    REQUIRE(from_numbers);
    // Cancellation of exact values may leave rounding of the order of the operands; that is no fault of the
    // text.
    const bool cancelled = !close(*from_symbols, f.value(), 1e-9);
    if (cancelled) continue;
    ++checked;
    REQUIRE(close(*from_numbers, f.value(), 1e-3));
  }
  CHECK(checked > 2900);
}
