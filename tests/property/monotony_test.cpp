// More of a resource never makes things worse, and changes nothing that it should not change.
#include <functional>
#include <map>
#include <string>

#include "catch.hpp"
#include "fields.hpp"
#include "plans.hpp"

using namespace property;

namespace {

/// The cluster of that name with a change, checked once.
const Checked<ClusterSpec>& changed(const std::string& name, const std::string& change,
                                    void (*apply)(ClusterSpec&)) {
  static std::map<std::string, Checked<ClusterSpec>> made;
  const auto found = made.find(name + change);
  if (found != made.end()) return found->second;
  ClusterSpec cluster = *problems::cluster(name);
  apply(cluster);
  Issues issues;
  return made
      .emplace(name + change, problems::required(Checked<ClusterSpec>::make(cluster, issues), issues, name))
      .first->second;
}

PlanCost<double> on(const Sample& s, const Checked<ClusterSpec>& cluster) {
  const Problem problem(problems::model(s.model), cluster, problems::framework(s.framework),
                        problems::calibration(), s.problem.recipe);
  return evaluate_stage(problem, s.plan, s.plan.pp - 1);
}

double row_bytes(const Sample& s, const Plan& plan, const StateRow& row) {
  Eval rec;
  const auto width = width_leaf(rec, s.problem, "w", row);
  const auto shared = ways(bind(rec, s.problem, plan), row.sharded_over, ParamClass::Dense);
  return state_row(rec, row, width, ParamClass::Dense, Params<>{1e9}, shared).num();
}

const StateRow* row_of(const Sample& s, const Plan& plan, std::string_view id) {
  const ShardingRows* rows = s.problem.profile().rows(plan.sharding);
  if (rows == nullptr) return nullptr;
  for (const StateRow& row : rows->state)
    if (row.id == id && applies(row.when, s.problem.recipe, plan)) return &row;
  return nullptr;
}

}  // namespace

TEST_CASE("more ranks in a group never add bytes to a row of state") {
  Plans plans(8);
  for (int i = 0; i < 2'000 / kShare; ++i) {
    const Sample s = plans.next();
    Plan wider = s.plan;
    wider.dp *= 2;
    wider.shard *= 2;
    for (const StateRow& row : s.problem.profile().rows(s.plan.sharding)->state) {
      const double before = row_bytes(s, s.plan, row), after = row_bytes(s, wider, row);
      const double want = row.sharded_over == Group::None ? before : before / 2;
      if (after == want) continue;
      CAPTURE(described(s), row.id);
      CHECK(after == want);
    }
  }
}

TEST_CASE("a higher sharding mode never adds bytes to a row of state") {
  Plans plans(9);
  const Sharding order[] = {Sharding::None, Sharding::Zero1, Sharding::Zero2, Sharding::Zero3};
  int compared = 0;
  for (int i = 0; i < 1'000 / kShare; ++i) {
    const Sample s = plans.next();
    if (s.plan.sharding == Sharding::Hsdp) continue;
    Plan lower = s.plan, higher = s.plan;
    for (int k = 0; k + 1 < 4; ++k) {
      lower.sharding = order[k];
      for (int l = k + 1; l < 4; ++l) {
        higher.sharding = order[l];
        for (const char* id : {"weights", "gradient", "master", "moment1", "moment2"}) {
          const StateRow *a = row_of(s, lower, id), *b = row_of(s, higher, id);
          if (a == nullptr || b == nullptr) continue;
          ++compared;
          if (row_bytes(s, higher, *b) <= row_bytes(s, lower, *a)) continue;
          CAPTURE(described(s), id, name_of(lower.sharding), name_of(higher.sharding));
          CHECK(row_bytes(s, higher, *b) <= row_bytes(s, lower, *a));
        }
      }
    }
  }
  CHECK(compared > 1'000 / kShare);
}

TEST_CASE("more bandwidth never lengthens the step") {
  Plans plans(10);
  int shorter = 0;
  for (int i = 0; i < 2'000 / kShare; ++i) {
    const Sample s = plans.next();
    const double step = on(s, problems::cluster(s.cluster)).step.step.num();
    const double nic =
        on(s, changed(s.cluster, "nic", [](ClusterSpec& c) { c.nic_per_gpu.value *= 2; })).step.step.num();
    const double scale_up =
        on(s, changed(s.cluster, "scale-up",
                      [](ClusterSpec& c) { c.accelerator.scale_up_bandwidth.value *= 2; }))
            .step.step.num();
    const double pcie =
        on(s, changed(s.cluster, "pcie", [](ClusterSpec& c) { c.pcie.value *= 2; })).step.step.num();
    if (nic < step || scale_up < step || pcie < step) ++shorter;
    const double most = step * (1 + 1e-12);  // sums of other parts round otherwise
    if (nic <= most && scale_up <= most && pcie <= most) continue;
    CAPTURE(described(s), step, nic, scale_up, pcie);
    CHECK(nic <= most);
    CHECK(scale_up <= most);
    CHECK(pcie <= most);
  }
  CHECK(shorter > 1'000 / kShare);
}

TEST_CASE("offloading never raises device memory, and more of the host never lengthens the step") {
  Plans plans(17);
  int offloading = 0, shorter = 0;
  for (int i = 0; i < 4'000 / kShare; ++i) {
    const Sample s = plans.next();
    if (!s.problem.recipe.offload.any()) continue;
    ++offloading;
    Problem without = s.problem;
    without.recipe.offload = {};
    const auto cost = evaluate_stage(s.problem, s.plan, 0), plain = evaluate_stage(without, s.plan, 0);
    const auto fast = on(s, changed(s.cluster, "host", [](ClusterSpec& c) {
                           c.host_link.value *= 2;
                           c.host_bandwidth.value *= 2;
                         }));
    const double step = on(s, problems::cluster(s.cluster)).step.step.num();
    if (fast.step.step.num() < step) ++shorter;
    CAPTURE(described(s), s.problem.recipe.offload.optimizer, s.problem.recipe.offload.layers);
    CHECK(cost.memory.device.num() <= plain.memory.device.num() * (1 + 1e-12));
    // not of what is reserved: another phase may become the fullest, and idle blocks of the others stay
    CHECK(cost.memory.allocated.num() <= plain.memory.allocated.num() * (1 + 1e-12));
    CHECK(fast.step.step.num() <= step * (1 + 1e-12));
    CHECK(cost.host.node.num() > 0);
    CHECK(plain.host.node.num() == 0);
  }
  CHECK(offloading > 300 / kShare);
  CHECK(shorter > 200 / kShare);
}

TEST_CASE("faster kernels never lengthen the step: higher peaks, more memory bandwidth") {
  using Change = void (*)(ClusterSpec&);
  const std::pair<const char*, Change> changes[] = {
      {"bf16", [](ClusterSpec& c) { c.accelerator.bf16_dense.value *= 1.5; }},
      {"low",
       [](ClusterSpec& c) {
         c.accelerator.fp8_dense.value *= 1.5;
         c.accelerator.fp4_dense.value *= 1.5;
       }},
      {"hbm", [](ClusterSpec& c) { c.accelerator.memory_bandwidth.value *= 1.5; }}};
  Plans plans(15);
  std::map<std::string, int> shorter;
  for (int i = 0; i < 4'000 / kShare; ++i) {
    const Sample s = plans.next();
    if (splits_backward(s.plan.schedule)) continue;  // faster gradients of weights fill less of the bubble
    const double step = on(s, problems::cluster(s.cluster)).step.step.num();
    for (const auto& [name, change] : changes) {
      const double faster = on(s, changed(s.cluster, name, change)).step.step.num();
      if (faster < step) ++shorter[name];
      if (faster <= step * (1 + 1e-12)) continue;
      CAPTURE(described(s), name, name_of(s.problem.recipe.stack), name_of(s.problem.recipe.matmul));
      CHECK(faster <= step);
    }
  }
  CHECK(shorter["bf16"] > 2'000 / kShare);
  CHECK(shorter["low"] > 500 / kShare);
  CHECK(shorter["hbm"] > 3'000 / kShare);
}

/// Half of what is missing from 1.
void nearer_to_all(Figure& share) { share.value = (1 + share.value) / 2; }

TEST_CASE("better constants never lengthen the step, and worse ones never shorten it") {
  using Change = void (*)(Calibration&);
  const std::pair<const char*, Change> changes[] = {
      {"memory rate", [](Calibration& c) { nearer_to_all(c.time.memory_rate); }},
      {"half depth", [](Calibration& c) { c.time.gemm_half_depth.value /= 2; }},
      {"kernel start", [](Calibration& c) { c.time.kernel_start.value /= 2; }},
      {"half length", [](Calibration& c) { c.time.attention_half_length.value /= 2; }},
      {"scale-up rate", [](Calibration& c) { nearer_to_all(c.time.scale_up_rate); }},
      {"NIC rate", [](Calibration& c) { nearer_to_all(c.time.nic_rate); }},
      {"hop", [](Calibration& c) { c.time.ring_step.value /= 2; }},
      {"TP overlap", [](Calibration& c) { nearer_to_all(c.time.tp_overlap_hidden); }},
      {"EP overlap", [](Calibration& c) { nearer_to_all(c.time.ep_overlap_hidden); }},
      {"overlap slowdown", [](Calibration& c) { c.time.overlap_slowdown.value /= 2; }},
      {"fixed", [](Calibration& c) { c.time.step_fixed.value /= 2; }},
      {"stragglers", [](Calibration& c) { c.time.straggler_growth.value /= 2; }},
      {"products",
       [](Calibration& c) {
         for (auto& a : c.accelerators) nearer_to_all(a.gemm);
         nearer_to_all(c.other_accelerator.gemm);
       }},
      {"low products",
       [](Calibration& c) {
         for (auto& a : c.accelerators) nearer_to_all(a.low_gemm);
         nearer_to_all(c.other_accelerator.low_gemm);
       }},
      {"attention",
       [](Calibration& c) {
         for (auto& a : c.accelerators) nearer_to_all(a.attention);
         nearer_to_all(c.other_accelerator.attention);
       }},
      {"host",
       [](Calibration& c) {
         for (auto& s : c.stacks) s.host_per_layer.value /= 2;
       }},
      {"stack",
       [](Calibration& c) {
         for (auto& s : c.stacks) s.slowdown.value /= 1.1;
       }},
      {"expert overhead", [](Calibration& c) {
         for (auto& s : c.stacks) s.expert_overhead.value /= 2;
       }}};
  std::map<std::string, Checked<Calibration>> made;
  for (const auto& [name, change] : changes) {
    Calibration c = *problems::calibration();
    change(c);
    Issues issues;
    made.emplace(name, problems::required(Checked<Calibration>::make(c, issues), issues, name));
  }
  Plans plans(16);
  std::map<std::string, int> shorter;
  for (int i = 0; i < 2'000 / kShare; ++i) {
    const Sample s = plans.next();
    if (splits_backward(s.plan.schedule)) continue;  // as above
    const double step = evaluate_stage(s.problem, s.plan, 0).step.step.num();
    for (const auto& [name, constants] : made) {
      const double better = evaluate_stage(s.problem.with(constants), s.plan, 0).step.step.num();
      if (better < step) ++shorter[name];
      if (better <= step * (1 + 1e-12)) continue;
      CAPTURE(described(s), name, name_of(s.problem.recipe.stack));
      CHECK(better <= step);
    }
  }
  for (const auto& [name, constants] : made) {
    INFO(name);
    CHECK(shorter[name] > 20 / kShare);
  }
}

TEST_CASE("more usable memory moves the gate and nothing else") {
  Plans plans(11);
  for (int i = 0; i < 1'000 / kShare; ++i) {
    const Sample s = plans.next();
    const auto a = fields_of(on(s, problems::cluster(s.cluster)));
    const Checked<ClusterSpec> roomy = changed(s.cluster, "memory", [](ClusterSpec& c) {
      c.accelerator.memory.value *= 2;
      c.accelerator.usable_memory.value *= 2;
    });
    const auto b = fields_of(on(s, roomy));
    for (std::size_t f = 0; f < kFields; ++f) {
      const bool of_the_gate = a[f].name == "capacity" || a[f].name == "gate" || a[f].name == "limit";
      const double want = of_the_gate ? 2 * a[f].value : a[f].value;
      if (b[f].value == want) continue;
      CAPTURE(described(s), a[f].name);
      CHECK(b[f].value == Approx(want).epsilon(of_the_gate ? 1e-14 : 0));
    }
  }
}
