/// Pseudo-random legal plans, the same in every run: models x clusters x profiles x shardings x schedules.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>

#include "problems.hpp"
#include "trainplan/plan/rules.hpp"

namespace property {

using namespace trainplan;

/// Debug builds are some ten times slower, and the same code.
#ifdef NDEBUG
inline constexpr int kShare = 1;
#else
inline constexpr int kShare = 5;
#endif

/// A legal plan with the problem that it answers and the names of what the problem is made of.
struct Sample {
  std::string model, cluster, framework;
  Problem problem;
  Plan plan;
};

class Plans {
  std::mt19937_64 engine_;

  /// The standard distributions differ between libraries.
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  bool coin() { return below(2) == 0; }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }

  /// What decides memory beside the degrees.
  void kernels(Recipe& r, const ModelSpec& model, const FrameworkProfile& profile) {
    if (coin()) r.loss = profile.losses[below(profile.losses.size())].kind;
    r.moments = profile.has_moment_type() ? one_of({DType::Fp32, DType::Bf16}) : DType::Fp32;
    r.compile = coin();
    r.hidden_dropout = coin();
    r.attention_dropout = coin();
    r.accumulation_fusion = below(4) != 0;
    r.expandable_segments = coin();
    r.mtp_layers = coin() ? model.mtp_layers : 0;
    if (!model.is_sparse()) return;
    r.ep_overlap = coin();
    r.dispatcher = one_of({Dispatcher::AllToAll, Dispatcher::DeepEp, Dispatcher::HybridEp});
    r.imbalance = one_of({1.0, 1.3});
    r.capacity_factor = one_of({0.0, 0.0, 1.25});
  }

  Recipe recipe(const Plan& plan, const ModelSpec& model, const FrameworkProfile& profile) {
    Recipe r;
    r.sequence = one_of<std::int64_t>({1024, 2048, 8192, 32768});
    const std::int64_t m = in_groups(plan.schedule) ? plan.pp * static_cast<std::int64_t>(1 + below(8))
                                                    : static_cast<std::int64_t>(1 + below(64));
    r.global_batch = std::int64_t{plan.dp} * plan.micro_batch * m;
    r.gradient = one_of({DType::Fp32, DType::Bf16});
    r.reduce = one_of({DType::Fp32, DType::Bf16});
    r.attention = one_of({Attention::Flash, Attention::Flash, Attention::Unfused});
    r.convention = one_of({FlopConvention::Causal, FlopConvention::Full});
    r.cp_mode = one_of({CpMode::Ring, CpMode::AllToAll, CpMode::AllGather});
    r.fused_mlp = coin();
    r.matmul = one_of(
        {Matmul::Wide, Matmul::Fp8, Matmul::Fp8Rowwise, Matmul::Fp8Blockwise, Matmul::Mxfp8, Matmul::Nvfp4});
    r.graphs = one_of({Graphs::None, Graphs::Layer, Graphs::Full});
    r.stack = static_cast<Stack>(below(std::size(kStackNames)));
    r.tp_overlap = coin();
    r.dp_overlap = coin();
    r.gather_overlap = coin();
    r.margin = static_cast<double>(below(60)) / 100;
    kernels(r, model, profile);
    r.low_weights = profile.low_weights && r.matmul != Matmul::Wide && coin();
    if (coin()) offload(r, plan, model, profile);
    if (coin()) r.tokens = 1e9 * static_cast<double>(1 + below(20000));
    return r;
  }

  /// What waits in host memory; rules refuse what the framework does not offer.
  void offload(Recipe& r, const Plan& plan, const ModelSpec& model, const FrameworkProfile& profile) {
    const HostRows& host = profile.rows(plan.sharding)->host;
    if (!host.weights.empty() && coin()) r.offload.weights = true;
    const bool whole = r.offload.weights && profile.host.together;
    if (!host.optimizer.empty() && (whole || (coin() && !profile.host.together)))
      r.offload.optimizer = host.partial && !whole ? one_of({0.25, 0.5, 1.0}) : 1.0;
    if (std::int64_t{plan.pp} * plan.vpp > model.layers) return;  // no legal plan
    const std::int64_t layers = stage_layers(model, plan, plan.pp / 2);
    if (profile.host.layers == LayerOffload::Kept && plan.recompute == Recompute::Full && coin())
      r.offload.layers = layers;
    if (profile.host.layers == LayerOffload::Saved && plan.recompute == Recompute::None && plan.pp == 1)
      r.offload.layers = static_cast<std::int64_t>(below(static_cast<std::uint64_t>(layers)));
  }

  void schedule(Plan& plan, const FrameworkProfile& profile) {
    plan.schedule = plan.pp == 1 ? one_of({Schedule::GPipe, Schedule::OneFOneB})
                                 : static_cast<Schedule>(below(kScheduleCount));
    if (plan.pp > 1 && !profile.offers(plan.schedule)) plan.schedule = Schedule::OneFOneB;
    if (is_loop(plan.schedule)) plan.vpp = one_of<std::uint16_t>({2, 3, 4, 5, 8});
    if (is_vee(plan.schedule)) plan.vpp = 2;
  }

  Plan plan(const ModelSpec& model, const ClusterSpec& cluster, const FrameworkProfile& profile) {
    Plan p;
    p.tp = one_of<std::uint16_t>({1, 2, 4, 8});
    p.pp = one_of<std::uint16_t>({1, 1, 2, 3, 4, 6, 8, 16});
    p.cp = one_of<std::uint16_t>({1, 1, 2, 4});
    p.dp = static_cast<std::uint32_t>(
        std::max<std::int64_t>(1, cluster.gpus() / (std::int64_t{p.tp} * p.pp * p.cp)));
    p.micro_batch = one_of<std::uint16_t>({1, 1, 2, 4});
    p.sharding = profile.shardings[below(profile.shardings.size())].mode;
    const bool groups =
        p.sharding == Sharding::Hsdp || (profile.rows(p.sharding)->shard_groups && below(4) == 0);
    p.shard = groups ? one_of<std::uint32_t>({1, 2, 4, 8}) : p.dp * p.cp;
    p.recompute = static_cast<Recompute>(below(4));
    p.recompute_layers =
        p.recompute == Recompute::Layers ? static_cast<std::uint16_t>(1 + below(4)) : std::uint16_t{0};
    p.modules = static_cast<Modules>(1 + below(127));
    if (model.is_sparse()) p.ep = one_of<std::uint16_t>({1, 2, 4, 8, 16, 32});
    if (model.is_sparse()) p.etp = one_of<std::uint16_t>({1, 1, 1, 2});
    choose_layout(model.layers, profile.uneven_stages, p);
    p.sequence_parallel = p.tp > 1 && below(4) != 0;
    p.reshard = below(4) != 0;
    p.sync_each_micro_batch = coin();
    schedule(p, profile);
    return p;
  }

 public:
  explicit Plans(std::uint64_t start) : engine_(start) {}

  Sample next() {
    for (;;) {
      const std::string model =
          one_of({"llama8b", "llama70b", "llama405b", "llama2-13b", "qwen3-8b", "qwen2.5-7b", "gpt3-175b",
                  "gpt2", "gpt2-xl", "mistral-7b", "deepseek-v3", "mixtral-8x7b", "gpt-oss-20b",
                  "qwen3-30b-a3b", "gemma-2-27b", "moonlight-16b"});
      const std::string cluster = one_of({"h100x64", "h100x1024", "h100x16384", "a100x384", "gb200x576",
                                          "rtx4090x32", "mi300xx512", "h800x2048"});
      const std::string framework =
          one_of({"megatron-lm", "deepspeed", "torchtitan", "megatron-lm-precision-aware"});
      const auto& profile = problems::framework(framework);
      const Plan candidate = plan(*problems::model(model), *problems::cluster(cluster), *profile);
      const Problem problem(problems::model(model), problems::cluster(cluster), profile,
                            problems::calibration(), recipe(candidate, *problems::model(model), *profile));
      if (legal(problem, candidate)) return {model, cluster, framework, problem, candidate};
    }
  }
};

inline std::string described(const Sample& s) {
  const Plan& p = s.plan;
  return s.model + " on " + s.cluster + " by " + s.framework + ": tp " + std::to_string(p.tp) + " pp " +
         std::to_string(p.pp) + " v " + std::to_string(p.vpp) + " cp " + std::to_string(p.cp) + " ep " +
         std::to_string(p.ep) + " etp " + std::to_string(p.etp) + " dp " + std::to_string(p.dp) + " shard " +
         std::to_string(p.shard) + " b " + std::to_string(p.micro_batch) + " " +
         std::string(name_of(p.sharding)) + " " + std::string(name_of(p.recompute)) + " " +
         std::string(name_of(p.schedule)) + " batch " + std::to_string(s.problem.recipe.global_batch);
}

}  // namespace property
