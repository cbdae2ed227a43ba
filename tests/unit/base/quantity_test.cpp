#include "trainplan/base/quantity.hpp"

#include <type_traits>

#include "catch.hpp"
#include "trainplan/trace/tape.hpp"

using namespace trainplan;

namespace {

template <class A, class B>
constexpr bool kAdds = requires(A a, B b) {
  a + b;
};
template <class A, class B>
constexpr bool kCompares = requires(A a, B b) {
  a < b;
};
template <class A>
constexpr bool kHasRoot = requires(A a) {
  sqrt(a);
};
template <class A>
constexpr bool kRounds = requires(A a) {
  ceil(a);
};
template <class A>
constexpr bool kHasExponential = requires(A a) {
  exp(a);
};
template <class A>
constexpr bool kHasLogarithm = requires(A a) {
  log2(a);
};
template <class A, class B>
constexpr bool kRaises = requires(A a, B b) {
  pow(a, b);
};
template <class Want, class Got>
constexpr bool kIs = std::is_same_v<Want, Got>;

template <class A, class B>
using Product = decltype(std::declval<A>() * std::declval<B>());
template <class A, class B>
using Ratio = decltype(std::declval<A>() / std::declval<B>());

// Products and ratios carry the dimension.
static_assert(kIs<Product<Params<>, BytesPerParam<>>, Bytes<>>);
static_assert(kIs<Product<Tokens<>, BytesPerToken<>>, Bytes<>>);
static_assert(kIs<Product<Tokens<>, FlopsPerToken<>>, Flops<>>);
static_assert(kIs<Product<BytesPerSec<>, Seconds<>>, Bytes<>>);
static_assert(kIs<Product<Count<>, Bytes<>>, Bytes<>>);
static_assert(kIs<Product<UsdPerSec<>, Seconds<>>, Usd<>>);
static_assert(kIs<Ratio<Bytes<>, Seconds<>>, BytesPerSec<>>);
static_assert(kIs<Ratio<Flops<>, FlopsPerSec<>>, Seconds<>>);
static_assert(kIs<Ratio<Seconds<>, Seconds<>>, Count<>>);
static_assert(kIs<Ratio<double, Seconds<>>, PerSec<>>);
static_assert(kIs<Ratio<Bytes<>, double>, Bytes<>>);
static_assert(kIs<Product<double, Bytes<>>, Bytes<>> && kIs<Product<Bytes<>, double>, Bytes<>>);
static_assert(kIs<Product<Bytes<Sym>, Count<Sym>>, Bytes<Sym>>);

// Only a count is a bare number, both ways.
static_assert(std::is_convertible_v<double, Count<>> && std::is_convertible_v<double, Count<Sym>>);
static_assert(!std::is_convertible_v<double, Bytes<>> && std::is_constructible_v<Bytes<>, double>);
static_assert(!std::is_convertible_v<Bytes<>, double> && !std::is_convertible_v<Count<>, double>);
static_assert(!std::is_convertible_v<Bytes<>, Seconds<>> && !std::is_constructible_v<Bytes<>, Seconds<>>);

// Sums and comparisons need one dimension.
static_assert(kAdds<Bytes<>, Bytes<>> && !kAdds<Bytes<>, Seconds<>> && !kAdds<Tokens<>, Params<>> &&
              !kAdds<Bytes<>, double>);
static_assert(kAdds<Count<>, double>);
static_assert(kCompares<Bytes<>, Bytes<>> && !kCompares<Bytes<>, Seconds<>>);

// Roots need even exponents, rounding needs a count.
static_assert(kIs<decltype(sqrt(Seconds<>{1} * Seconds<>{1})), Seconds<>>);
static_assert(kHasRoot<Count<>> && !kHasRoot<Seconds<>> && !kHasRoot<BytesPerSec<>>);
static_assert(kRounds<Count<>> && !kRounds<Bytes<>>);

// Powers and logarithms are of counts.
static_assert(kHasLogarithm<Count<>> && !kHasLogarithm<Bytes<>>);
static_assert(kHasExponential<Count<>> && !kHasExponential<Seconds<>>);
static_assert(kRaises<Count<>, Count<>> && !kRaises<Bytes<>, Count<>> && !kRaises<Count<>, Seconds<>>);

// as is the one door between dimensions.
static_assert(kIs<decltype(as<kParams>(Count<>{1})), Params<>> &&
              kIs<decltype(as<kBytes>(Tokens<Sym>{})), Bytes<Sym>>);

static_assert(kBytes + kSeconds - kSeconds == kBytes && halved(Dim{.sec = 4}) == Dim{.sec = 2});
static_assert(even(Dim{}) && even(Dim{.byte = 2, .sec = -2}) && !even(Dim{.sec = 1}) &&
              !even(Dim{.byte = 2, .sec = 1}));

}  // namespace

TEST_CASE("arithmetic of quantities is that of their numbers") {
  const Bytes<> a{12}, b{5};
  CHECK((a + b).num() == 17);
  CHECK((a - b).num() == 7);
  CHECK((a / b).num() == 2.4);
  CHECK((3.0 * a).num() == 36);
  CHECK((a * 0.5).num() == 6);
  CHECK((a / 4.0).num() == 3);
  CHECK((6.0 / Seconds<>{4}).num() == 1.5);
  CHECK((a * Count<>{2}).num() == 24);
  CHECK(b < a);
  CHECK(a == Bytes<>{12});
}

TEST_CASE("functions of quantities") {
  CHECK(sqrt(Seconds<>{8} * Seconds<>{2}).num() == 4);
  CHECK(max(Bytes<>{1}, Bytes<>{2}).num() == 2);
  CHECK(max(Bytes<>{-1}, Bytes<>{-2}).num() == -1);
  CHECK(min(Bytes<>{1}, Bytes<>{2}).num() == 1);
  CHECK(positive(Seconds<>{0.25}).num() == 0.25);
  CHECK(positive(Seconds<>{-0.25}).num() == 0);
  CHECK(ceil(Count<>{1.25}).num() == 2);
  CHECK(floor(Count<>{1.75}).num() == 1);
  CHECK(pow(Count<>{1.5}, Count<>{3}).num() == 3.375);
  CHECK(log2(Count<>{128}).num() == 7);
  CHECK(exp(Count<>{1}).num() == std::exp(1.0));
  CHECK(as<kTokens>(Count<>{8192}).num() == 8192);
}
