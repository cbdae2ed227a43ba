/// A chapter lists the formulas of one header and makes them callable by name.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "trainplan/trace/recorder.hpp"

namespace trainplan {

/// A formula with its types erased: values are in base units, in the order of args.
struct CatalogEntry {
  std::string_view id, title;
  Source source;
  std::span<const Arg> args;
  std::span<const Dim> dims;
  Dim result;
  double (*evaluate)(std::span<const double> values);
  /// Files the result as item `id` of the recorder's ledger.
  void (*explain)(Explain& rec, std::span<const double> values);
};

namespace detail {

template <class>
struct Signature;
template <class F, class R, class... A>
struct Signature<R (F::*)(A...) const> {
  static constexpr Dim result = R::dim;
  static constexpr std::array<Dim, sizeof...(A)> dims{A::dim...};
};

template <const auto& F>
struct Erased {
  using Lambda = decltype(F.f);
  using Sig = Signature<decltype(&Lambda::template operator()<double>)>;
  static constexpr std::size_t arity = Sig::dims.size();
  static_assert(arity == F.args.size(), "a formula declares as many parameters as its function takes");

  template <std::size_t... I>
  static double call(std::span<const double> v, std::index_sequence<I...>) {
    return F(Quantity<Sig::dims[I]>{v[I]}...).num();
  }
  template <std::size_t... I>
  static void trace(Explain& rec, std::span<const double> v, std::index_sequence<I...>) {
    rec.apply(F, Item{F.id, F.id, {}},
              rec.template in<Quantity<Sig::dims[I], Sym>>(
                  Leaf{F.args[I].symbol, F.args[I].meaning, F.args[I].name}, v[I])...);
  }
  static double evaluate(std::span<const double> v) { return call(v, std::make_index_sequence<arity>{}); }
  static void explain(Explain& rec, std::span<const double> v) {
    trace(rec, v, std::make_index_sequence<arity>{});
  }
};

}  // namespace detail

template <const auto& F>
constexpr CatalogEntry catalog_entry() {
  using E = detail::Erased<F>;
  return {F.id,
          F.title,
          F.source,
          std::span<const Arg>(F.args),
          std::span<const Dim>(E::Sig::dims),
          E::Sig::result,
          &E::evaluate,
          &E::explain};
}

template <const auto&... F>
struct Chapter {
  static constexpr std::size_t size = sizeof...(F);
  static constexpr std::array<CatalogEntry, size> entries() { return {catalog_entry<F>()...}; }
};

}  // namespace trainplan
