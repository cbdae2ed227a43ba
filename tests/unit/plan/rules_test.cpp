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
       a.framework.vocabulary_times_tp = false;
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
