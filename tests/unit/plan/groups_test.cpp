#include "trainplan/plan/groups.hpp"

#include <string>

#include "catch.hpp"
#include "problems.hpp"

using namespace trainplan;
using problems::completed;

namespace {

struct Row {
  const char* cluster;
  Plan plan;
  Axis axis;
  std::int64_t size, stride, nodes;
  Link link;
  const char* members;
};

constexpr Plan hsdp(std::uint16_t tp, std::uint32_t dp, std::uint32_t shard) {
  return {.tp = tp, .dp = dp, .shard = shard, .sharding = Sharding::Hsdp};
}

// 8 GPUs a node: TP ranks are neighbours; DP ranks are tp apart; PP ranks tp x cp x dp apart.
const Row kRows[] = {
    {"h100x1024", completed({.tp = 8, .pp = 4, .dp = 32}), Axis::Tp, 8, 1, 1, Link::ScaleUp,
     "0,1,2,...,7 (8)"},
    {"h100x1024", completed({.tp = 8, .pp = 4, .dp = 32}), Axis::DpCp, 32, 8, 32, Link::Nic,
     "0,8,16,...,248 (32)"},
    {"h100x1024", completed({.tp = 8, .pp = 4, .dp = 32}), Axis::Pp, 4, 256, 4, Link::Nic,
     "0,256,512,768 (4)"},
    {"h100x1024", completed({.tp = 8, .pp = 4, .dp = 32}), Axis::Cp, 1, 8, 1, Link::None, "0"},
    {"h100x1024", completed({.tp = 8, .cp = 2, .dp = 64}), Axis::Cp, 2, 8, 2, Link::Nic, "0,8 (2)"},
    {"h100x1024", completed({.tp = 4, .cp = 2, .dp = 128}), Axis::Cp, 2, 4, 1, Link::ScaleUp, "0,4 (2)"},
    {"h100x1024", completed({.tp = 8, .cp = 2, .dp = 64}), Axis::DpCp, 128, 8, 128, Link::Nic,
     "0,8,16,...,1016 (128)"},
    // 3 x 2 = 6 neighbours: groups of 6 do not tile a node of 8, so one of them crosses
    {"h100x1024", completed({.tp = 2, .cp = 3, .dp = 1}), Axis::Cp, 3, 2, 1, Link::Nic, "0,2,4 (3)"},
    {"h100x1024", completed({.tp = 1, .cp = 5, .dp = 1}), Axis::Cp, 5, 1, 1, Link::Nic, "0,1,2,...,4 (5)"},
    {"h100x1024", completed({.tp = 1, .pp = 2, .dp = 4}), Axis::Pp, 2, 4, 1, Link::ScaleUp, "0,4 (2)"},
    // NVL72 with 4 GPUs a node: a group may cross nodes and stay in the domain of 72
    {"gb200x576", completed({.tp = 8, .dp = 72}), Axis::Tp, 8, 1, 2, Link::ScaleUp, "0,1,2,...,7 (8)"},
    {"gb200x576", completed({.tp = 8, .pp = 8, .dp = 9}), Axis::DpCp, 9, 8, 9, Link::ScaleUp,
     "0,8,16,...,64 (9)"},
    {"gb200x576", completed({.tp = 8, .dp = 72}), Axis::DpCp, 72, 8, 72, Link::Nic, "0,8,16,...,568 (72)"},
    {"gb200x576", completed({.tp = 16, .dp = 36}), Axis::Tp, 16, 1, 4, Link::Nic, "0,1,2,...,15 (16)"},
    // No scale-up link: PCIe inside the node, the NIC across
    {"rtx4090x32", completed({.tp = 8, .dp = 4}), Axis::Tp, 8, 1, 1, Link::Pcie, "0,1,2,...,7 (8)"},
    {"rtx4090x32", completed({.tp = 4, .pp = 2, .dp = 4}), Axis::Tp, 4, 1, 1, Link::Pcie, "0,1,2,3 (4)"},
    {"rtx4090x32", completed({.tp = 8, .dp = 4}), Axis::DpCp, 4, 8, 4, Link::Nic, "0,8,16,24 (4)"},
    // HSDP: shards inside the node, replicas at the same place of the other nodes
    {"h100x64", hsdp(1, 64, 8), Axis::Shard, 8, 1, 1, Link::ScaleUp, "0,1,2,...,7 (8)"},
    {"h100x64", hsdp(1, 64, 8), Axis::Replicate, 8, 8, 8, Link::Nic, "0,8,16,...,56 (8)"},
    {"h100x64", hsdp(2, 32, 4), Axis::Shard, 4, 2, 1, Link::ScaleUp, "0,2,4,6 (4)"},
    {"h100x64", hsdp(2, 32, 4), Axis::Replicate, 8, 8, 8, Link::Nic, "0,8,16,...,56 (8)"},
    {"h100x64", hsdp(1, 64, 16), Axis::Shard, 16, 1, 2, Link::Nic, "0,1,2,...,15 (16)"},
};

}  // namespace

TEST_CASE("the group of GPU 0, the nodes it spans and the link that follows") {
  for (const Row& row : kRows) {
    const ClusterSpec& cluster = *problems::cluster(row.cluster);
    const GroupShape group = group_of(row.plan, row.axis);
    CAPTURE(row.cluster, row.members, static_cast<int>(row.axis));
    CHECK(group.size == row.size);
    CHECK(group.stride == row.stride);
    CHECK(nodes_spanned(group, cluster.gpus_per_node) == row.nodes);
    CHECK(link_of(cluster, group) == row.link);
    CHECK(members_text(group) == row.members);
  }
}

TEST_CASE("few members are all named") {
  CHECK(members_text({1, 8}) == "0");
  CHECK(members_text({2, 8}) == "0,8 (2)");
  CHECK(members_text({3, 8}) == "0,8,16 (3)");
  CHECK(members_text({4, 8}) == "0,8,16,24 (4)");
  CHECK(members_text({5, 8}) == "0,8,16,...,32 (5)");
}

TEST_CASE("a link has its rate and its name") {
  const ClusterSpec& h100 = *problems::cluster("h100x1024");
  CHECK(bandwidth_of(h100, Link::ScaleUp).value == 450e9);
  CHECK(bandwidth_of(h100, Link::Nic).value == 50e9);  // 400 Gbit/s
  CHECK(name_of(h100, Link::ScaleUp) == "NVLink 4");
  CHECK(name_of(h100, Link::Nic) == "NIC");
  CHECK(name_of(h100, Link::None) == "-");
  const ClusterSpec& rtx = *problems::cluster("rtx4090x32");
  CHECK(bandwidth_of(rtx, Link::Pcie).value == 32e9);
  CHECK(bandwidth_of(rtx, Link::Nic).value == 25e9);  // 200 Gbit/s
  CHECK(name_of(rtx, Link::Pcie) == "PCIe");
  CHECK(bandwidth_of(*problems::cluster("gb200x576"), Link::ScaleUp).value == 900e9);
}
