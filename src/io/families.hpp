/// The model families as rows: what a config.json does not say because its model_type says it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "trainplan/spec/model.hpp"

namespace trainplan {

/// What a key says, else `otherwise`; without a key always that. inverted: true switches the thing off.
struct Switch {
  bool otherwise = false;
  std::string_view key{};
  bool inverted = false;
};

/// How many key-value heads there are, and how wide a head is.
enum class Heads : std::uint8_t {
  Grouped,         // num_key_value_heads, else as many as query heads
  GroupedGiven,    // num_key_value_heads must be given: the class fills in another number than the heads
  MultiQueryKey,   // multi_query: one, unless it is false
  MultiQueryFlag,  // multi_query_attention and multi_query_group_num
  AttentionType,   // attn_config.attn_type and attn_config.kv_n_heads
  Falcon,          // new_decoder_architecture and multi_query
  Latent,          // multi-head latent attention
};

/// Which layers have routed experts.
enum class Sparsity : std::uint8_t {
  None,
  Every,
  AfterFirst,   // first_k_dense_replace, moe_layer_freq
  ByStep,       // decoder_sparse_step, mlp_only_layers
  Interleaved,  // interleave_moe_layer_step, moe_layers
  Range,        // moe_layer_start_index, moe_layer_end_index, moe_layer_interval
};

/// The experts that every token visits.
enum class Shared : std::uint8_t {
  None,
  Count,       // so many of the width of a routed expert
  Width,       // their width is a key, 0 or null: none
  GatedWidth,  // the same behind a gate
  One,         // one of the width of a routed expert
  MlpInstead,  // the width is a key; without routed experts it is the MLP
};

/// Layers that do not attend to all earlier positions.
enum class Windows : std::uint8_t {
  None,
  All,       // sliding_window, unless null
  BySwitch,  // use_sliding_window, from layer max_window_layers on
  Periodic,  // every n-th layer attends to all positions
  Chunks,    // attention_chunk_size, except where no_rope_layers has a 0
  Listed,    // attention_layers or attention_types name global and local layers
};

/// Attention and MLP one after the other, or side by side on one input.
enum class Block : std::uint8_t {
  Sequential,
  Parallel,
  ResidualKey,      // use_parallel_residual, else parallel
  ResidualOneNorm,  // use_parallel_residual, else sequential; one norm when parallel
  Falcon,           // parallel_attn; the norms by new_decoder_architecture and num_ln_in_parallel_attn
};

enum class Positions : std::uint8_t { None, Table, TablePlusTwo, TableUnlessAlibi };

/// ffn_of_hidden: MLP width when no key gives it, as a multiple of hidden_size; 0: it must be given.
/// ffn_divisor: the key holds so many times the width. head_dim, positions, window, window_period,
/// dense_first: what holds when their keys are missing, 0: what hidden_size says, or they must be given.
struct Family {
  std::array<std::string_view, 6> types{}, architectures{};
  Heads attention = Heads::Grouped;
  Switch qkv_bias{}, output_bias{}, mlp_bias{}, head_bias{};
  QkNorm qk_norm = QkNorm::None;
  Switch qk_norm_on{true};
  Block block = Block::Sequential;
  int mlp_matrices = 3, norm_vectors = 1, block_norms = 2;
  Switch norm_bias{};  // where a switch decides whether norms have a bias
  int ffn_of_hidden = 0, ffn_divisor = 1, head_dim = 0;
  bool tied = false, embedding_norm = false;
  Positions position_table = Positions::None;
  int positions = 0;
  bool projected_tables = false;  // word_embed_proj_dim and do_layer_norm_before are read
  Sparsity sparsity = Sparsity::None;
  Shared shared = Shared::None;
  bool router_bias = false, expert_bias = false, sinks = false, experts_optional = false;
  bool own_expert_width = true;  // moe_intermediate_size, else intermediate_size is the expert's
  int dense_first = 0;
  Windows windows = Windows::None;
  int window = 0, window_period = 0;
  bool mtp = false;

  std::string_view name() const { return types[0]; }
};

std::span<const Family> families();

/// The row with that model_type or that architecture, else nullptr.
const Family* family_of_type(std::string_view model_type);
const Family* family_of_architecture(std::string_view architecture);

/// Every model_type, in the order of the rows.
std::vector<std::string_view> family_types();

}  // namespace trainplan
