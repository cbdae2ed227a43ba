/// Gradients on their way to an fp32 optimizer on the host: where bf16 becomes fp32.
#pragma once

#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula cast_time{
    "cast_time", "time to turn bf16 numbers into fp32",
    Source{"identity", "reads 2 bytes, writes 4: three times the bf16 bytes through memory"},
    std::array{Arg{"bytes", "V_16", "bytes in bf16"}, Arg{"memory", "W_mem", "rate of the memory", 1e-9}},
    []<class N>(Bytes<N> bytes, BytesPerSec<N> memory) { return 3.0 * bytes / memory; }};

inline constexpr Formula cast_on_host{
    "cast_on_host", "time to copy bf16 gradients to the host and cast them there",
    Source{"identity", "V/W_host + 3 V/W_mem_host"},
    std::array{Arg{"bytes", "V_16", "gradients in bf16"},
               Arg{"link", "W_host", "rate of copies, one direction", 1e-9},
               Arg{"host", "W_mem_host", "rate of the host's memory", 1e-9}},
    []<class N>(Bytes<N> bytes, BytesPerSec<N> link, BytesPerSec<N> host) {
      return bytes / link + cast_time(bytes, host);
    }};

inline constexpr Formula cast_on_gpu{"cast_on_gpu",
                                     "time to cast bf16 gradients on the GPU and copy them as fp32",
                                     Source{"identity", "3 V/W_mem + 2 V/W_host"},
                                     std::array{Arg{"bytes", "V_16", "gradients in bf16"},
                                                Arg{"link", "W_host", "rate of copies, one direction", 1e-9},
                                                Arg{"gpu", "W_mem", "rate of the GPU's memory", 1e-9}},
                                     []<class N>(Bytes<N> bytes, BytesPerSec<N> link, BytesPerSec<N> gpu) {
                                       return cast_time(bytes, gpu) + 2.0 * bytes / link;
                                     }};

inline constexpr Formula cast_break_even{
    "cast_break_even", "rate of copies below which the host should cast",
    Source{"identity", "1 / (3 (1/W_mem_host - 1/W_mem))"},
    std::array{Arg{"host", "W_mem_host", "rate of the host's memory", 1e-9},
               Arg{"slower", "x_mem", "rate of the host's memory over that of the GPU", 0, 0.999999}},
    []<class N>(BytesPerSec<N> host, Count<N> slower) { return host / (3.0 * (1.0 - slower)); }};

inline constexpr Formula cast_peak{
    "cast_peak", "memory of the GPU while it casts: gradients in bf16 and in fp32",
    Source{"identity", "2 + 4 bytes an element"}, std::array{Arg{"bytes", "V_16", "gradients in bf16"}},
    []<class N>(Bytes<N> bytes) { return 3.0 * bytes; }};

inline constexpr Formula channels_rate{
    "channels_rate", "rate of a host's memory at its peak",
    Source{"identity", "channels x transfers x bytes of a transfer"},
    std::array{Arg{"channels", "n_ch", "memory channels"},
               Arg{"transfers", "r_ch", "transfers of a channel in a second"},
               Arg{"width", "w_ch", "bytes of a transfer"}},
    []<class N>(Count<N> channels, PerSec<N> transfers, Bytes<N> width) {
      return channels * transfers * width;
    }};

using CastFormulas = Chapter<cast_time, cast_on_host, cast_on_gpu, cast_break_even, cast_peak, channels_rate>;

}  // namespace trainplan
