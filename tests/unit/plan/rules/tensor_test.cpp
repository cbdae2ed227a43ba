#include "trainplan/plan/rules/tensor.hpp"

#include "rule_rows.hpp"

using namespace trainplan;
using namespace rule_rows;

namespace {

const Row kRows[] = {
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
};

}  // namespace

TEST_CASE("each rule of tensor parallelism passes a plan and fails its neighbour") {
  check_rows(kRows, detail::kTensorRules);
}
