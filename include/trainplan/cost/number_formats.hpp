/// Number formats: the smallest and largest values of one, and the width of values that share a scale.
#pragma once

#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula least_normal{
    "least_normal", "smallest normal number of a format", Source{"ieee-754", "2^(2 - 2^(e - 1))"},
    std::array{Arg{"exponent", "n_exp", "bits of the exponent: 8 in bf16, 5 in fp16", 2, 11}},
    []<class N>(Count<N> exponent) { return pow(Count<N>{2.0}, 2.0 - pow(Count<N>{2.0}, exponent - 1.0)); }};

inline constexpr Formula least_subnormal{
    "least_subnormal", "smallest number of a format that is not zero",
    Source{"ieee-754", "2^(2 - 2^(e - 1) - m)"},
    std::array{Arg{"exponent", "n_exp", "bits of the exponent: 8 in bf16, 5 in fp16", 2, 11},
               Arg{"mantissa", "n_man", "bits of the mantissa: 7 in bf16, 10 in fp16", 0, 52}},
    []<class N>(Count<N> exponent, Count<N> mantissa) {
      return pow(Count<N>{2.0}, 2.0 - pow(Count<N>{2.0}, exponent - 1.0) - mantissa);
    }};

inline constexpr Formula largest_without_infinity{
    "largest_without_infinity", "largest number of a format whose top exponent holds numbers",
    Source{"micikevicius-2022", "table 1: E4M3 has no infinity and one mantissa for NaN"},
    std::array{Arg{"exponent", "n_exp", "bits of the exponent: 4 in E4M3", 2, 8},
               Arg{"mantissa", "n_man", "bits of the mantissa: 3 in E4M3", 0, 23},
               Arg{"code", "c_top", "largest mantissa that is no NaN: 6 in E4M3"}},
    []<class N>(Count<N> exponent, Count<N> mantissa, Count<N> code) {
      const Count<N> two{2.0};
      return pow(two, pow(two, exponent) - pow(two, exponent - 1.0)) * (code / pow(two, mantissa) + 1.0);
    }};

inline constexpr Formula scaled_value_width{
    "scaled_value_width", "bytes of a value and of its part of a scale",
    Source{"deepseek-v3-2024", "section 3.3.2: one scale for a block of 128 x 128 weights"},
    std::array{Arg{"value", "w_value", "bytes of a value"}, Arg{"scale", "w_scale", "bytes of a scale"},
               Arg{"block", "n_block", "values that share a scale", 1}},
    []<class N>(BytesPerParam<N> value, Bytes<N> scale, Params<N> block) { return value + scale / block; }};

using NumberFormatFormulas =
    Chapter<least_normal, least_subnormal, largest_without_infinity, scaled_value_width>;

}  // namespace trainplan
