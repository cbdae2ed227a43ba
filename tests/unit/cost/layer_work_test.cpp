// Kernels of a layer and of the head, each by hand.
#include "trainplan/cost/layer_blocks.hpp"

#include "catch.hpp"
#include "round.hpp"

using namespace by_hand;

namespace {

struct Row {
  const char* id;
  double want;
};

template <std::size_t K>
void check(const Ledger& ledger, const Row (&rows)[K]) {
  for (const Row& row : rows) {
    CAPTURE(row.id);
    CHECK(at(ledger, row.id) == Approx(row.want).epsilon(1e-12));
  }
}

// llama70b on 8 tensor parallel ranks: 8192 tokens, 1024 of them outside the tensor parallel regions
constexpr double kT = 8192, kOwn = 1024, kH = 8192, kMade = 8192 / 8 + 2 * 1024 / 8, kMlp = 28672 / 8,
                 kVocab = 129024 / 8;

}  // namespace

TEST_CASE("products of a dense layer: a rate that falls with shallow depth, memory traffic, a start") {
  Round draft;
  const Row rows[] = {{"work.qkv.forward", product(kT, kMade, kH)},
                      {"work.qkv.backward", product_back(kT, kMade, kH)},
                      {"work.output.forward", product(kT, kH, 1024)},
                      {"work.output.backward", product_back(kT, kH, 1024)},
                      {"work.mlp_up.forward", product(kT, 2 * kMlp, kH)},
                      {"work.mlp_up.backward", product_back(kT, 2 * kMlp, kH)},
                      {"work.mlp_down.forward", product(kT, kH, kMlp)},
                      {"work.mlp_down.backward", product_back(kT, kH, kMlp)},
                      {"work.head.forward", product(kT, kVocab, kH)},
                      {"work.head.backward", product_back(kT, kVocab, kH)}};
  check(draft.ledger(problems::main_plan()), rows);
}

TEST_CASE("small products are bound by memory") {
  Round draft({.model = "gpt2", .sequence = 1024, .batch = 1024});
  const Plan plan = completed({.tp = 1, .dp = 1024});
  draft.cluster.accelerator.memory_bandwidth.value = 300e9;
  const double entries = 1024.0 * (3 * 768 + 768), weights = 3 * 768 * 768.0, rate = 300e9 * 0.8;
  const Row rows[] = {{"work.qkv.forward", 2 * (entries + weights) / rate + kStart},
                      {"work.qkv.backward", (4 * entries + 2 * weights + 8 * weights) / rate + 2 * kStart}};
  check(draft.ledger(plan), rows);
}

TEST_CASE("fused attention: a rate that falls with short sequences and few blocks of 128 queries") {
  Round draft;
  const double flops =
      2 * kT * 8192 * 8192 / 8;  // half of 4 s q for each of 8192 tokens, an eighth of the heads
  const double blocks = 8 * kT / 128, rate = kAttention * (8192 / 9192.0) * (blocks / (blocks + 160));
  const Row rows[] = {{"work.attention.forward", flops / rate},
                      {"work.attention.backward", 2.5 * flops / rate}};
  check(draft.ledger(problems::main_plan()), rows);

  Round split({.sequence = 32768, .batch = 128});  // two ranks share a sequence
  const Plan plan = completed({.tp = 8, .pp = 4, .vpp = 4, .cp = 2, .dp = 16});
  const double longer = 2 * 16384.0 * 8192 * 32768 / 8, more = 8 * 16384 / 128.0;
  CHECK(at(split.ledger(plan), "work.attention.forward") ==
        Approx(longer / (kAttention * (16384 / 17384.0) * (more / (more + 160)))).epsilon(1e-12));
}

TEST_CASE("unfused attention: the whole matrix at half the rate of products, and its scores in memory") {
  Round draft;
  draft.recipe.attention = Attention::Unfused;
  const double flops = 4 * kT * 8192 * 8192 / 8, scores = 8 * kT * 8192;
  const Row rows[] = {
      {"work.attention.forward", flops / (kWide / 2) + 10 * scores / kMemory + 5 * kStart},
      {"work.attention.backward", 2 * flops / (kWide / 2) + 12 * scores / kMemory + 8 * kStart}};
  check(draft.ledger(problems::main_plan()), rows);
}

TEST_CASE(
    "what norms, residuals, rotary positions and activations move; more of them unfused, and 1.55 times "
    "that") {
  Round draft;
  for (const bool eager : {false, true}) {
    draft.stack().eager = eager;
    const double per = (eager ? 1.55 : 1) / kMemory;
    const Row rows[] = {
        {"work.norms.forward", (20 * kOwn * kH + 4 * kT * kMade) * per + (eager ? 10 : 4) * kStart},
        {"work.norms.backward", (30 * kOwn * kH + 6 * kT * kMade) * per + (eager ? 14 : 6) * kStart},
        {"work.mlp_activation.forward", 6 * kT * kMlp * per + (eager ? 3 : 1) * kStart},
        {"work.mlp_activation.backward", 10 * kT * kMlp * per + (eager ? 4 : 1) * kStart}};
    check(draft.ledger(problems::main_plan()), rows);
  }
  draft.recipe.compile = true;  // compilation fuses them
  CHECK(at(draft.ledger(problems::main_plan()), "work.mlp_activation.forward") ==
        Approx(6 * kT * kMlp / kMemory + kStart).epsilon(1e-12));
  Round plain({.model = "gpt2", .sequence = 1024, .batch = 1024});
  const Row rows[] = {{"work.mlp_activation.forward", 4 * 1024.0 * 3072 / kMemory + kStart},
                      {"work.mlp_activation.backward", 6 * 1024.0 * 3072 / kMemory + kStart},
                      {"work.mlp_up.forward", product(1024, 3072, 768)}};
  check(plain.ledger(completed({.tp = 1, .dp = 1024})), rows);
}

TEST_CASE("without sequence parallelism every rank passes over all hidden states") {
  Round draft;
  Plan plan = problems::main_plan();
  plan.sequence_parallel = false;
  CHECK(at(draft.ledger(plan), "work.norms.forward") ==
        Approx((20 * kT * kH + 4 * kT * kMade) / kMemory + 4 * kStart).epsilon(1e-12));
}

TEST_CASE(
    "low formats: products at their rate, casts of inputs and of gradients; the head stays in 16 bits") {
  Round draft;
  draft.recipe.matmul = Matmul::Fp8;
  const Row rows[] = {{"work.qkv.forward", product(kT, kMade, kH, kLow, 2000)},
                      {"work.mlp_up.backward", product_back(kT, 2 * kMlp, kH, kLow, 2000)},
                      {"work.head.forward", product(kT, kVocab, kH)},
                      {"work.attention_casts.forward", 4 * kT * (kH + 1024) / kMemory},
                      {"work.attention_casts.backward", 4 * kT * (kMade + kH) / kMemory},
                      {"work.mlp_casts.forward", 4 * kT * (kH + kMlp) / kMemory},
                      {"work.mlp_casts.backward", 4 * kT * (2 * kMlp + kH) / kMemory}};
  check(draft.ledger(problems::main_plan()), rows);
  draft.recipe.matmul = Matmul::Wide;
  CHECK(draft.ledger(problems::main_plan()).find("work.mlp_casts.forward") == nullptr);
}

TEST_CASE("the kernel of the loss runs at 35 % of the memory rate and moves what its kind moves") {
  CHECK(detail::loss_traffic(LossKind::Te) == 8);
  CHECK(detail::loss_traffic(LossKind::Compiled) == 8);
  CHECK(detail::loss_traffic(LossKind::Chunked) == 8);
  CHECK(detail::loss_traffic(LossKind::Native) == 10);
  CHECK(detail::loss_traffic(LossKind::Eager) == 14);
  Round draft;
  for (const auto& [kind, bytes] : {std::pair{LossKind::Te, 8.0}, std::pair{LossKind::Native, 10.0}}) {
    draft.recipe.loss = kind;
    const Ledger ledger = draft.ledger(problems::main_plan());
    const double loss = bytes * kT * kVocab / (0.35 * kMemory);
    CHECK(at(ledger, "work.loss") == Approx(loss).epsilon(1e-12));
    CHECK(at(ledger, "block.head") ==
          Approx(product(kT, kVocab, kH) + product_back(kT, kVocab, kH) + loss).epsilon(1e-12));
  }
}

TEST_CASE("more tensor parallel ranks than heads of keys and values hold copies of them") {
  Round draft;
  const double made = 8192 / 16 + 2 * 1024 / 8;  // 8 heads of 128
  CHECK(at(draft.ledger(completed({.tp = 16, .pp = 4, .dp = 16})), "work.qkv.forward") ==
        Approx(product(kT, made, kH)).epsilon(1e-12));
}

TEST_CASE("latent attention: down products on a rank's own tokens, up products for its heads") {
  Round draft({.model = "deepseek-v3", .cluster = "h800x2048", .sequence = 4096, .batch = 2048});
  Plan plan = completed({.tp = 2, .pp = 16, .ep = 64, .first_layers = 3, .last_layers = 2, .dp = 64});
  plan.layout = Layout::FirstAndLast;
  const Row rows[] = {
      {"work.q_down.forward", product(2048, 1536, 7168)},
      {"work.q_up.forward", product(4096, 24576 / 2, 1536)},
      {"work.kv_down.forward", product(2048, 576, 7168)},
      {"work.kv_up.forward", product(4096, 32768 / 2, 512)},
      {"work.output.forward", product(4096, 7168, 16384 / 2)},
      {"work.norms.forward", (20 * 2048.0 * 7168 + 4 * 4096.0 * (24576 + 32768) / 2) / kMemory + 4 * kStart}};
  check(draft.ledger(plan), rows);
  draft.recipe.mtp_layers = 1;
  CHECK(at(draft.ledger(plan), "work.further.forward") ==
        Approx(product(2048, 7168, 2 * 7168)).epsilon(1e-12));
  // one more layer attends to as many positions
  CHECK(at(draft.ledger(plan), "work.attention.forward") ==
        Approx(4096.0 * 2 * 61 * (24576 + 16384) * 2048 / (61 * 2) /
               (kAttention * 0.85 * (4096 / 5096.0) * (64 * 32 / (64 * 32 + 160.0))))
            .epsilon(1e-12));
}

TEST_CASE("routed experts: grouped products that read all weights, router, permutation, shared experts") {
  Round draft({.model = "deepseek-v3", .cluster = "h800x2048", .sequence = 4096, .batch = 15360});
  Plan plan = completed({.pp = 16, .ep = 64, .first_layers = 3, .last_layers = 2, .dp = 128});
  plan.layout = Layout::FirstAndLast;
  constexpr double kRows = 4096 * 8, kDeep = 7168, kWidth = 2048;
  const auto grouped = [](double width, double depth, double bytes, double rate = kWide) {
    return 2 * kRows * width * depth / rate + bytes * 4 * width * depth / kMemory +
           kStart;  // 4 of 256 experts
  };
  const double rest = 2 * kDeep * (6 * kRows + 2 * 4096) / (0.58 * kMemory) + 40 * 4096.0 * 256 / kMemory;
  const Row rows[] = {
      {"work.expert_rows", kRows},
      {"work.experts_up.forward", grouped(2 * kWidth, kDeep, 2)},
      {"work.experts_up.backward", grouped(2 * kWidth, kDeep, 2) + grouped(2 * kWidth, kDeep, 8)},
      {"work.experts_down.forward", grouped(kDeep, kWidth, 2)},
      {"work.experts_down.backward", grouped(kDeep, kWidth, 2) + grouped(kDeep, kWidth, 8)},
      {"work.expert_activation.forward", 6 * kRows * kWidth / kMemory + kStart},
      {"work.router.forward", product(4096, 256, kDeep)},
      {"work.permutation.forward", rest},
      {"work.permutation.backward", rest},
      {"work.shared_up.forward", product(4096, 2 * kWidth, kDeep)},
      {"work.shared_down.forward", product(4096, kDeep, kWidth)},
      {"work.shared_activation.backward", 10 * 4096 * kWidth / kMemory + kStart}};
  check(draft.ledger(plan), rows);

  draft.recipe.dispatcher = Dispatcher::DeepEp;  // its kernel permutes while it sends
  CHECK(at(draft.ledger(plan), "work.permutation.forward") ==
        Approx(2 * kDeep * (2 * kRows + 2 * 4096) / (0.58 * kMemory) + 40 * 4096.0 * 256 / kMemory)
            .epsilon(1e-12));

  draft.recipe.matmul = Matmul::Fp8;  // weights of one byte; a start for each expert outside of full graphs
  const Row low[] = {
      {"work.experts_up.forward", grouped(2 * kWidth, kDeep, 1, kLow)},
      {"work.experts_up.backward", grouped(2 * kWidth, kDeep, 1, kLow) + grouped(2 * kWidth, kDeep, 8, kLow)},
      {"work.router.forward", product(4096, 256, kDeep)},
      {"work.expert_casts.forward", 4 * kRows * (kDeep + kWidth) / kMemory},
      {"work.expert_casts.backward", 4 * kRows * (2 * kWidth + kDeep) / kMemory},
      {"work.expert_overhead.forward", 4 * 0.0003 / 3},
      {"work.expert_overhead.backward", 4 * 0.0003 * 2 / 3}};
  check(draft.ledger(plan), low);
  draft.recipe.graphs = Graphs::Full;
  CHECK(draft.ledger(plan).find("work.expert_overhead.forward") == nullptr);
  draft.recipe.graphs = Graphs::Layer;
  CHECK(draft.ledger(plan).find("work.expert_overhead.forward") != nullptr);
}

TEST_CASE("expert tensor parallelism: more rows of narrower experts") {
  Round draft({.model = "mixtral-8x7b", .cluster = "h100x64", .sequence = 4096, .batch = 64});
  const Ledger ledger = draft.ledger(completed({.tp = 4, .ep = 4, .etp = 2, .dp = 16}));
  const double rows = 4096 * 2 * 2 / 4.0, width = 14336 / 2;
  CHECK(at(ledger, "work.expert_rows") == rows);
  CHECK(at(ledger, "work.experts_down.forward") ==
        Approx(2 * rows * 4096 * width / kWide + 2 * 2 * 4096 * width / kMemory + kStart).epsilon(1e-12));
}
