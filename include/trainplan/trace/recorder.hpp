/// The same formulas run twice: Eval computes, Explain also writes down how.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "trainplan/base/quantity.hpp"
#include "trainplan/base/source.hpp"
#include "trainplan/trace/formula.hpp"
#include "trainplan/trace/ledger.hpp"
#include "trainplan/trace/tape.hpp"

namespace trainplan {

/// A named result: symbol stands in later formulas, title in the printed line.
struct Item {
  std::string_view id, symbol, title;
  Source source{};
  std::optional<Unit> unit{};
};

/// An input: symbol, meaning and the place that it was read from.
struct Leaf {
  std::string_view symbol, meaning, origin;
};

/// Numbers only; every call inlines to nothing.
struct Eval {
  using Num = double;
  static constexpr bool traced = false;

  template <class Q>
  constexpr Q in(const Leaf&, double v) {
    return Q{v};
  }
  template <Dim D>
  constexpr Quantity<D> item(const Item&, Quantity<D> q) {
    return q;
  }
  template <class F, class... Q>
  constexpr auto apply(const F& formula, const Item&, Q... q) {
    return formula(q...);
  }
};

/// The same calls, written down. The ledger's tape must outlive every Sym, so Explain stays where it is.
class Explain {
  Ledger ledger_;

  template <Dim D>
  Quantity<D, Sym> file(const Item& item, std::string_view formula, Quantity<D, Sym> q) {
    Tape& tape = ledger_.tape();
    const double value = q.num().value();
    const std::uint32_t expr = q.num().node(tape);
    const std::uint32_t name =
        tape.add(Node{.op = Op::Named, .a = expr, .value = value},
                 Label{std::string(item.symbol), std::string(item.title), std::string(item.id), D});
    std::string source(item.source.key);
    if (!item.source.where.empty()) source.append(", ").append(item.source.where);
    ledger_.add(LineItem{std::string(item.id), std::string(item.symbol), std::string(item.title),
                         std::string(formula), std::move(source), D, value, expr, name, item.unit});
    return Quantity<D, Sym>{Sym{value, name, tape}};
  }

 public:
  using Num = Sym;
  static constexpr bool traced = true;

  Explain() = default;
  Explain(const Explain&) = delete;
  Explain& operator=(const Explain&) = delete;

  template <class Q>
  Quantity<Q::dim, Sym> in(const Leaf& leaf, double v) {
    Tape& tape = ledger_.tape();
    const std::uint32_t node = tape.add(
        Node{.op = Op::Input, .value = v},
        Label{std::string(leaf.symbol), std::string(leaf.meaning), std::string(leaf.origin), Q::dim});
    return Quantity<Q::dim, Sym>{Sym{v, node, tape}};
  }
  template <Dim D>
  Quantity<D, Sym> item(const Item& item, Quantity<D, Sym> q) {
    return file(item, {}, q);
  }
  /// Title and unit fall back to the formula's; the source is the formula's.
  template <class F, class... Q>
  auto apply(const F& formula, Item item, Q... q) {
    if (item.title.empty()) item.title = formula.title;
    item.source = formula.source;
    if (!item.unit) item.unit = formula.unit;
    return file(item, formula.id, formula(q...));
  }

  const Ledger& ledger() const { return ledger_; }
  Ledger take_ledger() { return std::move(ledger_); }
};

template <class R>
concept Recorder = requires(R r) {
  typename R::Num;
  { R::traced } -> std::convertible_to<bool>;
  r.template in<Bytes<typename R::Num>>(Leaf{}, 1.0);
};

}  // namespace trainplan
