/// Parameters of one GPU of a pipeline stage, apart for what is divided over different groups.
#pragma once

#include <array>
#include <optional>

#include "trainplan/cost/model_params.hpp"

namespace trainplan {

inline constexpr Formula padded_vocabulary{
    "padded_vocabulary", "vocabulary rounded up to the framework's multiple",
    Source{"megatron-lm", "--make-vocab-size-divisible-by x tensor parallel size"},
    std::array{Arg{"V", "V", "vocabulary", 1}, Arg{"multiple", "n_pad", "multiple", 1}},
    []<class N>(Count<N> v, Count<N> multiple) { return ceil(v / multiple) * multiple; }};

inline constexpr Formula params_per_gpu{
    "params_per_gpu", "average parameters of one GPU", Source{"megatron-2021", "section 2"},
    std::array{Arg{"N", "N", "parameters"}, Arg{"t", "t", "tensor parallel degree", 1},
               Arg{"p", "p", "pipeline parallel degree", 1}},
    []<class N>(Params<N> n, Count<N> t, Count<N> p) { return n / (t * p); }};

inline constexpr Formula expert_params_per_gpu{
    "expert_params_per_gpu", "parameters of routed experts on one GPU",
    Source{"megatron-moe", "expert parallel x expert tensor parallel ranks share the experts of a layer"},
    std::array{Arg{"layers", "L_e", "layers with routed experts"},
               Arg{"experts", "N_exps", "routed experts of a layer"},
               Arg{"ep", "e_p", "expert parallel degree", 1},
               Arg{"etp", "x", "tensor parallel degree of experts", 1}},
    []<class N>(Count<N> layers, Params<N> experts, Count<N> ep, Count<N> etp) {
      return layers * experts / (ep * etp);
    }};

inline constexpr Formula replicated_key_value{
    "replicated_key_value", "key-value weights that more tp ranks than key-value heads hold more than once",
    Source{"megatron-lm", "attention.py: a key-value head on tp / num_query_groups ranks"},
    std::array{Arg{"kv", "N_kv", "key-value weights of a layer"}, Arg{"groups", "a_kv", "key-value heads", 1},
               Arg{"t", "t", "tensor parallel degree", 1}},
    []<class N>(Params<N> kv, Count<N> groups, Count<N> t) { return kv / groups - kv / t; }};

/// What weights are for; every class has one way of being cut and shared.
enum class WeightClass : std::uint8_t {
  Attention,
  Latent,
  Mlp,
  Router,
  Shared,
  Experts,
  Norms,
  Tables,
  Further
};
inline constexpr std::size_t kWeightClasses = 9;
inline constexpr std::array<std::string_view, kWeightClasses> kWeightClassIds{
    "attention", "latent", "mlp", "router", "shared", "experts", "norms", "tables", "further"};
inline constexpr std::array<std::string_view, kWeightClasses> kWeightClassTitles{
    "attention",
    "latent projections and norms",
    "dense MLP",
    "router",
    "shared experts",
    "routed experts",
    "norms, biases",
    "embedding and head",
    "blocks for further tokens (MTP)"};

/// Kinds of layers that a stage holds, with its blocks for further tokens.
struct LayerMix {
  bool dense = true, sparse = false;
  friend bool operator==(LayerMix, LayerMix) = default;
};

/// What stages with the same kinds of layers have in common: made anew only where the kinds change from one
/// stage to the next that is looked at.
template <class T>
class OfMix {
  std::optional<T> made_;
  LayerMix mix_;

 public:
  template <class Make>
  const T& operator()(LayerMix mix, Make make) {
    if (!made_ || mix != mix_) made_.emplace(make());
    mix_ = mix;
    return *made_;
  }
};

/// One layer on one GPU, and the stage: dense state is shared by data parallel ranks, that of routed experts
/// by expert data parallel ranks.
template <class N>
struct ParamsCost {
  Params<N> table;                         // one padded token table on one GPU
  Params<N> expert{};                      // one routed expert
  Params<N> total, active, gemm, trained;  // trained: with the blocks for further tokens
  Params<N> average, average_experts;      // of all GPUs: without routed experts, and of them
  Params<N> dense_layer{}, sparse_layer{}, experts_layer{};  // on one GPU; sparse without its experts
  Params<N> layer_local;                                     // the largest layer of the stage on one GPU
  Params<N> stage, stage_dense, stage_experts{};             // all parameters of one GPU of the stage
  std::array<Params<N>, kWeightClasses> classes{};           // of that GPU, together the stage
  Params<N> tables_local;                                    // embedding and head of that GPU
  Count<N> stage_layers, stage_sparse{}, padded_vocabulary;
  Count<N> blocks, sparse_blocks{};  // with the blocks for further tokens of the last stage
  LayerMix mix;
};

namespace detail {

/// Layers of a stage as the layout says.
template <Recorder R>
void stage_layer_counts(R& rec, const Inputs<typename R::Num>& in, const Problem& problem, const Plan& plan,
                        int stage, ParamsCost<typename R::Num>& out) {
  using N = typename R::Num;
  const ModelSpec& m = problem.model();
  const StageLayers held = layers_of(m, plan, stage);
  const Item item{"params.stage_layers", "L_s", "layers of this stage"};
  out.stage_layers =
      plan.layout == Layout::Equal
          ? rec.item(item, in.layers / in.pp)
          : rec.item(item, 1.0 * rec.template in<Count<N>>({"L_i", "layers of this stage", "plan layout"},
                                                           static_cast<double>(held.all)));
  const bool further = stage == head_stage(plan) && problem.recipe.mtp_layers > 0;
  out.blocks =
      further ? rec.item({"params.stage_blocks", "L_b", "layers of this stage and blocks for further tokens"},
                         out.stage_layers + in.mtp_layers)
              : out.stage_layers;
  const bool last_sparse = m.kind(m.layers - 1).sparse;
  out.mix = {held.sparse < held.all || (further && !last_sparse),
             held.sparse > 0 || (further && last_sparse)};
  if (!m.is_sparse()) return;
  out.stage_sparse = rec.item(
      {"params.stage_sparse_layers", "L_e", "layers of this stage with routed experts"},
      1.0 * rec.template in<Count<N>>(
                {"L_e_i", "layers of this stage with routed experts", "plan layout and layer pattern"},
                static_cast<double>(held.sparse)));
  out.sparse_blocks =
      further && last_sparse
          ? rec.item({"params.stage_sparse_blocks", "L_be", "layers and blocks with routed experts"},
                     out.stage_sparse + in.mtp_layers)
          : out.stage_sparse;
}

/// The vocabulary as the framework pads it.
template <Recorder R>
Count<typename R::Num> padded_count(R& rec, const Inputs<typename R::Num>& in, const FrameworkProfile& f) {
  auto multiple =
      count(rec, "n_pad", "vocabulary multiple", f.origin, "/vocabulary/multiple", f.vocabulary_multiple);
  if (f.vocabulary_times_tp) multiple = multiple * in.tp;
  return rec.apply(padded_vocabulary, {"params.padded_vocabulary", "V_pad", ""}, in.vocab, multiple);
}

/// Embedding, positions and head on one GPU of the stage, with the padded vocabulary. A stage with blocks for
/// further tokens looks tokens up once more.
template <Recorder R>
Params<typename R::Num> stage_tables(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                     const Plan& plan, int stage, Params<typename R::Num> table,
                                     Count<typename R::Num> padded,
                                     const ModelParams<typename R::Num>& model) {
  using N = typename R::Num;
  const ModelSpec& m = problem.model();
  const bool first = stage == 0, last = stage == head_stage(plan);
  const Params<N> none{N(0.0)};
  auto held = 1.0 * table;
  if (m.learned_positions > 0) held = held + as<kParams>(in.positions * in.hidden);
  if (m.embedding_norm) held = held + as<kParams>(in.norm_vectors * in.hidden);
  const Params<N> embedding =
      first ? rec.item({"params.stage.embedding", "N_emb_s", "embedding tables of this stage"}, held) : none;
  auto own = 1.0 * table;
  if (m.head_bias) own = own + as<kParams>(padded) / in.tp;
  const bool own_head = last && (!m.tied || !first);
  const Params<N> head =
      own_head ? rec.item({"params.stage.head", "N_head_s", "head of this stage"}, own) : none;
  auto sum = embedding + head;
  if (last && !first && problem.recipe.mtp_layers > 0 && !m.tied)
    sum = sum + rec.item({"params.stage.mtp_embedding", "N_emb_mtp",
                          "embedding copy of the blocks for further tokens"},
                         1.0 * table);
  if (m.table_width > 0) {
    const double held_here = (first ? 0.5 : 0.0) + (last ? 0.5 : 0.0);
    sum = sum + held_here * model.projections;
  }
  return rec.item({"params.stage.tables", "N_tables_s", "tables of this stage"}, sum);
}

/// One layer on one GPU, without routed experts.
template <Recorder R>
Params<typename R::Num> local_layer(R& rec, const Item& item, const Inputs<typename R::Num>& in,
                                    const LayerParams<typename R::Num>& layer,
                                    const Params<typename R::Num>* replicas) {
  const auto sum = layer.split / in.tp + layer.whole;
  return rec.item(item, replicas != nullptr ? sum + *replicas : sum);
}

inline constexpr std::array<std::string_view, kWeightClasses> kClassItemIds{
    "params.class.attention", "params.class.latent", "params.class.mlp",
    "params.class.router",    "params.class.shared", "params.class.experts",
    "params.class.norms",     "params.class.tables", "params.class.further"};
inline constexpr std::array<std::string_view, kWeightClasses> kClassSymbols{
    "N_c1", "N_c2", "N_c3", "N_c4", "N_c5", "N_c6", "N_c7", "N_c8", "N_c9"};

/// The parameters of one GPU of the stage once more, by what they are for.
template <Recorder R>
void weight_classes(R& rec, const Inputs<typename R::Num>& in, const ModelSpec& m,
                    const ModelParams<typename R::Num>& model, const Params<typename R::Num>* replicas,
                    bool last, ParamsCost<typename R::Num>& out) {
  using N = typename R::Num;
  const bool sparse = m.is_sparse(), dense = m.sparse_layers() < m.layers;
  const Count<N> dense_layers = sparse ? out.stage_layers - out.stage_sparse : 1.0 * out.stage_layers;
  const auto set = [&](WeightClass c, Params<N> held) {
    const auto i = static_cast<std::size_t>(c);
    out.classes[i] = rec.item({kClassItemIds[i], kClassSymbols[i], kWeightClassTitles[i]}, held);
  };
  const auto attention = model.attention / in.tp;
  set(WeightClass::Attention, out.stage_layers * (replicas != nullptr ? attention + *replicas : attention));
  if (m.is_latent()) set(WeightClass::Latent, out.stage_layers * model.latent);
  Sum<Params<N>> norms;
  if (dense) {
    set(WeightClass::Mlp, dense_layers * model.mlp / in.tp);
    norms.add(dense_layers * (model.dense.split_bias / in.tp + model.dense.norms));
  }
  if (sparse) {
    set(WeightClass::Router, out.stage_sparse * model.router);
    if (m.experts.shared_width > 0) set(WeightClass::Shared, out.stage_sparse * model.shared / in.tp);
    set(WeightClass::Experts, 1.0 * out.stage_experts);
    norms.add(out.stage_sparse * (model.sparse.split_bias / in.tp + model.sparse.norms));
  }
  if (last) norms.add(model.final_norm);
  set(WeightClass::Norms, norms.total());
  set(WeightClass::Tables, 1.0 * out.tables_local);
}

}  // namespace detail

/// model: the parameters of the whole model.
template <Recorder R>
ParamsCost<typename R::Num> params_cost(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                        const Plan& plan, int stage,
                                        const ModelParams<typename R::Num>& model) {
  using N = typename R::Num;
  const ModelSpec& m = problem.model();
  ParamsCost<N> out;
  out.total = model.total;
  out.active = model.active;
  out.gemm = model.gemm;
  if (m.is_sparse()) out.expert = model.expert;
  out.trained = problem.recipe.mtp_layers > 0
                    ? rec.item({"params.trained", "N_train", "parameters with the blocks for further tokens"},
                               model.total + in.mtp_layers * model.mtp.total)
                    : model.total;
  const bool sparse = m.is_sparse(), dense = m.sparse_layers() < m.layers;
  out.average_experts = Params<N>{N(0.0)};
  if (sparse)
    out.average_experts =
        rec.apply(expert_params_per_gpu,
                  {"params.experts_per_gpu_average", "N_avg_e", "average routed experts of one GPU"},
                  in.sparse_layers / in.pp, model.sparse.experts, in.ep, in.etp);
  const auto apart = sparse ? model.total - in.sparse_layers * model.sparse.experts : 1.0 * model.total;
  out.average = rec.apply(params_per_gpu, {"params.per_gpu_average", "N_avg", ""}, apart, in.tp, in.pp);

  detail::stage_layer_counts(rec, in, problem, plan, stage, out);
  Params<N> replicas{};
  const bool replicated = copies_key_values(m, plan);
  if (replicated)
    replicas = rec.apply(replicated_key_value, {"params.kv_replicas", "N_kv_rep", ""}, model.key_value,
                         in.kv_heads, in.tp);
  const Params<N>* again = replicated ? &replicas : nullptr;
  if (dense)
    out.dense_layer = detail::local_layer(
        rec,
        {"params.layer_per_gpu", "N_layer_t", sparse ? "one dense layer on one GPU" : "one layer on one GPU"},
        in, model.dense, again);
  if (sparse) {
    out.sparse_layer = detail::local_layer(
        rec, {"params.sparse_layer_per_gpu", "N_moe_t", "one sparse layer without its experts on one GPU"},
        in, model.sparse, again);
    out.experts_layer =
        rec.apply(expert_params_per_gpu,
                  {"params.experts_per_gpu", "N_exps_t", "routed experts of one layer on one GPU"},
                  Count<N>{N(1.0)}, model.sparse.experts, in.ep, in.etp);
  }
  out.layer_local = sparse ? 1.0 * out.sparse_layer + out.experts_layer : 1.0 * out.dense_layer;
  auto layers = !sparse  ? out.stage_layers * out.dense_layer
                : !dense ? out.stage_sparse * out.sparse_layer
                         : (out.stage_layers - out.stage_sparse) * out.dense_layer +
                               out.stage_sparse * out.sparse_layer;
  const auto layers_local =
      rec.item({"params.stage.layers", "N_layers_s", "layers of this stage on one GPU"}, layers);
  out.padded_vocabulary = detail::padded_count(rec, in, problem.profile());
  out.table = rec.item({"params.table_per_gpu", "N_tab", "one padded table on one GPU"},
                       table_params(out.padded_vocabulary, in.table_width) / in.tp);
  out.tables_local =
      detail::stage_tables(rec, in, problem, plan, stage, out.table, out.padded_vocabulary, model);
  const bool last = stage == head_stage(plan), further = last && problem.recipe.mtp_layers > 0;
  auto all = last ? layers_local + out.tables_local + model.final_norm : layers_local + out.tables_local;
  if (further) {
    const auto blocks = rec.item({"params.stage.mtp", "N_mtp_s", "blocks for further tokens on one GPU"},
                                 in.mtp_layers * (model.mtp.split / in.tp + model.mtp.whole));
    out.classes[static_cast<std::size_t>(WeightClass::Further)] = blocks;
    all = all + blocks;
  }
  if (!sparse) {
    out.stage_dense = out.stage =
        rec.item({"params.stage", "N_s", "parameters of one GPU of this stage"}, all);
    detail::weight_classes(rec, in, m, model, again, last, out);
    return out;
  }
  out.stage_dense = rec.item(
      {"params.stage_dense", "N_d", "parameters of one GPU of this stage, without routed experts"}, all);
  out.stage_experts = rec.apply(expert_params_per_gpu,
                                {"params.stage_experts", "N_e", "routed experts of one GPU of this stage"},
                                out.sparse_blocks, model.sparse.experts, in.ep, in.etp);
  out.stage = rec.item({"params.stage", "N_s", "parameters of one GPU of this stage"},
                       out.stage_dense + out.stage_experts);
  detail::weight_classes(rec, in, m, model, again, last, out);
  return out;
}

template <Recorder R>
ParamsCost<typename R::Num> params_cost(R& rec, const Inputs<typename R::Num>& in, const Problem& problem,
                                        const Plan& plan, int stage) {
  return params_cost(rec, in, problem, plan, stage,
                     model_params(rec, in, problem.model(), problem.recipe.mtp_layers));
}

using ParamsFormulas =
    Chapter<padded_vocabulary, params_per_gpu, expert_params_per_gpu, replicated_key_value>;

}  // namespace trainplan
