/// A decoder-only transformer as its config.json describes it.
#pragma once

#include <cstdint>
#include <string>

namespace trainplan {

/// Names in the comments are the config.json keys. Widths count elements.
struct ModelSpec {
  std::string name, origin, family;
  std::int64_t hidden = 0;             // hidden_size
  std::int64_t layers = 0;             // num_hidden_layers
  std::int64_t heads = 0;              // num_attention_heads
  std::int64_t kv_heads = 0;           // num_key_value_heads
  std::int64_t head_dim = 0;           // head_dim, else hidden / heads
  std::int64_t ffn = 0;                // intermediate_size
  std::int64_t vocab = 0;              // vocab_size
  std::int64_t max_positions = 0;      // max_position_embeddings
  std::int64_t learned_positions = 0;  // rows of a learned position table, 0 with rotary positions
  int mlp_matrices = 3;                // 3 gated (SwiGLU), 2 plain (GELU)
  int norm_vectors = 1;                // 1 RMSNorm (weight), 2 LayerNorm (weight and bias)
  bool tied = false;                   // tie_word_embeddings
  bool qkv_bias = false, output_bias = false, mlp_bias = false;
  bool qk_norm = false;  // a norm of head_dim on queries and on keys

  std::int64_t query_width() const { return heads * head_dim; }
  std::int64_t kv_width() const { return kv_heads * head_dim; }
};

}  // namespace trainplan
