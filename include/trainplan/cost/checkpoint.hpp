/// Checkpoint: bytes, write time, staging memory, and how often to save.
#pragma once

#include "trainplan/cost/inputs.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula checkpoint_bytes{
    "checkpoint_bytes",
    "bytes of a checkpoint",
    Source{"megatron-lm", "weights, master and moments: 14; FSDP2: 12; no gradients"},
    std::array{Arg{"params", "N", "parameters"}, Arg{"width", "w_ckpt", "bytes per parameter"}},
    []<class N>(Params<N> params, BytesPerParam<N> width) { return params * width; },
    Unit::Traffic};

inline constexpr Formula write_time{
    "write_time", "time to write a checkpoint", Source{"identity", "bytes / bandwidth"},
    std::array{Arg{"bytes", "K", "checkpoint"}, Arg{"bandwidth", "W_store", "write bandwidth", 1e-9}},
    []<class N>(Bytes<N> bytes, BytesPerSec<N> bandwidth) { return bytes / bandwidth; }};

inline constexpr Formula unique_bytes_per_gpu{
    "unique_bytes_per_gpu",
    "bytes that one GPU contributes to a checkpoint",
    Source{"pytorch-dcp", "each replica writes its share"},
    std::array{Arg{"bytes", "K", "checkpoint"}, Arg{"gpus", "G", "GPUs", 1}},
    []<class N>(Bytes<N> bytes, Count<N> gpus) { return bytes / gpus; },
    Unit::Traffic};

inline constexpr Formula staging_memory{
    "staging_memory",
    "host memory that asynchronous saving needs for one GPU",
    Source{"pytorch-dcp", "one or two copies"},
    std::array{Arg{"unique", "K_gpu", "unique bytes of a GPU"}, Arg{"copies", "n_copy", "copies", 1, 4}},
    []<class N>(Bytes<N> unique, Count<N> copies) { return unique * copies; },
    Unit::Traffic};

inline constexpr Formula young_interval{
    "young_interval", "checkpoint interval of least waste, first order",
    Source{"young-1974", "sqrt(2 delta M)"},
    std::array{Arg{"delta", "delta", "time that one save costs"},
               Arg{"mtbf", "M", "mean time between failures of the job"}},
    []<class N>(Seconds<N> delta, Seconds<N> mtbf) { return sqrt(2.0 * delta * mtbf); }};

inline constexpr Formula minimum_waste{
    "minimum_waste",
    "share of time lost to saving and rollback at Young's interval",
    Source{"young-1974", "sqrt(2 delta / M)"},
    std::array{Arg{"delta", "delta", "time that one save costs"},
               Arg{"mtbf", "M", "mean time between failures of the job", 1e-9}},
    []<class N>(Seconds<N> delta, Seconds<N> mtbf) { return sqrt(2.0 * delta / mtbf); },
    Unit::Share};

inline constexpr Formula interval_waste{
    "interval_waste", "share of time lost to saving and rollback at any interval",
    Source{"young-1974", "delta / tau + tau / (2 M)"},
    std::array{Arg{"delta", "delta", "time that one save costs"},
               Arg{"tau", "tau", "interval between saves", 1e-9},
               Arg{"mtbf", "M", "mean time between failures of the job", 1e-9}},
    []<class N>(Seconds<N> delta, Seconds<N> tau, Seconds<N> mtbf) {
      return delta / tau + tau / (2.0 * mtbf);
    }};

inline constexpr Formula expected_loss{
    "expected_loss", "work that a failure costs, with the save under way",
    Source{"young-1974", "half an interval + one save"},
    std::array{Arg{"delta", "delta", "time that one save costs"},
               Arg{"tau", "tau", "interval between saves"}},
    []<class N>(Seconds<N> delta, Seconds<N> tau) { return tau / 2.0 + delta; }};

inline constexpr Formula write_rate{
    "write_rate", "write bandwidth below which saves pile up",
    Source{"identity", "a checkpoint must be out before the next"},
    std::array{Arg{"bytes", "K", "checkpoint"}, Arg{"tau", "tau", "interval between saves", 1e-9}},
    []<class N>(Bytes<N> bytes, Seconds<N> tau) { return bytes / tau; }};

inline constexpr Formula bytes_written{
    "bytes_written", "bytes that checkpoints write in a time", Source{"identity", "checkpoint x saves"},
    std::array{Arg{"bytes", "K", "checkpoint"}, Arg{"time", "T", "wall-clock time"},
               Arg{"tau", "tau", "interval between saves", 1e-9}},
    []<class N>(Bytes<N> bytes, Seconds<N> time, Seconds<N> tau) { return bytes * (time / tau); }};

inline constexpr Formula periods_in_time{
    "periods_in_time", "how often a period goes into a time",
    Source{"identity", "saves of a day, steps of an interval"},
    std::array{Arg{"time", "T", "time"}, Arg{"period", "tau", "period", 1e-12}},
    []<class N>(Seconds<N> time, Seconds<N> period) { return time / period; }};

/// write: only where the storage bandwidth is known.
template <class N>
struct CheckpointCost {
  Bytes<N> bytes, per_gpu, staging;
  Seconds<N> write;
};

template <Recorder R>
CheckpointCost<typename R::Num> checkpoint_cost(R& rec, const Inputs<typename R::Num>& in,
                                                const Problem& problem, Params<typename R::Num> total) {
  using N = typename R::Num;
  CheckpointCost<N> out;
  const FrameworkProfile& f = problem.profile();
  const auto width = detail::from_file<BytesPerParam<N>>(
      rec, "w_ckpt", "checkpoint bytes per parameter", f.origin, "/checkpoint", f.checkpoint_bytes_per_param);
  out.bytes = rec.apply(checkpoint_bytes, {"checkpoint.bytes", "K", "checkpoint"}, total, width);
  out.per_gpu = rec.apply(unique_bytes_per_gpu, {"checkpoint.per_gpu", "K_gpu", "unique bytes of a GPU"},
                          out.bytes, in.gpus);
  const auto copies =
      rec.template in<Count<N>>({"n_copy", "copies kept in host memory", "asynchronous saving"}, 2);
  out.staging = rec.apply(staging_memory, {"checkpoint.staging", "M_stage", "host staging memory of a GPU"},
                          out.per_gpu, copies);
  if (problem.cluster().storage_write.known)
    out.write = rec.apply(
        write_time, {"checkpoint.write", "delta", "write time (synchronous)"}, out.bytes,
        figure<BytesPerSec<N>>(rec, "W_store", "storage write bandwidth", problem.cluster().storage_write));
  return out;
}

using CheckpointFormulas =
    Chapter<checkpoint_bytes, write_time, unique_bytes_per_gpu, staging_memory, young_interval, minimum_waste,
            interval_waste, expected_loss, write_rate, bytes_written, periods_in_time>;

}  // namespace trainplan
