/// Capacity of experts: how many token copies an expert takes, and what falls off or is filled up.
#pragma once

#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula dispatches{
    "dispatches", "token copies that a layer sends to its experts",
    Source{"gshard-2020", "section 2.2: tokens x experts per token"},
    std::array{Arg{"tokens", "T", "tokens"}, Arg{"top_k", "k_top", "experts that a token visits"}},
    []<class N>(Tokens<N> tokens, Count<N> top_k) { return as<kCount>(tokens) * top_k; }};

inline constexpr Formula mean_rows{
    "mean_rows", "token copies of an expert when routing is even",
    Source{"gshard-2020", "section 2.2: k T / E"},
    std::array{Arg{"tokens", "T", "tokens"}, Arg{"top_k", "k_top", "experts that a token visits"},
               Arg{"experts", "E", "experts of a layer", 1}},
    []<class N>(Tokens<N> tokens, Count<N> top_k, Count<N> experts) {
      return as<kCount>(tokens) * top_k / experts;
    }};

inline constexpr Formula loaded_rows{
    "loaded_rows", "token copies of an expert with a load", Source{"identity", "mean x load"},
    std::array{Arg{"mean", "R_mean", "token copies of an expert when routing is even"},
               Arg{"load", "f_load", "rows of the expert over the mean"}},
    []<class N>(Count<N> mean, Count<N> load) { return mean * load; }};

inline constexpr Formula expert_capacity{
    "expert_capacity", "token copies that an expert takes at most",
    Source{"switch-2021", "section 2.2: capacity factor x k T / E, rounded down"},
    std::array{Arg{"factor", "c", "capacity factor"}, Arg{"tokens", "T", "tokens"},
               Arg{"top_k", "k_top", "experts that a token visits"},
               Arg{"experts", "E", "experts of a layer", 1}},
    []<class N>(Count<N> factor, Tokens<N> tokens, Count<N> top_k, Count<N> experts) {
      return floor(factor * as<kCount>(tokens) * top_k / experts);
    }};

inline constexpr Formula dropped_rows{
    "dropped_rows", "token copies of an expert that find no place",
    Source{"switch-2021", "section 2.2: they pass the layer by its residual"},
    std::array{Arg{"rows", "R", "token copies that are sent to an expert"},
               Arg{"capacity", "R_cap", "token copies that it takes at most"}},
    []<class N>(Count<N> rows, Count<N> capacity) { return positive(rows - capacity); }};

inline constexpr Formula padded_rows{
    "padded_rows", "rows of zeros that fill an expert up to its capacity",
    Source{"switch-2021", "section 2.2: tensors of a fixed shape"},
    std::array{Arg{"rows", "R", "token copies that are sent to an expert"},
               Arg{"capacity", "R_cap", "token copies that it takes at most"}},
    []<class N>(Count<N> rows, Count<N> capacity) { return positive(capacity - rows); }};

inline constexpr Formula row_share{
    "row_share",
    "share of rows that are of one kind",
    Source{"identity", "dropped / sent, filled up / computed"},
    std::array{Arg{"some", "R_some", "rows of that kind"}, Arg{"all", "R_all", "all rows", 1}},
    []<class N>(Count<N> some, Count<N> all) { return some / all; },
    Unit::Share};

inline constexpr Formula levelling_gain{
    "levelling_gain",
    "share of the time of the experts that even routing saves",
    Source{"identity", "the busiest rank sets the pace: 1 - mean / busiest"},
    std::array{Arg{"busiest", "R_max", "rows of the busiest rank", 1},
               Arg{"level", "R_mean", "rows of every rank when level"}},
    []<class N>(Count<N> busiest, Count<N> level) { return 1.0 - level / busiest; },
    Unit::Share};

inline constexpr Formula hottest_slowdown{
    "hottest_slowdown", "how many times longer the busiest rank takes than a level one",
    Source{"identity", "the busiest rank sets the pace: busiest / mean"},
    std::array{Arg{"busiest", "R_max", "rows of the busiest rank"},
               Arg{"level", "R_mean", "rows of every rank when level", 1}},
    []<class N>(Count<N> busiest, Count<N> level) { return busiest / level; }};

using CapacityFormulas = Chapter<dispatches, mean_rows, loaded_rows, expert_capacity, dropped_rows,
                                 padded_rows, row_share, levelling_gain, hottest_slowdown>;

}  // namespace trainplan
