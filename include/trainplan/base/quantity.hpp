/// Quantities with a dimension in their type, over a number that is a double or a traced Sym.
#pragma once

#include <cmath>
#include <compare>
#include <concepts>

#include "trainplan/base/distributions.hpp"
#include "trainplan/base/lambert.hpp"

namespace trainplan {

/// Exponents of the base units: byte, FLOP, second, token, parameter, US dollar. Counts have none.
struct Dim {
  int byte = 0, flop = 0, sec = 0, token = 0, param = 0, usd = 0;

  friend constexpr bool operator==(const Dim&, const Dim&) = default;
  friend constexpr Dim operator+(Dim a, Dim b) {
    return {a.byte + b.byte,   a.flop + b.flop,   a.sec + b.sec,
            a.token + b.token, a.param + b.param, a.usd + b.usd};
  }
  friend constexpr Dim operator-(Dim a, Dim b) {
    return {a.byte - b.byte,   a.flop - b.flop,   a.sec - b.sec,
            a.token - b.token, a.param - b.param, a.usd - b.usd};
  }
};

constexpr Dim halved(Dim d) {
  return {d.byte / 2, d.flop / 2, d.sec / 2, d.token / 2, d.param / 2, d.usd / 2};
}
constexpr bool even(Dim d) { return halved(d) + halved(d) == d; }

/// A number of one dimension, in base units (bytes, seconds, ...). N is double, or Sym to record the formula.
template <Dim D, class N = double>
class Quantity {
  N n_{};

 public:
  using Num = N;
  static constexpr Dim dim = D;

  constexpr Quantity() = default;
  /// Only a count may come from a bare number.
  constexpr explicit(D != Dim{}) Quantity(N n) : n_(n) {}
  constexpr Quantity(double n) requires(D == Dim{} && !std::same_as<N, double>) : n_(N(n)) {}

  constexpr N num() const { return n_; }

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity{a.n_ + b.n_}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity{a.n_ - b.n_}; }
  friend constexpr auto operator<=>(Quantity a, Quantity b) requires std::floating_point<N>
  = default;
  friend constexpr bool operator==(Quantity a, Quantity b) requires std::floating_point<N>
  = default;
};

template <Dim A, Dim B, class N>
constexpr Quantity<A + B, N> operator*(Quantity<A, N> a, Quantity<B, N> b) {
  return Quantity<A + B, N>{a.num() * b.num()};
}
template <Dim A, Dim B, class N>
constexpr Quantity<A - B, N> operator/(Quantity<A, N> a, Quantity<B, N> b) {
  return Quantity<A - B, N>{a.num() / b.num()};
}
template <Dim A, class N>
constexpr Quantity<A, N> operator*(double a, Quantity<A, N> b) {
  return Quantity<A, N>{N(a) * b.num()};
}
template <Dim A, class N>
constexpr Quantity<A, N> operator*(Quantity<A, N> a, double b) {
  return Quantity<A, N>{a.num() * N(b)};
}
template <Dim A, class N>
constexpr Quantity<A, N> operator/(Quantity<A, N> a, double b) {
  return Quantity<A, N>{a.num() / N(b)};
}
template <Dim A, class N>
constexpr auto operator/(double a, Quantity<A, N> b) {
  return Quantity<Dim{} - A, N>{N(a) / b.num()};
}

template <Dim D, class N>
requires(even(D)) auto sqrt(Quantity<D, N> q) {
  using std::sqrt;
  return Quantity<halved(D), N>{sqrt(q.num())};
}
/// The standard functions call the library for the sake of numbers that are none.
constexpr double larger(double a, double b) { return a >= b ? a : b; }
constexpr double smaller(double a, double b) { return a <= b ? a : b; }
template <Dim D, class N>
auto max(Quantity<D, N> a, Quantity<D, N> b) {
  return Quantity<D, N>{larger(a.num(), b.num())};
}
template <Dim D, class N>
auto min(Quantity<D, N> a, Quantity<D, N> b) {
  return Quantity<D, N>{smaller(a.num(), b.num())};
}
/// The part above zero: losses are sums of positive parts.
template <Dim D, class N>
auto positive(Quantity<D, N> q) {
  return max(q, Quantity<D, N>{N(0.0)});
}
template <class N>
auto ceil(Quantity<Dim{}, N> q) {
  using std::ceil;
  return Quantity<Dim{}, N>{ceil(q.num())};
}
template <class N>
auto floor(Quantity<Dim{}, N> q) {
  using std::floor;
  return Quantity<Dim{}, N>{floor(q.num())};
}

template <class N>
auto pow(Quantity<Dim{}, N> base, Quantity<Dim{}, N> exponent) {
  using std::pow;
  return Quantity<Dim{}, N>{pow(base.num(), exponent.num())};
}
template <class N>
auto log2(Quantity<Dim{}, N> q) {
  using std::log2;
  return Quantity<Dim{}, N>{log2(q.num())};
}
template <class N>
auto exp(Quantity<Dim{}, N> q) {
  using std::exp;
  return Quantity<Dim{}, N>{exp(q.num())};
}
template <class N>
auto lambert_w(Quantity<Dim{}, N> q) {
  return Quantity<Dim{}, N>{lambert_w(q.num())};
}
/// Expected largest of that many independent standard normal numbers.
template <class N>
auto normal_max(Quantity<Dim{}, N> count) {
  return Quantity<Dim{}, N>{normal_max(count.num())};
}
/// Number with a share `below` of the gamma law of that shape below it.
template <class N>
auto gamma_quantile(Quantity<Dim{}, N> shape, Quantity<Dim{}, N> below) {
  return Quantity<Dim{}, N>{gamma_quantile(shape.num(), below.num())};
}

/// A sum that starts empty, so that the recorded formula has no leading zero.
template <class Q>
class Sum {
  Q sum_{};
  bool any_ = false;

 public:
  void add(Q q) {
    if constexpr (std::same_as<typename Q::Num, double>)
      sum_ = sum_ + q;
    else
      sum_ = any_ ? sum_ + q : q;
    any_ = true;
  }
  bool empty() const { return !any_; }
  Q total() const { return sum_; }
};

/// The one door from one dimension to another (a count becomes parameters, tokens become positions).
template <Dim To, Dim From, class N>
constexpr Quantity<To, N> as(Quantity<From, N> q) {
  return Quantity<To, N>{q.num()};
}

// clang-format off
inline constexpr Dim kCount{}, kBytes{.byte = 1}, kFlops{.flop = 1}, kSeconds{.sec = 1}, kTokens{.token = 1},
    kParams{.param = 1}, kUsd{.usd = 1};
template <class N = double> using Count          = Quantity<kCount, N>;
template <class N = double> using Bytes          = Quantity<kBytes, N>;
template <class N = double> using Flops          = Quantity<kFlops, N>;
template <class N = double> using Seconds        = Quantity<kSeconds, N>;
template <class N = double> using Tokens         = Quantity<kTokens, N>;
template <class N = double> using Params         = Quantity<kParams, N>;
template <class N = double> using Usd            = Quantity<kUsd, N>;
template <class N = double> using BytesPerSec    = Quantity<kBytes - kSeconds, N>;
template <class N = double> using FlopsPerSec    = Quantity<kFlops - kSeconds, N>;
template <class N = double> using TokensPerSec   = Quantity<kTokens - kSeconds, N>;
template <class N = double> using BytesPerParam  = Quantity<kBytes - kParams, N>;
template <class N = double> using BytesPerToken  = Quantity<kBytes - kTokens, N>;
template <class N = double> using FlopsPerToken  = Quantity<kFlops - kTokens, N>;
template <class N = double> using UsdPerSec      = Quantity<kUsd - kSeconds, N>;
template <class N = double> using PerSec         = Quantity<Dim{} - kSeconds, N>;
// clang-format on

}  // namespace trainplan
