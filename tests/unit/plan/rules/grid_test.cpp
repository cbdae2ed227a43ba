#include "trainplan/plan/rules/grid.hpp"

#include "rule_rows.hpp"

using namespace trainplan;
using namespace rule_rows;

namespace {

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
};

}  // namespace

TEST_CASE("each rule of the grid passes a plan and fails its neighbour") {
  check_rows(kRows, detail::kGridRules);
}
