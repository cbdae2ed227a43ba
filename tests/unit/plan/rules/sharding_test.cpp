#include "trainplan/plan/rules/sharding.hpp"

#include "rule_rows.hpp"

using namespace trainplan;
using namespace rule_rows;

namespace {

const Row kRows[] = {
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
};

}  // namespace

TEST_CASE("each rule of sharding passes a plan and fails its neighbour") {
  check_rows(kRows, detail::kShardingRules);
}
