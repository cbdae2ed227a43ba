/// The pipeline of a plan, as facts from its ledgers and as a question about schedules.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "trainplan/cost/planned_pipeline.hpp"
#include "trainplan/report/plan_report.hpp"
#include "trainplan/report/schedule_answer.hpp"

namespace trainplan {

namespace detail {

inline Facts planned_facts(const Problem& problem, const Plan& plan, const PipelineSpec& options,
                           const PlannedPipeline& p) {
  Facts f = model_and_cluster(problem);
  f.key = "";
  const auto count = [](std::int64_t n) { return Value{static_cast<double>(n), Unit::Count}; };
  const sim::Shape& linear = p.pipeline.cut(sim::Placement::Linear).shape;
  const sim::Shape& loop = p.pipeline.cut(sim::Placement::Loop).shape;
  const MeanPasses t = mean_passes(p.pipeline);
  const std::string mean = t.equal_stages ? "of the ledger" : "of the ledger, mean of the stages";
  f.add("plan", "plan", degrees_text(plan));
  f.add("stages", "stages", count(linear.stages));
  f.add("micro_batches", "micro-batches", count(linear.micro_batches));
  f.add("forward", "forward pass", Value{t.forward.num(), Unit::Time}, mean);
  f.add("backward", "backward pass", Value{t.backward().num(), Unit::Time}, mean + ", with recompute");
  f.add("input_gradient", "gradients of inputs", Value{t.input_gradient.num(), Unit::Time});
  f.add("weight_gradient", "gradients of weights", Value{t.weight_gradient.num(), Unit::Time},
        "half of the backward pass of the matrix products");
  f.add("transfer", "transfer", Value{p.transfer, Unit::Time}, options.transfer ? "as given" : "of the link");
  f.add("update", "update", Value{p.update, Unit::Time},
        options.update ? "as given" : "optimizer, and data parallel traffic that shows");
  f.add("message", "message between stages", Value{p.message, Unit::Memory});
  f.add("head_saved", "saved by the head", Value{p.head_saved, Unit::Memory}, "final norm and logits");
  f.add("chunks", "chunks of a stage in loops", count(loop.chunks), "in a V and with two directions 2");
  f.add("group", "micro-batches of a group", count(loop.group));
  f.add("memory_sets", "sets of orders with a limit", Value{linear.memory, Unit::Count}, "zb_auto, v_search");
  if (options.memory_budget)
    f.add("memory_budget", "budget of a stage", Value{*options.memory_budget, Unit::MemoryBoth});
  else
    f.add("room", "room for activations", Value{p.room.front(), Unit::Memory},
          "below the gate on the tightest stage, stages in a row");
  f.add("room_two_copies", "with two copies",
        Value{p.room[static_cast<std::size_t>(sim::Placement::TwoDirections)], Unit::Memory},
        "less the model state of another copy");
  f.add("tick", "clock", std::string("1 ps"), "times of the ledger are rounded to whole picoseconds");
  return f;
}

}  // namespace detail

inline ScheduleAnswer answer_planned(const Problem& problem, const Plan& plan, const PipelineSpec& options) {
  PlannedPipeline p = planned_pipeline(problem, plan, options);
  Facts about = detail::planned_facts(problem, plan, options, p);
  std::string title = "Pipeline schedules of " + problem.model().name + " on " + problem.cluster().name;
  ScheduleAnswer out = answer_schedules(std::move(title), std::move(about), std::move(p.pipeline),
                                        options.memory_budget, options.schedule);
  out.room = p.room;
  return out;
}

}  // namespace trainplan
