/// Saving in detail: many writers, and what is kept.
#pragma once

#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula sharded_write_time{
    "sharded_write_time", "time to write a checkpoint from every node at once",
    Source{"pytorch-dcp", "each rank writes its own share; the slower of network and storage decides"},
    std::array{Arg{"bytes", "K", "checkpoint"}, Arg{"nodes", "n_node", "nodes that write", 1},
               Arg{"nic", "W_node", "rate of a node into the storage", 1e-9},
               Arg{"storage", "W_store", "rate of the storage", 1e-9}},
    []<class N>(Bytes<N> bytes, Count<N> nodes, BytesPerSec<N> nic, BytesPerSec<N> storage) {
      return bytes / min(nodes * nic, storage);
    }};

inline constexpr Formula retained_bytes{
    "retained_bytes",
    "storage that checkpoints take after a time, each counted once",
    Source{"identity", "the newest few, and one for each long interval that is older than they are"},
    std::array{Arg{"bytes", "K", "checkpoint"}, Arg{"last", "n_last", "newest checkpoints that are kept"},
               Arg{"time", "T", "wall-clock time"}, Arg{"tau", "tau", "interval between saves", 1e-9},
               Arg{"every", "tau_keep", "interval from which one is kept for good", 1e-9}},
    []<class N>(Bytes<N> bytes, Count<N> last, Seconds<N> time, Seconds<N> tau, Seconds<N> every) {
      return bytes * (last + floor(positive(floor(time / tau) - last) * tau / every));
    },
    Unit::Traffic};

using SavingFormulas = Chapter<sharded_write_time, retained_bytes>;

}  // namespace trainplan
