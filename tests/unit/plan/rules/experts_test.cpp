#include "trainplan/plan/rules/experts.hpp"

#include "rule_rows.hpp"

using namespace trainplan;
using namespace rule_rows;

namespace {

const Row kRows[] = {
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
};

}  // namespace

TEST_CASE("each rule of experts passes a plan and fails its neighbour") {
  check_rows(kRows, detail::kExpertRules);
}
