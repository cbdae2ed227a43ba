#include "trainplan/plan/rules/batch.hpp"

#include "rule_rows.hpp"

using namespace trainplan;
using namespace rule_rows;

namespace {

const Row kRows[] = {
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
};

}  // namespace

TEST_CASE("each rule of the batch passes a plan and fails its neighbour") {
  check_rows(kRows, detail::kBatchRules);
}
