#include <string>
#include <utility>
#include <vector>

#include "families.hpp"
#include "trainplan/io/model_families.hpp"

namespace trainplan {
namespace {

void add(std::string& out, const std::string& words) { out.append(out.empty() ? "" : ", ").append(words); }

/// "x" where it always holds, "x by key" or "x unless key" where a key decides; nothing where it never does.
std::string when(const Switch& s, const std::string& what) {
  if (s.key.empty()) return s.otherwise ? what : "";
  return what + (s.inverted ? " unless " : " by ") + std::string(s.key);
}

std::string attention_of(const Family& f) {
  std::string out;
  switch (f.attention) {
    case Heads::Grouped:
    case Heads::GroupedGiven: out = "grouped"; break;
    case Heads::MultiQueryKey: out = "multi-query by multi_query"; break;
    case Heads::MultiQueryFlag: out = "grouped by multi_query_attention"; break;
    case Heads::AttentionType: out = "by attn_config"; break;
    case Heads::Falcon: out = "multi-query, grouped by new_decoder_architecture"; break;
    case Heads::Latent: out = "latent (MLA)"; break;
  }
  if (f.qk_norm == QkNorm::PerHead) add(out, when(f.qk_norm_on, "norm of every query and key"));
  if (f.qk_norm == QkNorm::AllHeads) add(out, when(f.qk_norm_on, "norm over all queries and keys"));
  if (f.sinks) add(out, "a sink for each head");
  switch (f.windows) {
    case Windows::None: break;
    case Windows::All: add(out, "windows by sliding_window"); break;
    case Windows::BySwitch: add(out, "windows by use_sliding_window"); break;
    case Windows::Periodic:
      add(out, "windows in all but one of " + std::to_string(f.window_period) + " layers");
      break;
    case Windows::Chunks: add(out, "chunks except where no_rope_layers is 0"); break;
    case Windows::Listed: add(out, "windows by attention_types"); break;
  }
  return out;
}

std::string mlp_of(const Family& f) {
  std::string out = f.mlp_matrices == 3 ? "gated" : "plain";
  switch (f.sparsity) {
    case Sparsity::None: break;
    case Sparsity::Every: add(out, f.experts_optional ? "experts where given" : "experts"); break;
    case Sparsity::AfterFirst: add(out, "experts after first_k_dense_replace layers"); break;
    case Sparsity::ByStep: add(out, "experts by decoder_sparse_step, mlp_only_layers"); break;
    case Sparsity::Interleaved: add(out, "experts by interleave_moe_layer_step, moe_layers"); break;
    case Sparsity::Range:
      add(out, "experts from moe_layer_start_index to moe_layer_end_index by moe_layer_interval");
      break;
  }
  if (f.sparsity != Sparsity::None && !f.own_expert_width) out += " (each of intermediate_size)";
  switch (f.shared) {
    case Shared::None: break;
    case Shared::Count:
    case Shared::Width: add(out, "shared ones"); break;
    case Shared::GatedWidth: add(out, "a gated shared one"); break;
    case Shared::One: add(out, "one shared"); break;
    case Shared::MlpInstead: add(out, "MLP of shared_intermediate_size"); break;
  }
  if (f.ffn_divisor > 1) add(out, "intermediate_size is twice the width");
  if (f.block == Block::Parallel) add(out, "beside attention");
  if (f.mtp) add(out, "MTP blocks");
  return out;
}

std::string norms_of(const Family& f) {
  const std::string kind = f.norm_vectors == 0 ? " without weights" : f.norm_vectors == 2 ? " with bias" : "";
  std::string out = std::to_string(f.block_norms) + kind;
  if (f.block == Block::Falcon) out = "1 or 2 with bias, by parallel_attn and new_decoder_architecture";
  if (f.block == Block::ResidualOneNorm) out += ", 1 by use_parallel_residual";
  if (!f.norm_bias.key.empty()) add(out, when(f.norm_bias, "bias"));
  return out;
}

std::string biases_of(const Family& f) {
  const bool whole = f.qkv_bias.key == f.output_bias.key && f.qkv_bias.otherwise == f.output_bias.otherwise;
  std::string out;
  const std::string parts[] = {whole ? when(f.qkv_bias, "attention") : when(f.qkv_bias, "q, k, v"),
                               whole ? "" : when(f.output_bias, "output"),
                               when(f.mlp_bias, "MLP"),
                               when(f.head_bias, "head"),
                               f.router_bias ? "router" : "",
                               f.expert_bias ? "experts" : ""};
  for (const std::string& words : parts)
    if (!words.empty()) add(out, words);
  return out.empty() ? "none" : out;
}

std::string tables_of(const Family& f) {
  std::string out = f.tied ? "tied" : "untied";
  switch (f.position_table) {
    case Positions::None: break;
    case Positions::Table:
    case Positions::TablePlusTwo: add(out, "learned positions"); break;
    case Positions::TableUnlessAlibi: add(out, "learned positions unless alibi"); break;
  }
  if (f.embedding_norm) add(out, "norm on the embedding");
  if (f.projected_tables) add(out, "projections by word_embed_proj_dim");
  return out;
}

}  // namespace

std::vector<FamilyRow> list_families() {
  std::vector<FamilyRow> out;
  for (const Family& f : families()) {
    std::string types;
    for (const std::string_view type : f.types)
      if (!type.empty()) add(types, std::string(type));
    out.push_back({std::move(types), attention_of(f), mlp_of(f), norms_of(f), biases_of(f), tables_of(f)});
  }
  return out;
}

}  // namespace trainplan
