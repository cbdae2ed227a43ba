// What shows of the traffic of a layer, by hand.
#include "trainplan/cost/layer_traffic.hpp"

#include "catch.hpp"
#include "round.hpp"

using namespace by_hand;

namespace {

double near_ring(double bytes, double ranks) { return bytes / kUp + (ranks - 1) * kHop; }
double far_ring(double bytes, double ranks, double inside = 1) {
  return bytes / (inside * kNic) + (ranks - 1) * kFarHop;
}

constexpr double kMessage = 8192.0 * 8192 * 2;  // hidden states of one sequence of llama70b

}  // namespace

TEST_CASE(
    "tensor parallel: four gathers and scatters each way, two more where saved inputs are gathered again") {
  Round draft;
  const double one = near_ring(kMessage * 7 / 8, 8);
  CHECK(at(draft.ledger(problems::main_plan()), "traffic.tp") == Approx(one).epsilon(1e-12));
  CHECK(at(draft.ledger(problems::main_plan()), "traffic.tp_exposed") == Approx(one / 4).epsilon(1e-12));
  // 80 layers
  CHECK(draft.cost(problems::main_plan()).pipeline.tensor.num() == Approx(80 * 10 * one / 4).epsilon(1e-12));
  draft.recipe.tp_overlap = false;
  CHECK(draft.cost(problems::main_plan()).pipeline.tensor.num() == Approx(80 * 10 * one).epsilon(1e-12));
  draft.recipe.tp_overlap = true;
  Plan whole = problems::main_plan();
  whole.sequence_parallel = false;  // nothing is gathered again, and chunked overlap needs it
  draft.cluster.accelerator.in_switch_reduction = false;
  CHECK(draft.cost(whole).pipeline.tensor.num() == Approx(80 * 8 * one).epsilon(1e-12));
  CHECK(draft.cost(completed({.pp = 4, .dp = 256})).pipeline.tensor.num() == 0);
}

TEST_CASE("switches that add up make an all-reduce of five ranks and more 1.3 times as fast") {
  Round draft;
  Plan plan = problems::main_plan();
  plan.sequence_parallel = false;
  const double bytes = kMessage * 7 / 8;
  REQUIRE(draft.cluster.accelerator.in_switch_reduction);
  CHECK(at(draft.ledger(plan), "traffic.tp") == Approx(bytes / (1.3 * kUp) + 7 * kHop).epsilon(1e-12));
  CHECK(at(draft.ledger(problems::main_plan()), "traffic.tp") == Approx(near_ring(bytes, 8)).epsilon(1e-12));
  Plan four = completed({.tp = 4, .pp = 4, .vpp = 4, .dp = 64});
  four.sequence_parallel = false;
  CHECK(at(draft.ledger(four), "traffic.tp") == Approx(near_ring(kMessage * 3 / 4, 4)).epsilon(1e-12));
  Plan wide = completed({.tp = 16, .pp = 4, .dp = 16});  // between nodes no switch adds up
  wide.sequence_parallel = false;
  CHECK(at(draft.ledger(wide), "traffic.tp") == Approx(far_ring(kMessage * 15 / 16, 16, 8)).epsilon(1e-12));
}

TEST_CASE("a layer of routed experts gathers for its attention only, unless it has shared ones") {
  Round draft({.model = "mixtral-8x7b", .cluster = "h100x64", .sequence = 4096, .batch = 64});
  draft.recipe.tp_overlap = false;
  Plan plan = completed({.tp = 4, .ep = 4, .dp = 16});
  const double one = near_ring(4096.0 * 4096 * 2 * 3 / 4, 4);
  CHECK(draft.cost(plan).pipeline.tensor.num() == Approx(32 * 5 * one).epsilon(1e-12));
  draft.model.experts.shared_width = 14336;
  CHECK(draft.cost(plan).pipeline.tensor.num() == Approx(32 * 10 * one).epsilon(1e-12));
}

TEST_CASE("a ring of keys and values hides behind attention but for its first piece; all-to-alls show") {
  Round draft({.sequence = 32768, .batch = 128});
  const Plan plan = completed({.tp = 8, .pp = 4, .vpp = 4, .cp = 2, .dp = 16});
  // once forward and twice backward: 16384 tokens, keys and values 1024 / 8 wide, between nodes
  const double all = far_ring(3 * 16384.0 * 2 * 1024 / 8 * 2, 2);
  const Ledger ring = draft.ledger(plan);
  REQUIRE(all < at(ring, "work.attention.forward"));
  CHECK(at(ring, "traffic.cp") == Approx(all).epsilon(1e-12));
  CHECK(at(ring, "traffic.cp_forward") == Approx(all / 3 / 2).epsilon(1e-12));
  CHECK(at(ring, "traffic.cp_backward") == Approx(all * 2 / 3 / 2).epsilon(1e-12));
  draft.cluster.nic_per_gpu.value = 50e6;  // a thousandth: what attention does not cover shows
  const Ledger slow = draft.ledger(plan);
  const double long_one = at(slow, "traffic.cp");
  CHECK(at(slow, "traffic.cp_forward") ==
        Approx(long_one / 3 - at(slow, "work.attention.forward")).epsilon(1e-12));
  CHECK(at(slow, "traffic.cp_backward") ==
        Approx(long_one * 2 / 3 - at(slow, "work.attention.backward")).epsilon(1e-12));
  draft.cluster.nic_per_gpu.value = 50e9;
  draft.recipe.cp_mode = CpMode::AllGather;  // keys and values come before the work begins
  CHECK(at(draft.ledger(plan), "traffic.cp_forward") == Approx(all / 3).epsilon(1e-12));
  CHECK(at(draft.ledger(plan), "traffic.cp_backward") == Approx(all * 2 / 3).epsilon(1e-12));
  draft.recipe.cp_mode = CpMode::AllToAll;
  const double exchange = far_ring(2 * 0.5 * 16384.0 * (2 * 8192 + 2 * 1024) / 8 * 2, 2);
  const Ledger ledger = draft.ledger(plan);
  CHECK(at(ledger, "traffic.cp_forward") == Approx(exchange / 2).epsilon(1e-12));
  CHECK(at(ledger, "traffic.cp_backward") == Approx(exchange / 2).epsilon(1e-12));
}

TEST_CASE("experts in one node: every copy of a token by an all-to-all at 80 % of the rate of a ring") {
  Round draft({.model = "mixtral-8x7b", .cluster = "h100x64", .sequence = 4096, .batch = 64});
  const Plan plan = completed({.tp = 1, .ep = 8, .dp = 64});
  const double copy = 4096.0 * 4096 * 2;
  const double one = copy * 2 * 7 / 8 / (0.8 * kUp) + 7 * kHop;
  CHECK(at(draft.ledger(plan), "traffic.ep") == Approx(one).epsilon(1e-12));
  // dispatch and combine, forward and backward, in 32 layers
  CHECK(draft.cost(plan).pipeline.experts.num() == Approx(32 * 4 * one).epsilon(1e-12));
  draft.recipe.ep_overlap = true;
  CHECK(draft.cost(plan).pipeline.experts.num() == Approx(32 * 4 * one * 0.75).epsilon(1e-12));
  draft.recipe.ep_overlap = false;
  draft.recipe.imbalance = 1.5;
  CHECK(at(draft.ledger(plan), "traffic.ep") ==
        Approx(1.5 * copy * 2 * 7 / 8 / (0.8 * kUp) + 7 * kHop).epsilon(1e-12));
  draft.recipe.imbalance = 1;
  draft.recipe.dispatcher = Dispatcher::DeepEp;  // one copy for each rank that a token visits
  const double copies = 8 * (1 - 49.0 / 64);
  CHECK(at(draft.ledger(plan), "traffic.ep") ==
        Approx(copy * copies * 7 / 8 / (0.8 * kUp) + 7 * kHop).epsilon(1e-12));
  CHECK(draft.cost(completed({.tp = 1, .ep = 1, .dp = 64})).pipeline.experts.num() == 0);
}

TEST_CASE("experts in several nodes: two tiers one after the other, or at once with a copy for each node") {
  Round draft({.model = "deepseek-v3", .cluster = "h800x2048", .sequence = 4096, .batch = 15360});
  Plan plan = completed({.pp = 16, .ep = 64, .first_layers = 3, .last_layers = 2, .dp = 128});
  plan.layout = Layout::FirstAndLast;
  const double copy = 4096.0 * 7168 * 2;
  const double inside = copy * 8 * 7 / 64 / (0.8 * kUp), outside = copy * 8 * 56 / 64 / kNic;
  CHECK(at(draft.ledger(plan), "traffic.ep") == Approx(inside + outside + 63 * kHop).epsilon(1e-12));
  draft.recipe.dispatcher = Dispatcher::HybridEp;
  const double ranks = 64 * (1 - std::pow(63.0 / 64, 8)), nodes = 8 * (1 - std::pow(7.0 / 8, 8));
  const double near = copy * ranks * 63 / 64 / (0.8 * kUp), far = copy * nodes * 7 / 8 / kNic;
  CHECK(at(draft.ledger(plan), "traffic.ep") == Approx(std::max(near, far) + 63 * kHop).epsilon(1e-12));
  draft.cluster.nic_per_gpu.value = 5000e9;  // now the domain is the slower tier
  CHECK(at(draft.ledger(plan), "traffic.ep") == Approx(near + 63 * kHop).epsilon(1e-12));
}

TEST_CASE("expert tensor parallel ranks gather the rows of their experts") {
  Round draft({.model = "mixtral-8x7b", .cluster = "h100x64", .sequence = 4096, .batch = 64});
  const Plan plan = completed({.tp = 4, .ep = 4, .etp = 2, .dp = 16});
  const double rows = 4096 * 2 * 2 / 4.0, gather = near_ring(rows * 4096 * 2 / 2, 2);
  CHECK(at(draft.ledger(plan), "traffic.etp") == Approx(gather).epsilon(1e-12));
  const double exchange = at(draft.ledger(plan), "traffic.ep");
  CHECK(at(draft.ledger(plan), "traffic.ep_exposed") == Approx(gather + exchange).epsilon(1e-12));
}
