/// Which GPUs form a communication group, and so which link carries its traffic.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "trainplan/plan/problem.hpp"

namespace trainplan {

/// Dimensions of the rank order tp-cp-dp-pp, and for routed experts etp-ep-expert_dp-pp, the first being
/// neighbours.
enum class Axis : std::uint8_t { Tp, Cp, DpCp, Shard, Replicate, Pp, Etp, Ep, ExpertDp, ExpertShard };

/// The group of GPU 0: members 0, stride, 2 stride, ...; cp and dp are adjacent, so dp x cp is one range.
struct GroupShape {
  std::int64_t size = 1, stride = 1;
};

constexpr GroupShape group_of(const Plan& plan, Axis axis) {
  const std::int64_t tp = plan.tp, cp = plan.cp, dp = plan.dp, shard = plan.shard;
  switch (axis) {
    case Axis::Tp: return {tp, 1};
    case Axis::Cp: return {cp, tp};
    case Axis::DpCp: return {dp * cp, tp};
    case Axis::Shard: return {shard, tp};
    case Axis::Replicate: return {dp * cp / shard, tp * shard};
    case Axis::Pp: return {plan.pp, tp * cp * dp};
    case Axis::Etp: return {plan.etp, 1};
    case Axis::Ep: return {plan.ep, plan.etp};
    case Axis::ExpertDp: return {expert_dp(plan), std::int64_t{plan.ep} * plan.etp};
    case Axis::ExpertShard:
      return {shard * tp / (std::int64_t{plan.ep} * plan.etp), std::int64_t{plan.ep} * plan.etp};
  }
  return {};
}

/// True when no group of this shape crosses a block of `block` neighbouring GPUs.
constexpr bool inside(GroupShape g, std::int64_t block) {
  const std::int64_t span = g.size * g.stride;
  return g.size == 1 || span <= g.stride || (span <= block && block % span == 0);
}

/// Members of the group of GPU 0 in one block of neighbouring GPUs.
constexpr std::int64_t members_inside(GroupShape g, std::int64_t block) {
  return std::clamp<std::int64_t>(block / g.stride, 1, g.size);
}

/// Nodes that the group of GPU 0 touches.
constexpr std::int64_t nodes_spanned(GroupShape g, std::int64_t gpus_per_node) {
  if (g.stride >= gpus_per_node) return g.size;
  return (g.size * g.stride + gpus_per_node - 1) / gpus_per_node;
}

enum class Link : std::uint8_t { None, ScaleUp, Pcie, Nic };

constexpr Link link_of(const ClusterSpec& cluster, GroupShape g) {
  if (g.size <= 1) return Link::None;
  if (cluster.accelerator.scale_up_bandwidth.value > 0 && inside(g, cluster.scale_up_domain))
    return Link::ScaleUp;
  if (inside(g, cluster.gpus_per_node)) return Link::Pcie;
  return Link::Nic;
}

/// The link's rate, one direction of one GPU.
inline const Figure& bandwidth_of(const ClusterSpec& cluster, Link link) {
  switch (link) {
    case Link::None:
    case Link::ScaleUp: return cluster.accelerator.scale_up_bandwidth;
    case Link::Pcie: return cluster.pcie;
    case Link::Nic: return cluster.nic_per_gpu;
  }
  return cluster.nic_per_gpu;
}

inline std::string_view name_of(const ClusterSpec& cluster, Link link) {
  switch (link) {
    case Link::None: return "-";
    case Link::ScaleUp: return cluster.accelerator.link;
    case Link::Pcie: return "PCIe";
    case Link::Nic: return "NIC";
  }
  return "-";
}

/// "0,8,16,...,248 (32)": the members of GPU 0's group.
inline std::string members_text(GroupShape g) {
  if (g.size <= 1) return "0";
  std::string text = "0," + std::to_string(g.stride);
  if (g.size > 4) text += "," + std::to_string(2 * g.stride) + ",...";
  for (std::int64_t i = std::max<std::int64_t>(2, g.size > 4 ? g.size - 1 : 2); i < g.size; ++i)
    text += "," + std::to_string(i * g.stride);
  return text + " (" + std::to_string(g.size) + ")";
}

}  // namespace trainplan
