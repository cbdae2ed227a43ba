// A block: its kernels, what shows of its traffic, what is computed again, and the host that issues it.
#include "trainplan/cost/blocks.hpp"

#include "catch.hpp"
#include "round.hpp"

using namespace by_hand;

namespace {

double again(Round& draft, Plan plan, Modules modules, const char* block) {
  plan.recompute = Recompute::Selective;
  plan.modules = modules;
  return at(draft.ledger(plan), std::string(block) + ".again");
}

/// Host time that does not matter, so that a block is its work.
void fast_host(Round& draft) { draft.stack().host_per_layer.value = 1e-9; }

}  // namespace

TEST_CASE("kernels of a block are those of its attention and of its MLP or its experts") {
  Round draft;
  fast_host(draft);
  const Ledger l = draft.ledger(problems::main_plan());
  double sum = 0;
  for (const char* part : {"qkv", "output", "mlp_up", "mlp_down", "attention", "norms", "mlp_activation"})
    for (const char* pass : {".forward", ".backward"}) sum += at(l, std::string("work.") + part + pass);
  CHECK(at(l, "block.dense.kernels") == Approx(sum).epsilon(1e-12));
  CHECK(at(l, "block.dense.again") == 0);
  CHECK(at(l, "block.dense.wait") == 0);
  CHECK(at(l, "block.dense") == Approx(sum + 10 * at(l, "traffic.tp_exposed")).epsilon(1e-12));
  CHECK(l.find("block.sparse") == nullptr);
  CHECK(l.find("block.dense_again") == nullptr);
}

TEST_CASE("low products cast what goes into them in every block") {
  Round draft;
  draft.recipe.matmul = Matmul::Fp8;
  const Ledger l = draft.ledger(problems::main_plan());
  double sum = 0;
  for (const char* part : {"qkv", "output", "mlp_up", "mlp_down", "attention", "norms", "mlp_activation",
                           "attention_casts", "mlp_casts"})
    for (const char* pass : {".forward", ".backward"}) sum += at(l, std::string("work.") + part + pass);
  CHECK(at(l, "block.dense.kernels") == Approx(sum).epsilon(1e-12));
}

TEST_CASE(
    "a recomputed layer runs forward again, with its collectives; early stop leaves out the last product") {
  Round draft;
  fast_host(draft);
  Plan plan = problems::main_plan();
  plan.recompute = Recompute::Full;
  const Ledger l = draft.ledger(plan);
  double forward = 0;
  for (const char* part : {"qkv", "output", "mlp_up", "mlp_down", "attention", "norms", "mlp_activation"})
    forward += at(l, std::string("work.") + part + ".forward");
  CHECK(at(l, "block.dense_again.again") == Approx(forward).epsilon(1e-12));
  CHECK(
      at(l, "block.dense_again") ==
      Approx(at(l, "block.dense_again.kernels") + forward + 14 * at(l, "traffic.tp_exposed")).epsilon(1e-12));
  draft.stack().early_stop = true;
  CHECK(at(draft.ledger(plan), "block.dense_again.again") ==
        Approx(forward - at(l, "work.mlp_down.forward")).epsilon(1e-12));
}

TEST_CASE("selective recompute repeats the forward kernels of its modules") {
  Round dense;
  const Plan plan = problems::main_plan();
  const Ledger l = dense.ledger(plan);
  const double norms = 8 * 1024 * 8192 / kMemory;  // two reads and two writes of the norms
  const double mlp =
      at(l, "work.mlp_up.forward") + at(l, "work.mlp_down.forward") + at(l, "work.mlp_activation.forward");
  CHECK(again(dense, plan, bit(Module::CoreAttention), "block.dense") ==
        Approx(at(l, "work.attention.forward")).epsilon(1e-12));
  CHECK(again(dense, plan, bit(Module::LayerNorm), "block.dense") == Approx(norms).epsilon(1e-12));
  CHECK(again(dense, plan, bit(Module::Mlp), "block.dense") == Approx(mlp).epsilon(1e-12));
  CHECK(again(dense, plan, bit(Module::LayerNorm) | bit(Module::Mlp), "block.dense") ==
        Approx(norms + mlp).epsilon(1e-12));
  CHECK(again(dense, plan, bit(Module::Moe), "block.dense") == 0);

  Round sparse({.model = "deepseek-v3", .cluster = "h800x2048", .sequence = 4096, .batch = 15360});
  fast_host(sparse);
  Plan experts = completed({.pp = 16, .ep = 64, .first_layers = 3, .last_layers = 2, .dp = 128});
  experts.layout = Layout::FirstAndLast;
  const Ledger s = sparse.ledger(experts);
  const auto sum = [&](std::initializer_list<const char*> parts) {
    double out = 0;
    for (const char* part : parts) out += at(s, std::string("work.") + part + ".forward");
    return out;
  };
  const double shared = sum({"shared_up", "shared_down", "shared_activation"});
  const double routed = sum({"experts_up", "experts_down", "expert_activation", "router", "permutation"});
  CHECK(again(sparse, experts, bit(Module::MoeAct), "block.sparse") ==
        Approx(sum({"expert_activation"})).epsilon(1e-12));
  CHECK(again(sparse, experts, bit(Module::SharedExperts), "block.sparse") == Approx(shared).epsilon(1e-12));
  CHECK(again(sparse, experts, bit(Module::MlaUpProj), "block.sparse") ==
        Approx(sum({"q_up", "kv_up"})).epsilon(1e-12));
  CHECK(again(sparse, experts, bit(Module::Mlp), "block.sparse") == 0);
  CHECK(again(sparse, experts, bit(Module::Moe), "block.sparse") == Approx(routed + shared).epsilon(1e-12));
  // and only then are rows sent once more
  const auto total = [&](Modules modules) {
    Plan p = experts;
    p.recompute = Recompute::Selective;
    p.modules = modules;
    const Ledger t = sparse.ledger(p);
    return at(t, "block.sparse") - at(t, "block.sparse.kernels") - at(t, "block.sparse.again");
  };
  CHECK(total(bit(Module::Moe)) == Approx(6 * at(s, "traffic.ep_exposed")).epsilon(1e-9));
  CHECK(total(bit(Module::MoeAct)) == Approx(4 * at(s, "traffic.ep_exposed")).epsilon(1e-9));
  experts.recompute = Recompute::Full;
  const Ledger f = sparse.ledger(experts);
  CHECK(at(f, "block.sparse_again") - at(f, "block.sparse_again.kernels") -
            at(f, "block.sparse_again.again") ==
        Approx(6 * at(s, "traffic.ep_exposed")).epsilon(1e-9));
  sparse.stack().early_stop = true;  // an expert layer ends with what puts its rows together
  CHECK(at(sparse.ledger(experts), "block.sparse_again.again") ==
        Approx(at(f, "block.sparse_again.again")).epsilon(1e-12));
}

TEST_CASE("torchtitan's selective recompute: half of the products and of the element-wise kernels") {
  Round draft({.framework = "torchtitan"});
  Plan plan = completed({.tp = 8, .pp = 4, .dp = 32, .sharding = Sharding::Zero3});
  const Ledger l = draft.ledger(plan);
  double rest = 0;
  for (const char* part : {"qkv", "output", "mlp_up", "mlp_down", "norms", "mlp_activation"})
    rest += at(l, std::string("work.") + part + ".forward");
  const double norms = 8 * 1024 * 8192 / kMemory;
  CHECK(again(draft, plan, bit(Module::CoreAttention), "block.dense") ==
        Approx((rest + norms + at(l, "work.mlp_activation.forward")) / 2).epsilon(1e-12));
}

TEST_CASE(
    "the host: three passes of four without recompute, more with tensor parallelism, less with graphs") {
  Round draft;
  draft.stack().host_per_layer.value = 10;  // seconds, so that every GPU waits
  const auto issue = [&](const Plan& plan, const char* block = "block.dense") {
    const Ledger l = draft.ledger(plan);
    CHECK(at(l, std::string(block) + ".wait") > 0);
    return at(l, block);
  };
  CHECK(issue(completed({.pp = 4, .vpp = 4, .dp = 256})) == Approx(7.5).epsilon(1e-12));
  CHECK(issue(problems::main_plan()) == Approx(7.5 * (1 + 0.0104 * 49)).epsilon(1e-12));
  Plan full = completed({.pp = 4, .vpp = 4, .dp = 256});
  full.recompute = Recompute::Full;
  CHECK(issue(full, "block.dense_again") == Approx(10).epsilon(1e-12));
  draft.recipe.graphs = Graphs::Layer;
  CHECK(issue(completed({.pp = 4, .vpp = 4, .dp = 256})) == Approx(7.5 * 0.6).epsilon(1e-12));
  draft.recipe.graphs = Graphs::Full;
  CHECK(issue(completed({.pp = 4, .vpp = 4, .dp = 256})) == Approx(7.5 * 0.1).epsilon(1e-12));
}
