#include "trainplan/plan/warnings.hpp"

#include <set>
#include <string>

#include "catch.hpp"
#include "problems.hpp"

using namespace trainplan;
using problems::Draft;

namespace {

struct Asked : Draft {
  Plan plan = problems::main_plan();
  RunSpec run;
};
using Change = void (*)(Asked&);

/// Both changes start from the main plan of an empty run, about which nothing is to be said.
struct Row {
  std::string_view warning;
  Change silent, speaks;
};

void on_one_rank(Asked& a) {
  a.cluster.nodes = 4;
  a.plan.dp = a.plan.shard = 1;
  a.run.tp = 8;
}
void with_experts(Asked& a) {
  a.model.experts = {.count = 128, .per_token = 8, .width = 4096};
  a.model.pattern = std::vector(static_cast<std::size_t>(a.model.layers), LayerKind{.sparse = true});
}
void without_pipeline(Asked& a) { a.plan = problems::completed({.tp = 8, .dp = 128}); }
void without_tp(Asked& a) {
  a.plan = problems::completed({.pp = 4, .vpp = 4, .dp = 256});
  a.recipe.global_batch = 4096;
}
void fully_sharded(Asked& a) {
  a.framework = *problems::framework("torchtitan");
  a.plan.sharding = Sharding::Zero3;
}

const Row kRows[] = {
    {"host-memory-unknown", [](Asked& a) { a.recipe.offload.layers = 1; },
     [](Asked& a) {
       a.recipe.offload.layers = 1;
       a.cluster.host_memory = {};
     }},
    {"sharding-without-ranks",
     [](Asked& a) {
       on_one_rank(a);
       a.plan.sharding = Sharding::None;
     },
     on_one_rank},
    {"dp-overlap-without-ranks", [](Asked& a) { a.run.dp_overlap = true; },
     [](Asked& a) {
       on_one_rank(a);
       a.plan.sharding = Sharding::None;
       a.run.dp_overlap = true;
     }},
    {"gather-overlap-without-gather", [](Asked& a) { a.run.gather_overlap = true; },
     [](Asked& a) {
       a.recipe.dp_overlap = false;
       a.run.gather_overlap = true;
     }},
    {"sequence-parallel-without-tp", [](Asked& a) { a.run.sequence_parallel = true; },
     [](Asked& a) {
       without_tp(a);
       a.run.sequence_parallel = true;
     }},
    {"tp-overlap-without-sequence-parallel", [](Asked& a) { a.run.tp_overlap = true; },
     [](Asked& a) {
       a.plan.sequence_parallel = false;
       a.run.tp_overlap = true;
     }},
    {"shard-size-without-hsdp",
     [](Asked& a) {
       a.plan.sharding = Sharding::Hsdp;
       a.run.shard_size = 8;
     },
     [](Asked& a) {
       a.plan.sharding = Sharding::None;
       a.run.shard_size = 8;
     }},
    {"shard-size-without-hsdp", [](Asked& a) { a.run.shard_size = 8; },  // distributed optimizer in groups
     [](Asked& a) {
       a.framework.shardings[1].shard_groups = false;
       a.framework.shardings[1].traffic.pop_back();
       a.run.shard_size = 8;
     }},
    {"reshard-without-gathering",
     [](Asked& a) {
       fully_sharded(a);
       a.run.reshard_after_forward = true;
     },
     [](Asked& a) { a.run.reshard_after_forward = true; }},
    {"gradient-sync-without-choice",
     [](Asked& a) {
       fully_sharded(a);
       a.run.sync_each_micro_batch = true;
     },
     [](Asked& a) { a.run.sync_each_micro_batch = true; }},
    {"recompute-layers-without-mode",
     [](Asked& a) {
       a.plan.recompute = Recompute::Layers;
       a.run.recompute_layers = 4;
     },
     [](Asked& a) {
       a.plan.recompute = Recompute::Full;
       a.run.recompute_layers = 4;
     }},
    {"modules-without-selective",
     [](Asked& a) {
       a.plan.recompute = Recompute::Selective;
       a.plan.modules = bit(Module::Mlp);
       a.run.recompute_modules = a.plan.modules;
     },
     [](Asked& a) { a.run.recompute_modules = bit(Module::Mlp); }},
    {"modules-of-fixed-list",
     [](Asked& a) {
       a.plan.recompute = Recompute::Selective;
       a.run.recompute_modules = a.plan.modules = bit(Module::Mlp);
     },
     [](Asked& a) {
       fully_sharded(a);
       a.plan.recompute = Recompute::Selective;
       a.run.recompute_modules = a.plan.modules = bit(Module::CoreAttention);
     }},
    {"modules-not-in-model",
     [](Asked& a) {
       with_experts(a);
       a.plan.recompute = Recompute::Selective;
       a.run.recompute_modules = a.plan.modules = bit(Module::MoeAct);
     },
     [](Asked& a) {
       a.plan.recompute = Recompute::Selective;
       a.run.recompute_modules = a.plan.modules = bit(Module::MlaUpProj);
     }},
    {"modules-not-in-model",
     [](Asked& a) {
       with_experts(a);
       a.plan.recompute = Recompute::Selective;
       a.run.recompute_modules = a.plan.modules = bit(Module::LayerNorm);
     },
     [](Asked& a) {
       a.plan.recompute = Recompute::Selective;
       a.run.recompute_modules = a.plan.modules = bit(Module::LayerNorm);
     }},
    {"core-attention-with-flash",
     [](Asked& a) {
       fully_sharded(a);  // keeps a fixed list of operations
       a.plan.recompute = Recompute::Selective;
     },
     [](Asked& a) { a.plan.recompute = Recompute::Selective; }},
    {"capacity-without-experts",
     [](Asked& a) {
       with_experts(a);
       a.run.capacity_factor = 1.25;
     },
     [](Asked& a) { a.run.capacity_factor = 1.25; }},
    {"imbalance-without-experts",
     [](Asked& a) {
       with_experts(a);
       a.run.expert_imbalance = 1.2;
     },
     [](Asked& a) { a.run.expert_imbalance = 1.2; }},
    {"imbalance-with-capacity",
     [](Asked& a) {
       with_experts(a);
       a.run.capacity_factor = 1.25;
     },
     [](Asked& a) {
       with_experts(a);
       a.run.capacity_factor = 1.25;
       a.run.expert_imbalance = 1.2;
     }},
    {"dispatcher-without-experts",
     [](Asked& a) {
       with_experts(a);
       a.run.moe_dispatcher = Dispatcher::DeepEp;
     },
     [](Asked& a) { a.run.moe_dispatcher = Dispatcher::DeepEp; }},
    {"ep-overlap-without-experts", [](Asked& a) { a.run.ep_overlap = false; },
     [](Asked& a) { a.run.ep_overlap = a.recipe.ep_overlap = true; }},
    {"ep-overlap-without-ep",
     [](Asked& a) {
       with_experts(a);
       a.plan.ep = 8;
       a.run.ep_overlap = a.recipe.ep_overlap = true;
     },
     [](Asked& a) {
       with_experts(a);
       a.run.ep_overlap = a.recipe.ep_overlap = true;
     }},
    {"ep-without-experts",
     [](Asked& a) {
       with_experts(a);
       a.run.ep = 1;
     },
     [](Asked& a) { a.run.ep = 1; }},
    {"etp-without-experts",
     [](Asked& a) {
       with_experts(a);
       a.run.etp = 1;
     },
     [](Asked& a) { a.run.etp = 2; }},
    {"cp-mode-without-cp",
     [](Asked& a) {
       a.plan = problems::completed({.tp = 8, .pp = 4, .vpp = 4, .cp = 2, .dp = 16});
       a.run.cp_mode = CpMode::Ring;
     },
     [](Asked& a) { a.run.cp_mode = CpMode::Ring; }},
    {"schedule-without-pipeline", [](Asked& a) { a.run.schedule = Schedule::Interleaved; },
     [](Asked& a) {
       without_pipeline(a);
       a.run.schedule = Schedule::OneFOneB;
     }},
    {"uneven-stages-without-pipeline", [](Asked& a) { a.run.uneven_stages = false; },
     [](Asked& a) {
       without_pipeline(a);
       a.run.uneven_stages = true;
     }},
    {"first-layers-without-pipeline", [](Asked& a) { a.run.first_layers = 20; },
     [](Asked& a) {
       without_pipeline(a);
       a.run.first_layers = 20;
     }},
    {"last-layers-without-pipeline", [](Asked& a) { a.run.last_layers = 20; },
     [](Asked& a) {
       without_pipeline(a);
       a.run.last_layers = 20;
     }},
    {"mtp-without-blocks",
     [](Asked& a) {
       a.model.mtp_layers = 1;
       a.run.mtp = true;
     },
     [](Asked& a) { a.run.mtp = true; }},
    {"tp-over-nodes", [](Asked&) {},
     [](Asked& a) { a.plan = problems::completed({.tp = 16, .pp = 4, .vpp = 4, .dp = 16}); }},
    {"few-micro-batches",  // 4 x 4 virtual stages stand for 16 micro-batches
     [](Asked& a) { a.recipe.global_batch = 128; },
     [](Asked& a) {
       a.plan = problems::completed({.tp = 8, .pp = 4, .dp = 32});
       a.recipe.global_batch = 480;
       a.run.global_batch = GlobalBatch{480, false};
     }},
    {"expert-state-not-sharded",
     [](Asked& a) {
       with_experts(a);
       a.plan.ep = 128;
     },
     [](Asked& a) {
       with_experts(a);
       a.plan.ep = 128;
       a.plan.etp = 2;
       a.run.ep = 128;
     }},
    {"tokens-below-step", [](Asked& a) { a.recipe.tokens = 1e12; }, [](Asked& a) { a.recipe.tokens = 15; }},
};

std::set<std::string> said(Change change) {
  Asked asked;
  change(asked);
  const Problem problem = asked.problem();
  std::set<std::string> ids;
  for (const Warning& w : warnings()) {
    if (!w.speaks(problem, asked.plan, asked.run)) continue;
    ids.emplace(w.id);
    CHECK_FALSE(w.numbers(problem, asked.plan).empty());
    CHECK_FALSE(w.must.empty());
    CHECK_FALSE(w.hint.empty());
  }
  return ids;
}

}  // namespace

TEST_CASE("the main plan gives no reason to warn") {
  CHECK(said([](Asked&) {}).empty());
}

TEST_CASE("each warning speaks of a plan and not of its neighbour") {
  for (const Row& row : kRows) {
    CAPTURE(row.warning);
    CHECK(said(row.silent) == std::set<std::string>{});
    CHECK(said(row.speaks) == std::set<std::string>{std::string(row.warning)});
  }
}

TEST_CASE("every warning has a row in the table") {
  std::set<std::string_view> tabled, listed;
  for (const Row& row : kRows) tabled.insert(row.warning);
  for (const Warning& w : warnings()) listed.insert(w.id);
  CHECK(tabled == listed);
  CHECK(listed.size() == warnings().size());
}

TEST_CASE("tensor parallelism over nodes names both links") {
  Asked asked;
  asked.plan = problems::completed({.tp = 16, .pp = 4, .vpp = 4, .dp = 16});
  const Problem problem = asked.problem();
  for (const Warning& w : warnings())
    if (w.id == "tp-over-nodes")
      CHECK(w.numbers(problem, asked.plan) ==
            "tp 16 over 2 nodes: NIC 50 GB/s, NVLink 4 450 GB/s, 9 times as fast");
}

TEST_CASE("what a derivation chose itself is no warning: the reasons tell it") {
  for (const std::string_view id :
       {"sharding-without-ranks", "few-micro-batches", "expert-state-not-sharded"})
    for (const Row& row : kRows) {
      if (row.warning != id) continue;
      Asked asked;
      row.speaks(asked);
      asked.run = {};
      const Problem problem = asked.problem();
      for (const Warning& w : warnings())
        if (w.id == id) CHECK_FALSE(w.speaks(problem, asked.plan, asked.run));
    }
}
