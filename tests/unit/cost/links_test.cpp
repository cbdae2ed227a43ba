#include "trainplan/cost/links.hpp"

#include "catch.hpp"
#include "round.hpp"

using namespace by_hand;

namespace {

ReachedLink<double> reached(Round& draft, GroupShape g) {
  Eval rec;
  const Problem problem = draft.problem();
  return reached_link(rec, problem, g);
}

}  // namespace

TEST_CASE("inside a node a group reaches its share of the link, and a hop is short") {
  Round draft;
  const auto link = reached(draft, {8, 1});
  CHECK(link.rate.num() == Approx(400e9).epsilon(1e-14));
  CHECK(link.hop.num() == 3e-6);
}

TEST_CASE(
    "between nodes a ring uses the NICs of its members in a node, and a hop takes three times as long") {
  Round draft;
  const auto alone = reached(draft, {32, 8});  // one member in each node
  CHECK(alone.rate.num() == Approx(45e9).epsilon(1e-14));
  CHECK(alone.hop.num() == Approx(9e-6).epsilon(1e-14));
  CHECK(reached(draft, {16, 4}).rate.num() == Approx(2 * 45e9).epsilon(1e-14));
  CHECK(reached(draft, {64, 1}).rate.num() == Approx(8 * 45e9).epsilon(1e-14));
  draft.cluster.accelerator.scale_up_bandwidth.value = 300e9;  // 8 NICs outrun the domain
  CHECK(reached(draft, {64, 1}).rate.num() == Approx(0.9 * 300e9).epsilon(1e-14));
}

TEST_CASE("cards without a link talk over PCIe in a node, and each over its NIC between nodes") {
  Round draft({.cluster = "rtx4090x32"});
  draft.cluster.accelerator.scale_up_bandwidth.value = 0;
  draft.cluster.pcie.value = 20e9;
  CHECK(reached(draft, {8, 1}).rate.num() == Approx(16e9).epsilon(1e-14));
  CHECK(reached(draft, {32, 1}).rate.num() == Approx(45e9).epsilon(1e-14));
}
