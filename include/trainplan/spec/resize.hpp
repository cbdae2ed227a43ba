/// The same cluster with another number of nodes or GPUs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "trainplan/spec/checked.hpp"
#include "trainplan/spec/validate.hpp"

namespace trainplan {

/// Nodes are added or taken away; rates of the whole cluster, such as storage, stay what they are. Nothing
/// where such a cluster breaks a rule.
inline std::optional<Checked<ClusterSpec>> with_nodes(const ClusterSpec& cluster, std::int64_t nodes,
                                                      Issues& issues) {
  ClusterSpec out = cluster;
  out.nodes = nodes;
  return Checked<ClusterSpec>::make(std::move(out), issues);
}

/// Where the GPUs are not whole nodes and whole scale-up domains an issue names the numbers nearby that are.
inline std::optional<Checked<ClusterSpec>> with_gpus(const ClusterSpec& cluster, std::int64_t gpus,
                                                     Issues& issues) {
  // One is a multiple of the other in every checked cluster.
  const bool by_domain = cluster.scale_up_domain > cluster.gpus_per_node;
  const std::int64_t piece = by_domain ? cluster.scale_up_domain : cluster.gpus_per_node;
  if (gpus < 1 || gpus % piece != 0) {
    const std::int64_t below = std::max<std::int64_t>(gpus, 0) / piece * piece;
    issues.add(
        {.rule = "whole-nodes",
         .pointer = "--gpus",
         .got = std::to_string(gpus),
         .must = std::string("be a multiple of ") + (by_domain ? "scale_up_domain" : "gpus_per_node") +
                 " = " + std::to_string(piece) + " of " + cluster.name,
         .hint = "try " + (below > 0 ? std::to_string(below) + " or " : "") + std::to_string(below + piece)});
    return std::nullopt;
  }
  return with_nodes(cluster, gpus / cluster.gpus_per_node, issues);
}

}  // namespace trainplan
