#include "model_shape.hpp"

#include <algorithm>
#include <optional>

#include "find_config.hpp"
#include "model_layers.hpp"
#include "text.hpp"
#include "trainplan/spec/validate.hpp"

namespace trainplan {
namespace {

constexpr std::string_view kUnsupported = "unsupported-model";

/// A spelling as the keys of one value.
Spellings one(const std::string_view& key) { return {&key, 1}; }

}  // namespace

ModelSpec ModelShape::read() {
  model_.origin = keys_.reader().document().origin;
  model_.name = config_name(model_.origin);
  model_.family = family_.name();
  model_.hidden = keys_.required(kHiddenKeys, 1, kMaxWidth, "4096");
  model_.layers = keys_.required(kLayerKeys, 1, kMaxLayers, "32");
  read_heads();
  read_experts();
  read_ffn();
  read_tables();
  read_norms();
  read_pattern();
  read_mtp();
  read_remarks();
  read_places();
  return model_;
}

void ModelShape::read_heads() {
  model_.heads = keys_.required(kHeadKeys, 1, kMaxHeads, "32");
  model_.qkv_bias = keys_.on(family_.qkv_bias);
  model_.output_bias = keys_.on(family_.output_bias);
  if (family_.attention == Heads::Latent) return read_latent();
  read_kv_heads();
  read_head_dim();
  model_.sinks = family_.sinks;
  const bool mpt_norm =
      family_.attention == Heads::AttentionType && keys_.boolean("attn_config.qk_ln").value_or(false);
  model_.qk_norm = mpt_norm                       ? QkNorm::AllHeads
                   : keys_.on(family_.qk_norm_on) ? family_.qk_norm
                                                  : QkNorm::None;
  if (keys_.has("qk_norm_type") && keys_.string("qk_norm_type") != "per_layer")
    keys_.refuse("qk_norm_type", std::string(kUnsupported), "be \"per_layer\": one norm over all heads",
                 "no published model has another");
}

void ModelShape::read_kv_heads() {
  const std::int64_t all = std::max<std::int64_t>(model_.heads, 1);
  const auto given = [&] { return keys_.integer(kGroupKeys, 1, kMaxHeads); };
  const auto in_file = [&](std::string_view key) { return keys_.contains(key); };
  switch (family_.attention) {
    case Heads::Latent:
    case Heads::Grouped: model_.kv_heads = given().value_or(all); return;
    case Heads::GroupedGiven:
      model_.kv_heads = given().value_or(all);
      if (std::none_of(std::begin(kGroupKeys), std::end(kGroupKeys), in_file))
        keys_.reader().require(kGroupKeys[0], "8");
      return;
    case Heads::MultiQueryKey: model_.kv_heads = switched("multi_query", true) ? 1 : all; return;
    case Heads::MultiQueryFlag:
      model_.kv_heads =
          switched("multi_query_attention", false) ? keys_.required(kGroupKeys, 1, kMaxHeads, "2") : all;
      return;
    case Heads::AttentionType: {
      const std::string type = keys_.string("attn_config.attn_type").value_or("");
      model_.kv_heads = type == "multiquery_attention" ? 1 : given().value_or(all);
      return;
    }
    case Heads::Falcon:  // the older decoder has one, or as many as heads; its num_kv_heads is not read
      if (new_falcon())
        model_.kv_heads = given().value_or(all);
      else
        model_.kv_heads = switched("multi_query", true) ? 1 : all;
      return;
  }
}

void ModelShape::read_head_dim() {
  const std::optional<std::int64_t> head_dim = keys_.integer(kHeadDimKeys, 1, kMaxHeads);
  if (head_dim || model_.heads == 0 || model_.hidden == 0) {
    model_.head_dim = head_dim.value_or(1);
    return;
  }
  model_.head_dim = family_.head_dim;
  if (family_.head_dim > 0) return;
  model_.head_dim = std::max<std::int64_t>(model_.hidden / model_.heads, 1);
  if (model_.hidden % model_.heads == 0) return;
  const std::int64_t groups =
      model_.kv_heads == model_.heads ? 1 : std::max<std::int64_t>(1, model_.kv_heads);
  const std::int64_t near = nearest_that(model_.heads, kMaxHeads, [&](std::int64_t heads) {
    return model_.hidden % heads == 0 && heads % groups == 0;
  });
  const std::string spelled = keys_.pointer_of("/num_attention_heads");
  keys_.refuse(std::string_view(spelled).substr(spelled.rfind('/') + 1), "heads-divide-hidden",
               "divide hidden_size = " + std::to_string(model_.hidden) + " when head_dim is left out",
               "try " + std::to_string(near) + ", or give head_dim");
  // What follows from the number of heads is judged on the one that is proposed.
  if (groups == 1 && model_.kv_heads > 1) model_.kv_heads = near;
  model_.heads = near;
}

void ModelShape::read_latent() {
  LatentAttention& latent = model_.latent;
  const auto width = [&](std::string_view key, std::string_view example) {
    return keys_.required(one(key), 1, kMaxWidth, example);
  };
  latent.q_rank = keys_.integer(one("q_lora_rank"), 1, kMaxWidth).value_or(0);
  latent.kv_rank = width("kv_lora_rank", "512");
  latent.nope_dim = width("qk_nope_head_dim", "128");
  latent.rope_dim = width("qk_rope_head_dim", "64");
  const bool whole = model_.heads > 0 && model_.hidden > 0 && model_.hidden % model_.heads == 0;
  if (keys_.has("v_head_dim") || family_.name() != "minicpm3" || !whole)
    latent.v_dim = width("v_head_dim", "128");
  else
    latent.v_dim = model_.hidden / model_.heads;
  latent.index_heads = keys_.integer(one("index_n_heads"), 1, kMaxHeads).value_or(0);
  if (latent.index_heads > 0) latent.index_dim = width("index_head_dim", "128");
  if (latent.index_heads > 0 && keys_.has("index_topk"))
    keys_.reader().warn("index_topk", "sparse-attention",
                        "not be relied on: attention FLOPs are those over all positions",
                        "take the time of long sequences as an upper bound");
  if (latent.index_heads > 0 && latent.q_rank == 0) keys_.reader().require("q_lora_rank", "1536");
  // What the grouped rules read: a head of its own for every query, as wide as the product with a key.
  model_.kv_heads = std::max<std::int64_t>(model_.heads, 1);
  model_.head_dim = std::clamp<std::int64_t>(latent.nope_dim + latent.rope_dim, 1, kMaxHeads);
}

void ModelShape::read_experts() {
  sparse_.assign(static_cast<std::size_t>(model_.layers), false);
  if (family_.sparsity == Sparsity::None) return;
  const std::optional<std::int64_t> count = keys_.integer(kExpertKeys, 0, kMaxExperts);
  const bool wrong = keys_.failed();
  if (!count && !family_.experts_optional) keys_.reader().require(kExpertKeys[0], "64");
  const bool routed = count ? *count > 0 || wrong : !family_.experts_optional;
  Experts& experts = model_.experts;
  if (routed) {
    experts.count = std::max<std::int64_t>(count.value_or(1), 1);
    experts.per_token = keys_.required(kExpertsPerTokenKeys, 1, kMaxExperts, "8");
    if (wrong || !count) experts.count = std::max(experts.count, experts.per_token);
    experts.width = family_.own_expert_width ? keys_.required(kExpertWidthKeys, 1, kMaxWidth, "1408")
                                             : keys_.required(kFfnKeys, 1, kMaxWidth, "14336");
    experts.router_bias = family_.router_bias;
    experts.bias = family_.expert_bias;
    sparse_ = sparse_layers(keys_, family_, model_.layers);
    if (std::find(sparse_.begin(), sparse_.end(), true) == sparse_.end()) experts = {};
  }
  if (model_.is_sparse()) read_shared_experts(routed);
}

void ModelShape::read_shared_experts(bool routed) {
  Experts& experts = model_.experts;
  switch (family_.shared) {
    case Shared::None: return;
    case Shared::Count:
      // The class defaults differ, so that a missing key could be none or one.
      experts.shared_width =
          keys_.required(kSharedCountKeys, 0, kMaxExperts, "1") * std::max<std::int64_t>(experts.width, 1);
      return;
    case Shared::Width:
      experts.shared_width = keys_.integer(kSharedWidthKeys, 0, kMaxWidth).value_or(0);
      return;
    case Shared::GatedWidth:
      experts.shared_width = keys_.required(kSharedWidthKeys, 0, kMaxWidth, "5632");
      experts.shared_gate = experts.shared_width > 0;
      return;
    case Shared::One: experts.shared_width = experts.width; return;
    case Shared::MlpInstead:
      if (routed) experts.shared_width = keys_.required(kSharedWidthKeys, 0, kMaxWidth, "8192");
      return;
  }
}

void ModelShape::read_ffn() {
  static constexpr std::string_view kBesideExperts[] = {"intermediate_size_mlp"};
  model_.mlp_matrices = family_.mlp_matrices;
  model_.mlp_bias = keys_.on(family_.mlp_bias);
  const bool all_sparse =
      !sparse_.empty() && std::find(sparse_.begin(), sparse_.end(), false) == sparse_.end();
  if (all_sparse) return;
  const bool instead = family_.shared == Shared::MlpInstead;
  const Spellings keys = instead                                     ? Spellings(kSharedWidthKeys)
                         : family_.sparsity == Sparsity::Interleaved ? Spellings(kBesideExperts)
                                                                     : Spellings(kFfnKeys);
  const std::optional<std::int64_t> ffn = keys_.integer(keys, 1, kMaxWidth);
  if (!ffn && family_.ffn_of_hidden == 0) keys_.reader().require(keys[0], "14336");
  const std::int64_t ratio =
      family_.ffn_of_hidden == 0
          ? 0
          : keys_.integer(one("expansion_ratio"), 1, kMaxWidth).value_or(family_.ffn_of_hidden);
  model_.ffn = ffn.value_or(ratio == 0 ? 0 : std::max<std::int64_t>(ratio * model_.hidden, 1));
  if (family_.ffn_divisor > 1 && model_.ffn > 0) {
    if (model_.ffn % family_.ffn_divisor != 0)
      keys_.refuse("intermediate_size", "two-halves", "be even: it is the sum of two equal widths",
                   "try " + std::to_string(model_.ffn + 1));
    model_.ffn = std::max<std::int64_t>(model_.ffn / family_.ffn_divisor, 1);
  }
  for (const std::string_view key : {"hidden_act", "activation_function"}) {
    const std::string act = lower(keys_.string(key).value_or(""));
    if (family_.mlp_matrices == 2 && act.find("glu") != std::string::npos)
      keys_.refuse(key, std::string(kUnsupported),
                   "be an activation without a gate: the MLP of this model_type has two matrices",
                   "try \"gelu_new\"");
  }
}

/// The text part's own word, else the one of the whole file, else the family's.
bool ModelShape::tied() {
  std::optional<bool> tie;
  std::string_view from;
  const auto look = [&](const ModelKeys& keys) {
    for (const std::string_view key : kTieKeys) {
      const std::optional<bool> said = keys.boolean(key);
      if (said && tie && *said != *tie)
        keys.refuse(key, "two-spellings",
                    "be equal to " + std::string(from) + " = " + (*tie ? "true" : "false"),
                    "remove one of the two");
      if (said && !tie) tie = said, from = key;
    }
  };
  look(keys_);
  if (nested()) look(root_);
  return tie.value_or(family_.tied);
}

void ModelShape::read_tables() {
  model_.vocab = keys_.required(kVocabKeys, 1, kMaxVocab, "128256");
  const std::optional<std::int64_t> positions = keys_.first(kPositionKeys, 1, kMaxVocab);
  if (!positions && family_.positions == 0) keys_.reader().require(kPositionKeys[0], "8192");
  model_.max_positions = positions.value_or(family_.positions);
  model_.tied = tied();
  model_.head_bias = keys_.on(family_.head_bias);
  model_.embedding_norm = family_.embedding_norm;
  switch (family_.position_table) {
    case Positions::None: break;
    case Positions::Table: model_.learned_positions = model_.max_positions; break;
    case Positions::TablePlusTwo: model_.learned_positions = model_.max_positions + 2; break;
    case Positions::TableUnlessAlibi:
      if (switched("learned_pos_emb", true) && !keys_.boolean("attn_config.alibi").value_or(false) &&
          !keys_.boolean("attn_config.rope").value_or(false))
        model_.learned_positions = model_.max_positions;
      break;
  }
  if (!family_.projected_tables) return;
  const std::int64_t width = keys_.integer(one("word_embed_proj_dim"), 1, kMaxWidth).value_or(model_.hidden);
  if (width != model_.hidden) model_.table_width = width;
  model_.final_norm = switched("do_layer_norm_before", true) && !switched("_remove_final_layer_norm", false);
}

void ModelShape::read_norms() {
  const bool bias = keys_.on(family_.norm_bias);
  model_.norm_vectors = bias ? 2 : family_.norm_vectors;
  if (!switched("layer_norm_elementwise_affine", true)) model_.norm_vectors = 0;
  model_.block_norms = family_.block_norms;
  const auto residual = [&](bool otherwise) { return switched("use_parallel_residual", otherwise); };
  switch (family_.block) {
    case Block::Sequential: break;
    case Block::Parallel: model_.parallel_block = true; break;
    case Block::ResidualKey: model_.parallel_block = residual(true); break;
    case Block::ResidualOneNorm:
      model_.parallel_block = residual(false);
      if (model_.parallel_block) model_.block_norms = 1;
      break;
    case Block::Falcon: {
      const bool parallel = switched("parallel_attn", true);
      const std::int64_t norms =
          keys_.integer(one("num_ln_in_parallel_attn"), 1, 2).value_or(new_falcon() ? 2 : 1);
      model_.parallel_block = parallel || new_falcon();
      model_.block_norms = !parallel ? 2 : new_falcon() ? static_cast<int>(norms) : 1;
      break;
    }
  }
  if (family_.attention == Heads::MultiQueryFlag) model_.final_norm = switched("post_layer_norm", true);
}

void ModelShape::read_pattern() {
  if (model_.layers == 0) return;
  if (type_ == "granitemoehybrid" && !keys_.has("layer_types") && !keys_.has("layers_block_type"))
    keys_.reader().require("layer_types", "[\"attention\", ...]");
  std::vector<LayerKind> kinds = layer_spans(keys_, family_, model_.layers);
  for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i].sparse = model_.is_sparse() && sparse_[i];
  const bool plain =
      std::all_of(kinds.begin(), kinds.end(), [](const LayerKind& k) { return k == LayerKind{}; });
  if (!plain) model_.pattern = std::move(kinds);
}

void ModelShape::read_mtp() {
  const std::int64_t blocks = keys_.integer(kMtpKeys, 0, kMaxLayers).value_or(0);
  if (family_.mtp) {
    model_.mtp_layers = blocks;
  } else if (blocks > 0) {
    const std::string pointer = keys_.pointer_of("/" + std::string(kMtpKeys[0]));
    const std::string key = pointer.substr(pointer.rfind('/') + 1);
    model_.left_out.push_back(key + " = " + std::to_string(blocks));
    keys_.reader().warn(key, "left-out",
                        "not be expected in the count: the shape of these blocks is not published",
                        "set it to 0 where the model is trained without them");
  }
}

void ModelShape::read_remarks() {
  for (const ModelKeys* keys : {&keys_, &root_}) {
    const nlohmann::json& node = keys->reader().node();
    const auto found = node.find("quantization_config");
    const bool there = found != node.end() && found->is_object() && !found->empty();
    if (there)
      keys->reader().warn("quantization_config", "quantized",
                          "be read as how the weights are stored: it does not change their number",
                          "torch_dtype is not the type in the checkpoint");
    if (there || !nested()) return;
  }
}

/// Widths of dense MLPs, experts and shared experts, which families keep under each other's keys.
void ModelShape::place_mlp() {
  KeyPlaces& at = model_.keys;
  const std::string own = at.of("/intermediate_size"), shared = at.of("/shared_expert_intermediate_size");
  if (!family_.own_expert_width) at.set("moe_intermediate_size", own);
  if (family_.shared == Shared::MlpInstead)
    at.set("intermediate_size", shared);
  else if (family_.sparsity == Sparsity::Interleaved)
    at.set("intermediate_size", at.of("/intermediate_size_mlp"));
  else if (!at.has("intermediate_size"))
    at.set("intermediate_size", at.of("/hidden_size") + " x " +
                                    (keys_.has("expansion_ratio") ? at.of("/expansion_ratio")
                                                                  : std::to_string(family_.ffn_of_hidden)));
  const std::string expert = at.of("/moe_intermediate_size");
  switch (family_.shared) {
    case Shared::None: break;
    case Shared::Count: at.set("n_shared_experts", at.of("/n_shared_experts") + " x " + expert); break;
    case Shared::One: at.set("n_shared_experts", expert); break;
    case Shared::Width:
    case Shared::GatedWidth:
    case Shared::MlpInstead: at.set("n_shared_experts", shared); break;
  }
}

/// Where each value is, so that an explanation names a key that the file has.
void ModelShape::read_places() {
  KeyPlaces& at = model_.keys;
  at = keys_.places();
  if (!keys_.has("model_type") && root_.has("model_type")) at.set("model_type", "/model_type");
  const std::string type = at.of("/model_type"), heads = at.of("/num_attention_heads"),
                    per_head = at.of("/hidden_size") + " over " + heads;
  if (model_.is_latent())
    at.set("head_dim", at.of("/qk_nope_head_dim") + " + " + at.of("/qk_rope_head_dim"));
  else if (!at.has("head_dim"))
    at.set("head_dim", family_.head_dim > 0 ? type : per_head);
  if (model_.is_latent() && !keys_.has("v_head_dim")) at.set("v_head_dim", per_head);
  if (model_.is_latent() || (!at.has("num_key_value_heads") && model_.kv_heads == model_.heads))
    at.set("num_key_value_heads", heads);
  else if (!at.has("num_key_value_heads") && keys_.has("multi_query"))
    at.set("num_key_value_heads", at.of("/multi_query"));
  else if (!at.has("num_key_value_heads"))
    at.set("num_key_value_heads",
           keys_.has("attn_config.attn_type") ? at.part + "/attn_config/attn_type" : type);
  at.set("n_positions", at.has("max_position_embeddings") ? at.of("/max_position_embeddings") : type);
  for (const std::string_view key : {"sliding_window", "attention_chunk_size"}) {
    if (keys_.has(key)) continue;
    at.set(std::string(key), keys_.has("window_size") ? at.of("/window_size") : type);
  }
  place_mlp();
}

}  // namespace trainplan
