/// A pipeline that somebody states, as facts and as a question about schedules.
#pragma once

#include <string>
#include <utility>

#include "trainplan/cost/stated_pipeline.hpp"
#include "trainplan/report/schedule_answer.hpp"

namespace trainplan {

namespace detail {

/// "1/9 ms": in the largest unit of which the numerator is a whole number.
inline std::string clock_text(const sim::Clock& clock) {
  struct Scale {
    sim::Ticks picoseconds;
    const char* name;
  };
  for (const Scale& s : {Scale{1'000'000'000'000, "s"}, Scale{1'000'000'000, "ms"}, Scale{1'000'000, "us"},
                         Scale{1'000, "ns"}, Scale{1, "ps"}})
    if (clock.numerator % s.picoseconds == 0)
      return std::to_string(clock.numerator / s.picoseconds) +
             (clock.denominator == 1 ? "" : "/" + std::to_string(clock.denominator)) + " " + s.name;
  return {};
}

inline Facts stated_facts(const PipelineSpec& s, const sim::Pipeline& pipeline) {
  Facts f{"", {}};
  const auto count = [](std::int64_t n) { return Value{static_cast<double>(n), Unit::Count}; };
  const MeanPasses t = mean_passes(pipeline);
  const std::string mean = t.equal_stages ? "" : "mean of the stages, which differ";
  const sim::Shape& loop = pipeline.cut(sim::Placement::Loop).shape;
  if (!s.origin.empty()) f.add("file", "file", s.origin, s.title);
  if (!s.source.empty()) f.add("source", "source", s.source);
  f.add("stages", "stages", count(*s.stages));
  f.add("micro_batches", "micro-batches", count(*s.micro_batches));
  f.add("forward", "forward pass", Value{t.forward.num(), Unit::Time}, mean);
  f.add("backward", "backward pass", Value{t.backward().num(), Unit::Time}, mean);
  f.add("input_gradient", "gradients of inputs", Value{t.input_gradient.num(), Unit::Time});
  f.add("weight_gradient", "gradients of weights", Value{t.weight_gradient.num(), Unit::Time});
  f.add("transfer", "transfer", Value{s.transfer.value_or(0), Unit::Time});
  f.add("update", "update", Value{s.update.value_or(0), Unit::Time});
  f.add("chunks", "chunks of a stage in loops", count(loop.chunks), "in a V and with two directions 2");
  f.add("group", "micro-batches of a group", count(loop.group));
  f.add("memory_sets", "sets of orders with a limit", count(0), "zb_auto, v_search");
  f.facts.back().cell = Value{loop.memory, Unit::Count};
  if (s.layers) f.add("layers", "layers", count(*s.layers));
  if (s.saved_per_layer) {
    f.add("saved_per_layer", "saved by a layer", Value{*s.saved_per_layer, Unit::Memory});
    f.add("saved_head", "saved beside the last layer", Value{s.saved_head.value_or(0), Unit::Memory});
    f.add("activation_message", "activation message", Value{s.activation_message.value_or(0), Unit::Memory});
    f.add("gradient_message", "gradient message", Value{s.gradient_message.value_or(0), Unit::Memory});
  }
  if (s.memory_budget) f.add("memory_budget", "budget of a stage", Value{*s.memory_budget, Unit::MemoryBoth});
  f.add("tick", "clock", clock_text(pipeline.clock),
        "every time is a whole number of such ticks, nothing is rounded");
  return f;
}

}  // namespace detail

inline ScheduleAnswer answer_stated(const PipelineSpec& s) {
  sim::Pipeline pipeline = stated_pipeline(s);
  Facts about = detail::stated_facts(s, pipeline);
  std::string title = "Pipeline schedules: " + std::to_string(*s.stages) + " stages, " +
                      std::to_string(*s.micro_batches) + " micro-batches";
  return answer_schedules(std::move(title), std::move(about), std::move(pipeline), s.memory_budget,
                          s.schedule);
}

}  // namespace trainplan
