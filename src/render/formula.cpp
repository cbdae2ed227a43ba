#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/render/render.hpp"
#include "units.hpp"

namespace trainplan {
namespace {

/// How tightly a text binds; a looser one gets parentheses inside a tighter one.
enum Binding : int { kSum = 1, kProduct = 2, kAtom = 3 };

struct Text {
  std::string text;
  int binding = kAtom;
};

Dim dim_of(const Tape& tape, const Node& n) { return n.op == Op::Literal ? Dim{} : tape.label(n).dim; }

/// What the printed numbers give when they are put into the formula.
double printed_result(const Tape& tape, std::uint32_t node, int digits) {
  const Node& n = tape.node(node);
  if (is_leaf(n.op))
    return std::isfinite(n.value) ? printed_number(n.value, dim_of(tape, n), digits).value() : n.value;
  const double a = printed_result(tape, n.a, digits),
               b = is_unary(n.op) ? 0 : printed_result(tape, n.b, digits);
  switch (n.op) {
    case Op::Input:
    case Op::Named:
    case Op::Literal: break;
    case Op::Add: return a + b;
    case Op::Sub: return a - b;
    case Op::Mul: return a * b;
    case Op::Div: return a / b;
    case Op::Max: return larger(a, b);
    case Op::Min: return smaller(a, b);
    case Op::Pow: return std::pow(a, b);
    case Op::GammaQuantile: return gamma_quantile(a, b);
    case Op::Sqrt: return std::sqrt(a);
    case Op::Log2: return std::log2(a);
    case Op::Exp: return std::exp(a);
    case Op::LambertW: return lambert_w(a);
    case Op::NormalMax: return normal_max(a);
    case Op::Ceil: return std::ceil(a);
    case Op::Floor: return std::floor(a);
  }
  return n.value;
}

/// As few digits as let a reader recompute the value: differences of near numbers need more.
int digits_for(const Tape& tape, std::uint32_t node) {
  constexpr double kAgree = 5e-5;
  const double exact = tape.node(node).value;
  int digits = kFormulaDigits;
  while (digits < kExactDigits &&
         !(std::abs(printed_result(tape, node, digits) - exact) <= kAgree * std::abs(exact)))
    ++digits;
  return digits;
}

class Writer {
  const Tape& tape_;
  Notation notation_;
  int digits_;

  bool literal(std::uint32_t node, double value) const {
    return tape_.node(node).op == Op::Literal && tape_.node(node).value == value;
  }

  /// The same expression of the same numbers.
  bool same(std::uint32_t x, std::uint32_t y) const {
    if (x == y) return true;
    const Node &a = tape_.node(x), &b = tape_.node(y);
    if (a.op != b.op || a.value != b.value) return false;
    if (a.op == Op::Literal) return true;
    if (is_leaf(a.op))
      return tape_.label(a).symbol == tape_.label(b).symbol && tape_.label(a).origin == tape_.label(b).origin;
    return same(a.a, b.a) && (is_unary(a.op) || same(a.b, b.b));
  }

  Text number(double value, Dim dim) const {
    return {printed_number(value, dim, digits_).text(), value < 0 ? kSum : kAtom};
  }
  Text leaf(const Node& n) const {
    if (n.op == Op::Literal) return number(n.value, Dim{});
    const Label& label = tape_.label(n);
    if (notation_ == Notation::Numbers) return number(n.value, label.dim);
    return {label.symbol.empty() ? label.origin : label.symbol};
  }

  std::string within(std::uint32_t node, int binding) const {
    Text t = write(node);
    return t.binding < binding ? "(" + t.text + ")" : std::move(t.text);
  }

  /// The addends of a nest of sums in order, without zeros.
  std::vector<std::uint32_t> addends(std::uint32_t node) const {
    std::vector<std::uint32_t> open{node}, out;
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      const Node& n = tape_.node(at);
      open.pop_back();
      if (n.op == Op::Add) {
        open.push_back(n.b);
        open.push_back(n.a);
      } else if (!literal(at, 0)) {
        out.push_back(at);
      }
    }
    return out;
  }

  /// "a + 15 × b + c".
  Text sum(std::uint32_t node) const {
    const std::vector<std::uint32_t> parts = addends(node);
    if (parts.empty()) return {"0"};
    if (parts.size() == 1) return write(parts.front());
    std::string out;
    std::size_t runs = 0;
    for (std::size_t i = 0, end = 0; i < parts.size(); i = end, ++runs) {
      for (end = i + 1; end < parts.size() && same(parts[i], parts[end]);) ++end;
      const std::size_t times = end - i;
      if (i > 0) out += " + ";
      out += times == 1 ? within(parts[i], i > 0 && starts_negative(parts[i]) ? kProduct : kSum)
                        : std::to_string(times) + " × " + within(parts[i], kProduct);
    }
    return {out, runs == 1 ? kProduct : kSum};
  }
  bool starts_negative(std::uint32_t node) const { return write(node).text.starts_with('-'); }

  Text difference(const Node& n) const {
    if (literal(n.b, 0)) return write(n.a);
    return {within(n.a, kSum) + " - " + within(n.b, kProduct), kSum};
  }
  /// a × (b / c) is a × b / c: only a sum needs parentheses behind the sign.
  Text product(const Node& n) const {
    if (literal(n.a, 1)) return write(n.b);
    if (literal(n.b, 1)) return write(n.a);
    return {within(n.a, kProduct) + " × " + within(n.b, kProduct), kProduct};
  }
  Text quotient(const Node& n) const {
    if (literal(n.b, 1)) return write(n.a);
    return {within(n.a, kProduct) + " / " + within(n.b, kAtom), kProduct};
  }
  Text call(const char* name, const Node& n) const {
    const std::string second = is_unary(n.op) ? "" : ", " + write(n.b).text;
    return {std::string(name) + "(" + write(n.a).text + second + ")"};
  }
  /// max(max(a, b), c) is max(a, b, c).
  std::string arguments(std::uint32_t node, Op op) const {
    const Node& n = tape_.node(node);
    return n.op == op ? arguments(n.a, op) + ", " + arguments(n.b, op) : write(node).text;
  }
  Text extreme(const char* name, std::uint32_t node) const {
    return {std::string(name) + "(" + arguments(node, tape_.node(node).op) + ")"};
  }

 public:
  Writer(const Tape& tape, Notation notation, int digits)
      : tape_(tape), notation_(notation), digits_(digits) {}

  Text write(std::uint32_t node) const {
    const Node& n = tape_.node(node);
    switch (n.op) {
      case Op::Input:
      case Op::Named:
      case Op::Literal: return leaf(n);
      case Op::Add: return sum(node);
      case Op::Sub: return difference(n);
      case Op::Mul: return product(n);
      case Op::Div: return quotient(n);
      case Op::Max: return extreme("max", node);
      case Op::Min: return extreme("min", node);
      case Op::Pow: return call("pow", n);
      case Op::GammaQuantile: return call("gamma_quantile", n);
      case Op::Sqrt: return call("sqrt", n);
      case Op::Log2: return call("log2", n);
      case Op::Exp: return call("exp", n);
      case Op::LambertW: return call("W0", n);
      case Op::NormalMax: return call("normal_max", n);
      case Op::Ceil: return call("ceil", n);
      case Op::Floor: return call("floor", n);
    }
    return {};
  }
};

}  // namespace

std::string formula_text(const Tape& tape, std::uint32_t node, Notation notation) {
  const int digits = notation == Notation::Numbers ? digits_for(tape, node) : kExactDigits;
  return Writer(tape, notation, digits).write(node).text;
}

}  // namespace trainplan
