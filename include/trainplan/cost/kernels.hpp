/// Times of single kernels, and the rates that an accelerator and its software sustain.
#pragma once

#include <array>

#include "trainplan/cost/inputs.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula sustained_rate{
    "sustained_rate", "best rate of a kind of kernel", Source{"identity", "share of the dense peak"},
    std::array{Arg{"peak", "P", "dense peak", 1}, Arg{"share", "e", "share that is sustained", 0, 1}},
    []<class N>(FlopsPerSec<N> peak, Count<N> share) { return peak * share; }};

inline constexpr Formula product_time{
    "product_time", "time of a matrix product",
    Source{"roofline-2009", "products at a rate that falls with shallow depth, or its memory traffic"},
    std::array{Arg{"flops", "F", "FLOPs"}, Arg{"rate", "R", "best rate", 1},
               Arg{"depth", "K", "depth of the product", 1},
               Arg{"half", "K_0", "depth of half the best rate", 0}, Arg{"bytes", "V", "bytes moved"},
               Arg{"memory", "W_mem", "memory rate", 1}, Arg{"start", "t_0", "start of a kernel"}},
    []<class N>(Flops<N> flops, FlopsPerSec<N> rate, Count<N> depth, Count<N> half, Bytes<N> bytes,
                BytesPerSec<N> memory, Seconds<N> start) {
      return max(flops / (rate * (depth / (depth + half))), bytes / memory) + start;
    }};

inline constexpr Formula grouped_product_time{
    "grouped_product_time", "time of the matrix products of the experts of a rank",
    Source{"simumax", "108 grouped products on B200: products and weight traffic add up"},
    std::array{Arg{"flops", "F", "FLOPs"}, Arg{"rate", "R", "best rate", 1},
               Arg{"bytes", "V", "bytes of weights or of their gradients"},
               Arg{"memory", "W_mem", "memory rate", 1}, Arg{"start", "t_0", "start of a kernel"}},
    []<class N>(Flops<N> flops, FlopsPerSec<N> rate, Bytes<N> bytes, BytesPerSec<N> memory,
                Seconds<N> start) { return flops / rate + bytes / memory + start; }};

inline constexpr Formula attention_time{
    "attention_time", "time of a fused attention kernel",
    Source{"flash-attention-2023", "the rate falls with short sequences and with few blocks of queries"},
    std::array{Arg{"flops", "F", "FLOPs"}, Arg{"rate", "R", "best rate", 1},
               Arg{"positions", "s", "positions of a sequence on one rank", 1},
               Arg{"half", "s_0", "positions of half the best rate", 0},
               Arg{"blocks", "n_q", "blocks of queries", 1e-9},
               Arg{"half_blocks", "n_0", "blocks of half the best rate", 0}},
    []<class N>(Flops<N> flops, FlopsPerSec<N> rate, Count<N> s, Count<N> half, Count<N> blocks,
                Count<N> half_blocks) {
      return flops / (rate * (s / (s + half)) * (blocks / (blocks + half_blocks)));
    }};

inline constexpr Formula memory_time{
    "memory_time", "time of kernels that only move memory", Source{"roofline-2009", "bytes / memory rate"},
    std::array{Arg{"bytes", "V", "bytes read and written"}, Arg{"memory", "W_mem", "memory rate", 1}},
    []<class N>(Bytes<N> bytes, BytesPerSec<N> memory) { return bytes / memory; }};

inline constexpr Formula element_wise_time{
    "element_wise_time", "time of element-wise kernels",
    Source{"roofline-2009", "bytes / memory rate, and the starts of the kernels"},
    std::array{Arg{"bytes", "V", "bytes read and written"}, Arg{"memory", "W_mem", "memory rate", 1},
               Arg{"kernels", "n_k", "kernels"}, Arg{"start", "t_0", "start of a kernel"}},
    []<class N>(Bytes<N> bytes, BytesPerSec<N> memory, Count<N> kernels, Seconds<N> start) {
      return memory_time(bytes, memory) + kernels * start;
    }};

inline constexpr Formula host_wait{
    "host_wait", "time that a GPU waits for the host to issue a layer",
    Source{"identity", "what issuing takes beyond the work itself"},
    std::array{Arg{"issue", "t_issue", "time to issue the layer"},
               Arg{"work", "t_work", "time of the layer on the GPU"}},
    []<class N>(Seconds<N> issue, Seconds<N> work) { return positive(issue - work); }};

/// Forward and backward of one micro-batch.
template <class N>
struct Passes {
  Seconds<N> forward{}, backward{};

  friend Passes operator+(Passes a, Passes b) { return {a.forward + b.forward, a.backward + b.backward}; }
  Seconds<N> both() const { return forward + backward; }
};

/// Rates of one GPU. low: of products in fp8 or fp4, with the depth that halves them.
template <class N>
struct Rates {
  FlopsPerSec<N> wide, low, attention;
  BytesPerSec<N> memory;
  Count<N> half_depth, half_depth_low, half_length;
  Seconds<N> start;
};

namespace detail {

/// Rate of a kernel over the best one of the accelerator. An older kernel cannot use the tensor cores of a
/// generation that came after it; what formats an accelerator has tells its generation.
inline double kernel_share(AttentionKernel kernel, const Accelerator& a) {
  const bool fp8 = a.fp8_dense.known, fp4 = a.fp4_dense.known;
  switch (kernel) {
    case AttentionKernel::Best: return 1;
    case AttentionKernel::Flash2: return fp4 ? 0.55 : fp8 ? 0.6 : 1;
    case AttentionKernel::Triton: return fp4 ? 0.3 : fp8 ? 0.32 : 0.56;
  }
  return 1;
}

/// fp4 products reach less of their peak than those in fp8.
inline constexpr double kFp4Share = 0.7;

/// Rate for a head size over that for 128: smaller heads, and keys that are wider than values.
inline double head_share(const ModelSpec& m) { return m.is_latent() ? 0.85 : m.head_dim < 128 ? 0.9 : 1; }

}  // namespace detail

template <Recorder R>
Rates<typename R::Num> sustained_rates(R& rec, const Inputs<typename R::Num>& in, const Problem& problem) {
  using N = typename R::Num;
  const AcceleratorConstants& sku = problem.accelerator();
  const TimeConstants& c = problem.calibration().time;
  const Accelerator& gpu = problem.cluster().accelerator;
  Rates<N> out;
  out.wide = rec.apply(sustained_rate, {"rate.products", "R_w", "matrix products in 16 bits"}, in.peak,
                       figure<Count<N>>(rec, "e_gemm", "share of the peak, 16 bits", sku.gemm));
  out.half_depth = figure<Count<N>>(rec, "K_0", "depth of half the best rate", c.gemm_half_depth);
  out.low = out.wide;
  out.half_depth_low = out.half_depth;
  if (problem.recipe.matmul != Matmul::Wide) {
    const bool fp4 = problem.recipe.matmul == Matmul::Nvfp4;
    out.low = rec.apply(
        sustained_rate, {"rate.low_products", "R_low", "matrix products in fp8 or fp4"},
        figure<FlopsPerSec<N>>(rec, "P_low", fp4 ? "dense fp4 peak" : "dense fp8 peak", low_peak(problem)),
        figure<Count<N>>(rec, "e_low", "share of the peak, fp8", sku.low_gemm) *
            rec.template in<Count<N>>(
                {"f_4", "share of fp4 products over that of fp8", "run /matmul_precision"},
                fp4 ? detail::kFp4Share : 1));
    out.half_depth_low =
        out.half_depth *
        rec.template in<Count<N>>(
            {"f_K", "depth that the format needs over 16 bits", "run /matmul_precision"}, fp4 ? 4 : 2);
  }
  const auto kernel = rec.template in<Count<N>>(
      {"f_kernel", "rate of the attention kernel over the best one", "stack attention"},
      detail::kernel_share(problem.stack().attention, gpu));
  const auto head = rec.template in<Count<N>>({"f_head", "rate for this head size over 128", "model"},
                                              detail::head_share(problem.model()));
  out.attention =
      rec.item({"rate.attention", "R_attn", "attention kernel, long sequences"},
               in.peak * figure<Count<N>>(rec, "e_attn", "share of the peak, attention", sku.attention) *
                   kernel * head);
  out.memory = rec.item({"rate.memory", "W_mem", "element-wise kernels"},
                        figure<BytesPerSec<N>>(rec, "W_hbm", "memory bandwidth", gpu.memory_bandwidth) *
                            figure<Count<N>>(rec, "e_mem", "share of it", c.memory_rate));
  out.half_length = figure<Count<N>>(rec, "s_0", "positions of half the best rate", c.attention_half_length);
  out.start = figure<Seconds<N>>(rec, "t_0", "start of a kernel", c.kernel_start);
  return out;
}

using KernelFormulas = Chapter<sustained_rate, product_time, grouped_product_time, attention_time,
                               memory_time, element_wise_time, host_wait>;

}  // namespace trainplan
