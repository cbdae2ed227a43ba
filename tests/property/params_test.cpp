// Every weight is on some GPU, and counting each once over all GPUs gives the model.
#include <algorithm>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "problems.hpp"
#include "trainplan/cost/plan_cost.hpp"
#include "trainplan/plan/rules.hpp"

using namespace trainplan;
using problems::completed;
using problems::Draft;

namespace {

/// The counted models of the corpus.
const std::vector<std::string>& corpus() {
  static const std::vector<std::string> files = [] {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(TRAINPLAN_ROOT "/tests/models")) {
      if (entry.path().extension() != ".json") continue;
      Issues issues;
      if (load_model(entry.path().string(), issues)) out.push_back(entry.path().string());
    }
    std::sort(out.begin(), out.end());
    return out;
  }();
  return files;
}

class Dice {
  std::mt19937_64 engine_{7};

 public:
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  template <class T>
  T one_of(const std::vector<T>& values) {
    return values[below(values.size())];
  }
};

/// Without padding and with the whole parts counted on one tp rank only.
double once_over_all_gpus(const Problem& problem, const Plan& plan) {
  const ModelSpec& m = problem.model();
  Eval rec;
  const auto in = bind(rec, problem, plan);
  const auto parts = model_params(rec, in, m, problem.recipe.mtp_layers);
  const double h = static_cast<double>(m.hidden), t = plan.tp;
  const double replicas = !m.is_latent() && plan.tp > m.kv_heads
                              ? parts.key_value.num() * (1.0 / static_cast<double>(m.kv_heads) - 1.0 / t)
                              : 0;
  double sum = 0;
  for (int s = 0; s < plan.pp; ++s) {
    const auto c = params_cost(rec, in, problem, plan, s);
    const StageLayers held = layers_of(m, plan, s);
    const auto dense = static_cast<double>(held.all - held.sparse), sparse = static_cast<double>(held.sparse);
    double whole = dense * parts.dense.whole.num() + sparse * parts.sparse.whole.num();
    if (s == 0)
      whole += static_cast<double>(m.learned_positions) * h + (m.embedding_norm ? m.norm_vectors * h : 0);
    if (s == plan.pp - 1 && m.final_norm) whole += m.norm_vectors * h;
    if (m.table_width > 0) {
      const double ends = (s == 0 ? 0.5 : 0.0) + (s == plan.pp - 1 ? 0.5 : 0.0);
      whole += ends * parts.projections.num();
    }
    sum += t * (c.stage_dense.num() - (dense + sparse) * replicas) - (t - 1) * whole;
    sum += c.stage_experts.num() * plan.ep * plan.etp;
  }
  const double table = static_cast<double>(m.vocab * (m.table_width > 0 ? m.table_width : m.hidden));
  return m.tied && plan.pp > 1 ? sum - table : sum;
}

}  // namespace

TEST_CASE("parameters of all GPUs, each counted once, are those of the model: 1,000 plans of all families") {
  REQUIRE(corpus().size() > 70);
  Dice dice;
  FrameworkProfile unpadded = *problems::framework("megatron-lm");
  unpadded.vocabulary_multiple = 1;
  unpadded.vocabulary_times_tp = false;
  unpadded.uneven_stages = UnevenStages::ByOne;
  Issues issues;
  const auto profile =
      problems::required(Checked<FrameworkProfile>::make(unpadded, issues), issues, "profile");
  const auto& cluster = problems::cluster("h100x1024");
  std::set<std::string> families;
  int counted = 0;
  for (int tries = 0; counted < 1'000; ++tries) {
    REQUIRE(tries < 200'000);
    const auto& model = problems::model(dice.one_of(corpus()));
    Plan p;
    p.tp = dice.one_of<std::uint16_t>({1, 2, 4, 8, 16});
    p.pp = dice.one_of<std::uint16_t>({1, 2, 3, 4, 8});
    p.vpp = p.pp == 1 ? std::uint16_t{1} : dice.one_of<std::uint16_t>({1, 1, 2});
    if (model->is_sparse()) p.ep = dice.one_of<std::uint16_t>({1, 2, 4, 8, 16});
    if (model->is_sparse()) p.etp = dice.one_of<std::uint16_t>({1, 1, 2, 4});
    p.dp = static_cast<std::uint32_t>(1024 / (p.tp * p.pp));
    choose_layout(model->layers, UnevenStages::ByOne, p);
    Recipe recipe;
    recipe.sequence = 4096;
    recipe.global_batch = std::int64_t{p.dp} * p.pp * 2;
    const Problem problem(model, cluster, profile, problems::calibration(), recipe);
    if (!legal(problem, completed(p))) continue;
    families.insert(model->family);
    ++counted;
    Eval rec;
    const double total = params_cost(rec, bind(rec, problem, p), problem, p, 0).total.num();
    CAPTURE(model->name, p.tp, p.pp, p.vpp, p.ep, p.etp);
    CHECK(once_over_all_gpus(problem, completed(p)) == Approx(total).epsilon(1e-13));
  }
  CHECK(families.size() > 25);
}

TEST_CASE("the classes of weights together are the parameters of the GPU, and their state its state") {
  for (const char* name : {"llama70b", "gpt2", "deepseek-v3", "gpt-oss-20b", "mixtral-8x7b", "gemma-2-27b"}) {
    Draft draft({.model = name, .cluster = "h800x2048", .batch = 2048});
    draft.recipe.mtp_layers = draft.model.mtp_layers;
    const Problem problem = draft.problem();
    Plan p = completed(
        {.tp = 4, .pp = 2, .ep = draft.model.is_sparse() ? std::uint16_t{8} : std::uint16_t{1}, .dp = 256});
    choose_layout(draft.model.layers, UnevenStages::Counted, p);
    for (int s = 0; s < 2; ++s) {
      const auto cost = evaluate_stage(problem, p, s).memory;
      double weights = 0, state = 0;
      for (std::size_t i = 0; i < kWeightClasses; ++i) weights += cost.params.classes[i].num();
      const Ledger ledger = explain(problem, p, s);
      for (const LineItem& item : ledger.items())
        if (item.id.starts_with("memory.state_of.")) state += item.value;
      CAPTURE(name, s);
      CHECK(weights == Approx(cost.params.stage.num()).epsilon(1e-14));
      CHECK(state == Approx(cost.state.num()).epsilon(1e-14));
    }
  }
}
