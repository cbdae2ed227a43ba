/// FLOPs that recompute adds to a token: whole layers, attention kernels, products of modules.
#pragma once

#include "trainplan/cost/inputs.hpp"
#include "trainplan/cost/model_params.hpp"

namespace trainplan {

inline constexpr Formula recompute_flops_full{
    "recompute_flops_full", "FLOPs that full recompute adds to a token",
    Source{"korthikanti-2022", "one forward of three"},
    std::array{Arg{"model", "F_tok", "model FLOPs of a token"},
               Arg{"share", "k/L_s", "share of layers that are recomputed", 0, 1}},
    []<class N>(FlopsPerToken<N> model, Count<N> share) { return share * model / 3.0; }};

inline constexpr Formula recompute_flops_selective{
    "recompute_flops_selective", "FLOPs that selective recompute adds to a token",
    Source{"korthikanti-2022", "core attention runs forward once more"},
    std::array{Arg{"attention", "F_attn", "attention FLOPs of a token"}},
    []<class N>(FlopsPerToken<N> attention) { return attention / 3.0; }};

inline constexpr Formula recompute_flops_products{
    "recompute_flops_products", "FLOPs of a token that repeat forward products of some weights",
    Source{"megatron-lm", "--recompute-modules: products of a module run forward once more"},
    std::array{Arg{"params", "N_re", "parameters whose products run again"}},
    []<class N>(Params<N> params) { return as<kFlops - kTokens>(2.0 * params); }};

inline constexpr Formula gated_product_flops{
    "gated_product_flops", "multiplications that rebuild the input of the last product of a gated MLP",
    Source{"shazeer-2020", "section 2: one for each element of the product of gate and up projection"},
    std::array{Arg{"tokens", "T", "tokens"}, Arg{"width", "f", "width of the MLP"}},
    []<class N>(Tokens<N> tokens, Count<N> width) { return as<kFlops - kTokens>(width) * tokens; }};

namespace detail {

/// Weights whose products selective recompute repeats for a token. Of named modules: MLP, experts and shared
/// experts, and latent up projections; rebuilding norms and activations takes no product. By product: the
/// keys, the output projection and the second up projection of every layer.
template <Recorder R>
Sum<Params<typename R::Num>> repeated_params(R& rec, const Inputs<typename R::Num>& in, const ModelSpec& m,
                                             const FrameworkProfile& profile, Modules modules) {
  using N = typename R::Num;
  Sum<Params<N>> sum;
  const auto has = [&](Module module) { return (modules & bit(module)) != 0; };
  const bool dense = m.sparse_layers()<m.layers, shared = m.experts.shared_width> 0;
  const auto dense_layers = m.is_sparse() ? in.layers - in.sparse_layers : 1.0 * in.layers;
  const auto add = [&](std::string_view id, std::string_view symbol, std::string_view title, Params<N> n) {
    sum.add(rec.item({id, symbol, title}, n));
  };
  if (profile.selective == SelectivePolicy::EverySecondMatmul) {
    if (!m.is_latent())
      add("compute.again.attention", "N_re_a", "keys and output projections",
          in.layers * as<kParams>(in.hidden * in.kv + in.query * in.hidden));
    if (dense && m.mlp_matrices == 3)
      add("compute.again.mlp", "N_re_m", "second up projections",
          dense_layers * as<kParams>(in.hidden * in.ffn));
    return sum;
  }
  if (has(Module::Mlp) && dense)
    add("compute.again.mlp", "N_re_m", "dense MLPs",
        dense_layers * mlp_params(in.mlp_matrices, in.hidden, in.ffn));
  if (has(Module::Moe) && m.is_sparse())
    add("compute.again.experts", "N_re_e", "routed experts that a token visits, and routers",
        in.sparse_layers * (in.top_k * mlp_params(in.mlp_matrices, in.hidden, in.expert_ffn) +
                            as<kParams>(in.hidden * in.experts)));
  if ((has(Module::Moe) || has(Module::SharedExperts)) && shared)
    add("compute.again.shared", "N_re_s", "shared experts",
        in.sparse_layers * mlp_params(in.mlp_matrices, in.hidden, in.shared_ffn));
  if (has(Module::MlaUpProj) && m.is_latent())
    add("compute.again.latent", "N_re_l", "latent up projections",
        in.layers * as<kParams>((m.latent.q_rank > 0 ? in.q_rank : in.hidden) * in.latent_query +
                                in.kv_rank * (in.latent_nope + in.latent_value)));
  return sum;
}

/// What a plan computes again for a token, under one convention of attention.
template <Recorder R>
FlopsPerToken<typename R::Num> recomputed_flops(R& rec, const Item& item, const Problem& problem,
                                                const Plan& plan, FlopsPerToken<typename R::Num> model,
                                                FlopsPerToken<typename R::Num> attention,
                                                const Sum<Params<typename R::Num>>& repeated,
                                                Count<typename R::Num> recomputed_share) {
  using N = typename R::Num;
  if (plan.recompute == Recompute::None) return rec.item(item, FlopsPerToken<N>{N(0.0)});
  if (recomputes_layers(plan)) return rec.apply(recompute_flops_full, item, model, recomputed_share);
  const bool kernel = problem.profile().selective == SelectivePolicy::Modules &&
                      (plan.modules & bit(Module::CoreAttention)) != 0;
  if (repeated.empty())
    return kernel ? rec.apply(recompute_flops_selective, item, attention)
                  : rec.item(item, FlopsPerToken<N>{N(0.0)});
  if (!kernel) return rec.apply(recompute_flops_products, item, repeated.total());
  return rec.item(item, recompute_flops_selective(attention) + recompute_flops_products(repeated.total()));
}

}  // namespace detail

}  // namespace trainplan
