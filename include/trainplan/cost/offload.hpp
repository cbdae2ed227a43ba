/// State that is not an even share of a GPU: on the host, in buckets, with experts of their own replicas.
#pragma once

#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula host_state{
    "host_state",
    "host memory that offloaded state takes on one node",
    Source{"deepspeed", "runtime/zero/stage3.py, estimate_zero3_model_states_mem_needs: x 1.5 for buffers"},
    std::array{Arg{"params", "N", "parameters of the model"},
               Arg{"width", "w_host", "offloaded bytes per parameter"},
               Arg{"factor", "f_buf", "allowance for pinned buffers", 1},
               Arg{"nodes", "n_node", "nodes that share it", 1}},
    []<class N>(Params<N> params, BytesPerParam<N> width, Count<N> factor, Count<N> nodes) {
      return params * width * factor / nodes;
    },
    Unit::Traffic};

inline constexpr Formula cpu_adam_bytes{
    "cpu_adam_bytes",
    "bytes that an Adam step on the host moves through its memory",
    Source{"deepspeed",
           "csrc/adam: reads fp32 gradient, master, two moments, writes the last three; 7 x 4 B"},
    std::array{Arg{"params", "N", "parameters that the node updates"}},
    []<class N>(Params<N> params) { return params * BytesPerParam<N>{N(28.0)}; },
    Unit::Traffic};

inline constexpr Formula host_row{
    "host_row", "bytes of one row of training state that one GPU keeps in host memory",
    Source{"zero-2020", "section 5: an even share of the row; buffers: deepspeed, stage3.py"},
    std::array{Arg{"params", "N_s", "parameters of this GPU"},
               Arg{"width", "w", "bytes of the row per parameter"},
               Arg{"share", "x_off", "parameters that are offloaded", 0, 1},
               Arg{"buffers", "f_buf", "host memory over what is counted", 1},
               Arg{"ways", "d", "ranks that share one copy", 1}},
    []<class N>(Params<N> params, BytesPerParam<N> width, Count<N> share, Count<N> buffers, Count<N> ways) {
      return params * width * share * buffers / ways;
    }};

inline constexpr Formula offload_wait{
    "offload_wait", "copies to and from the host that do not fit behind the work of a window",
    Source{"identity", "max(0, V / W - t_win); a link carries both directions at once"},
    std::array{Arg{"up", "V_up", "bytes from the host"}, Arg{"down", "V_down", "bytes to the host"},
               Arg{"rate", "W_host", "rate of copies, one direction", 1e-9},
               Arg{"window", "t_win", "work to hide behind"}},
    []<class N>(Bytes<N> up, Bytes<N> down, BytesPerSec<N> rate, Seconds<N> window) {
      return positive(max(up, down) / rate - window);
    }};

inline constexpr Formula host_update_time{
    "host_update_time", "time of an Adam step on the host of a node",
    Source{"deepspeed", "csrc/adam: bound by memory, seven fp32 values of a parameter are read or written"},
    std::array{Arg{"params", "N_node", "parameters that the node updates"},
               Arg{"rate", "W_mem_host", "rate of the host's memory", 1e-9}},
    []<class N>(Params<N> params, BytesPerSec<N> rate) { return cpu_adam_bytes(params) / rate; }};

inline constexpr Formula bucket_bytes{
    "bucket_bytes", "buffers for the reduction of gradients",
    Source{"deepspeed",
           "runtime/zero/stage_1_and_2.py: reduce_bucket_size elements, twice with overlap_comm"},
    std::array{Arg{"elements", "n_bucket", "elements of a bucket"}, Arg{"width", "w", "bytes of an element"},
               Arg{"buffers", "n_buf", "buffers: 1, or 2 with overlap", 1}},
    []<class N>(Params<N> elements, BytesPerParam<N> width, Count<N> buffers) {
      return elements * width * buffers;
    }};

inline constexpr Formula mixture_state{
    "mixture_state", "training state of a GPU that holds dense weights and experts",
    Source{"megatron-lm", "parallel_state.py: experts have data parallel groups of their own"},
    std::array{Arg{"dense", "N_d", "dense parameters of the GPU"},
               Arg{"dense_width", "w_d", "their bytes per parameter"},
               Arg{"expert", "N_e", "expert parameters of the GPU"},
               Arg{"expert_width", "w_e", "their bytes per parameter"}},
    []<class N>(Params<N> dense, BytesPerParam<N> dense_width, Params<N> expert,
                BytesPerParam<N> expert_width) { return dense * dense_width + expert * expert_width; }};

inline constexpr Formula sharding_gain{
    "sharding_gain", "memory that sharding over more ranks frees on a GPU",
    Source{"zero-2020", "section 5: N w / d, once for few and once for many ranks"},
    std::array{Arg{"params", "N_s", "parameters that are sharded"}, Arg{"width", "w", "bytes per parameter"},
               Arg{"few", "d_1", "ranks before", 1}, Arg{"many", "d_2", "ranks after", 1}},
    []<class N>(Params<N> params, BytesPerParam<N> width, Count<N> few, Count<N> many) {
      return params * width / few - params * width / many;
    }};

using OffloadFormulas = Chapter<host_state, host_row, offload_wait, cpu_adam_bytes, host_update_time,
                                bucket_bytes, mixture_state, sharding_gain>;

}  // namespace trainplan
