/// What several topics take from a plan's cluster.
#pragma once

#include <optional>

#include "trainplan/study/field.hpp"

namespace trainplan::study {

inline std::optional<double> known(const Figure& f) {
  return f.known ? std::optional(f.value) : std::nullopt;
}
inline const ClusterSpec& cluster_of(const Planned& p) { return p.trial().problem.cluster(); }
inline std::optional<double> gpus_of(const Planned& p) { return static_cast<double>(cluster_of(p).gpus()); }
inline std::optional<double> gpu_mtbf_of(const Planned& p) { return known(cluster_of(p).gpu_mtbf); }
inline std::optional<double> detect_of(const Planned& p) { return known(cluster_of(p).detect); }
/// Restarting and loading: what a rollback takes that nobody has to notice first.
inline std::optional<double> recovery_of(const Planned& p) {
  const ClusterSpec& c = cluster_of(p);
  return c.restart.known && c.load.known ? std::optional(c.restart.value + c.load.value) : std::nullopt;
}

}  // namespace trainplan::study
