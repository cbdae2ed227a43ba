#include "trainplan/plan/rules/pipeline.hpp"

#include "rule_rows.hpp"

using namespace trainplan;
using namespace rule_rows;

namespace {

/// A V in torchtitan, with 16 micro-batches for 4 stages.
void vee(Asked& a) {
  in_framework(a, "torchtitan");
  a.plan.vpp = 2;
  a.plan.schedule = Schedule::ZbV;
  a.recipe.compile = false;
}

const Row kRows[] = {
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
       a.framework.schedules = bit(Schedule::OneFOneB);
       no_interleaving(a);
     },
     [](Asked& a) { a.framework.schedules = bit(Schedule::OneFOneB); }, "schedule-is-offered"},
    {"schedule-matches-vpp", [](Asked&) {}, [](Asked& a) { a.plan.schedule = Schedule::OneFOneB; }},
    {"schedule-matches-vpp", [](Asked& a) { no_interleaving(a); }, [](Asked& a) { a.plan.vpp = 1; }},
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
    {"schedule-is-offered",  // 1F1B stands for no schedule where there is one stage
     [](Asked& a) {
       degrees(a, 8, 1, 1, 128);
       no_interleaving(a);
     },
     [](Asked& a) {
       degrees(a, 8, 1, 1, 128);
       no_interleaving(a);
       a.plan.schedule = Schedule::GPipe;
     }},
    {"schedule-is-offered", [](Asked& a) { no_interleaving(a); },
     [](Asked& a) {
       no_interleaving(a);
       a.plan.schedule = Schedule::GPipe;
     }},
    {"schedule-has-micro-batches", vee,
     [](Asked& a) {  // 6, of 2 x 4 - 1
       vee(a);
       a.recipe.global_batch = 192;
     }},
    {"split-needs-eager", vee,
     [](Asked& a) {
       vee(a);
       a.recipe.compile = true;
     }},
    {"vee-without-given-ends",
     [](Asked& a) {
       a.framework.schedules = kChunkedSchedules;
       a.plan.vpp = 2;
       a.plan.schedule = Schedule::ZbV;
     },
     [](Asked& a) {
       a.framework.schedules = kChunkedSchedules;
       a.plan.vpp = 2;
       a.plan.schedule = Schedule::ZbV;
       a.plan.layout = Layout::FirstAndLast;
       a.plan.first_layers = a.plan.last_layers = 20;
     }},
};

}  // namespace

TEST_CASE("each rule of the pipeline passes a plan and fails its neighbour") {
  check_rows(kRows, detail::kPipelineRules);
}
