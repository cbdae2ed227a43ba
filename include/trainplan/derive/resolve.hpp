/// From what the user said to a full recipe: every value that was left out gets its default, and says so.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "trainplan/base/value.hpp"
#include "trainplan/plan/problem.hpp"
#include "trainplan/spec/issue.hpp"

namespace trainplan {

/// One line of the inputs: what is used and where it came from.
struct Setting {
  std::string key, label;
  Cell value;
  std::string origin;
};

/// batch_target: the sequences aimed at when the user gave no global batch (the nearest multiple of dp x
/// micro-batch is taken); 0 when the batch is given.
struct Resolved {
  Recipe recipe;
  std::int64_t batch_target = 0;
  std::vector<Setting> settings;
};

inline constexpr std::int64_t kDefaultSequence = 8192;
inline constexpr std::int64_t kOddBatchTokens = std::int64_t{1} << 30;  // no published run has a larger step
inline constexpr std::int64_t kDefaultBatchTokens = std::int64_t{4} << 20;

/// The multiple of `unit` nearest to `target`, at least one.
constexpr std::int64_t nearest_multiple(std::int64_t target, std::int64_t unit) {
  const std::int64_t below = std::max<std::int64_t>(target / unit, 0) * unit;
  const std::int64_t above = below + unit;
  return below > 0 && target - below <= above - target ? below : above;
}

/// The first mode that the framework has.
inline CpMode default_cp_mode(const FrameworkProfile& f) {
  return f.rules.ring ? CpMode::Ring : f.rules.all_gather ? CpMode::AllGather : CpMode::AllToAll;
}

namespace detail {

class Resolver {
  Resolved& out_;
  std::string given_;

 public:
  Resolver(const RunSpec& run, Resolved& out)
      : out_(out), given_(run.origin.empty() ? "option" : "option or " + run.origin) {}

  template <class T>
  T pick(std::string key, std::string label, const std::optional<T>& given, T fallback,
         const std::string& why, auto show) {
    const T value = given.value_or(fallback);
    out_.settings.push_back({std::move(key), std::move(label), show(value), given ? given_ : why});
    return value;
  }
  void note(std::string key, std::string label, Cell value, std::string why) {
    out_.settings.push_back({std::move(key), std::move(label), std::move(value), std::move(why)});
  }
  const std::string& given() const { return given_; }
};

inline Cell named(auto value) { return std::string(name_of(value)); }
inline Cell yes_no(bool value) { return value; }
inline Cell tokens_cell(std::int64_t n) { return Value{static_cast<double>(n), Unit::Tokens}; }
inline Cell share_cell(double x) { return Value{x, Unit::Share}; }

/// What routed experts need to be told.
inline void resolve_experts(Resolver& r, const RunSpec& run, Recipe& recipe) {
  if (run.capacity_factor)
    recipe.capacity_factor =
        r.pick("capacity_factor", "expert capacity factor", run.capacity_factor, 0.0, "", [](double x) {
          return Cell{Value{x, Unit::Count}};
        });
  else
    r.note("capacity_factor", "expert capacity factor", std::string("dropless"), "default");
  recipe.imbalance = r.pick("expert_imbalance", "busiest expert rank over the mean", run.expert_imbalance,
                            1.0, "default: balanced", [](double x) {
                              return Cell{Value{x, Unit::Count}};
                            });
  recipe.ep_overlap = r.pick("ep_overlap", "EP overlap", run.ep_overlap, false, "default", yes_no);
  recipe.dispatcher = r.pick("moe_dispatcher", "token dispatcher", run.moe_dispatcher, Dispatcher::AllToAll,
                             "default", named<Dispatcher>);
}

/// Loss kernels that a profile describes: "te, native".
inline std::string losses_of(const FrameworkProfile& profile) {
  std::string names;
  for (const LossRow& row : profile.losses)
    names += (names.empty() ? "" : ", ") + std::string(name_of(row.kind));
  return names;
}

/// What decides memory beside the degrees: loss, compilation, moments, dropout, the allocator.
inline void resolve_kernels(Resolver& r, const RunSpec& run, const FrameworkProfile& profile, Recipe& recipe,
                            Issues& issues) {
  const std::string by_profile = "default of " + profile.id;
  const auto refuse = [&](const char* rule, const char* option, const char* key, std::string_view got,
                          std::string must, std::string hint) {
    issues.add({Severity::Error, rule, run.origin, run.origin.empty() ? option : key, std::string(got),
                std::move(must), std::move(hint)});
  };
  if (run.loss && profile.loss(*run.loss) == nullptr)
    refuse("loss-of-framework", "--loss", "/loss", name_of(*run.loss),
           "be a loss of " + profile.id + ": " + losses_of(profile),
           "try " + std::string(name_of(profile.default_loss)));
  recipe.loss = run.loss;
  r.pick("loss", "loss kernel", run.loss, profile.default_loss, by_profile, named<LossKind>);
  recipe.compile = r.pick("compile", "torch.compile", run.compile, profile.compiles, by_profile, yes_no);
  if (run.moment_dtype == DType::Bf16 && !profile.has_moment_type())
    refuse("moments-of-framework", "--moment-dtype", "/moment_dtype", "bf16",
           "be fp32: " + profile.id + " has no 16-bit moments", "try megatron-lm-precision-aware");
  if (profile.has_moment_type())
    recipe.moments =
        r.pick("moment_dtype", "type of the moments", run.moment_dtype, DType::Fp32, "default", named<DType>);
  if (profile.scratch_gradients)
    recipe.accumulation_fusion = r.pick("accumulation_fusion", "gradient accumulation fusion",
                                        run.accumulation_fusion, true, "default", yes_no);
  recipe.hidden_dropout =
      r.pick("hidden_dropout", "hidden dropout", run.hidden_dropout, false, "default", yes_no);
  recipe.attention_dropout =
      r.pick("attention_dropout", "attention dropout", run.attention_dropout, false, "default", yes_no);
  recipe.expandable_segments = r.pick("expandable_segments", "expandable allocator segments",
                                      run.expandable_segments, false, "default", yes_no);
}

/// How the layers are split over stages where the run says so.
inline void resolve_split(Resolver& r, const RunSpec& run, const FrameworkProfile& profile, Issues& issues) {
  if (!run.uneven_stages) return;
  r.note("uneven_stages", "embedding and loss count as a layer each", *run.uneven_stages, r.given());
  const auto refuse = [&](const char* rule, std::string must, std::string hint) {
    issues.add({Severity::Error, rule, run.origin, run.origin.empty() ? "--uneven-stages" : "/uneven_stages",
                *run.uneven_stages ? "true" : "false", std::move(must), std::move(hint)});
  };
  if (*run.uneven_stages && profile.uneven_stages == UnevenStages::None)
    refuse("uneven-stages-of-framework", "be false: " + profile.id + " makes no uneven stages",
           "leave it out");
  if (run.first_layers || run.last_layers)
    refuse("one-split", "stand without first_layers and last_layers, which say the split by themselves",
           "leave out the one or the others");
}

/// What waits in host memory; shown only where something does.
inline void resolve_offload(Resolver& r, const RunSpec& run, const FrameworkProfile& profile,
                            Recipe& recipe) {
  Offload& o = recipe.offload;
  if (run.offload_weights)
    o.weights = r.pick("offload_weights", "weights on the host", run.offload_weights, false, "", yes_no);
  const bool together = o.weights && profile.host.together;
  if (run.offload_optimizer || together)
    o.optimizer =
        r.pick("offload_optimizer", "optimizer on the host, share of the parameters", run.offload_optimizer,
               1.0, "with the weights, as " + profile.id + " does", share_cell);
  if (run.offload_layers)
    o.layers = r.pick("offload_layers", "layers of a stage with activations on the host", run.offload_layers,
                      std::int64_t{0}, "", [](std::int64_t n) {
                        return Cell{Value{static_cast<double>(n), Unit::Count}};
                      });
}

/// What time depends on beside the degrees. The stack follows compilation, which is resolved already.
inline void resolve_execution(Resolver& r, const RunSpec& run, const FrameworkProfile& profile,
                              Recipe& recipe) {
  recipe.matmul = r.pick("matmul_precision", "format of matrix products", run.matmul_precision, Matmul::Wide,
                         "default", named<Matmul>);
  if (run.fp8_param_gather)
    recipe.low_weights = r.pick("fp8_param_gather", "weights in the format of products", run.fp8_param_gather,
                                false, "", yes_no);
  recipe.graphs =
      r.pick("cuda_graphs", "CUDA graphs", run.cuda_graphs, Graphs::None, "default", named<Graphs>);
  const bool compiled = recipe.compile && profile.compiled_stack;
  recipe.stack = r.pick("stack", "software stack of time constants", run.stack,
                        compiled ? *profile.compiled_stack : profile.stack,
                        "default of " + profile.id + (compiled ? ", compiled" : ""), named<Stack>);
}

}  // namespace detail

/// Mistakes that need the model or the framework to be seen go into `issues`.
inline Resolved resolve(const RunSpec& run, const ModelSpec& model, const FrameworkProfile& profile,
                        const Calibration& calibration, Issues& issues) {
  Resolved out;
  detail::Resolver r(run, out);
  Recipe& recipe = out.recipe;
  const std::int64_t longest = model.max_positions > 0 ? model.max_positions : kDefaultSequence;
  const std::string by_profile = "default of " + profile.id;
  recipe.sequence = r.pick("sequence", "sequence length", run.sequence, std::min(kDefaultSequence, longest),
                           "default: min(8192, max_position_embeddings)", detail::tokens_cell);
  if (model.learned_positions > 0 && recipe.sequence > model.learned_positions) {
    issues.add({Severity::Error, "sequence-within-positions", run.origin,
                run.origin.empty() ? "--sequence" : "/sequence", std::to_string(recipe.sequence),
                "be at most the " + std::to_string(model.learned_positions) + " rows of the position table",
                "try " + std::to_string(model.learned_positions)});
  } else if (model.max_positions > 0 && recipe.sequence > model.max_positions) {
    issues.add({Severity::Warning, "sequence-within-positions", run.origin,
                run.origin.empty() ? "--sequence" : "/sequence", std::to_string(recipe.sequence),
                "be at most max_position_embeddings = " + std::to_string(model.max_positions) +
                    " unless positions are rescaled",
                "try " + std::to_string(model.max_positions)});
  }
  if (run.global_batch && run.global_batch->in_tokens && run.global_batch->amount % recipe.sequence != 0) {
    issues.add(
        {Severity::Error, "batch-in-whole-sequences", run.origin, "/global_batch",
         std::to_string(run.global_batch->amount) + " tokens",
         "be a multiple of the sequence length " + std::to_string(recipe.sequence),
         "try " + std::to_string(nearest_multiple(run.global_batch->amount, recipe.sequence)) + " tokens"});
  }
  if (run.global_batch && !run.global_batch->in_tokens &&
      run.global_batch->amount > kOddBatchTokens / recipe.sequence) {
    const std::string amount = std::to_string(run.global_batch->amount);
    issues.add(
        {Severity::Warning, "batch-in-sequences", run.origin,
         run.origin.empty() ? "--global-batch" : "/global_batch", amount + " sequences",
         "be meant as sequences: a step has " + amount + " x " + std::to_string(recipe.sequence) + " tokens",
         "for tokens write " + amount + "-tokens"});
  }
  if (run.global_batch) {
    recipe.global_batch =
        run.global_batch->in_tokens ? run.global_batch->amount / recipe.sequence : run.global_batch->amount;
  } else {
    out.batch_target =
        std::max<std::int64_t>(1, (kDefaultBatchTokens + recipe.sequence / 2) / recipe.sequence);
    recipe.global_batch = recipe.batch_target = out.batch_target;
  }
  const DType precision =
      r.pick("precision", "precision", run.precision, DType::Bf16, "default", detail::named<DType>);
  recipe.precision = precision;
  const bool half = precision == DType::Fp16;
  recipe.gradient = r.pick("gradient_dtype", "gradient type", run.gradient_dtype,
                           half ? DType::Fp16 : profile.default_gradient,
                           half ? "default with fp16" : by_profile, detail::named<DType>);
  recipe.reduce = r.pick("reduce_dtype", "reduction type", run.reduce_dtype, recipe.gradient,
                         "default: as the gradient", detail::named<DType>);
  detail::resolve_kernels(r, run, profile, recipe, issues);
  recipe.attention = r.pick("attention", "attention kernel", run.attention, Attention::Flash, "default",
                            detail::named<Attention>);
  recipe.fused_mlp = r.pick("fused_mlp", "fused SwiGLU", run.fused_mlp, profile.fuses_mlp || recipe.compile,
                            profile.fuses_mlp ? "default" : "default: as compile", detail::yes_no);
  recipe.convention =
      r.pick("flop_convention", "FLOP convention of gates", run.flop_convention, FlopConvention::Causal,
             "default; the other stands beside it", detail::named<FlopConvention>);
  recipe.tp_overlap =
      r.pick("tp_overlap", "TP overlap", run.tp_overlap, profile.rules.tp_overlap,
             profile.rules.tp_overlap ? "default (needs its launch flag)" : by_profile, detail::yes_no);
  recipe.dp_overlap = r.pick("dp_overlap", "DP overlap", run.dp_overlap, true,
                             "default (needs its launch flags)", detail::yes_no);
  recipe.gather_overlap =
      r.pick("gather_overlap", "overlap of gathers of updated weights", run.gather_overlap, recipe.dp_overlap,
             "default: as DP overlap", detail::yes_no);
  detail::resolve_split(r, run, profile, issues);
  detail::resolve_execution(r, run, profile, recipe);
  detail::resolve_offload(r, run, profile, recipe);
  if (model.is_sparse()) detail::resolve_experts(r, run, recipe);
  if (model.mtp_layers > 0)
    recipe.mtp_layers =
        r.pick("mtp", "blocks for further tokens (MTP)", run.mtp, profile.trains_mtp,
               profile.trains_mtp ? "default: the model announces " + std::to_string(model.mtp_layers)
                                  : profile.id + " does not train them",
               detail::yes_no)
            ? model.mtp_layers
            : 0;
  recipe.cp_mode = r.pick("cp_mode", "CP mode", run.cp_mode, default_cp_mode(profile),
                          profile.rules.ring ? "default" : by_profile, detail::named<CpMode>);
  recipe.margin = r.pick("memory_margin", "planning margin, share of the gate", run.memory_margin,
                         calibration.planning_margin.value, "default: " + calibration.planning_margin.source,
                         detail::share_cell);
  recipe.tokens = run.tokens;
  recipe.confidence = run.confidence;
  return out;
}

}  // namespace trainplan
