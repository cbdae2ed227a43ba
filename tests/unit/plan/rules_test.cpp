#include "trainplan/plan/rules.hpp"

#include <set>
#include <string>

#include "catch.hpp"
#include "problems.hpp"

using namespace trainplan;
using problems::Draft;

namespace {

struct Asked : Draft {
  Plan plan = problems::main_plan();
};
using Change = void (*)(Asked&);

/// Four experts a rank; 128 of them, each 4,096 wide, in every layer of the main model.
void with_experts(Asked& a) {
  a.model.experts = {.count = 128, .per_token = 8, .width = 4096};
  a.model.pattern.assign(static_cast<std::size_t>(a.model.layers), LayerKind{.sparse = true});
}
/// The plan in another framework, without what only Megatron-LM has.
void in_framework(Asked& a, const char* name) {
  a.framework = *problems::framework(name);
  a.plan.vpp = 1;
  a.plan.schedule = Schedule::OneFOneB;
  a.plan.sharding = a.framework.default_sharding;
  a.recipe.gradient = a.recipe.reduce = a.framework.default_gradient;
}

/// Both changes start from the legal main plan. `also`: further rules that the failing plan cannot help
/// breaking.
struct Row {
  std::string_view rule;
  Change passes, fails;
  std::string also = "";
};

void degrees(Asked& a, std::uint16_t tp, std::uint16_t pp, std::uint16_t cp, std::uint32_t dp) {
  a.plan.tp = tp;
  a.plan.pp = pp;
  a.plan.cp = cp;
  a.plan.dp = dp;
  a.plan.shard = dp * cp;
}
void no_interleaving(Asked& a) {
  a.plan.vpp = 1;
  a.plan.schedule = Schedule::OneFOneB;
}
/// A model that 1, 3, 4, 6, 8 and 12 ranks may cut, except for what a row changes; 1,152 GPUs take 3 ranks.
void cut_by_threes(Asked& a) {
  a.model.heads = 96;
  a.model.kv_heads = 24;
  a.model.hidden = 12288;
  a.model.head_dim = 128;
  a.model.ffn = 36864;
  a.cluster.nodes = 144;
}

/// Without a pipeline, with activations of four layers on the host.
void offloaded_layers(Asked& a) {
  degrees(a, 8, 1, 1, 128);
  no_interleaving(a);
  a.recipe.offload.layers = 4;
}
/// ZeRO-3 with everything on the host.
void fully_offloaded(Asked& a) {
  in_framework(a, "deepspeed");
  degrees(a, 8, 1, 1, 128);
  a.plan.sharding = Sharding::Zero3;
  a.recipe.offload.optimizer = 1;
  a.recipe.offload.weights = true;
}

const Row kRows[] = {
    {"tp-divides-gpus",
     [](Asked& a) {
       degrees(a, 4, 4, 1, 64);
       a.recipe.sequence = 8192;
     },
     [](Asked& a) {
       cut_by_threes(a);
       a.cluster.nodes = 128;
       degrees(a, 3, 1, 1, 341);
       no_interleaving(a);
       a.recipe.global_batch = 341;
     },
     "tp-divides-sequence"},
    {"pp-divides-gpus",
     [](Asked& a) {
       degrees(a, 8, 16, 1, 8);
       a.plan.vpp = 5;
     },
     [](Asked& a) {
       degrees(a, 8, 5, 1, 25);
       a.recipe.global_batch = 500;
     }},
    {"cp-divides-gpus", [](Asked& a) { degrees(a, 8, 4, 4, 8); },
     [](Asked& a) {
       degrees(a, 8, 4, 3, 10);
       a.recipe.sequence = 24 * 342;
       a.recipe.global_batch = 160;
     }},
    {"dp-is-the-rest", [](Asked& a) { degrees(a, 8, 4, 2, 16); }, [](Asked& a) { degrees(a, 8, 4, 1, 16); }},
    {"tp-divides-heads",
     [](Asked& a) {
       a.model.heads = 72;
       a.model.kv_heads = 8;
     },
     [](Asked& a) {
       a.model.heads = 76;
       a.model.kv_heads = 4;
     }},
    {"tp-fits-kv-heads", [](Asked& a) { degrees(a, 16, 4, 1, 16); },  // 8 KV heads on 16 ranks: each on two
     [](Asked& a) {
       cut_by_threes(a);
       a.model.kv_heads = 12;
       degrees(a, 8, 4, 1, 36);
       a.recipe.global_batch = 576;
     }},
    {"tp-divides-ffn", [](Asked& a) { a.model.ffn = 28680; }, [](Asked& a) { a.model.ffn = 28676; }},
    {"tp-divides-hidden", [](Asked& a) { a.model.hidden = 8200; }, [](Asked& a) { a.model.hidden = 8196; }},
    {"tp-divides-vocabulary", [](Asked& a) { a.model.vocab = 128257; },  // padded to a multiple of 1,024
     [](Asked& a) {
       a.model.vocab = 128257;
       a.framework.vocabulary_times_tp = false;  // to a multiple of an odd number alone
       a.framework.vocabulary_multiple = 129;
     }},
    {"pp-divides-layers",
     [](Asked& a) {
       a.model.layers = 126;
       a.plan.layout = Layout::EmbeddingAndLoss;
       degrees(a, 8, 16, 1, 8);
     },
     [](Asked& a) {
       a.model.layers = 81;
       no_interleaving(a);
     }},
    {"pp-divides-layers",
     [](Asked& a) {
       a.model.layers = 82;
       a.plan.layout = Layout::EmbeddingAndLoss;
       a.plan.vpp = 3;
     },
     [](Asked& a) {
       a.model.layers = 82;
       a.plan.layout = Layout::EmbeddingAndLoss;
       a.plan.vpp = 3;
       a.framework.uneven_stages = UnevenStages::None;
     }},
    {"vpp-divides-stage", [](Asked& a) { a.plan.vpp = 5; }, [](Asked& a) { a.plan.vpp = 3; }},
    {"vpp-needs-interleaving",
     [](Asked& a) {
       degrees(a, 8, 1, 1, 128);
       no_interleaving(a);
     },
     [](Asked& a) { degrees(a, 8, 1, 1, 128); }},
    {"vpp-needs-interleaving",
     [](Asked& a) {
       a.framework.interleaving = false;
       no_interleaving(a);
     },
     [](Asked& a) { a.framework.interleaving = false; }},
    {"schedule-matches-vpp", [](Asked&) {}, [](Asked& a) { a.plan.schedule = Schedule::OneFOneB; }},
    {"schedule-matches-vpp", [](Asked& a) { no_interleaving(a); }, [](Asked& a) { a.plan.vpp = 1; }},
    {"recompute-layers-per-chunk",
     [](Asked& a) {
       a.plan.recompute = Recompute::Layers;
       a.plan.recompute_layers = 8;
     },
     [](Asked& a) {
       a.plan.recompute = Recompute::Layers;
       a.plan.recompute_layers = 6;
     }},
    {"batch-divides", [](Asked& a) { a.recipe.global_batch = 640; },
     [](Asked& a) { a.recipe.global_batch = 528; }},                        // 16.5 rounds of 32
    {"interleaving-groups", [](Asked& a) { a.recipe.global_batch = 128; },  // m = pp = 4
     [](Asked& a) { a.recipe.global_batch = 64; }},
    {"interleaving-groups",
     [](Asked& a) {
       a.recipe.global_batch = 192;
       no_interleaving(a);
     },
     [](Asked& a) { a.recipe.global_batch = 192; }},  // m = 6 in groups of 4
    {"cp-divides-sequence",
     [](Asked& a) {
       degrees(a, 8, 4, 2, 16);
       a.recipe.sequence = 4 * 8 * 3;
     },
     [](Asked& a) {
       degrees(a, 1, 4, 2, 128);
       a.plan.sequence_parallel = false;
       a.recipe.sequence = 4 * 1000 + 2;
     }},
    {"tp-divides-sequence",
     [](Asked& a) {
       a.recipe.sequence = 4100;
       a.plan.sequence_parallel = false;
     },
     [](Asked& a) { a.recipe.sequence = 4100; }},
    {"all-to-all-divides-heads",
     [](Asked& a) {
       degrees(a, 4, 4, 2, 32);
       a.recipe.cp_mode = CpMode::AllToAll;
     },
     [](Asked& a) {
       degrees(a, 8, 4, 2, 16);
       a.recipe.cp_mode = CpMode::AllToAll;
     }},
    {"sharding-is-known", [](Asked& a) { a.plan.sharding = Sharding::None; },
     [](Asked& a) { a.plan.sharding = Sharding::Zero2; }},
    {"sharding-allows-pipeline",
     [](Asked& a) {
       a.framework.shardings[1].with_pipeline = false;
       degrees(a, 8, 1, 1, 128);
       no_interleaving(a);
     },
     [](Asked& a) { a.framework.shardings[1].with_pipeline = false; }},
    {"shard-group-divides", [](Asked& a) { a.plan.shard = 8; }, [](Asked& a) { a.plan.shard = 12; }},
    {"recompute-layers-fit",
     [](Asked& a) {
       a.plan.recompute = Recompute::Layers;
       a.plan.recompute_layers = 20;
     },
     [](Asked& a) {
       a.plan.recompute = Recompute::Layers;
       a.plan.recompute_layers = 24;
     }},
    {"recompute-layers-fit",
     [](Asked& a) {
       a.plan.recompute = Recompute::Layers;
       a.plan.recompute_layers = 4;
     },
     [](Asked& a) {
       a.plan.recompute = Recompute::Layers;
       a.plan.recompute_layers = 0;
     }},
    {"tp-divides-vocabulary",
     [](Asked& a) {
       a.model.vocab = 128257;
       a.framework.vocabulary_times_tp = false;
       a.framework.vocabulary_multiple = 1;
       a.framework.rules.uneven_vocabulary = true;
     },
     [](Asked& a) {
       a.model.vocab = 128257;
       a.framework.vocabulary_times_tp = false;
       a.framework.vocabulary_multiple = 1;
     }},
    {"tp-fits-kv-heads", [](Asked& a) { degrees(a, 16, 4, 1, 16); },
     [](Asked& a) {  // 8 KV heads on 16 ranks need copies
       degrees(a, 16, 4, 1, 16);
       a.framework.replicates_key_value = false;
     }},
    {"tp-divides-latent-ranks",
     [](Asked& a) {
       a.model.latent = {.q_rank = 1536, .kv_rank = 512, .nope_dim = 128, .rope_dim = 64, .v_dim = 128};
       a.framework.rules.latent_ranks_over_tp = true;
     },
     [](Asked& a) {
       a.model.latent = {.q_rank = 1536, .kv_rank = 512, .nope_dim = 128, .rope_dim = 60, .v_dim = 128};
       a.framework.rules.latent_ranks_over_tp = true;
     }},
    {"tp-divides-shared-experts",
     [](Asked& a) {
       with_experts(a);
       a.model.experts.shared_width = 4096;
     },
     [](Asked& a) {
       with_experts(a);
       a.model.experts.shared_width = 4100;
     }},
    {"tp-overlap-is-offered",
     [](Asked& a) {
       a.framework.rules.tp_overlap = false;
       a.recipe.tp_overlap = false;
     },
     [](Asked& a) { a.framework.rules.tp_overlap = false; }},
    {"first-and-last-layers-fit",
     [](Asked& a) {
       a.plan.layout = Layout::FirstAndLast;
       a.plan.first_layers = a.plan.last_layers = 16;
     },
     [](Asked& a) {
       a.plan.layout = Layout::FirstAndLast;
       a.plan.first_layers = 16;
       a.plan.last_layers = 17;
     }},
    {"vpp-needs-interleaving",
     [](Asked& a) {
       degrees(a, 8, 2, 1, 64);
       a.recipe.global_batch = 512;
     },
     [](Asked& a) {  // as without overlapped sends
       degrees(a, 8, 2, 1, 64);
       a.framework.rules.interleaving_stages = 3;
     }},
    {"schedule-is-offered",
     [](Asked& a) {
       degrees(a, 8, 1, 1, 128);
       no_interleaving(a);
       a.plan.schedule = Schedule::GPipe;
     },
     [](Asked& a) {
       no_interleaving(a);
       a.plan.schedule = Schedule::GPipe;
     }},
    {"ep-needs-experts",
     [](Asked& a) {
       with_experts(a);
       a.plan.ep = 8;
     },
     [](Asked& a) { a.plan.ep = 8; }},
    {"ep-divides-experts",
     [](Asked& a) {
       with_experts(a);
       a.plan.ep = 16;
     },
     [](Asked& a) {
       with_experts(a);
       a.model.experts.count = 120;
       a.plan.ep = 16;
     }},
    {"expert-grid-divides-gpus",
     [](Asked& a) {
       with_experts(a);
       a.plan.ep = 64;
       a.plan.etp = 4;
     },
     [](Asked& a) {  // 4 x 128 x 4 on 1,024
       with_experts(a);
       a.plan.ep = 128;
       a.plan.etp = 4;
     }},
    {"ep-divides-dp",
     [](Asked& a) {
       with_experts(a);
       in_framework(a, "deepspeed");
       a.plan.ep = 32;
     },
     [](Asked& a) {
       with_experts(a);
       in_framework(a, "deepspeed");
       a.plan.ep = 64;
     }},
    {"expert-shards-are-whole",
     [](Asked& a) {  // 256 ranks of a stage: ep 128 is more than dp
       with_experts(a);
       in_framework(a, "torchtitan");
       a.plan.ep = 128;
     },
     [](Asked& a) {
       with_experts(a);
       in_framework(a, "torchtitan");
       a.plan.sharding = Sharding::Hsdp;
       a.plan.shard = 8;
       a.plan.ep = 128;
     }},
    {"etp-needs-framework",
     [](Asked& a) {
       with_experts(a);
       a.plan.etp = 2;
     },
     [](Asked& a) {
       with_experts(a);
       in_framework(a, "torchtitan");
       a.plan.etp = 2;
     }},
    {"etp-divides-expert-width",
     [](Asked& a) {
       with_experts(a);
       a.plan.etp = 8;
     },
     [](Asked& a) {
       with_experts(a);
       a.model.experts.width = 4100;
       a.plan.etp = 8;
     }},
    {"experts-need-sequence-parallel", [](Asked& a) { with_experts(a); },
     [](Asked& a) {
       with_experts(a);
       a.plan.sequence_parallel = false;
     }},
    {"ep-overlap-needs-stages",
     [](Asked& a) {
       with_experts(a);
       a.recipe.ep_overlap = true;
     },
     [](Asked& a) {
       with_experts(a);
       a.recipe.ep_overlap = true;
       a.plan.recompute = Recompute::Full;
     }},
    {"ep-overlap-is-offered",
     [](Asked& a) {
       with_experts(a);
       a.recipe.ep_overlap = true;
     },
     [](Asked& a) {
       with_experts(a);
       in_framework(a, "deepspeed");
       a.recipe.ep_overlap = true;
     }},
    {"micro-batches-cover-stages",
     [](Asked& a) {
       in_framework(a, "torchtitan");
       a.recipe.global_batch = 128;
     },
     [](Asked& a) {
       in_framework(a, "torchtitan");
       a.recipe.global_batch = 96;
     }},
    {"interleaving-groups",  // m = 6 is one round of a torch schedule, m = 9 would be two
     [](Asked& a) {
       a.recipe.global_batch = 192;
       a.framework.rules.interleaves_in_rounds = true;
     },
     [](Asked& a) {
       a.recipe.global_batch = 288;
       a.framework.rules.interleaves_in_rounds = true;
     }},
    {"tp-divides-sequence",  // 2 x cp 2 x tp 8 where each chunk is cut, else cp 2 x tp 8
     [](Asked& a) {
       degrees(a, 8, 4, 2, 16);
       a.recipe.sequence = 16 * 3;
     },
     [](Asked& a) {
       degrees(a, 8, 4, 2, 16);
       a.recipe.sequence = 16 * 3;
       a.framework.rules.tp_divides_chunk = true;
     }},
    {"cp-divides-sequence",  // all-to-all ranks hold one piece each
     [](Asked& a) {
       in_framework(a, "deepspeed");
       degrees(a, 4, 4, 2, 32);
       a.recipe.cp_mode = CpMode::AllToAll;
       a.recipe.sequence = 8190;
     },
     [](Asked& a) {
       in_framework(a, "deepspeed");
       degrees(a, 4, 4, 2, 32);
       a.recipe.cp_mode = CpMode::AllToAll;
       a.recipe.sequence = 8191;
     }},
    {"all-to-all-divides-heads",  // KV heads may be copied, heads not
     [](Asked& a) {
       in_framework(a, "deepspeed");
       degrees(a, 1, 4, 16, 16);
       a.recipe.cp_mode = CpMode::AllToAll;
     },
     [](Asked& a) {
       in_framework(a, "deepspeed");
       degrees(a, 1, 1, 128, 8);
       a.recipe.cp_mode = CpMode::AllToAll;
     }},
    {"cp-mode-is-offered",
     [](Asked& a) {
       in_framework(a, "deepspeed");
       degrees(a, 4, 4, 2, 32);
       a.recipe.cp_mode = CpMode::AllToAll;
     },
     [](Asked& a) {
       in_framework(a, "deepspeed");
       degrees(a, 4, 4, 2, 32);
     }},
    {"cp-mode-is-offered",
     [](Asked& a) {
       in_framework(a, "torchtitan");
       degrees(a, 4, 4, 2, 32);
       a.recipe.cp_mode = CpMode::AllGather;
     },
     [](Asked& a) {
       in_framework(a, "torchtitan");
       degrees(a, 4, 4, 2, 32);
       a.recipe.cp_mode = CpMode::AllToAll;
     }},
    {"cp-mode-is-offered",
     [](Asked& a) {
       in_framework(a, "torchtitan");
       degrees(a, 4, 4, 1, 64);
     },
     [](Asked& a) {
       in_framework(a, "torchtitan");
       degrees(a, 4, 4, 2, 32);
     }},
    {"sharding-allows-experts",
     [](Asked& a) {
       with_experts(a);
       in_framework(a, "deepspeed");
       degrees(a, 8, 1, 1, 128);
       a.plan.sharding = Sharding::Zero2;
     },
     [](Asked& a) {
       with_experts(a);
       in_framework(a, "deepspeed");
       degrees(a, 8, 1, 1, 128);
       a.plan.sharding = Sharding::Zero3;
     }},
    {"recompute-is-offered",
     [](Asked& a) {
       in_framework(a, "torchtitan");
       a.plan.recompute = Recompute::Full;
     },
     [](Asked& a) {
       in_framework(a, "torchtitan");
       a.plan.recompute = Recompute::Layers;
       a.plan.recompute_layers = 4;
     }},
    {"selective-is-offered", [](Asked& a) { in_framework(a, "deepspeed"); },
     [](Asked& a) {
       in_framework(a, "deepspeed");
       a.plan.recompute = Recompute::Selective;
     }},
    {"precision-is-offered", [](Asked& a) { in_framework(a, "torchtitan"); },
     [](Asked& a) {
       in_framework(a, "torchtitan");
       a.recipe.precision = DType::Fp16;
     }},
    {"matmul-precision-is-offered", [](Asked& a) { a.recipe.matmul = Matmul::Mxfp8; },
     [](Asked& a) { a.recipe.matmul = Matmul::Nvfp4; }},  // an H100 has fp8
    {"matmul-precision-is-offered",
     [](Asked& a) {
       a.recipe.matmul = Matmul::Nvfp4;
       a.cluster.accelerator.fp4_dense = a.cluster.accelerator.fp8_dense;
     },
     [](Asked& a) {
       a.recipe.matmul = Matmul::Fp8;
       a.cluster.accelerator.fp8_dense = {};
     }},
    {"matmul-precision-is-offered", [](Asked&) {},
     [](Asked& a) {
       a.recipe.matmul = Matmul::Fp8;
       for (AcceleratorConstants& c : a.calibration.accelerators)
         if (c.id == a.cluster.accelerator.id) c.low_gemm = {};
     }},
    {"offload-optimizer-is-offered", [](Asked&) {}, [](Asked& a) { a.recipe.offload.optimizer = 1; }},
    {"offload-optimizer-is-offered",
     [](Asked& a) {
       in_framework(a, "megatron-lm-precision-aware");
       a.recipe.offload.optimizer = 0.5;
     },
     [](Asked& a) {
       in_framework(a, "deepspeed");
       a.plan.sharding = Sharding::None;
       a.recipe.offload.optimizer = 1;
     }},
    {"offload-optimizer-is-whole",
     [](Asked& a) {
       in_framework(a, "deepspeed");
       a.recipe.offload.optimizer = 1;
     },
     [](Asked& a) {
       in_framework(a, "deepspeed");
       a.recipe.offload.optimizer = 0.5;
     }},
    {"offload-weights-is-offered", fully_offloaded,
     [](Asked& a) {
       in_framework(a, "deepspeed");
       a.recipe.offload.weights = true;
     }},
    {"offload-goes-together",
     [](Asked& a) {
       in_framework(a, "torchtitan");
       a.recipe.offload.weights = true;
       a.recipe.offload.optimizer = 1;
     },
     [](Asked& a) {
       in_framework(a, "torchtitan");
       a.recipe.offload.optimizer = 1;
     }},
    {"offload-layers-is-offered", [](Asked& a) { in_framework(a, "torchtitan"); },
     [](Asked& a) {
       in_framework(a, "torchtitan");
       a.recipe.offload.layers = 4;
     }},
    {"offload-layers-without-pipeline", offloaded_layers, [](Asked& a) { a.recipe.offload.layers = 4; }},
    {"offload-layers-without-recompute", offloaded_layers,
     [](Asked& a) {
       offloaded_layers(a);
       a.plan.recompute = Recompute::Full;
     }},
    {"offload-layers-leave-one", offloaded_layers,
     [](Asked& a) {
       offloaded_layers(a);
       a.recipe.offload.layers = 80;
     }},
    {"offload-layers-are-recomputed",
     [](Asked& a) {
       in_framework(a, "deepspeed");
       a.plan.recompute = Recompute::Full;
       a.recipe.offload.layers = 20;
     },
     [](Asked& a) {
       in_framework(a, "deepspeed");
       a.recipe.offload.layers = 20;
     }},
    {"offload-optimizer-needs-host", [](Asked&) {},
     [](Asked& a) {
       in_framework(a, "megatron-lm-precision-aware");
       a.recipe.offload.optimizer = 1;
       a.cluster.host_bandwidth = {};
     }},
    {"offload-weights-needs-host", fully_offloaded,
     [](Asked& a) {
       fully_offloaded(a);
       a.recipe.offload.optimizer = 0;
       a.cluster.host_link = {};
     }},
    {"offload-layers-needs-host", offloaded_layers,
     [](Asked& a) {
       offloaded_layers(a);
       a.cluster.host_link = {};
     }},
    {"fp8-param-gather-is-offered", [](Asked& a) { a.recipe.matmul = Matmul::Fp8; },
     [](Asked& a) {
       in_framework(a, "torchtitan");
       a.recipe.matmul = Matmul::Fp8;
       a.recipe.low_weights = true;
     }},
    {"fp8-param-gather-needs-fp8",
     [](Asked& a) {
       a.recipe.matmul = Matmul::Fp8;
       a.recipe.low_weights = true;
     },
     [](Asked& a) { a.recipe.low_weights = true; }},
    {"fp8-param-gather-needs-sharding",
     [](Asked& a) {
       a.recipe.matmul = Matmul::Mxfp8;
       a.recipe.low_weights = true;
     },
     [](Asked& a) {
       a.recipe.matmul = Matmul::Fp8;
       a.recipe.low_weights = true;
       a.plan.sharding = Sharding::None;
     }},
    {"fp8-param-gather-on-the-gpu",
     [](Asked& a) {
       in_framework(a, "megatron-lm-precision-aware");
       a.recipe.matmul = Matmul::Fp8;
       a.recipe.low_weights = true;
       a.recipe.offload.optimizer = 1;
     },
     [](Asked& a) {
       in_framework(a, "megatron-lm-precision-aware");
       a.recipe.matmul = Matmul::Mxfp8;
       a.recipe.low_weights = true;
       a.recipe.offload.optimizer = 1;
     }},
    {"gradient-follows-precision",
     [](Asked& a) {
       in_framework(a, "deepspeed");
       a.plan.sharding = Sharding::None;
     },
     [](Asked& a) {
       in_framework(a, "deepspeed");
       a.plan.sharding = Sharding::None;
       a.recipe.gradient = DType::Fp32;
     }},
};

std::set<std::string> broken(Change change) {
  Asked asked;
  change(asked);
  const Problem problem = asked.problem();
  std::set<std::string> ids;
  for (const Rule& rule : rules())
    if (!rule.holds(problem, asked.plan)) ids.emplace(rule.id);
  CHECK(legal(problem, asked.plan) == ids.empty());
  return ids;
}

}  // namespace

TEST_CASE("the main plan is legal") {
  CHECK(broken([](Asked&) {}).empty());
}

TEST_CASE("each rule passes a plan and fails its neighbour") {
  for (const Row& row : kRows) {
    CAPTURE(row.rule);
    CHECK(broken(row.passes) == std::set<std::string>{});
    std::set<std::string> want{std::string(row.rule)};
    if (!row.also.empty()) want.insert(row.also);
    CHECK(broken(row.fails) == want);
  }
}

TEST_CASE("every rule has a row in the table") {
  std::set<std::string_view> tabled, listed;
  for (const Row& row : kRows) tabled.insert(row.rule);
  for (const Rule& rule : rules()) listed.insert(rule.id);
  CHECK(tabled == listed);
  CHECK(listed.size() == rules().size());
}

TEST_CASE("every rule of a shipped framework says where it stands, and no other is cited") {
  for (const char* name : {"megatron-lm", "megatron-lm-precision-aware", "deepspeed", "torchtitan"}) {
    const FrameworkProfile& f = *problems::framework(name);
    for (const Rule& rule : rules()) {
      CAPTURE(name, rule.id);
      CHECK(f.rules.source(rule.id).empty() != rule.is_of(f));
      CHECK_FALSE(rule.sentence(f).empty());
    }
  }
  CHECK(problems::framework("megatron-lm")->release() == "Megatron-LM core 0.20.0");
}

TEST_CASE("a broken rule shows the numbers that it was judged on") {
  for (const Row& row : kRows) {
    Asked asked;
    row.fails(asked);
    const Problem problem = asked.problem();
    const Rule* first = first_broken(problem, asked.plan);
    CAPTURE(row.rule);
    REQUIRE(first != nullptr);
    CHECK_FALSE(first->field.empty());
    CHECK_FALSE(first->must.empty());
    for (const Rule& rule : rules())
      if (rule.id == row.rule) CHECK_FALSE(rule.numbers(problem, asked.plan).empty());
  }
  Asked asked;
  asked.plan.tp = 6;
  const Problem problem = asked.problem();
  const Rule* first = first_broken(problem, asked.plan);
  REQUIRE(first != nullptr);
  CHECK(first->field == "tp");
  CHECK(first->numbers(problem, asked.plan) == "1024 GPUs / tp 6");
}
