/// Overlap: which reductions fit into the gaps of a link, and what shows at the ends of a step.
#pragma once

#include "trainplan/cost/comm.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula bucket_time{
    "bucket_time", "time of the all-reduce of one bucket of gradients",
    Source{"pytorch", "DistributedDataParallel: one ring all-reduce a bucket, and the start of its kernel"},
    std::array{Arg{"bucket", "S_b", "bytes of a bucket"}, Arg{"ranks", "n", "ranks of the group", 1},
               Arg{"bandwidth", "W", "rate of the link", 1e-9},
               Arg{"launch", "t_start", "start of a kernel"}},
    []<class N>(Bytes<N> bucket, Count<N> ranks, BytesPerSec<N> bandwidth, Seconds<N> launch) {
      return all_reduce_bytes(bucket, ranks) / bandwidth + launch;
    }};

inline constexpr Formula buckets_in_gap{
    "buckets_in_gap", "whole buckets that fit into a gap of a link",
    Source{"identity", "floor(gap / bucket)"},
    std::array{Arg{"gap", "T_gap", "time that the link has nothing else to do"},
               Arg{"bucket", "t_b", "time of one bucket", 1e-12}},
    []<class N>(Seconds<N> gap, Seconds<N> bucket) { return floor(gap / bucket); }};

inline constexpr Formula exposed_reduction{
    "exposed_reduction", "part of a reduction that runs past the end of the computation",
    Source{"pytorch", "starts when the gradient is ready and the link is free"},
    std::array{Arg{"ready", "T_ready", "moment at which the gradient is ready"},
               Arg{"free", "T_free", "moment from which the link is free"},
               Arg{"duration", "t_b", "time of the reduction"},
               Arg{"end", "T_end", "moment at which the computation ends"}},
    []<class N>(Seconds<N> ready, Seconds<N> free, Seconds<N> duration, Seconds<N> end) {
      return positive(max(ready, free) + duration - end);
    }};

inline constexpr Formula tail_gain{
    "tail_gain", "time that hiding a reduction can save at most",
    Source{"identity", "the shorter of the reduction and what shows of it"},
    std::array{Arg{"reduction", "t_b", "time of the reduction"},
               Arg{"shows", "T_x", "part of it behind the computation"}},
    []<class N>(Seconds<N> reduction, Seconds<N> shows) { return min(reduction, shows); }};

inline constexpr Formula sharded_step_bytes{
    "sharded_step_bytes",
    "bytes that a rank sends in a step with all state sharded",
    Source{"zero-2020", "section 7.2.2: two gathers and one reduction of a micro-batch, 3 (d - 1)/d"},
    std::array{Arg{"params", "N", "parameters"}, Arg{"width", "w", "bytes of a weight and of a gradient"},
               Arg{"m", "m", "micro-batches of a step"}, Arg{"ranks", "d", "data-parallel ranks", 1}},
    []<class N>(Params<N> params, BytesPerParam<N> width, Count<N> m, Count<N> ranks) {
      return 3.0 * m * shard_exchange_bytes(params * width, ranks);
    },
    Unit::Traffic};

inline constexpr Formula ends_exposed{
    "ends_exposed", "first gather and last reduction of a sharded step, which have nothing to hide behind",
    Source{"fsdp-2023", "section 3.3: prefetching hides all others"},
    std::array{Arg{"first", "S_1", "bytes that the first gather brings together"},
               Arg{"last", "S_2", "bytes that the last reduction reduces"},
               Arg{"ranks", "d", "data-parallel ranks", 1}, Arg{"bandwidth", "W", "rate of the link", 1e-9}},
    []<class N>(Bytes<N> first, Bytes<N> last, Count<N> ranks, BytesPerSec<N> bandwidth) {
      return (shard_exchange_bytes(first, ranks) + shard_exchange_bytes(last, ranks)) / bandwidth;
    }};

using OverlapFormulas =
    Chapter<bucket_time, buckets_in_gap, exposed_reduction, tail_gain, sharded_step_bytes, ends_exposed>;

}  // namespace trainplan
