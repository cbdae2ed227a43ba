/// What must hold for a spec before anything is computed from it. Every broken rule is reported.
#pragma once

#include <cstdint>
#include <string>

#include "trainplan/spec/calibration.hpp"
#include "trainplan/spec/cluster.hpp"
#include "trainplan/spec/model.hpp"
#include "trainplan/spec/validate_framework.hpp"
#include "trainplan/spec/validate_run.hpp"
#include "trainplan/spec/validator.hpp"

namespace trainplan {

inline constexpr std::int64_t kMaxExperts = std::int64_t{1} << 16;  // of one layer

/// Attention: one kind of widths or the other.
inline void validate_attention(Validator& v, const ModelSpec& m) {
  const bool heads = v.range("/num_attention_heads", m.heads, 1, kMaxHeads);
  if (m.is_latent()) {
    const LatentAttention& a = m.latent;
    v.range("/q_lora_rank", a.q_rank, 0, kMaxWidth);
    v.range("/kv_lora_rank", a.kv_rank, 1, kMaxWidth);
    v.range("/qk_nope_head_dim", a.nope_dim, 1, kMaxWidth);
    v.range("/qk_rope_head_dim", a.rope_dim, 1, kMaxWidth);
    v.range("/v_head_dim", a.v_dim, 1, kMaxWidth);
    v.range("/index_n_heads", a.index_heads, 0, kMaxHeads);
    v.range("/index_head_dim", a.index_dim, a.index_heads > 0 ? 1 : 0, kMaxWidth);
    return;
  }
  const bool groups = v.range("/num_key_value_heads", m.kv_heads, 1, kMaxHeads);
  v.range("/head_dim", m.head_dim, 1, kMaxHeads);
  if (!heads || !groups || m.heads % m.kv_heads == 0) return;
  const std::int64_t near =
      nearest_that(m.kv_heads, m.heads, [&](std::int64_t n) { return m.heads % n == 0; });
  v.fail({.rule = "kv-heads-divide-heads",
          .pointer = "/num_key_value_heads",
          .got = std::to_string(m.kv_heads),
          .must = "divide num_attention_heads = " + std::to_string(m.heads),
          .hint = "try " + std::to_string(near)});
}

/// Routed experts, and the dense MLP of the layers that have none.
inline void validate_experts(Validator& v, const ModelSpec& m) {
  const bool dense = m.pattern.empty() || m.sparse_layers() < m.layers;
  v.range("/intermediate_size", m.ffn, dense ? 1 : 0, kMaxWidth);
  if (!m.is_sparse()) return;
  v.range("/num_experts", m.experts.count, 1, kMaxExperts);
  v.range("/moe_intermediate_size", m.experts.width, 1, kMaxWidth);
  v.range("/n_shared_experts", m.experts.shared_width, 0, kMaxWidth);
  v.range("/num_experts_per_tok", m.experts.per_token, 1, m.experts.count);
}

/// The list of layers is empty or complete, and says nothing that the rest of the shape does not know.
inline void validate_pattern(Validator& v, const ModelSpec& m) {
  const auto fail = [&](std::string got, std::string must) {
    v.fail({.rule = "layer-list",
            .pointer = "/layer_types",
            .got = std::move(got),
            .must = std::move(must),
            .hint = "give one entry for each layer"});
  };
  if (m.pattern.empty()) {
    if (m.is_sparse()) fail("no list of layers", "say which layers have routed experts");
    return;
  }
  if (static_cast<std::int64_t>(m.pattern.size()) != m.layers)
    return fail(std::to_string(m.pattern.size()) + " layers",
                "have num_hidden_layers = " + std::to_string(m.layers));
  for (const LayerKind& k : m.pattern) {
    if (k.sparse && !m.is_sparse()) return fail("a sparse layer", "have routed experts in the model");
    if (k.span != Span::All && (k.positions < 1 || k.positions > kMaxVocab))
      return fail(std::to_string(k.positions),
                  "have windows from 1 to " + std::to_string(kMaxVocab) + " positions");
  }
}

inline bool validate(const ModelSpec& m, Issues& issues) {
  Validator v{issues, m.origin};
  v.range("/hidden_size", m.hidden, 1, kMaxWidth);
  const bool layers = v.range("/num_hidden_layers", m.layers, 1, kMaxLayers);
  validate_attention(v, m);
  if (layers) validate_pattern(v, m);
  if (v.ok())
    validate_experts(v, m);
  else
    v.range("/intermediate_size", m.ffn, 0, kMaxWidth);
  v.range("/vocab_size", m.vocab, 1, kMaxVocab);
  v.range("/max_position_embeddings", m.max_positions, 1, kMaxVocab);
  v.range("/learned_positions", m.learned_positions, 0, kMaxVocab + 2);
  v.range("/word_embed_proj_dim", m.table_width, 0, kMaxWidth);
  v.range("/num_nextn_predict_layers", m.mtp_layers, 0, kMaxLayers);
  v.range("/mlp_matrices", m.mlp_matrices, 2, 3);
  v.range("/norm_vectors", m.norm_vectors, 0, 2);
  v.range("/block_norms", m.block_norms, 1, 4);
  return v.ok();
}

inline void validate_accelerator(Validator& v, const Accelerator& a) {
  v.required("/accelerator/bf16_dense", a.bf16_dense);
  v.positive("/accelerator/fp8_dense", a.fp8_dense);
  v.positive("/accelerator/fp4_dense", a.fp4_dense);
  v.required("/accelerator/memory", a.memory);
  v.required("/accelerator/usable_memory", a.usable_memory);
  v.required("/accelerator/memory_bandwidth", a.memory_bandwidth);
  v.not_negative("/accelerator/scale_up/bandwidth", a.scale_up_bandwidth);  // 0 on a card without a link
  v.positive("/accelerator/nic", a.nic);
  v.positive("/accelerator/host_link", a.host_link);
  v.positive("/accelerator/tdp", a.tdp);
  v.range("/accelerator/scale_up/domain", a.scale_up_domain, 1, kMaxRanks);
  // A card sold as 80 GB may show 79.6 GiB, so the nominal figure is no sharp bound.
  if (a.memory.known && a.usable_memory.known && a.usable_memory.value > 1.1 * a.memory.value)
    v.figure("/accelerator/usable_memory", a.usable_memory, "usable-memory",
             "be at most 1.1 x memory = " + shown(1.1 * a.memory.value) + " bytes", "compare with memory");
}

inline bool validate(const ClusterSpec& c, Issues& issues) {
  Validator v{issues, c.origin};
  validate_accelerator(v, c.accelerator);
  const bool nodes = v.range("/nodes", c.nodes, 1, kMaxRanks);
  const bool width = v.range("/gpus_per_node", c.gpus_per_node, 1, kMaxNodeWidth);
  const bool domain = v.range("/scale_up_domain", c.scale_up_domain, 1, kMaxRanks);
  if (nodes && width && domain) {
    const bool nested = c.scale_up_domain % c.gpus_per_node == 0 || c.gpus_per_node % c.scale_up_domain == 0;
    if (!nested || c.gpus() % c.scale_up_domain != 0)
      v.fail({.rule = "scale-up-domain",
              .pointer = "/scale_up_domain",
              .got = std::to_string(c.scale_up_domain),
              .must = "divide the " + std::to_string(c.gpus()) + " GPUs, and divide gpus_per_node = " +
                      std::to_string(c.gpus_per_node) + " or be a multiple of it",
              .hint = "try " + std::to_string(c.gpus_per_node)});
    if (c.scale_up_domain > 1)
      v.required("/accelerator/scale_up/bandwidth", c.accelerator.scale_up_bandwidth);
    if (c.gpus() > c.scale_up_domain) v.required("/nic_per_gpu", c.nic_per_gpu);
    if (c.gpus_per_node > c.scale_up_domain) v.required("/pcie", c.pcie);
  }
  v.positive("/pcie", c.pcie);
  v.positive("/host/link", c.host_link);
  v.positive("/host/memory", c.host_memory);
  v.positive("/host/memory_bandwidth", c.host_bandwidth);
  v.positive("/storage/write", c.storage_write);
  v.positive("/storage/read", c.storage_read);
  v.positive("/reliability/gpu_mtbf", c.gpu_mtbf);
  v.positive("/reliability/detect", c.detect);
  v.positive("/reliability/restart", c.restart);
  v.positive("/reliability/load", c.load);
  v.positive("/price", c.price);
  return v.ok();
}

/// Rates and factors are above 0: times are divided by them.
inline void validate_time(Validator& v, const TimeConstants& t) {
  v.rate("/time/memory_rate", t.memory_rate);
  v.required("/time/gemm_half_depth", t.gemm_half_depth);
  v.required("/time/kernel_start", t.kernel_start);
  v.required("/time/attention_half_length", t.attention_half_length);
  v.rate("/time/scale_up_rate", t.scale_up_rate);
  v.rate("/time/nic_rate", t.nic_rate);
  v.rate("/time/host_link_rate", t.host_link_rate);
  v.rate("/time/host_memory_rate", t.host_memory_rate);
  v.required("/time/ring_step", t.ring_step);
  v.share("/time/tp_overlap_hidden", t.tp_overlap_hidden);
  v.share("/time/ep_overlap_hidden", t.ep_overlap_hidden);
  v.share("/time/overlap_slowdown", t.overlap_slowdown);
  v.not_negative("/time/step_fixed", t.step_fixed);
  v.share("/time/straggler_growth", t.straggler_growth);
}

inline void validate_constants(Validator& v, const std::string& at, const AcceleratorConstants& a) {
  v.rate(at + "/gemm", a.gemm);
  if (a.low_gemm) v.rate(at + "/low_gemm", a.low_gemm);
  v.rate(at + "/attention", a.attention);
}

/// Both ends are known, in order.
inline void validate_range(Validator& v, const std::string& at, const ErrorClass& c) {
  v.required(at + "/low", c.low);
  v.required(at + "/high", c.high);
  if (c.low.known && c.high.known && !(c.low.value < c.high.value))
    v.figure(at + "/high", c.high, "range-order", "be above the low end " + shown(c.low.value),
             "give the smaller factor as \"low\"");
}

/// A confidence between those that a normal distribution can be scaled to.
inline void validate_ranges(Validator& v, const ErrorRanges& r) {
  v.rate("/ranges/confidence", r.confidence);
  if (r.confidence.known) v.real("/ranges/confidence", r.confidence.value, kLeastConfidence, kMostConfidence);
  for (std::size_t i = 0; i < kTimeClasses; ++i)
    validate_range(v, "/ranges/time/" + std::string(kTimeClassNames[i]), r.time[i]);
  validate_range(v, "/ranges/accelerator", r.accelerator);
  for (std::size_t i = 0; i < kMemoryClasses; ++i)
    validate_range(v, "/ranges/memory/" + std::string(kMemoryClassNames[i]), r.memory[i]);
}

inline bool validate(const Calibration& c, Issues& issues) {
  Validator v{issues, "calibration"};
  v.required("/cuda_context", c.cuda_context);
  v.required("/communicators", c.communicators);
  v.required("/capacity_gate", c.capacity_gate);
  v.share("/capacity_gate", c.capacity_gate);
  v.share("/allocator_slack", c.allocator_slack);
  v.share("/planning_margin", c.planning_margin);
  v.share("/interleave_bubble_target", c.interleave_bubble_target);
  v.share("/plan_difference", c.plan_difference);
  validate_time(v, c.time);
  for (const AcceleratorConstants& a : c.accelerators) validate_constants(v, "/accelerators/" + a.id, a);
  validate_constants(v, "/accelerators/other", c.other_accelerator);
  for (std::size_t i = 0; i < kStackCount; ++i) {
    const std::string at = "/stacks/" + std::string(kStackNames[i]);
    v.not_negative(at + "/host_per_layer", c.stacks[i].host_per_layer);
    v.required(at + "/slowdown", c.stacks[i].slowdown);
    v.not_negative(at + "/expert_overhead", c.stacks[i].expert_overhead);
  }
  validate_ranges(v, c.ranges);
  return v.ok();
}

}  // namespace trainplan
