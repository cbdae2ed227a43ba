/// How the degrees of a plan multiply: GPUs, replicas, layers of a chunk.
#pragma once

#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula cluster_gpus{
    "cluster_gpus", "GPUs of a cluster", Source{"identity", "nodes x GPUs of a node"},
    std::array{Arg{"nodes", "n_node", "nodes", 1}, Arg{"per_node", "g", "GPUs of a node", 1}},
    []<class N>(Count<N> nodes, Count<N> per_node) { return nodes * per_node; }};

inline constexpr Formula gpus_of_plan{
    "gpus_of_plan", "GPUs that a plan uses",
    Source{"megatron-2021", "section 3: p t d = n; context parallelism multiplies it"},
    std::array{Arg{"t", "t", "tensor parallel degree", 1}, Arg{"p", "p", "pipeline parallel degree", 1},
               Arg{"d", "d", "data parallel degree", 1}, Arg{"c", "c", "context parallel degree", 1}},
    []<class N>(Count<N> t, Count<N> p, Count<N> d, Count<N> c) { return t * p * d * c; }};

inline constexpr Formula data_parallel_degree{
    "data_parallel_degree", "replicas that the remaining GPUs make",
    Source{"megatron-2021", "section 3: d = n / (p t)"},
    std::array{Arg{"gpus", "G", "GPUs", 1}, Arg{"t", "t", "tensor parallel degree", 1},
               Arg{"p", "p", "pipeline parallel degree", 1}, Arg{"c", "c", "context parallel degree", 1}},
    []<class N>(Count<N> gpus, Count<N> t, Count<N> p, Count<N> c) { return gpus / (t * p * c); }};

inline constexpr Formula layers_per_chunk{
    "layers_per_chunk", "layers of one virtual stage", Source{"megatron-2021", "section 2.2: must be whole"},
    std::array{Arg{"L", "L", "layers", 1}, Arg{"p", "p", "stages", 1},
               Arg{"v", "v", "virtual stages per rank", 1}},
    []<class N>(Count<N> l, Count<N> p, Count<N> v) { return l / (p * v); }};

using DegreeFormulas = Chapter<cluster_gpus, gpus_of_plan, data_parallel_degree, layers_per_chunk>;

}  // namespace trainplan
