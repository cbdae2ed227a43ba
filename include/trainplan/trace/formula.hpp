/// A formula is declared once: its id, title, source, parameters and the function itself.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>

#include "trainplan/base/quantity.hpp"
#include "trainplan/base/source.hpp"
#include "trainplan/base/value.hpp"

namespace trainplan {

/// One parameter as a user names it, the paper's symbol, its meaning and its range in base units.
struct Arg {
  std::string_view name, symbol, meaning;
  double lo = 0, hi = std::numeric_limits<double>::max();
};

/// f is a lambda `[]<class N>(Seconds<N> delta, ...)`; its parameter types give the units.
template <std::size_t K, class F>
struct Formula {
  std::string_view id, title;
  Source source;
  std::array<Arg, K> args;
  F f;
  std::optional<Unit> unit{};  // how the result is shown, where its dimension does not say

  template <class... Q>
  constexpr auto operator()(Q... q) const {
    static_assert(sizeof...(Q) == K, "a formula takes as many arguments as it declares");
    return f(q...);
  }
};
template <std::size_t K, class F>
Formula(std::string_view, std::string_view, Source, std::array<Arg, K>, F) -> Formula<K, F>;
template <std::size_t K, class F>
Formula(std::string_view, std::string_view, Source, std::array<Arg, K>, F, Unit) -> Formula<K, F>;

}  // namespace trainplan
