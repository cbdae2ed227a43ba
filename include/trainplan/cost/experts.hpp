/// What routed experts add: tokens that travel to their experts and back, and the rows that a rank computes.
#pragma once

#include "trainplan/cost/inputs.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula routed_rows{
    "routed_rows", "token copies that the experts of one rank take in, of one micro-batch",
    Source{"megatron-moe", "tokens of the expert tensor parallel ranks x experts per token x load"},
    std::array{Arg{"tokens", "T", "tokens of a micro-batch on one GPU"},
               Arg{"top_k", "k_top", "experts that a token visits"},
               Arg{"load", "f_load", "rows of this rank over the mean"},
               Arg{"etp", "x", "tensor parallel degree of experts", 1},
               Arg{"t", "t", "tensor parallel degree", 1}},
    []<class N>(Tokens<N> tokens, Count<N> k, Count<N> load, Count<N> x, Count<N> t) {
      return tokens * k * load * x / t;
    }};

inline constexpr Formula expert_all_to_all_bytes{
    "expert_all_to_all_bytes",
    "bytes that a rank sends to the experts of other ranks and back in a step",
    Source{"gshard-2020", "section 3: dispatch and combine, forward and backward"},
    std::array{Arg{"n", "n_a2a", "all-to-alls of a layer and micro-batch"},
               Arg{"rows", "R_s", "token copies that a rank sends"}, Arg{"h", "h", "hidden size"},
               Arg{"element", "e", "bytes of an element"}, Arg{"ep", "e_p", "expert parallel degree", 1},
               Arg{"layers", "L_e", "layers with routed experts"}, Arg{"m", "m", "micro-batches of a step"}},
    []<class N>(Count<N> n, Tokens<N> rows, Count<N> h, BytesPerToken<N> e, Count<N> ep, Count<N> layers,
                Count<N> m) { return n * rows * h * e * ((ep - 1.0) / ep) * layers * m; },
    Unit::Traffic};

inline constexpr Formula expert_gather_bytes{
    "expert_gather_bytes",
    "bytes that a rank sends between expert tensor parallel ranks in a step",
    Source{"megatron-moe", "rows are gathered before and reduced after the experts"},
    std::array{Arg{"n", "n_etp", "collectives of a layer and micro-batch"},
               Arg{"rows", "R", "token copies after the gather"}, Arg{"h", "h", "hidden size"},
               Arg{"element", "e", "bytes of an element"},
               Arg{"etp", "x", "tensor parallel degree of experts", 1},
               Arg{"layers", "L_e", "layers with routed experts"}, Arg{"m", "m", "micro-batches of a step"}},
    []<class N>(Count<N> n, Tokens<N> rows, Count<N> h, BytesPerToken<N> e, Count<N> x, Count<N> layers,
                Count<N> m) { return n * rows * h * e * ((x - 1.0) / x) * layers * m; },
    Unit::Traffic};

inline constexpr Formula all_to_all_time{
    "all_to_all_time", "seconds of an all-to-all over two tiers that work at the same time",
    Source{"identity", "the slower of the bytes inside the scale-up domain and the bytes between domains"},
    std::array{Arg{"bytes", "V_a2a", "bytes that a rank sends"}, Arg{"ranks", "e_p", "ranks", 1},
               Arg{"inside", "n_in", "ranks inside the domain of a rank", 1},
               Arg{"fast", "W_in", "rate inside the domain", 1e-9},
               Arg{"slow", "W_out", "rate between domains", 1e-9}},
    []<class N>(Bytes<N> bytes, Count<N> ranks, Count<N> inside, BytesPerSec<N> fast, BytesPerSec<N> slow) {
      const auto others = max(ranks - 1.0, Count<N>{N(1.0)});
      return max(bytes * ((inside - 1.0) / others) / fast, bytes * ((ranks - inside) / others) / slow);
    }};

/// Rows of the busiest rank over the mean: the capacity factor where tokens are dropped or padded, else the
/// imbalance. A rank that holds all experts takes in the mean, however tokens are routed.
constexpr double load_of(const Recipe& recipe, const Plan& plan) {
  return recipe.capacity_factor > 0 ? recipe.capacity_factor : plan.ep == 1 ? 1 : recipe.imbalance;
}

/// load_of as a leaf that says what decides it.
template <Recorder R>
Count<typename R::Num> expert_load(R& rec, const Recipe& recipe, const Plan& plan) {
  const Leaf leaf =
      recipe.capacity_factor > 0
          ? Leaf{"f_load", "rows of a rank over the mean: capacity factor", "run /capacity_factor"}
      : plan.ep == 1
          ? Leaf{"f_load", "rows of a rank over the mean: it holds all experts", "plan /ep"}
          : Leaf{"f_load", "rows of the busiest rank over the mean, dropless", "run /expert_imbalance"};
  return rec.template in<Count<typename R::Num>>(leaf, load_of(recipe, plan));
}

using ExpertFormulas = Chapter<routed_rows, expert_all_to_all_bytes, expert_gather_bytes, all_to_all_time>;

}  // namespace trainplan
