/// Where frameworks differ in what they refuse and offer, and where their sources say so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainplan {

/// What the ranks of routed experts (etp x ep) must divide: the GPUs of a stage, the ranks of a shard group
/// with tp, or the data-parallel ranks.
enum class ExpertMesh : std::uint8_t { Gpus, ShardRanks, DataParallel };

struct FrameworkRules {
  ExpertMesh expert_mesh = ExpertMesh::Gpus;
  std::int64_t chunks_per_cp_rank = 2;  // pieces of a sequence on each context-parallel rank
  bool tp_divides_chunk = false;        // sequence parallelism cuts each piece, not a rank's whole share
  bool sequence_parallel = true;        // offered
  bool experts_need_sequence_parallel = false;
  bool uneven_vocabulary = false;             // tp ranks may hold parts of different size
  bool latent_ranks_over_tp = false;          // down projections of latent attention are cut over tp
  bool replicates_key_value_over_cp = false;  // all-to-all ranks may outnumber the key-value heads
  bool micro_batches_cover_stages = false;    // one stage a rank needs m >= pp
  bool interleaves_in_rounds = false;         // m in equal rounds of at least pp, not in groups of pp
  std::int64_t interleaving_stages = 2;       // fewest pp that interleave
  bool ring = true, all_to_all = true, all_gather = true, tp_overlap = true, ep_overlap = true, fp16 = true;
  bool split_needs_eager = false;                            // split backward passes and torch.compile
  bool recompute_layers = true;                              // whole layers, a number of them
  std::vector<std::pair<std::string, std::string>> sources;  // id of a rule -> file and version

  std::string_view source(std::string_view id) const {
    for (const auto& [rule, source] : sources)
      if (rule == id) return source;
    return {};
  }
};

}  // namespace trainplan
