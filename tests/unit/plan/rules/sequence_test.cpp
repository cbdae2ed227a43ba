#include "trainplan/plan/rules/sequence.hpp"

#include "rule_rows.hpp"

using namespace trainplan;
using namespace rule_rows;

namespace {

const Row kRows[] = {
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
};

}  // namespace

TEST_CASE("each rule of the sequence passes a plan and fails its neighbour") {
  check_rows(kRows, detail::kSequenceRules);
}
