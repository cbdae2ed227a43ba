#include "trainplan/cost/kernels.hpp"

#include "catch.hpp"
#include "round.hpp"

using namespace by_hand;

namespace {

Rates<double> rates(Round& draft) {
  Eval rec;
  const Problem problem = draft.problem();
  const Plan plan = problems::main_plan();
  return sustained_rates(rec, bind(rec, problem, plan), problem);
}

double attention_rate(const char* cluster, AttentionKernel kernel) {
  Round draft({.cluster = cluster});
  draft.stack().attention = kernel;
  return rates(draft).attention.num() / kAttention;
}

}  // namespace

TEST_CASE("rates are the peaks by the shares that the accelerator sustains") {
  Round draft;
  const auto r = rates(draft);
  CHECK(r.wide.num() == Approx(600e12).epsilon(1e-14));
  CHECK(r.low.num() == r.wide.num());
  CHECK(r.attention.num() == Approx(500e12).epsilon(1e-14));
  CHECK(r.memory.num() == Approx(2400e9).epsilon(1e-14));
  CHECK(r.half_depth.num() == 1000);
  CHECK(r.half_depth_low.num() == 1000);
  CHECK(r.half_length.num() == 1000);
  CHECK(r.start.num() == 10e-6);
}

TEST_CASE(
    "products in fp8 run at their own peak and need twice the depth, in fp4 four times and reach 70 %") {
  for (const Matmul m : {Matmul::Fp8, Matmul::Fp8Rowwise, Matmul::Fp8Blockwise, Matmul::Mxfp8}) {
    Round draft;
    draft.recipe.matmul = m;
    const auto r = rates(draft);
    CAPTURE(name_of(m));
    CHECK(r.low.num() == Approx(1000e12).epsilon(1e-14));
    CHECK(r.half_depth_low.num() == 2000);
    CHECK(r.wide.num() == Approx(600e12).epsilon(1e-14));
    CHECK(r.half_depth.num() == 1000);
  }
  Round fp4({.cluster = "gb200x576"});
  fp4.recipe.matmul = Matmul::Nvfp4;
  CHECK(rates(fp4).low.num() == Approx(4000e12 * 0.5 * 0.7).epsilon(1e-14));
  CHECK(rates(fp4).half_depth_low.num() == 4000);
}

TEST_CASE("older attention kernels reach less of newer accelerators") {
  struct Row {
    const char* cluster;
    double flash2, triton;
  };
  const Row rows[] = {{"a100x1024", 1, 0.56}, {"h100x1024", 0.6, 0.32}, {"gb200x576", 0.55, 0.3}};
  for (const Row& row : rows) {
    CAPTURE(row.cluster);
    CHECK(attention_rate(row.cluster, AttentionKernel::Best) == Approx(1).epsilon(1e-14));
    CHECK(attention_rate(row.cluster, AttentionKernel::Flash2) == Approx(row.flash2).epsilon(1e-14));
    CHECK(attention_rate(row.cluster, AttentionKernel::Triton) == Approx(row.triton).epsilon(1e-14));
  }
}

TEST_CASE("small and latent heads slow attention down") {
  for (const auto& [name, share] :
       {std::pair{"llama70b", 1.0}, std::pair{"gpt2", 0.9}, std::pair{"deepseek-v3", 0.85}}) {
    Round draft({.model = name});
    CAPTURE(name);
    CHECK(rates(draft).attention.num() == Approx(500e12 * share).epsilon(1e-14));
  }
}
