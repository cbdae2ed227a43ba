/// A tape of arithmetic: Sym is a number that remembers how it was computed.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/base/distributions.hpp"
#include "trainplan/base/lambert.hpp"
#include "trainplan/base/quantity.hpp"

namespace trainplan {

enum class Op : std::uint8_t {
  Input,
  Named,
  Literal,
  Add,
  Sub,
  Mul,
  Div,
  Max,
  Min,
  Pow,
  GammaQuantile,
  Sqrt,
  Log2,
  Exp,
  LambertW,
  NormalMax,
  Ceil,
  Floor
};

constexpr bool is_leaf(Op op) { return op == Op::Input || op == Op::Named || op == Op::Literal; }
/// Of one number, which is the node's a.
constexpr bool is_unary(Op op) { return op >= Op::Sqrt; }

/// Name of a leaf or of a named result. origin: the JSON pointer of an input, the id of a named result.
struct Label {
  std::string symbol, meaning, origin;
  Dim dim{};
};

/// a and b are node numbers; a Named node has its expression in a.
struct Node {
  Op op = Op::Literal;
  std::uint32_t a = 0, b = 0, label = 0;
  double value = 0;
};

class Tape {
  std::vector<Node> nodes_;
  std::vector<Label> labels_;

 public:
  std::uint32_t add(Node n) {
    nodes_.push_back(n);
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }
  std::uint32_t add(Node n, Label label) {
    labels_.push_back(std::move(label));
    n.label = static_cast<std::uint32_t>(labels_.size() - 1);
    return add(n);
  }
  const Node& node(std::uint32_t i) const { return nodes_[i]; }
  const Label& label(const Node& n) const { return labels_[n.label]; }
  std::size_t size() const { return nodes_.size(); }
};

/// A traced number; without a tape it is a plain constant.
class Sym {
  double value_ = 0;
  std::uint32_t node_ = 0;
  Tape* tape_ = nullptr;

  std::uint32_t node_on(Tape& tape) const {
    return tape_ != nullptr ? node_ : tape.add(Node{.op = Op::Literal, .value = value_});
  }
  static Sym record(Op op, double value, Sym a, Sym b) {
    Tape* tape = a.tape_ != nullptr ? a.tape_ : b.tape_;
    if (tape == nullptr) return Sym{value};
    const std::uint32_t na = a.node_on(*tape), nb = b.node_on(*tape);
    return Sym{value, tape->add(Node{.op = op, .a = na, .b = nb, .value = value}), *tape};
  }
  static Sym record(Op op, double value, Sym a) {
    if (a.tape_ == nullptr) return Sym{value};
    return Sym{value, a.tape_->add(Node{.op = op, .a = a.node_, .value = value}), *a.tape_};
  }

 public:
  Sym() = default;
  Sym(double value) : value_(value) {}
  Sym(double value, std::uint32_t node, Tape& tape) : value_(value), node_(node), tape_(&tape) {}

  double value() const { return value_; }
  /// The node of this number on `tape`; a plain constant is added as a literal.
  std::uint32_t node(Tape& tape) const { return node_on(tape); }

  friend Sym operator+(Sym a, Sym b) { return record(Op::Add, a.value_ + b.value_, a, b); }
  friend Sym operator-(Sym a, Sym b) { return record(Op::Sub, a.value_ - b.value_, a, b); }
  friend Sym operator*(Sym a, Sym b) { return record(Op::Mul, a.value_ * b.value_, a, b); }
  friend Sym operator/(Sym a, Sym b) { return record(Op::Div, a.value_ / b.value_, a, b); }
  friend Sym larger(Sym a, Sym b) { return record(Op::Max, trainplan::larger(a.value_, b.value_), a, b); }
  friend Sym smaller(Sym a, Sym b) { return record(Op::Min, trainplan::smaller(a.value_, b.value_), a, b); }
  friend Sym pow(Sym a, Sym b) { return record(Op::Pow, std::pow(a.value_, b.value_), a, b); }
  friend Sym sqrt(Sym a) { return record(Op::Sqrt, std::sqrt(a.value_), a); }
  friend Sym log2(Sym a) { return record(Op::Log2, std::log2(a.value_), a); }
  friend Sym exp(Sym a) { return record(Op::Exp, std::exp(a.value_), a); }
  friend Sym lambert_w(Sym a) { return record(Op::LambertW, trainplan::lambert_w(a.value_), a); }
  friend Sym normal_max(Sym a) { return record(Op::NormalMax, trainplan::normal_max(a.value_), a); }
  friend Sym gamma_quantile(Sym a, Sym b) {
    return record(Op::GammaQuantile, trainplan::gamma_quantile(a.value_, b.value_), a, b);
  }
  friend Sym ceil(Sym a) { return record(Op::Ceil, std::ceil(a.value_), a); }
  friend Sym floor(Sym a) { return record(Op::Floor, std::floor(a.value_), a); }
};

constexpr double value_of(double n) { return n; }
inline double value_of(Sym n) { return n.value(); }
template <Dim D, class N>
constexpr double value_of(Quantity<D, N> q) {
  return value_of(q.num());
}

}  // namespace trainplan
