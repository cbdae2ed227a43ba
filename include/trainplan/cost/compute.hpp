/// FLOPs of a token, the time no run can beat, and what a measured step makes of it (MFU, HFU).
#pragma once

#include "trainplan/cost/inputs.hpp"
#include "trainplan/cost/params.hpp"
#include "trainplan/cost/recompute.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula attention_flops_causal{
    "attention_flops_causal", "attention FLOPs of a token, causal half counted",
    Source{"megatron-lm", "training.py since 2025-03: 6 L q s forward and backward"},
    std::array{Arg{"L", "L", "layers"}, Arg{"q", "q", "query width"}, Arg{"s", "s", "sequence length"}},
    []<class N>(Count<N> l, Count<N> q, Tokens<N> s) {
      return as<kFlops - kTokens>(6.0 * l * q * as<kCount>(s));
    }};

inline constexpr Formula attention_flops_full{
    "attention_flops_full", "attention FLOPs of a token, full matrix counted",
    Source{"palm-2022", "appendix B: 12 L q s forward and backward"},
    std::array{Arg{"L", "L", "layers"}, Arg{"q", "q", "query width"}, Arg{"s", "s", "sequence length"}},
    []<class N>(Count<N> l, Count<N> q, Tokens<N> s) {
      return as<kFlops - kTokens>(12.0 * l * q * as<kCount>(s));
    }};

inline constexpr Formula window_positions{
    "window_positions", "positions that a token of a sliding window attends to, on average",
    Source{"mistral-2023", "the first tokens of a sequence see fewer than the window"},
    std::array{Arg{"w", "w", "window"}, Arg{"s", "s", "sequence length", 1}},
    []<class N>(Tokens<N> w, Tokens<N> s) { return min(w, s) * (1.0 - min(w, s) / (2.0 * s)); }};

inline constexpr Formula chunk_positions{
    "chunk_positions", "positions that a token of chunked attention attends to, on average",
    Source{"llama-4-2025", "attention_chunk_size: causal inside a chunk, the last one shorter"},
    std::array{Arg{"c", "c_a", "chunk", 1}, Arg{"s", "s", "sequence length", 1}},
    []<class N>(Tokens<N> c, Tokens<N> s) {
      const auto whole = floor(as<kCount>(s) / as<kCount>(c));
      const auto rest = s - whole * c;
      return (whole * as<kCount>(c) * c + as<kCount>(rest) * rest) / (2.0 * as<kCount>(s));
    }};

inline constexpr Formula attention_flops_positions{
    "attention_flops_positions", "attention FLOPs of a token that attends to some positions",
    Source{"palm-2022", "2 per product forward, twice that backward"},
    std::array{Arg{"L", "L", "layers"}, Arg{"q", "q", "width of queries"}, Arg{"v", "v", "width of values"},
               Arg{"positions", "n_att", "positions that a token attends to"}},
    []<class N>(Count<N> l, Count<N> q, Count<N> v, Tokens<N> n) {
      return as<kFlops - kTokens>(6.0 * l * (q + v) * as<kCount>(n));
    }};

inline constexpr Formula train_flops_per_token{
    "train_flops_per_token", "model FLOPs of a token, forward and backward",
    Source{"kaplan-2020", "6 per parameter in a matrix product, plus attention"},
    std::array{Arg{"gemm", "N_g", "parameters in matrix products"},
               Arg{"attention", "F_attn", "attention FLOPs of a token"}},
    []<class N>(Params<N> gemm, FlopsPerToken<N> attention) {
      return as<kFlops - kTokens>(6.0 * gemm) + attention;
    }};

inline constexpr Formula step_tokens{
    "step_tokens", "tokens of a step", Source{"identity", "sequences x sequence length"},
    std::array{Arg{"batch", "B", "sequences of a step"}, Arg{"s", "s", "sequence length"}},
    []<class N>(Count<N> batch, Tokens<N> s) { return batch * s; }};

inline constexpr Formula ideal_step_time{
    "ideal_step_time", "step time at the dense peak of every GPU", Source{"palm-2022", "appendix B"},
    std::array{Arg{"tokens", "D_step", "tokens of a step"}, Arg{"flops", "F_tok", "FLOPs of a token"},
               Arg{"gpus", "G", "GPUs", 1}, Arg{"peak", "P", "dense peak of one GPU", 1}},
    []<class N>(Tokens<N> tokens, FlopsPerToken<N> flops, Count<N> gpus, FlopsPerSec<N> peak) {
      return tokens * flops / (gpus * peak);
    }};

inline constexpr Formula mfu{
    "mfu",
    "model FLOPs utilisation",
    Source{"palm-2022", "appendix B; recomputed FLOPs do not count"},
    std::array{Arg{"ideal", "T_ideal", "ideal step time"}, Arg{"step", "T_step", "step time", 1e-12}},
    []<class N>(Seconds<N> ideal, Seconds<N> step) { return ideal / step; },
    Unit::Share};

inline constexpr Formula hfu{"hfu",
                             "hardware FLOPs utilisation",
                             Source{"korthikanti-2022", "appendix A; recomputed FLOPs count"},
                             std::array{Arg{"mfu", "MFU", "model FLOPs utilisation"},
                                        Arg{"model", "F_tok", "model FLOPs of a token", 1e-9},
                                        Arg{"recomputed", "F_re", "recomputed FLOPs of a token"}},
                             []<class N>(Count<N> u, FlopsPerToken<N> model, FlopsPerToken<N> recomputed) {
                               return u * (model + recomputed) / model;
                             },
                             Unit::Share};

inline constexpr Formula step_time_at_mfu{"step_time_at_mfu", "step time that a given MFU means",
                                          Source{"palm-2022", "appendix B"},
                                          std::array{Arg{"ideal", "T_ideal", "ideal step time"},
                                                     Arg{"mfu", "MFU", "model FLOPs utilisation", 1e-9, 1}},
                                          []<class N>(Seconds<N> ideal, Count<N> u) { return ideal / u; }};

inline constexpr Formula tokens_per_second{
    "tokens_per_second", "tokens of the whole cluster in a second", Source{"identity", "tokens / step time"},
    std::array{Arg{"tokens", "D_step", "tokens of a step"}, Arg{"step", "T_step", "step time", 1e-12}},
    []<class N>(Tokens<N> tokens, Seconds<N> step) { return tokens / step; }};

inline constexpr Formula attention_share{
    "attention_share", "share of a token's FLOPs in attention", Source{"identity", "attention / model FLOPs"},
    std::array{Arg{"attention", "F_attn", "attention FLOPs of a token"},
               Arg{"model", "F_tok", "model FLOPs of a token", 1e-9}},
    []<class N>(FlopsPerToken<N> attention, FlopsPerToken<N> model) { return attention / model; }};

inline constexpr Formula step_flops{
    "step_flops", "model FLOPs of a step", Source{"identity", "tokens x FLOPs of a token"},
    std::array{Arg{"tokens", "D_step", "tokens of a step"}, Arg{"flops", "F_tok", "FLOPs of a token"}},
    []<class N>(Tokens<N> tokens, FlopsPerToken<N> flops) { return tokens * flops; }};

inline constexpr Formula step_tokens_per_gpu{
    "step_tokens_per_gpu", "tokens of a step for each GPU", Source{"identity", "tokens of a step / GPUs"},
    std::array{Arg{"tokens", "D_step", "tokens of a step"}, Arg{"gpus", "G", "GPUs", 1}},
    []<class N>(Tokens<N> tokens, Count<N> gpus) { return tokens / gpus; }};

/// chosen: under the convention of the run; full: the whole attention matrix counted.
template <class N>
struct ComputeCost {
  FlopsPerToken<N> causal, full, recomputed, recomputed_full;
  FlopsPerToken<N> attention, attention_full;
  Tokens<N> tokens;
  Seconds<N> ideal_causal, ideal_full, ideal;
};

namespace detail {

/// Attention FLOPs of a token under both conventions.
template <class N>
struct AttentionFlops {
  FlopsPerToken<N> causal, full;
};

inline constexpr std::array<std::string_view, kMaxSpans> kSpanCausalIds{
    "compute.attention_causal.0", "compute.attention_causal.1", "compute.attention_causal.2",
    "compute.attention_causal.3"};
inline constexpr std::array<std::string_view, kMaxSpans> kSpanFullIds{
    "compute.attention_full.0", "compute.attention_full.1", "compute.attention_full.2",
    "compute.attention_full.3"};
inline constexpr std::array<std::string_view, kMaxSpans> kSpanCausalSymbols{"F_0", "F_1", "F_2", "F_3"};
inline constexpr std::array<std::string_view, kMaxSpans> kSpanFullSymbols{"F_0f", "F_1f", "F_2f", "F_3f"};

constexpr std::string_view title_of(Span span) {
  switch (span) {
    case Span::All: return "layers over all positions";
    case Span::Window: return "layers with a sliding window";
    case Span::Chunk: return "layers with chunked attention";
  }
  return "";
}

/// Layers of one kind of span; the full convention counts the whole window or chunk of every token.
template <Recorder R>
AttentionFlops<typename R::Num> span_flops(R& rec, const Inputs<typename R::Num>& in, const ModelSpec& m,
                                           const SpanGroup& g, std::size_t i) {
  using N = typename R::Num;
  const auto q = score_width(in, m), v = output_width(in, m);
  const auto layers = count(rec, "L_span", title_of(g.span), m, "layer pattern", g.layers);
  Tokens<N> full = in.sequence, causal = in.sequence / 2.0;
  if (g.span != Span::All) {
    const bool window = g.span == Span::Window;
    const auto w = of_model<Tokens<N>>(rec, window ? "w" : "c_a", "positions of the window or chunk", m,
                                       window ? "/sliding_window" : "/attention_chunk_size", g.positions);
    full = min(w, in.sequence);
    causal = window ? window_positions(w, in.sequence) : chunk_positions(w, in.sequence);
  }
  return {rec.apply(attention_flops_positions, {kSpanCausalIds[i], kSpanCausalSymbols[i], title_of(g.span)},
                    layers, q, v, causal),
          rec.apply(attention_flops_positions, {kSpanFullIds[i], kSpanFullSymbols[i], title_of(g.span)},
                    layers, q, v, full)};
}

/// The plain formula where every layer attends to all positions, else a sum over kinds of layers.
template <Recorder R>
AttentionFlops<typename R::Num> attention_flops(R& rec, const Inputs<typename R::Num>& in,
                                                const Problem& problem) {
  using N = typename R::Num;
  const ModelSpec& m = problem.model();
  const Item causal{"compute.attention_causal", "F_attn", "attention FLOPs of a token, causal"},
      full{"compute.attention_full", "F_attn_full", "attention FLOPs of a token, full matrix"};
  const auto groups = m.spans();
  const bool plain = groups[0].span == Span::All && groups[0].layers == m.layers;
  if (plain && !m.is_latent() && problem.recipe.mtp_layers == 0)
    return {rec.apply(attention_flops_causal, causal, in.layers, in.query, in.sequence),
            rec.apply(attention_flops_full, full, in.layers, in.query, in.sequence)};
  Sum<FlopsPerToken<N>> half, whole;
  for (std::size_t i = 0; i < groups.size() && groups[i].layers > 0; ++i) {
    const auto f = span_flops(rec, in, m, groups[i], i);
    half.add(f.causal);
    whole.add(f.full);
  }
  if (problem.recipe.mtp_layers > 0) {
    const auto q = score_width(in, m), v = output_width(in, m);
    half.add(rec.apply(attention_flops_positions,
                       {"compute.attention_causal.mtp", "F_mtp", "blocks for further tokens"}, in.mtp_layers,
                       q, v, in.sequence / 2.0));
    whole.add(rec.apply(attention_flops_positions,
                        {"compute.attention_full.mtp", "F_mtpf", "blocks for further tokens"}, in.mtp_layers,
                        q, v, in.sequence));
  }
  return {rec.item(causal, 1.0 * half.total()), rec.item(full, 1.0 * whole.total())};
}

}  // namespace detail

template <Recorder R>
ComputeCost<typename R::Num> compute_cost(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                          const Plan& plan, Params<typename R::Num> gemm,
                                          Count<typename R::Num> recomputed_share) {
  using N = typename R::Num;
  ComputeCost<N> out;
  const auto [half, whole] = detail::attention_flops(rec, in, problem);
  out.attention = half;
  out.attention_full = whole;
  out.causal =
      rec.apply(train_flops_per_token,
                {"compute.flops_per_token_causal", "F_tok", "model FLOPs of a token, causal"}, gemm, half);
  out.full = rec.apply(train_flops_per_token,
                       {"compute.flops_per_token_full", "F_full", "model FLOPs of a token, full matrix"},
                       gemm, whole);
  out.tokens = rec.apply(step_tokens, {"compute.tokens_per_step", "D_step", ""}, in.batch, in.sequence);
  out.ideal_causal = rec.apply(ideal_step_time, {"compute.ideal_causal", "T_ideal", "ideal step, causal"},
                               out.tokens, out.causal, in.gpus, in.peak);
  out.ideal_full =
      rec.apply(ideal_step_time, {"compute.ideal_full", "T_ideal_full", "ideal step, full matrix"},
                out.tokens, out.full, in.gpus, in.peak);
  out.ideal = problem.recipe.convention == FlopConvention::Causal ? out.ideal_causal : out.ideal_full;
  Sum<Params<N>> repeated;
  if (plan.recompute == Recompute::Selective)
    repeated = detail::repeated_params(rec, in, problem.model(), problem.profile(), plan.modules);
  out.recomputed = detail::recomputed_flops(
      rec, {"compute.recomputed_flops", "F_re", "recomputed FLOPs of a token, causal"}, problem, plan,
      out.causal, half, repeated, recomputed_share);
  out.recomputed_full = detail::recomputed_flops(
      rec, {"compute.recomputed_flops_full", "F_re_full", "recomputed FLOPs of a token, full matrix"},
      problem, plan, out.full, whole, repeated, recomputed_share);
  return out;
}

using ComputeFormulas =
    Chapter<attention_flops_causal, attention_flops_full, train_flops_per_token, step_tokens, ideal_step_time,
            mfu, hfu, step_time_at_mfu, recompute_flops_full, recompute_flops_selective,
            recompute_flops_products, gated_product_flops, tokens_per_second, attention_share, step_flops,
            step_tokens_per_gpu, window_positions, chunk_positions, attention_flops_positions>;

}  // namespace trainplan
