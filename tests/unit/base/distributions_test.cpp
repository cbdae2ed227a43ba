#include "trainplan/base/distributions.hpp"

#include "catch.hpp"

using namespace trainplan;

TEST_CASE("the expected largest of a few normal numbers has closed forms") {
  const double root_pi = std::sqrt(std::numbers::pi);
  CHECK(normal_max(0) == 0);
  CHECK(normal_max(1) == 0);
  CHECK(normal_max(2) == Approx(1 / root_pi).epsilon(1e-13));
  CHECK(normal_max(3) == Approx(1.5 / root_pi).epsilon(1e-13));
  CHECK(normal_max(4) == Approx(6 / (std::numbers::pi * root_pi) * std::atan(std::sqrt(2.0))).epsilon(1e-12));
}

TEST_CASE("the expected largest of many normal numbers is exact to nine digits") {
  // Other quadratures of the same integral.
  CHECK(std::abs(normal_max(8) - 1.4236003060452609) < 1e-12);
  CHECK(std::abs(normal_max(48) - 2.2331208808457825) < 1e-12);
  CHECK(std::abs(normal_max(1024) - 3.248239601375388) < 1e-12);
  double before = 0;
  for (double n = 2; n <= 1e12; n *= 4) {
    CHECK(normal_max(n) > before);
    before = normal_max(n);
    CHECK(before < std::sqrt(2 * std::log(n)));
  }
}

TEST_CASE("the gamma law gives the tabled limits of a count") {
  CHECK(gamma_below(1, 2) == Approx(1 - std::exp(-2.0)).epsilon(1e-13));
  CHECK(gamma_below(1, 40) == Approx(1));
  CHECK(gamma_below(3, 0) == 0);
  // chi-square tables: half of the quantiles with 2 n and 2 n + 2 degrees of freedom
  CHECK(gamma_quantile(1, 0.025) == Approx(-std::log(0.975)).epsilon(1e-12));
  CHECK(gamma_quantile(10, 0.025) == Approx(9.5908 / 2).epsilon(1e-5));
  CHECK(gamma_quantile(11, 0.975) == Approx(36.7807 / 2).epsilon(1e-5));
  for (const double shape : {0.5, 1.0, 7.0, 420.0, 1e5})
    for (const double share : {0.001, 0.3, 0.975})
      CHECK(gamma_below(shape, gamma_quantile(shape, share)) == Approx(share).epsilon(1e-8));
}
