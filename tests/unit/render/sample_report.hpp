/// A small report with a block of every kind, for the goldens of the formats.
#pragma once

#include "trainplan/report/build.hpp"
#include "trainplan/trace/recorder.hpp"

namespace trainplan {

struct SampleReport {
  Explain rec;
  Report report{"sample", "A sample", Verdict::DoesNotFit, {}, {}};

  SampleReport() {
    const auto n = rec.in<Params<>>({"N_s", "parameters of one GPU", "params.stage"}, 2.27126e9);
    const auto w =
        rec.in<BytesPerParam<>>({"w_master", "fp32 master weights", "megatron-lm.json /shardings/1"}, 4);
    const auto d = rec.in<Count<>>({"d", "data parallel degree", "plan /dp"}, 32);
    rec.item({"memory.state.master", "M_m", "fp32 master weights", {"zero-2020", "section 5"}}, n * w / d);
    report.headline = {"the device total of ", Value{90e9, Unit::MemoryBoth}, " exceeds the gate"};

    Section plan{"plan", "Plan", {}};
    Facts facts{"", {}};
    facts.facts.push_back({"tp", "tensor parallel", Value{8, Unit::Count}, "within the domain", "plan.tp"});
    facts.facts.push_back({"step", "step time", Value{1.8573, Unit::Time}, "", ""});
    facts.facts.push_back({"bubble", "bubble", Value{0.046875, Unit::Share}, "", ""});
    facts.facts.push_back({"recompute", "recompute", std::string("none"), "", ""});
    facts.facts.push_back({"sp", "sequence parallel", true, "", ""});
    facts.facts.push_back({"mtbf", "failures", Cell{}, "unknown", ""});
    plan.blocks.push_back(std::move(facts));
    plan.blocks.push_back(Notes{
        "reasons",
        {{"TP = 8: pp 1 needs ", Value{77e9, Unit::Memory}}, {"a|b *bold* <tag> `tick` snake_case _x_"}}});
    report.sections.push_back(std::move(plan));

    Section memory{"memory", "Memory", {}};
    memory.blocks.push_back(
        Lines{"ledger",
              {{"memory.device", "device total", {45e9, Unit::Memory}, 0, ""},
               {"memory.state", "model state", {14e9, Unit::Memory}, 1, "fullest stage"}}});
    memory.blocks.push_back(Table{"stages",
                                  "Each stage",
                                  {{"stage", "stage"}, {"id", "id"}, {"sent", "sent"}},
                                  {{Value{0, Unit::Count}, Code{"memory|x"}, Value{300.6e9, Unit::Traffic}},
                                   {Value{1, Unit::Count}, std::string("plain"), Cell{}}}});
    memory.blocks.push_back(explanation_of(rec.ledger(), rec.ledger().items().front()));
    report.sections.push_back(std::move(memory));
  }
};

}  // namespace trainplan
