// Frameworks side by side: which plan is the best, and the bytes of one weight.
#include "trainplan/report/compare_report.hpp"

#include <string>
#include <vector>

#include "asked.hpp"
#include "catch.hpp"

using namespace trainplan;
using problems::Asked;

namespace {

Trial trial_of(const Asked& asked, std::int64_t tp, std::int64_t pp) {
  return *asked.planner().attempt({.tp = tp, .pp = pp});
}

/// One framework and mode with 128 data parallel ranks.
struct At128 {
  Asked asked;
  Trial trial;

  At128(const char* framework, const char* sharding)
      : asked("llama70b", "h100x1024", {{"framework", framework}, {"sharding", sharding}}),
        trial(trial_of(asked, 8, 1)) {}
  Ledger ledger() const { return explain(trial.problem, trial.plan, trial.cost.stage); }
};

double number_of(const Cell& cell) { return std::get<Value>(cell).number; }

}  // namespace

TEST_CASE("bytes of one parameter at DP 128") {
  struct Row {
    const char *framework, *sharding, *terms;
    double resident, bf16, fp32, checkpoint;
    bool gathers;
  };
  const Row rows[] = {
      {"megatron-lm", "none", "18", 18, 16, 18, 14, false},
      {"megatron-lm", "zero1", "6 + 12/128", 6.09375, 4.09375, 6.09375, 14, false},
      {"megatron-lm", "zero3", "18/128", 18 / 128., 16 / 128., 18 / 128., 14, true},
      {"megatron-lm-precision-aware", "zero1", "6 + 10/128", 6 + 10 / 128., 4 + 10 / 128., 6 + 10 / 128., 12,
       false},
      {"deepspeed", "zero1", "4 + 12/128", 4.09375, 4.09375, 6.09375, 14, false},
      {"deepspeed", "zero2", "2 + 14/128", 2 + 14 / 128., 2 + 14 / 128., 2 + 16 / 128., 14, false},
      {"deepspeed", "zero3", "16/128", 16 / 128., 16 / 128., 18 / 128., 14, true},
      {"torchtitan", "zero3", "16/128", 16 / 128., 14 / 128., 16 / 128., 12, true},
      {"torchtitan", "none", "16", 16, 16, 16, 12, false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.framework, row.sharding);
    const At128 at(row.framework, row.sharding);
    const auto cells = weight_row(at.trial, at.ledger());
    CHECK(number_of(cells[2]) == Approx(row.resident));
    CHECK(std::get<std::string>(cells[3]) == row.terms);
    CHECK(number_of(cells[4]) == Approx(row.bf16));
    CHECK(number_of(cells[5]) == Approx(row.fp32));
    CHECK(number_of(cells[6]) == row.checkpoint);
    const auto layers = layer_row(at.trial, at.ledger());
    CHECK(std::holds_alternative<Value>(layers[2]) == row.gathers);
    CHECK(number_of(layers[4]) == at.ledger().find("comm.dp")->value);
  }
}

TEST_CASE("gradients that a framework does not have are no figure") {
  const At128 at("deepspeed", "none");  // gradients are kept in the type of the weights
  CHECK(std::holds_alternative<std::monostate>(detail::resident_with(at.trial, DType::Fp32)));
  CHECK(number_of(detail::resident_with(at.trial, DType::Bf16)) == 16);
}

TEST_CASE("collectives are those of the mode, and add up to the data parallel traffic") {
  for (const char* framework : {"megatron-lm", "deepspeed", "torchtitan"}) {
    CAPTURE(framework);
    const At128 at(framework, std::string(framework) == "megatron-lm" ? "zero1" : "zero3");
    Table table = collective_table();
    add_collectives(table, at.trial, at.ledger());
    double sum = 0;
    for (const auto& row : table.rows) sum += number_of(row[4]);
    CHECK(table.rows.size() == (std::string(framework) == "megatron-lm" ? 2 : 3));
    CHECK(sum == Approx(at.ledger().find("comm.dp")->value));
  }
}

TEST_CASE("every mode of every shipped profile says how a weight lives") {
  for (const char* framework : {"megatron-lm", "megatron-lm-precision-aware", "deepspeed", "torchtitan"})
    for (const ShardingRows& rows : problems::framework(framework)->shardings) {
      CAPTURE(framework, name_of(rows.mode));
      CHECK_FALSE(rows.weight.kept.empty());
      CHECK_FALSE(rows.weight.source.empty());
      CHECK((rows.weight.released == "never") == (rows.gathered_units == 0));
      const bool whole = rows.state.front().sharded_over == Group::None;
      CHECK((rows.weight.kept.find("whole on every") == 0) == whole);
    }
}

TEST_CASE("the best plan fits first, then has the shorter step") {
  const Asked asked("llama70b", "h100x1024");
  FrameworkPlan over{"a", "zero1", trial_of(asked, 8, 1)}, fits{"a", "zero3", trial_of(asked, 8, 4)},
      slower{"b", "zero1", trial_of(asked, 8, 8)}, none{"c", "zero2", {}, "x"};
  REQUIRE(over.trial->verdict() == Verdict::DoesNotFit);
  const std::vector<FrameworkPlan> all{over, fits, slower, none};
  const auto best = detail::best_plans(all);
  REQUIRE(best.size() == 2);
  CHECK(best[0] == &all[1]);
  CHECK(best[1] == &all[2]);
  const Report r = compare_report(all, "t");
  CHECK(r.verdict == fits.trial->verdict());
  FrameworkPlan nearer{"a", "zero2", trial_of(asked, 8, 2)}, further{"a", "none", trial_of(asked, 4, 1)};
  CHECK(detail::is_better(*over.trial, *further.trial));
  CHECK(detail::is_better(*nearer.trial, *over.trial));
  const std::vector<FrameworkPlan> alone{over};
  CHECK(compare_report(alone, "t").verdict == Verdict::DoesNotFit);
}

TEST_CASE("of modes that the model cannot tell apart the one with most memory left is the best") {
  const Asked asked("llama70b", "h100x1024");
  FrameworkPlan fast{"a", "none", trial_of(asked, 8, 4)}, lean = fast;
  lean.sharding = "zero1";
  lean.trial->cost.memory.device = fast.trial->cost.memory.device * 0.7;
  const auto best_when_slower = [&](double times) {
    lean.trial->cost.step.step = fast.trial->cost.step.step * times;
    const std::vector<FrameworkPlan> all{fast, lean};
    return detail::best_plans(all).front()->sharding;
  };
  CHECK(best_when_slower(1.001) == "zero1");
  CHECK(best_when_slower(1.2) == "none");
}

TEST_CASE("ranges that overlap make two plans equal") {
  const Asked asked("llama70b", "h100x1024");
  const Trial t = trial_of(asked, 8, 4);
  FrameworkPlan a{"a", "zero1", t}, b{"b", "zero1", t};
  b.trial->cost.step.step = t.cost.step.step * 1.05;
  CHECK(detail::overlap_notes({&a, &b}).sentences.size() == 1);
  b.trial->cost.range.time_low = b.trial->cost.range.time_low * 10.0;
  b.trial->cost.range.time_high = b.trial->cost.range.time_high * 10.0;
  CHECK(detail::overlap_notes({&a, &b}).sentences.empty());
}

TEST_CASE("who can load a checkpoint, and the position in the data") {
  const FrameworkProfile& megatron = *problems::framework("megatron-lm");
  CHECK(detail::reshard_text(megatron, SavedPart::Weights) == "any tp, pp, cp, dp, ep");
  CHECK(detail::reshard_text(megatron, SavedPart::Moments) ==
        "any cp, dp; tp, pp, ep: --dist-ckpt-optim-fully-reshardable when it is saved");
  CHECK(detail::data_text(megatron).find("consumed_train_samples") == 0);
  CHECK(detail::data_text(*problems::framework("torchtitan")).find("not another dp") != std::string::npos);
  CHECK(detail::reshard_text({}, SavedPart::Weights).empty());
}
