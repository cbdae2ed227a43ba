/// Training state that stays on the GPU: the rows of the framework profile.
#pragma once

#include <algorithm>

#include "trainplan/cost/inputs.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula sharded_state{
    "sharded_state", "bytes of one row of training state on one GPU", Source{"zero-2020", "section 5"},
    std::array{Arg{"params", "N_s", "parameters of this GPU"},
               Arg{"width", "w", "bytes of the row per parameter"},
               Arg{"ways", "d", "ranks that share one copy", 1}},
    []<class N>(Params<N> params, BytesPerParam<N> width, Count<N> ways) { return params * width / ways; }};

inline constexpr Formula sharded_bytes_per_param{
    "sharded_bytes_per_param", "resident bytes per parameter with a sharded part",
    Source{"zero-2020", "table 1: 4 + 12/d, 2 + 14/d, 16/d; megatron-lm dist_optimizer.md: 6 + 12/d"},
    std::array{Arg{"whole", "w_0", "bytes per parameter on every rank"},
               Arg{"sharded", "w_d", "bytes per parameter that are shared"},
               Arg{"ways", "d", "ranks that share them", 1}},
    []<class N>(BytesPerParam<N> whole, BytesPerParam<N> sharded, Count<N> ways) {
      return whole + sharded / ways;
    }};

inline constexpr Formula state_bytes_per_param{
    "state_bytes_per_param", "bytes per parameter of weights, gradient, master and two moments",
    Source{"zero-2020", "section 3.1"},
    std::array{Arg{"weights", "w", "weights"}, Arg{"gradient", "g", "gradient"},
               Arg{"master", "w_32", "fp32 master"}, Arg{"moment1", "m_1", "first moment"},
               Arg{"moment2", "m_2", "second moment"}},
    []<class N>(BytesPerParam<N> w, BytesPerParam<N> g, BytesPerParam<N> master, BytesPerParam<N> m1,
                BytesPerParam<N> m2) { return w + g + master + m1 + m2; }};

inline constexpr Formula model_state_bytes{
    "model_state_bytes", "training state of a number of parameters", Source{"zero-2020", "section 3.1"},
    std::array{Arg{"params", "N", "parameters"}, Arg{"width", "w", "bytes per parameter"}},
    []<class N>(Params<N> params, BytesPerParam<N> width) { return params * width; }};

inline constexpr Formula state_saving{
    "state_saving", "share of the training state that sharding saves", Source{"zero-2020", "figure 1"},
    std::array{Arg{"kept", "w", "resident bytes per parameter"},
               Arg{"full", "w_0", "bytes per parameter without sharding", 1e-9}},
    []<class N>(BytesPerParam<N> kept, BytesPerParam<N> full) { return 1.0 - kept / full; }};

/// True when a row of the profile applies to this plan and recipe.
inline bool applies(When when, const Recipe& recipe, const Plan& plan) {
  switch (when) {
    case When::Always: return true;
    case When::Reshard: return plan.reshard;
    case When::NoReshard: return !plan.reshard;
    case When::DeferredSync: return !plan.sync_each_micro_batch;
    case When::SyncEachMicroBatch: return plan.sync_each_micro_batch;
    case When::Gradient16Bit: return recipe.gradient != DType::Fp32;
    case When::Moments16Bit: return recipe.moments != DType::Fp32;
    case When::GatheredOnce: return !plan.reshard && plan.pp > 1;
    case When::GatheredEachMicroBatch: return plan.reshard || plan.pp == 1;
  }
  return true;
}

constexpr double width_of(Width width, double fixed, const Recipe& recipe) {
  switch (width) {
    case Width::Fixed: return fixed;
    case Width::GradientDType: return bytes_of(recipe.gradient);
    case Width::ReduceDType: return bytes_of(recipe.reduce);
    case Width::MomentDType: return bytes_of(recipe.moments);
  }
  return fixed;
}

/// Dense weights are shared by data parallel ranks, routed experts by expert data parallel ranks.
enum class ParamClass : std::uint8_t { Dense, Experts };

/// The ranks of a group as a count of the plan.
template <class N>
Count<N> ways(const Inputs<N>& in, Group group, ParamClass params) {
  const bool experts = params == ParamClass::Experts;
  const bool grouped = value_of(in.shard) < value_of(in.dp) * value_of(in.cp);
  switch (group) {
    case Group::None: return Count<N>{1.0};
    case Group::DataParallel:
      if (grouped) return ways(in, Group::Shard, params);
      return experts ? 1.0 * in.expert_dp : in.dp * in.cp;
    case Group::Shard: return experts ? in.shard * in.tp / (in.ep * in.etp) : 1.0 * in.shard;
    case Group::Replicate: return in.dp * in.cp / in.shard;
  }
  return Count<N>{1.0};
}

/// The row of that id lives in host memory when these go there.
inline bool goes_along(const std::vector<std::string>& ids, std::string_view id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

/// A share of the parameters, as the operand of what is on the host or left on the GPU.
template <Recorder R>
Count<typename R::Num> offloaded_share(R& rec, double share) {
  return rec.template in<Count<typename R::Num>>(
      {"x_off", "parameters with their optimizer on the host", "run /offload_optimizer"}, share);
}

/// Share of a row of state that lives in host memory.
inline double host_share(const Problem& problem, const Plan& plan, std::string_view id) {
  const Offload& o = problem.recipe.offload;
  if (!o.weights && o.optimizer == 0) return 0;
  const HostRows& host = problem.profile().rows(plan.sharding)->host;
  if (o.weights && goes_along(host.weights, id)) return 1;
  return goes_along(host.optimizer, id) ? o.optimizer : 0;
}

/// Bytes per parameter of a row of the profile, with the place that decides them. A symbol that ends in '_'
/// goes on with the id of the row; it is put together only to be written down.
template <Recorder R, class Row>
BytesPerParam<typename R::Num> width_leaf(R& rec, const Problem& problem, std::string_view symbol,
                                          const Row& row) {
  using Q = BytesPerParam<typename R::Num>;
  const double width = width_of(row.width, row.bytes_per_param, problem.recipe);
  if constexpr (R::traced) {
    const std::string origin = row.width == Width::GradientDType ? "run /gradient_dtype"
                               : row.width == Width::ReduceDType ? "run /reduce_dtype"
                               : row.width == Width::MomentDType
                                   ? "run /moment_dtype"
                                   : problem.profile().origin + " " + row.source;
    const std::string whole = std::string(symbol) + (symbol.ends_with('_') ? row.id : "");
    return rec.template in<Q>({whole, "bytes per parameter: " + row.title, origin}, width);
  } else {
    return Q{width};
  }
}

/// Bytes of one row on one GPU, as the item memory.state.<row id>, of experts with .experts behind it.
/// shared: by how many ranks.
template <Recorder R>
Bytes<typename R::Num> state_row(R& rec, const StateRow& row, BytesPerParam<typename R::Num> width,
                                 ParamClass params, Params<typename R::Num> held,
                                 Count<typename R::Num> shared) {
  if constexpr (R::traced) {
    const bool experts = params == ParamClass::Experts;
    const std::string id = "memory.state." + row.id + (experts ? ".experts" : "");
    return rec.apply(
        sharded_state,
        {id, row.symbol + (experts ? "_e" : ""), row.title + (experts ? ", routed experts" : "")}, held,
        width, shared);
  } else {
    return sharded_state(held, width, shared);
  }
}

using StateFormulas =
    Chapter<sharded_state, sharded_bytes_per_param, state_bytes_per_param, model_state_bytes, state_saving>;

}  // namespace trainplan
