/// Single tensors that a training job asks for, so that a request that failed can be named.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "trainplan/cost/activations.hpp"
#include "trainplan/cost/inputs.hpp"
#include "trainplan/cost/memory.hpp"
#include "trainplan/cost/params.hpp"
#include "trainplan/cost/state.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula score_matrix{
    "score_matrix", "attention scores of one micro-batch and layer, as one tensor",
    Source{"korthikanti-2022", "section 4.1: a s^2 b elements"},
    std::array{Arg{"a", "a", "attention heads"}, Arg{"tokens", "T", "tokens"},
               Arg{"s", "s", "keys that a query sees"}, Arg{"element", "e", "bytes of an element"},
               Arg{"t", "t", "tensor parallel degree", 1}},
    []<class N>(Count<N> a, Tokens<N> tokens, Tokens<N> s, BytesPerToken<N> element, Count<N> t) {
      return a * tokens * element * as<kCount>(s) / t;
    }};

/// Items of the ledger whose id begins so are single requests.
inline constexpr std::string_view kAllocationPrefix = "allocation.";

namespace detail {

/// Files each tensor twice: with elements of the training precision and with fp32 ones.
class AllocationList {
  Explain& rec_;
  std::string half_;

  struct Form {
    std::string suffix;
    double bytes;
  };
  std::vector<Form> forms() const { return {{half_, 2}, {"fp32", 4}}; }

 public:
  AllocationList(Explain& rec, DType precision) : rec_(rec), half_(name_of(precision)) {}

  template <class F, class... Q>
  void weights(const std::string& id, const std::string& title, const F& formula, Params<Sym> params,
               Q... rest) {
    for (const Form& f : forms()) {
      const std::string name = std::string(kAllocationPrefix) + id + "." + f.suffix,
                        text = title + ", " + f.suffix;
      const auto width = rec_.in<BytesPerParam<>>({"w", "bytes of an element", f.suffix}, f.bytes);
      rec_.apply(formula, {name, name, text}, params, width, rest...);
    }
  }
  /// `make` gets the bytes of an element and returns the tensor's.
  void activation(const std::string& id, const std::string& title, auto make) {
    for (const Form& f : forms()) {
      const std::string name = std::string(kAllocationPrefix) + id + "." + f.suffix,
                        text = title + ", " + f.suffix;
      const auto element = rec_.in<BytesPerToken<>>({"e", "bytes of an element", f.suffix}, f.bytes);
      make(Item{name, name, text}, element);
    }
  }
};

/// Matrices of a layer and of the tables, flat buffers of a stage and of the model.
inline void weight_allocations(Explain& rec, AllocationList& list, const Inputs<Sym>& in,
                               const Problem& problem, const Plan& plan, const ParamsCost<Sym>& params) {
  const auto flat = [&](const std::string& id, const std::string& title, Params<Sym> n) {
    list.weights(id, title, model_state_bytes, n);
  };
  flat("model", "whole model as one buffer", params.total);
  flat("stage", "parameters of this GPU as one buffer (weights or gradients)", params.stage);
  if (plan.shard > 1) {
    list.weights("shard", "this GPU's shard as one buffer (master, moment or gradient)", sharded_state,
                 params.stage, in.shard);
    flat("layer", "one layer, gathered", params.layer_local);
  }
  const auto matrix = [&](const std::string& id, const std::string& title, Count<Sym> rows,
                          Count<Sym> columns) {
    flat(id, title,
         rec.item({"allocation_matrix." + id, "N_" + id, "elements of: " + title},
                  as<kParams>(rows * columns / in.tp)));
  };
  if (!problem.model().is_latent()) {
    matrix("qkv", "query, key and value projections of a layer", in.hidden, in.query + 2.0 * in.kv);
    matrix("projection", "output projection of a layer", in.query, in.hidden);
  }
  if (problem.model().ffn > 0) {
    matrix("up", "up projections of an MLP", in.hidden, (in.mlp_matrices - 1.0) * in.ffn);
    matrix("down", "down projection of an MLP", in.ffn, in.hidden);
  }
  matrix("table", "embedding or head table", params.padded_vocabulary, in.table_width);
  if (problem.model().is_sparse()) {
    flat("layer_experts", "routed experts of one layer on this GPU", params.experts_layer);
    flat("experts", "routed experts of this GPU, all layers of the stage", params.stage_experts);
  }
  if (const FrameworkProfile& f = problem.profile(); f.reduce_bucket > 0)
    flat("bucket", "one gradient bucket of the default size",
         from_file<Params<Sym>>(rec, "n_bucket", "elements of a bucket", f.origin, "/reduce_bucket",
                                f.reduce_bucket));
}

inline void activation_allocations(Explain& rec, AllocationList& list, const Inputs<Sym>& in,
                                   const Problem& problem, const ParamsCost<Sym>& params) {
  const auto tokens =
      rec.apply(tokens_per_gpu, {"activations.tokens", "T", ""}, in.micro_batch, in.sequence, in.cp);
  const auto tensor = [&](const std::string& id, const std::string& title, Count<Sym> width,
                          Count<Sym> ways) {
    list.activation(id, title, [&](const Item& item, BytesPerToken<Sym> e) {
      rec.apply(activation_tensor, item, tokens, width, e, ways);
    });
  };
  list.activation("logits", "logits of a micro-batch", [&](const Item& item, BytesPerToken<Sym> e) {
    rec.apply(logits_bytes, item, tokens, params.padded_vocabulary, e, in.tp);
  });
  list.activation("scores", "attention scores of a layer", [&](const Item& item, BytesPerToken<Sym> e) {
    rec.apply(score_matrix, item, in.heads, tokens, in.sequence, e, in.tp);
  });
  const Count<Sym> one = rec.in<Count<>>({"1", "ranks that share it", ""}, 1);
  tensor("hidden", "hidden states of a micro-batch", in.hidden, one);
  tensor("qkv_output", "queries, keys and values of a micro-batch", in.query + 2.0 * in.kv, in.tp);
  if (problem.model().ffn > 0)
    tensor("up_output", "up projections of a micro-batch", (in.mlp_matrices - 1.0) * in.ffn, in.tp);
}

}  // namespace detail

/// Single requests of one GPU of the stage, among the items that they are made of.
inline Ledger allocations(const Problem& problem, const Plan& plan, int stage) {
  Explain rec;
  const Inputs<Sym> in = bind(rec, problem, plan);
  const ParamsCost<Sym> params = params_cost(rec, in, problem, plan, stage);
  detail::AllocationList list(rec, problem.recipe.precision);
  detail::weight_allocations(rec, list, in, problem, plan, params);
  detail::activation_allocations(rec, list, in, problem, params);
  return rec.take_ledger();
}

/// How far one size is from another, relative to the second.
inline double distance(double bytes, double from) { return std::abs(bytes - from) / from; }

/// Equal to the last digit that an out-of-memory message shows, which are MiB or hundredths of GiB.
inline constexpr double kExactAllocation = 1e-3, kNearAllocation = 1e-2;
inline bool is_exact(double bytes, double asked, double within = kExactAllocation) {
  return distance(bytes, asked) <= within;
}

/// The requests of a ledger, nearest to the size first.
inline std::vector<const LineItem*> nearest_allocations(const Ledger& ledger, double asked) {
  std::vector<const LineItem*> found;
  for (const LineItem& item : ledger.items())
    if (item.id.starts_with(kAllocationPrefix)) found.push_back(&item);
  std::stable_sort(found.begin(), found.end(), [&](const LineItem* a, const LineItem* b) {
    return distance(a->value, asked) < distance(b->value, asked);
  });
  return found;
}

using AllocationFormulas = Chapter<score_matrix>;

}  // namespace trainplan
